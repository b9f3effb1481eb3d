"""Every layout that a file ever had becomes that of a new file, whatever happens meanwhile."""

from __future__ import annotations

import ast
import os
import re
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.projections.content import content_problems
from recollect.projections.embeddings import EmbeddingsModel
from recollect.projections.events import EventsModel
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.projections.sqlite import copy_file, rows
from recollect.schemas.errors import NewerFormat
from recollect.streams.engine.journal import Journal
from recollect.streams.ledger.embedded_ledger import EmbeddedKeys
from recollect.streams.ledger.kafka.keys import KeysCopy
from recollect.streams.ledger.ledger_file import LedgerFile
from tests.migrations.layouts import LAYOUTS, make, opened, shape

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("schemas", "projections", "streams", "recollect")
FOLDERS = sorted(
    {path.parent for package in PACKAGES for path in (ROOT / package).rglob("migrations/**/*.sql")}
)

#: What opens a file of each kind, as the product does, and lets go of it.
OPENS: dict[str, Callable[[Path], Any]] = {
    "events": lambda path: EventsModel(path.parent),
    "memory": lambda path: MemoryModel(path.parent),
    "identity": lambda path: IdentityModel(path.parent),
    "embeddings": lambda path: EmbeddingsModel(path.parent, "m", 3),
    "ledger": lambda path: LedgerFile(path, durable=False),
    "keys": EmbeddedKeys,
    "copy_keys": KeysCopy,
    "driver": Journal,
}
#: Values that a column must have; any other is made from its type.
SPECIAL = {
    "watermark.id": 1,
    "lineage.id": 1,
    "entities.source": "inferred",
    "entities.merged_into": None,
    "merge_decisions.status": "executed",
    "causal_links.strength": 0.5,
    "dead_letters.state": "parked",
    "embeddings.model": "m",
    "embeddings.embedding": b"\0\0\x80?" * 3,
    "embeddings.dimension": 3,
    "unread.zone": 99,
}
#: What a file of today holds where one of before held something else.
BECOMES = {"embeddings.embedding": b"\x7f" * 3}


def kind_of(layout: str) -> str:
    return layout.rpartition("-")[0]


def bring_up(path: Path, kind: str) -> None:
    OPENS[kind](path).close()


def tables(connection: apsw.Connection) -> list[str]:
    """Return the ordinary tables of a file."""
    query = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
    listed = rows(connection, query)
    virtual = tuple(f"{name}_" for name, kind in listed if kind == "virtual")
    return [
        name
        for name, kind in listed
        if kind == "table" and not name.startswith(("sqlite_", *virtual))
    ]


def columns(connection: apsw.Connection, table: str) -> list[tuple[str, str]]:
    return rows(connection, "SELECT name, type FROM pragma_table_info(?)", (table,))


def fill(path: Path) -> None:
    """Put a row into every table."""
    with closing(opened(path)) as connection:
        in_bytes = rows(connection, "SELECT 1 FROM sqlite_schema WHERE sql LIKE '%int8[3]%'")
        special = SPECIAL | (BECOMES if in_bytes else {})
        for table in tables(connection):
            values = [
                special.get(f"{table}.{name}", _value(table, name, kind))
                for name, kind in columns(connection, table)
            ]
            connection.execute(
                f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(values))})", values
            )


def _value(table: str, column: str, kind: str) -> object:
    text = f"{table} {column}"
    return {"INTEGER": 7, "BOOLEAN": 0, "REAL": 0.25, "BLOB": text.encode()}.get(kind, text)


def held(path: Path) -> dict[str, list[dict[str, object]]]:
    """Return the rows of every table."""
    with closing(opened(path)) as connection:
        return {
            table: [
                dict(zip([name for name, _ in columns(connection, table)], row, strict=True))
                for row in connection.execute(f"SELECT * FROM {table}")
            ]
            for table in tables(connection)
        }


