"""Test kit for promotion: homes with a tiny encoder on either ledger, and their files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from recollect.home.home_directory import FORMAT, Home, HomeSettings
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import DEFAULT_AGENTS, Generation, ZoneDirectory
from recollect.projections.readmodel import Watermark
from recollect.schemas.events import Draft
from recollect.schemas.ledger.records import read_event
from recollect.schemas.wire import Verification
from recollect.streams.encoder import catalog
from recollect.streams.encoder.encoder import Encoder
from recollect.streams.encoder.pin import Pin
from recollect.streams.ledger import EVENTS, PARTITIONS, TOPICS, Ledger, Record, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from tests.memory import Memory
from tests.protocol.kit import DIMENSION, TinyEncoder, say

Records = dict[tuple[str, int], list[Record]]

EMBEDDED = "embedded"
PIN = Pin(
    name="tiny",
    precision="float",
    source="directory",
    place="tiny",
    revision="",
    sha256="1" * 64,
    tokenizer_sha256="2" * 64,
    config_sha256="3" * 64,
    dimension=DIMENSION,
    settings=catalog.PoolingSettings(pooling="mean", max_length=128),
)

#: Zones of every kind: PLAIN, REBUILT at level derive, with an event that is FORGOTTEN, and one
#: whose events nobody has decided yet.
PLAIN, REBUILT, FORGOTTEN, WAITING = "plain", "rebuilt", "forgotten", "waiting"
ZONES = (PLAIN, REBUILT, FORGOTTEN, WAITING)
SECRET_WORDS = "the zebra wears a turquoise hat"


def tiny(_: Home) -> Encoder:
    """Stands for `Home.load_encoder`."""
    return TinyEncoder()


def make_home(path: Path) -> Home:
    """Make a home that has the tiny encoder, and the agents of new homes."""
    path.mkdir()
    settings = HomeSettings(FORMAT, PIN, agents=DEFAULT_AGENTS)
    (path / "home.json").write_bytes(msgspec.json.encode(settings))
    return Home(path)


@contextmanager
def on(url: str) -> Iterator[None]:
    """Have RECOLLECT_LEDGER name a ledger."""
    before = os.environ.get("RECOLLECT_LEDGER")
    os.environ["RECOLLECT_LEDGER"] = url
    try:
        yield
    finally:
        if before is None:
            del os.environ["RECOLLECT_LEDGER"]
        else:
            os.environ["RECOLLECT_LEDGER"] = before


@contextmanager
def memory(path: Path, zone: str, url: str = EMBEDDED) -> Iterator[Memory]:
    """Open a zone's memory on a ledger."""
    with on(url), Memory(path, zone) as opened:
        yield opened


def messages(zone: str, first: int, count: int) -> list[Draft]:
    """Return messages of a zone; each says something that a fact is drawn from."""
    return [
        say(f"I live in Town{number} and my sister works at Mill{number}.", f"{zone}-{number}")
        for number in range(first, first + count)
    ]


def fill(path: Path) -> None:
    """Give a home zones of every kind."""
    for zone in (PLAIN, REBUILT, FORGOTTEN):
        with memory(path, zone) as opened:
            opened.publish(messages(zone, 0, 25))
            opened.drive()
    with memory(path, REBUILT) as opened:
        opened.rebuild("derive")
        opened.publish(messages(REBUILT, 25, 5))
        opened.drive()
    with memory(path, FORGOTTEN) as opened:
        opened.publish([say(f"I saw that {SECRET_WORDS}.", "hat")])
        opened.drive()
        opened.forget("hat")
    with memory(path, WAITING) as opened:
        opened.publish(messages(WAITING, 0, 5))


def verify(path: Path, zone: str, url: str = EMBEDDED) -> Verification:
    """Verify a zone, which must have no problem."""
    with memory(path, zone, url) as opened:
        found: Verification = opened.verify()
    assert found.ok, found.problems
    return found


def hashes(path: Path, zone: str, url: str = EMBEDDED) -> dict[str, str]:
    """Return the content hashes of a zone that verifies."""
    return {model.model: model.hash for model in verify(path, zone, url).models}


def generation(path: Path, zone: str) -> Generation:
    """Return the generation in use."""
    return ZoneDirectory(path / "zones" / zone).current()


def watermarks(path: Path, zone: str) -> list[Watermark]:
    """Return the watermarks of a zone's files, as they lie there."""
    used = generation(path, zone)
    directory = path / "zones" / zone / used.name
    with ZoneFiles(directory, used.encoder, used.dimension, readonly=True) as files:
        return [model.watermark() for model in files.all]


def embedded_records(path: Path) -> Records:
    """Return every record of an embedded ledger."""
    with closing(EmbeddedLedger(path)) as ledger:
        return records_of(ledger)


@contextmanager
def kafka(url: str, directory: Path) -> Iterator[KafkaLedger]:
    """Open a Kafka ledger as a new node."""
    encoder = f"{PIN.model} sha256:{PIN.sha256}"
    settings = KafkaSettings.read(url, {})
    ledger = KafkaLedger(settings, directory, encoder=encoder, agents=DEFAULT_AGENTS)
    with closing(ledger):
        yield ledger


def records_of(ledger: Ledger) -> Records:
    """Return every record of a ledger; on Kafka, those of the broker."""
    return {
        (topic, partition): ledger.read(topic, partition, 0, 100_000)
        for topic in TOPICS
        for partition in range(PARTITIONS)
    }


def times_of(ledger: Ledger, zone: str) -> list[int | None]:
    """Return when each event of a zone came to a ledger."""
    place = (EVENTS, partition_of(zone))
    events = ledger.read(*place, 0, 100_000, zone)
    return [ledger.appended_at(*place, record.offset) for record in events]


def kinds_of(ledger: Ledger, zone: str) -> list[str]:
    """Return the kinds of a zone's events."""
    events = ledger.read(EVENTS, partition_of(zone), 0, 100_000, zone)
    return [read_event(record.value)[0].kind for record in events]


def key_of(path: Path, zone: str, number: int) -> tuple[bytes, bytes]:
    """Return the id and the key of an event of an embedded ledger."""
    with closing(EmbeddedLedger(path)) as ledger:
        record = ledger.read(EVENTS, partition_of(zone), 0, 100_000, zone)[number - 1]
        key_id = read_event(record.value)[0].key_id
        return key_id, ledger.keys.get([key_id])[key_id]


def held_in(path: Path, *traces: bytes) -> list[str]:
    """Return the files of a directory that hold one of the traces."""
    return [
        str(file.relative_to(path))
        for file in sorted(path.rglob("*"))
        if file.is_file() and any(trace in file.read_bytes() for trace in traces)
    ]
