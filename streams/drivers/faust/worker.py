"""The worker: one process of the group, from its first connection to its end."""

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

from streams.drivers.faust.delivery import Chunk, Delivery
from streams.drivers.faust.handler import DeliveryFailed, Handler, Settings
from streams.drivers.faust.transport import Chunks, Transport
from streams.ledger.base import PARTITIONS

_log = logging.getLogger(__name__)


def run(
    settings: Settings, topics: Sequence[str], handler: Handler, *, dense: Container[str]
) -> None:
    """Deliver the records of `topics` to `handler` until SIGINT or SIGTERM.

    Topics that are `dense` have an offset for every record, and keep every record; of the others,
    records may be missing. All have the ledger's number of partitions, and the same partition of
    each is delivered to the same worker. An end that takes longer than `stop_timeout` is made one.

    Raises:
        LedgerGap: a record of a dense topic is missing, or a topic ends before its cursor.
        DeliveryFailed: the handler failed, or Kafka cannot be reached or refuses.
    """
    _quieten()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_run(settings, topics, handler, dense))


async def _run(
    settings: Settings, topics: Sequence[str], handler: Handler, dense: Container[str]
) -> None:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end(error: BaseException | None = None) -> None:
        if ended.done():
            if error:
                _log.error("while stopping: %s", error)
        elif error:
            ended.set_exception(error)
        else:
            ended.set_result(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    await _check_topics(settings, topics)
    delivery = Delivery(topics, handler, dense, end)
    app = _app(settings, topics, delivery)
    await handler.started()
    running = asyncio.ensure_future(_keep_running(app, end))
    try:
        await ended
    finally:
        error = None if ended.cancelled() else ended.exception()
        last_resort = threading.Timer(settings.stop_timeout, _exit, (settings, error))
        last_resort.daemon = True
        last_resort.start()
        try:
            await delivery.close()
            await handler.stopped()
        finally:
            running.cancel()
            await app.stop()
            last_resort.cancel()


async def _keep_running(app: faust.App, end: Callable[[BaseException], None]) -> None:
    """Start Faust, and notice when it breaks."""
    try:
        await app.start()
        await app.wait_until_stopped()
        if app.crash_reason is not None:
            raise app.crash_reason
    except Exception as error:
        problem = DeliveryFailed(f"the worker broke down ({error!r})")
        problem.__cause__ = error
        end(problem)


def _exit(settings: Settings, error: BaseException | None) -> None:
    """Kill this process, which did not end by itself; nothing is lost by it."""
    sys.stderr.write(
        f"recollect: {error or 'the worker was told to end'}; it did not within "
        f"{settings.stop_timeout:g} s and is killed, which loses nothing\n"
    )
    sys.stderr.flush()
    os._exit(1)


def _app(settings: Settings, topics: Sequence[str], delivery: Delivery) -> faust.App:
    """Return the Faust app: one agent over all topics, and nothing else that Faust offers."""
    app = _App(
        settings.group,
        env={},  # else Faust lets any variable named like one of its settings overrule these
        broker=[f"kafka://{server}" for server in settings.servers],
        broker_credentials=credentials(settings),
        broker_session_timeout=settings.session_timeout,
        processing_guarantee="at_least_once",
        stream_wait_empty=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        store="memory://",
        key_serializer="raw",
        value_serializer="raw",
        web_enabled=False,
    )
    app.transport = Transport(app, settings, delivery)

    async def deliver(stream: StreamT[Chunk]) -> None:
        async for event in cast(faust.Stream[Chunk], stream).noack().events():
            if await delivery.deliver(cast(Chunk, event.value)):
                await stream.ack(event)

    # An actor for each partition, so that none waits for another.
    app.agent(
        app.topic(*topics, schema=Chunks()),
        name="deliver",
        concurrency=PARTITIONS * len(topics),
    )(deliver)
    return app


class _Boot(BootStrategy):
    # Nothing is produced through Faust.
    enable_kafka_producer = False


class _App(faust.App):
    BootStrategy = _Boot

    def _create_directories(self) -> None:
        """Without tables there is nothing to keep."""


def credentials(settings: Settings) -> Any:
    if settings.sasl is not None:
        return faust.SASLCredentials(
            mechanism=settings.sasl.mechanism,
            username=settings.sasl.username,
            password=settings.sasl.password,
            ssl_context=settings.tls,
        )
    return faust.SSLCredentials(settings.tls) if settings.tls is not None else None


async def _check_topics(settings: Settings, topics: Sequence[str]) -> None:
    """Make sure of the topics before aiokafka asks for them: a broker might make a missing one."""
    admin = AIOKafkaAdminClient(
        bootstrap_servers=list(settings.servers),
        **credentials_to_aiokafka_auth(credentials(settings)),
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
            f"Kafka at {servers} cannot be reached, or refuses us ({error!r}): check the address, "
            "the user and the certificate, and that the broker runs"
        ) from error
    found = {each["topic"]: len(each["partitions"]) for each in described}
    for topic in topics:
        if found.get(topic) != PARTITIONS:
            has = f"has {found[topic]} partitions" if topic in found else "is not there"
            raise DeliveryFailed(
                f"topic {topic} {has} in Kafka at {servers}: it must be made with "
                f"{PARTITIONS} partitions before a worker starts"
            )


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's where it is installed, which it is not on every system."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _quieten() -> None:
    """Let Faust and what it is made of speak up only when something is wrong."""
    for name in ("faust", "mode", "aiokafka"):
        logging.getLogger(name).setLevel(logging.WARNING)
