"""Any damaged or missing derived file is noticed, and made again by `rebuild`."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.home.kit import Home
from tests.slow_parameters import slow_except

FILES = ["events.db", "memory.db", "identity.db", "embeddings.db"]
QUESTION = "Where does Ada live?"
PAGE = 2048


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:PAGE])


def garble(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def damage_pages(path: Path) -> None:
    """Every page but the first, as a disk may that goes bad."""
    content = bytearray(path.read_bytes())
    content[PAGE:] = random.Random(2).randbytes(len(content) - PAGE)
    path.write_bytes(content)


def drop_a_table(path: Path) -> None:
    table = {"events": "events", "memory": "facts", "identity": "entities"}.get(path.stem)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DROP TABLE {table or 'embeddings'}")


DAMAGES: list[Callable[[Path], None]] = [
    *(delete, empty, truncate, garble, damage_pages, drop_a_table)
]


def close(home: Home) -> None:
    """Leave no log beside the files: what is in them is all."""
    for path in home.path.rglob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in [*home.path.rglob("*-wal"), *home.path.rglob("*-shm")]:
        path.unlink()


def of(home: Home) -> tuple[object, ...]:
    """Return what a home answers and holds."""
    status = home.well("status", "--json").json
    counts = tuple(status[name] for name in ("events", "facts", "entities", "lag"))
    hashes = tuple((row["model"], row["hash"]) for row in verified(home)["models"])
    return counts, hashes, home.found(QUESTION)


@pytest.fixture(scope="module")
def before(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """What the home answers and holds before it is damaged."""
    place = tmp_path_factory.mktemp("before") / "home"
    shutil.copytree(filled, place)
    return of(Home(place))


def verified(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = home.well("verify", "--json").json
    return found


def noticed(home: Home, *, at_once: bool = True) -> None:
    """Require that status, recall and doctor say what to do, and none answers as if empty."""
    commands: list[tuple[str, ...]] = [("doctor",)]
    if at_once:
        commands += [("status",), ("recall", QUESTION)]
    for command in commands:
        ended = home.run(*command)
        assert ended.status == 1, (command, ended.said)
        assert "rebuild" in ended.said, (command, ended.said)
        assert "Traceback" not in ended.said


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", slow_except((delete, damage_pages), DAMAGES))
def test_a_damaged_file_is_noticed_and_made_again(
    home: Home, name: str, damage: Callable[[Path], None], before: tuple[object, ...]
) -> None:
    close(home)
    damage(home.generation / name)
    # Nothing reads vectors without an encoder, nor every table at once; doctor reads all.
    noticed(home, at_once=damage in (delete, empty, garble, drop_a_table))
    home.well("rebuild")
    assert of(home) == before
    assert home.run("doctor", "--json").json["checks"]
    home.well("rebuild")
    home.well("rollback")
    assert of(home) == before


def lose_pointer(home: Home) -> None:
    (home.path / "zones" / "default" / "CURRENT").unlink()


def empty_pointer(home: Home) -> None:
    (home.path / "zones" / "default" / "CURRENT").write_bytes(b"")


def point_nowhere(home: Home) -> None:
    (home.path / "zones" / "default" / "CURRENT").write_bytes(b"g999999\n")


def garble_pointer(home: Home) -> None:
    (home.path / "zones" / "default" / "CURRENT").write_bytes(b"\xff\x00\xfe/../..")


def garble_description(home: Home) -> None:
    (home.generation / "generation.json").write_bytes(b"{\xff")


def lose_description(home: Home) -> None:
    (home.generation / "generation.json").unlink()


def lose_generation(home: Home) -> None:
    shutil.rmtree(home.generation)


@pytest.mark.parametrize(
    "damage",
    [
        *(lose_pointer, empty_pointer, point_nowhere, garble_pointer),
        *(garble_description, lose_description, lose_generation),
    ],
)
def test_a_lost_generation_is_noticed_and_made_again(
    home: Home, damage: Callable[[Home], None], before: tuple[object, ...]
) -> None:
    damage(home)
    noticed(home)
    home.well("rebuild")
    assert of(home) == before


@pytest.mark.parametrize("damage", [delete, empty, truncate, garble, damage_pages])
def test_a_damaged_journal_is_made_again_by_whoever_opens_it(
    home: Home, damage: Callable[[Path], None], before: tuple[object, ...]
) -> None:
    close(home)
    damage(home.path / "driver.db")
    assert of(home) == before
    home.well("worker", "--once")
    home.well("rebuild")
    assert of(home) == before


@pytest.mark.parametrize("asked_first", ["recall", "status"])
def test_a_zone_whose_files_are_all_lost_comes_back_from_the_ledger(
    home: Home, asked_first: str
) -> None:
    # All that is known, and not only what was said.
    question = ("recall", QUESTION, "--scope", "facts,observations", "--json")
    before = of(home), home.well(*question).json["results"]
    assert before[1]
    shutil.rmtree(home.path / "zones" / "default")
    home.well(*(question if asked_first == "recall" else ("status",)))
    assert home.well("status", "--json").json["lag"] == 0
    assert (of(home), home.well(*question).json["results"]) == before


def change(home: Home, name: str, statement: str) -> None:
    with closing(sqlite3.connect(home.generation / name)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize("name", ["events.db", "memory.db", "embeddings.db"])
def test_a_file_that_does_not_say_how_its_rows_changed_is_noticed_and_made_again(
    home: Home, name: str, before: tuple[object, ...]
) -> None:
    change(home, name, "DELETE FROM lineage")
    for command in ("recall", QUESTION), ("verify",):
        ended = home.run(*command)
        assert ended.status == 1, ended.said
        assert f"{name} lacks the count of its row changes" in ended.said
        assert "rebuild" in ended.said
    home.well("rebuild")
    assert of(home) == before


@pytest.mark.parametrize("chain", slow_except(("c999999",), ("", "c0", "c999999")))
def test_a_file_that_names_another_chain_than_the_ledger_leads_nobody_there(
    home: Home, chain: str
) -> None:
    home.well("rebuild", "--level", "derive")
    before, generation = of(home), home.generation
    change(home, "events.db", f"UPDATE switches SET chain = '{chain}'")
    for command in ("worker", "--once"), ("remember", "Ada likes black tea."):
        # In a process of its own, which is given up where it does not end.
        ended = home.run(*command, umask=0o077)
        assert ended.status == 1, ended.said
        assert "rebuild" in ended.said
    assert home.generation == generation
    assert home.run("verify").status == 1
    home.well("rebuild")
    # What came meanwhile is in the ledger, and comes with it.
    assert home.found("black tea")
    home.well("forget", home.well("recall", "black tea", "--json").json["results"][0]["id"])
    assert of(home)[2] == before[2]
    assert home.well("verify", "--json").json["ok"]
