"""The ledger on Kafka: speed of rebuilding, deciding and recalling, with lower bounds.

python -m bench.ledger.kafka [--events N] [--ledger kafka://host:port]

Without --ledger, a broker is started for the run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from bench.kit.homes import ZONE, Filled, Homes, open_node
from bench.kit.made import Writer
from bench.kit.report import Report, Target, count, markdown, percentile, stopwatch
from bench.ledger.project import plain_rows, write_plainly
from recollect.home.settings.configuration import Configuration
from recollect.schemas.events import Draft, Message
from recollect.streams.ledger import CHANGES, EVENTS, PARTITIONS, TOPICS, partition_of
from recollect.streams.ledger.kafka.clients import KeyedValue
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.ledger.kafka.topics import INBOX
from recollect.streams.workers.faust import Delivered, Settings
from recollect.streams.workers.faust import run as run_faust

MIN_BULK = 0.6
MIN_WORKER = 0.5
MIN_COUNTED = 12_000
MAX_KEYWORD_MS = 300
ZONES = 24
RATE = 200
_POLL_SECONDS = 0.005
_DEADLINE_SECONDS = 300.0


def run(homes: Homes, ledger: str | None, *, events: int = 20_000) -> list[Report]:
    """Measure on a running broker, or on one started for the run."""
    with ExitStack() as stack:
        url = ledger or stack.enter_context(_own_broker())
        return [
            _bulk_report(homes, _new_ledger(url), events),
            _deciding_report(homes, url, events // 4),
            _recall_delay_report(homes, _new_ledger(url), seconds=20),
            _takeover_report(homes, _new_ledger(url)),
        ]


# Bulk


def _bulk_report(homes: Homes, url: str, events: int) -> Report:
    """Rebuild an empty node, in comparison with reading the topics into plain inserts."""
    filled = homes.filled(events)
    _copy_to(url, filled)
    ours, floors = [], []
    for _ in range(3):
        directory = homes.fresh()
        node = open_node(directory, None, ledger=_ledger(url, directory))
        try:
            with stopwatch() as watch:
                node.follow(ZONE)
            ours.append(watch.seconds)
            with node.open(ZONE, node.current(ZONE)) as files:
                plain = plain_rows(files)
        finally:
            node.close()
        with stopwatch() as watch:
            asyncio.run(_read_all(url))
            write_plainly(homes.fresh(), plain, None, 0)
        floors.append(watch.seconds)
    share = min(floors) / min(ours)
    return Report(
        "Kafka: bulk rebuild",
        "An empty node reads `keys`, `events` and `changes` with `assign()` and `getmany()` into "
        "its copy, checks every chain, decrypts the records and writes every file. The lower bound "
        "(`floor`) reads the same topics with `getmany()` and writes the rows of the finished "
        "files with `executemany`, full-text tables included; it checks and decrypts nothing.",
        ["what", "events", "s", "events/s", "of the floor"],
        [
            ["bulk rebuild", count(events), *_cells(events, min(ours)), f"{share:.2f}"],
            ["floor", count(events), *_cells(events, min(floors)), "1"],
        ],
        [
            Target(
                f"bulk rebuild reaches {MIN_BULK} of its floor",
                f"{share:.2f}",
                share >= MIN_BULK,
            )
        ],
    )


def _copy_to(url: str, filled: Filled) -> None:
    """Copy a home's topics and keys to Kafka."""
    node = filled.open()
    ledger = _ledger(url, Path(tempfile.mkdtemp()))
    try:
        partition = partition_of(ZONE)
        ledger.connect()
        for topic in TOPICS:
            offset = 0
            while records := node.ledger.read(topic, partition, offset, 5_000):
                values = [KeyedValue(ZONE.encode(), record.value) for record in records]
                ledger.clients.produce(topic, {partition: values})
                offset += len(records)
        with node.open(ZONE, node.current(ZONE)) as files:
            ids = [row[0] for row in files.events.connection.execute("SELECT key_id FROM seals")]
        ledger.keys.add(node.ledger.keys.get(ids))
    finally:
        ledger.close()
        node.close()


