"""Long-running operations: a call begins one, and others watch, cancel or retry it.

They are done one after the other. What they are, and how they ended, is kept in the home: one that
was at work when the process died is found interrupted.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.home.open_zone import unix_ms
from recollect.library.library_zone import Zone
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import all_operations
from recollect.projections.generations import replace_file
from recollect.schemas.errors import RecollectError
from recollect.schemas.times import format_time
from recollect.service.http.idempotent_calls import check_key
from recollect.service.http.problem_details import (
    BUSY,
    CONFLICT,
    Refused,
    nothing_here,
    refusal,
    unauthorized,
)
from recollect.service.http.service_log import ServiceLog
from recollect.service.work.thread_lanes import ThreadLane
from recollect.streams.projecting.projector import OnProgress

State = Literal["queued", "running", "succeeded", "failed", "cancelled", "interrupted"]

#: Those that will not change any more, but by a retry.
ENDED: frozenset[State] = frozenset(("succeeded", "failed", "cancelled", "interrupted"))

_FILE = "operations.json"
_MAX_KEPT = 1_000
# So often who watches is told how far it is.
_WATCH_SECONDS = 0.25


class LongOperation(msgspec.Struct, frozen=True, kw_only=True):
    """A long-running operation on a zone."""

    id: Annotated[str, Meta(description="Id of the operation.")]
    kind: Annotated[str, Meta(description="verify, rebuild, rollback or reclaim.")]
    state: Annotated[State, Meta(description="State of the operation.")]
    done: Annotated[int, Meta(description="Number of records processed.")]
    total: Annotated[
        int | None, Meta(description="Approximate number of records; null if unknown.")
    ]
    created_at: Annotated[str, Meta(description="When it was requested.")]
    started_at: Annotated[str | None, Meta(description="When it started.")]
    ended_at: Annotated[str | None, Meta(description="When it ended.")]
    detail: Annotated[str | None, Meta(description="Why it did not succeed.")] = None
    result: Annotated[Any, Meta(description="The report, once it has succeeded.")] = None


class _Kept(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An operation as the home keeps it: its name and input, and times in unix ms."""

    id: str
    zone: str
    kind: str
    given: dict[str, Any] = {}
    state: State
    created_at: int
    key: str | None = None
    who: str = ""
    done: int = 0
    total: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    detail: str | None = None
    result: Any = None

    def shown(self) -> LongOperation:
        return LongOperation(
            id=self.id,
            kind=self.kind,
            state=self.state,
            done=self.done,
            total=self.total,
            created_at=format_time(self.created_at),
            started_at=None if self.started_at is None else format_time(self.started_at),
            ended_at=None if self.ended_at is None else format_time(self.ended_at),
            detail=self.detail,
            result=self.result,
        )


class _Cancelled(Exception):
    """Raised inside an operation that is to end."""


