"""The contract of ledgers, as tests that every implementation must pass.

Subclass `LedgerContract` and give it an `opener`: something that can be pickled and that
returns, each time it is called, a fresh handle on the same storage. Nothing here knows of
files, of one process, or of a transaction. What the ledger holds is judged by `Reader`, which
decodes records as plain lists and hashes them by itself.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    Attachment,
    ChangingDraft,
    Draft,
    GrowingDraft,
    Message,
    Remember,
    Tick,
    TurnCompleted,
)
from recollect.streams.ledger import (
    CHANGES,
    EVENTS,
    PARTITIONS,
    RECORDINGS,
    SEEK_WINDOW,
    TOPICS,
    Ledger,
    LedgerGap,
    partition_of,
)
from tests.opened import payload_of

Opener = Callable[[], Ledger]

AT = 1_778_248_560_000
SPAWN = multiprocessing.get_context("spawn")


def draft(
    id_: str, content: str = "hello", *, ingested_at: int | None = None, **other: Any
) -> Draft:
    """Return a message; `other` may set anything of it, the time and the platform included."""
    platform = other.pop("platform", "slack")
    occurred_at = other.pop("occurred_at", AT)
    fields = {"sender_id": "U1", **other}
    payload = Message(source_id=id_, content=content, **fields)
    return Draft(
        platform=platform, occurred_at=occurred_at, payload=payload, ingested_at=ingested_at
    )


def tick(id: str, platform: str) -> Draft:
    return Draft(platform=platform, occurred_at=AT, payload=Tick(source_id=id, name="minute"))


def growing(of: Draft) -> Draft:
    """Return a draft of a source that writes bit by bit."""
    return GrowingDraft(**msgspec.structs.asdict(of))


def memory(text: str, at: int) -> Draft:
    """Return the draft of another system's memory, with the id a."""
    payload = Remember(source_id="a", sender_id="u", content=text)
    return ChangingDraft(platform="mem0", occurred_at=at, payload=payload)


class Seen(NamedTuple):
    """An event as `Reader` reads it."""

    offset: int
    zone: str
    number: int
    previous: bytes
    kind: str
    occurred_at: int
    ingested_at: int
    platform: str
    key_id: bytes
    source: bytes
    payload: dict[str, Any] | None
    hash: bytes


class Reader:
    """Reads a ledger with nothing of the product but `read`, `end` and the keys."""

    def __init__(self, ledger: Ledger, page: int = 7) -> None:
        self._ledger = ledger
        self._page = page

    def raw(self, topic: str, partition: int) -> list[tuple[int, str, bytes]]:
        """Return every record of a partition, and check that its offsets are dense."""
        end = self._ledger.end(topic, partition)
        found: list[tuple[int, str, bytes]] = []
        while len(found) < end:
            page = self._ledger.read(topic, partition, len(found), self._page)
            assert 0 < len(page) <= self._page
            found += [(offset, zone, bytes(value)) for offset, zone, value in page]
        assert [offset for offset, _, _ in found] == list(range(end))
        assert self._ledger.read(topic, partition, end, self._page) == []
        return found

    def partition(self, partition: int) -> list[Seen]:
        """Return the events of a partition, unsealed if their keys exist."""
        return [self._seen(*record) for record in self.raw(EVENTS, partition)]

    def zone(self, zone: str) -> list[Seen]:
        """Return a zone's events: the records that extend its chain."""
        events: list[Seen] = []
        before = bytes(32)
        for event in self.partition(partition_of(zone)):
            if (event.zone, event.number, event.previous) == (zone, len(events) + 1, before):
                events.append(event)
                before = event.hash
        return events

    def everything(self) -> dict[str, list[Seen]]:
        """Return every zone's events, by zone."""
        zones = {
            event.zone for partition in range(PARTITIONS) for event in self.partition(partition)
        }
        return {zone: self.zone(zone) for zone in sorted(zones)}

    def _seen(self, offset: int, zone: str, value: bytes) -> Seen:
        clear, sealed = msgspec.msgpack.decode(value)
        envelope = msgspec.msgpack.decode(clear)
        (format_, named, number, previous, kind, version, occurred_at, ingested_at, platform,
         key_id, source) = envelope  # fmt: skip
        assert (format_, named) == (2, zone)
        assert version == {"edit": 2, "message": 2, "remember": 4}.get(kind, 1)
        key = self._ledger.keys.get([key_id]).get(key_id)
        payload = None
        if key is not None:
            text = AESGCM(key).decrypt(sealed[:12], sealed[12:], clear)
            payload = msgspec.msgpack.decode(payload_of(text))
        return Seen(
            offset, zone, number, previous, kind, occurred_at, ingested_at, platform,
            key_id, source, payload, hashlib.sha256(value).digest(),
        )  # fmt: skip


def ids(events: list[Seen]) -> list[str]:
    return [event.payload["source_id"] if event.payload else "" for event in events]


def neighbours(count: int) -> list[str]:
    """Return zones that share a partition."""
    names = (f"zone-{number}" for number in itertools.count())
    first = next(names)
    return [first, *itertools.islice(filter(shares(first), names), count - 1)]


def shares(zone: str) -> Callable[[str], bool]:
    return lambda other: partition_of(other) == partition_of(zone)


def apart(zone: str) -> str:
    """Return a zone of another partition."""
    names = (f"apart-{number}" for number in itertools.count())
    return next(name for name in names if partition_of(name) != partition_of(zone))


# What other processes do: functions of this module, so that a fresh process finds them.