async def _read_all(url: str) -> int:
    """Read the topics of the ledger to their ends, and discard the records."""
    settings = KafkaSettings.read(url, {})
    places = [
        TopicPartition(settings.topic(topic), partition)
        for topic in (EVENTS, CHANGES)
        for partition in range(PARTITIONS)
    ]
    consumer = AIOKafkaConsumer(bootstrap_servers=list(settings.servers), group_id=None)
    await consumer.start()
    try:
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        for place in places:
            consumer.seek(place, 0)
        read = 0
        while read < sum(ends.values()):
            read += sum(map(len, (await consumer.getmany(timeout_ms=500)).values()))
        return read
    finally:
        await consumer.stop()


# Workers


def _deciding_report(homes: Homes, url: str, events: int) -> Report:
    """Decide the events of the inbox, in comparison with the embedded driver on the same events."""
    lines = _lines(events)
    rates = {workers: _workers_rate(_new_ledger(url), lines, workers) for workers in (1, 2)}
    embedded = _embedded_rate(homes, lines)
    counted = _counting_rate(_new_ledger(url), _lines(60_000))
    rows = [["embedded driver", "1", count(embedded), "1"]]
    rows += [
        [f"Faust, {workers} worker{'s' * (workers > 1)}", str(workers), count(rate),
         f"{rate / embedded:.2f}"]
        for workers, rate in rates.items()
    ]  # fmt: skip
    rows.append(["Faust, a counting agent", "1", count(counted), ""])
    return Report(
        "Kafka: workers",
        f"{count(events)} events of {ZONES} zones, with rules and without an encoder. Workers take "
        "them from the inbox, sequence and seal them, and write their change records. The "
        "embedded driver publishes and decides the same events. The counting agent receives "
        "records in the same way, decodes them, and writes counts and a watermark to SQLite.",
        ["what", "processes", "events/s", "of the embedded driver"],
        rows,
        [
            Target(
                f"one worker reaches {MIN_WORKER} of the embedded driver",
                f"{rates[1] / embedded:.2f}",
                rates[1] / embedded >= MIN_WORKER,
            ),
            Target(
                f"a counting agent takes {count(MIN_COUNTED)} events a second",
                count(counted),
                counted >= MIN_COUNTED,
            ),
        ],
    )


def _embedded_rate(homes: Homes, lines: Sequence[tuple[str, bytes]]) -> float:
    by_zone: dict[str, list[Draft]] = {}
    for zone, draft in zip((zone for zone, _ in lines), _drafts(len(lines)), strict=True):
        by_zone.setdefault(zone, []).append(draft)
    node = open_node(homes.fresh(), None)
    try:
        with stopwatch() as watch:
            for zone, drafts in by_zone.items():
                node.ledger.publish(zone, drafts)
            for zone in by_zone:
                node.drive(zone)
        return len(lines) / watch.seconds
    finally:
        node.close()


def _workers_rate(url: str, lines: Sequence[tuple[str, bytes]], workers: int) -> float:
    with ExitStack() as stack:
        for number in range(workers):
            stack.enter_context(_worker(url, number, encoder=False))
        _await_members(url, workers)
        return asyncio.run(_rate(url, lines))


async def _rate(url: str, lines: Sequence[tuple[str, bytes]]) -> float:
    settings = KafkaSettings.read(url, {})
    began = time.monotonic()
    await _publish(settings, lines)
    await _await_changes(settings, len(lines))
    return len(lines) / (time.monotonic() - began)


def _counting_rate(url: str, lines: Sequence[tuple[str, bytes]]) -> float:
    """Return the number of records per second that the delivery passes to a counting agent."""
    settings = KafkaSettings.read(url, {})
    ledger = _ledger(url, Path(tempfile.mkdtemp()))
    ledger.connect()
    ledger.close()
    asyncio.run(_publish(settings, lines))
    module, count = "bench.ledger.kafka", str(len(lines))
    command = [sys.executable, "-m", module, "--count", count, "--ledger", url]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return len(lines) / float(done.stdout)


