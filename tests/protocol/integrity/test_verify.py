"""Verify must be able to fail: whatever is changed by hand, in a file or in the ledger, is found.

One home is built, and copied for every fault.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec
import pytest
import sqlite_vec

from recollect.projections.readmodel import Watermark
from recollect.schemas.events import (
    ActivateChain,
    CreateMentalModel,
    Deletion,
    Draft,
    Drop,
    ProposeMerge,
    RecallCount,
    RecallsCounted,
    RefreshMentalModel,
    RefreshModels,
    Remember,
    Retract,
    StatedAt,
    UndoMerge,
)
from recollect.schemas.ledger.records import ChangeHeader, Part, read_change
from recollect.schemas.wire import RebuildLevel, Verification
from recollect.streams.agents import AGENTS
from recollect.streams.encoder.gateway import AnnotatedText, ReaderHandle
from recollect.streams.language.grammar.text_reading import (
    ReadName,
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)
from recollect.streams.lifecycle.rebuilding import rebuild
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.reader.packed_reading import packed
from recollect.streams.reader.words.word_cutter import words_of
from recollect.streams.records.timeline import Timeline
from recollect.text.sentences import sentences
from tests.protocol.kit import (
    MINUTE,
    START,
    ZONE,
    Home,
    Poisoned,
    command,
    complete,
    forget,
    in_memory,
    say,
)
from tests.slow_parameters import slow_except

MODELS = ("events", "memory", "identity", "embeddings")
INDEXES = {"memory": "facts_fts", "events": "events_fts", "embeddings": "vec_embeddings"}
# Made again from the others, and compared with them instead of with the replay.
DERIVED = tuple(INDEXES.values())
#: A copy of a row that is not there, for tables that no agent fills yet.
AGENTS_OF_THE_HOME = (*AGENTS, Poisoned("poison"))


class PlainReader:
    """A reader that knows where somebody lives, and that what was sold is over."""

    def read(self, texts: Sequence[str]) -> list[AnnotatedText]:
        return [AnnotatedText(packed(text, self._reading(text)), None) for text in texts]

    def _reading(self, text: str) -> TextReading:
        tags = {"I": "PRP", "live": "VBP", "moved": "VBD", "in": "IN", "to": "TO"}
        words = tuple(
            ReadWord(start, end, tags.get(text[start:end], ""), 100)
            for start, end in words_of(text)
        )
        homes = tuple(
            ReadValue(word.start, word.end, 95, "home", 95)
            for word in words
            if text[: word.start].endswith(("live in ", "moved to "))
        )
        towns = tuple(ReadName(each.start, each.end, "LOCATION", 95) for each in homes)
        found = []
        for start, end in sentences(text):
            ends: tuple[tuple[ValueType, int], ...] = ()
            if "sold" in text[start:end]:
                ends = (("possession", 80),)
            found.append(ReadSentence(start, end, "statement", 100, ends))
        return TextReading(words, towns, tuple(found), homes)


READER = ReaderHandle(b"read", PlainReader, encodes=False)


def build(path: Path) -> None:
    """Make a home with rows in every table that an agent fills."""
    home = Home(path, AGENTS_OF_THE_HOME, reader=READER)
    home.tell(
        say("Ada moved to Berlin.", "1"),
        say("Where is the treasure?", "q", thread="t"),
        say("The treasure is under the old oak. Therefore the oak is guarded.", "a", by="Bob",
            thread="t"),
        say("Ada moved to Berlin.", "again"),
        say("Ada moved to Paris.", "2", at=START + MINUTE),
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        complete("T", "t2", thread="t"),
        say("This poison tastes of almonds.", "p"),
        say("The door code is nine.", "gone"),
        say("I live in Rome.", "rome", by="Bob", at=START + 2 * MINUTE),
    )  # fmt: skip
    ((fact,),) = home.rows("memory", "SELECT id FROM facts WHERE text LIKE '%Paris%'")
    people = home.rows(
        "identity", "SELECT id FROM entities WHERE name IN ('Ada', 'Bob') AND type = 'person'"
    )
    one, other = (str(id_) for (id_,) in people)
    home.tell(
        command(RecallsCounted(source_id="r", accesses=(RecallCount("fact", str(fact), 3),))),
        command(CreateMentalModel(source_id="m", name="Ada", description="Ada moves a lot.")),
        command(
            ProposeMerge(source_id="x", entity_a=one, entity_b=other, confidence=0.5, reason="?")
        ),
        command(
            ProposeMerge(source_id="y", entity_a=one, entity_b=other, confidence=0.95, reason="!")
        ),
        command(Drop(source_id="d", number=8)),
        forget(9),
    )
    ((merge,),) = home.rows("identity", "SELECT merge_id FROM merges_by_command")
    home.tell(
        command(UndoMerge(source_id="u", merge_id=str(merge))),
        command(Retract(source_id="a", target=str(fact), stated_at=(StatedAt(5, 0, 19),))),
        command(RefreshMentalModel(source_id="f", entity_id=other)),
        command(RefreshMentalModel(source_id="g", entity_id=other)),
        command(RefreshModels(source_id="h", min_facts=100)),
        command(
            Remember(source_id="o", sender_id="u", content="Be brief.", memory_type="directive")
        ),
    )
    ((model,),) = home.rows("memory", "SELECT max(model_id) FROM mental_model_pages")
    home.tell(
        command(
            RecallsCounted(source_id="s", accesses=(RecallCount("mental_model", str(model), 1),))
        ),
        say("My exam is tomorrow.", "last"),
        say("I sold the kayak.", "kayak", by="Bob"),
        say("I live in Bergen.", "bergen", by="Bob", at=START + 3 * MINUTE),
        Draft(
            platform="chat",
            occurred_at=START + 4 * MINUTE,
            ingested_at=START,
            payload=Deletion(
                source_id="bergen-deleted",
                sender_id="bob",
                sender_name="Bob",
                content="",
                target="bergen",
            ),
        ),
    )
    home.close()


@pytest.fixture(scope="module")
def original() -> Iterator[Path]:
    with in_memory() as room:
        build(room / "home")
        yield room / "home"


@pytest.fixture
def copy(original: Path, room: Path) -> Path:
    shutil.copytree(original, room / "home")
    return room / "home"


def verified(path: Path) -> Verification:
    home = Home(path, AGENTS_OF_THE_HOME, reader=READER)
    try:
        return verify(home.node, ZONE)
    finally:
        home.close()


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """Open a file as anybody could, without the constraints that protect it."""
    connection = apsw.Connection(str(path))
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        for pragma in ("foreign_keys = OFF", "ignore_check_constraints = ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        yield connection
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def without_triggers(connection: apsw.Connection) -> None:
    """Let no trigger repair what is changed, or change another table with it."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)


