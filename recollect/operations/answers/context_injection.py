"""Context injection: relevant memories for an agent's prompt, often none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.home.token_counting import check_max_tokens, token_counter
from recollect.operations.answers import recalling
from recollect.projections.recall import context_of
from recollect.schemas.wire import ContextBlock

#: The default size of a block. On LoCoMo's dev questions, a block of this size contains the words
#: of 85% of the answers, and a block three times as large those of 88%.
DEFAULT_MAX_TOKENS = 500
#: Timeout in seconds, after which the block is empty; every prompt waits for its block.
TIMEOUT_SECONDS = 3.0
# Seconds after which no further query is started.
_QUERY_DEADLINE_SECONDS = 2.0
_PROFILE = "default"
# While this many timed-out calls are still running, further calls return nothing at once.
_MAX_ABANDONED = 4

T = TypeVar("T")


def context(zone: OpenZone, task: str, *, max_tokens: int = DEFAULT_MAX_TOKENS) -> ContextBlock:
    """Return a block of memories relevant to a task; it is empty if there are none.

    Raises:
        InvalidInput: `max_tokens` is not from 1 to 100,000.
    """
    check_max_tokens(max_tokens)
    started = time.monotonic()

    def find() -> ContextBlock:
        block = recalling.with_recaller(
            zone,
            _PROFILE,
            None,
            lambda recaller: context_of(
                recaller,
                task,
                max_tokens=max_tokens,
                count=token_counter(zone),
                now=unix_ms(),
                deadline=started + _QUERY_DEADLINE_SECONDS,
            ),
        )
        return _empty_block(started) if block is None else block

    block = _CALLS.run(find, zone, started + TIMEOUT_SECONDS)
    return _empty_block(started) if block is None else block


def _empty_block(started: float) -> ContextBlock:
    elapsed = (time.monotonic() - started) * 1000
    return ContextBlock(block="", items=[], tokens=0, ms=round(elapsed, 3))


class _TimedCalls:
    """Runs calls with a deadline; a call that misses it is abandoned and runs on in its thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._abandoned_running = 0

    def run(self, work: Callable[[], T], zone: OpenZone, deadline: float) -> T | None:
        """Return the result of `work`, or None after `deadline` (of `time.monotonic`).

        Also return None immediately while too many abandoned calls are still running.
        """
        with self._lock:
            if self._abandoned_running >= _MAX_ABANDONED:
                return None
        results: list[T] = []
        errors: list[BaseException] = []
        ended, abandoned = threading.Event(), threading.Event()

        def run() -> None:
            try:
                with zone.open_home.call_guard():
                    results.append(work())
            except BaseException as error:
                errors.append(error)
            with self._lock:
                ended.set()
                self._abandoned_running -= abandoned.is_set()

        threading.Thread(target=run, name="recollect-context", daemon=True).start()
        if not ended.wait(max(deadline - time.monotonic(), 0)):
            with self._lock:
                if not ended.is_set():
                    abandoned.set()
                    self._abandoned_running += 1
                    return None
        if errors:
            raise errors[0]
        return results[0]


_CALLS = _TimedCalls()
