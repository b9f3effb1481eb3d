"""Injection: what a zone has to say on a task, for an agent's prompt; mostly nothing (A25, B12)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.home.token_counting import MAX_TOKENS, token_counter
from recollect.operations.answers import recalling
from recollect.projections.recall import context_of
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import ContextBlock

#: Tokens of a block where nobody says how many: 85 of 100 answers' words are in it, and three times
#: the room holds three more (LoCoMo, dev).
DEFAULT_MAX_TOKENS = 500
#: A block that is later than this (seconds) is none: somebody waits for it with every prompt.
HARD_STOP = 3.0
# Later than this, no further question is begun.
_STOP = 2.0
_PROFILE = "default"
# Of those that were given up, so many may still be at work; then others get nothing at once.
_MAX_ABANDONED = 4

T = TypeVar("T")


def context(zone: OpenZone, task: str, *, max_tokens: int = DEFAULT_MAX_TOKENS) -> ContextBlock:
    """Return what the zone has to say on a task; an empty block where nothing is relevant.

    Raises:
        InvalidInput: the task is no text, or `max_tokens` is not from 1 to MAX_TOKENS.
    """
    if not isinstance(task, str):
        raise InvalidInput(f"task is {type(task).__name__}; give a text")
    whole = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if not whole or not 1 <= max_tokens <= MAX_TOKENS:
        raise InvalidInput(f"max_tokens {max_tokens!r}: give a number from 1 to {MAX_TOKENS}")
    started = time.monotonic()

    def ask() -> ContextBlock:
        found = recalling.with_recaller(
            zone,
            _PROFILE,
            None,
            lambda recaller: context_of(
                recaller,
                task,
                max_tokens=max_tokens,
                count=token_counter(zone),
                now=unix_ms(),
                deadline=started + _STOP,
            ),
        )
        return _nothing(started) if found is None else found

    found = _LATE.by(started + HARD_STOP, zone, ask)
    return _nothing(started) if found is None else found


def _nothing(started: float) -> ContextBlock:
    elapsed = (time.monotonic() - started) * 1000
    return ContextBlock(block="", items=[], tokens=0, ms=round(elapsed, 3))


class _Late:
    """Work that somebody waits for until a moment, and that goes on unheeded after it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at_work = 0

    def by(self, moment: float, zone: OpenZone, work: Callable[[], T]) -> T | None:
        """Return what `work` returns by a moment of `time.monotonic`; None where it is late.

        So it is at once where too much that was late is still at work.
        """
        with self._lock:
            if self._at_work >= _MAX_ABANDONED:
                return None
        done: list[T] = []
        failed: list[BaseException] = []
        ended, given_up = threading.Event(), threading.Event()

        def run() -> None:
            try:
                with zone.open_home.call_guard():
                    done.append(work())
            except BaseException as error:
                failed.append(error)
            with self._lock:
                ended.set()
                self._at_work -= given_up.is_set()

        threading.Thread(target=run, name="recollect-context", daemon=True).start()
        if not ended.wait(max(moment - time.monotonic(), 0)):
            with self._lock:
                if not ended.is_set():
                    given_up.set()
                    self._at_work += 1
                    return None
        if failed:
            raise failed[0]
        return done[0]


_LATE = _Late()