def model_file(home: Path, model: str) -> Path:
    zone = home / "zones" / ZONE
    return zone / (zone / "CURRENT").read_text().strip() / f"{model}.db"


class Column(NamedTuple):
    name: str
    type: str
    key: int


def columns_of(connection: apsw.Connection, table: str) -> list[Column]:
    return [
        Column(str(name), str(kind), int(key))
        for name, kind, key in connection.execute(
            "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", (table,)
        )
    ]


def tables_of(path: Path) -> list[str]:
    """Return the tables of a file that are no index's shadow."""
    with opened(path) as connection:
        names = [
            str(name)
            for (name,) in connection.execute(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
            )
        ]
    return sorted(
        name for name in names if not name.startswith(("sqlite_", *(f"{d}_" for d in DERIVED)))
    )


@pytest.fixture(scope="module")
def tables(original: Path) -> dict[str, list[str]]:
    return {model: tables_of(model_file(original, model)) for model in MODELS}


def other(value: Any, kind: str) -> Any:
    """Return a value of the same sort that is not this one."""
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:] if value else b"x"
    if isinstance(value, bool | int | float):
        return value + 1_000
    if value is None:
        return "x" if kind == "TEXT" else 1
    return f"{value}x"


def invented(column: Column) -> Any:
    if column.type == "BLOB":
        return b"invented"
    return 77_777 if column.type in ("INTEGER", "BOOLEAN", "REAL") else "invented"


