"""Promoting: an embedded ledger moves to Kafka, each record to the offset that it had, so that
every watermark of the read models stays valid.

1. The secret, the encoder and the agents are agreed on first; if the topics have others, promoting
   stops.
2. Records that the topics hold already must be the first ones of this ledger: then an interrupted
   copy goes on after them; else they belong to another ledger, and promoting stops.
3. Keys are copied before the records that are sealed with them, and changes before their events: a
   worker that reads the topics too early decides nothing a second time.
4. Every record is read back from the broker and compared; at last the ends are compared.
5. Then the embedded ledger accepts no more events. This is the moment of the move: before it, the
   embedded ledger counts, after it the topics. Promoting again finishes what is left.
6. Its keys are destroyed and its records deleted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import msgspec

from recollect.projections.events.event_queries import switched_to
from recollect.projections.sqlite import rows, value
from recollect.schemas.errors import Busy, HomeError
from recollect.schemas.ledger.records import read_event
from recollect.streams.engine.node import FIRST_CHAIN, Node
from recollect.streams.ledger import CHANGES, EVENTS, PARTITIONS, RECORDINGS, TOPICS, Record
from recollect.streams.ledger.embedded_ledger import EmbeddedKeys, EmbeddedLedger
from recollect.streams.ledger.kafka.clients import KeyedValue, LedgerPartition
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.keys import KEY_PARTITIONS
from recollect.streams.ledger.kafka.topics import KEYS
from recollect.streams.ledger.ledger_file import LedgerFile
from recollect.streams.ledger.partitioner import partition_of_key
from recollect.streams.lifecycle.rebuilding import announce
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.system.locks import exclusive

#: How many records are moved, read back and compared at a time.
PAGE = 2_000

# In this order; the places of `events` are the last.
_PARTITIONS: tuple[LedgerPartition, ...] = tuple(
    (topic, partition) for topic in (CHANGES, RECORDINGS, EVENTS) for partition in range(PARTITIONS)
)


class Counts(msgspec.Struct, frozen=True):
    """How many records each topic has, and how many of the events' keys are not destroyed."""

    events: int
    changes: int
    recordings: int
    keys: int


