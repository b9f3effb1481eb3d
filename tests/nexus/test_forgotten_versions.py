"""What the ledger still shows of a version of a memory that is forgotten, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect import Recollect
from recollect.library.library_zone import Zone
from recollect.operations.ingestion import ingesting
from recollect.projections.sqlite import connect
from recollect.schemas.changes import DecidedPart
from recollect.schemas.events import Event
from recollect.schemas.ledger.records import read_change, read_event, unseal_part
from recollect.schemas.ledger.seal import unseal
from recollect.schemas.wire import MemoryInput
from recollect.streams.agents.memories.memory_keeper import MemoryKeeper
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from tests.opened import payload_of, sections_of

ZONE = "acme"


@contextmanager
def opened(home: Path) -> Iterator[Zone]:
    with Recollect(home, encoder="none") as recollect:
        yield recollect.zone(ZONE)


def store(zone: Zone, content: str, key: str) -> str:
    memory = MemoryInput(content=content, namespace="/ada", path_key=key)
    (receipt,) = zone.store_memories([memory])
    return receipt.event_id


def told(zone: Zone) -> list[tuple[str, int, str, str]]:
    found = zone.query_memories(state="any", superseded=True)
    return [(each.memory_id, each.version, each.state, each.content) for each in found]


def readable_rows(home: Path) -> dict[int, bytes]:
    """Return the rows that each change record still shows, without the keys of deleted ones."""
    ledger = EmbeddedLedger(home)
    found: dict[int, bytes] = {}
    try:
        for each in ledger.read(CHANGES, partition_of(ZONE), 0, 1_000_000, ZONE):
            header, record = read_change(each.value)
            for part in record.parts:
                keys = ledger.keys.get([source.key_id for source in part.sources])
                text = unseal_part(record, part, keys)
                if text is not None:
                    puts = [rows for _, rows in msgspec.msgpack.decode(sections_of(text)).values()]
                    found[header.number] = found.get(header.number, b"") + msgspec.msgpack.encode(
                        puts
                    )
    finally:
        ledger.close()
    return found


def records_showing(home: Path, *words: str) -> list[int]:
    rows = readable_rows(home).items()
    return [number for number, text in rows if any(word.encode() in text for word in words)]


def traces_of(home: Path, id_: str) -> list[str]:
    """Return what the files say of a version: its id, the hash of its place, its facts' ids."""
    (file,) = home.glob("zones/*/*/memory.db")
    found = connect(file, readonly=True).execute(
        "SELECT place FROM memory_versions WHERE id = ?1 "
        "UNION ALL SELECT id FROM facts WHERE source_event_id = ?1",
        (id_,),
    )
    return [id_, *(str(value) for (value,) in found)]


def test_no_record_shows_a_forgotten_memory_whose_state_was_set(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home) as zone:
        gone = store(zone, "Ada lives in Turin.", "home")
        kept = store(zone, "Ada works at Rivet.", "work")
        zone.set_memory_state([gone, kept], "inactive")
        zone.archive_memories([gone, kept])
        zone.set_memory_state([gone, kept], "active")
    traces = traces_of(home, gone)
    assert len(traces) == 3
    assert all(records_showing(home, trace) for trace in traces)
    with opened(home) as zone:
        zone.forget(gone)
        assert zone.stored_memory(kept).state == "active"
        assert zone.verify().ok
    assert not records_showing(home, *traces)
    assert {2, 3, 4} <= set(records_showing(home, kept))


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_no_record_shows_a_forgotten_version_that_another_replaced(
    tmp_path: Path, gone: int
) -> None:
    home = tmp_path / "home"
    texts = ["Ada lives in Turin.", "Ada lives in Oslo.", "Ada lives in Rome."]
    with opened(home) as zone:
        ids = [store(zone, text, "home") for text in texts]
    assert len(records_showing(home, ids[gone])) == 3 - gone
    with opened(home) as zone:
        zone.forget(ids[gone])
        assert zone.verify().ok
    assert not records_showing(home, ids[gone])


