"""Test kit for Kafka: commands on a home, the brokers through plain aiokafka, and plain SQL.

Nothing here uses the code under test as an oracle, except `hashes`, whose content hashes are only
compared with each other.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unittest.mock import patch

import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic, RecordsToDelete
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import GroupCoordinatorNotAvailableError

from recollect.cli.app import run as run_command
from recollect.projections.content import content_hash
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import ZoneDirectory
from tests.broker.fixture import SCHEME

Value = TypeVar("Value")

ROOT = Path(__file__).resolve().parents[2]
PARTITIONS = 12
#: 2026-01-05T10:00:00Z, a Monday.
START = 1_767_607_200_000
MINUTE = 60_000
DAY = 86_400_000
MODELS = ("events", "memory", "identity", "embeddings")
#: Longer than anything here takes on a busy machine: who waits so long has found something wrong.
PATIENCE = 120.0


class Place(NamedTuple):
    """Where the topics of a ledger are: the broker's address and the prefix of the names."""

    address: str
    prefix: str

    def topic(self, name: str) -> str:
        return f"{self.prefix}.{name}" if self.prefix else name


def place_of(url: str) -> Place:
    """Return where kafka://host:port/prefix is."""
    address, _, prefix = url.removeprefix(SCHEME).partition("/")
    return Place(address, prefix)


# The command line


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    output: str
    errors: str

    def json(self) -> Any:
        return json.loads(self.output)


class Running:
    """A command that runs in a process of its own, with its output so far."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        self._output = log.with_suffix(".out")
        with log.open("ab") as errors, self._output.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=ROOT,
            )

    @property
    def output(self) -> str:
        return self._output.read_text("utf-8")

    @property
    def errors(self) -> str:
        return self._log.read_text("utf-8")

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        """End it as Ctrl-C does, and return its status."""
        if self.runs:
            self.send(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.runs:
            self.process.kill()
        self.process.wait(PATIENCE)

    def ended(self) -> int:
        """Wait until it ends by itself; return its status."""
        return self.process.wait(PATIENCE)


class Recollect:
    """The command on one home, with its ledger on Kafka; `settings` are further variables."""

    def __init__(self, home: Path, url: str, **settings: str) -> None:
        self.home = home
        self.url = url
        self.settings = settings
        self._started: list[Running] = []

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")}
        if "RECOLLECT_CACHE" in os.environ:
            kept["RECOLLECT_CACHE"] = os.environ["RECOLLECT_CACHE"]
        return {
            **kept,
            "RECOLLECT_HOME": str(self.home),
            "RECOLLECT_LEDGER": self.url,
            "RECOLLECT_TICKS": "off",
            "RECOLLECT_KAFKA_SESSION_SECONDS": "2",
            **self.settings,
        }

    def run(self, *arguments: str) -> Ended:
        """Run a command in this process, to its end."""
        output, errors = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.environment(), clear=True),
            redirect_stdout(output),
            redirect_stderr(errors),
        ):
            status = run_command(list(arguments))
        return Ended(status, output.getvalue(), errors.getvalue())

    def ask(self, *arguments: str) -> Any:
        """Run a command that must succeed, and return the JSON that it prints."""
        ended = self.run(*arguments, "--json")
        assert ended.status == 0, f"{' '.join(arguments)}: {ended}"
        return ended.json()

    def once(self) -> None:
        """Sequence and decide everything published so far."""
        ended = self.run("worker", "--once")
        assert (ended.status, ended.errors) == (0, ""), ended

    def start(self, *arguments: str, script: str | None = None) -> Running:
        """Start a command in the background; `script` is Python that each process runs first."""
        name = f"{self.home.name}-{len(self._started)}"
        environment = self.environment()
        if script:
            changed = self.home.with_name(f"{name}-changed")
            changed.mkdir()
            (changed / "sitecustomize.py").write_text(script)
            paths = (str(changed), str(ROOT), environment.get("PYTHONPATH", ""))
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        code = "from recollect.cli import main\nmain()"
        running = Running(
            [sys.executable, "-c", code, *arguments],
            environment,
            self.home.with_name(f"{name}.log"),
        )
        self._started.append(running)
        return running

    def worker(self, *arguments: str, script: str | None = None) -> Running:
        """Start a worker, and wait until it owns partitions or has ended."""
        running = self.start("worker", "--json", *arguments, script=script)
        self._beats(running)
        return running

    def replica(self) -> Running:
        """Start a replica, and wait until it follows."""
        running = self.start("replica", "--json")
        self._beats(running)
        return running

    def _beats(self, running: Running) -> None:
        heartbeat = self.home / "heartbeat"
        before = heartbeat.stat().st_mtime_ns if heartbeat.exists() else 0
        wait_until(
            lambda: (
                not running.runs or (heartbeat.exists() and heartbeat.stat().st_mtime_ns > before)
            ),
            lambda: f"the process of {self.home.name} beats: {running.errors}",
        )

    def looked_around(self) -> None:
        """Wait until the process that keeps the home has once more done what it does now and then.

        It touches its heartbeat each time.
        """
        heartbeat = self.home / "heartbeat"
        before = heartbeat.stat().st_mtime_ns
        wait_until(lambda: heartbeat.stat().st_mtime_ns > before, f"{self.home.name} beats")

    def end(self) -> None:
        """Kill the processes that still run."""
        for running in self._started:
            running.kill()

    # What its files hold, in plain SQL

    def zones(self) -> list[str]:
        return sorted(path.parent.name for path in self.home.glob("zones/*/CURRENT"))

    def generation(self, zone: str = "default") -> str:
        return (self.home / "zones" / zone / "CURRENT").read_text().strip()

    def query(self, model: str, sql: str, zone: str = "default") -> list[tuple[Any, ...]]:
        """Return rows of a file of the generation in use; none where there is no such file."""
        pointer = self.home / "zones" / zone / "CURRENT"
        if not pointer.exists():
            return []
        path = pointer.parent / pointer.read_text().strip() / f"{model}.db"
        if not path.exists():
            return []
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as database:
                return database.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                # It is being made at this moment.
                return []
            raise

    def decided(self, zone: str = "default") -> int:
        """Return the number of the last record that the zone's files hold."""
        marks = [self.query(model, "SELECT number FROM watermark", zone) for model in MODELS]
        return min((rows[0][0] if rows else 0) for rows in marks)

    def events(self, zone: str = "default") -> list[str]:
        """Return the sources' own ids of the readable turns, in order."""
        rows = self.query("events", "SELECT source_id FROM events ORDER BY number", zone)
        return [source for (source,) in rows]

    def letters(self, zone: str) -> list[tuple[int, str]]:
        """Return (number, reason) of what is parked."""
        return self.query(
            "memory",
            "SELECT number, reason FROM dead_letters WHERE state = 'parked' ORDER BY number",
            zone,
        )

    def wait_for(self, zone: str, number: int, seconds: float = PATIENCE) -> None:
        """Wait until the zone's files hold everything up to a record."""
        wait_until(
            lambda: self.decided(zone) >= number,
            lambda: (
                f"{self.home.name} holds {zone} up to {number}: it is at {self.decided(zone)}; "
                + "; ".join(running.errors[-800:] for running in self._started)
            ),
            seconds,
        )

    def hashes(self, zone: str = "default") -> dict[str, str]:
        """Return the content hash of each file of a zone."""
        directory = ZoneDirectory(self.home / "zones" / zone)
        generation = directory.current()
        with ZoneFiles(
            directory.directory(generation),
            generation.encoder,
            generation.dimension,
            readonly=True,
        ) as files:
            # What counts is the same whichever records switch between chains stand between.
            found = files.events.connection.execute("SELECT number FROM switches ORDER BY number")
            switches = [number for (number,) in found]
            return {model.name: content_hash(model, switches) for model in files.all}