def whole(path: Path) -> None:
    with closing(opened(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The shape of a new file of each kind."""
    shapes = {}
    for kind in OPENS:
        path = tmp_path_factory.mktemp(kind) / f"{kind}.db"
        bring_up(path, kind)
        shapes[kind] = shape(path)
    return shapes


def without_leftovers(found: dict[str, Any]) -> dict[str, Any]:
    """Without what the journal drops as soon as its node has taken it over."""
    return {name: is_ for name, is_ in found.items() if "purges" not in name}


def test_no_two_migrations_of_a_file_have_one_number() -> None:
    folders = [*ROOT.glob("projections/*/migrations"), *ROOT.glob("streams/**/migrations")]
    for folder in (each for found in folders for each in (found, *found.glob("*/"))):
        numbers = sorted(int(path.name[:4]) for path in folder.glob("*.sql"))
        assert len(set(numbers)) == len(numbers), folder
    assert len(folders) >= 6


def test_every_version_of_every_file_is_here() -> None:
    """A file whose migrations were once released has a layout for each number up to that."""
    assert {kind_of(layout) for layout in LAYOUTS} == set(OPENS)
    versions = {layout.rstrip("abcdef") for layout in LAYOUTS}
    for file, last in (("events", 6), ("memory", 7), ("identity", 3), ("embeddings", 6)):
        assert {f"{file}-{number}" for number in range(1, last + 1)} <= versions
    for file in ("ledger", "keys", "copy_keys", "driver"):
        assert {f"{file}-0", f"{file}-1"} <= versions


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_becomes_as_a_new_file_and_loses_nothing(
    tmp_path: Path, layout: str, new: dict[str, dict[str, Any]]
) -> None:
    kind = kind_of(layout)
    path = tmp_path / f"{kind}.db"
    make(path, layout)
    fill(path)
    before = held(path)
    bring_up(path, kind)
    assert without_leftovers(shape(path)) == new[kind]
    whole(path)
    after = held(path)
    for table, rows_before in before.items():
        for row in rows_before:
            expected = {name: BECOMES.get(f"{table}.{name}", row[name]) for name in row}
            assert any(expected.items() <= kept.items() for kept in after[table]), (table, row)
    bring_up(path, kind)
    assert held(path) == after


def test_what_is_derived_from_rows_of_before_finds_them(tmp_path: Path) -> None:
    for kind in ("events", "memory", "identity", "embeddings"):
        make(tmp_path / f"{kind}.db", f"{kind}-1")
        fill(tmp_path / f"{kind}.db")
    with ZoneFiles(tmp_path, "m", 3, complete=True) as files:
        for model, query in (
            (files.events, "SELECT rowid FROM events_fts WHERE events_fts MATCH 'content'"),
            (files.memory, "SELECT rowid FROM facts_fts WHERE facts_fts MATCH 'text'"),
            (files.embeddings, "SELECT rowid FROM vec_embeddings"),
        ):
            assert len(model.connection.execute(query).fetchall()) == 1
        # What goes from now on is noted, in files that were made before anybody noted it.
        files.memory.connection.execute("DELETE FROM facts")
        noted = files.memory.connection.execute("SELECT table_name FROM changed_rows").fetchall()
        assert noted == [("facts",)]


def test_mails_of_before_are_found_by_their_subjects(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    make(path, "events-6")
    with closing(opened(path)) as connection:
        for number, (platform, metadata) in enumerate(
            [("email", '{"subject":"The cottage"}'), ("email", "{}"), ("mem0", '{"subject":"x"}')]
        ):
            connection.execute(
                "INSERT INTO events (number, id, kind, platform, source_id, sender_id, content, "
                "caption, attachments, metadata, utc_offset, conversation, occurred_at, "
                "ingested_at) VALUES (?, ?, 'message', ?, ?, 'ada', 'All booked.', 'a picture', "
                "'[]', ?, 0, 'c', 0, 0)",
                (number, str(number), platform, str(number), metadata),
            )
    bring_up(path, "events")
    whole(path)
    with closing(opened(path)) as connection:
        captions = rows(connection, "SELECT caption FROM events ORDER BY number")
        assert captions == [("The cottage a picture",), ("a picture",), ("a picture",)]
        found = "SELECT rowid FROM events_fts WHERE events_fts MATCH ? ORDER BY rowid"
        assert rows(connection, found, ("cottage",)) == [(0,)]
        assert rows(connection, found, ("picture",)) == [(0,), (1,), (2,)]
        connection.execute("INSERT INTO events_fts(events_fts, rank) VALUES ('integrity-check', 1)")
        # What goes takes its words with it.
        connection.execute("DELETE FROM events WHERE number = 0")
        assert rows(connection, found, ("cottage",)) == []


def test_of_several_ends_of_a_fact_the_one_that_was_put_last_stays(tmp_path: Path) -> None:
    make(tmp_path / "memory.db", "memory-2")
    with closing(opened(tmp_path / "memory.db")) as connection:
        connection.execute(
            "INSERT INTO fact_supersessions VALUES "
            "('a', 'z', 5), ('a', 'c', 9), ('a', 'b', 9), ('b', 'c', 1)"
        )
    bring_up(tmp_path / "memory.db", "memory")
    with closing(opened(tmp_path / "memory.db")) as connection:
        found = connection.execute("SELECT * FROM fact_supersessions ORDER BY 1").fetchall()
    assert found == [("a", "c", 9), ("b", "c", 1)]


def killed_at(step: int, path: Path, kind: str) -> bool:
    """Have a process bring a file up that is killed before a statement; whether it came so far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)
    left = step

    def count(*_: object) -> bool:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = count

    try:
        apsw.connection_hooks.append(watch)
        bring_up(path, kind)
    except BaseException:
        os._exit(1)
    os._exit(0)


@pytest.mark.parametrize(
    "layout",
    [
        *("ledger-0a", "driver-0a"),
        *(
            pytest.param(layout, marks=pytest.mark.slow)
            for layout in ("events-1", "memory-1", "identity-1", "embeddings-1")
        ),
    ],
)
def test_who_dies_at_it_leaves_the_old_version_or_the_new(
    tmp_path: Path, layout: str, new: dict[str, dict[str, Any]]
) -> None:
    kind = kind_of(layout)
    make(tmp_path / f"{kind}.db", layout)
    fill(tmp_path / f"{kind}.db")
    old, before = shape(tmp_path / f"{kind}.db"), held(tmp_path / f"{kind}.db")
    seen = set()
    for step in range(1, 1_000):
        room = tmp_path / str(step)
        room.mkdir()
        path = room / f"{kind}.db"
        copy_file(tmp_path / path.name, path)
        died = killed_at(step, path, kind)
        left = shape(path)
        assert left == old or without_leftovers(left) == new[kind]
        seen.add(left["user_version"])
        bring_up(path, kind)
        assert without_leftovers(shape(path)) == new[kind]
        assert before.keys() <= held(path).keys()
        if not died:
            break
    assert step > 5
    assert seen == {old["user_version"], new[kind]["user_version"]}


@pytest.mark.parametrize("layout", ["events-1", "memory-1", "embeddings-1", "ledger-0a"])
def test_a_full_disk_leaves_the_old_version(
    tmp_path: Path, layout: str, new: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = kind_of(layout)
    path = tmp_path / f"{kind}.db"
    make(path, layout)
    fill(path)
    old, before = shape(path), held(path)

    def fills(connection: apsw.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count = {pages[0]}").fetchall()

    with monkeypatch.context() as full:
        full.setattr(apsw, "connection_hooks", [fills])
        with pytest.raises(apsw.FullError):
            bring_up(path, kind)
    assert shape(path) == old
    assert held(path) == before
    bring_up(path, kind)
    assert without_leftovers(shape(path)) == new[kind]


@pytest.mark.parametrize("layout", ["memory-1", "embeddings-1", "ledger-0a", "keys-0"])
def test_two_that_bring_it_up_at_once_both_find_it_so(
    tmp_path: Path, layout: str, new: dict[str, dict[str, Any]]
) -> None:
    kind = kind_of(layout)
    path = tmp_path / f"{kind}.db"
    make(path, layout)
    fill(path)
    start = threading.Barrier(4)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            start.wait()
            bring_up(path, kind)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert without_leftovers(shape(path)) == new[kind]


def test_a_reader_finds_an_older_file_brought_up(tmp_path: Path) -> None:
    for kind in ("events", "memory", "identity", "embeddings"):
        make(tmp_path / f"{kind}.db", f"{kind}-1")
    with ZoneFiles(tmp_path, "m", 3, readonly=True) as files:
        for model in files.all:
            model.connection.execute("SELECT * FROM schema_version").fetchall()
            with pytest.raises(apsw.ReadOnlyError):
                model.connection.execute("CREATE TABLE more (x)")


@pytest.mark.parametrize("kind", OPENS)
def test_a_newer_file_is_refused_by_name_and_left_as_it_is(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.db"
    bring_up(path, kind)
    with closing(opened(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = shape(path)
    with pytest.raises(
        NewerFormat, match=rf"{kind}\.db was made by a newer recollect \(version 99"
    ):
        bring_up(path, kind)
    assert shape(path) == before


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_numbers_have_no_gap_and_words_that_say_what_for(folder: Path) -> None:
    names = sorted(path.name for path in folder.glob("*.sql"))
    assert all(re.fullmatch(r"\d{4}_[a-z][a-z_]+\.sql", name) for name in names)
    numbers = [int(name[:4]) for name in names]
    # 0000 is for files that were made before there were numbers.
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] in (0, 1)


@pytest.mark.parametrize("kind", ["events", "memory", "identity", "embeddings"])
def test_a_damaged_file_is_told_by_the_tables_that_it_should_have(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"{kind}.db"
    with closing(OPENS[kind](path)) as model, closing(opened(path)) as connection:
        virtual = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'virtual'")
        assert model.tables() == {*tables(connection), *(name for (name,) in virtual)}


def test_no_other_statement_makes_or_changes_a_table_of_these_files(
    new: dict[str, dict[str, Any]],
) -> None:
    made = "|".join(sorted({name for found in new.values() for name in found}))
    statement = re.compile(
        rf"\b(CREATE\s+(VIRTUAL\s+)?TABLE\s+(IF\s+NOT\s+EXISTS\s+)?({made})\b|ALTER\s+TABLE)"
    )
    strays = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*"))
        if path.suffix in (".py", ".sql")
        and path.parent not in FOLDERS
        and statement.search(path.read_text())
    ]
    # Its dimension is the model's, and whatever is in it follows from the table of vectors.
    assert strays == ["projections/embeddings/search_index.sql"]


STATEMENT = re.compile(r"\b(SELECT\s|INSERT\s+(OR|INTO)|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s)")


def statements(path: Path) -> list[str]:
    """Return the texts of a module that are SQL, docstrings left out."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if STATEMENT.search(text)]


def test_nobody_who_asks_speaks_sql() -> None:
    """It stands in the read models' packages, as a function with a name."""
    found = {
        str(path.relative_to(ROOT)): texts
        for path in (ROOT / "recollect").rglob("*.py")
        if (texts := statements(path))
    }
    assert not found


def test_what_happens_asks_a_zones_files_through_their_packages(
    new: dict[str, dict[str, Any]],
) -> None:
    """Only the ledger, the journal and what lives for one act have SQL of their own."""
    names = {name for kind in ("events", "memory", "identity", "embeddings") for name in new[kind]}
    asks = re.compile(rf"\b(FROM|JOIN|INTO|UPDATE)\s+({'|'.join(sorted(names))})\b")
    found = {
        str(path.relative_to(ROOT)): said
        for path in (ROOT / "streams").rglob("*.py")
        if "ledger" not in path.parts
        and (said := [text for text in statements(path) if asks.search(text)])
    }
    assert not found


def test_sql_is_found_wherever_a_module_says_it(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    for text in ('"SELECT 1"', 'f"DELETE FROM {table}"', '"""\n  UPDATE a SET b = 1"""'):
        module.write_text(f"connection.execute({text})\n")
        assert statements(module), text
    module.write_text('"""Select what to insert into an update."""\nx = "selected"\n')
    assert not statements(module)


def test_verify_minds_what_a_statement_means_and_not_how_it_is_written(tmp_path: Path) -> None:
    """A build before this one gave a file this text, where a new file had another."""
    make(tmp_path / "events.db", "events-1")
    written = 'CREATE TABLE "switches" (number INTEGER PRIMARY KEY, chain TEXT NOT NULL) -- x'
    with closing(opened(tmp_path / "events.db")) as connection:
        connection.execute(written)
        connection.execute("PRAGMA user_version = 2")
    with closing(EventsModel(tmp_path)) as old, closing(EventsModel(None)) as new_:
        assert content_problems(old, new_) == []
        old.connection.execute("ALTER TABLE switches ADD COLUMN more")
        (problem,) = content_problems(old, new_)
    assert "switches differs from the one that recollect makes" in problem
