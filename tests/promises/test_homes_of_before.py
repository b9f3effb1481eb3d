"""A home of the build before opens, answers, verifies and rebuilds; nothing of it is lost."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.projections.files import ZoneFiles
from recollect.projections.sqlite import rows, scalar
from tests.memory import Memory
from tests.migrations.layouts import shape
from tests.protocol.kit import in_memory
from tests.recall.kit import DIMENSION, HOUR, MODEL, START, EncodedHome, ask, cited, say, tell

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden"
HOMES = sorted(GOLDEN.glob("home-*.tar.gz"))


@pytest.fixture(params=HOMES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    """The zone of an old home, unpacked."""
    with in_memory() as room:
        with tarfile.open(request.param) as packed:
            packed.extractall(room, filter="data")
        with Memory(EncodedHome(room / "home")) as memory:
            yield memory


def test_there_is_one() -> None:
    assert HOMES


def test_it_answers_as_it_did(memory: Memory) -> None:
    assert cited(ask(memory, "Which dog do I own?"))[0] == "rex"
    assert cited(ask(memory, "door code"))[:1] != ["gone"]
    (rome,) = (item for item in ask(memory, "live", scope=("facts",)) if "Rome" in item.text)
    assert rome.is_stale


def test_what_it_knows_is_not_learnt_again(memory: Memory) -> None:
    """Its facts keep their signatures in another form than those of today."""
    query = "SELECT count(*) FROM facts WHERE text LIKE '%Rex%'"
    tell(memory, [say("I own a puppy called Rex.", "again", at=START + 2 * HOUR)])
    with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
        assert scalar(files.memory.connection, query) == 1


def test_it_is_whole_once_it_is_opened(memory: Memory) -> None:
    found = memory.verify()
    assert found.ok, found.problems


@pytest.mark.parametrize("level", ["index", "project", "derive"])
def test_it_is_rebuilt(memory: Memory, level: str) -> None:
    memory.rebuild(level)
    found = memory.verify()
    assert found.ok, found.problems
    assert memory.status().events == 6  # one of seven was forgotten


def test_its_files_end_with_the_tables_of_new_ones(memory: Memory, tmp_path: Path) -> None:
    """Also before a replay compares them, whatever the migrations were."""
    with (
        memory.node.open(memory.zone, memory.node.current(memory.zone)) as files,
        ZoneFiles(tmp_path, MODEL, DIMENSION) as new,
    ):
        for old, made in zip(files.all, new.all, strict=True):
            assert shape(old.path) == shape(made.path)
            assert rows(old.connection, "SELECT version FROM schema_version") == rows(
                made.connection, "PRAGMA user_version"
            )
