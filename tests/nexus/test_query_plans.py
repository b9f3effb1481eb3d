"""Queries of tiers, paths and names look up what they need: no scan of all memories or persons."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from recollect import MemoryInput, Recollect, UnknownId
from recollect.library.library_zone import Zone
from recollect.operations.memories.stored import memory_paths
from recollect.projections.identity import entity_queries
from recollect.projections.memory.listing import tier_list
from recollect.projections.memory.listing.stored_memory_list import (
    MemoryFilter,
    MemoryPlace,
    memory_files,
    memory_places,
)
from recollect.projections.sqlite import rows
from recollect.schemas.changes import StoredMemoryVersion
from recollect.schemas.memory_terms import TierLimits

NOW = 1_900_000_000_000


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    with Recollect(tmp_path_factory.mktemp("plans") / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        zone.store_memories([MemoryInput(content=f"Number {n}.", user_id="ada") for n in range(9)])
        yield zone


@pytest.fixture
def memory(zone: Zone) -> Iterator[apsw.Connection]:
    with zone._zone.files() as files, files.read_transaction():
        yield files.memory.connection


def plans(connection: apsw.Connection, call: Callable[[], object]) -> list[str]:
    """Return the steps of the plans of all statements that a call executes."""
    statements: list[tuple[str, Any]] = []

    def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        statements.append((sql, bindings))
        return True

    connection.exec_trace = note
    try:
        call()
    finally:
        connection.exec_trace = None
    return [
        str(step)
        for sql, bindings in statements
        for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings).fetchall()
    ]


def scans(steps: list[str]) -> list[str]:
    """Return the steps that read a whole table of memories."""
    of_tables = ("memories", "memory_versions", "archive_states", "version")
    return [step for step in steps if step.startswith("SCAN") and step.split()[1] in of_tables]


def test_what_is_due_is_found_by_index(memory: apsw.Connection) -> None:
    steps = plans(memory, lambda: tier_list.due_memories(memory, NOW, TierLimits(3, 24.0)))
    for condition in (
        "invalid (is_archived=? AND is_current=? AND invalid_at<?)",
        "stability (is_archived=? AND is_current=? AND temporal_stability=? AND created_at<?)",
        "stored (is_archived=? AND is_current=? AND created_at<?)",
    ):
        assert any(step.endswith(f"INDEX idx_archive_states_{condition}") for step in steps), steps
    # Those that are not older are only counted, for each circle of readers.
    newer = "idx_memories_readers (reader_user=? AND reader_agent=? AND created_at>?)"
    assert any(step.endswith(newer) for step in steps), steps
    # Only the newest five are read in order.
    assert scans(steps) == ["SCAN memories USING COVERING INDEX idx_memories_created"]


def test_the_tiers_are_counted_by_index(memory: apsw.Connection) -> None:
    steps = plans(memory, lambda: tier_list.tier_counts(memory, []))
    assert sum("SEARCH archive_states USING COVERING INDEX" in step for step in steps) == 4
    assert not scans(steps)


@pytest.mark.parametrize("tier", ["main", "recall", "archival"])
def test_the_memories_of_a_tier_are_found_by_index(memory: apsw.Connection, tier: Any) -> None:
    steps = plans(memory, lambda: tier_list.numbers_in(memory, tier, []))
    assert any(step.startswith("SEARCH archive_states USING") for step in steps)
    assert not scans(steps)


def _all_files(memory: apsw.Connection, chosen: MemoryFilter) -> None:
    list(memory_files(memory, chosen, (NOW, 5)))


def test_a_page_of_files_begins_after_the_last_one(memory: apsw.Connection) -> None:
    homes = [MemoryPlace("ada", None, None)]
    for chosen in (MemoryFilter(state="active"), MemoryFilter(state="active", places=homes)):
        steps = plans(memory, partial(_all_files, memory, chosen))
        assert any(
            step.endswith(
                (
                    "idx_memories_created ((created_at,number)<(?,?))",
                    "idx_memories_place (user_id=? AND agent_id=? AND namespace=?)",
                )
            )
            for step in steps
        ), steps
        assert not scans(steps)


@pytest.mark.parametrize("call", [memory_places, partial(memory_files, after=None)])
def test_a_memory_at_a_path_is_found_by_its_name(
    memory: apsw.Connection, call: Callable[[apsw.Connection, MemoryFilter], Iterable[object]]
) -> None:
    chosen = MemoryFilter(
        name="drink", user_id="ada", state="active", superseded=False, invalid_by=NOW
    )
    steps = plans(memory, lambda: list(call(memory, chosen)))
    for index in ("path_key (path_key=?)", "memory (memory_id=?)"):
        assert any(step.endswith(f"_{index}") for step in steps), steps
    assert not scans(steps)
    assert not any("idx_memories_user" in step for step in steps), steps


def test_all_files_below_a_directory_come_in_pages(
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list(memory_paths.below(zone._zone, "/memory/by-user"))
    assert [path for path, _ in whole] == [f"/memory/by-user/ada/{id_}" for _, id_ in whole]
    assert [id_ for _, id_ in whole] == [each.memory_id for each in zone.query_memories()]
    for size in (1, 4, 9, 10):
        monkeypatch.setattr(memory_paths, "_PAGE", size)
        assert list(memory_paths.below(zone._zone, "/memory/by-user")) == whole
    with pytest.raises(UnknownId):
        list(memory_paths.below(zone._zone, "/memory/by-user/bob"))


def test_archive_states_follow_every_change(tmp_path: Path) -> None:
    """After each of many random commands, the table says what its view computes."""
    rng = random.Random(7)
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        ids: list[str] = []
        for step in range(60):
            chosen = rng.sample(ids, min(len(ids), 3))
            what = rng.choice(["store", "store", "state", "archive", "restore", "merge", "forget"])
            if what == "store" or len(ids) < 4:
                memory = MemoryInput(
                    content=f"Ada planted rose number {step}.",
                    namespace=rng.choice(["garden", "archival/garden"]),
                    path_key=f"rose-{step % 12}",
                )
                ids += [receipt.event_id for receipt in zone.store_memories([memory])]
            elif what == "state":
                zone.set_memory_state(chosen, rng.choice(["active", "inactive", "deleted"]))
            elif what in ("archive", "restore"):
                zone.archive_memories(chosen, restore=what == "restore")
            elif what == "merge":
                made = zone.consolidate_memories(namespace="garden", method="criteria")
                ids += [id_ for level in made for id_ in level.memory_ids]
            else:
                zone.forget(chosen[0])
                ids.remove(chosen[0])
            with zone._zone.files() as files:
                kept, computed = (
                    files.memory.connection.execute(f"SELECT * FROM {name} ORDER BY id").fetchall()
                    for name in ("archive_states", "current_archive_states")
                )
                assert kept == computed, (step, what)
        assert {row[-1] for row in kept} == {0, 1}


def test_persons_are_found_by_name_and_not_among_all_persons(zone: Zone) -> None:
    with zone._zone.files() as files, files.read_transaction():
        identity = files.identity.connection
        for query in (
            lambda: entity_queries.persons_with_first_name(identity, "ada"),
            lambda: entity_queries.persons_with_prefix(identity, "ad", 100),
        ):
            (step, *_) = plans(identity, query)
            assert "idx_entities_normalized (normalized>? AND normalized<?)" in step


def test_a_new_value_costs_as_many_queries_as_the_first_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trace: for each former home of Ada a query for its end, and one for its repetitions."""
    executed: Counter[str] = Counter()

    def count(connection: apsw.Connection) -> None:
        def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
            executed[sql] += 1
            return True

        connection.exec_trace = note

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, count])
    towns = ["Porto", "Utrecht", "Bergen", "Lyon", "Graz", "Tartu", "Turin", "Oslo", "Rome", "Bonn"]
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        counts = []
        for day, town in enumerate(towns * 3):
            before = executed.total()
            memory = MemoryInput(content=f"Ada lives in {town}.", at=NOW + day * 86_400_000)
            zone.store_memories([memory])
            counts.append(executed.total() - before)
        with zone._zone.files() as files:
            claims = rows(files.memory.connection, "SELECT count(*) FROM fact_claims")
    assert claims == [(len(counts),)]
    assert counts[-1] <= counts[9] + 9, counts