class LongOperations:
    """The operations of a home. Its methods are called on the event loop."""

    def __init__(self, home: Path, lane: ThreadLane, log: ServiceLog) -> None:
        self._path = home / _FILE
        self._lane = lane
        self._log = log
        self._kept = {kept.id: kept for kept in self._read()}
        self._to_end: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        # A file is written after the other, and not on the event loop.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="service-note")
        for kept in self._kept.values():
            if kept.state not in ENDED:
                kept.state, kept.detail = "interrupted", "the service ended meanwhile"

    def begin(
        self,
        zone: Zone,
        operation: Operation[..., Any],
        given: msgspec.Struct,
        *,
        who: str,
        key: str | None,
        total: int | None,
    ) -> LongOperation:
        """Begin an operation, or return the one begun under this key.

        Raises:
            Refused: something else was asked under the key.
        """
        asked = msgspec.to_builtins(given)
        if key is not None:
            check_key(key)
            for kept in self._kept.values():
                if (kept.zone, kept.who, kept.key) == (zone.name, who, key):
                    if (kept.kind, kept.given) != (operation.name, asked):
                        raise Refused(CONFLICT, "something else was asked under this key")
                    return kept.shown()
        kept = _Kept(
            id=secrets.token_hex(12),
            zone=zone.name,
            kind=operation.name,
            given=asked,
            state="queued",
            created_at=unix_ms(),
            key=key,
            who=who,
            total=total,
        )
        self._kept[kept.id] = kept
        self._start(zone, kept)
        return kept.shown()

    def of(self, zone: str) -> list[LongOperation]:
        """Return the operations of a zone, the latest first."""
        return [kept.shown() for kept in reversed(self._kept.values()) if kept.zone == zone]

    def get(self, zone: str, id_: str) -> LongOperation:
        """Return an operation of a zone; Refused where there is none."""
        return self._found(zone, id_).shown()

    def cancel(self, zone: str, id_: str) -> LongOperation:
        """Have an operation end before it is done.

        Raises:
            Refused: there is none, or it has ended.
        """
        kept = self._found(zone, id_)
        if kept.state in ENDED:
            raise Refused(CONFLICT, f"it is {kept.state} already")
        self._to_end.add(id_)
        if kept.state == "queued":
            self._ended(kept, "cancelled")
        return kept.shown()

    def retry(self, zone: Zone, id_: str) -> LongOperation:
        """Begin an operation again that did not succeed.

        Raises:
            Refused: there is none, or it succeeded, or is at work.
        """
        kept = self._found(zone.name, id_)
        if kept.state not in ENDED:
            raise Refused(BUSY, "it is at work", retry_after=1)
        if kept.state == "succeeded":
            raise Refused(CONFLICT, "it succeeded; begin another one")
        kept.state, kept.done = "queued", 0
        kept.started_at = kept.ended_at = kept.detail = kept.result = None
        self._to_end.discard(id_)
        self._start(zone, kept)
        return kept.shown()

    async def watch(
        self, zone: str, id_: str, may: Callable[[], bool]
    ) -> AsyncIterator[LongOperation]:
        """Yield an operation whenever it got further, until it has ended.

        Raises:
            Refused: there is none, or who watches may not any more.
        """
        before: LongOperation | None = None
        while True:
            if not may():
                raise unauthorized()
            now = self.get(zone, id_)
            if now != before:
                yield now
                before = now
            if now.state in ENDED:
                return
            await asyncio.sleep(_WATCH_SECONDS)

    async def close(self) -> None:
        """Interrupt what is at work, and wait for it."""
        self._closing = True
        for kept in self._kept.values():
            if kept.state not in ENDED:
                self._to_end.add(kept.id)
                if kept.state == "queued":
                    self._ended(kept, "interrupted")
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.to_thread(self._writer.shutdown)

    def _start(self, zone: Zone, kept: _Kept) -> None:
        self._write()
        task = asyncio.create_task(self._run(zone, kept))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, zone: Zone, kept: _Kept) -> None:
        def progress(done: int) -> None:
            if kept.id in self._to_end:
                raise _Cancelled
            kept.done += done

        def work() -> Any:
            if kept.state != "queued":
                return None
            kept.state, kept.started_at = "running", unix_ms()
            return _run(zone, kept, progress)

        try:
            result = await self._lane.run(work)
        except _Cancelled:
            self._ended(kept, "interrupted" if self._closing else "cancelled")
        except Exception as error:
            kept.detail = refusal(error).detail
            if not isinstance(error, RecollectError | Refused):
                self._log.error("operation failed", error, operation=kept.id)
            self._ended(kept, "failed")
        else:
            if result is not None:
                kept.result = msgspec.to_builtins(result)
                self._ended(kept, "succeeded")

    def _ended(self, kept: _Kept, state: State) -> None:
        kept.state, kept.ended_at = state, unix_ms()
        self._to_end.discard(kept.id)
        self._write()

    def _found(self, zone: str, id_: str) -> _Kept:
        kept = self._kept.get(id_)
        if kept is None or kept.zone != zone:
            raise nothing_here()
        return kept

    def _read(self) -> list[_Kept]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[_Kept])
        except (OSError, msgspec.DecodeError):
            # Nothing rests on it.
            return []

    def _write(self) -> None:
        ended = [kept for kept in self._kept.values() if kept.state in ENDED]
        for kept in ended[: max(len(self._kept) - _MAX_KEPT, 0)]:
            del self._kept[kept.id]
        self._writer.submit(self._replace, msgspec.json.encode(list(self._kept.values())))

    def _replace(self, content: bytes) -> None:
        try:
            replace_file(self._path, content + b"\n")
        except OSError as error:
            self._log.error("operations cannot be noted", error)


def _run(zone: Zone, kept: _Kept, progress: OnProgress) -> Any:
    (operation,) = (found for found in all_operations() if found.name == kept.kind)
    given = msgspec.convert(kept.given, operation.input)
    args, kwargs = operation.arguments(given, progress=progress)
    return getattr(zone, operation.name)(*args, **kwargs)