def wait_until(
    condition: Callable[[], object], what: Callable[[], str] | str, seconds: float = PATIENCE
) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not so: {what if isinstance(what, str) else what()}")
        time.sleep(0.03)


def files_holding(home: Path, *needles: bytes) -> list[str]:
    """Return the files below a home that hold one of these byte strings, in any case."""
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            content = path.read_bytes().lower()
            if any(needle.lower() in content for needle in needles):
                found.append(str(path.relative_to(home)))
    return found


# Events


def line(id_: str, text: str, **other: Any) -> dict[str, Any]:
    """Return an event in the documented form, ingested when it was said."""
    number = other.pop("number", 0)
    at = other.pop("at", START + number * MINUTE)
    return {
        "id": id_,
        "platform": "chat",
        "sender_id": "ada",
        "occurred_at": at,
        "ingested_at": at,
        "content": text,
        **other,
    }


def write(path: Path, lines: Iterable[Mapping[str, Any]]) -> str:
    """Write events into a file; return its name."""
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), "utf-8")
    return str(path)


# Kafka, as any client sees it


def run(work: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine of plain aiokafka."""
    return asyncio.run(work)


async def _admin(address: str) -> AIOKafkaAdminClient:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    return admin


Posting = tuple[bytes | None, bytes | None]


def post(
    url: str,
    topic: str,
    records: Iterable[Posting],
    producer: Mapping[str, Any] | None = None,
    **how: Any,
) -> None:
    """Publish records as any client may; `how` holds partition or timestamp_ms."""
    place = place_of(url)
    options = {"acks": "all", "max_request_size": 8_000_000, **(producer or {})}

    async def send() -> None:
        async with AIOKafkaProducer(bootstrap_servers=place.address, **options) as client:
            sent = [
                await client.send(place.topic(topic), key=key, value=value, **how)
                for key, value in records
            ]
            for each in sent:
                await each

    run(send())


def post_events(url: str, zone: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Publish events into the inbox as the reference says."""
    post(url, "inbox", [(zone.encode(), json.dumps(item).encode()) for item in lines])


class Kept(NamedTuple):
    """A record of a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


def records_of(url: str, topic: str) -> list[Kept]:
    """Return every record of a topic, by partition and offset."""
    place = place_of(url)

    async def read() -> list[Kept]:
        partitions = [TopicPartition(place.topic(topic), number) for number in range(PARTITIONS)]
        async with AIOKafkaConsumer(bootstrap_servers=place.address) as consumer:
            consumer.assign(partitions)
            ends = await consumer.end_offsets(partitions)
            for partition, start in (await consumer.beginning_offsets(partitions)).items():
                consumer.seek(partition, start)
            found = []
            for partition in partitions:
                while await consumer.position(partition) < ends[partition]:
                    page = await consumer.getmany(partition, timeout_ms=200)
                    for records in page.values():
                        found += [
                            Kept(partition.partition, each.offset, each.key, each.value)
                            for each in records
                        ]
            return found

    return run(read())


def kinds_of(url: str) -> dict[str, list[str]]:
    """Return the kinds of each zone's accepted events, in order, from the clear part of records.

    A record that does not extend its zone's chain is void: two processes that publish at the same
    time both append the next number, and the first one counts.
    """
    found: dict[str, list[str]] = {}
    heads: dict[str, bytes] = {}
    for record in records_of(url, "events"):
        assert record.value is not None
        clear, _ = msgspec.msgpack.decode(record.value)
        _, zone, number, previous, kind, *_ = msgspec.msgpack.decode(clear)
        kinds = found.setdefault(zone, [])
        if number == len(kinds) + 1 and previous == heads.get(zone, bytes(32)):
            kinds.append(kind)
            heads[zone] = hashlib.sha256(record.value).digest()
    return found


def bounds_of(url: str, topic: str) -> list[tuple[int, int]]:
    """Return (first offset, end) of every partition of a topic."""
    place = place_of(url)

    async def ask() -> list[tuple[int, int]]:
        partitions = [TopicPartition(place.topic(topic), number) for number in range(PARTITIONS)]
        async with AIOKafkaConsumer(bootstrap_servers=place.address) as consumer:
            starts = await consumer.beginning_offsets(partitions)
            ends = await consumer.end_offsets(partitions)
        return [(starts[each], ends[each]) for each in partitions]

    return run(ask())


def with_admin(url: str, act: Callable[[AIOKafkaAdminClient], Coroutine[Any, Any, Value]]) -> Value:
    """Return what an administrator's client answers."""

    async def ask() -> Value:
        admin = await _admin(place_of(url).address)
        try:
            return await act(admin)
        finally:
            await admin.close()

    return run(ask())


def truncate(url: str, topic: str, offsets: Mapping[int, int]) -> None:
    """Delete the records of partitions below offsets."""
    name = place_of(url).topic(topic)
    with_admin(
        url,
        lambda admin: admin.delete_records(
            {TopicPartition(name, number): RecordsToDelete(at) for number, at in offsets.items()}
        ),
    )


def make_topic(url: str, topic: str, configs: Mapping[str, str], partitions: int = 12) -> None:
    """Create a topic without recollect."""
    name = place_of(url).topic(topic)
    new = NewTopic(name, partitions, 1, topic_configs=dict(configs))
    with_admin(url, lambda admin: admin.create_topics([new]))
    wait_until(lambda: name in topics_of(url), f"topic {name} is there")


def delete_topic(url: str, topic: str) -> None:
    name = place_of(url).topic(topic)
    with_admin(url, lambda admin: admin.delete_topics([name]))
    wait_until(lambda: name not in topics_of(url), f"topic {name} is gone")


def topics_of(url: str) -> list[str]:
    """Return the names of all topics on the broker."""
    return sorted(with_admin(url, lambda admin: admin.list_topics()))


def members_of(url: str) -> dict[str, set[int]]:
    """Return the partitions of `events` that each member of the workers' group reads, by its id."""
    place = place_of(url)

    async def ask(admin: AIOKafkaAdminClient) -> dict[str, set[int]]:
        try:
            (response,) = await admin.describe_consumer_groups([place.topic("recollect")])
        except GroupCoordinatorNotAvailableError:
            # There never was a group on this broker.
            return {}
        ((_, _, _, _, _, members, *_),) = response.groups
        return {
            member: {
                number
                for topic, numbers in ConsumerProtocolMemberAssignment.decode(assigned).assignment
                if topic == place.topic("events")
                for number in numbers
            }
            if assigned
            else set()
            for member, _, _, _, assigned in members
        }

    return with_admin(url, ask)
