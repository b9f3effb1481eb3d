"""Retries for outdated answers of a broker that was paused and does not know the new leader."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Answer = TypeVar("Answer")

#: How long a request with an unexpected answer is repeated before the answer is accepted. A broker
#: that was paused finds out within this time that it is no longer the leader.
REPEAT_SECONDS = 5.0
_PAUSE_SECONDS = 0.25


async def retry_until(
    ask: Callable[[], Awaitable[Answer]], fits: Callable[[Answer], bool]
) -> Answer:
    """Return the first answer that fits, or the last one if none does within `REPEAT_SECONDS`."""
    deadline = time.monotonic() + REPEAT_SECONDS
    while not fits(answer := await ask()) and time.monotonic() < deadline:
        await asyncio.sleep(_PAUSE_SECONDS)
    return answer
