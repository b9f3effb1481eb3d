"""What is forgotten while a generation is derived beside the one in use, which goes on deciding."""

from __future__ import annotations

from typing import Any

import pytest

from recollect import Recollect as Library
from recollect import Zone
from recollect.streams.deciding import erasing
from tests.forget.kit import ZONE, Recollect, line

PEOPLE = ("Anna Miller", "Bob Stone", "Carla Reyes")
TOWNS = ("Oslo", "Rome", "Lima", "Porto")
# More than a rebuild decides at once, so that it is in the middle when something is forgotten.
EVENTS = 80


def source_id(short: str) -> str:
    """Return an id that stands in no file by chance, and in no other event."""
    return f"{short}-of-pandelburg"


def said() -> list[dict[str, Any]]:
    """Events that rest on one another: who is spoken of was named before, by somebody else."""
    events = []
    for number in range(EVENTS):
        who, town = PEOPLE[number % 3], TOWNS[number % 4]
        sentence = (
            f"My friend {who} lives in {town}.",
            f"{who} moved to {town} because of the work.",
            f"I live in {town}.",
            f"I am {who}, mail me at x{number}@example.org.",
        )[number % 4]
        events.append(
            line(
                source_id(f"s{number}"),
                sentence,
                sender_id=f"u{number % 3}",
                sender_name=PEOPLE[(number + 1) % 3],
                thread_id="t1",
                occurred_at=1_780_000_000_000 + number * 60_000,
            )
        )
    return events


@pytest.fixture(autouse=True)
def without_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out ticks: deriving again may issue commands of theirs that an erasure did not.

    The commands write the same facts and observations, but `verify` hashes their bookkeeping too.
    """
    monkeypatch.setenv("RECOLLECT_TICKS", "off")


def content(library: Library) -> list[tuple[str, str]]:
    verified = library.zone(ZONE).verify()
    assert verified.ok, verified.problems
    return [(model.model, model.hash) for model in verified.models]


@pytest.mark.parametrize(
    "forgotten",
    # Where one is forgotten, what it was the first to say rests on the next who said so.
    [
        ("s0",),
        pytest.param(("s0", "s3", "s4"), marks=pytest.mark.slow),
        pytest.param(("s3", "s0", "s7"), marks=pytest.mark.slow),
        pytest.param(("s1", "s2", "s76", "s60"), marks=pytest.mark.slow),
    ],
)
def test_what_is_forgotten_while_a_generation_is_derived_is_gone_from_it(
    recollect: Recollect, forgotten: tuple[str, ...]
) -> None:
    recollect.ingest(*said())
    ids = [source_id(short) for short in forgotten]
    assert recollect.left(*ids)
    left = ids[:]

    def meanwhile(_: int) -> None:
        while left:
            recollect.run("forget", left.pop(0))

    with Library(recollect.home) as library:
        zone = library.zone(ZONE)
        zone.rebuild("derive", progress=meanwhile)
        assert not left
        found = content(library)
        assert not recollect.left(*ids)
        # Derived once more, when all is forgotten, nothing else comes out.
        zone.rebuild("derive")
        assert content(library) == found
        zone.rollback()
        assert content(library) == found


def test_ticks_stop_no_erasure_while_a_generation_is_derived(
    recollect: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trace: the tick of merges was decided again with a part of the zone, and failed."""
    monkeypatch.setenv("RECOLLECT_TICKS", "on")
    recollect.ingest(*said())
    left = [source_id(short) for short in ("s3", "s0", "s7")]

    def meanwhile(_: int) -> None:
        while left:
            recollect.run("forget", left.pop(0))

    def remembered(zone: Zone) -> list[tuple[str, str, bool]]:
        facts = [(fact.id, fact.text, fact.current) for fact in zone.facts(superseded=True)]
        return facts + [(each.id, each.text, each.is_stale) for each in zone.observations()]

    with Library(recollect.home) as library:
        zone = library.zone(ZONE)
        zone.rebuild("derive", progress=meanwhile)
        found = remembered(zone)
        zone.rebuild("derive")
        assert remembered(zone) == found


def test_what_is_forgotten_while_another_erasure_is_derived_stops_nothing(
    recollect: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who was named first by one event is known from the next one when that is forgotten.
    recollect.ingest(
        *(
            line(f"q{n}", f"My friend Zibrotok Miller lives in {town}.", sender_id=f"u{n}")
            for n, town in enumerate(("Trondheim", "Ljubljana", "Barcelona", "Porto"))
        )
    )
    left: list[str] = []

    def meanwhile(_: int) -> None:
        if not begun:
            begun.append(recollect.run("forget", "q0"))
            left.extend(["q1", "q2"])

    def suspects(*given: Any) -> Any:
        # What was read of it is about to be written, and its key ends first.
        if left:
            id_, rest = left.pop(0), left[:]
            left.clear()
            recollect.run("forget", id_)
            left.extend(rest)
        return find(*given)

    find = erasing._affected_rows
    begun: list[Any] = []
    monkeypatch.setattr(erasing, "_affected_rows", suspects)
    with Library(recollect.home) as library:
        zone = library.zone(ZONE)
        zone.rebuild("derive", progress=meanwhile)
        assert begun
        assert not left
        found = content(library)
        assert not recollect.left("Trondheim", "Ljubljana", "Barcelona")
        zone.rebuild("derive")
        assert content(library) == found
