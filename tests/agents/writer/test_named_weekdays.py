"""Which day a weekday means where an earlier message names the day."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.schemas.changes import Fact, FactDays
from recollect.schemas.events import Draft
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, MINUTE, START, Zone, says
from tests.library.kit import said

# START is Monday 5 January 2026.
DINNER = "Our dinner for Ian is on Saturday 24 January."
NAMED = says("Bob", DINNER)
ARRIVES = "My sister Ines arrives in Porto on Saturday."


def arrival(before: Draft, *, minutes: int = 5) -> tuple[str, list[int]]:
    """Return the fact of who arrives, and the numbers of the events that it rests on."""
    zone = Zone(RuleWriter()).given(before)
    outcome = zone.read(says("Ada", ARRIVES, at=START + minutes * MINUTE))
    found = [
        (row.text, list(part.sources))
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, Fact) and "arrives" in row.text
    ]
    ((text, sources),) = found
    return text, sources


def test_it_is_the_day_that_was_named_just_before_and_rests_on_who_named_it() -> None:
    text, sources = arrival(NAMED)
    assert "2026-01-24" in text
    assert len(sources) == 2


@pytest.mark.parametrize(
    ("before", "minutes"),
    [
        (NAMED, 2 * DAY // MINUTE),
        (says("Bob", DINNER, thread_id="elsewhere"), 5),
        (says("Bob", "Our dinner for Ian is on Sunday 25 January."), 5),
        (says("Bob", "Our dinners are on Saturday 24 January and Saturday 31 January."), 5),
        (says("Bob", "Our dinner for Ian is on Saturday."), 5),
    ],
    ids=["long before", "another thread", "another weekday", "two such days", "no number"],
)
def test_else_it_is_the_next_one(before: Draft, minutes: int) -> None:
    text, sources = arrival(before, minutes=minutes)
    assert "2026-01-10" in text
    assert len(sources) == 1


def test_once_who_named_the_day_is_forgotten_it_is_the_next_one(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        at = "2026-01-05T10:00:00Z"
        zone.ingest(
            [
                said("asks", DINNER, by="Bob", occurred_at=at),
                said("tells", ARRIVES, occurred_at=at),
            ]
        )
        assert any("2026-01-24" in fact.text and "arrives" in fact.text for fact in zone.facts())
        zone.forget("asks")
        (left,) = zone.facts()
        assert "2026-01-10" in left.text


@pytest.mark.parametrize(
    "told",
    [
        "We pick up the sofa on Saturday. It weighs sixty kilos.",
        "To bring on Saturday:\n- sixty kilos of flour from Leeds",
    ],
    ids=["the sentence before", "the heading of a list"],
)
def test_days_that_a_fact_tells_are_sealed_and_kept(told: str) -> None:
    zone = Zone(RuleWriter()).given(NAMED)
    outcome = zone.read(says("Ada", told, at=START + MINUTE))
    (fact,) = (row for row in outcome.rows(Fact) if "sixty kilos" in row.text)
    assert "Saturday (2026-01-24)" in fact.text
    assert set(outcome.sources_of(Fact)) == {(1, 2)}
    days = {row.fact_id: (row.first_day, row.last_day) for row in outcome.rows(FactDays)}
    assert days[fact.id] == ("2026-01-24", "2026-01-24")