def named(found: Verification, model: str, table: str) -> bool:
    return any(f"{model}.{table}" in problem for problem in found.problems)


# What a model's own file holds; by model, so that a table that is added is covered by itself.


def test_the_home_is_clean_and_has_rows_in_what_agents_fill(
    copy: Path, tables: dict[str, list[str]]
) -> None:
    found = verified(copy)
    assert found.ok
    assert found.ledger_ok
    assert not found.problems
    assert [model.model for model in found.models] == list(MODELS)
    empty = set()
    for model in MODELS:
        with opened(model_file(copy, model)) as connection:
            for table in tables[model]:
                if not connection.execute(f"SELECT 1 FROM {table}").fetchone():
                    empty.add(table)
    assert empty == {
        "analysis_runs", "archive_states", "cluster_changes", "cluster_consolidations",
        "cluster_facts",
        "consolidation_ticks", "dependencies", "dependency_terms", "entity_tags",
        "facets", "fact_merges", "fact_repeats", "fact_sentences", "fact_units", "memories",
        "memory_accesses",
        "memory_archivals", "memory_consolidations", "memory_parents", "memory_statements",
        "dream_facts", "dreams", "memory_references", "memory_versions", "observation_facts",
        "observation_items",
        "observation_merges", "observation_versions", "pass_ticks", "playbook_strategies",
        "playbook_uses", "playbook_versions",
        "playbooks", "reflection_items", "reflections", "strategy_evidence",
        "switches", "trajectories", "trajectory_completions", "trajectory_feedback",
        "trajectory_steps", "writer_text_decisions", "writer_text_proposals", "writer_texts",
        "writings",
    }  # fmt: skip


def each_table(tables: dict[str, list[str]], model: str) -> list[str]:
    return [
        table
        for table in tables[model]
        if table not in ("watermark", "lineage", "changed_rows", "erasures")
    ]


@pytest.mark.parametrize("model", MODELS)
def test_a_changed_value_is_found(
    original: Path, room: Path, tables: dict[str, list[str]], model: str
) -> None:
    """Change one column of every table at once, then the next of each, up to the widest."""
    todo: dict[str, tuple[list[Column], list[Column], tuple[Any, ...]]] = {}
    with opened(model_file(original, model)) as connection:
        for table in each_table(tables, model):
            columns = columns_of(connection, table)
            # `seq` is the index's own number for a row; changing it puts the index out of step.
            changed = [column for column in columns if column.name != "seq"]
            for row in connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchall():
                todo[table] = (columns, changed, row)
    assert todo
    for place in range(max(len(changed) for _, changed, _ in todo.values())):
        now = {table: changed[place] for table, (_, changed, _) in todo.items() if changed[place:]}
        home = shutil.copytree(original, room / str(place))
        with opened(model_file(home, model)) as connection:
            without_triggers(connection)
            for table, column in now.items():
                columns, _, row = todo[table]
                where = " AND ".join(f"{c.name} IS ?" for c in columns)
                connection.execute(
                    f"UPDATE {table} SET {column.name} = ? WHERE {where}",
                    (other(row[columns.index(column)], column.type), *row),
                )
                assert connection.changes() == 1, (table, column)
        found = verified(home)
        assert not found.ok
        missed = [each for each in now.items() if not named(found, model, each[0])]
        assert not missed, found.problems
        shutil.rmtree(home)


@pytest.mark.parametrize("model", MODELS)
def test_a_deleted_row_is_found(copy: Path, tables: dict[str, list[str]], model: str) -> None:
    deleted = []
    with opened(model_file(copy, model)) as connection:
        without_triggers(connection)
        for table in each_table(tables, model):
            columns = columns_of(connection, table)
            names = ", ".join(column.name for column in columns)
            row = connection.execute(f"SELECT {names} FROM {table} LIMIT 1").fetchone()
            if row is None:
                continue
            where = " AND ".join(f"{column.name} IS ?" for column in columns)
            connection.execute(f"DELETE FROM {table} WHERE {where}", row)
            deleted.append(table)
    assert deleted
    found = verified(copy)
    assert not found.ok
    assert [table for table in deleted if not named(found, model, table)] == [], found.problems