class _Counter:
    """Counts records by zone in SQLite; ends the process at the last one."""

    def __init__(self, path: Path, total: int) -> None:
        self._db = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode = WAL").fetchall()
        self._db.execute("PRAGMA synchronous = NORMAL").fetchall()
        self._db.execute(
            "CREATE TABLE counts (zone TEXT PRIMARY KEY, records INTEGER);"
            "CREATE TABLE marks (partition INTEGER PRIMARY KEY, next INTEGER);"
        )
        self._total = total
        self._seen = 0
        self._began = 0.0
        self._decoder = msgspec.json.Decoder(dict[str, object])

    async def started(self) -> None: ...

    async def stopped(self) -> None: ...

    async def assigned(self, partitions: object) -> None: ...

    async def revoked(self, partitions: object) -> None: ...

    def cursor(self, topic: str, partition: int) -> int | None:
        return None

    def is_retryable(self, error: Exception) -> bool:
        return False

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        self._began = self._began or time.monotonic()
        counts: dict[str, int] = {}
        for record in records:
            self._decoder.decode(record.value or b"")
            zone = (record.key or b"").decode()
            counts[zone] = counts.get(zone, 0) + 1
        with self._db:
            self._db.executemany(
                "INSERT INTO counts VALUES (?1, ?2) "
                "ON CONFLICT DO UPDATE SET records = records + ?2",
                counts.items(),
            )
            self._db.execute(
                "INSERT OR REPLACE INTO marks VALUES (?, ?)", (partition, records[-1].offset + 1)
            )
        self._seen += len(records)
        if self._seen >= self._total:
            print(time.monotonic() - self._began, flush=True)
            os.kill(os.getpid(), signal.SIGTERM)


def _count(url: str, total: int) -> None:
    settings = KafkaSettings.read(url, {})
    with tempfile.TemporaryDirectory() as directory:
        run_faust(
            Settings(servers=settings.servers, group=f"{settings.group}.count"),
            [settings.topic(INBOX)],
            _Counter(Path(directory) / "counts.db", total),
            dense=(),
        )


# From publishing to recall


def _recall_delay_report(homes: Homes, url: str, *, seconds: int) -> Report:
    """Publish at a constant rate, and measure when each event is found in the worker's files."""
    with _worker(url, 0, encoder=True) as home:
        _await_members(url, 1)
        # Load the encoder, and create the zones' files.
        asyncio.run(_warm(url))
        keyword, vector = asyncio.run(_latencies(url, home, seconds))
    rows = [
        [
            name,
            count(len(delays)),
            *(f"{percentile(delays, share) * 1_000:.0f}" for share in _SHARES),
        ]
        for name, delays in (("keyword", keyword), ("vector", vector))
    ]
    p95 = percentile(keyword, 0.95) * 1_000
    return Report(
        "Kafka: from publishing to recall",
        f"{RATE} events per second, over {ZONES} zones, are published to the inbox; one worker "
        "runs MiniLM in int8. Milliseconds until an event is in events.db, and can be found by "
        "keyword, and until its vectors are in embeddings.db.",
        ["found by", "events", "p50", "p95", "p99"],
        rows,
        [
            Target(
                f"keyword p95 within {MAX_KEYWORD_MS} ms at {RATE} events/s",
                f"{p95:.0f} ms",
                p95 <= MAX_KEYWORD_MS,
            )
        ],
    )


_SHARES = (0.5, 0.95, 0.99)


async def _warm(url: str) -> None:
    settings = KafkaSettings.read(url, {})
    lines = [(zone, _line(zone, -number - 1)) for number, zone in enumerate(_zones())]
    await _publish(settings, lines)
    await _await_changes(settings, len(lines))


