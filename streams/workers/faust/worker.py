"""The worker: a member of the group, from its first connection to its shutdown."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Container, Sequence
from typing import Any, cast

import faust
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from faust.app.base import BootStrategy
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth
from faust.types import StreamT

from recollect.schemas.errors import DeliveryFailed
from recollect.streams.ledger.ledger import PARTITIONS
from recollect.streams.workers.faust.delivery import Chunk, Delivery
from recollect.streams.workers.faust.handler import Handler, Settings
from recollect.streams.workers.faust.transport import Chunks, Transport

_log = logging.getLogger(__name__)

_NEVER = 10 * 365 * 86_400.0
# How long repetitions of a message of aiokafka are suppressed.
_REPEAT_LOG_SECONDS = 30.0


def run(
    settings: Settings, topics: Sequence[str], handler: Handler, *, dense: Container[str]
) -> None:
    """Deliver the records of `topics` to `handler` until SIGINT or SIGTERM.

    `dense` topics keep every record, at consecutive offsets; other topics may lack records. All
    have the ledger's number of partitions, and the same partition of each is delivered to the same
    worker. If stopping takes longer than `stop_timeout`, the process is killed.

    Raises:
        LedgerGap: a record of a dense topic is missing, or a topic ends before its cursor.
        DeliveryFailed: the handler failed, or Kafka is unreachable or rejects the worker.
    """
    _reduce_logging()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_run(settings, topics, handler, dense))


async def _run(
    settings: Settings, topics: Sequence[str], handler: Handler, dense: Container[str]
) -> None:
    shutdown = _Shutdown(settings.stop_timeout)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, shutdown.stop)
    try:
        await _check_topics(settings, topics)
        delivery = Delivery(topics, handler, dense, shutdown.stop)
        app = _app(settings, topics, delivery)
        await handler.started()
        running = asyncio.ensure_future(_keep_running(app, shutdown))
        try:
            await shutdown.requested
        finally:
            try:
                await delivery.close()
                await handler.stopped()
            finally:
                running.cancel()
                await app.stop()
    finally:
        shutdown.finished()


async def _keep_running(app: faust.App, shutdown: _Shutdown) -> None:
    """Start Faust, and end the worker if Faust fails."""
    reason: BaseException | None = None
    try:
        await app.start()
        await app.wait_until_stopped()
        reason = app.crash_reason
    except Exception as error:
        reason = error
    if reason is not None:
        problem = DeliveryFailed(f"the worker broke down ({reason!r})")
        problem.__cause__ = reason
        shutdown.stop(problem)


class _Shutdown:
    """The worker's shutdown: requested by a signal or an error, and forced if it takes too long."""

    def __init__(self, seconds: float) -> None:
        self.requested: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._seconds = seconds
        self._error: BaseException | None = None
        self._timer = threading.Timer(seconds, self._force_exit)
        self._timer.daemon = True

    def stop(self, error: BaseException | None = None) -> None:
        """Request a shutdown; the first reason counts."""
        if self.requested.done():
            if error is not None:
                _log.error("during shutdown: %s", error)
            return
        self._timer.start()
        self._error = error
        if error is None:
            self.requested.set_result(None)
        else:
            self.requested.set_exception(error)

    def finished(self) -> None:
        """Cancel the forced exit: the worker has ended."""
        self._timer.cancel()

    def _force_exit(self) -> None:
        """Exit at once, whatever the process is waiting for; nothing is lost."""
        sys.stderr.write(
            f"recollect: {self._error or 'the worker was told to stop'}; it did not stop within "
            f"{self._seconds:g} s and is killed, which loses nothing\n"
        )
        sys.stderr.flush()
        os._exit(1)


def _app(settings: Settings, topics: Sequence[str], delivery: Delivery) -> faust.App:
    """Return the Faust app: one agent over all topics, and no other feature of Faust."""
    app = _App(
        settings.group,
        env={},  # Otherwise environment variables of Faust would override these settings.
        broker=[f"kafka://{server}" for server in settings.servers],
        broker_credentials=_credentials(settings),
        broker_session_timeout=settings.session_timeout,
        # If a seek takes longer than this, Faust hangs for ever without a message. Our seek may
        # take long, since it waits for the handler to take over.
        broker_request_timeout=_NEVER,
        processing_guarantee="at_least_once",
        stream_wait_empty=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
    )
    app.transport = Transport(app, settings, delivery)

    async def deliver(stream: StreamT[Chunk]) -> None:
        async for event in cast(faust.Stream[Chunk], stream).noack().events():
            if await delivery.deliver(cast(Chunk, event.value)):
                await stream.ack(event)

    # One actor per partition, so that none waits for another.
    app.agent(
        app.topic(*topics, schema=Chunks()),
        name="deliver",
        concurrency=PARTITIONS * len(topics),
    )(deliver)
    return app


class _Boot(BootStrategy):
    # Faust produces nothing here.
    enable_kafka_producer = False


class _App(faust.App):
    BootStrategy = _Boot

    def _create_directories(self) -> None:
        """Do nothing: without tables Faust needs no directory."""


def _credentials(settings: Settings) -> Any:
    """Return Faust's credentials for SASL and TLS."""
    if settings.sasl is not None:
        return faust.SASLCredentials(
            mechanism=settings.sasl.mechanism,
            username=settings.sasl.username,
            password=settings.sasl.password,
            ssl_context=settings.tls,
        )
    return faust.SSLCredentials(settings.tls) if settings.tls is not None else None


async def _check_topics(settings: Settings, topics: Sequence[str]) -> None:
    """Check the topics before aiokafka asks for them: a broker might create a missing topic."""
    admin = AIOKafkaAdminClient(
        bootstrap_servers=list(settings.servers),
        **credentials_to_aiokafka_auth(_credentials(settings)),
    )
    servers = ", ".join(settings.servers)
    try:
        await admin.start()
        try:
            described = await admin.describe_topics()
        finally:
            await admin.close()
    except KafkaError as error:
        raise DeliveryFailed(
            f"Kafka at {servers} cannot be reached, or rejects this client ({error!r}): check the "
            "address, the user and the certificate, and that the broker runs"
        ) from error
    partition_counts = {
        description["topic"]: len(description["partitions"]) for description in described
    }
    for topic in topics:
        if partition_counts.get(topic) != PARTITIONS:
            has = (
                f"has {partition_counts[topic]} partitions"
                if topic in partition_counts
                else "does not exist"
            )
            raise DeliveryFailed(
                f"topic {topic} {has} in Kafka at {servers}: it must be created with "
                f"{PARTITIONS} partitions before a worker starts"
            )


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return the factory of uvloop if it is installed, or of asyncio."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


class _RateLimitFilter(logging.Filter):
    """Limits the rate of repeated messages: aiokafka logs an unreachable broker in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        passes = record.created - self._last.get(record.msg, 0.0) > _REPEAT_LOG_SECONDS
        if passes:
            self._last[record.msg] = record.created
        return passes


def _reduce_logging() -> None:
    """Let Faust and its libraries log only warnings, and not in a loop."""
    rate_limit = _RateLimitFilter()
    for name in list(logging.root.manager.loggerDict):
        package = name.partition(".")[0]
        if package in ("faust", "mode", "aiokafka"):
            logging.getLogger(name).setLevel(logging.WARNING)
        if package == "aiokafka":
            logging.getLogger(name).addFilter(rate_limit)