@pytest.mark.parametrize("model", MODELS)
def test_an_added_row_is_found(copy: Path, tables: dict[str, list[str]], model: str) -> None:
    changed = each_table(tables, model)
    with opened(model_file(copy, model)) as connection:
        without_triggers(connection)
        for table in changed:
            columns = columns_of(connection, table)
            values: list[Any] = [invented(column) for column in columns]
            if table == "embeddings":
                values[4:7] = ["tiny", bytes(8), 8]
            connection.execute(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", values
            )
    found = verified(copy)
    assert not found.ok
    assert [table for table in changed if not named(found, model, table)] == [], found.problems


#: Fewer than the problems that verify lists.
AT_ONCE = 25


@pytest.mark.parametrize("model", MODELS)
def test_a_missing_index_trigger_or_view_is_found(original: Path, room: Path, model: str) -> None:
    with opened(model_file(original, model)) as connection:
        objects = connection.execute(
            "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL "
            "AND type IN ('index', 'trigger', 'view') ORDER BY type, name"
        ).fetchall()
    assert objects
    for at in range(0, len(objects), AT_ONCE):
        dropped = objects[at : at + AT_ONCE]
        home = shutil.copytree(original, room / str(at))
        with opened(model_file(home, model)) as connection:
            for kind, name in dropped:
                # A trigger goes with its view.
                connection.execute(f"DROP {kind} IF EXISTS {name}")
        found = verified(home)
        assert not found.ok
        missed = [
            name
            for _, name in dropped
            if not any(model in problem and str(name) in problem for problem in found.problems)
        ]
        assert not missed, found.problems


@pytest.mark.parametrize("model", MODELS)
def test_an_added_index_or_trigger_is_found(copy: Path, model: str) -> None:
    with opened(model_file(copy, model)) as connection:
        connection.execute("CREATE INDEX smuggled ON watermark(number)")
    found = verified(copy)
    assert not found.ok
    assert any(model in problem and "smuggled" in problem for problem in found.problems)


@pytest.mark.parametrize("model", slow_except(("events", "identity"), MODELS))
def test_a_dropped_table_is_found(
    original: Path, room: Path, tables: dict[str, list[str]], model: str
) -> None:
    for table in tables[model]:
        home = shutil.copytree(original, room / table)
        with opened(model_file(home, model)) as connection:
            for view in ("threads", "entity_cooccurrences", "session_aliases"):
                connection.execute(f"DROP VIEW IF EXISTS {view}")
            connection.execute(f"DROP TABLE {table}")
        found = verified(home)
        assert not found.ok, table
        assert any(table in problem for problem in found.problems), (table, found.problems)


@pytest.mark.parametrize("model", ["memory", "events"])
@pytest.mark.parametrize("fault", ["missing", "extra", "changed"])
def test_a_full_text_index_out_of_step_is_found(copy: Path, model: str, fault: str) -> None:
    index = INDEXES[model]
    with opened(model_file(copy, model)) as connection:
        columns = [c.name for c in columns_of(connection, index)]
        table, rowid = ("facts", "rowid") if model == "memory" else ("events", "number")
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        row = connection.execute(f"SELECT {rowid}, {names} FROM {table} LIMIT 1").fetchone()
        assert row is not None
        delete = f"INSERT INTO {index}({index}, rowid, {names}) VALUES ('delete', ?, {marks})"
        insert = f"INSERT INTO {index}(rowid, {names}) VALUES (?, {marks})"
        if fault != "extra":
            connection.execute(delete, row)
        if fault == "extra":
            connection.execute(insert, (999, *row[1:]))
        if fault == "changed":
            connection.execute(insert, (row[0], "smuggled words", *row[2:]))
    found = verified(copy)
    assert not found.ok
    assert named(found, model, index), found.problems


