"""A correction, a denial or an end retracts a message that arrives after it (G8)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import HOUR, START, Zone, says

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
        zone.read(says("Ada", text, id=f"h{hour}", at=START + hour * HOUR, thread_id="t"))
    return zone


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
