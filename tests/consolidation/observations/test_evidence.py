"""Confidence and trend come from the messages, not from when they were consolidated."""

from __future__ import annotations

import pytest

from recollect.streams.consolidation.evidence import confidence, trend

DAY = 86_400_000
NOW = 400 * DAY


@pytest.mark.parametrize(
    ("sources", "days", "speakers", "level"),
    [
        (2, 2, 1, "low"),
        (2, 2, 2, "medium"),
        (3, 1, 1, "medium"),
        (4, 4, 1, "medium"),
        (5, 1, 1, "medium"),
        (5, 2, 1, "high"),
        (4, 2, 3, "high"),
    ],
)
def test_confidence_grows_with_sources_days_and_speakers(
    sources: int, days: int, speakers: int, level: str
) -> None:
    assert confidence(sources, days, speakers) == level


@pytest.mark.parametrize(
    ("ages", "is_"),
    [
        ([29, 10, 1], "new"),
        ([300, 200, 91], "stale"),
        ([], "stale"),
        ([130, 120, 110, 100, 90, 80, 70, 60, 50, 10], "weakening"),
        ([130, 5, 4, 3], "strengthening"),
        ([150, 120, 90, 60, 20], "stable"),
    ],
)
def test_trend_compares_the_last_month_with_before(ages: list[int], is_: str) -> None:
    assert trend([NOW - age * DAY for age in ages], NOW) == is_