def test_what_is_due_for_its_age_depends_on_its_readers(zone: Zone) -> None:
    """The rows of random memories, ranked in Python among those with the same readers."""
    rng = random.Random(5)
    day, limits = 86_400_000, TierLimits(3, 24.0)
    due: dict[str, tuple[int, int]] = {}
    with zone._zone.files() as files:
        memory = files.memory.connection
        memory.execute("SAVEPOINT made")
        memory.execute("DELETE FROM memories")
        for circle in [("ada", None), ("bob", None), ("bob", "a"), (None, None)]:
            uses = []
            for _ in range(rng.randrange(4, 12)):
                id_, number = f"M{rng.getrandbits(60)}", rng.randrange(10**6)
                stored = NOW - rng.randrange(3 * day)
                _insert_memory(memory, id_, number, circle, stored)
                used = stored
                if rng.random() < 0.4:
                    used = stored + rng.randrange(2 * day)
                    memory.execute(
                        "INSERT INTO memory_accesses (memory_id, number, count, at) "
                        "VALUES (?, ?, 1, ?)",
                        (id_, number, used),
                    )
                uses.append((used, number, id_))
            for used, number, id_ in sorted(uses, reverse=True)[limits.main_capacity :]:
                if used < NOW - day:
                    due[id_] = used, number
        found = tier_list.due_memories(memory, NOW, limits)["age"]
        memory.execute("ROLLBACK TO made")
        memory.execute("RELEASE made")
    assert due
    assert found == sorted(due, key=due.__getitem__)


