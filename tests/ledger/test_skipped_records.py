"""A record that is none of recollect's stops its zone until a command passes over it (fault 27)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.home.home_directory import Home
from recollect.streams.ledger import CHANGES, EVENTS
from tests.cli.kit import Shell, said
from tests.memory import Memory
from tests.writing.test_writing import held


def garbled(room: Path, topic: str, value: bytes = b"garbage") -> tuple[Shell, int]:
    """Return a shell whose home has a record that is none in a topic, and its offset."""
    shell = Shell(room)
    assert shell("init", "--encoder", "none").status == 0
    shell.ingest(said("m-1", "I live in Oslo."), said("m-2", "My sister Ann is a nurse."))
    with Memory(room / "home") as memory:
        offset = memory.node.ledger.end(topic, memory._zone.partition)
        memory.node.ledger.append(topic, memory.zone, [value])
    return shell, offset


@pytest.mark.parametrize("topic", [EVENTS, CHANGES])
def test_a_zone_goes_on_behind_a_record_that_is_passed_over(tmp_path: Path, topic: str) -> None:
    shell, offset = garbled(tmp_path, topic)
    (tmp_path / "more.jsonl").write_text(json.dumps(said("m-3", "I like rye bread.")))
    assert f"offset {offset}" in shell("ingest", "more.jsonl").err
    assert f"offset {offset}" in shell("verify").err
    assert "rye" not in shell("facts").out
    done = shell("skip", topic, str(offset), "--json")
    assert done.status == 0, done.err
    assert "rye" in shell("facts").out
    assert "rye" in shell("recall", "rye bread").out
    assert shell("verify").status == 0
    with Memory(tmp_path / "home") as memory:
        before = held(memory)
        for level in ("project", "derive"):
            memory.rebuild(level)
            assert held(memory) == before
            assert memory.verify().ok
        memory.forget("m-2")
        assert memory.verify().ok
    again = shell("skip", topic, str(offset))
    assert again.status == 2
    assert "the blocking records are: none" in again.err


def test_a_record_that_can_be_read_is_not_passed_over(tmp_path: Path) -> None:
    shell, offset = garbled(tmp_path, EVENTS)
    for place in (0, offset + 5):
        refused = shell("skip", EVENTS, str(place))
        assert refused.status == 2
        assert f"the blocking records are: events {offset}" in refused.err


def test_only_the_bytes_that_were_named_are_passed_over(tmp_path: Path) -> None:
    shell, offset = garbled(tmp_path, EVENTS)
    assert shell("skip", EVENTS, str(offset)).status == 0
    import apsw

    with apsw.Connection(str(tmp_path / "home" / "ledger.db")) as connection:
        connection.execute("UPDATE events SET value = ? WHERE value = ?", (b"other", b"garbage"))
    assert Home.exists_at(tmp_path / "home")
    assert f"offset {offset}" in shell("verify").err