class EmbeddedFiles:
    """ledger.db and keys.db of a home while nobody else has them open, or can open them."""

    def __init__(self, file: LedgerFile, keys: EmbeddedKeys) -> None:
        self.file = file
        self.keys = keys

    def ends(self) -> dict[LedgerPartition, int]:
        """Return the end of every partition, in the order in which they move."""
        return {tp: self.file.end(*tp) for tp in _PARTITIONS}

    def pages(self, tp: LedgerPartition, start: int, end: int) -> Iterator[list[Record]]:
        """Yield the records of a partition from `start` to before `end`."""
        for first in range(start, end, PAGE):
            yield self.file.read(*tp, first, min(PAGE, end - first))

    def key_ids(self) -> Iterator[list[bytes]]:
        """Yield the ids of all events' keys."""
        for tp, end in self.ends().items():
            if tp[0] == EVENTS:
                for records in self.pages(tp, 0, end):
                    yield [read_event(record.value)[0].key_id for record in records]

    def count(self) -> Counts:
        """Return what there is."""
        found = dict.fromkeys(TOPICS, 0)
        for (topic, _), end in self.ends().items():
            found[topic] += end
        return Counts(**found, keys=sum(len(self.keys.get(ids)) for ids in self.key_ids()))

    def steps(self) -> int:
        """Return how far `copy` has to go: a step is a record, or the key of an event."""
        return sum(end * (2 if topic == EVENTS else 1) for (topic, _), end in self.ends().items())

    def moved_to(self) -> str | None:
        """Return the ledger that has taken over; None as long as this is the ledger."""
        connection = self.file.connection
        if not rows(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'moved'"):
            # A file of an older version, where it is read-only.
            return None
        url: str | None = value(connection, "SELECT url FROM moved")
        return url

    def hand_over(self, url: str) -> None:
        """Take no more records, whoever brings them; they are told where the ledger is."""
        reason = apsw.format_sql_value(
            f"the ledger of this home was moved: set RECOLLECT_LEDGER={url}"
        )
        with self.file.writing():
            self.file.connection.execute("INSERT INTO moved VALUES (?)", (url,))
            for topic in TOPICS:
                self.file.connection.execute(
                    f"CREATE TRIGGER {topic}_moved BEFORE INSERT ON {topic} "
                    f"BEGIN SELECT RAISE(ABORT, {reason}); END"
                )

    def clear(self) -> None:
        """Destroy the keys, then delete the records.

        The zones' heads stay: whoever has not heard of the move meets an error, not emptiness.
        """
        for ids in self.key_ids():
            self.keys.destroy(ids)
        # What nobody can open any more need not be overwritten.
        with self.file.write_connection():
            self.file.connection.execute("PRAGMA secure_delete = OFF").fetchall()
            with self.file.writing():
                for table in (*TOPICS, "sources"):
                    self.file.connection.execute(f"DELETE FROM {table}")
            self.file.connection.execute("VACUUM")


@contextmanager
def alone_with(directory: Path) -> Iterator[EmbeddedFiles]:
    """Have the embedded ledger of a home to oneself.

    Raises:
        Busy: another process has it open.
        CorruptFile: a file of it is missing.
    """
    with closing(EmbeddedLedger(directory)) as ledger:
        # One that no event has made yet moves as well; one that lacks a file does not.
        ledger.create()
    with (
        # Who opens the ledger waits for this lock.
        exclusive(directory / "ledger.lock", wait=False),
        closing(EmbeddedKeys(directory / "keys.db")) as keys,
        closing(LedgerFile(directory / "ledger.db", durable=True)) as file,
    ):
        try:
            # A write-ahead log ends only where nobody else has the file open.
            with file.write_connection():
                file.connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        except apsw.BusyError:
            raise Busy(
                f"another process has {directory / 'ledger.db'} open: stop the workers and "
                "services of this home, and wait for its commands, then do it again"
            ) from None
        yield EmbeddedFiles(file, keys)


def copy(own: EmbeddedFiles, ledger: KafkaLedger, progress: OnProgress) -> None:
    """Bring everything into the topics, but for what is there, and compare all of it.

    Raises:
        HomeError: the topics hold something else; then nothing was appended to them.
        Busy: somebody works with the topics.
    """
    ledger.connect()
    if ledger.workers():
        raise Busy(f"workers run on {ledger.settings.url} already: stop them until all is there")
    ends, there = own.ends(), ledger.clients.ends(_PARTITIONS)
    deleted = any(ledger.clients.starts(_PARTITIONS).values())
    if deleted or any(there[tp] > end for tp, end in ends.items()):
        raise _others(ledger)
    ledger.copy.follow(_PARTITIONS)
    for tp in _PARTITIONS:
        for records in own.pages(tp, 0, there[tp]):
            _compare(ledger, tp, records)
            progress(len(records))
    for ids in own.key_ids():
        _copy_keys(own, ledger, ids)
        progress(len(ids))
    for tp in _PARTITIONS:
        for records in own.pages(tp, there[tp], ends[tp]):
            _append(own, ledger, tp, records)
            _compare(ledger, tp, records)
            progress(len(records))
    if ledger.clients.ends(_PARTITIONS) != ends:
        raise _disturbed(ledger)


def announce_chains(node: Node) -> None:
    """Tell the other nodes which chain counts in zones that have known several."""
    for zone in node.zones():
        chains = {generation.chain for generation in node.zone(zone).generations()}
        if chains == {FIRST_CHAIN}:
            continue
        node.project_turns(zone)
        generation = node.current(zone)
        with node.open(zone, generation) as files:
            announced = switched_to(files.events.connection)
        if announced is None:
            announce(node, zone, generation.chain)


def _copy_keys(own: EmbeddedFiles, ledger: KafkaLedger, ids: list[bytes]) -> None:
    """Bring keys into the topic; those that were destroyed since they were brought end there."""
    keys, there = own.keys.get(ids), ledger.copy.keys.get(ids)
    ledger.keys.destroy(there.keys() - keys.keys())
    missing: dict[int, list[KeyedValue]] = {}
    for key_id in keys.keys() - there.keys():
        missing.setdefault(partition_of_key(key_id), []).append(KeyedValue(key_id, keys[key_id]))
    if missing:
        ledger.clients.produce(KEYS, missing)
        ledger.copy.refresh(KEY_PARTITIONS)
    if ledger.copy.keys.get(ids) != keys:
        raise _others(ledger)


def _append(
    own: EmbeddedFiles, ledger: KafkaLedger, tp: LedgerPartition, records: list[Record]
) -> None:
    topic, partition = tp
    now = time.time_ns() // 1_000_000
    values = [
        # The broker refuses a time that is yet to come.
        KeyedValue(zone.encode(), value, min(own.file.appended_at(*tp, offset) or now, now))
        for offset, zone, value in records
    ]
    offsets = ledger.clients.produce(topic, {partition: values})
    if offsets[partition] != range(records[0].offset, records[-1].offset + 1):
        raise _disturbed(ledger)


def _compare(ledger: KafkaLedger, tp: LedgerPartition, records: list[Record]) -> None:
    """Read records back and see that they are the same."""
    if records:
        first, end = records[0].offset, records[-1].offset + 1
        ledger.copy.wait_for_offsets({tp: end})
        if ledger.copy.file.read(*tp, first, len(records)) != records:
            raise _others(ledger)


def _others(ledger: KafkaLedger) -> HomeError:
    return HomeError(
        f"the topics of {ledger.settings.url} hold records that are not of this home's ledger: "
        "give another prefix (kafka://host:port/prefix)"
    )


def _disturbed(ledger: KafkaLedger) -> HomeError:
    return HomeError(
        f"somebody else has written to the topics of {ledger.settings.url} meanwhile, so offsets "
        "do not agree; this home's ledger is as it was: see that nobody works with the topics, "
        "and give another prefix (kafka://host:port/prefix)"
    )
