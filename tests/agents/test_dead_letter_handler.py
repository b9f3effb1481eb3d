"""Parked records: what came unreadable is listed, and what a command gives up is dropped."""

from __future__ import annotations

from typing import Literal

import pytest

from recollect.schemas.changes import DeadLetter
from recollect.schemas.events import Draft, Drop, Park
from recollect.streams.agents.dead_letter_handler import DeadLetterHandler
from tests.agents.kit import MINUTE, START, Zone, command


def parks(reason: str, *, at: int = START) -> Draft:
    return command(Park(source_id=f"park:{at}", reason=reason, body=b"\xff{"), at=at)


def drops(number: int) -> Draft:
    return command(Drop(source_id=f"drop:{number}", number=number), at=START + MINUTE)


def test_what_came_unreadable_is_parked_with_its_reason_and_time() -> None:
    outcome = Zone(DeadLetterHandler()).read(parks("line 3 is no JSON"))
    assert outcome.puts == [DeadLetter(1, "park", "line 3 is no JSON", "parked", START)]
    assert outcome.sources_of(DeadLetter) == [(1,)]


def test_a_parked_record_is_dropped_and_keeps_its_reason() -> None:
    outcome = Zone(DeadLetterHandler()).given(parks("line 3 is no JSON")).read(drops(1))
    assert outcome.puts == [DeadLetter(1, "park", "line 3 is no JSON", "dropped", START)]


def test_the_dropped_row_goes_when_the_parked_record_is_forgotten() -> None:
    """Its reason may quote that record."""
    outcome = Zone(DeadLetterHandler()).given(parks("cannot read 'hush'")).read(drops(1))
    assert outcome.sources_of(DeadLetter) == [(1, 2)]


@pytest.mark.parametrize("state", ["retried", "dropped"])
def test_what_is_parked_no_more_is_not_dropped(state: Literal["retried", "dropped"]) -> None:
    zone = Zone(DeadLetterHandler()).given(DeadLetter(7, "message", "why", state, START))
    assert zone.read(drops(7)).puts == []


@pytest.mark.parametrize("number", [0, 1, 99, -1])
def test_what_never_was_parked_is_not_dropped(number: int) -> None:
    """Not the command itself either, which has number 1 here."""
    assert Zone(DeadLetterHandler()).read(drops(number)).puts == []


def test_dropping_one_leaves_the_others() -> None:
    zone = Zone(DeadLetterHandler()).given(parks("one"), parks("two", at=START + 1), drops(1))
    assert zone.ask("memory", "SELECT number, state FROM dead_letters ORDER BY number") == [
        (1, "dropped"),
        (2, "parked"),
    ]
