"""Long-running operations: started by one call, and watched, cancelled or retried by others.

They run one at a time. Their states and results are stored in the home: an operation that was
running when the process died is `interrupted`.
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
    not_found,
    to_problem,
    unauthorized,
)
from recollect.service.http.service_log import ServiceLog
from recollect.service.work.thread_lanes import ThreadLane
from recollect.streams.projecting.projector import OnProgress

State = Literal["queued", "running", "succeeded", "failed", "cancelled", "interrupted"]

#: The states of an operation that has ended. Only `retry` leaves them, and never "succeeded".
TERMINAL_STATES: frozenset[State] = frozenset(("succeeded", "failed", "cancelled", "interrupted"))

_FILE = "operations.json"
_MAX_STORED = 1_000
_POLL_SECONDS = 0.25


class LongOperation(msgspec.Struct, frozen=True, kw_only=True):
    """A long-running operation on a zone."""

    id: Annotated[str, Meta(description="Id of the operation.")]
    kind: Annotated[str, Meta(description="verify, rebuild, rollback, reclaim or backfill.")]
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


class _Stored(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An operation as stored in the home, with its input; times are unix ms."""

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

    def public_view(self) -> LongOperation:
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
    """Raised inside an operation to end it."""


class LongOperations:
    """The operations of a home. Methods are called on the event loop."""

    def __init__(self, home: Path, lane: ThreadLane, log: ServiceLog) -> None:
        self._path = home / _FILE
        self._lane = lane
        self._log = log
        self._stored = {stored.id: stored for stored in self._read()}
        self._cancelling: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        # One thread keeps the writes in order and off the event loop.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="service-save")
        for stored in self._stored.values():
            if stored.state not in TERMINAL_STATES:
                stored.state, stored.detail = (
                    "interrupted",
                    "the service stopped during the operation",
                )

    def start(
        self,
        zone: Zone,
        operation: Operation[..., Any],
        given: msgspec.Struct,
        *,
        who: str,
        key: str | None,
        total: int | None,
    ) -> LongOperation:
        """Start an operation, or return the one started with this idempotency key.

        Raises:
            Refused: the key was used for another operation or input.
        """
        fields = msgspec.to_builtins(given)
        if key is not None:
            check_key(key)
            for stored in self._stored.values():
                if (stored.zone, stored.who, stored.key) == (zone.name, who, key):
                    if (stored.kind, stored.given) != (operation.name, fields):
                        raise Refused(
                            CONFLICT,
                            "this Idempotency-Key was used with another operation or input; use "
                            "a new key",
                        )
                    return stored.public_view()
        stored = _Stored(
            id=secrets.token_hex(12),
            zone=zone.name,
            kind=operation.name,
            given=fields,
            state="queued",
            created_at=unix_ms(),
            key=key,
            who=who,
            total=total,
        )
        self._stored[stored.id] = stored
        self._schedule(zone, stored)
        return stored.public_view()

    def of_zone(self, zone: str) -> list[LongOperation]:
        """Return the operations of a zone, the latest first."""
        return [
            stored.public_view()
            for stored in reversed(self._stored.values())
            if stored.zone == zone
        ]

    def get(self, zone: str, id_: str) -> LongOperation:
        """Return an operation of a zone; Refused if there is none with this id."""
        return self._get(zone, id_).public_view()

    def cancel(self, zone: str, id_: str) -> LongOperation:
        """Cancel an operation.

        Raises:
            Refused: there is none with this id, or it has ended.
        """
        stored = self._get(zone, id_)
        if stored.state in TERMINAL_STATES:
            raise Refused(CONFLICT, f"the operation has already ended: {stored.state}")
        self._cancelling.add(id_)
        if stored.state == "queued":
            self._end(stored, "cancelled")
        return stored.public_view()

    def retry(self, zone: Zone, id_: str) -> LongOperation:
        """Restart an operation that did not succeed.

        Raises:
            Refused: there is none with this id, it succeeded, or it has not ended.
        """
        stored = self._get(zone.name, id_)
        if stored.state not in TERMINAL_STATES:
            detail = f"the operation is still {stored.state}; wait until it ends, or cancel it"
            raise Refused(BUSY, detail, retry_after=1)
        if stored.state == "succeeded":
            raise Refused(
                CONFLICT, "the operation succeeded, so it cannot be retried; start a new one"
            )
        stored.state, stored.done = "queued", 0
        stored.started_at = stored.ended_at = stored.detail = stored.result = None
        self._cancelling.discard(id_)
        self._schedule(zone, stored)
        return stored.public_view()

    async def watch(
        self, zone: str, id_: str, is_authorized: Callable[[], bool]
    ) -> AsyncIterator[LongOperation]:
        """Yield an operation whenever it has changed, until it has ended.

        Raises:
            Refused: there is none with this id, or the client is no longer authorized.
        """
        previous: LongOperation | None = None
        while True:
            if not is_authorized():
                raise unauthorized()
            current = self.get(zone, id_)
            if current != previous:
                yield current
                previous = current
            if current.state in TERMINAL_STATES:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def close(self) -> None:
        """Interrupt the unfinished operations, and wait until the running one ends."""
        self._closing = True
        for stored in self._stored.values():
            if stored.state not in TERMINAL_STATES:
                self._cancelling.add(stored.id)
                if stored.state == "queued":
                    self._end(stored, "interrupted")
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.to_thread(self._writer.shutdown)

    def _schedule(self, zone: Zone, stored: _Stored) -> None:
        self._write()
        task = asyncio.create_task(self._run(zone, stored))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, zone: Zone, stored: _Stored) -> None:
        def progress(done: int) -> None:
            if stored.id in self._cancelling:
                raise _Cancelled
            stored.done += done

        def work() -> Any:
            if stored.state != "queued":
                return None
            stored.state, stored.started_at = "running", unix_ms()
            return _run(zone, stored, progress)

        try:
            result = await self._lane.run(work)
        except _Cancelled:
            self._end(stored, "interrupted" if self._closing else "cancelled")
        except Exception as error:
            stored.detail = to_problem(error).detail
            if not isinstance(error, RecollectError | Refused):
                self._log.error("operation failed", error, operation=stored.id)
            self._end(stored, "failed")
        else:
            if result is not None:
                stored.result = msgspec.to_builtins(result)
                self._end(stored, "succeeded")

    def _end(self, stored: _Stored, state: State) -> None:
        stored.state, stored.ended_at = state, unix_ms()
        self._cancelling.discard(stored.id)
        self._write()

    def _get(self, zone: str, id_: str) -> _Stored:
        stored = self._stored.get(id_)
        if stored is None or stored.zone != zone:
            raise not_found()
        return stored

    def _read(self) -> list[_Stored]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[_Stored])
        except (OSError, msgspec.DecodeError):
            # Without the file, clients must start operations again.
            return []

    def _write(self) -> None:
        ended = [stored for stored in self._stored.values() if stored.state in TERMINAL_STATES]
        for stored in ended[: max(len(self._stored) - _MAX_STORED, 0)]:
            del self._stored[stored.id]
        self._writer.submit(self._replace, msgspec.json.encode(list(self._stored.values())))

    def _replace(self, content: bytes) -> None:
        try:
            replace_file(self._path, content + b"\n")
        except OSError as error:
            self._log.error("operations cannot be saved", error)


def _run(zone: Zone, stored: _Stored, progress: OnProgress) -> Any:
    (operation,) = (found for found in all_operations() if found.name == stored.kind)
    given = msgspec.convert(stored.given, operation.input)
    args, kwargs = operation.arguments(given, progress=progress)
    return getattr(zone, operation.name)(*args, **kwargs)