def _insert_memory(
    memory: apsw.Connection, id_: str, number: int, circle: tuple[str | None, str | None], at: int
) -> None:
    row = {
        **dict.fromkeys(("namespace", "path_key", "importance", "invalid_at", "user_id")),
        **dict.fromkeys(("agent_id", "earliest_date", "latest_date", "temporal_stability")),
        "id": id_,
        "number": number,
        "memory_type": "fact",
        "scope": "user",
        "visibility": "private",
        "reader_user": circle[0],
        "reader_agent": circle[1],
        "valid_at": at,
        "created_at": at,
        "abstraction_level": 0,
        "derived_from": "[]",
        "enrichments": "[]",
        "stability_confidence": None,
    }
    version = StoredMemoryVersion(id_, id_, 1, 1, "", None, None, None, "active", "")
    for table, values in (
        ("memory_versions", msgspec.structs.asdict(version)),
        ("memories", row),
    ):
        memory.execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        )


def test_an_id_that_does_not_exist_costs_the_same_however_many_memories_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted: the instructions of SQLite's virtual machine."""
    instructions = 0

    def count() -> bool:
        nonlocal instructions
        instructions += 1
        return False

    hooks = [*apsw.connection_hooks, lambda connection: connection.set_progress_handler(count, 1)]
    monkeypatch.setattr(apsw, "connection_hooks", hooks)
    absent = "01KBABSENT0000000000000000"
    calls: dict[str, Callable[[Zone], object]] = {
        "forget": lambda zone: zone.forget_memory(absent),
        "get": lambda zone: zone.get_memory(absent),
        "read": lambda zone: zone.stored_memory(absent, current=True),
        "versions": lambda zone: zone.memory_versions(absent),
        "approve": lambda zone: zone.set_memory_state([absent], "active"),
        "deactivate": lambda zone: zone.set_memory_state([absent], "inactive"),
        "delete": lambda zone: zone.set_memory_state([absent], "deleted"),
        "archive": lambda zone: zone.archive_memories([absent]),
        "update": lambda zone: zone.update_memory(absent, "The rose is red."),
        "retract": lambda zone: zone.retract(absent),
        "roll back": lambda zone: zone.roll_back_memory(absent, 1),
    }
    costs: list[dict[str, int]] = []
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        for start in (0, 20, 220):
            count_ = 200 if start else 20
            zone.store_memories(
                [MemoryInput(content=f"Rose number {start + n}.") for n in range(count_)]
            )
            zone.query_memories(limit=1)
            costs.append({})
            for name, call in calls.items():
                before = instructions
                with contextlib.suppress(UnknownId):
                    call(zone)
                costs[-1][name] = instructions - before
    _, some, many = costs
    assert {name: many[name] for name in calls if many[name] > 1.1 * some[name] + 200} == {}
