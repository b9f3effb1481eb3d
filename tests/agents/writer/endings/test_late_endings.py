"""What a sentence ends does not depend on the order in which statements arrive (G8).

The oracle is the run in the order of the times.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from recollect.schemas.changes import FactSupersession
from recollect.schemas.events import Deletion, Edit, message_of
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.writer.model.model_slots import ModelSlots
from recollect.streams.agents.writer.model.proposals import ProposedFact
from recollect.streams.agents.writer.model.proposed_slots import ProposedSlot
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, START, Zone, says
from tests.agents.told_histories import annotate, history


def zone_of(told: Sequence[tuple[int, str]]) -> Zone:
    """Return the zone of a person who says sentences on days, in their order of arrival."""
    zone = Zone(RuleWriter(), annotate=annotate)
    for day, text in told:
        # In a conversation of its own, where no correction looks for what it corrects.
        at = START + day * DAY
        zone.read(says("Ada", text, at=at, id=f"d{day}", thread_id=f"t{day}"))
    return zone


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
