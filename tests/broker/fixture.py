"""Fixtures: a broker shared by the whole run, topics of a test's own, and a broker to kill.

`RECOLLECT_TEST_KAFKA=kafka://HOST:PORT` names a running broker to use. Otherwise the run starts
one: a container where Docker answers, unless `RECOLLECT_TEST_BROKER=jars`; else Kafka from jars.
"""

from __future__ import annotations

import asyncio
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from tests.broker.kafka import Broker
from tests.broker.shared import lease

SCHEME = "kafka://"


@dataclass(frozen=True)
class Shared:
    """The broker of the run; `address` is host:port."""

    address: str


def shared_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that only the processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared-broker"


async def topics_of(address: str, prefix: str) -> list[str]:
    """Return the topics under a prefix."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        return sorted(t for t in await admin.list_topics() if t.startswith(f"{prefix}."))
    finally:
        await admin.close()


async def delete_topics(address: str, prefix: str) -> None:
    """Delete all topics under a prefix."""
    topics = await topics_of(address, prefix)
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        if topics:
            await admin.delete_topics(topics)
    finally:
        await admin.close()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A broker for topics under one's own prefix; nobody may stop it."""
    given = os.environ.get("RECOLLECT_TEST_KAFKA")
    if given:
        if not re.fullmatch(rf"{SCHEME}[^/]+:\d+/?", given):
            pytest.fail(f"RECOLLECT_TEST_KAFKA is {given!r}; it must be {SCHEME}HOST:PORT")
        yield Shared(given.removeprefix(SCHEME).rstrip("/"))
        return
    with lease(shared_directory(tmp_path_factory)) as address:
        yield Shared(address)


@pytest.fixture
def kafka_url(broker: Shared, request: pytest.FixtureRequest) -> Iterator[str]:
    """kafka://HOST:PORT/PREFIX, with a prefix that no other test has; its topics end with it."""
    # No underscore: Kafka takes a_b for a.b, and refuses the second of the two.
    name = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name.removeprefix("test_"))[:30].strip("-")
    prefix = f"{name}-{uuid.uuid4().hex[:8]}"
    yield f"{SCHEME}{broker.address}/{prefix}"
    asyncio.run(delete_topics(broker.address, prefix))


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A running broker of this test alone, from jars, to be stopped, killed and started again."""
    broker = Broker(tmp_path / "own-broker")
    broker.start()
    yield broker
    broker.kill()
