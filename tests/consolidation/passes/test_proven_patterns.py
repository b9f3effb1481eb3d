"""A pattern in a home: three separate days at least, its support and exceptions, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from recollect import Recollect, Zone

#: A Tuesday.
FIRST = date(2026, 1, 6)


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as memory:
        yield memory.zone("ada")


def tell(
    zone: Zone, days: list[date], words: str = "I sang in the choir of the {} hall today."
) -> None:
    """Tell of the same on each of these days, in other words."""
    halls = ("old", "new", "red", "blue", "big", "small", "green", "white")
    zone.ingest(
        {
            "id": f"{day}",
            "platform": "chat",
            "sender_id": "ada",
            "sender_name": "Ada",
            "occurred_at": f"{day}T18:00:00Z",
            "ingested_at": f"{day}T18:00:00Z",
            "content": words.format(halls[number % len(halls)]),
        }
        for number, day in enumerate(days)
    )
    zone.consolidate()


def weeks(*numbers: int) -> list[date]:
    return [FIRST + timedelta(weeks=number) for number in numbers]


def cycles(zone: Zone) -> list[str]:
    return [each.text for each in zone.observations() if each.kind == "cycle"]


def test_8_two_days_are_no_pattern(zone: Zone) -> None:
    tell(zone, weeks(0, 1))
    assert cycles(zone) == []


def test_8_a_pattern_says_its_support_and_exceptions(zone: Zone) -> None:
    tell(zone, [*weeks(0, 1, 2, 3, 4), FIRST + timedelta(weeks=4, days=2)])
    (text,) = cycles(zone)
    assert "on Tuesdays (5 of 6 days; not 5 Feb 2026)" in text


def test_8_a_pattern_is_no_longer_so_after_missed_periods(zone: Zone) -> None:
    tell(zone, weeks(0, 1, 2, 3, 4))
    assert "no longer" not in cycles(zone)[0]
    tell(zone, weeks(9), words="I like the rain, and I painted my {} kitchen today.")
    (text,) = cycles(zone)
    assert "no longer" in text