@pytest.mark.parametrize(
    "fault",
    [
        "DELETE FROM vec_embeddings WHERE rowid = (SELECT min(seq) FROM embeddings)",
        "INSERT INTO vec_embeddings(rowid, target_type, embedding, target_id) "
        "SELECT 999, 'observation', vec_int8(embedding), 'smuggled' FROM embeddings LIMIT 1",
        "DELETE FROM vec_embeddings WHERE rowid = (SELECT min(seq) FROM embeddings);"
        "INSERT INTO vec_embeddings(rowid, target_type, embedding, target_id) "
        "SELECT first.seq, first.target_type, vec_int8(last.embedding), first.target_id "
        "FROM embeddings AS first, embeddings AS last "
        "WHERE first.seq = (SELECT min(seq) FROM embeddings) "
        "AND last.seq = (SELECT max(seq) FROM embeddings)",
        "UPDATE embeddings SET seq = 999 WHERE seq = (SELECT min(seq) FROM embeddings)",
    ],
)
def test_a_vector_index_out_of_step_is_found(copy: Path, fault: str) -> None:
    with opened(model_file(copy, "embeddings")) as connection:
        # Of turns and facts it holds nothing.
        connection.execute(
            "UPDATE embeddings SET target_type = 'observation' "
            "WHERE seq = (SELECT min(seq) FROM embeddings)"
        )
    assert not named(verified(copy), "embeddings", "vec_embeddings")
    with opened(model_file(copy, "embeddings")) as connection:
        if "999" in fault and "seq =" in fault:
            without_triggers(connection)
        connection.execute(fault)
    found = verified(copy)
    assert not found.ok
    assert named(found, "embeddings", "vec_embeddings"), found.problems


@pytest.mark.parametrize("model", MODELS)
def test_a_changed_watermark_is_found(original: Path, room: Path, model: str) -> None:
    names = list(Watermark.__struct_fields__)[: 3 if model == "events" else 5]
    for name in names:
        for step in (1, -1) if "hash" not in name else (0,):
            home = shutil.copytree(original, room / f"{name}{step}")
            with opened(model_file(home, model)) as connection:
                connection.execute(
                    f"UPDATE watermark SET {name} = zeroblob(32)"
                    if "hash" in name
                    else f"UPDATE watermark SET {name} = {name} + {step}"
                )
            found = verified(home)
            assert not found.ok, (name, step)
            assert named(found, model, "watermark") or any(
                "ends at offset" in problem or "could not be brought" in problem
                for problem in found.problems
            ), (name, step, found.problems)


@pytest.mark.parametrize("model", ["memory", "identity", "embeddings"])
def test_a_file_without_a_watermark_evolves_to_the_same_again(copy: Path, model: str) -> None:
    """No row says more than that nothing was read; so everything is, on top of what is there."""
    with opened(model_file(copy, model)) as connection:
        connection.execute("DELETE FROM watermark")
    assert verified(copy).ok


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fault", ["missing", "no database", "cut off"])
def test_a_file_that_is_lost_is_found_and_not_made_again(
    copy: Path, model: str, fault: str
) -> None:
    path = model_file(copy, model)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if fault == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:1_000] if fault == "cut off" else b"no database" * 99)
    before = contents(copy)
    found = verified(copy)
    assert not found.ok
    assert found.ledger_ok
    assert any(f"{model}.db" in problem for problem in found.problems), found.problems
    assert [check.model for check in found.models if not check.ok] == [model]
    assert contents(copy) == before


def contents(home: Path) -> dict[str, bytes]:
    """Return what every file of a home holds, but for locks and what SQLite shares in memory."""
    found = {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.suffix != ".lock" and not path.name.endswith("-shm")
    }
    # One that reads a file leaves the log that it found.
    return {name: held for name, held in found.items() if held or not name.endswith("-wal")}


def test_verify_changes_nothing(copy: Path) -> None:
    before = contents(copy)
    assert verified(copy).ok
    assert contents(copy) == before


