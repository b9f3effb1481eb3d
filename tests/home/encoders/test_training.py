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
@pytest.mark.timeout(1_200)
def test_ones_own_sentences_train_the_heads_of_salience_alone(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.heads"
    ended = train(data, file)
    assert ended.returncode == 0, ended.stderr
    own, mine = (msgspec.msgpack.decode(path.read_bytes(), type=HeadFile) for path in (OWN, file))
    assert mine.version == "mine"
    changed = {name for name in own.heads if own.heads[name] != mine.heads[name]}
    assert changed == {"salience", "sentence_salience"}

    home = Home(tmp_path / "home")
    home.well("init", "--encoder", "all-MiniLM-L6-v2", "--encoder-source", "wheel")
    home.well("init", "--reader", str(file))
    home.ingest(*SENTENCES)
    home.well("verify")


def test_a_folder_without_sets_says_what_belongs_there(tmp_path: Path) -> None:
    file = tmp_path / "none.heads"
    ended = train(tmp_path, file)
    assert ended.returncode == 1
    assert "has no sets to train on" in ended.stderr
    assert "plain.jsonl" in ended.stderr
    assert not file.exists()
