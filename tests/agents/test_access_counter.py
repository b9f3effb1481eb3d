"""What was recalled is counted: one row per fact and record, whose sum is the fact's count."""

from __future__ import annotations

from recollect.schemas.changes import FactRecallCount
from recollect.schemas.events import Draft, RecallCount, RecallsCounted
from recollect.streams.agents.access_counter import AccessCounter
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import START, Zone, command, says


def recalled(*counts: tuple[str, str, int], id: str = "r1") -> Draft:
    accesses = tuple(RecallCount(kind, target, count) for kind, target, count in counts)
    return command(RecallsCounted(source_id=id, accesses=accesses))


def test_each_fact_gets_one_row_with_all_of_its_counts() -> None:
    outcome = Zone(AccessCounter()).read(
        recalled(("fact", "F1", 2), ("fact", "F2", 1), ("fact", "F1", 3))
    )
    assert outcome.puts == [FactRecallCount(1, "F1", 5), FactRecallCount(1, "F2", 1)]


def test_only_facts_are_counted_and_only_upwards() -> None:
    outcome = Zone(AccessCounter()).read(
        recalled(("observation", "O1", 2), ("fact", "F1", 0), ("fact", "F2", -7))
    )
    assert outcome.puts == []


def test_a_count_of_nothing_decides_nothing() -> None:
    assert Zone(AccessCounter()).read(recalled()).puts == []


def test_counts_of_several_records_add_up_on_the_fact() -> None:
    zone = Zone(RuleWriter(), AccessCounter()).given(says("Ada", "I live in Berlin."))
    ((fact,),) = zone.ask("memory", "SELECT id FROM facts")
    zone.given(recalled(("fact", fact, 2)), recalled(("fact", fact, 1), id="r2"))
    assert zone.ask("memory", "SELECT access_count FROM facts") == [(3,)]


def test_the_rows_of_a_record_that_is_read_again_count_once() -> None:
    zone = Zone(RuleWriter(), AccessCounter()).given(says("Ada", "I live in Berlin."))
    ((fact,),) = zone.ask("memory", "SELECT id FROM facts")
    zone.given(*zone.read(recalled(("fact", fact, 2))).puts)
    assert zone.ask("memory", "SELECT access_count FROM facts") == [(2,)]


def test_a_count_that_comes_before_its_fact_is_not_lost() -> None:
    later = Zone(RuleWriter()).given(says("Ada", "I live in Berlin.", at=START))
    ((fact,),) = later.ask("memory", "SELECT id FROM facts")
    zone = Zone(RuleWriter(), AccessCounter()).given(recalled(("fact", fact, 4)))
    zone.given(says("Ada", "I live in Berlin.", at=START))
    assert zone.ask("memory", "SELECT id, access_count FROM facts") == [(fact, 4)]


def test_an_id_that_nobody_has_and_that_would_be_sql_counts_for_nobody() -> None:
    zone = Zone(RuleWriter(), AccessCounter()).given(says("Ada", "I live in Berlin."))
    zone.given(recalled(("fact", "'; UPDATE facts SET access_count = 99; --", 5)))
    assert zone.ask("memory", "SELECT access_count FROM facts") == [(0,)]