def seal_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have rows about versions sealed with the key of the deciding event alone, as once."""
    for name in ("resolve", "derive"):
        decide = getattr(MemoryKeeper, name)

        def decide_then(
            keeper: MemoryKeeper, event: Event, *found: Any, decide: Any = decide
        ) -> list[DecidedPart]:
            parts = decide(keeper, event, *found)
            return [DecidedPart((event.number,), [row for part in parts for row in part.puts])]

        monkeypatch.setattr(MemoryKeeper, name, decide_then)


def test_a_ledger_sealed_as_before_is_read_rebuilt_and_forgotten_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with monkeypatch.context() as then, opened(home) as zone:
        seal_as_before(then)
        gone = store(zone, "Ada lives in Turin.", "home")
        new = store(zone, "Ada lives in Oslo.", "home")
        kept = store(zone, "Ada works at Rivet.", "work")
        zone.set_memory_state([new, kept], "inactive")
    traces = traces_of(home, gone)
    with opened(home) as zone:
        assert zone.stored_memory(new).supersedes_id == gone
        assert zone.verify().ok
        zone.forget(gone)
        assert zone.verify().ok
        after = told(zone)
        assert len(after) == 2
        # Sealed with keys that are still there, the old records show the ids until they go.
        assert records_showing(home, traces[0])
        for level in ("project", "derive"):
            zone.rebuild(level)
            assert told(zone) == after
            assert zone.verify().ok


def commands_naming(home: Path, *ids: str) -> list[tuple[int, str]]:
    """Return the (number, kind) of each event whose content the remaining keys still show."""
    ledger = EmbeddedLedger(home)
    found = []
    try:
        for each in ledger.read(EVENTS, partition_of(ZONE), 0, 1_000_000, ZONE):
            envelope, sealed = read_event(each.value)
            key = ledger.keys.get([envelope.key_id]).get(envelope.key_id)
            if key is not None:
                text = payload_of(unseal(key, sealed.sealed, sealed.envelope))
                if any(id_.encode() in text for id_ in ids):
                    found.append((envelope.number, envelope.kind))
    finally:
        ledger.close()
    return found


def test_no_command_names_forgotten_memories_alone(tmp_path: Path) -> None:
    """Trace: a memory's id follows from its text, so whoever guesses the text finds the id."""
    home = tmp_path / "home"
    with opened(home) as zone:
        inputs = [
            MemoryInput(content=f"Ada has {number} roses.", namespace=namespace)
            for number, namespace in enumerate(["/ada", "/ada", "/ada", "/bruno"])
        ]
        ids = [receipt.event_id for receipt in zone.store_memories(inputs)]
        first, second, third, kept = ids
        zone.set_memory_state([first], "inactive")
        zone.set_memory_state([first], "active")
        zone.archive_memories([first, second])
        zone.archive_memories([first, second], restore=True)
        zone.set_memory_state([second, kept], "inactive")
        zone.set_memory_state([second, kept], "active")
        (level,) = zone.consolidate_memories(namespace="/ada", method="criteria")
        zone.set_memory_state(level.memory_ids, "inactive")
        zone.retract(third)
    commands = commands_naming(home, *ids, *level.memory_ids)
    assert len(commands) == 9
    with opened(home) as zone:
        zone.forget(first)
        assert zone.verify().ok
    alone = [(5, "set_memory_state"), (6, "set_memory_state")]
    assert commands_naming(home, *ids, *level.memory_ids) == sorted({*commands} - {*alone})
    with opened(home) as zone:
        zone.forget(second, third)
        assert zone.verify().ok
        assert zone.stored_memory(kept).state == "active"
    # A command that names another memory too keeps its ids as long as that memory.
    shared = [(9, "set_memory_state"), (10, "set_memory_state")]
    assert commands_naming(home, first, second, third, *level.memory_ids) == shared
    with opened(home) as zone:
        zone.forget(kept)
        assert zone.verify().ok
    assert commands_naming(home, *ids, *level.memory_ids) == []


def test_only_the_id_of_a_memory_with_a_time_follows_from_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands keep ids of forgotten memories, with which guesses could be confirmed."""
    now = 1_900_000_000_000
    monkeypatch.setattr(ingesting, "unix_ms", lambda: now)
    ids: list[list[str]] = []
    for name in ("one", "other"):
        with opened(tmp_path / name) as zone:
            of_home = [zone.remember("Ada has a sore back.").event_id]
            for at in (None, now):
                of_home += [
                    receipt.event_id
                    for receipt in zone.store_memories(
                        [
                            MemoryInput(content="Ada has a sore knee.", at=at),
                            MemoryInput(content="Ada has a sore foot.", namespace="/ada", at=at),
                        ]
                    )
                ]
            ids.append(of_home)
    one, other = ids
    same = [id_ == again for id_, again in zip(one, other, strict=True)]
    assert same == [False, False, False, True, True]
    assert {id_[:10] for id_ in (*one, *other)} == {one[0][:10]}