def _publish_many(
    opener: Opener, zones: list[str], own: str, shared: int, start: Any, answers: Any
) -> None:
    """Publish `shared` ids that others publish too and as many of one's own, shuffled."""
    chance = random.Random(own)
    todo = [f"shared-{number}" for number in range(shared)]
    todo += [f"{own}-{number}" for number in range(shared)]
    chance.shuffle(todo)
    start.wait(60)
    done = []
    with closing(opener()) as ledger:
        while todo:
            batch = [todo.pop() for _ in range(min(len(todo), chance.randint(1, 6)))]
            for zone in zones:
                # An id has one zone, so that a shared one can be published only once.
                there = [id_ for id_ in batch if zones[int(id_.split("-")[1]) % len(zones)] == zone]
                if there:
                    receipts = ledger.publish(zone, [draft(id_) for id_ in there])
                    done += [
                        (zone, id_, receipt.status, receipt.number)
                        for id_, receipt in zip(there, receipts, strict=True)
                    ]
    answers.put(done)


def _publish_until_killed(opener: Opener, zone: str, count: int, acknowledged: Path) -> None:
    with closing(opener()) as ledger, open(acknowledged, "a", buffering=1) as notes:
        for number in range(count):
            ledger.publish(zone, [draft(f"m-{number}"), draft(f"n-{number}")])
            notes.write(f"{number}\n")


def _publish_when_asked(opener: Opener, zone: str, ready: Any, go: Any, answers: Any) -> None:
    with closing(opener()) as ledger:
        ready.set()
        go.wait(60)
        ledger.publish(zone, [draft("from-afar")])
        answers.put(time.monotonic())


@contextmanager
def process(target: Callable[..., None], *arguments: Any) -> Iterator[Any]:
    started = SPAWN.Process(target=target, args=arguments)
    started.start()
    try:
        yield started
    finally:
        started.join(60)
        if started.is_alive():
            started.kill()
            started.join()


