"""Homes as builds before left them open, verify and are rebuilt, with every answer they gave."""

from __future__ import annotations

import tarfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from recollect.projections.sqlite import rows
from recollect.schemas.ledger.records import read_change
from recollect.streams.ledger import CHANGES, partition_of
from tests.memory import Memory
from tests.recall.kit import DAY, START, EncodedHome, ask, cited, say, tell, vector_of

PACKED = sorted((Path(__file__).parents[1] / "data" / "golden").glob("home-*.tar.gz"))


@pytest.fixture(params=PACKED, ids=lambda path: path.name.removesuffix(".tar.gz"))
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "home"


def answers(memory: Memory) -> list[list[str]]:
    return [cited(ask(memory, query)) for query in ("puppy", "Where do I live?", "bicycle", "oak")]


def vectors(memory: Memory) -> dict[tuple[str, str], bytes]:
    with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
        query = "SELECT target_type, target_id, embedding FROM embeddings"
        found = rows(files.embeddings.connection, query)
    return {(kind, id_): vector for kind, id_, vector in found}


def formats(memory: Memory) -> set[int]:
    read = memory.node.ledger.read(CHANGES, partition_of(memory.zone), 0, 10_000, memory.zone)
    return {read_change(record.value)[0].format for record in read}


def test_it_answers_and_verifies_before_and_after_more_is_said(home: Path) -> None:
    with Memory(EncodedHome(home)) as memory:
        before = answers(memory)
        assert before[0][0] == "rex"
        assert memory.verify().ok
        tell(memory, [say("The oak was a linden.", "linden", at=START + 9 * DAY)])
        assert cited(ask(memory, "linden"))[0] == "linden"
        assert memory.verify().ok
        # Old and new change records follow one another in one chain.
        assert len(formats(memory)) == 2


def test_its_vectors_become_those_that_the_encoder_gives_today(home: Path) -> None:
    with Memory(EncodedHome(home)) as memory:
        with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
            turns = rows(files.events.connection, "SELECT id, content FROM events")
        found = vectors(memory)
    for id_, content in turns:
        vector = vector_of(content)
        # A byte a dimension, the greatest 127.
        expected = [round(float(number)) for number in vector * (127 / np.abs(vector).max())]
        assert list(np.frombuffer(found["event", id_], np.int8)) == expected, content


@pytest.mark.parametrize("level", ["index", "project", "derive"])
def test_a_rebuild_gives_the_same_and_asks_nobody(home: Path, level: str) -> None:
    with Memory(EncodedHome(home)) as memory:
        before, held = answers(memory), vectors(memory)
        asked = memory.rebuild(level).encoded
        if level == "derive":
            # Decided again by the rules of today, which may keep more of what was said.
            assert asked == len(vectors(memory).keys() - held.keys()) <= 1
            assert held.items() <= vectors(memory).items()
            assert [found[0] for found in answers(memory)] == [found[0] for found in before]
        else:
            assert asked == 0
            assert answers(memory) == before
            assert vectors(memory) == held
        assert memory.verify().ok


def test_what_it_said_can_be_forgotten(home: Path) -> None:
    with Memory(EncodedHome(home)) as memory:
        kept = vectors(memory)
        memory.forget("rex")
        assert cited(ask(memory, "puppy")) != ["rex"]
        assert memory.verify().ok
        after = vectors(memory)
        # What is decided again for the erasure follows the rules of today.
        assert all(after[key] == kept[key] for key in after.keys() & kept.keys())
        assert len(after.keys() - kept.keys()) <= 1
        assert kept.keys() - after.keys()
        hashes = msgspec.to_builtins(memory.status())
        memory.rebuild("derive")
        assert vectors(memory) == after
        assert hashes["facts"] == msgspec.to_builtins(memory.status())["facts"]
