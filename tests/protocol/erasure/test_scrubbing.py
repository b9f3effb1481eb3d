"""What is deleted from a file is in none of its bytes, whatever SQLite moved before."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import signal
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from recollect.projections import scrubbing
from recollect.projections.full_text import holds_erased_terms, rebuild
from recollect.projections.scrubbing import scrub
from recollect.projections.sqlite import connect, rows, truncate_wal
from recollect.streams.ledger.embedded_ledger import EmbeddedKeys
from recollect.streams.ledger.kafka.keys import KeysCopy
from recollect.streams.lifecycle.residue import scan_for_keys
from tests.protocol.kit import Home, forget, in_memory, say

_TABLES = """
CREATE TABLE notes (id TEXT PRIMARY KEY, word TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX notes_by_word ON notes (word);
CREATE TABLE names (word TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
"""
_LETTERS = "bcdfghklmnprstvwz"
_RUN = re.compile(rb"[bcdfghklmnprstvwz]{12,}")


@pytest.fixture
def room() -> Iterator[Path]:
    with in_memory() as path:
        yield path


class Notes:
    """Rows with a word that nothing else holds, in every kind of b-tree."""

    def __init__(self, path: Path, seed: int, page: int = 2_048) -> None:
        self.path = path
        self.connection = connect(path, page=page)
        self.connection.execute(_TABLES)
        self._draw = random.Random(seed)
        self.words: list[str] = []

    def word(self) -> str:
        return "".join(self._draw.choices(_LETTERS, k=16))

    def add(self, count: int) -> None:
        for _ in range(count):
            word = self.word()
            self.words.append(word)
            # Some rows overflow into pages of their own.
            text = "x" * int(self._draw.paretovariate(0.7) * 3 % 5_000) + word
            self.connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (word[::-1], word, text))
            self.connection.execute("INSERT INTO names VALUES (?, ?)", (word, text))

    def replace(self, count: int) -> set[str]:
        """Give rows another word; return the words that are gone."""
        gone = self._draw.sample(self.words, count)
        for word in gone:
            self.words.remove(word)
            other = self.word()
            self.words.append(other)
            self.connection.execute(
                "UPDATE notes SET id = ?, word = ?, text = ? WHERE word = ?",
                (other[::-1], other, other, word),
            )
            self.connection.execute("DELETE FROM names WHERE word = ?", (word,))
        return set(gone)

    def delete(self, count: int) -> set[str]:
        """Delete rows; return their words."""
        gone = self._draw.sample(self.words, count)
        for word in gone:
            self.words.remove(word)
            self.connection.execute("DELETE FROM notes WHERE word = ?", (word,))
            self.connection.execute("DELETE FROM names WHERE word = ?", (word,))
        return set(gone)

    def state(self) -> list[list[tuple[object, ...]]]:
        return [rows(self.connection, f"SELECT * FROM {name}") for name in ("notes", "names")]


def left(directory: Path, words: set[str]) -> set[str]:
    """Return the words of which a file below a directory holds the last twelve letters.

    They are searched as they are written, and backwards.
    """
    found = {
        run[start : start + 12].decode()
        for path in directory.rglob("*")
        if path.is_file()
        for run in _RUN.findall(path.read_bytes().lower())
        for start in range(len(run) - 11)
    }
    return {word for word in words if word[4:] in found or word[::-1][4:] in found}


class _File:
    """A file before some write of which something happens."""

    def __init__(
        self, file: apsw.VFSFile, writes: int, happens: Callable[[Callable[[], None]], object]
    ) -> None:
        self._file = file
        self._writes = writes
        self._happens = happens
        self.xRead, self.xSync, self.xClose = file.xRead, file.xSync, file.xClose

    def xWrite(self, data: bytes, offset: int) -> None:
        if not self._writes:
            self._happens(lambda: self._file.xWrite(data[: len(data) // 2], offset))
        self._writes -= 1
        self._file.xWrite(data, offset)


def _before_writes(
    patched: pytest.MonkeyPatch, writes: int, happens: Callable[[Callable[[], None]], object]
) -> None:
    """Have something happen after so many writes of a scrub; it can do half of the next one."""
    open_file = apsw.VFSFile
    patched.setattr(apsw, "VFSFile", lambda *given: _File(open_file(*given), writes, happens))


def is_locked(path: Path, statement: str) -> bool:
    """Return whether another process is refused a statement."""
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys; path, statement = sys.argv[1:]; "
            "sqlite3.connect(path, timeout=0, isolation_level=None).execute(statement)",
            path,
            statement,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return "database is locked" in ended.stderr


@pytest.mark.parametrize("page", [1_024, 2_048, 4_096, 65_536])
@pytest.mark.parametrize("seed", range(3))
def test_no_byte_of_a_deleted_row_is_left_and_no_other_row_is_touched(
    room: Path, seed: int, page: int
) -> None:
    notes = Notes(room / "notes.db", seed, page)
    gone: set[str] = set()
    for _ in range(6):
        with notes.connection:
            notes.add(300)
        with notes.connection:
            gone |= notes.replace(40) | notes.delete(80)
    before = notes.state()
    assert scrub(notes.connection)
    assert left(room, gone) == set()
    assert notes.state() == before
    notes.connection.close()
    with closing(sqlite3.connect(notes.path)) as other:
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert other.execute("SELECT count(*) FROM notes").fetchone() == (len(notes.words),)


def test_in_a_file_of_64_gb_no_page_is_taken_for_another(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There, the number with which a page of a long row begins may look like the type of a page."""
    notes = Notes(room / "notes.db", 7)
    with notes.connection:
        notes.add(600)
    gone = notes.delete(100)
    types = {**scrubbing._CELL_POINTERS, 0: 8}
    monkeypatch.setattr(scrubbing, "_CELL_POINTERS", types)
    monkeypatch.setattr(scrubbing, "_AMBIGUOUS_PAGES", 0)
    before = notes.state()
    assert scrub(notes.connection)
    assert left(room, gone) == set()
    assert notes.state() == before
    assert rows(notes.connection, "PRAGMA integrity_check") == [("ok",)]


def test_sqlite_alone_leaves_some(room: Path) -> None:
    """If this fails, SQLite has learnt it, and scrubbing can go."""
    found: set[str] = set()
    for seed in range(3):
        notes = Notes(room / f"{seed}.db", seed)
        notes.add(1_000)
        gone = notes.replace(100) | notes.delete(200)
        assert truncate_wal(notes.connection)
        found |= left(room, gone)
    assert found


@pytest.mark.parametrize("who", ["the one that scrubs", "one that reads meanwhile"])
def test_no_connection_writes_back_what_it_read_before(
    room: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    notes = Notes(room / "notes.db", 2)
    notes.add(3_000)
    gone = notes.delete(600)
    with closing(connect(notes.path)) as other:

        def read_everything(*_: object) -> None:
            for connection in (notes.connection, other):
                rows(connection, "SELECT * FROM notes NATURAL JOIN names")
                rows(connection, "SELECT word FROM notes INDEXED BY notes_by_word ORDER BY word")

        read_everything()
        with monkeypatch.context() as patched:
            _before_writes(patched, 0, read_everything)
            assert scrub(notes.connection)
        writer = notes.connection if who == "the one that scrubs" else other
        # Every page becomes dirty.
        for column in ("text", "word"):
            writer.execute(f"UPDATE notes SET {column} = substr({column}, 2) || '.'")
        writer.execute("UPDATE names SET text = substr(text, 2) || '.'")
    assert left(room, gone) == set()


def test_a_reader_of_the_log_is_waited_for_and_one_of_the_file_is_not(room: Path) -> None:
    notes = Notes(room / "notes.db", 3)
    notes.connection.set_busy_timeout(1)
    with notes.connection:
        notes.add(500)
    before = notes.state()
    with closing(connect(notes.path, readonly=True)) as reader:
        reader.execute("BEGIN")
        assert rows(reader, "SELECT count(*) FROM notes") == [(500,)]
        gone = notes.delete(100)
        assert not scrub(notes.connection)
        assert rows(reader, "SELECT * FROM notes") == before[0]
        reader.execute("COMMIT")
        assert scrub(notes.connection)
        assert truncate_wal(notes.connection)
        reader.execute("BEGIN")
        assert rows(reader, "SELECT count(*) FROM notes") == [(400,)]
        assert scrub(notes.connection)
        assert rows(reader, "SELECT * FROM notes") == notes.state()[0]
        reader.execute("COMMIT")
    assert left(room, gone) == set()


def test_the_locks_of_this_process_stay(room: Path) -> None:
    """As POSIX has it, closing a file releases all locks that the process has on it."""
    notes = Notes(room / "notes.db", 4)
    assert scrub(notes.connection)
    assert is_locked(notes.path, "PRAGMA journal_mode = DELETE")


class Tombstone(NamedTuple):
    """A record of the topic `keys` that destroys a key, as Kafka delivers it."""

    offset: int
    key: bytes
    value: None = None
    timestamp: int = 1


def _scrub_and_die(path: Path, writes: int) -> None:
    def die(write_half: Callable[[], None]) -> None:
        write_half()
        os.kill(os.getpid(), signal.SIGKILL)

    _before_writes(pytest.MonkeyPatch(), writes, die)
    scrub(connect(path))


@pytest.mark.parametrize("writes", [0, 1, 20])
def test_a_death_on_the_way_harms_nothing(room: Path, writes: int) -> None:
    notes = Notes(room / "notes.db", 5)
    with notes.connection:
        notes.add(2_000)
    gone = notes.delete(500)
    before = notes.state()
    notes.connection.close()
    process = multiprocessing.get_context("fork").Process(
        target=_scrub_and_die, args=(notes.path, writes)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    notes.connection = connect(notes.path)
    assert notes.state() == before
    assert rows(notes.connection, "PRAGMA integrity_check") == [("ok",)]
    assert scrub(notes.connection)
    assert notes.state() == before
    assert left(room, gone) == set()


def test_a_disk_that_fails_on_the_way_is_reported(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes(room / "notes.db", 6)
    with notes.connection:
        notes.add(2_000)
    gone = notes.delete(500)
    before = notes.state()

    def fail(write_half: Callable[[], None]) -> None:
        write_half()
        raise apsw.FullError("the disk is full")

    with monkeypatch.context() as patched:
        _before_writes(patched, 3, fail)
        with pytest.raises(apsw.FullError):
            scrub(notes.connection)
    assert notes.state() == before
    assert scrub(notes.connection)
    assert left(room, gone) == set()


def test_an_index_of_words_is_made_again_if_it_keeps_how_one_begins(room: Path) -> None:
    """FTS5 keeps the start of a word as the key of a leaf, though `secure-delete` is on."""
    draw = random.Random(7)
    words = ["".join(draw.choices(_LETTERS, k=12)) for _ in range(6_000)]
    with closing(connect(room / "words.db")) as connection:
        connection.execute(
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);"
            "CREATE VIRTUAL TABLE found USING fts5(text, content=notes, content_rowid=id);"
            "INSERT INTO found(found, rank) VALUES ('secure-delete', 1)"
        )
        with connection:
            for number, word in enumerate(words):
                connection.execute("INSERT INTO notes VALUES (?, ?)", (number, word))
                connection.execute("INSERT INTO found(rowid, text) VALUES (?, ?)", (number, word))
        assert not holds_erased_terms(connection, "found")
        keys = [bytes(key)[1:].decode() for (key,) in rows(connection, "SELECT term FROM found_idx")
                if key]  # fmt: skip
        (number,) = (n for n, word in enumerate(words) if word.startswith(keys[len(keys) // 2]))
        connection.execute(
            "INSERT INTO found(found, rowid, text) VALUES ('delete', ?, ?)", (number, words[number])
        )
        connection.execute("DELETE FROM notes WHERE id = ?", (number,))
        assert holds_erased_terms(connection, "found")
        rebuild(connection, "found")
        assert not holds_erased_terms(connection, "found")


def plant(path: Path, found: Sequence[bytes], page: int = 2_048) -> int:
    """Put bytes where SQLite may leave some: before the first cell of each page of an index.

    Return of how many there was room for.
    """
    raw = bytearray(path.read_bytes())
    planted = 0
    for start in range(page, len(raw), page):
        (first,) = struct.unpack_from(">H", raw, start + 5)
        cells = min(struct.unpack_from(">H", raw, start + 3)[0], page)
        size = len(found[planted])
        if raw[start] == 10 and first - 8 - 2 * cells >= size:
            raw[start + first - size : start + first] = found[planted]
            planted += 1
    path.write_bytes(raw)
    return planted


def test_a_destroyed_key_is_in_no_byte(room: Path) -> None:
    keys = {os.urandom(16): os.urandom(32) for _ in range(3_000)}
    gone = dict(list(keys.items())[::3])
    with closing(EmbeddedKeys(room / "keys.db")) as store:
        store.add(keys)
    assert plant(room / "keys.db", list(gone.values())) > 20
    with closing(EmbeddedKeys(room / "keys.db")) as store:
        store.destroy(gone)
        raw = b"".join(path.read_bytes() for path in room.iterdir())
        assert [key for key in gone.values() if key in raw] == []
        assert len(store.get(list(keys))) == 2_000


@pytest.mark.parametrize("how", ["destroyed here", "destroyed elsewhere"])
def test_a_destroyed_key_is_in_no_byte_of_a_copy_of_the_topic(room: Path, how: str) -> None:
    keys = {os.urandom(16): os.urandom(32) for _ in range(3_000)}
    gone = dict(list(keys.items())[::3])
    with closing(KeysCopy(room / "keys.db")) as copy:
        copy.add(keys)
    assert plant(room / "keys.db", list(gone.values())) > 20
    with closing(KeysCopy(room / "keys.db")) as copy:
        if how == "destroyed here":
            copy.destroy(gone)
        else:
            copy.append_delivered(0, [Tombstone(n, key_id) for n, key_id in enumerate(gone)])
        raw = b"".join(path.read_bytes() for path in room.iterdir())
        assert [key for key in gone.values() if key in raw] == []


@pytest.mark.slow
def test_of_many_forgotten_messages_no_word_is_left_in_any_file(room: Path) -> None:
    draw = random.Random(8)
    words = ["".join(draw.choices(_LETTERS, k=16)) for _ in range(300)]
    home = Home(room / "home")
    home.tell(
        *(
            say(f"My neighbour {word.title()} lives near the old mill of {word[::-1].title()}.",
                str(number), by=f"p{number % 9}")
            for number, word in enumerate(words)
        )
    )  # fmt: skip
    gone = draw.sample(range(300), 200)
    home.tell(forget(*(number + 1 for number in gone)))
    assert left(room, {words[number] for number in gone}) == set()
    home.close()


def test_a_search_for_keys_keeps_the_locks_of_this_process_too(room: Path) -> None:
    """Whoever writes while an erasure is certified must not lose the lock meanwhile."""
    notes = Notes(room / "notes.db", 9)
    key = os.urandom(32)
    with notes.connection:
        notes.connection.execute("INSERT INTO names VALUES ('key', ?)", (key.hex(),))
        before = scan_for_keys(room, [key])
        assert before.found == []
        assert is_locked(notes.path, "BEGIN IMMEDIATE")
    notes.connection.execute("INSERT INTO names VALUES ('raw key', ?)", (key,))
    assert scan_for_keys(room, [key]).found == [room / "notes.db-wal"]
    assert truncate_wal(notes.connection)
    assert scan_for_keys(room, [key]).found == [notes.path]
    assert is_locked(notes.path, "PRAGMA journal_mode = DELETE")