def test_verify_of_records_that_are_not_decided_reports_lag_and_leaves_them(copy: Path) -> None:
    home = Home(copy, AGENTS_OF_THE_HOME)
    home.publish(say("I like green tea.", "late"), say("My bicycle is blue.", "later"), forget(1))
    home.close()
    before = contents(copy)
    found = verified(copy)
    assert found.ok, found.problems
    assert found.lag == 3
    assert contents(copy) == before
    home = Home(copy, AGENTS_OF_THE_HOME)
    home.drive()
    home.close()
    found = verified(copy)
    assert found.ok, found.problems
    assert found.lag == 0


def test_verify_of_a_zone_of_which_nothing_was_decided_yet_makes_no_files(room: Path) -> None:
    home = Home(room / "home")
    home.publish(say("I like green tea.", "1"))
    home.close()
    before = contents(room / "home")
    found = verified(room / "home")
    assert found.ok, found.problems
    assert (found.lag, found.events) == (1, 1)
    assert contents(room / "home") == before


# What was erased must be gone, wherever it could be


def key_of(home: Path, number: int) -> tuple[bytes, bytes]:
    """Return the id and the key of an event."""
    with opened(model_file(home, "events")) as connection:
        ((key_id,),) = connection.execute(
            "SELECT key_id FROM seals WHERE number = ?", (number,)
        ).fetchall()
    with opened(home / "keys.db") as connection:
        ((key,),) = connection.execute(
            "SELECT key FROM keys WHERE key_id = ?", (key_id,)
        ).fetchall()
    assert isinstance(key_id, bytes)
    assert isinstance(key, bytes)
    return key_id, key


def erase_later(copy: Path, *numbers: int) -> None:
    home = Home(copy, AGENTS_OF_THE_HOME)
    home.tell(forget(*numbers, at=START + 9 * MINUTE))
    home.close()


def test_an_erased_key_is_put_back_into_keys_db(copy: Path) -> None:
    key = key_of(copy, 1)
    erase_later(copy, 1)
    assert verified(copy).ok
    with opened(copy / "keys.db") as connection:
        connection.execute("INSERT INTO keys VALUES (?, ?)", key)
    before = contents(copy)
    found = verified(copy)
    assert not found.ok
    (problem,) = found.problems
    assert "the key of event 1 should not exist" in problem
    # It is reported, and left to whoever has to know how it came there.
    assert contents(copy) == before
    home = Home(copy, AGENTS_OF_THE_HOME)
    rebuild(home.node, ZONE, "project")
    home.close()
    assert verified(copy).ok


@pytest.mark.parametrize("level", ["project", "derive"])
def test_what_was_erased_is_found_in_the_generation_that_is_kept(
    copy: Path, level: RebuildLevel
) -> None:
    home = Home(copy, AGENTS_OF_THE_HOME)
    rebuild(home.node, ZONE, level)
    home.close()
    assert verified(copy).ok
    kept = "g000001"
    old = shutil.copytree(copy / "zones" / ZONE / kept, copy / "old")
    erase_later(copy, 1)
    assert verified(copy).ok
    shutil.rmtree(copy / "zones" / ZONE / kept)
    old.rename(copy / "zones" / ZONE / kept)
    found = verified(copy)
    assert not found.ok
    assert found.ledger_ok
    assert all(model.ok for model in found.models)
    (problem,) = found.problems
    assert problem.startswith(f"{kept}/events.db holds erased rows (event 1")


def test_a_row_of_the_generation_that_is_kept_is_compared_too(copy: Path) -> None:
    home = Home(copy, AGENTS_OF_THE_HOME)
    rebuild(home.node, ZONE, "derive")
    home.close()
    with opened(copy / "zones" / ZONE / "g000001" / "memory.db") as connection:
        connection.execute("UPDATE facts SET text = 'Ghosts live here.' WHERE rowid = 1")
    found = verified(copy)
    assert not found.ok
    assert any(p.startswith("g000001: memory.facts (id=") for p in found.problems), found.problems


