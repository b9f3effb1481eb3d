"""The change reader: records that were changed, forged, doubled or put elsewhere in a ledger."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st

from projections.recall import Query
from recollect.client import Memory
from recollect.home import Home
from schemas.errors import RecollectError
from schemas.fragments import split
from schemas.records import read_change, record_hash, write_change
from schemas.zones import DEFAULT_ZONE
from streams.ledger import CHANGES, partition_of
from streams.reading import EventReader
from tests.fuzz.target import Check, Target
from tests.fuzz.values import damaged, reshaped
from tests.recall.kit import say, tell

_SAID = {
    "one": "I keep a Zugmilan.",
    "two": "I keep a Brindlewick.",
    "three": "I keep a Quillfeather. I sold it, because it rained.",
}
_LATE = {"late": "I keep a Halcyon.", "later": "I keep an Osprey."}


class Act(NamedTuple):
    """What is appended: a record of the chain, changed; `how` says what was done to it."""

    how: str
    which: int
    damage: Any


def _made(directory: Path) -> list[bytes]:
    """Make a home whose last two events are not concluded; return its change records."""
    home = Home.make(directory, without_encoder=True)
    with Memory(home) as memory:
        tell(memory, [say(text, id_) for id_, text in _SAID.items()])
        memory.create_mental_model("Birds", "Ada keeps birds")
        memory.forget("three")
        memory.publish([say(text, id_) for id_, text in _LATE.items()])
        records = memory.node.ledger.read(CHANGES, partition_of(DEFAULT_ZONE), 0, 1_000)
        return [record.value for record in records]


def _forged(memory: Memory, act: Act, last: bytes, draw: st.DataObject) -> bytes:
    """Return a record that goes on where the chain ends, for the next event, with its key."""
    opened = EventReader(memory.node.ledger, DEFAULT_ZONE).read(1_000)
    header, _ = read_change(last)
    event = opened[header.number]
    changed = msgspec.structs.replace(
        header,
        number=header.number + 1,
        previous=record_hash(last),
        event_hash=event.hash,
        event_offset=event.offset,
        erases=(),
        asks=0,
    )
    assert event.key is not None
    text = msgspec.msgpack.encode(
        draw.draw(reshaped({"memory": [[], []], "identity": [[], []], "outbox": []}))
    )
    return write_change(changed, [((event.source,), text)], {event.source.key_id: event.key})


@contextmanager
def _reader(room: Path) -> Iterator[Check]:
    template = room / "template"
    if template.exists():
        shutil.rmtree(template)
    records = _made(template)

    def appended(memory: Memory, act: Act, draw: st.DataObject) -> list[bytes]:
        record = records[act.which % len(records)]
        if act.how == "again":
            return [record]
        if act.how == "damaged":
            return [draw.draw(damaged(st.just(record)))]
        if act.how == "reshaped":
            return [msgspec.msgpack.encode(draw.draw(reshaped(msgspec.msgpack.decode(record))))]
        if act.how == "in pieces":
            return list(draw.draw(st.permutations(split(record, max(len(record) // 3, 1)))))
        return [_forged(memory, act, records[-1], draw)]

    def check(case: tuple[list[Act], st.DataObject]) -> None:
        """What was accepted is answered all the while, and verify says what is wrong, if any."""
        acts, draw = case
        with tempfile.TemporaryDirectory(dir=room) as directory:
            path = Path(directory) / "home"
            shutil.copytree(template, path)
            with Memory(path) as memory:
                values = [value for act in acts for value in appended(memory, act, draw)]
                memory.node.ledger.append(CHANGES, DEFAULT_ZONE, values)
            with Memory(path) as memory:
                stands_still = _refused(memory.drive)
                _all_are_recalled(memory)
                for looks in (memory.status, memory.dead_letters):
                    _refused(looks)
            with Memory(path) as memory:
                _all_are_recalled(memory)
                if not stands_still:
                    assert memory.status().lag == 0
                whole = not _refused(memory.verify) and memory.verify().ok
                assert not (whole and stands_still), "verify says whole, and the zone stands still"
                if whole:
                    memory.rebuild("project")
                    _all_are_recalled(memory)

    yield check


def _refused(call: Any) -> bool:
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
            for result in memory.recall(Query(text=name, scope=("events",))).results
            for source in result.source_event_ids
        ]
        assert (id_ in cited) == (id_ != "three"), f"{id_}: {cited}"


_acts = st.builds(
    Act,
    st.sampled_from(["again", "damaged", "reshaped", "in pieces", "forged"]),
    st.integers(0, 9),
    st.none(),
)
CHANGE_READER = Target(
    "changes", st.tuples(st.lists(_acts, min_size=1, max_size=4), st.data()), _reader
)
