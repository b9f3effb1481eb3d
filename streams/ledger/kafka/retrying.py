"""Asking a broker again: one that stood still answers from the past until it learns that another
leads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Answer = TypeVar("Answer")

#: So long an answer that contradicts what is known is asked for again, in seconds; then it is
#: believed. A broker that wakes up learns sooner that it leads no more.
PAST_SECONDS = 5.0
_PAUSE_SECONDS = 0.25


async def retry_until(
    ask: Callable[[], Awaitable[Answer]], fits: Callable[[Answer], bool]
) -> Answer:
    """Return the first answer that fits, or, where none does for a while, the last one."""
    deadline = time.monotonic() + PAST_SECONDS
    while not fits(answer := await ask()) and time.monotonic() < deadline:
        await asyncio.sleep(_PAUSE_SECONDS)
    return answer
