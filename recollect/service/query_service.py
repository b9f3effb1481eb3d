"""The service behind its routes: the home, authorization, threads and background tasks."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

from litestar import Request

from recollect.home.access_tokens import AccessTokens, Right
from recollect.home.settings.service_settings import ServiceSettings
from recollect.home.ticks.due_analyses import automatic_analyses
from recollect.library.library_home import Recollect
from recollect.library.library_zone import Zone
from recollect.operations.ingestion.ingesting import decided_up_to, track_published_events
from recollect.operations.upkeep.unreadable_records import TOPICS, unreadable_records
from recollect.operations.writing.background_writing import writing_in_background
from recollect.projections.file_permissions import writable
from recollect.schemas.errors import RecollectError
from recollect.schemas.wire import IngestReport, Status, WriteReport
from recollect.service.http.idempotent_calls import IdempotentCalls
from recollect.service.http.problem_details import (
    TIMED_OUT,
    TOO_MANY,
    Refused,
    not_found,
    unauthorized,
)
from recollect.service.http.service_log import ServiceLog
from recollect.service.http.service_metrics import ServiceMetrics
from recollect.service.principals import ANONYMOUS, Principal, authenticate
from recollect.service.work.decided_waiters import DecidedWaiters
from recollect.service.work.deciding_thread import DecidingThread
from recollect.service.work.long_operations import LongOperations
from recollect.service.work.recall_workers import RecallWorkers, max_recall_workers
from recollect.service.work.thread_lanes import ThreadLane
from recollect.streams.ledger import PARTITIONS
from recollect.streams.system.open_files import max_idle_zones

T = TypeVar("T")

#: A request as route handlers receive it.
AnyRequest = Request[Any, Any, Any]

# Recalls wait for the encoder and for files; more threads than cores keep both busy.
_READ_THREADS_PER_CORE = 4
_WRITE_THREADS = 4
# Long-running operations run one at a time, which leaves the other cores to requests.
_OPERATION_THREADS = 1
# The number of inferences that may run at once.
_INFERENCES = 4
_MAX_RATE_LIMITERS = 10_000
_SAVE_TOKENS_SECONDS = 60.0
_FLUSH_LOG_SECONDS = 0.5
_RETRY_ENCODER_SECONDS = 10.0
_WATCH_SECONDS = 5.0
# A watched status is sent again after this long: its ages grow, and a broken connection shows only
# when something is sent.
_STATUS_SECONDS = 10.0
# Decisions of other processes and published events are looked for this often.
_NEWS_SECONDS = 1.0
_WARM_UP = "Where does Ada live?"


class QueryService:
    """A served home. Unless stated otherwise, methods are called on the event loop."""

    def __init__(self, recollect: Recollect, settings: ServiceSettings, log: ServiceLog) -> None:
        self.recollect = recollect
        self.settings = settings
        self.tokens = AccessTokens(recollect.home)
        read_threads = _READ_THREADS_PER_CORE * (os.cpu_count() or 1)
        self.reading = ThreadLane("read", read_threads, settings.waiting)
        self.writing = ThreadLane("write", _WRITE_THREADS, settings.waiting)
        #: Processes that answer recalls under load.
        self.recall_workers = RecallWorkers(
            recollect, max_recall_workers(settings.recall_workers), settings.request_seconds
        )
        recollect._open_home.recallers.follow_listeners.append(self.recall_workers.follow)
        self.long_running = ThreadLane("long", _OPERATION_THREADS, settings.waiting)
        #: For calls that ask a language model; one beyond the threads is refused at once.
        self.inferring = ThreadLane("inference", _INFERENCES, 0)
        #: Whether queries can be answered.
        self.ready = False
        #: The locations of the records that block zones on Kafka, as of the last scan.
        self.unreadable: list[str] = []
        self._waiters: DecidedWaiters | None = None
        self.log = log
        self.calls = IdempotentCalls(recollect._open_home.node.ledger)
        self.operations = LongOperations(recollect.home, self.long_running, log)
        self.metrics = ServiceMetrics(self.lanes)
        self._rate_limiters: dict[str, _TokenBucket] = {}

    @property
    def lanes(self) -> tuple[ThreadLane, ...]:
        """The thread pools of all kinds of calls."""
        return (self.reading, self.writing, self.long_running, self.inferring)

    # Authentication and rate limits

    def principal(self, authorization: bytes | None) -> Principal | None:
        """Return the principal of a request; None if it has no valid token."""
        if self.settings.no_auth:
            return ANONYMOUS
        return authenticate(self.tokens, authorization)

    def is_valid(self, principal: Principal) -> bool:
        """Return whether a principal's token is neither revoked nor expired."""
        return principal.token is None or self.tokens.is_valid(principal.token.id)

    def check_rate(self, client: str) -> None:
        """Count a request of a client.

        Raises:
            Refused: the client has exceeded its rate limit.
        """
        rate = self.settings.requests_per_second
        if not rate:
            return
        bucket = self._rate_limiters.get(client)
        if bucket is None:
            if len(self._rate_limiters) >= _MAX_RATE_LIMITERS:
                self._rate_limiters.clear()
            bucket = self._rate_limiters[client] = _TokenBucket(rate)
        if not bucket.take():
            detail = f"at most {rate:g} requests a second; try again"
            raise Refused(TOO_MANY, detail, retry_after=1)

    # Calls

    async def read(
        self,
        principal: Principal | None,
        zone: str,
        right: Right,
        work: Callable[[Zone], T],
        *,
        allow_empty: bool = False,
    ) -> T:
        """Run a call that reads a zone; `allow_empty`: also if the zone has no events.

        Raises:
            Refused: the principal lacks the right, or the zone has no events.
        """
        call = partial(self._in_zone, principal, zone, right, work, allow_empty=allow_empty)
        return await self.reading.run(call, self.settings.request_seconds)

    async def write(
        self,
        principal: Principal | None,
        zone: str,
        right: Right,
        work: Callable[[Zone], T],
        *,
        allow_empty: bool = False,
    ) -> T:
        """Run a call that writes to a zone; `allow_empty`: it may create the zone.

        Raises:
            Refused: as `read`.
            StoredButUndecided: it timed out after publishing something.
        """
        call = partial(self._in_zone, principal, zone, right, work, allow_empty=allow_empty)
        return await self.run_writing(call)

    async def run_writing(self, work: Callable[[], T]) -> T:
        """Run `work` on a thread for writing, and return its result.

        Raises:
            Refused: too many calls are waiting, or it timed out before publishing anything.
            StoredButUndecided: it timed out after publishing something.
        """
        with track_published_events() as call:
            try:
                return await self.writing.run(work, self.settings.request_seconds)
            except Refused as refused:
                if refused.kind is TIMED_OUT:
                    call.raise_if_stored()
                raise

    def _in_zone(
        self,
        principal: Principal | None,
        zone: str,
        right: Right,
        work: Callable[[Zone], T],
        *,
        allow_empty: bool = False,
    ) -> T:
        return work(self.zone(principal, zone, right, allow_empty=allow_empty))

    def zone(
        self, principal: Principal | None, zone: str, right: Right, *, allow_empty: bool = False
    ) -> Zone:
        """Return a zone; a missing zone and a missing right raise the same error.

        It reads files: call it on a thread of a lane.

        Raises:
            Refused: the principal lacks the right, or the zone has no events.
            InvalidInput: no zone can have this name.
        """
        if principal is None:
            raise unauthorized()
        if not principal.has_right(zone, right):
            raise not_found()
        if not self.recollect.holds(zone) and not allow_empty:
            raise not_found()
        return self.zone_for(principal, zone)

    def zone_for(self, principal: Principal, zone: str) -> Zone:
        """Return a zone as the holder of a token sees it, without checking their rights to it."""
        opened, token = self.recollect.zone(zone), principal.token
        if token is None:
            return opened
        return Zone(opened._zone.acting_as(token.user, token.agent, token.id))

    async def wait_until_decided(self, zone: str, number: int) -> None:
        """Wait until a zone is decided up to a record.

        Raises:
            Refused: `wait_seconds` have passed.
        """
        assert self._waiters is not None
        opened = self.recollect.zone(zone)
        await self._waiters.wait_until(
            zone,
            number,
            lambda: self.reading.run(lambda: decided_up_to(opened._zone)),
            self.settings.wait_seconds,
        )

    async def watch_status(self, principal: Principal, zone: str) -> AsyncIterator[Status]:
        """Yield a zone's status: now, whenever its records or decisions advance, and regularly.

        It ends when the service does. Raises:
            Refused: the principal lacks the right to read (any more), or the zone has no events.
        """
        assert self._waiters is not None
        read = partial(self.read, principal, zone, "read")
        seen: tuple[str, int] | None = None
        due = 0.0
        while not self._waiters.closed:
            if not self.is_valid(principal):
                raise unauthorized()
            position = await read(
                lambda opened: (opened.consistency_token(), decided_up_to(opened._zone))
            )
            if position != seen or time.monotonic() >= due:
                yield await read(lambda opened: opened.status())
                seen, due = position, time.monotonic() + _STATUS_SECONDS
            await self._waiters.wait_for_news(zone, _NEWS_SECONDS)

    def end_streams(self) -> None:
        """End what would otherwise be sent for as long as the service runs."""
        if self._waiters is not None:
            self._waiters.close()

    # Background tasks

    def count_import(self, report: IngestReport) -> None:
        """Count the events of an import in the metrics."""
        for result in ("new", "duplicate", "rejected"):
            self.metrics.events.labels(result).inc(getattr(report, result))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the background tasks and decide published events; on exit, wait for running calls."""
        self._waiters = DecidedWaiters()
        tasks = [
            asyncio.create_task(self._maintain()),
            asyncio.create_task(self._flush_log()),
            asyncio.create_task(self._warm_up()),
        ]
        if self.recollect._open_home.node.ledger.shared:
            tasks.append(asyncio.create_task(self._watch_records()))
        home, node = self.recollect._open_home.home, self.recollect._open_home.node
        # On Kafka, workers decide; for a read-only home, other processes do. A home on a full disk
        # counts as writable, since space may be freed later.
        decides = writable(home.directory) and not node.ledger.shared
        ticks = home.configuration.ticks
        analyses = automatic_analyses(home)
        deciding = (
            DecidingThread(
                node,
                self._on_decided,
                ticks=ticks,
                profile_facts=home.configuration.profile_facts,
                passes_hour=home.configuration.passes_hour,
                tier_limits=home.configuration.tier_limits,
                analyses=analyses,
            )
            if decides
            else nullcontext()
        )
        opened, on_error = self.recollect._open_home, self.log.writer_error
        writing = (
            writing_in_background(opened, self._on_written, on_error) if decides else nullcontext()
        )
        with deciding, writing:
            try:
                yield
            finally:
                self.ready = False
                for task in tasks:
                    task.cancel()
                await self.operations.close()
                for lane in self.lanes:
                    await asyncio.to_thread(lane.close)
                await asyncio.to_thread(self.recall_workers.close)
                await self._save_token_use()
                self.log.flush()

    def _on_decided(self, zone: str, outcome: int | Exception) -> None:
        """Handle a report of the deciding thread: a number of records, or an error."""
        if not isinstance(outcome, Exception):
            self.metrics.decided.inc(outcome)
            if self._waiters is not None:
                self._waiters.notify(zone)
        else:
            self.log.zone_stopped(zone, outcome)

    def _on_written(self, _: str, report: WriteReport) -> None:
        """Handle a report of the model writer."""
        self.metrics.count_writing(report)

    async def _warm_up(self) -> None:
        """Load the encoder, become ready, then build the indexes of the zones.

        The indexes of a home with more zones than stay open are left to the queries.
        """
        gateway = self.recollect._open_home.node.gateway
        while gateway.model is not None:
            try:
                await self.reading.run(lambda: gateway.encode_query_tokens(_WARM_UP))
                break
            except Exception as error:
                # It may be installed meanwhile, so try again.
                self.log.error("the encoder cannot be loaded", error)
                await asyncio.sleep(_RETRY_ENCODER_SECONDS)
        self.ready = True
        opened = self.recollect._open_home
        zones = await asyncio.to_thread(opened.node.zones)
        for zone in zones if len(zones) <= max_idle_zones() else ():
            # If a zone's files cannot be read, the queries report it; under load, they build the
            # index themselves.
            with suppress(RecollectError, OSError, Refused):
                await self.reading.run(partial(opened.recallers.warm_up, zone))

    async def _watch_records(self) -> None:
        """Look for records that block zones on Kafka; read each record only once."""
        ledger = self.recollect._open_home.node.ledger
        begin: dict[tuple[str, str], int] = {}
        seen: list[int] = []

        def look() -> list[str]:
            nonlocal seen
            ends = [ledger.end(topic, part) for topic in TOPICS for part in range(PARTITIONS)]
            if ends == seen:
                return self.unreadable
            places = [
                record.place
                for zone in ledger.zones()
                for record in unreadable_records(ledger, zone, begin)
            ]
            seen = ends
            return places

        while True:
            try:
                self.unreadable = await asyncio.to_thread(look)
            except Exception as error:
                # The brokers may be unreachable; if so, every request reports it.
                self.log.error("the ledger's records cannot be scanned", error)
            await asyncio.sleep(_WATCH_SECONDS)

    async def _flush_log(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_LOG_SECONDS)
            self.log.flush()

    async def _maintain(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_TOKENS_SECONDS)
            await self._save_token_use()
            await asyncio.to_thread(self.recall_workers.end_unused)

    async def _save_token_use(self) -> None:
        """Save when tokens were last used; if that fails, the next call saves these times too."""
        try:
            await asyncio.to_thread(self.tokens.save_last_used)
        except (OSError, RecollectError) as error:
            self.log.error("the last use of tokens cannot be saved", error)


class _TokenBucket:
    """A rate limiter; its bucket holds the requests of one second."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._size = max(per_second, 1.0)
        self._available = self._size
        self._updated_at = time.monotonic()

    def take(self) -> bool:
        """Take a token for a request; return False if none is available."""
        now = time.monotonic()
        refill = (now - self._updated_at) * self._per_second
        self._available = min(self._size, self._available + refill)
        self._updated_at = now
        if self._available < 1:
            return False
        self._available -= 1
        return True
