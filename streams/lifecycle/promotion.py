"""Promote an embedded ledger to Kafka.

Records keep their offsets, so that every watermark of the read models stays valid.

1. Check that the secret, encoder and agents recorded in the topics, if any, are those of this home.
2. Check that any records in the topics are the first records of this ledger, which an interrupted
   copy left; the copy resumes after them. Any other records belong to another ledger, and promotion
   stops.
3. Copy keys before the records that they seal, and changes before their events, so that a worker
   that reads the topics too early decides nothing twice.
4. Read every record back from the broker and compare it; finally compare the ends of partitions.
5. Make the embedded ledger reject new events. This is the commit point: the embedded ledger is
   authoritative before it, and the topics after it. Promoting again completes the remaining steps.
6. Destroy the keys of the embedded ledger, and delete its records.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import msgspec

from recollect.projections.events.event_queries import active_chain
from recollect.projections.sqlite import rows, scalar
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
from recollect.streams.lifecycle.rebuilding import activate_chain
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.system.locks import exclusive

#: Records copied, read back and compared at a time.
BATCH_SIZE = 2_000

# In the order of copying: `events` last.
_PARTITIONS: tuple[LedgerPartition, ...] = tuple(
    (topic, partition) for topic in (CHANGES, RECORDINGS, EVENTS) for partition in range(PARTITIONS)
)


class Counts(msgspec.Struct, frozen=True):
    """The number of records in each topic, and of event keys that are not destroyed."""

    events: int
    changes: int
    recordings: int
    keys: int


class EmbeddedFiles:
    """A home's ledger.db and keys.db, opened exclusively."""

    def __init__(self, file: LedgerFile, keys: EmbeddedKeys) -> None:
        self.file = file
        self.keys = keys

    def ends(self) -> dict[LedgerPartition, int]:
        """Return the end of every partition, in the order of copying."""
        return {tp: self.file.end(*tp) for tp in _PARTITIONS}

    def batches(self, tp: LedgerPartition, start: int, end: int) -> Iterator[list[Record]]:
        """Yield the records of a partition from `start` to before `end`."""
        for first in range(start, end, BATCH_SIZE):
            yield self.file.read(*tp, first, min(BATCH_SIZE, end - first))

    def key_ids(self) -> Iterator[list[bytes]]:
        """Yield the key ids of all events, in batches."""
        for tp, end in self.ends().items():
            if tp[0] == EVENTS:
                for records in self.batches(tp, 0, end):
                    yield [read_event(record.value)[0].key_id for record in records]

    def count(self) -> Counts:
        """Count records and keys."""
        found = dict.fromkeys(TOPICS, 0)
        for (topic, _), end in self.ends().items():
            found[topic] += end
        return Counts(**found, keys=sum(len(self.keys.get(ids)) for ids in self.key_ids()))

    def step_count(self) -> int:
        """Return the number of steps of `copy_ledger`: one per record, and one per event key."""
        return sum(end * (2 if topic == EVENTS else 1) for (topic, _), end in self.ends().items())

    def moved_to(self) -> str | None:
        """Return the URL of the ledger that has replaced this one, or None."""
        connection = self.file.connection
        if not rows(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'moved'"):
            # A file of an older version that was opened read-only.
            return None
        url: str | None = scalar(connection, "SELECT url FROM moved")
        return url

    def mark_moved(self, url: str) -> None:
        """Reject all further writes with an error that names the new ledger."""
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
        """Destroy the keys, then delete the records, but keep the zones' heads.

        The heads make sure that a process that does not know of the move gets an error, not an
        empty ledger.
        """
        self.keys.destroy(key_id for ids in self.key_ids() for key_id in ids)
        # Records without keys need not be overwritten.
        with self.file.write_connection():
            self.file.connection.execute("PRAGMA secure_delete = OFF").fetchall()
            with self.file.writing():
                for table in (*TOPICS, "sources"):
                    self.file.connection.execute(f"DELETE FROM {table}")
            self.file.connection.execute("VACUUM")


@contextmanager
def exclusive_files(directory: Path) -> Iterator[EmbeddedFiles]:
    """Open a home's embedded ledger exclusively.

    Raises:
        Busy: another process has it open.
        CorruptFile: one of its files is missing.
    """
    with closing(EmbeddedLedger(directory)) as ledger:
        # Creates the files of a ledger without events; raises if only one of them is missing.
        ledger.create()
    with (
        # Every process that opens the ledger takes this lock.
        exclusive(directory / "ledger.lock", wait=False),
        closing(EmbeddedKeys(directory / "keys.db")) as keys,
        closing(LedgerFile(directory / "ledger.db", durable=True)) as file,
    ):
        try:
            # Leaving WAL mode fails while another process has the file open.
            with file.write_connection():
                file.connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        except apsw.BusyError:
            raise Busy(
                f"another process has {directory / 'ledger.db'} open: stop the workers and "
                "services of this home, wait for its commands, and try again"
            ) from None
        yield EmbeddedFiles(file, keys)


def copy_ledger(files: EmbeddedFiles, ledger: KafkaLedger, progress: OnProgress) -> None:
    """Copy all records and keys that the topics lack, and compare all records.

    Raises:
        HomeError: the topics hold other records; nothing was appended to them.
        Busy: workers run on the topics.
    """
    ledger.connect()
    if ledger.workers():
        raise Busy(
            f"workers are running on {ledger.settings.url}: stop them until the promotion is done"
        )
    ends, existing = files.ends(), ledger.clients.ends(_PARTITIONS)
    deleted = any(ledger.clients.starts(_PARTITIONS).values())
    if deleted or any(existing[tp] > end for tp, end in ends.items()):
        raise _foreign_records_error(ledger)
    ledger.copy.follow(_PARTITIONS)
    for tp in _PARTITIONS:
        for records in files.batches(tp, 0, existing[tp]):
            _compare(ledger, tp, records)
            progress(len(records))
    for ids in files.key_ids():
        _copy_keys(files, ledger, ids)
        progress(len(ids))
    for tp in _PARTITIONS:
        for records in files.batches(tp, existing[tp], ends[tp]):
            _append(files, ledger, tp, records)
            _compare(ledger, tp, records)
            progress(len(records))
    if ledger.clients.ends(_PARTITIONS) != ends:
        raise _concurrent_write_error(ledger)


def publish_active_chains(node: Node) -> None:
    """Publish the active chain of every zone that has had several chains, for the other nodes."""
    for zone in node.zones():
        chains = {generation.chain for generation in node.zone(zone).generations()}
        if chains == {FIRST_CHAIN}:
            continue
        node.project_turns(zone)
        generation = node.current(zone)
        with node.open(zone, generation) as files:
            active = active_chain(files.events.connection)
        if active is None:
            activate_chain(node, zone, generation)


def _copy_keys(files: EmbeddedFiles, ledger: KafkaLedger, ids: list[bytes]) -> None:
    """Copy keys to the topic; destroy those in the topic that have been destroyed here since."""
    keys, existing = files.keys.get(ids), ledger.copy.keys.get(ids)
    ledger.keys.destroy(existing.keys() - keys.keys())
    missing: dict[int, list[KeyedValue]] = {}
    for key_id in keys.keys() - existing.keys():
        missing.setdefault(partition_of_key(key_id), []).append(KeyedValue(key_id, keys[key_id]))
    if missing:
        ledger.clients.produce(KEYS, missing)
        ledger.copy.refresh(KEY_PARTITIONS)
    if ledger.copy.keys.get(ids) != keys:
        raise _foreign_records_error(ledger)


def _append(
    files: EmbeddedFiles, ledger: KafkaLedger, tp: LedgerPartition, records: list[Record]
) -> None:
    topic, partition = tp
    now = time.time_ns() // 1_000_000
    values = [
        # The broker rejects a timestamp in the future.
        KeyedValue(zone.encode(), value, min(files.file.appended_at(*tp, offset) or now, now))
        for offset, zone, value in records
    ]
    offsets = ledger.clients.produce(topic, {partition: values})
    if offsets[partition] != range(records[0].offset, records[-1].offset + 1):
        raise _concurrent_write_error(ledger)


def _compare(ledger: KafkaLedger, tp: LedgerPartition, records: list[Record]) -> None:
    """Read records back from the topic and compare them."""
    if records:
        first, end = records[0].offset, records[-1].offset + 1
        ledger.copy.wait_for_offsets({tp: end})
        if ledger.copy.file.read(*tp, first, len(records)) != records:
            raise _foreign_records_error(ledger)


def _foreign_records_error(ledger: KafkaLedger) -> HomeError:
    return HomeError(
        f"the topics of {ledger.settings.url} hold records of another ledger: "
        "use another prefix (kafka://host:port/prefix)"
    )


def _concurrent_write_error(ledger: KafkaLedger) -> HomeError:
    return HomeError(
        f"another process wrote to the topics of {ledger.settings.url} during the copy, so offsets "
        "differ; this home's ledger is unchanged: make sure that nothing else uses the topics, and "
        "use another prefix (kafka://host:port/prefix)"
    )
