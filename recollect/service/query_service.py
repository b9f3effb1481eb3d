"""The service behind its routes: a home, who may do what in it, and the threads that do it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

from litestar import Request

from recollect.home.access_tokens import AccessTokens, Right
from recollect.home.service_settings import ServiceSettings
from recollect.library.library_home import Recollect
from recollect.library.library_zone import Zone
from recollect.operations.ingestion.ingesting import decided
from recollect.operations.upkeep.unreadable_records import TOPICS, unreadable_records
from recollect.operations.writing.background_writing import written_meanwhile
from recollect.projections.file_permissions import writable
from recollect.schemas.errors import InvalidInput, RecollectError
from recollect.schemas.wire import IngestReport, WriteReport
from recollect.service.http.idempotent_calls import IdempotentCalls
from recollect.service.http.problem_details import TOO_MANY, Refused, nothing_here, unauthorized
from recollect.service.http.service_log import ServiceLog
from recollect.service.http.service_metrics import ServiceMetrics
from recollect.service.principals import ANYBODY, Principal, authenticated
from recollect.service.work.decided_waiters import DecidedWaiters
from recollect.service.work.deciding_thread import DecidingThread
from recollect.service.work.long_operations import LongOperations
from recollect.service.work.recall_workers import RecallWorkers, readers_at_most
from recollect.service.work.thread_lanes import ThreadLane
from recollect.streams.ledger import PARTITIONS

T = TypeVar("T")

#: A request of any kind, as routes get it.
AnyRequest = Request[Any, Any, Any]

# Recalls wait for the encoder and for files; more threads than cores keep both busy.
_READERS_PER_CORE = 4
_WRITERS = 4
# Long work is done one after the other, so that it leaves a core to the rest.
_LONG = 1
_MAX_RATE_LIMITERS = 10_000
# So often it is written down when tokens were used last.
_NOTE_SECONDS = 60.0
_FLUSH_SECONDS = 0.5
_LOAD_SECONDS = 10.0
_LOOK_SECONDS = 5.0
_WARM_UP = "Where does Ada live?"


class QueryService:
    """A home that answers requests. Its methods are called on the event loop."""

    def __init__(self, recollect: Recollect, settings: ServiceSettings, log: ServiceLog) -> None:
        self.recollect = recollect
        self.settings = settings
        self.tokens = AccessTokens(recollect.home)
        readers = _READERS_PER_CORE * (os.cpu_count() or 1)
        self.reading = ThreadLane("read", readers, settings.waiting)
        self.writing = ThreadLane("write", _WRITERS, settings.waiting)
        #: They answer beside this process, while many are asked at once.
        self.readers = RecallWorkers(
            recollect, readers_at_most(settings.recall_workers), settings.request_seconds
        )
        recollect._open_home.recallers.follow_listeners.append(self.readers.erased)
        self.long = ThreadLane("long", _LONG, settings.waiting)
        #: Whether questions can be answered.
        self.ready = False
        #: Why zones on Kafka stand still, by their records' places, as last looked for.
        self.unreadable: list[str] = []
        self._waiting: DecidedWaiters | None = None
        self.log = log
        self.calls = IdempotentCalls(recollect._open_home.node.ledger)
        self.operations = LongOperations(recollect.home, self.long, log)
        self.metrics = ServiceMetrics(self.lanes)
        self._limits: dict[str, _Bucket] = {}

    @property
    def lanes(self) -> tuple[ThreadLane, ...]:
        """The threads of every kind of call."""
        return (self.reading, self.writing, self.long)

    # Who asks

    def principal(self, authorization: bytes | None) -> Principal | None:
        """Return on whose behalf a request is made; None where it says nobody."""
        if self.settings.no_auth:
            return ANYBODY
        return authenticated(self.tokens, authorization)

    def is_valid(self, principal: Principal) -> bool:
        """Return whether a principal's token was neither taken back nor has expired."""
        return principal.token is None or self.tokens.is_valid(principal.token.id)

    def limit(self, who: str) -> None:
        """Count a request.

        Raises:
            Refused: there were too many within the last second.
        """
        most = self.settings.requests_per_second
        if not most:
            return
        bucket = self._limits.get(who)
        if bucket is None:
            if len(self._limits) >= _MAX_RATE_LIMITERS:
                self._limits.clear()
            bucket = self._limits[who] = _Bucket(most)
        if not bucket.take():
            detail = f"at most {most:g} requests a second; try again"
            raise Refused(TOO_MANY, detail, retry_after=1)

    # What is asked

    async def read(
        self,
        principal: Principal | None,
        zone: str,
        right: Right,
        work: Callable[[Zone], T],
        *,
        empty: bool = False,
    ) -> T:
        """Return what a quick look into a zone gives; `empty`: also where it holds nothing.

        Raises:
            Refused: the zone holds nothing, or not for this principal.
        """
        call = partial(self._in_zone, principal, zone, right, work, makes=empty)
        return await self.reading.run(call, self.settings.request_seconds)

    async def write(
        self,
        principal: Principal | None,
        zone: str,
        right: Right,
        work: Callable[[Zone], T],
        *,
        makes: bool = False,
    ) -> T:
        """Return what changing a zone gives; `makes`: the zone may come into being by that.

        Raises:
            Refused: as `read`.
        """
        call = partial(self._in_zone, principal, zone, right, work, makes=makes)
        return await self.writing.run(call, self.settings.request_seconds)

    def _in_zone(
        self,
        principal: Principal | None,
        zone: str,
        right: Right,
        work: Callable[[Zone], T],
        *,
        makes: bool = False,
    ) -> T:
        return work(self.zone(principal, zone, right, makes=makes))

    def zone(
        self, principal: Principal | None, zone: str, right: Right, *, makes: bool = False
    ) -> Zone:
        """Return a zone for who has a right to it; one that is not there is as one that is not his.

        It reads a file: call it on one of the lanes' threads.

        Raises:
            Refused: there is none, or not for this principal.
        """
        if principal is None:
            raise unauthorized()
        try:
            held, named = self.recollect.holds(zone), True
        except InvalidInput:
            held = named = False
        if not principal.has_right(zone, right) or not (held or (makes and named)):
            raise nothing_here()
        return self.recollect.zone(zone)

    async def until(self, zone: str, number: int) -> None:
        """Wait until a zone is decided up to a record.

        Raises:
            Refused: it was not in time.
        """
        assert self._waiting is not None
        held = self.recollect.zone(zone)
        await self._waiting.until(
            zone,
            number,
            lambda: self.reading.run(lambda: decided(held._zone)),
            self.settings.wait_seconds,
        )

    # While it runs

    def counted(self, report: IngestReport) -> None:
        """Count the events of an import."""
        for result in ("new", "duplicate", "rejected"):
            self.metrics.events.labels(result).inc(getattr(report, result))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Decide what is published, and answer; at the end, wait for what is at work."""
        self._waiting = DecidedWaiters()
        noting = [asyncio.create_task(self._note_used()), asyncio.create_task(self._flush())]
        if self.recollect._open_home.node.ledger.shared:
            noting.append(asyncio.create_task(self._watch_records()))
        warming = asyncio.create_task(self._warm_up())
        home, node = self.recollect._open_home.home, self.recollect._open_home.node
        # On Kafka the workers decide, and a home that is read-only is decided elsewhere. A disk
        # that is full may have room later.
        decides = writable(home.directory) and not node.ledger.shared
        ticks = home.configuration.ticks
        deciding = DecidingThread(node, self._reported, ticks=ticks) if decides else nullcontext()
        opened, told = self.recollect._open_home, self.log.does_not_write
        writing = written_meanwhile(opened, self._wrote, told) if decides else nullcontext()
        with deciding, writing:
            try:
                yield
            finally:
                self.ready = False
                for task in (*noting, warming):
                    task.cancel()
                await self.operations.close()
                for lane in self.lanes:
                    await asyncio.to_thread(lane.close)
                await asyncio.to_thread(self.readers.close)
                await self._note_tokens()
                self.log.flush()

    def _reported(self, zone: str, moved: int | Exception) -> None:
        """Note what the thread that decides reports."""
        if not isinstance(moved, Exception):
            self.metrics.decided.inc(moved)
            if self._waiting is not None:
                self._waiting.moved(zone)
        else:
            self.log.worker(zone, moved)

    def _wrote(self, _: str, report: WriteReport) -> None:
        """Note what a model wrote."""
        self.metrics.wrote(report)

    async def _warm_up(self) -> None:
        """Have the encoder loaded before the first question needs it; until then not ready."""
        gateway = self.recollect._open_home.node.gateway
        while gateway.model is not None:
            try:
                await self.reading.run(lambda: gateway.encode_query_tokens(_WARM_UP))
                break
            except Exception as error:
                # Somebody may bring it meanwhile.
                self.log.error("the encoder cannot be loaded", error)
                await asyncio.sleep(_LOAD_SECONDS)
        self.ready = True

    async def _watch_records(self) -> None:
        """Look for records that no reader can pass; what was read is not read again."""
        ledger = self.recollect._open_home.node.ledger
        begin: dict[tuple[str, str], int] = {}
        seen: list[int] = []

        def look() -> list[str]:
            nonlocal seen
            ends = [ledger.end(topic, part) for topic in TOPICS for part in range(PARTITIONS)]
            if ends == seen:
                return self.unreadable
            found = [
                each.place
                for zone in ledger.zones()
                for each in unreadable_records(ledger, zone, begin)
            ]
            seen = ends
            return found

        while True:
            try:
                self.unreadable = await asyncio.to_thread(look)
            except Exception as error:
                # The brokers may be away; every request says so meanwhile.
                self.log.error("the ledger's records cannot be looked through", error)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _flush(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            self.log.flush()

    async def _note_used(self) -> None:
        while True:
            await asyncio.sleep(_NOTE_SECONDS)
            await self._note_tokens()
            await asyncio.to_thread(self.readers.end_unused)

    async def _note_tokens(self) -> None:
        """Write down when tokens were used; where it cannot be, it is the next time."""
        try:
            await asyncio.to_thread(self.tokens.save_last_used)
        except (OSError, RecollectError) as error:
            self.log.error("the use of tokens cannot be noted", error)


class _Bucket:
    """Requests that may still be made: so many a second, and as many at once."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._most = max(per_second, 1.0)
        self._left = self._most
        self._at = time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
