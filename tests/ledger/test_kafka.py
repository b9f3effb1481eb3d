"""The ledger on Kafka: the contract of every ledger, on the real broker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.streams.ledger import EVENTS, Ledger, LedgerGap, partition_of
from recollect.streams.ledger.kafka import retrying
from recollect.streams.ledger.kafka.clients import KeyedValue, LedgerPartition
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.ledger.ledger_file import Appended
from recollect.streams.ledger.sequencer import sequence
from tests.ledger.contract import LedgerContract, Opener, Reader, draft, ids


class NewNode:
    """Opens the ledger as a node that has read nothing of it yet."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = url
        self._directory = directory

    def __call__(self) -> Ledger:
        directory = Path(tempfile.mkdtemp(dir=self._directory))
        return KafkaLedger(KafkaSettings.read(self._url, {}), directory)


@pytest.fixture
def opener(kafka_url: str, tmp_path: Path) -> Opener:
    return NewNode(kafka_url, tmp_path)


class TestKafkaLedger(LedgerContract):
    @pytest.fixture
    def opener(self, kafka_url: str, tmp_path: Path) -> Opener:
        return NewNode(kafka_url, tmp_path)


def test_the_keys_of_void_copies_are_destroyed_whoever_left_them(opener: Opener) -> None:
    """A sequencer that was overtaken died before it could tidy up; its copy says the same words."""
    with closing(opener()) as first, closing(opener()) as second:
        assert isinstance(first, KafkaLedger)
        assert isinstance(second, KafkaLedger)
        first.publish("z", [draft("a")])
        _, (overtaken,), _ = sequence(
            "z",
            [draft("b", "a secret")],
            first.head("z"),
            secret=first.keys.secret,
            now=0,
            find_known=lambda source: None,
        )
        first.publish("z", [draft("b", "a secret")])
        second.keys.add({overtaken.key_id: overtaken.key})
        second.append(EVENTS, "z", [overtaken.value])
        # The same event again under its own key, as a redelivery would bring it, is no such copy.
        (again,) = [event for event in Reader(second).zone("z") if event.number == 2]
        second.append(EVENTS, "z", [second.read(EVENTS, partition_of("z"), again.offset, 1)[0][2]])
        assert overtaken.key_id in second.keys.get([overtaken.key_id])

        first.publish("z", [draft("c")])

        assert ids(Reader(first).zone("z")) == ["a", "b", "c"]
    with closing(opener()) as third:
        assert third.keys.get([overtaken.key_id]) == {}
        assert ids(Reader(third).zone("z")) == ["a", "b", "c"]


def forged(record: bytes, **changed: Any) -> bytes:
    """Return an event's record with another envelope, by what docs and format say of it."""
    names = ["format", "zone", "number", "previous", "kind", "version", "occurred_at"]
    names += ["ingested_at", "platform", "key_id", "source"]
    clear, sealed = msgspec.msgpack.decode(record)
    envelope = dict(zip(names, msgspec.msgpack.decode(clear), strict=True))
    clear = msgspec.msgpack.encode([{**envelope, **changed}[name] for name in names])
    return msgspec.msgpack.encode([clear, sealed])


def key_of(record: bytes) -> bytes:
    """Return the id of the key of an event's record."""
    key_id: bytes = msgspec.msgpack.decode(msgspec.msgpack.decode(record)[0])[9]
    return key_id


def test_no_copy_takes_the_key_of_an_event_that_stands(opener: Opener) -> None:
    """A mirror, a repair job or a forger writes a live event's record once more."""
    zones = ["z", *(f"z{number}" for number in range(40))]
    home = partition_of("z")
    neighbour = next(zone for zone in zones[1:] if partition_of(zone) == home)
    stranger = next(zone for zone in zones[1:] if partition_of(zone) != home)
    with closing(opener()) as first:
        assert isinstance(first, KafkaLedger)
        first.publish("z", [draft("a"), draft("b")])
        value, other = [record.value for record in first.read(EVENTS, home, 0, 10, "z")]
        for partition, zone, record in (
            (home, "z", value),
            (home, neighbour, value),
            (partition_of(stranger), stranger, value),
            (partition_of(stranger), "z", value),
            (home, "z", forged(value, number=2)),
            (home, "z", forged(value, previous=bytes(range(32)), source=bytes(16))),
            (home, neighbour, forged(value, zone=neighbour, number=1, previous=b"x" * 32)),
            (partition_of(stranger), stranger, forged(value, zone=stranger, number=9)),
            # Where the zone would go on, but it does not live there.
            (partition_of(stranger), "z", forged(other, number=3)),
        ):
            first.clients.produce(EVENTS, {partition: [KeyedValue(zone.encode(), record)]})
    with closing(opener()) as second:
        assert isinstance(second, KafkaLedger)
        for zone in ("z", neighbour, stranger):
            second.publish(zone, [draft("c")])
        for partition in range(12):
            second.destroy_void_keys(partition)
        assert [second.head(zone).number for zone in ("z", neighbour, stranger)] == [3, 1, 1]
    with closing(opener()) as third:
        live = {key_of(value), key_of(other)}
        assert third.keys.get(list(live)).keys() == live


