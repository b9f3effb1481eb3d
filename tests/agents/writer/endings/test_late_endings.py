"""What a sentence ends does not depend on the order in which statements arrive (G8).

The oracle is the run in the order of the times.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest

from recollect.schemas.changes import FactSupersession
from recollect.schemas.events import Deletion, Draft, Edit, message_of
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.writer.model.model_slots import ModelSlots
from recollect.streams.agents.writer.model.proposals import ProposedFact
from recollect.streams.agents.writer.model.proposed_slots import ProposedSlot
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, START, Zone, says
from tests.agents.told_histories import annotate, history


def zone_of(told: Sequence[tuple[int, str]]) -> Zone:
    """Return the zone of a person who says sentences on days, in their order of arrival."""
    return Zone(RuleWriter(), annotate=annotate).given(*(message(*each) for each in told))


def message(day: int, text: str) -> Draft:
    """Return a message in a conversation of its own, where no correction finds what it corrects."""
    return says("Ada", text, at=START + day * DAY, id=f"d{day}", thread_id=f"t{day}")


def revision(day: int, text: str | None, at: int) -> Draft:
    """Return the edit of the message of a day; without a text, its deletion."""
    fields: dict[str, Any] = {} if text is None else {"said_at": START + day * DAY}
    return says(
        "Ada",
        text or "",
        id=f"r{day}",
        target=f"d{day}",
        at=START + at * DAY,
        kind=Deletion if text is None else Edit,
        thread_id=f"t{day}",
        **fields,
    )


def ends_of(zone: Zone) -> dict[str, tuple[str, int] | None]:
    """Return by what and when each fact is superseded, with its day; None if it is current."""
    sql = (
        "SELECT fact.text, fact.as_of, coalesce(newer.text, fact_ends.superseded_by), invalid_at "
        "FROM facts AS fact LEFT JOIN fact_ends ON fact_ends.fact_id = fact.id "
        "LEFT JOIN facts AS newer ON newer.id = fact_ends.superseded_by"
    )
    return {
        f"{text} ({(as_of - START) // DAY})": by and (by, (at - START) // DAY)
        for text, as_of, by, at in zone.ask("memory", sql)
    }


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_G8_every_order_of_arrival_gives_what_the_order_of_time_gives(
    seed: int, *, named: bool
) -> None:
    draw = Random(f"{seed} {named}")
    told = history(draw, named=named)
    expected = set(zone_of(told).current_facts())
    for _ in range(3):
        arriving = draw.sample(told, len(told))
        assert set(zone_of(arriving).current_facts()) == expected, (told, arriving)


def test_a_late_statement_ends_by_the_same_sentence_as_if_it_had_come_in_order() -> None:
    told = [(1, "I have a kayak."), (2, "I have a scooter."), (5, "I sold the kayak.")]
    expected = ends_of(zone_of(told))
    assert expected["Ada has a kayak. (1)"] == ("Ada sold the kayak.", 5)
    assert expected["Ada has a scooter. (2)"] is None
    assert ends_of(zone_of(told[::-1])) == expected


def test_an_earlier_ending_that_arrives_later_takes_the_place_of_the_later_one() -> None:
    told = [(1, "I have a kayak."), (5, "I sold the kayak."), (9, "I sold it.")]
    expected = ends_of(zone_of(told))
    assert expected["Ada has a kayak. (1)"] == ("Ada sold the kayak.", 5)
    assert ends_of(zone_of([told[0], told[2], told[1]])) == expected


def test_what_only_seemed_to_be_meant_holds_again_once_another_is_known() -> None:
    told = [(1, "I have a kayak."), (2, "I have a scooter."), (5, "I sold it.")]
    zone = zone_of([told[0], told[2]])
    assert "Ada has a kayak." not in zone.current_facts()
    assert ends_of(zone_of([told[0], told[2], told[1]])) == ends_of(zone_of(told))
    # Of the two, one is gone before.
    more = [*told[:2], (3, "I sold the scooter."), told[2]]
    arriving = [told[0], told[2], told[1], more[2]]
    assert ends_of(zone_of(arriving)) == ends_of(zone_of(more))


@pytest.mark.parametrize(
    ("revision", "current"),
    [
        ({"kind": Edit, "words": "I sailed."}, True),
        ({"kind": Edit, "words": "I finally sold the kayak."}, False),
        ({"kind": Deletion, "words": ""}, True),
    ],
)
def test_an_ending_counts_as_its_newest_version_has_it(
    revision: dict[str, object], *, current: bool
) -> None:
    for first in ("statement", "revision"):
        zone = zone_of([(5, "I sold the kayak.")])
        words, kind = str(revision["words"]), revision["kind"]
        assert kind in (Edit, Deletion)
        revised = says(
            "Ada", words, id="x", target="d5", at=START + 6 * DAY, kind=kind, thread_id="t5"
        )
        statement = says("Ada", "I have a kayak.", id="d1", at=START + DAY, thread_id="t1")
        for draft in (statement, revised) if first == "statement" else (revised, statement):
            zone.read(draft)
        assert ("Ada has a kayak." in zone.current_facts()) is current
        stored = zone.ask("memory", "SELECT words FROM stated_endings WHERE NOT is_standing")
        assert stored == [("",)]


@pytest.mark.parametrize("seed", range(40))
def test_G8_edits_and_deletions_leave_what_the_newest_texts_give_in_the_order_of_time(
    seed: int,
) -> None:
    draw = Random(seed)
    told = history(draw, named=draw.random() < 0.5)
    others = [text for _, text in history(draw, named=False)]
    newest: dict[int, str | None] = dict(told)
    revisions = []
    for day, _ in draw.sample(told, draw.randint(1, 2)):
        newest[day] = draw.choice([None, draw.choice(others)])
        revisions.append((day, newest[day], day + draw.randint(1, 12)))
    expected = set(
        zone_of([(day, text) for day, text in newest.items() if text is not None]).current_facts()
    )
    drafts = [message(day, text) for day, text in told] + [revision(*each) for each in revisions]
    for _ in range(3):
        arriving = draw.sample(drafts, len(drafts))
        zone = Zone(RuleWriter(), annotate=annotate).given(*arriving)
        assert set(zone.current_facts()) == expected, (told, revisions, arriving)


RESTATED = [(2, "I do chess."), (11, "I quit chess."), (13, "I do chess.")]
REGAINED = [(2, "I work at Siemens."), (11, "I work at Philips."), (13, "I work at Siemens.")]


@pytest.mark.parametrize("told", [RESTATED, REGAINED])
@pytest.mark.parametrize("day", [2, 11, 13])
@pytest.mark.parametrize("text", [None, "I sailed."])
def test_a_restatement_that_is_edited_or_deleted_counts_as_never_said(
    told: list[tuple[int, str]], day: int, text: str | None
) -> None:
    left = [(at, text if at == day else said) for at, said in told]
    expected = set(zone_of([(at, said) for at, said in left if said]).current_facts())
    for arriving in permutations(message(*each) for each in told):
        zone = Zone(RuleWriter(), annotate=annotate).given(*arriving, revision(day, text, 20))
        assert set(zone.current_facts()) == expected, arriving


def test_a_sentence_that_named_no_value_ends_the_one_that_is_left() -> None:
    told = [(1, "I have a scooter."), (3, "I have a kayak."), (14, "I sold it.")]
    zone = zone_of(told)
    assert "Ada has a kayak." in zone.current_facts()
    assert zone.given(revision(1, None, 20)).current_facts() == ["Ada sold it."]


def test_a_sentence_that_names_no_value_ends_the_only_one_in_all_its_statements() -> None:
    # Both statements of the employer hold again.
    told = [(3, "I work at Siemens."), (7, "I work at Philips."), (11, "I work at Siemens.")]
    zone = zone_of(told).given(revision(7, None, 12))
    zone.read(message(13, "I left."))
    assert "Ada works at Siemens." not in zone.current_facts()


def test_a_message_in_order_depends_on_no_ending() -> None:
    zone = zone_of([(1, "I have a kayak."), (5, "I sold the kayak.")])
    zone.read(says("Ada", "I have a kayak.", id="d9", at=START + 9 * DAY, thread_id="t9"))
    assert "Ada has a kayak." in zone.current_facts()
    assert zone.ask("memory", "SELECT count(*) FROM withdrawn_supersessions") == [(0,)]


def test_what_a_model_reads_later_ends_by_what_was_said_before_its_answer() -> None:
    zone = zone_of([(1, "Guess what came by post."), (5, "I sold the kayak.")])
    ((sold,),) = zone.ask("memory", "SELECT ended_by FROM stated_endings")
    event, state = zone.events[0], zone.state()
    resolver = EntityResolver(state, event)
    sender = resolver.resolve_sender(event, message_of(event))
    slots = ModelSlots(event, event.occurred_at, (), (), set(), sender, resolver, state)
    fact = ProposedFact(
        "F", "Ada has a kayak.", 0, 5, ProposedSlot("Ada", "possession", "kayak", True)
    )
    ends = [row for row in slots.rows(fact, "F") if isinstance(row, FactSupersession)]
    assert ends == [FactSupersession("F", sold, START + 5 * DAY)]
