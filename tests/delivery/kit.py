"""Test kit for the delivery layer: topics with records, and worker processes."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic, RecordsToDelete

from recollect.streams.ledger.ledger import PARTITIONS
from tests.delivery.worker import Orders

ROOT = Path(__file__).resolve().parents[2]
# Seconds until what is waited for must have happened, on a machine that may be busy.
PATIENCE = 60.0

T = TypeVar("T")


def until(what: Callable[[], T], problem: Callable[[], str] = str) -> T:
    """Wait until a function returns a true value, and return that."""
    deadline = time.monotonic() + PATIENCE
    while not (result := what()):
        assert time.monotonic() < deadline, problem()
        time.sleep(0.05)
    return result


class Place:
    """A broker, an inbox and an events topic there, and the database of the workers' handler."""

    def __init__(self, server: str, prefix: str, directory: Path) -> None:
        self.server = server
        self.group = prefix
        self.inbox = f"{prefix}.inbox"
        self.events = f"{prefix}.events"
        self.database = directory / "handler.db"
        self.workers: list[Worker] = []

    def worker(self, **orders: Any) -> Worker:
        """Start a worker on both topics."""
        worker = Worker(
            Orders(
                **{
                    "servers": [self.server],
                    "group": self.group,
                    "topics": [self.inbox, self.events],
                    "dense": [self.events],
                    "database": str(self.database),
                    **orders,
                }
            ),
            self.database.with_name(f"worker-{len(self.workers)}.log"),
        )
        self.workers.append(worker)
        return worker

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the handler's database; none before it exists."""
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(self.database, timeout=30)) as connection:
            try:
                return connection.execute(sql, values).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                raise

    def rows(self) -> int:
        """Return how many records were delivered."""
        return int((self.ask("SELECT count(*) FROM rows") or [(0,)])[0][0])

    def until_rows(self, count: int) -> None:
        """Wait until `count` records were delivered."""
        until(lambda: self.rows() >= count, self._problem)

    def _problem(self) -> str:
        logs = "\n".join(worker.log.read_text() for worker in self.workers)
        return f"{self.rows()} rows, {self.ask('SELECT * FROM happened')}\n{logs}"

    def offsets(self, topic: str, number: int) -> list[int]:
        """Return the offsets that were delivered of a partition."""
        return [
            at
            for (at,) in self.ask(
                "SELECT at FROM rows WHERE topic = ? AND number = ? ORDER BY at", topic, number
            )
        ]

    def happened(self, what: str) -> int:
        """Return how often something happened to a handler."""
        found = self.ask("SELECT count(*) FROM happened WHERE what = ?", what) or [(0,)]
        return int(found[0][0])

    def assignments(self) -> dict[int, set[tuple[str, int]]]:
        """Return the last assignment of each worker, by its process."""
        return {
            process: {(topic, number) for topic, number in msgspec.json.decode(partitions)}
            for process, partitions in self.ask(
                "SELECT worker, partitions FROM happened WHERE what = 'assigned' ORDER BY at"
            )
        }

    def admin(self, work: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
        """Do something with an administrator's connection."""

        async def do() -> T:
            client = AIOKafkaAdminClient(bootstrap_servers=self.server)
            await client.start()
            try:
                return await work(client)
            finally:
                await client.close()

        return asyncio.run(do())

    def make_topics(self, *topics: str, partitions: int = PARTITIONS) -> None:
        """Make topics, by default both."""
        wanted = [NewTopic(name, partitions, 1) for name in topics or (self.inbox, self.events)]
        self.admin(lambda admin: admin.create_topics(wanted))

    def produce(self, topic: str, counts: Mapping[int, int], size: int = 0) -> None:
        """Append that many records to each partition; a value is its number in the partition."""

        async def send() -> None:
            producer = AIOKafkaProducer(
                bootstrap_servers=self.server, enable_idempotence=True, linger_ms=2
            )
            await producer.start()
            for number, count in counts.items():
                for at in range(count):
                    await producer.send(topic, str(at).encode().ljust(size, b" "), partition=number)
            await producer.stop()

        asyncio.run(send())

    def delete_before(self, topic: str, number: int, offset: int) -> None:
        """Delete a partition's records below an offset."""
        wanted = {TopicPartition(topic, number): RecordsToDelete(before_offset=offset)}
        self.admin(lambda admin: admin.delete_records(wanted))

    def committed(self) -> dict[tuple[str, int], int]:
        """Return the offsets that the group has committed to Kafka."""
        found = self.admin(lambda admin: admin.list_consumer_group_offsets(self.group))
        return {(tp.topic, tp.partition): int(each.offset) for tp, each in found.items()}


class Worker:
    """A worker process."""

    def __init__(self, orders: Orders, log: Path) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.delivery.worker", msgspec.json.encode(orders)],
                cwd=ROOT,
                stderr=output,
            )

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and the standard error."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait for the exit; return the exit code and the standard error."""
        code = self.process.wait(PATIENCE)
        return code, self.log.read_text()