def test_a_copy_that_came_before_the_event_it_repeats_leaves_its_key(opener: Opener) -> None:
    with closing(opener()) as ledger:
        assert isinstance(ledger, KafkaLedger)
        _, records, _ = sequence(
            "z",
            [draft("a"), draft("b")],
            ledger.head("z"),
            secret=ledger.keys.secret,
            now=0,
            find_known=lambda source: None,
        )
        one, two = records
        ledger.keys.add({record.key_id: record.key for record in records})
        ledger.append(EVENTS, "z", [two.value])
        ledger.destroy_void_keys(partition_of("z"))
        ledger.append(EVENTS, "z", [one.value, two.value])
        ledger.publish("z", [draft("c")])
        assert ids(Reader(ledger).zone("z")) == ["a", "b", "c"]


class Past:
    """A broker that led all partitions, stood still, and has not heard yet that others lead:
    it answers `answers` times that they end at offset `end`."""

    def __init__(
        self, ledger: KafkaLedger, monkeypatch: pytest.MonkeyPatch, answers: float, end: int
    ) -> None:
        self.left, self._end = answers, end
        self._ends = ledger.clients._ends
        monkeypatch.setattr(ledger.clients, "_ends", self)

    async def __call__(self, tps: list[LedgerPartition]) -> dict[LedgerPartition, int]:
        self.left -= 1
        return dict.fromkeys(tps, self._end) if self.left >= 0 else await self._ends(tps)


def _copied(ledger: Ledger) -> int:
    return ledger.head("z").number


def _from_the_broker(ledger: Ledger) -> int:
    return len(ledger.read(EVENTS, partition_of("z"), 2, 10))


def _differences(ledger: Ledger) -> int:
    assert isinstance(ledger, KafkaLedger)
    return len(ledger._compare((EVENTS, partition_of("z"))))


@pytest.mark.parametrize(
    ("ask", "found"),
    [(_copied, 3), (_from_the_broker, 1), (_differences, 0)],
    ids=["copied", "from the broker", "compared"],
)
@pytest.mark.parametrize("end", [0, 1])
def test_a_broker_that_answers_from_the_past_for_a_while_breaks_nothing(
    opener: Opener,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Ledger], int],
    found: int,
    end: int,
) -> None:
    with closing(opener()) as ledger:
        assert isinstance(ledger, KafkaLedger)
        ledger.publish("z", [draft("a"), draft("b"), draft("c")])
        past = Past(ledger, monkeypatch, 3, end)
        assert ask(ledger) == found
        assert past.left < 0, "it was asked again"


@pytest.mark.parametrize("ask", [_copied, _from_the_broker])
def test_a_partition_that_goes_on_ending_too_early_has_lost_records(
    opener: Opener, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Ledger], int]
) -> None:
    monkeypatch.setattr(retrying, "REPEAT_SECONDS", 0.5)
    with closing(opener()) as ledger:
        assert isinstance(ledger, KafkaLedger)
        ledger.publish("z", [draft("a"), draft("b"), draft("c")])
        Past(ledger, monkeypatch, float("inf"), 1)
        with pytest.raises(LedgerGap, match=r"ends at offset 1, but \d was read before"):
            ask(ledger)


def test_a_copy_is_compared_up_to_its_end(opener: Opener) -> None:
    """Where the topic ends within the page that is compared, the rest is missing."""
    with closing(opener()) as ledger, closing(opener()) as longer:
        assert isinstance(ledger, KafkaLedger)
        assert isinstance(longer, KafkaLedger)
        ledger.publish("z", [draft("a"), draft("b")])
        longer.head("z")
        tp = EVENTS, partition_of("z")
        with longer.copy.file.writing():
            longer.copy.file.write(*tp, 2, [Appended("z", b"never there", 0)])
        assert _differences(ledger) == 0
        (problem,) = longer._compare(tp)
        assert "ends at offset 2, but 3 was read before" in problem
