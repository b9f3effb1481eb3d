"""Asking a broker again: after a pause it gives outdated answers until it learns who leads now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Answer = TypeVar("Answer")

#: For so many seconds a question is repeated whose answer contradicts what is known; then the
#: answer is believed. A broker that wakes up learns sooner that it is no longer the leader.
REPEAT_SECONDS = 5.0
_PAUSE_SECONDS = 0.25


async def retry_until(
    ask: Callable[[], Awaitable[Answer]], fits: Callable[[Answer], bool]
) -> Answer:
    """Return the first answer that fits, or, if none does for a while, the last one."""
    deadline = time.monotonic() + REPEAT_SECONDS
    while not fits(answer := await ask()) and time.monotonic() < deadline:
        await asyncio.sleep(_PAUSE_SECONDS)
    return answer