@pytest.mark.parametrize(
    "place", ["scratch-killed", "g000009", "g000001/erasing", "past/c0-1", "elsewhere"]
)
def test_what_was_erased_is_found_in_whatever_directory_it_was_left(copy: Path, place: str) -> None:
    """Of a verify, a rebuild, an erasure, a question of the past that was killed, and others."""
    zone = copy / "zones" / ZONE
    left = shutil.copytree(zone / "g000001", copy / "left")
    erase_later(copy, 1)
    shutil.rmtree(zone / place, ignore_errors=True)
    (zone / place).parent.mkdir(exist_ok=True)
    left.rename(zone / place)
    if place == "g000009":
        (zone / place / "generation.json").unlink()
    found = verified(copy)
    assert not found.ok
    (problem,) = found.problems
    assert problem.startswith(f"{place}/events.db holds erased rows (event 1")
    assert f"delete {place}" in problem
    shutil.rmtree(zone / place)
    assert verified(copy).ok


def test_a_past_moment_that_was_made_before_an_erasure_is_found(copy: Path) -> None:
    home = Home(copy, AGENTS_OF_THE_HOME)
    timeline = Timeline(home.ledger, ZONE)
    timeline.refresh()
    for number in (4, 6):
        home.node.open_snapshot(ZONE, timeline, home.node.snapshot(ZONE, timeline, number)).close()
    past = copy / "zones" / ZONE / "past"
    old = shutil.copytree(past, copy / "old")
    home.tell(forget(5, at=START + 9 * MINUTE))
    number = home.ledger.head(ZONE).number
    home.close()
    assert not past.exists()
    old.rename(past)
    # Its rows are gone, and what was decided of it is not.
    for moment in past.iterdir():
        with opened(moment / "events.db") as connection:
            connection.execute("DELETE FROM events WHERE number = 5")
    found = verified(copy)
    assert not found.ok
    (problem,) = found.problems
    assert problem.startswith(f"past/c0-6 is older than erasure {number}")


# The ledger


def records_of(connection: apsw.Connection, topic: str) -> list[tuple[int, bytes]]:
    return [
        (int(position), bytes(value))
        for position, value in connection.execute(
            f"SELECT position, value FROM {topic} ORDER BY position"
        )
    ]


PLACES = {"first": 0, "middle": 6, "last": -1}


def flipped(value: bytes, at: int) -> bytes:
    return value[:at] + bytes([value[at] ^ 0x01]) + value[at + 1 :]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("share", slow_except((0.1, 0.5), (0.01, 0.1, 0.3, 0.5, 0.99)))
@pytest.mark.parametrize("topic", ["events", "changes"])
def test_a_changed_byte_of_a_record_is_found(
    copy: Path, topic: str, place: str, share: float
) -> None:
    """Anywhere: in the envelope or header, and in what is sealed."""
    with opened(copy / "ledger.db") as connection:
        position, value = records_of(connection, topic)[PLACES[place]]
        at = int(len(value) * share)
        connection.execute(
            f"UPDATE {topic} SET value = ? WHERE position = ?", (flipped(value, at), position)
        )
    found = verified(copy)
    assert not found.ok
    assert not found.ledger_ok
    offset = position & ((1 << 40) - 1)
    assert any(
        problem.startswith(f"{topic}/") and f"offset {offset}" in problem
        for problem in found.problems
    ) or any("the chain ends" in problem for problem in found.problems), found.problems


@pytest.mark.parametrize(
    "field", ["event_hash", "event_offset", "is_parked", "command_count", "erased_events"]
)
def test_a_changed_field_of_a_header_is_found(copy: Path, field: str) -> None:
    """Of the last record too, which no other record names by its hash."""
    with opened(copy / "ledger.db") as connection:
        position, value = records_of(connection, "changes")[-1]
        header, record = read_change(value)
        changed: dict[str, Any] = {
            "event_hash": bytes(32),
            "event_offset": header.event_offset + 1,
            "is_parked": True,
            "command_count": 1,
            "erased_events": record.parts[0].sources,
        }
        header = msgspec.structs.replace(header, **{field: changed[field]})
        assert isinstance(header, ChangeHeader)
        record = msgspec.structs.replace(record, header=msgspec.msgpack.encode(header))
        connection.execute(
            "UPDATE changes SET value = ? WHERE position = ?",
            (msgspec.msgpack.encode(record), position),
        )
    found = verified(copy)
    assert not found.ok
    assert not found.ledger_ok


