"""How well an observation is supported, and whether it gains or loses evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Confidence = Literal["low", "medium", "high"]
#: `new`: all evidence is recent. `strengthening`, `weakening`: more or less of it than before.
#: `stale`: none for a long time.
Trend = Literal["new", "stable", "strengthening", "weakening", "stale"]

_DAY_MS = 86_400_000
#: The age, in days, up to which evidence is recent, and after which an observation is stale.
RECENT_DAYS, STALE_DAYS = 30, 90
#: Recent evidence per day, compared with that before.
STRENGTHENING, WEAKENING = 1.5, 0.5
#: The minimum numbers of sources for medium and for high confidence.
MEDIUM_SOURCES, HIGH_SOURCES = 3, 5


def confidence(sources: int, days: int, speakers: int) -> Confidence:
    """Return how well an observation is supported.

    `sources`: messages that state it; `days`: on how many days; `speakers`: by how many senders. A
    second speaker counts as one more source; what was said on one day is never of high confidence.
    """
    weight = sources + (speakers > 1)
    if weight >= HIGH_SOURCES and days > 1:
        return "high"
    return "medium" if weight >= MEDIUM_SOURCES else "low"


def trend(said_at: Sequence[int], now: int) -> Trend:
    """Return the trend of evidence that was said at these times, as of `now` (unix ms)."""
    ages = [max(0, now - at) / _DAY_MS for at in said_at]
    if not ages or min(ages) > STALE_DAYS:
        return "stale"
    recent = sum(age <= RECENT_DAYS for age in ages)
    earlier = len(ages) - recent
    if not earlier:
        return "new"
    before = earlier / max(1.0, max(ages) - RECENT_DAYS)
    ratio = (recent / RECENT_DAYS) / before
    if ratio > STRENGTHENING:
        return "strengthening"
    return "weakening" if ratio < WEAKENING else "stable"