class LedgerContract:
    """The promises. An implementation's test module subclasses this."""

    #: Where an appender may be killed, and whether its event is in the ledger then.
    KILLS: ClassVar[Mapping[str, bool]] = {"append.keys": False, "append.committed": True}

    @pytest.fixture
    def opener(self) -> Opener:
        raise NotImplementedError

    @pytest.fixture
    def ledger(self, opener: Opener) -> Iterator[Ledger]:
        with closing(opener()) as ledger:
            yield ledger

    # Numbers, offsets, order

    def test_an_empty_ledger_holds_nothing(self, ledger: Ledger) -> None:
        assert ledger.zones() == []
        for topic, partition in itertools.product(TOPICS, range(PARTITIONS)):
            assert ledger.end(topic, partition) == 0
            assert ledger.read(topic, partition, 0, 10) == []
            assert ledger.read(topic, partition, 0, 10, "nobody") == []

    def test_a_zone_lives_in_its_partition_and_nowhere_else(self, ledger: Ledger) -> None:
        zones = [f"tenant-{number}" for number in range(20)]
        for zone in zones:
            ledger.publish(zone, [draft("1")])
        for partition in range(PARTITIONS):
            there = [zone for _, zone, _ in Reader(ledger).raw(EVENTS, partition)]
            assert there == [zone for zone in zones if partition_of(zone) == partition]

    def test_offsets_are_dense_where_zones_share_a_partition(self, ledger: Ledger) -> None:
        zones = neighbours(3)
        for number in range(12):
            ledger.publish(zones[number % 3], [draft(f"{number}-{n}") for n in range(number % 4)])
        events = Reader(ledger).partition(partition_of(zones[0]))
        assert [event.offset for event in events] == list(range(18))
        for index, zone in enumerate(zones):
            mine = [number for number in range(12) if number % 3 == index]
            assert ids(Reader(ledger).zone(zone)) == [
                f"{number}-{n}" for number in mine for n in range(number % 4)
            ]

    def test_a_place_near_any_event_is_on_its_chain_and_not_beyond_it(self, ledger: Ledger) -> None:
        """Whatever void records and other zones' events lie between, and however unevenly."""
        zone, *others = neighbours(3)
        drawn = random.Random(5)
        for step in range(12):
            ledger.publish(zone, [draft(f"{step}-{n}") for n in range(drawn.choice([1, 3, 60]))])
            for other in others:
                count = drawn.choice([0, 2, 90])
                ledger.publish(other, [draft(f"{step}-{n}") for n in range(count)])
            again = drawn.choice(Reader(ledger, 500).zone(zone)).offset
            ((_, _, void),) = ledger.read(EVENTS, partition_of(zone), again, 1)
            ledger.append(EVENTS, zone, [void] * drawn.choice([0, 1, 70]))
        events = Reader(ledger, 500).zone(zone)
        places = {(0, 0, bytes(32))} | {(e.number, e.offset + 1, e.hash) for e in events}
        for number in range(len(events) + 1):
            place = ledger.seek(zone, number)
            assert place in places
            assert number - SEEK_WINDOW <= place[0] <= number
        assert ledger.seek(zone, len(events) + 1_000) in places
        assert ledger.seek("nobody", 7) == (0, 0, bytes(32))

    def test_a_pickled_ledger_opens_the_same_again(self, ledger: Ledger) -> None:
        """A process beside reads with it what this one knows is there, keys included."""
        ledger.publish("z", [draft("a"), draft("b")])
        with closing(pickle.loads(pickle.dumps(ledger))) as again:
            assert Reader(again).zone("z") == Reader(ledger).zone("z")
            assert ids(Reader(again).zone("z")) == ["a", "b"]

    def test_the_order_of_publishing_is_kept(self, ledger: Ledger) -> None:
        wanted = [f"m-{number}" for number in range(40)]
        random.Random(3).shuffle(wanted)
        ledger.publish("z", [draft(id_) for id_ in wanted[:25]])
        for id_ in wanted[25:]:
            ledger.publish("z", [draft(id_, occurred_at=AT - int(id_[2:]))])
        assert ids(Reader(ledger).zone("z")) == wanted

    def test_publishing_nothing_is_nothing(self, ledger: Ledger) -> None:
        assert ledger.publish("z", []) == []
        assert ledger.end(EVENTS, partition_of("z")) == 0

    def test_zones_that_are_published_together_are_as_each_alone(self, ledger: Ledger) -> None:
        one, two, three = *neighbours(2), apart(neighbours(1)[0])
        ledger.publish(two, [draft("held", "as it was")])
        receipts = ledger.publish_all(
            {
                one: [draft("1"), draft("2"), draft("1")],
                two: [draft("held", "otherwise"), draft("1"), draft("held", "as it was")],
                three: [draft("1")],
                "nothing": [],
            }
        )
        assert {
            zone: [(each.status, each.number) for each in some] for zone, some in receipts.items()
        } == {
            one: [("new", 1), ("new", 2), ("duplicate", 1)],
            two: [("conflict", 1), ("new", 2), ("duplicate", 1)],
            three: [("new", 1)],
            "nothing": [],
        }
        found = Reader(ledger).everything()
        assert {zone: ids(events) for zone, events in found.items()} == {
            one: ["1", "2"],
            two: ["held", "1"],
            three: ["1"],
        }

    def test_an_event_says_what_the_draft_said(self, ledger: Ledger) -> None:
        whole = draft(
            "m-1",
            "Ada moved 🙂",
            sender_name="Ada",
            thread_id="t",
            attachments=(Attachment(type="image", caption="a lake"),),
            metadata={"a": [1, None, 2.5]},
            utc_offset=120,
        )
        ledger.publish("z", [whole])
        (event,) = Reader(ledger).zone("z")
        assert (event.kind, event.platform, event.occurred_at) == ("message", "slack", AT)
        assert event.payload == {
            "kind": "message",
            "source_id": "m-1",
            "sender_id": "U1",
            "content": "Ada moved 🙂",
            "sender_name": "Ada",
            "thread_id": "t",
            "attachments": [{"type": "image", "caption": "a lake"}],
            "metadata": {"a": [1, None, 2.5]},
            "utc_offset": 120,
        }

    def test_a_fresh_handle_sees_the_same(self, ledger: Ledger, opener: Opener) -> None:
        ledger.publish("a", [draft("1"), draft("2")])
        ledger.append(CHANGES, "b", [b"x"])
        with closing(opener()) as other:
            assert other.zones() == ["a"]
            assert Reader(other).everything() == Reader(ledger).everything()
            assert other.keys.secret == ledger.keys.secret
            assert [r.status for r in other.publish("a", [draft("2"), draft("3")])] == [
                "duplicate",
                "new",
            ]
        assert ids(Reader(ledger).zone("a")) == ["1", "2", "3"]

    def test_only_zones_with_events_are_listed(self, ledger: Ledger) -> None:
        for zone in ("b", "a", "C", "a.b"):
            ledger.publish(zone, [draft("1")])
        ledger.publish("empty", [])
        ledger.append(CHANGES, "changes-only", [b"x"])
        assert ledger.zones() == sorted(["b", "a", "C", "a.b"])

    @pytest.mark.parametrize("zone", ["", "..", ".", "a/b", "é", "a b", "a\n", "x" * 65, "-a"])
    def test_what_is_no_name_of_a_zone_is_refused(self, ledger: Ledger, zone: str) -> None:
        with pytest.raises(InvalidInput, match="zone"):
            ledger.publish(zone, [draft("1")])
        with pytest.raises(InvalidInput, match="zone"):
            ledger.append(CHANGES, zone, [b"x"])
        assert ledger.zones() == []

    # Receipts

    def test_a_receipt_names_the_event(self, ledger: Ledger) -> None:
        first = ledger.publish("z", [draft("a"), draft("b")])
        again = ledger.publish("z", [draft("b"), draft("c"), draft("a")])
        assert [(r.status, r.number) for r in first] == [("new", 1), ("new", 2)]
        assert [(r.status, r.number) for r in again] == [
            ("duplicate", 2),
            ("new", 3),
            ("duplicate", 1),
        ]
        assert [again[2].event_id, again[0].event_id] == [r.event_id for r in first]
        assert len({r.event_id for r in first + again}) == 3

    def test_a_duplicate_within_one_call_is_one_event(self, ledger: Ledger) -> None:
        receipts = ledger.publish("z", [draft("a"), draft("b"), draft("a"), draft("a", "else")])
        assert [(r.status, r.number) for r in receipts] == [
            ("new", 1),
            ("new", 2),
            ("duplicate", 1),
            ("conflict", 1),
        ]
        assert ids(Reader(ledger).zone("z")) == ["a", "b"]

    @pytest.mark.parametrize(
        "other",
        [
            {},
            {"sender_name": "Augusta Ada King"},
            {"metadata": {"exported_by": "another tool"}},
            {"ingested_at": AT + 5},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("within", [True, False], ids=["one call", "two calls"])
    def test_another_delivery_of_an_event_is_a_duplicate(
        self, ledger: Ledger, other: dict[str, Any], within: bool
    ) -> None:
        first = draft("a", sender_name="Ada", metadata={"n": 1}, ingested_at=AT)
        second = draft("a", **{"sender_name": "Ada", "metadata": {"n": 1}, **other})
        calls = [[first, second]] if within else [[first], [second]]
        receipts = [receipt for call in calls for receipt in ledger.publish("z", call)]
        assert [(r.status, r.number) for r in receipts] == [("new", 1), ("duplicate", 1)]
        (event,) = Reader(ledger).zone("z")
        assert event.payload is not None
        assert event.payload["sender_name"] == "Ada"
        assert (event.payload["metadata"], event.ingested_at) == ({"n": 1}, AT)

    @pytest.mark.parametrize(
        "second",
        [
            draft("a", "other words"),
            draft("a", "hello "),
            draft("a", "Hello"),
            draft("a", occurred_at=AT + 1),
            draft("a", sender_id="U2"),
            draft("a", thread_id="t"),
            draft("a", peer_id="C1"),
            draft("a", direction="out"),
            draft("a", reply_to="b"),
            draft("a", attachments=(Attachment(name="x"),)),
            Draft(
                platform="slack",
                occurred_at=AT,
                payload=TurnCompleted(source_id="a", sender_id="U1", content="hello", turn_id="t"),
            ),
            Draft(platform="slack", occurred_at=AT, payload=Tick(source_id="a", name="daily")),
        ],
        ids=lambda d: repr(d.payload)[:40],
    )
    @pytest.mark.parametrize("within", [True, False], ids=["one call", "two calls"])
    def test_the_same_id_with_other_content_is_a_conflict_and_what_is_held_stays(
        self, ledger: Ledger, second: Draft, within: bool
    ) -> None:
        calls = [[draft("a"), second]] if within else [[draft("a")], [second]]
        receipts = [receipt for call in calls for receipt in ledger.publish("z", call)]
        assert [(r.status, r.number) for r in receipts] == [("new", 1), ("conflict", 1)]
        (event,) = Reader(ledger).zone("z")
        assert event.payload is not None
        assert (event.payload["content"], event.occurred_at) == ("hello", AT)

    @pytest.mark.parametrize("within", [True, False], ids=["one call", "two calls"])
    def test_more_text_of_a_message_that_may_grow_is_its_edit(
        self, ledger: Ledger, within: bool
    ) -> None:
        """FAULTS 41."""
        more = growing(draft("a", "hello there"))
        less = growing(draft("a", "hell"))
        elsewhere = growing(draft("a", "hello you", peer_id="C"))
        drafts = [draft("a"), more, more, less, elsewhere]
        calls = [drafts] if within else [[each] for each in drafts]
        receipts = [receipt for call in calls for receipt in ledger.publish("z", call)]
        assert [(receipt.status, receipt.number) for receipt in receipts] == [
            *(("new", 1), ("new", 2), ("duplicate", 2)),
            *(("conflict", 1), ("conflict", 1)),
        ]
        _, edit = Reader(ledger).zone("z")
        assert edit.payload is not None
        assert (edit.kind, edit.payload["target"]) == ("edit", "a")
        assert edit.payload["content"] == "hello there"

    @pytest.mark.parametrize("within", [True, False], ids=["one call", "two calls"])
    def test_the_changed_text_of_another_systems_memory_is_its_edit(
        self, ledger: Ledger, within: bool
    ) -> None:
        first, later = memory("old text", AT), memory("new text", AT + 5)
        drafts = [first, memory("old text", AT + 1), later, later, memory("older text", AT - 1)]
        calls = [drafts] if within else [[each] for each in drafts]
        receipts = [receipt for call in calls for receipt in ledger.publish("z", call)]
        assert [(receipt.status, receipt.number) for receipt in receipts] == [
            *(("new", 1), ("duplicate", 1), ("new", 2), ("duplicate", 2), ("duplicate", 1)),
        ]
        _, edit = Reader(ledger).zone("z")
        assert edit.payload is not None
        assert (edit.kind, edit.payload["target"], edit.occurred_at) == ("edit", "a", AT + 5)
        assert (edit.payload["content"], edit.payload["said_at"]) == ("new text", AT + 5)

    def test_the_changed_text_of_a_note_is_its_edit_though_it_states_one_time(
        self, ledger: Ledger
    ) -> None:
        def note(text: str, at: int = AT) -> Draft:
            payload = Message(source_id="a", sender_id="u", content=text)
            return ChangingDraft(platform="notes", occurred_at=at, payload=payload)

        drafts = [note("old"), note("old", AT + 1), note("new"), note("new", AT + 7), note("old")]
        receipts = [ledger.publish("z", [each])[0] for each in (*drafts, note("x", AT - 1))]
        assert [(receipt.status, receipt.number) for receipt in receipts] == [
            *(("new", 1), ("duplicate", 1), ("new", 2), ("duplicate", 2), ("duplicate", 1)),
            ("conflict", 1),
        ]
        _, edit = Reader(ledger).zone("z")
        assert edit.payload is not None
        assert (edit.kind, edit.payload["target"], edit.payload["content"]) == ("edit", "a", "new")

    @pytest.mark.parametrize("within", [True, False], ids=["one call", "two calls"])
    def test_a_text_that_is_changed_back_is_an_edit_again(
        self, ledger: Ledger, within: bool
    ) -> None:
        def note(text: str, revised_at: int) -> Draft:
            payload = Message(source_id="n", sender_id="u", content=text, revised_at=revised_at)
            return ChangingDraft(platform="notes", occurred_at=AT, payload=payload)

        for draft_of, stated in ((memory, None), (note, AT)):
            zone = draft_of.__name__
            texts = "ABABCBACBA"
            drafts = [draft_of(text, AT + at) for at, text in enumerate(texts)]
            again = [draft_of(text, AT + at) for at, text in enumerate(texts)]
            calls = [drafts + again] if within else [[each] for each in drafts + again]
            receipts = [receipt for call in calls for receipt in ledger.publish(zone, call)]
            assert [one.status for one in receipts] == ["new"] * 10 + ["duplicate"] * 10
            _, *edits = Reader(ledger).zone(zone)
            found = [(one.occurred_at - AT, one.payload or {}) for one in edits]
            assert [(at, edit["content"]) for at, edit in found] == list(enumerate(texts))[1:]
            assert [edit["said_at"] for _, edit in found] == [
                AT + at if stated is None else stated for at, _ in found
            ]

    @pytest.mark.parametrize("within", [True, False], ids=["one call", "two calls"])
    @pytest.mark.parametrize("stated", [AT - 10**9, AT + 10**9], ids=["before", "after"])
    def test_a_text_is_as_old_as_its_last_change_whatever_time_its_event_has(
        self, ledger: Ledger, within: bool, stated: int
    ) -> None:
        def note(text: str, revised_at: int) -> Draft:
            payload = Message(source_id="n", sender_id="u", content=text, revised_at=revised_at)
            return ChangingDraft(
                platform="notes", occurred_at=stated, payload=payload, ingested_at=AT - 10**6
            )

        drafts = [note("B", AT), note("A", AT - 5), note("C", AT + 5), note("A", AT + 2)]
        calls = [drafts] if within else [[each] for each in drafts]
        receipts = [receipt for call in calls for receipt in ledger.publish("z", call)]
        assert [(receipt.status, receipt.number) for receipt in receipts] == [
            *(("new", 1), ("conflict", 1), ("new", 2), ("conflict", 1)),
        ]

    def test_a_note_is_edited_by_what_it_quotes_too(self, ledger: Ledger) -> None:
        def note(quoted: str) -> Draft:
            quotation = Attachment(type="quotation", caption=quoted)
            payload = Message(
                source_id="a", sender_id="u", content="mine", attachments=(quotation,)
            )
            return ChangingDraft(platform="notes", occurred_at=AT, payload=payload)

        drafts = [note("Oslo"), note("Rome"), note("Rome"), note("Oslo")]
        receipts = [ledger.publish("z", [each])[0] for each in drafts]
        statuses = [(receipt.status, receipt.number) for receipt in receipts]
        assert statuses == [("new", 1), ("new", 2), ("duplicate", 2), ("duplicate", 1)]

    @pytest.mark.parametrize("text", ["I live in Oslo.", "I live in Graz."])
    def test_nobody_changes_the_text_of_somebody_else(self, ledger: Ledger, text: str) -> None:
        def note(text: str, sender: str, peer: str, at: int) -> Draft:
            payload = Message(source_id="a", sender_id=sender, content=text, peer_id=peer)
            return ChangingDraft(platform="notes", occurred_at=at, payload=payload)

        ledger.publish("z", [note("I live in Graz.", "ada", "C", AT)])
        for sender, peer in (("bob", "C"), ("ada", "D")):
            (receipt,) = ledger.publish("z", [note(text, sender, peer, AT + 5)])
            assert receipt.status == "conflict"

    def test_only_parts_of_a_note_are_deleted_when_it_becomes_shorter(self, ledger: Ledger) -> None:
        def note(id: str, text: str, sender: str = "u", **metadata: int) -> Draft:
            payload = Message(source_id=id, sender_id=sender, content=text, metadata=metadata)
            return ChangingDraft(platform="notes", occurred_at=AT, payload=payload)

        ledger.publish("z", [note("a", "one"), note("a:part:2", "plain")])
        ledger.publish("z", [note("b", "one"), note("b:part:2", "other", "bob", part=2, parts=2)])
        ledger.publish(
            "z", [note("c", "one", part=1, parts=2), note("c:part:2", "2", part=2, parts=2)]
        )
        for id in "abc":
            ledger.publish("z", [note(id, "changed")])
        deleted = [each.payload for each in Reader(ledger).zone("z") if each.kind == "deletion"]
        assert [payload and payload["target"] for payload in deleted] == ["c:part:2"]

    def test_one_id_on_two_platforms_is_two_events(self, ledger: Ledger) -> None:
        receipts = ledger.publish("z", [draft("a"), draft("a", "other", platform="mail")])
        assert [r.status for r in receipts] == ["new", "new"]
        assert [event.platform for event in Reader(ledger).zone("z")] == ["slack", "mail"]

    def test_one_id_in_two_zones_is_two_events(self, ledger: Ledger) -> None:
        one, two = neighbours(2)
        receipts = ledger.publish(one, [draft("a")]) + ledger.publish(two, [draft("a", "other")])
        assert [(r.status, r.number) for r in receipts] == [("new", 1), ("new", 1)]
        assert receipts[0].event_id != receipts[1].event_id
        (first,), (second,) = Reader(ledger).zone(one), Reader(ledger).zone(two)
        # Nor do the envelopes show that two zones hold the same id.
        assert first.source != second.source
        assert first.previous == second.previous == bytes(32)

    def test_events_are_found_by_kind_and_zones_know_their_platforms(self, ledger: Ledger) -> None:
        """Beside void records, other zones' events, and names that contain one another."""
        drawn = random.Random(3)
        one, two = neighbours(2)
        for step in range(12):
            zone, platform = drawn.choice([one, two]), drawn.choice(["tick", "edit", "imessage"])
            ledger.publish(
                zone,
                [
                    draft(f"{step}", platform=platform),
                    tick(f"t{step}", platform),
                ],
            )
            ((_, _, copied),) = ledger.read(EVENTS, partition_of(one), drawn.randrange(2), 1)
            ledger.append(EVENTS, one, [copied] * drawn.choice([0, 2]))
        for zone in (one, two):
            events = Reader(ledger).zone(zone)
            raw = Reader(ledger).raw(EVENTS, partition_of(zone))
            assert ledger.platforms(zone) == sorted({event.platform for event in events})
            for kind, offset in itertools.product(("message", "tick", "edit"), (0, 9)):
                assert ledger.events_of_kind(zone, kind, offset) == [
                    raw[event.offset]
                    for event in events
                    if event.kind == kind and event.offset >= offset
                ]
        assert ledger.platforms("nobody") == []

    def test_a_draft_that_cannot_be_kept_takes_its_whole_call_with_it(self, ledger: Ledger) -> None:
        ledger.publish("z", [draft("a")])
        with pytest.raises(OverflowError):
            ledger.publish("z", [draft("b"), draft("c", metadata={"n": 2**70}), draft("d")])
        assert ids(Reader(ledger).zone("z")) == ["a"]
        assert [r.number for r in ledger.publish("z", [draft("b"), draft("d")])] == [2, 3]
        assert ids(Reader(ledger).zone("z")) == ["a", "b", "d"]

    @settings(
        max_examples=25,
        deadline=None,
        # It is the same contract for each ledger, hence the executors.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(
        calls=st.lists(
            st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy")), max_size=4),
            max_size=4,
        )
    )
    def test_receipts_are_those_of_a_dictionary(
        self, ledger: Ledger, calls: list[list[tuple[str, str]]]
    ) -> None:
        zone = f"z{len(ledger.zones())}"
        held: dict[str, tuple[int, str]] = {}
        for call in calls:
            expected = []
            for id_, content in call:
                if id_ not in held:
                    held[id_] = (len(held) + 1, content)
                    expected.append(("new", held[id_][0]))
                else:
                    same = held[id_][1] == content
                    expected.append(("duplicate" if same else "conflict", held[id_][0]))
            receipts = ledger.publish(zone, [draft(*item) for item in call])
            assert [(r.status, r.number) for r in receipts] == expected
        events = Reader(ledger).zone(zone)
        assert ids(events) == list(held)

    # Times

    def test_the_ledger_sets_ingested_at_where_it_is_not_given(self, ledger: Ledger) -> None:
        before = time.time_ns() // 1_000_000
        ledger.publish("z", [draft("a"), draft("b", ingested_at=AT), draft("c", ingested_at=0)])
        after = time.time_ns() // 1_000_000
        first, second, third = Reader(ledger).zone("z")
        assert before <= first.ingested_at <= after
        assert (second.ingested_at, third.ingested_at) == (AT, 0)

    def test_no_event_came_after_the_ledgers_clock(self, ledger: Ledger) -> None:
        """Trace: one with ingested_at in 2199 hid all after it from every later moment."""
        before = time.time_ns() // 1_000_000
        drafts = [draft("a", ingested_at=AT), draft("b", ingested_at=7_226_582_400_000), draft("c")]
        receipts = ledger.publish("z", drafts)
        after = time.time_ns() // 1_000_000
        assert [receipt.clamped for receipt in receipts] == [False, True, False]
        first, second, third = Reader(ledger).zone("z")
        assert first.ingested_at == AT
        assert before <= second.ingested_at == third.ingested_at <= after
        assert [receipt.clamped for receipt in ledger.publish("z", drafts)] == [False] * 3

    # Keys

    def test_each_event_has_a_key_of_its_own(self, ledger: Ledger) -> None:
        ledger.publish("a", [draft(str(number)) for number in range(5)])
        ledger.publish("b", [draft(str(number)) for number in range(5)])
        events = [event for zone in "ab" for event in Reader(ledger).zone(zone)]
        assert len({event.key_id for event in events}) == 10
        keys = ledger.keys.get([event.key_id for event in events])
        assert len(set(keys.values())) == 10

    def test_a_payload_is_read_with_its_own_key_only(self, ledger: Ledger) -> None:
        ledger.publish("z", [draft("a"), draft("b")])
        one, two = Reader(ledger).zone("z")
        clear, sealed = msgspec.msgpack.decode(ledger.read(EVENTS, partition_of("z"), 0, 1)[0][2])
        keys = ledger.keys.get([one.key_id, two.key_id])
        assert AESGCM(keys[one.key_id]).decrypt(sealed[:12], sealed[12:], clear)
        with pytest.raises(InvalidTag):
            AESGCM(keys[two.key_id]).decrypt(sealed[:12], sealed[12:], clear)

    def test_a_destroyed_key_stays_destroyed(self, ledger: Ledger, opener: Opener) -> None:
        ledger.publish("z", [draft("a", "a secret"), draft("b")])
        doomed = Reader(ledger).zone("z")[0].key_id
        ledger.keys.destroy([doomed])
        ledger.keys.destroy([doomed])
        assert ledger.keys.get([doomed]) == {}
        ledger.publish("z", [draft("c")])
        with closing(opener()) as other:
            assert other.keys.get([doomed]) == {}
            events = Reader(other).zone("z")
        assert [event.payload is None for event in events] == [True, False, False]

    @pytest.mark.parametrize("content", ["a secret", "another secret"])
    def test_what_was_forgotten_does_not_come_back(
        self, ledger: Ledger, opener: Opener, content: str
    ) -> None:
        ledger.publish("z", [draft("a", "a secret"), draft("b")])
        ledger.keys.destroy([Reader(ledger).zone("z")[0].key_id])
        with closing(opener()) as other:
            receipts = other.publish("z", [draft("a", content), draft("c")])
            assert [(r.status, r.number) for r in receipts] == [("duplicate", 1), ("new", 3)]
            assert ids(Reader(other).zone("z")) == ["", "b", "c"]

    def test_keys_may_be_kept_and_asked_for_in_numbers(self, ledger: Ledger) -> None:
        kept = {os.urandom(16): os.urandom(32) for _ in range(50)}
        ledger.keys.add(kept)
        asked = [*kept, os.urandom(16)]
        assert ledger.keys.get(asked) == kept
        assert ledger.keys.get([]) == {}
        gone = list(kept)[:20]
        ledger.keys.destroy(gone)
        assert ledger.keys.get(asked) == {k: v for k, v in kept.items() if k not in gone}

    def test_the_secret_is_of_this_ledger(self, ledger: Ledger) -> None:
        assert len(ledger.keys.secret) == 32
        assert ledger.keys.secret != bytes(32)

    # The other topics

    @pytest.mark.parametrize("topic", [CHANGES, RECORDINGS])
    def test_what_is_appended_comes_back_unchanged_and_in_order(
        self, ledger: Ledger, topic: str
    ) -> None:
        one, two = neighbours(2)
        values = [bytes([number]) * number for number in range(1, 30)]
        ledger.append(topic, one, values[:10])
        ledger.append(topic, two, values[10:12])
        ledger.append(topic, one, values[12:])
        # The same bytes again are a record again: readers decide what counts.
        ledger.append(topic, one, values[:1])
        found = Reader(ledger).raw(topic, partition_of(one))
        assert [value for _, _, value in found] == [*values, values[0]]
        assert [zone for _, zone, _ in found] == [one] * 10 + [two] * 2 + [one] * 18

    def test_topics_have_offsets_of_their_own(self, ledger: Ledger) -> None:
        partition = partition_of("z")
        ledger.publish("z", [draft("a"), draft("b")])
        ledger.append(CHANGES, "z", [b"c"])
        assert [ledger.end(topic, partition) for topic in (EVENTS, CHANGES, RECORDINGS)] == [
            2,
            1,
            0,
        ]

    def test_a_large_record_comes_back_whole(self, ledger: Ledger) -> None:
        value = random.Random(1).randbytes(900_000)
        ledger.append(CHANGES, "z", [value])
        assert ledger.read(CHANGES, partition_of("z"), 0, 1)[0].value == value

    # Reading

    def test_reading_goes_on_from_an_offset_and_stops_at_a_limit(self, ledger: Ledger) -> None:
        ledger.append(CHANGES, "z", [bytes([number]) for number in range(10)])
        partition = partition_of("z")
        for offset, limit in itertools.product(range(11), (1, 3, 100)):
            found = ledger.read(CHANGES, partition, offset, limit)
            assert [(r.offset, r.zone, r.value) for r in found] == [
                (number, "z", bytes([number])) for number in range(offset, min(offset + limit, 10))
            ]

    def test_reading_one_zone_leaves_its_neighbours_out(self, ledger: Ledger) -> None:
        zones = neighbours(3)
        for number in range(12):
            ledger.append(CHANGES, zones[number % 3], [bytes([number])])
        partition = partition_of(zones[0])
        for offset, limit in itertools.product(range(13), (1, 2, 100)):
            found = ledger.read(CHANGES, partition, offset, limit, zones[1])
            wanted = [number for number in range(12) if number % 3 == 1 and number >= offset]
            assert [(r.offset, r.zone, r.value) for r in found] == [
                (number, zones[1], bytes([number])) for number in wanted[:limit]
            ]
        assert ledger.read(CHANGES, partition, 0, 100, "nobody") == []

    @pytest.mark.parametrize("zone", [None, "z"])
    def test_reading_beyond_the_end_says_what_is_missing(
        self, ledger: Ledger, zone: str | None
    ) -> None:
        ledger.publish("z", [draft("a"), draft("b")])
        partition = partition_of("z")
        assert ledger.read(EVENTS, partition, 2, 5, zone) == []
        with pytest.raises(LedgerGap, match=rf"events/{partition}\b.*\b2\b.*\b3\b"):
            ledger.read(EVENTS, partition, 3, 5, zone)

    def test_a_topic_or_partition_that_there_is_not_is_refused(self, ledger: Ledger) -> None:
        with pytest.raises(ValueError, match="gossip"):
            ledger.read("gossip", 0, 0, 1)
        with pytest.raises(ValueError, match="gossip"):
            ledger.append("gossip", "z", [b"x"])
        for partition in (-1, PARTITIONS):
            with pytest.raises(ValueError, match="partition"):
                ledger.read(EVENTS, partition, 0, 1)

    # Waiting

    def test_waiting_ends_at_once_where_there_is_something_already(self, ledger: Ledger) -> None:
        ledger.publish("z", [draft("a")])
        started = time.monotonic()
        assert ledger.wait({(EVENTS, partition_of("z")): 0}, 60)
        assert time.monotonic() - started < 30

    def test_waiting_in_vain_ends_with_the_timeout(self, ledger: Ledger) -> None:
        ledger.publish("z", [draft("a")])
        started = time.monotonic()
        assert not ledger.wait({(EVENTS, partition_of("z")): 1, (CHANGES, 0): 0}, 0.1)
        assert 0.1 <= time.monotonic() - started < 30

    def test_waiting_ends_once_it_is_stopped(self, ledger: Ledger) -> None:
        stopped = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ledger.wait, {(EVENTS, 0): 0}, 3_600, stopped)
            stopped.set()
            assert not waiting.result(30)

    def test_an_append_elsewhere_is_not_what_was_waited_for(self, ledger: Ledger) -> None:
        place = (EVENTS, partition_of("z"))
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ledger.wait, {place: 0}, 0.3)
            ledger.publish(apart("z"), [draft("a")])
            ledger.append(CHANGES, "z", [b"x"])
            assert not waiting.result(30)

    @pytest.mark.parametrize("through", ["the same handle", "another handle"])
    def test_an_append_of_this_process_wakes_who_waits(
        self, ledger: Ledger, opener: Opener, through: str
    ) -> None:
        partition = partition_of("z")
        woken: list[float] = []

        def wait() -> None:
            assert ledger.wait({(EVENTS, partition): 0, (CHANGES, partition): 0}, 60)
            woken.append(time.monotonic())

        with closing(opener()) as other:
            writer = ledger if through == "the same handle" else other
            waiting = threading.Thread(target=wait)
            waiting.start()
            time.sleep(0.1)
            assert not woken
            writer.append(CHANGES, "z", [b"x"])
            appended = time.monotonic()
            waiting.join(60)
        assert woken
        assert woken[0] - appended < 30

    def test_an_append_of_another_process_wakes_who_waits(
        self, ledger: Ledger, opener: Opener
    ) -> None:
        ready, go, answers = SPAWN.Event(), SPAWN.Event(), SPAWN.Queue()
        with process(_publish_when_asked, opener, "z", ready, go, answers):
            assert ready.wait(60)
            go.set()
            assert ledger.wait({(EVENTS, partition_of("z")): 0}, 60)
            woken = time.monotonic()
            # Both clocks count from the start of the machine.
            assert woken - answers.get(timeout=60) < 30
        assert ids(Reader(ledger).zone("z")) == ["from-afar"]

    # Many at once

    def test_threads_may_share_a_handle(self, ledger: Ledger) -> None:
        def publish(worker: int) -> list[str]:
            drafts = [draft(f"{worker}-{n}") for n in range(10)] + [
                draft(f"s-{n}") for n in range(10)
            ]
            return [ledger.publish("z", [one])[0].status for one in drafts]

        with ThreadPoolExecutor(4) as pool:
            statuses = Counter(status for found in pool.map(publish, range(4)) for status in found)
        assert statuses == {"new": 50, "duplicate": 30}
        assert len(set(ids(Reader(ledger).zone("z")))) == 50

    def test_processes_that_append_at_once_lose_and_double_nothing(self, opener: Opener) -> None:
        zones = [*neighbours(3), apart(neighbours(1)[0])]
        shared, writers = 100, ("one", "two", "three")
        start, answers = SPAWN.Barrier(len(writers)), SPAWN.Queue()
        started = [
            SPAWN.Process(target=_publish_many, args=(opener, zones, own, shared, start, answers))
            for own in writers
        ]
        for one in started:
            one.start()
        done = [item for _ in started for item in answers.get(timeout=120)]
        for one in started:
            one.join(30)
        assert [one.exitcode for one in started] == [0, 0, 0]
        assert len(done) == 600
        with closing(opener()) as ledger:
            held = Reader(ledger).everything()
        assert sorted(held) == sorted(zones)
        place = {
            (zone, id_): number
            for zone, events in held.items()
            for number, id_ in enumerate(ids(events), 1)
        }
        assert len(place) == sum(map(len, held.values())) == 400
        new = Counter((zone, id_) for zone, id_, status, _ in done if status == "new")
        assert set(new) == set(place)
        assert set(new.values()) == {1}
        assert Counter(status for _, _, status, _ in done) == {"new": 400, "duplicate": 200}
        # A receipt names the event that holds the draft, whoever published it.
        assert all(place[zone, id_] == number for zone, id_, _, number in done)

    @pytest.mark.parametrize("failpoint", KILLS)
    def test_a_killed_appender_loses_and_doubles_nothing(
        self, opener: Opener, failpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        notes = tmp_path / "acknowledged"
        with monkeypatch.context() as patch:
            patch.setenv("RECOLLECT_FAILPOINT", f"{failpoint}:3")
            with process(_publish_until_killed, opener, "z", 5, notes) as killed:
                pass
        assert killed.exitcode == -signal.SIGKILL
        assert notes.read_text().split() == ["0", "1"]
        there = 3 if self.KILLS[failpoint] else 2
        wanted = [f"{name}-{number}" for number in range(5) for name in "mn"]
        with closing(opener()) as ledger:
            assert ids(Reader(ledger).zone("z")) == wanted[: 2 * there]
            receipts = ledger.publish("z", [draft(id_) for id_ in wanted])
            assert [r.status for r in receipts] == ["duplicate"] * 2 * there + ["new"] * (
                10 - 2 * there
            )
            assert ids(Reader(ledger).zone("z")) == wanted