@pytest.mark.parametrize("place", PLACES)
def test_a_changed_byte_of_a_part_is_found(copy: Path, place: str) -> None:
    with opened(copy / "ledger.db") as connection:
        position, value = records_of(connection, "changes")[PLACES[place]]
        _, record = read_change(value)
        part = record.parts[-1]
        broken = Part(part.sources, flipped(part.sealed, len(part.sealed) // 2))
        record = msgspec.structs.replace(record, parts=(*record.parts[:-1], broken))
        connection.execute(
            "UPDATE changes SET value = ? WHERE position = ?",
            (msgspec.msgpack.encode(record), position),
        )
    found = verified(copy)
    assert not found.ok
    assert any("changed after it was written" in problem for problem in found.problems)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("topic", ["events", "changes"])
def test_a_missing_record_is_found(copy: Path, topic: str, place: str) -> None:
    with opened(copy / "ledger.db") as connection:
        position, _ = records_of(connection, topic)[PLACES[place]]
        connection.execute(f"DELETE FROM {topic} WHERE position = ?", (position,))
    found = verified(copy)
    assert not found.ok
    assert not found.ledger_ok
    assert any(f"{topic}/" in problem for problem in found.problems), found.problems


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("topic", ["events", "changes"])
def test_a_doubled_record_is_found(copy: Path, topic: str, place: str) -> None:
    with opened(copy / "ledger.db") as connection:
        _, value = records_of(connection, topic)[PLACES[place]]
        connection.execute(
            f"INSERT INTO {topic} SELECT max(position) + 1, zone, ?, 0 FROM {topic}", (value,)
        )
    found = verified(copy)
    assert not found.ok
    assert any("duplicates the record at offset" in problem for problem in found.problems)


def test_a_change_without_parts_that_two_writers_appended_is_no_fault(room: Path) -> None:
    """Nothing in it is sealed, so what an overtaken writer appends is the same, byte for byte."""
    home = Home(room / "home")
    home.tell(say("Ada moved to Berlin.", "1"))
    home.tell(command(ActivateChain(source_id="s", chain=home.node.zone(ZONE).current().chain)))
    home.close()
    with opened(room / "home" / "ledger.db") as connection:
        (*_, (_, switch)) = records_of(connection, "changes")
        assert not read_change(switch)[1].parts
        connection.execute(
            "INSERT INTO changes SELECT max(position) + 1, zone, ?, 0 FROM changes", (switch,)
        )
    found = verified(room / "home")
    assert found.ok, found.problems


def test_two_records_that_changed_places_are_found(copy: Path) -> None:
    with opened(copy / "ledger.db") as connection:
        records = records_of(connection, "changes")
        (one, first), (two, second) = records[3], records[4]
        for position, value in ((one, second), (two, first)):
            connection.execute("UPDATE changes SET value = ? WHERE position = ?", (value, position))
    found = verified(copy)
    assert not found.ok
    assert not found.ledger_ok


@pytest.mark.parametrize("number", [1, 5, 15])
def test_a_missing_key_without_an_erasure_is_found(copy: Path, number: int) -> None:
    with opened(model_file(copy, "events")) as connection:
        ((key_id,),) = connection.execute(
            "SELECT key_id FROM seals WHERE number = ?", (number,)
        ).fetchall()
    with opened(copy / "keys.db") as connection:
        connection.execute("DELETE FROM keys WHERE key_id = ?", (key_id,))
        assert connection.changes() == 1
    found = verified(copy)
    assert not found.ok
    assert any(f"the key of event {number} is missing" in p for p in found.problems)


def test_a_changed_key_is_found(copy: Path) -> None:
    with opened(copy / "keys.db") as connection:
        connection.execute("UPDATE keys SET key = randomblob(32)")
    found = verified(copy)
    assert not found.ok
    assert not found.ledger_ok
