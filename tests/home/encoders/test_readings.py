"""A home with a reader: what was read is recorded, and nothing is read twice."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest

from recollect.streams.reader.head_file import OWN, HeadFile
from tests.home.kit import SENTENCES, Home

MINILM = ("--encoder", "all-MiniLM-L6-v2", "--encoder-source", "wheel")


def readings(home: Home) -> dict[int, bytes]:
    """Return what is recorded in the files in use, by the event's number."""
    (path,) = home.path.rglob("embeddings.db")
    with sqlite3.connect(path) as connection:
        return dict(connection.execute("SELECT number, content FROM readings"))


def readers(home: Home) -> set[bytes]:
    """Return the readers of all that is recorded, in the files of every generation."""
    found = set()
    for path in home.path.rglob("embeddings.db"):
        with sqlite3.connect(path) as connection:
            found |= {reader for (reader,) in connection.execute("SELECT reader FROM readings")}
    return found


@pytest.fixture
def read(tmp_path: Path) -> Home:
    home = Home(tmp_path / "read")
    home.well("init", *MINILM)
    home.ingest(*SENTENCES)
    return home


def test_every_message_is_read_once(read: Home) -> None:
    assert sorted(readings(read)) == [1, 2, 3, 4]
    assert all(readings(read).values())


def test_a_rebuild_without_any_model_repeats_what_was_read(
    read: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read.well("verify", "--json").json
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "empty"))
    assert read.well("rebuild", "--level", "derive", "--json").json["encoded"] == 0
    after = read.well("verify", "--json").json
    assert before["models"] == after["models"]


def test_what_was_read_is_forgotten_with_its_event(read: Home) -> None:
    read.well("forget", "m-2")
    assert sorted(readings(read)) == [1, 3, 4]


def test_a_home_may_do_without_a_reader(tmp_path: Path) -> None:
    home = Home(tmp_path / "unread")
    assert home.well("init", *MINILM, "--reader", "none", "--json").json["reader"] is None
    home.ingest(*SENTENCES)
    assert readings(home) == {}
    assert home.well("recall", "Where does Ada live?", "--json").json["results"]


def test_a_home_goes_on_with_its_former_heads_until_it_is_told_otherwise(
    tmp_path: Path,
) -> None:
    former = msgspec.msgpack.decode(OWN.read_bytes(), type=HeadFile)
    file = tmp_path / "former.heads"
    file.write_bytes(msgspec.msgpack.encode(msgspec.structs.replace(former, version="0")))
    home = Home(tmp_path / "former")
    pinned = home.well("init", *MINILM, "--reader", str(file), "--json").json["reader"]
    file.unlink()
    home.ingest(*SENTENCES)
    before = home.well("verify", "--json").json
    assert home.well("rebuild", "--level", "derive", "--json").json["encoded"] == 0
    assert home.well("verify", "--json").json["models"] == before["models"]
    # A plain init repairs, and changes no pin.
    assert home.well("init", "--json").json["reader"] == pinned
    own = home.well("init", "--reader", "own", "--json").json["reader"]
    assert own != pinned
    assert home.well("recall", "Where does Ada live?", "--json").json["results"]
    assert readers(home) == {bytes.fromhex(pinned[:8])}
    home.well("rebuild", "--level", "derive")
    assert bytes.fromhex(own[:8]) in readers(home)
    home.well("verify")
