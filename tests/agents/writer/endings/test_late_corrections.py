"""A correction, a denial or an end retracts a message that arrives after it (G8)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from recollect.schemas.events import Draft, Edit
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import HOUR, START, Zone, asks_to_remember, says

CONVERSATIONS = [
    ("The rehearsal is in room 12.", "Correction: the rehearsal is in room 15, not room 12."),
    ("The bus leaves at 7:40 tomorrow.", "Hello Bob.", "Sorry, the bus leaves at 7:50 instead."),
    ("I eat fish on Fridays.", "The tide is high.", "I no longer eat fish."),
    ("My aunt is in hospital.", "It rains in Porto.", "My aunt is home again."),
    ("Lena does the accounts.", "It's Ruben who does the accounts, not Lena."),
    ("I eat fish.", "I no longer eat fish.", "I eat fish again, at last."),
]


def told(messages: Sequence[tuple[int, str]]) -> Zone:
    """Return a zone with messages of one conversation, each said at an hour."""
    zone = Zone(RuleWriter())
    for hour, text in messages:
        zone.read(says_at(text, hour))
    return zone


def says_at(text: str, hour: int) -> Draft:
    return says("Ada", text, id=f"h{hour}", at=START + hour * HOUR, thread_id="t")


def remembers_at(text: str, hour: int) -> Draft:
    return asks_to_remember(text, at=START + hour * HOUR, thread_id="t")


def ends_of(zone: Zone) -> set[tuple[str, str | None, int | None]]:
    """Return the text of each fact, of what supersedes it, and when (unix ms)."""
    return set(
        zone.ask(
            "memory",
            "SELECT fact.text, coalesce(newer.text, fact_ends.superseded_by), invalid_at "
            "FROM facts AS fact LEFT JOIN fact_ends ON fact_ends.fact_id = fact.id "
            "LEFT JOIN facts AS newer ON newer.id = fact_ends.superseded_by",
        )
    )


@pytest.mark.parametrize("texts", CONVERSATIONS)
def test_G8_the_order_of_arrival_does_not_matter(texts: tuple[str, ...]) -> None:
    in_order = list(enumerate(texts))
    expected = ends_of(told(in_order))
    assert any(newer for _, newer, _ in expected)
    for arriving in permutations(in_order):
        assert ends_of(told(arriving)) == expected, arriving


@pytest.mark.parametrize("texts", CONVERSATIONS)
def test_the_order_of_arrival_of_stored_memories_does_not_matter(texts: tuple[str, ...]) -> None:
    def stored(memories: Sequence[tuple[int, str]]) -> set[tuple[str, str | None, int | None]]:
        zone = Zone(RuleWriter())
        for hour, text in memories:
            zone.read(asks_to_remember(text, at=START + hour * HOUR))
        return ends_of(zone)

    in_order = list(enumerate(texts))
    expected = stored(in_order)
    for arriving in permutations(in_order):
        assert stored(arriving) == expected, arriving


def test_a_late_memory_is_corrected_by_a_message_and_a_late_message_by_a_memory() -> None:
    said, correction = CONVERSATIONS[0]
    for first, second in ((says_at, remembers_at), (remembers_at, says_at)):
        drafts = [first(said, 0), second(correction, 1)]
        for arriving in permutations(drafts):
            assert said not in Zone(RuleWriter()).given(*arriving).current_facts()


EDITS = [
    (0, "The rehearsal is in room 12!"),
    (0, "The rehearsal is at 6 pm."),
    (2, "Correction: the rehearsal is in room 16, not room 12."),
    (2, "It rains in Porto."),
]


@pytest.mark.parametrize(("hour", "text"), EDITS)
def test_the_newest_texts_count_at_the_times_of_the_first(hour: int, text: str) -> None:
    texts = ["The rehearsal is in room 12.", "Hello Bob.", CONVERSATIONS[0][1]]
    in_order = list(enumerate(texts))
    newest = [*in_order[:hour], (hour, text), *in_order[hour + 1 :]]
    expected = set(told(newest).current_facts())
    edit = says(
        "Ada",
        text,
        id="e",
        target=f"h{hour}",
        at=START + 9 * HOUR,
        said_at=START + hour * HOUR,
        kind=Edit,
        thread_id="t",
    )
    messages = [says_at(each, at) for at, each in in_order]
    for arriving in permutations([*messages, edit]):
        zone = Zone(RuleWriter()).given(*arriving)
        assert set(zone.current_facts()) == expected, [each.payload for each in arriving]
