"""Heads that somebody trains on sentences of their own, and a home that reads with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from recollect.streams.reader.head_file import OWN, HeadFile
from tests.home.kit import ROOT, SENTENCES, Home

PLAIN = [
    {"text": "The kiln at Marlow Pottery fires on Thursdays.", "keep": True},
    {"text": "Studio B belongs to Irena until June.", "keep": True},
    {"text": "The kiln is so loud today.", "keep": False},
    {"text": "Can you check the kiln?", "keep": False},
]


def train(data: Path, file: Path) -> subprocess.CompletedProcess[str]:
    cache = os.environ.get("RECOLLECT_CACHE", "~/.cache/recollect")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "training.train_heads",
            data,
            file,
            "--version",
            "mine",
            "--cache",
            cache,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "sets"
    folder.mkdir()
    lines = [msgspec.json.encode({**row, "kind": "work"}) for row in PLAIN]
    (folder / "plain.jsonl").write_bytes(b"\n".join(lines))
    return folder


@pytest.mark.slow
def test_ones_own_sentences_train_the_head_of_what_lasts_alone(data: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.heads", "two.heads")]
    for file in files:
        ended = train(data, file)
        assert ended.returncode == 0, ended.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    own, mine = (
        msgspec.msgpack.decode(path.read_bytes(), type=HeadFile) for path in (OWN, files[0])
    )
    assert mine.version == "mine"
    assert {name for name in own.heads if own.heads[name] != mine.heads[name]} == {"salience"}

    home = Home(tmp_path / "home")
    home.well("init", "--encoder", "all-MiniLM-L6-v2", "--encoder-source", "wheel")
    home.well("init", "--reader", str(files[0]))
    home.ingest(*SENTENCES)
    home.well("verify")


def test_a_folder_without_sets_says_what_belongs_there(tmp_path: Path) -> None:
    file = tmp_path / "none.heads"
    ended = train(tmp_path, file)
    assert ended.returncode == 1
    assert "has no sets to train on" in ended.stderr
    assert "plain.jsonl" in ended.stderr
    assert not file.exists()
