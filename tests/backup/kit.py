"""Test kit for backups: a home, its backups, and searches of them without the product's code."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from recollect.cli.app import run
from tests.opened import payload_of, sections_of

Json = dict[str, Any]

#: Words that stand in one event each, in zone "default"; a stemmer leaves them as they are.
WORDS = {
    "m-1": "bazukakolimuk",
    "m-2": "dofemikolimuk",
    "m-3": "gotivukolimuk",
    "m-4": "kupamikolimuk",
    "m-5": "ravogukolimuk",
    "m-6": "tizobakolimuk",
    "m-7": "vumefakolimuk",
    "m-8": "zabikokolimuk",
}


class Ended(NamedTuple):
    """The result of a command: exit status and output."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def line(id_: str, content: str, *, day: int = 1, **fields: Any) -> Json:
    """Return an event in the import format."""
    return {
        "id": id_,
        "platform": "chat",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": f"2026-05-{day:02}T10:00:00Z",
        "content": content,
        **fields,
    }


class Homes:
    """A directory with a home, its backup and what is restored from it."""

    def __init__(self, room: Path, name: str = "home") -> None:
        self.room = room
        self.home = room / name
        self.backup = room / "backup"

    def copied(self, other: Path) -> Self:
        """Copy the content of another room."""
        shutil.copytree(other, self.room, dirs_exist_ok=True)
        return self

    def other(self, name: str) -> Homes:
        """Return another home in the same room."""
        return Homes(self.room, name)

    def run(self, *arguments: str) -> Ended:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            status = run(["--home", str(self.home), *arguments])
        return Ended(status, out.getvalue(), err.getvalue())

    def well(self, *arguments: str) -> Ended:
        """Run a command that must succeed."""
        ended = self.run(*arguments)
        assert ended.status == 0, (arguments, ended)
        return ended

    def restored(self, *options: str, path: Path | None = None) -> Json:
        """Restore the backup, and verify the result."""
        report = self.well("restore", str(path or self.backup), "--json", *options).json
        assert not (self.home / "restoring").exists()
        self.whole()
        return dict(report)

    def refused(self, *options: str, path: Path | None = None) -> Ended:
        """Check that a restore is refused and changes nothing."""
        before = tree(self.home)
        ended = self.run("restore", str(path or self.backup), "--json", *options)
        assert ended.status in (1, 2), ended
        assert ended.out == ""
        assert ended.err.startswith("recollect: ")
        assert tree(self.home) == before
        return ended

    def whole(self, zone: str = "default") -> Json:
        """Return the report of `verify`, which must find no problem."""
        return dict(self.well("--zone", zone, "verify", "--json").json)

    def ingest(self, *lines: Json, zone: str = "default") -> Json:
        path = self.room / "events.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return dict(self.well("--zone", zone, "ingest", str(path), "--json").json)

    def fill(self) -> None:
        """Ingest an event for each word, with threads, edits, a turn and another zone."""
        self.ingest(
            line("m-1", f"Ada lives in Berlin near the {WORDS['m-1']}.", day=1),
            line("m-2", f"Where is the {WORDS['m-2']} now?", day=2, thread_id="attic"),
            line("m-3", f"Ben painted the {WORDS['m-3']} in Graz.", day=3, thread_id="attic"),
            line("m-4", f"I bought a {WORDS['m-4']} in Lyon.", day=4, sender_id="u9"),
            line("m-5", f"Irina Ravogukolimuk met me at {WORDS['m-5']} House.", day=5),
            line("m-6", f"My sister works at {WORDS['m-6']} in Oslo.", day=6),
            line("m-7", f"I like {WORDS['m-7']}.", day=7),
            line(
                "m-7e", f"I love {WORDS['m-7']}.", day=8, kind="edit", target="m-7",
                said_at="2026-05-07T10:00:00Z",
            ),
            line("m-8", f"Cleo drinks {WORDS['m-8']} tea.", day=9, sender_id="cleo"),
            line("m-9", "Dora has a green bicycle.", day=10, sender_id="dora"),
        )  # fmt: skip
        self.ingest(line("m-1", "Bruno lives in Bergen.", sender_id="bruno"), zone="b")

    def contents(self, zone: str = "default") -> dict[str, str]:
        """Return the turns of a zone by the sources' ids, read with plain SQL."""
        directory = self.home / "zones" / zone
        current = directory / (directory / "CURRENT").read_text().strip()
        return dict(rows(current / "events.db", "SELECT source_id, content FROM events"))

    def traces(self, *words: str) -> list[str]:
        """Return where words can be read: in a file's bytes or in a record that can be unsealed."""
        return list(traces(self.home, *words))


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def tree(directory: Path) -> dict[str, bytes]:
    """Return the files below a directory that are no locks, with their bytes, but for those that
    readers of a WAL make.
    """
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith((".lock", "-shm", "-wal", "driver.db"))
    }


def traces(directory: Path, *words: str) -> Iterator[str]:
    """Yield where words can be read below a directory, in any file or record.

    Indexes leave out what a word has in common with the one before, so its end is looked for.
    """
    needles = [word[2:].encode() for word in words]
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            raw = path.read_bytes().lower()
            yield from (f"{path.name}: {needle!r}" for needle in needles if needle in raw)
    for where, text in opened(directory):
        yield from (f"{where}: {needle!r}" for needle in needles if needle in text.lower())


def opened(home: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every record of a ledger that its keys unseal."""
    keys = {bytes(id_): bytes(key) for id_, key in rows(home / "keys.db", "SELECT * FROM keys")}
    for position, value in rows(home / "ledger.db", "SELECT position, value FROM events"):
        envelope, sealed = msgspec.msgpack.decode(value)
        key = keys.get(msgspec.msgpack.decode(envelope)[9])
        if key is not None:
            text = AESGCM(key).decrypt(sealed[:12], sealed[12:], envelope)
            yield f"event at {position}", payload_of(text)
    for position, value in rows(home / "ledger.db", "SELECT position, value FROM changes"):
        header, parts = msgspec.msgpack.decode(value)
        for sources, sealed in parts:
            found = [keys.get(id_) for _, id_ in sources]
            if None in found:
                continue
            key = b"".join(filter(None, found))
            if len(found) > 1:
                key = HKDF(hashes.SHA256(), 32, salt=None, info=b"recollect change").derive(key)
            context = header + msgspec.msgpack.encode(sources)
            try:
                text = AESGCM(key).decrypt(sealed[:12], sealed[12:], context)
            except InvalidTag:
                continue
            yield f"change at {position}", sections_of(text)
