"""The readers of the ledger: records that were changed, forged, doubled or put elsewhere."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st

from recollect import Query
from recollect.home.home_directory import Home
from recollect.schemas.errors import RecollectError
from recollect.schemas.ledger.fragments import split
from recollect.schemas.ledger.records import read_change, record_hash, unseal_part, write_change
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.records.chain_readers import EventReader, UnsealedEvent
from tests.fuzz.target import Check, Target
from tests.fuzz.values import damaged, reshaped
from tests.memory import Memory
from tests.opened import part_of, sections_of
from tests.recall.kit import say, tell

_SAID = {
    "one": "I keep a pet Zugmilan.",
    "two": "I keep a pet Brindlewick.",
    "three": "I keep a pet Quillfeather. I sold it, because it rained.",
}
_LATE = {"late": "I keep a pet Halcyon.", "later": "I keep a pet Osprey."}


class Act(NamedTuple):
    """What is appended: the record of the topic at `which`, after what `how` says was done to it.

    "forged": one that goes on where the chain ends, sealed by who has the keys.
    """

    topic: str
    how: str
    which: int


class Written(NamedTuple):
    """The records of a home by topic, what the parts of its changes say, and its events."""

    records: dict[str, list[bytes]]
    texts: list[Any]
    events: list[UnsealedEvent]


def made(directory: Path) -> Written:
    """Make a home whose last two events are not decided."""
    home = Home.create_or_open(directory, without_encoder=True)
    with Memory(home) as memory:
        tell(memory, [say(text, id_) for id_, text in _SAID.items()])
        memory.create_mental_model("Birds", "Ada keeps birds")
        memory.forget("three")
        memory.publish([say(text, id_) for id_, text in _LATE.items()])
        ledger = memory.node.ledger
        records = {
            topic: [each.value for each in ledger.read(topic, _PARTITION, 0, 1_000)]
            for topic in (EVENTS, CHANGES)
        }
        texts = []
        for value in records[CHANGES]:
            _, change = read_change(value)
            for part in change.parts:
                keys = ledger.keys.get([source.key_id for source in part.sources])
                if (text := unseal_part(change, part, keys)) is not None:
                    texts.append(msgspec.msgpack.decode(sections_of(text)))
        events = EventReader(ledger, DEFAULT_ZONE).read(1_000)
        return Written(records, texts, events)


_PARTITION = partition_of(DEFAULT_ZONE)


def forged(written: Written, text: Any) -> bytes:
    """Return a record that goes on where the chain ends, for the next event, with its key.

    `text` is what its part says, as MessagePack has it.
    """
    last = written.records[CHANGES][-1]
    header, _ = read_change(last)
    event = written.events[header.number]
    changed = msgspec.structs.replace(
        header,
        number=header.number + 1,
        previous=record_hash(last),
        event_hash=event.hash,
        event_offset=event.offset,
        erased_events=(),
    )
    assert event.key is not None
    parts = [((event.source,), part_of(msgspec.msgpack.encode(text)))]
    return write_change(changed, parts, {event.source.key_id: event.key})


def _appended(written: Written, act: Act, draw: st.DataObject) -> list[bytes]:
    """Return what an act appends."""
    records = written.records[act.topic]
    record = records[act.which % len(records)]
    if act.how == "damaged":
        return [draw.draw(damaged(st.just(record)))]
    if act.how == "reshaped":
        return [msgspec.msgpack.encode(draw.draw(reshaped(msgspec.msgpack.decode(record))))]
    if act.how == "in pieces" and act.topic == CHANGES:
        return list(draw.draw(st.permutations(split(record, len(record) // 3))))
    if act.how == "forged" and act.topic == CHANGES:
        text = draw.draw(st.sampled_from(written.texts).flatmap(reshaped))
        return [forged(written, text)]
    return [record]


@contextmanager
def _reader(room: Path) -> Iterator[Check]:
    template = room / "template"
    if template.exists():
        shutil.rmtree(template)
    written = made(template)

    def check(case: tuple[list[Act], st.DataObject]) -> None:
        """What was accepted is answered all the while, and verify says what is wrong, if any."""
        acts, draw = case
        changes_only = all(act.topic == CHANGES for act in acts)
        with tempfile.TemporaryDirectory(dir=room) as directory:
            home = Path(directory) / "home"
            shutil.copytree(template, home)
            with Memory(home) as memory:
                for act in acts:
                    values = _appended(written, act, draw)
                    memory.node.ledger.append(act.topic, DEFAULT_ZONE, values)
            with Memory(home) as memory:
                stands_still = _refused(memory.drive)
                asked = _refused(lambda: _all_are_recalled(memory))
                assert not (asked and changes_only), "the change reader stops what asks"
                for looks in (memory.status, memory.dead_letters):
                    _refused(looks)
            with Memory(home) as memory:
                whole = not _refused(lambda: _verified(memory))
                assert not (whole and stands_still), "verify says whole, and the zone stands still"
                if whole:
                    assert memory.status().lag == 0
                    memory.rebuild("project")
                    _all_are_recalled(memory)

    yield check


class _NotWhole(RecollectError):
    pass


def _verified(memory: Memory) -> None:
    if not (found := memory.verify()).ok:
        raise _NotWhole(", ".join(found.problems))


def _refused(call: Callable[[], object]) -> bool:
    """Return whether something cannot be done; only our own errors say so."""
    try:
        call()
    except RecollectError:
        return True
    return False


def _all_are_recalled(memory: Memory) -> None:
    for id_, text in {**_SAID, **_LATE}.items():
        name = text.split(".")[0].rpartition(" ")[2]
        cited = [
            source
            for result in memory.recall(Query(name, scope=("events",))).results
            for source in result.source_event_ids
        ]
        assert (id_ in cited) == (id_ != "three"), f"{id_}: {cited}"


_acts = st.builds(
    Act,
    st.sampled_from([CHANGES, CHANGES, CHANGES, EVENTS]),
    st.sampled_from(["again", "damaged", "reshaped", "in pieces", "forged"]),
    st.integers(0, 9),
)
READERS = Target("readers", st.tuples(st.lists(_acts, min_size=1, max_size=4), st.data()), _reader)
