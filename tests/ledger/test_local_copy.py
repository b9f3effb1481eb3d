"""A node's copy of a Kafka ledger, which the processes of a home share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from recollect.schemas.events import Draft, Message
from recollect.streams.ledger import CHANGES, EVENTS, LedgerGap, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.ledger.kafka.local_copy import LocalCopy
from recollect.streams.ledger.ledger_file import Appended

ZONE = "z"
PLACE = (EVENTS, partition_of(ZONE))
AT = 1_778_248_560_000


class Delivered(NamedTuple):
    """A record as Kafka delivers it."""

    offset: int
    key: bytes
    value: bytes
    timestamp: int = AT


@pytest.fixture
def records(tmp_path: Path) -> list[Delivered]:
    ledger = EmbeddedLedger(tmp_path / "ledger")
    for number in range(6):
        payload = Message(source_id=str(number), sender_id="U1", content=f"number {number}")
        ledger.publish(ZONE, [Draft(platform="chat", occurred_at=AT, payload=payload)])
    found = [
        Delivered(record.offset, record.zone.encode(), record.value)
        for record in ledger.read(*PLACE, 0, 10)
    ]
    ledger.close()
    return found


class Home:
    """Two processes of one home, as far as their copies are concerned."""

    def __init__(self, directory: Path, opened: ExitStack) -> None:
        self.told: list[tuple[str, int, set[str]]] = []
        clients = cast(Any, None)
        self.worker, self.command = LocalCopy(directory, clients), LocalCopy(directory, clients)
        self.worker.listener = lambda *what: self.told.append(cast(Any, what))
        for copy in (self.worker, self.command):
            opened.callback(copy.close)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with ExitStack() as opened:
        yield Home(tmp_path / "copy", opened)


def own(records: Sequence[Delivered]) -> tuple[range, list[Appended]]:
    return range(records[0].offset, records[-1].offset + 1), [
        Appended(record.key.decode(), record.value, record.timestamp) for record in records
    ]


def test_who_follows_is_told_of_what_another_process_has_copied(
    home: Home, records: list[Delivered]
) -> None:
    home.worker.append_delivered(PLACE, records[:2])
    assert home.told == [(*PLACE, {ZONE})]
    home.command.append_delivered(PLACE, records[1:4])
    assert len(home.told) == 1
    home.worker.append_delivered(PLACE, records[2:4])
    assert home.told[1:] == [(*PLACE, {ZONE})]
    home.worker.append_delivered(PLACE, records[3:4])
    assert len(home.told) == 2, "once is enough"


def test_reading_on_begins_where_nobody_was_told(home: Home, records: list[Delivered]) -> None:
    home.worker.append_delivered(PLACE, records[:2])
    assert home.worker.position(PLACE) == 1, "the last one once more"
    home.command.append_delivered(PLACE, records[1:])
    assert home.worker.next(PLACE) == 6
    assert home.worker.position(PLACE) == 1
    home.worker.append_delivered(PLACE, records[1:])
    assert home.worker.position(PLACE) == 5
    assert home.command.position(PLACE) == 5


@pytest.mark.parametrize("begin", [LocalCopy.hand_over, LocalCopy.follow])
def test_what_another_process_copies_before_reading_begins_is_told(
    home: Home, records: list[Delivered], begin: Callable[[LocalCopy, list[Any]], None]
) -> None:
    home.command.append_delivered(PLACE, records[:2])
    begin(home.worker, [PLACE])
    # The worker looks here at what its copy holds, and only then asks where to read.
    home.command.append_delivered(PLACE, records[1:3])
    assert home.worker.position(PLACE) == 1
    home.worker.append_delivered(PLACE, records[1:3])
    assert home.told == [(*PLACE, {ZONE})]
    home.worker.append_delivered(PLACE, records[2:3])
    assert len(home.told) == 1


def test_what_this_process_appended_need_not_come_back(
    home: Home, records: list[Delivered]
) -> None:
    home.worker.append_delivered(PLACE, records[:2])
    assert home.worker.append_own({PLACE: own(records[2:4])}) == set()
    assert home.worker.next(PLACE) == 4
    assert len(home.told) == 2
    # It does all the same.
    home.worker.append_delivered(PLACE, records[2:5])
    assert home.worker.file.read(*PLACE, 0, 10) == [
        (record.offset, ZONE, record.value) for record in records[:5]
    ]
    assert home.worker.file.head(ZONE).number == 5


def test_records_of_others_come_before_ones_own(home: Home, records: list[Delivered]) -> None:
    home.worker.append_delivered(PLACE, records[:2])
    # Something else is between the copy's end and what was appended.
    assert home.worker.append_own({PLACE: own(records[3:4])}) == {PLACE}
    # Others appended while this did.
    assert home.worker.append_own({PLACE: (range(2, 5), own(records[2:4])[1])}) == {PLACE}
    assert home.worker.next(PLACE) == 2
    # A partition that was not compared with the broker's may be another than the one copied.
    assert home.command.append_own({PLACE: own(records[2:4])}) == {PLACE}
    assert home.worker.next(PLACE) == 2


def test_partitions_are_taken_together(home: Home, records: list[Delivered]) -> None:
    changes = (CHANGES, PLACE[1])
    home.worker.append_delivered(PLACE, records[:2])
    home.worker.append_delivered(changes, [Delivered(0, b"z", b"x")])
    behind = home.worker.append_own(
        {PLACE: own(records[4:5]), changes: (range(1, 2), [Appended(ZONE, b"y", AT)])}
    )
    assert behind == {PLACE}
    assert home.worker.next(changes) == 2


def test_another_record_than_the_copied_one_is_refused(
    home: Home, records: list[Delivered]
) -> None:
    home.worker.append_delivered(PLACE, records[:3])
    with pytest.raises(LedgerGap, match="another history or created again"):
        home.worker.append_delivered(PLACE, [records[2]._replace(value=b"else"), *records[3:]])
    assert home.worker.next(PLACE) == 3