async def _latencies(url: str, home: Path, seconds: int) -> tuple[list[float], list[float]]:
    settings = KafkaSettings.read(url, {})
    zones = _zones()
    sent: dict[str, list[float]] = {zone: [] for zone in zones}
    delays: dict[str, dict[str, list[float]]] = {
        name: {zone: [] for zone in zones} for name in ("events", "embeddings")
    }
    files = {
        (name, zone): apsw.Connection(
            str(_current_generation(home, zone) / f"{name}.db"), flags=apsw.SQLITE_OPEN_READONLY
        )
        for name in delays
        for zone in zones
    }
    for connection in files.values():
        connection.set_busy_timeout(1_000)
    total = RATE * seconds

    def look() -> None:
        for (name, zone), connection in files.items():
            seen = delays[name][zone]
            if len(seen) < len(sent[zone]):
                ((number,),) = connection.execute("SELECT number FROM watermark")
                # The first event of every zone was for warming up.
                seen += [time.monotonic()] * (number - 1 - len(seen))

    producer = AIOKafkaProducer(
        bootstrap_servers=list(settings.servers), enable_idempotence=True, linger_ms=2
    )
    await producer.start()
    try:
        began = time.monotonic()
        published = 0
        while any(len(seen[zone]) < total // ZONES for seen in delays.values() for zone in zones):
            while published < total and time.monotonic() - began >= published / RATE:
                zone = zones[published % ZONES]
                sent[zone].append(time.monotonic())
                await producer.send(
                    settings.topic(INBOX), key=zone.encode(), value=_line(zone, published)
                )
                published += 1
            look()
            await asyncio.sleep(_POLL_SECONDS)
            if time.monotonic() - began > _DEADLINE_SECONDS:
                raise SystemExit("the worker is too slow; see its log")
    finally:
        await producer.stop()
        for connection in files.values():
            connection.close()
    waits = {
        name: [
            at - then for zone in zones for then, at in zip(sent[zone], by_zone[zone], strict=False)
        ]
        for name, by_zone in delays.items()
    }
    return waits["events"], waits["embeddings"]


def _takeover_report(homes: Homes, url: str) -> Report:
    """Kill one of two workers, and measure when the other has decided an event of each zone."""
    with _worker(url, 0, encoder=False) as _, ExitStack() as stack:
        stack.enter_context(_worker(url, 1, encoder=False, killed=True))
        _await_members(url, 2)
        asyncio.run(_warm(url))
        stack.close()
        seconds = asyncio.run(_takeover_seconds(url))
    return Report(
        "Kafka: a worker is killed",
        f"One of two workers is killed with SIGKILL; immediately after, an event is published to "
        f"each of {ZONES} zones. The other worker can take over only after the session timeout, "
        "which is 10 s by default.",
        ["what", "s"],
        [["until the other has decided them all", f"{seconds:.1f}"]],
    )


async def _takeover_seconds(url: str) -> float:
    settings = KafkaSettings.read(url, {})
    began = time.monotonic()
    zones = _zones()
    await _publish(settings, [(zone, _line(zone, number)) for number, zone in enumerate(zones)])
    await _await_changes(settings, 2 * len(zones))
    return time.monotonic() - began


# Common parts


@contextmanager
def _own_broker() -> Iterator[str]:
    from tests.broker.kafka import Broker

    with (
        tempfile.TemporaryDirectory(prefix="recollect-bench-") as directory,
        Broker(Path(directory)) as broker,
    ):
        yield f"kafka://{broker.address}"


def _new_ledger(url: str) -> str:
    """Return a new ledger on the same broker."""
    return f"{url.rstrip('/')}/b{uuid.uuid4().hex[:10]}" if url.count("/") == 2 else url


def _ledger(url: str, directory: Path) -> KafkaLedger:
    return KafkaLedger(Configuration(directory).kafka(url), directory / "copy")


@contextmanager
def _worker(url: str, number: int, *, encoder: bool, killed: bool = False) -> Iterator[Path]:
    """Run a worker with its own home; at the end, stop it with SIGTERM, or SIGKILL if `killed`."""
    environment = {**os.environ, "RECOLLECT_LEDGER": url, "RECOLLECT_TICKS": "off"}
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as directory:
        home = Path(directory) / "home"
        command = [str(Path(sys.executable).with_name("recollect")), "--home", str(home)]
        chosen = [] if encoder else ["--encoder", "none"]
        subprocess.run([*command, "init", *chosen], check=True, capture_output=True)
        with open(Path(directory) / "log", "wb") as log:
            worker = subprocess.Popen([*command, "worker"], env=environment, stdout=log, stderr=log)
            try:
                yield home
            finally:
                worker.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
                worker.wait(60)


def _await_members(url: str, wanted: int) -> None:
    """Wait until all workers are in the group and have their partitions."""
    ledger = _ledger(url, Path(tempfile.mkdtemp()))
    deadline = time.monotonic() + _DEADLINE_SECONDS
    try:
        while ledger.clients.members(ledger.settings.group) < wanted:
            if time.monotonic() > deadline:
                raise SystemExit("the workers did not join their group; see the broker's log")
            time.sleep(0.1)
        # A rebalance may still be in progress.
        time.sleep(2)
    finally:
        ledger.close()


async def _publish(settings: KafkaSettings, lines: Sequence[tuple[str, bytes]]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=list(settings.servers), enable_idempotence=True)
    await producer.start()
    try:
        topic = settings.topic(INBOX)
        sent = [await producer.send(topic, key=zone.encode(), value=line) for zone, line in lines]
        await asyncio.gather(*sent)
    finally:
        await producer.stop()


async def _await_changes(settings: KafkaSettings, total: int) -> None:
    """Wait until `changes` has this many records."""
    places = [TopicPartition(settings.topic(CHANGES), number) for number in range(PARTITIONS)]
    consumer = AIOKafkaConsumer(bootstrap_servers=list(settings.servers), group_id=None)
    await consumer.start()
    deadline = time.monotonic() + _DEADLINE_SECONDS
    try:
        while sum((await consumer.end_offsets(places)).values()) < total:
            if time.monotonic() > deadline:
                raise SystemExit("the workers are too slow; see their log")
            await asyncio.sleep(0.02)
    finally:
        await consumer.stop()


def _zones() -> list[str]:
    return [f"zone-{number}" for number in range(ZONES)]


def _drafts(total: int) -> Iterator[Draft]:
    return Writer().drafts(total)


def _lines(total: int) -> list[tuple[str, bytes]]:
    """Return generated events as (zone, JSON), one zone after the other."""
    zones = _zones()
    return [
        (zones[number % ZONES], _json(draft.payload, draft.occurred_at))
        for number, draft in enumerate(_drafts(total))
    ]


def _line(zone: str, number: int) -> bytes:
    return _json(
        Message(
            source_id=f"n{number}",
            sender_id="u1",
            sender_name="Ada",
            content=f"The train number {number} to {zone} leaves from the other platform.",
        ),
        1_700_000_000_000,
    )


def _json(payload: object, occurred_at: int) -> bytes:
    fields: Mapping[str, object] = msgspec.to_builtins(payload)
    event = {name: value for name, value in fields.items() if name not in ("kind", "source_id")}
    return msgspec.json.encode(
        {"id": fields["source_id"], "platform": "chat", "occurred_at": occurred_at, **event}
    )


def _current_generation(home: Path, zone: str) -> Path:
    directory = home / "zones" / zone
    return directory / (directory / "CURRENT").read_text().strip()


def _cells(events: int, seconds: float) -> list[str]:
    return [f"{seconds:.2f}", count(events / seconds)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.kafka", description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--ledger", help="kafka://host:port of a running broker")
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.count:
        _count(chosen.ledger, chosen.count)
        return
    with Homes() as homes:
        for report in run(homes, chosen.ledger, events=chosen.events):
            print(markdown(report))


if __name__ == "__main__":
    main()
