"""The input edge: files of lines, and the records of the inbox."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st

from recollect import Query
from recollect.home.home_directory import Home
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.publishing.inbox import UNADDRESSED_ZONE, InboxRecord, ingest_records
from tests.fuzz.target import Check, Target, command
from tests.fuzz.values import damaged, record_bytes, sound_text
from tests.memory import Memory


def _sentinel(id_: str, content: str) -> bytes:
    event = {"platform": "quill", "sender_id": "S", "occurred_at": 1_778_248_560_000}
    return json.dumps({**event, "id": id_, "content": content}).encode()


# Names that nothing else says, so that each is found by its own.
_BEFORE = _sentinel("before", "I keep a pet Zugmilan.")
_AFTER = _sentinel("after", "I keep a Brindlewick.")


@contextmanager
def _fresh(room: Path) -> Iterator[Path]:
    """A home without an encoder and without a ledger, for one case."""
    template = room / "empty"
    if not template.exists():
        Home.create_or_open(template, without_encoder=True)
    with tempfile.TemporaryDirectory(dir=room) as directory:
        home = Path(directory) / "home"
        shutil.copytree(template, home)
        yield home


def _both_are_recalled(memory: Memory) -> None:
    for id_, name in (("before", "Zugmilan"), ("after", "Brindlewick")):
        results = memory.recall(Query(name)).results
        assert any(id_ in result.source_event_ids for result in results), f"{id_} is lost"


@contextmanager
def _lines(room: Path) -> Iterator[Check]:
    def check(lines: list[bytes]) -> None:
        """What is bad is refused by line, and what is good beside it is recallable."""
        with _fresh(room) as home:
            export = home.parent / "export.jsonl"
            export.write_bytes(b"\n".join([_BEFORE, *lines, _AFTER]))
            said = command(["--home", str(home), "ingest", "--json", str(export)])
            counts = json.loads(said.out)
            assert said.status == 0
            assert counts["read"] == counts["new"] + counts["duplicate"] + counts["rejected"]
            assert len(counts["rejections"]) == counts["rejected"]
            assert all(len(item["reason"]) < 600 for item in counts["rejections"])
            with Memory(home) as memory:
                status = memory.status()
                assert (status.events, status.lag) == (counts["new"], 0)
                assert status.dead_letters == 0, memory.dead_letters()
                _both_are_recalled(memory)
            again = json.loads(command(["--home", str(home), "ingest", "--json", str(export)]).out)
            assert (again["new"], again["rejected"]) == (0, counts["rejected"])

    yield check


_keys = (
    st.just(DEFAULT_ZONE.encode())
    | st.sampled_from([None, b"", b"a", b"..", b"\xff", b"x" * 65])
    | st.binary(max_size=6)
    | sound_text.map(str.encode)
)
_posted = st.builds(
    InboxRecord, _keys, st.none() | record_bytes, st.integers(1_500_000_000_000, 1_800_000_000_000)
)


@contextmanager
def _inbox(room: Path) -> Iterator[Check]:
    def check(records: list[InboxRecord]) -> None:
        """Each record is an event, one that is there, or parked; taken again, it adds nothing."""
        zone = DEFAULT_ZONE.encode()
        at = 1_778_248_560_000
        records = [InboxRecord(zone, _BEFORE, at), *records, InboxRecord(zone, _AFTER, at)]
        with _fresh(room) as home, Memory(home) as memory:
            ledger = memory.node.ledger
            new = ingest_records(ledger, records)
            assert set(ledger.zones()) == new
            assert DEFAULT_ZONE in new
            heads = {name: ledger.head(name) for name in new}
            assert ingest_records(ledger, records) == set()
            assert ingest_records(ledger, records[::-1]) == set()
            assert {name: ledger.head(name) for name in ledger.zones()} == heads
            memory.drive()
            _both_are_recalled(memory)
            parked = sum(len(_letters(memory, name)) for name in new)
            events = sum(head.number for head in heads.values())
            assert events <= len(records)
            assert parked <= len(records) - 2
            if all(record.key == b"\xff" for record in records[1:-1]) and len(records) > 2:
                assert UNADDRESSED_ZONE in new

    yield check


def _letters(memory: Memory, zone: str) -> list[object]:
    with Memory(memory.home, zone) as other:
        other.drive()
        return list(other.dead_letters())


@contextmanager
def _remembered(room: Path) -> Iterator[Check]:
    def check(case: tuple[str, str]) -> None:
        """A text is remembered and recalled as it stands, or refused."""
        text, sender = case
        with _fresh(room) as home:
            for arguments in (["--", text], ["--sender", sender, "--", text]):
                said = command(["--home", str(home), "remember", "--json", *arguments])
                assert said.status in (0, 2)
                if said.status:
                    continue
                with Memory(home) as memory:
                    query = Query(text[:1_000], scope=("events",), max_results=1_000)
                    found = [result.text for result in memory.recall(query).results]
                    assert memory.status().lag == 0
                    assert memory.dead_letters() == []
                    assert text in found or not found

    yield check


LINES = Target(
    "lines",
    st.lists(
        (record_bytes | damaged(st.just(_sentinel("other", "I keep a cat.")))).map(
            lambda line: line.replace(b"\n", b" ")
        ),
        max_size=8,
    ),
    _lines,
)
INBOX = Target("inbox", st.lists(_posted, max_size=6), _inbox)
REMEMBERED = Target(
    "remembered",
    st.tuples(
        sound_text.map(lambda text: text.replace("\0", "")),
        sound_text.map(lambda text: text.replace("\0", "")),
    ),
    _remembered,
)
