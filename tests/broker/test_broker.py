"""The tests' broker keeps what it acknowledged, and leaves neither topics nor processes behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError
from aiokafka.helpers import create_ssl_context

from tests.broker import security
from tests.broker.fixture import SCHEME, Shared, delete_topics, topics_of
from tests.broker.kafka import Broker, answers
from tests.broker.shared import ROOT

pytestmark = pytest.mark.kafka

# Holds a broker until it is killed, and has no occasion to end it.
HOLDER = """
import sys, time
from pathlib import Path
from tests.broker.kafka import Broker
from tests.broker.shared import lease

where = Path(sys.argv[2])
if sys.argv[1] == "own":
    broker = Broker(where)
    broker.start()
    print(broker.address, flush=True)
    time.sleep(600)
with lease(where) as address:
    print(address, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Callable[[str], tuple[subprocess.Popen[str], str]]]:
    """Give a function that starts a process with its "own" or a "shared" broker."""
    started: list[subprocess.Popen[str]] = []

    def start(kind: str) -> tuple[subprocess.Popen[str], str]:
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, kind, str(tmp_path / kind)],
            cwd=ROOT,
            env={**os.environ, "RECOLLECT_TEST_BROKER": "jars"},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(holder)
        assert holder.stdout is not None
        return holder, holder.stdout.readline().strip()

    yield start
    for holder in started:
        holder.kill()
        holder.communicate()


async def create_topics(address: str, *topics: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1) for topic in topics])
    finally:
        await admin.close()


async def connect(address: str, **settings: Any) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address, **settings)
    try:
        await admin.start()
    finally:
        await admin.close()


async def append(address: str, topic: str, values: list[bytes]) -> None:
    """Return when the broker has acknowledged every value."""
    async with AIOKafkaProducer(
        bootstrap_servers=address, enable_idempotence=True, acks="all"
    ) as producer:
        for sent in [await producer.send(topic, value) for value in values]:
            await sent


async def read(address: str, topic: str, count: int) -> list[bytes | None]:
    async with AIOKafkaConsumer(
        bootstrap_servers=address, group_id=None, auto_offset_reset="earliest"
    ) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        return [(await asyncio.wait_for(consumer.getone(), 60)).value for _ in range(count)]


def gone(address: str) -> bool:
    """Wait until nothing answers at `address`."""
    deadline = time.monotonic() + 60
    while answers(address):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def none_left(address: str, prefix: str) -> bool:
    """Wait until the broker, which hears of a deletion after its controller, lists none of them."""
    deadline = time.monotonic() + 60
    while asyncio.run(topics_of(address, prefix)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_an_acknowledged_record_outlives_the_broker(own_broker: Broker) -> None:
    values = [b"%d" % number for number in range(1000)]
    address, pid = own_broker.address, own_broker.pid
    asyncio.run(create_topics(address, "kept"))
    asyncio.run(append(address, "kept", values))

    own_broker.kill()
    assert not answers(address)
    own_broker.start()

    assert own_broker.address == address
    assert own_broker.pid != pid
    assert asyncio.run(read(address, "kept", len(values))) == values


def test_a_test_leaves_no_topic_behind_and_none_of_another(broker: Shared, kafka_url: str) -> None:
    address, _, prefix = kafka_url.removeprefix(SCHEME).partition("/")
    assert address == broker.address
    mine = [f"{prefix}.events", f"{prefix}.memory.changes"]
    longer = f"{prefix}x"
    asyncio.run(create_topics(address, *mine, f"{longer}.events"))
    asyncio.run(append(address, mine[0], [b"one"]))

    asyncio.run(delete_topics(address, prefix))

    assert none_left(address, prefix)
    assert asyncio.run(topics_of(address, longer)) == [f"{longer}.events"]
    asyncio.run(delete_topics(address, longer))


def test_a_broker_dies_with_a_killed_process(hold) -> None:
    holder, address = hold("own")
    assert answers(address)
    holder.kill()
    assert gone(address)


def test_a_shared_broker_ends_with_its_last_user(hold) -> None:
    first, address = hold("shared")
    second, same = hold("shared")
    assert same == address
    first.kill()
    time.sleep(1)
    assert answers(address)
    second.kill()
    assert gone(address)


def test_a_broker_asks_for_a_password_and_speaks_tls(tmp_path: Path) -> None:
    password = {
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": security.USER,
        "sasl_plain_password": security.PASSWORD,
    }
    with Broker(tmp_path / "secure", secure=True) as broker:
        tls = {"ssl_context": create_ssl_context(cafile=str(broker.certificate))}
        for protocol, settings in {
            "SASL_PLAINTEXT": password,
            "SSL": tls,
            "SASL_SSL": password | tls,
        }.items():
            address = broker.addresses[protocol]
            asyncio.run(connect(address, security_protocol=protocol, **settings))
        address = broker.addresses["SASL_PLAINTEXT"]
        wrong = {**password, "sasl_plain_password": "wrong"}
        with pytest.raises(KafkaError):
            asyncio.run(connect(address, security_protocol="SASL_PLAINTEXT", **wrong))
