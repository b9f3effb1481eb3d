"""Many versions of one message or memory: what each names, and how much work reading them takes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import Recollect
from recollect.integrations.facade_kit import group_versions
from recollect.library.library_zone import Zone
from recollect.projections.events import event_list
from recollect.projections.memory import stored_memory_queries
from recollect.schemas.wire import Memory, MemoryRevision

BASE: dict[str, Any] = {"platform": "chat", "sender_id": "u1"}


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        yield recollect.zone("ada")


def edited(message: str, count: int) -> list[dict[str, Any]]:
    """Return a message and `count` edits of it, a second apart."""
    said = BASE | {"id": message, "occurred_at": "2026-03-01T10:00:00Z", "content": "Tea 0."}
    edits = [
        BASE
        | {"id": f"{message}:{n}", "kind": "edit", "target": message, "content": f"Tea {n}."}
        | {"occurred_at": f"2026-03-01T10:{n // 60:02d}:{n % 60:02d}Z"}
        for n in range(1, count + 1)
    ]
    return [said, *edits]


def steps(connection: apsw.Connection, call: Callable[[], object]) -> int:
    """Return the number of steps of SQLite's virtual machine that a call takes."""
    count = 0

    def note() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(note, 1)
    try:
        call()
    finally:
        connection.set_progress_handler(None)
    return count


def test_a_message_names_all_its_edits_and_an_edit_the_newest(zone: Zone) -> None:
    zone.ingest(edited("m1", 6))
    listed = zone.list_memories("events").memories
    of = {one.text: [change.text for change in one.superseded_by] for one in listed}
    assert of == {
        "Tea 0.": [f"Tea {n}." for n in range(6, 0, -1)],
        **{f"Tea {n}.": ["Tea 6."] for n in range(1, 6)},
        "Tea 6.": [],
    }
    assert [one.current for one in listed] == [True] + [False] * 6


def test_a_deletion_replaces_every_version(zone: Zone) -> None:
    deletion = BASE | {"id": "d", "kind": "deletion", "target": "m1", "content": ""}
    zone.ingest([*edited("m1", 2), deletion | {"occurred_at": "2026-03-01T11:00:00Z"}])
    of = {
        one.text: [change.text for change in one.superseded_by]
        for one in zone.list_memories("events").memories
    }
    assert of == {
        "Tea 0.": ["(deleted)", "Tea 2.", "Tea 1."],
        "Tea 1.": ["(deleted)", "Tea 2."],
        "Tea 2.": ["(deleted)"],
    }


def test_replacements_of_a_message_are_read_once(zone: Zone) -> None:
    for message, count in (("few", 20), ("more", 40), ("most", 80)):
        zone.ingest(edited(message, count), wait=False)
    listed = zone.list_memories("events", limit=1_000).memories
    with zone._zone.files() as files, files.read_transaction():
        connection = files.events.connection
        few, more, most = (
            steps(connection, lambda ids=ids: event_list.replacements(connection, ids))  # type: ignore[misc]
            for ids in (
                [one.id for one in listed if one.source_event_ids[0].startswith(message)]
                for message in ("few", "more", "most")
            )
        )
    # Twice as many versions take twice as many steps; if each read all others, four times.
    assert most - more < 2.5 * (more - few), (few, more, most)


def test_the_newest_version_is_found_without_the_others(zone: Zone) -> None:
    first = zone.remember("Ada drinks tea number 0.").event_id
    counts = {}
    for number in range(1, 13):
        newest = zone.update_memory(first, f"Ada drinks tea number {number}.").id
        with zone._zone.files() as files, files.read_transaction():
            memory = files.memory.connection

            def find(memory: apsw.Connection = memory) -> object:
                return stored_memory_queries.newest_version(memory, first)

            found = find()
            counts[number] = steps(memory, find)
        assert getattr(found, "id", None) == newest
    assert counts[12] == counts[3]


def as_listed(message: list[str], shown: list[str]) -> list[Memory]:
    """Return the versions of a message that are shown, as a list of events has them.

    `message`: the ids of its versions, oldest first.
    """
    first, *edits = message
    return [
        Memory(
            id=id_,
            type="event",
            text=id_,
            as_of="2026-03-01T10:00:00.000Z",
            current=id_ == message[-1],
            superseded_by=[
                MemoryRevision(id=edit, text=edit, at="2026-03-01T10:00:00.000Z")
                for edit in (edits[::-1] if id_ == first else edits[-1:])
                if edit != id_
            ],
        )
        for id_ in shown
    ]


def test_versions_of_a_message_are_grouped_in_order_whatever_is_shown() -> None:
    """All versions are at one time, and their ids say nothing of their order."""
    rng = random.Random(3)
    for _ in range(300):
        ids = rng.sample([f"e{n}" for n in range(40)], 24)
        messages = [ids[start : start + size] for start, size in ((0, 1), (1, 2), (3, 7), (10, 14))]
        events = [event for message in messages for event in as_listed(message, message)]
        rng.shuffle(events)
        groups = [[version.id for version in group] for group in group_versions(events)]
        assert sorted(groups) == sorted(messages)


def test_versions_are_grouped_without_the_message_itself() -> None:
    message = ["m", "a", "b", "c", "d"]
    for shown in (["a", "c"], ["b", "d"], ["c", "a", "b", "d"]):
        (group,) = group_versions(as_listed(message, shown))
        assert {version.id for version in group} == set(shown)
        assert group[-1].id == "d" or "d" not in shown


def test_a_replacement_comes_after_the_versions_that_it_replaces_whatever_their_times() -> None:
    """The list of changes of a message is by time, and the edit has a time of the future."""

    def shown(id_: str, *superseded_by: str) -> Memory:
        changes = [MemoryRevision(id=each, text=each, at="") for each in superseded_by]
        return Memory(id=id_, type="event", text=id_, as_of="", superseded_by=changes)

    events = [shown("m", "edit", "other"), shown("edit", "other"), shown("other")]
    for order in itertools.permutations(events):
        groups = [[version.id for version in group] for group in group_versions(order)]
        assert groups == [["m", "edit", "other"]]


def test_an_edit_takes_as_many_queries_however_many_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed = 0

    def count(connection: apsw.Connection) -> None:
        def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
            nonlocal executed
            executed += 1
            return True

        connection.exec_trace = note

    def versions() -> Iterator[dict[str, Any]]:
        for number, event in enumerate(edited("m1", 40)):
            town = ("Porto", "Bergen", "Lyon", "Graz")[number % 4]
            text = f"I live in {town}, house {number}. If it rains, I stay. Call me A{number}."
            yield event | {"content": text, "sender_name": "Ada", "direction": "in"}

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, count])
    counts = []
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        for event in versions():
            before = executed
            zone.ingest([event])
            counts.append(executed - before)
        assert zone.dead_letters() == []
        facts = [fact.text for fact in zone.facts()]
        assert "Ada lives in Porto, house 40." in facts
        assert not any(f"A{number}." in fact for fact in facts for number in range(40))
        assert len(zone.facts(superseded=True)) > 40
    assert max(counts[20:]) <= max(counts[5:12]) + 9, counts
