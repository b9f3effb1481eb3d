"""A worker whose handler writes what it is given into SQLite: `python -m tests.delivery.worker`.

Its one argument is a JSON object, see `Orders`. All rows of a delivery and the cursor after them
are one transaction. A record that is delivered twice violates the key, which ends the worker.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import ssl
import sys
import time
from collections.abc import Sequence, Set
from pathlib import Path

import msgspec

from recollect.schemas.errors import RecollectError
from recollect.streams.workers.faust import Delivered, Partition, Sasl, Settings, run

SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    topic TEXT, number INTEGER, at INTEGER, value BLOB, worker INTEGER,
    PRIMARY KEY (topic, number, at)
);
CREATE TABLE IF NOT EXISTS cursors (
    topic TEXT, number INTEGER, next INTEGER, PRIMARY KEY (topic, number)
);
CREATE TABLE IF NOT EXISTS happened (worker INTEGER, at REAL, what TEXT, partitions TEXT);
"""


class Orders(msgspec.Struct, kw_only=True):
    """What a test wants of the worker."""

    servers: list[str]
    group: str
    topics: list[str]
    dense: list[str]
    database: str
    member: str | None = None
    session_timeout: float = 3.0
    stop_timeout: float = 10.0
    batch: int = 512
    # Seconds that the handler takes to take partitions over.
    takeover: float = 0.0
    # Seconds that each delivery takes, before it is durable.
    pause: float = 0.0
    # The method of the handler that fails.
    broken: str | None = None
    # The delivery that holds this record fails: topic, partition, offset.
    poison: tuple[str, int, int] | None = None
    # That many times, and is worth trying again; 0: always, and it is not.
    poisoned: int = 0
    sasl: tuple[str, str, str] | None = None
    certificate: str | None = None


def database(path: str | Path) -> sqlite3.Connection:
    """Open the handler's database."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL").fetchone()
    connection.executescript(SCHEMA)
    return connection


class Recorder:
    """The handler."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._left = orders.poisoned
        self._db = database(orders.database)

    def _note(self, what: str, partitions: Set[Partition] = frozenset()) -> None:
        if what == self._orders.broken:
            raise ValueError(f"{what} is broken")
        text = msgspec.json.encode(sorted(partitions)).decode()
        self._db.execute(
            "INSERT INTO happened VALUES (?, ?, ?, ?)", (os.getpid(), time.time(), what, text)
        )

    async def started(self) -> None:
        self._note("started")

    async def stopped(self) -> None:
        self._note("stopped")

    async def assigned(self, partitions: Set[Partition]) -> None:
        await asyncio.sleep(self._orders.takeover)
        self._note("assigned", partitions)

    async def revoked(self, partitions: Set[Partition]) -> None:
        self._note("revoked", partitions)

    def cursor(self, topic: str, partition: int) -> int | None:
        self._note("cursor")
        row = self._db.execute(
            "SELECT next FROM cursors WHERE topic = ? AND number = ?", (topic, partition)
        ).fetchone()
        return None if row is None else int(row[0])

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        if self._orders.pause:
            self._note("delivering", {(topic, partition)})
            await asyncio.sleep(self._orders.pause)
        poison = self._orders.poison
        if poison in [(topic, partition, record.offset) for record in records]:
            self._fail()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany(
                "INSERT INTO rows VALUES (?, ?, ?, ?, ?)",
                [(topic, partition, each.offset, each.value, os.getpid()) for each in records],
            )
            self._db.execute(
                "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)",
                (topic, partition, records[-1].offset + 1),
            )
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _fail(self) -> None:
        if not self._orders.poisoned:
            raise ValueError("poison")
        if self._left:
            self._left -= 1
            raise TimeoutError("not yet")

    def is_retryable(self, error: Exception) -> bool:
        return isinstance(error, TimeoutError)


def main() -> None:
    """Do as ordered; an error goes to standard error, with exit code 1."""
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    settings = Settings(
        servers=orders.servers,
        group=orders.group,
        member=orders.member,
        session_timeout=orders.session_timeout,
        stop_timeout=orders.stop_timeout,
        batch=orders.batch,
        tls=ssl.create_default_context(cafile=orders.certificate) if orders.certificate else None,
        sasl=Sasl(mechanism=orders.sasl[0], username=orders.sasl[1], password=orders.sasl[2])
        if orders.sasl
        else None,
    )
    try:
        run(settings, orders.topics, Recorder(orders), dense=orders.dense)
    except RecollectError as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
