"""What must make no difference: batches, extracting ahead, zones, processes, rebuilds."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from recollect.schemas.errors import InjectedFailure
from recollect.schemas.events import Draft
from recollect.schemas.wire import RebuildLevel
from recollect.streams.adapters import drafts
from recollect.streams.adapters.input.input_files import InputFile
from recollect.streams.adapters.jsonl import JsonLines
from recollect.streams.engine.zone_driver import BATCH_SIZE
from recollect.streams.ledger import EVENTS, partition_of
from recollect.streams.lifecycle.rebuilding import rebuild, rollback
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.projecting.projector import project_events
from recollect.streams.records.chain_readers import EventReader
from recollect.streams.system import failpoints
from tests.protocol.kit import (
    DAY,
    MINUTE,
    START,
    ZONE,
    Home,
    agree,
    complete,
    forget,
    in_memory,
    live,
    projected,
    say,
)

pytestmark = pytest.mark.usefixtures("learnt_salience")

ROOT = Path(__file__).resolve().parents[3]
EXPORT = ROOT / "demo" / "export.jsonl"

MakeHome = Callable[..., Home]


def exported() -> list[Draft]:
    """Return the demo's messages, known to the ledger when they were sent."""
    return [
        msgspec.structs.replace(draft, ingested_at=draft.occurred_at)
        for _, draft in drafts(JsonLines(InputFile(EXPORT)))
        if isinstance(draft, Draft)
    ]


@pytest.fixture(scope="module")
def decided() -> Iterator[Path]:
    """A home with the demo's export, every record decided."""
    with in_memory() as room:
        home = Home(room / "home")
        home.tell(*exported())
        home.close()
        yield room / "home"


@pytest.fixture
def export(decided: Path, room: Path) -> Iterator[Home]:
    home = Home(Path(shutil.copytree(decided, room / "export")))
    yield home
    home.close()


def a_history() -> list[Draft]:
    """Turns, questions, claims, repeats near and far, and erasures between them."""
    texts = ["I like green tea.", "Where is the map?", "Ada moved to Berlin.", "My car is red."]
    history: list[Draft] = []
    for n in range(60):
        history.append(
            say(
                texts[n % 4] if n % 3 else f"The box number {n} is in Paris.",
                f"m{n}",
                by="Ada" if n % 5 else "Bob",
                at=START + n * DAY // 7,
                thread=f"t{n % 2}",
                turn=f"T{n // 10}" if n % 4 == 1 else None,
            )
        )
        if n % 20 == 19:
            history.append(complete(f"T{n // 10}", f"c{n}", thread="t1", at=START + n * MINUTE))
        if n % 15 == 14:
            history.append(forget(n - 7, n - 2, at=START + n))
    return history


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    """The hashes of the history, decided record by record as it came."""
    with in_memory() as room:
        home = Home(room / "home")
        for draft in a_history():
            home.tell(draft)
        hashes = live(home)
        assert len(home.facts()) > 5
        home.close()
    return hashes


@pytest.mark.parametrize("batch", [1, 2, 7, 64, 500])
def test_the_size_of_a_batch_makes_no_difference(
    home: Home, expected: dict[str, str], batch: int
) -> None:
    home.publish(*a_history())
    with home.driver(batch=batch) as driver:
        driver.run()
    assert live(home) == expected
    assert projected(home) == expected


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_extracting_ahead_makes_no_difference(
    home: Home, expected: dict[str, str], batch: int
) -> None:
    """Without `run`, nothing is extracted before the record before it is committed."""
    home.publish(*a_history())
    with home.driver(batch=batch) as driver:
        driver.catch_up()
        reader = EventReader(home.ledger, ZONE)
        while records := driver.read(reader):
            assert driver.decide(records, driver.extract(records)) == len(records)
    assert live(home) == expected


def test_extracting_everything_before_anything_is_decided_makes_no_difference(
    home: Home, expected: dict[str, str]
) -> None:
    home.publish(*a_history())
    with home.driver(batch=5) as driver:
        project_events(home.ledger, ZONE, driver._files, upto=40)
        reader = EventReader(home.ledger, ZONE)
        batches = []
        while records := driver.read(reader):
            batches.append((records, driver.extract(records)))
        driver.catch_up()
        for records, extracted in batches:
            assert driver.decide(records, extracted) == len(records)
    assert live(home) == expected


@pytest.mark.parametrize("pieces", [1, 2, 10])
def test_two_homes_that_were_told_the_same_are_the_same(
    make_home: MakeHome, expected: dict[str, str], pieces: int
) -> None:
    home = make_home(f"in-{pieces}")
    history = a_history()
    for at in range(0, len(history), -(-len(history) // pieces)):
        home.publish(*history[at : at + -(-len(history) // pieces)])
        home.drive()
    assert live(home) == expected
    assert agree(home) == expected


def test_the_order_of_zones_makes_no_difference(make_home: MakeHome) -> None:
    zones = same_partition(3)
    drafts = a_history()[:25]

    def told(home: Home, order: Sequence[str], step: int) -> dict[str, dict[str, str]]:
        for at in range(0, len(drafts), step):
            for zone in order:
                home.publish(*drafts[at : at + step], zone=zone)
        for zone in reversed(order):
            home.drive(zone)
        return {zone: live(home, zone) for zone in zones}

    one = told(make_home("one"), zones, 1)
    other = told(make_home("other"), zones[::-1], 7)
    assert one == other
    assert len({tuple(hashes.values()) for hashes in one.values()}) == 3


def same_partition(count: int) -> list[str]:
    """Return names of zones that share a partition, so that their records lie between."""
    names = [f"zone-{n}" for n in range(200)]
    return [name for name in names if partition_of(name) == partition_of(names[0])][:count]


@pytest.mark.slow
@pytest.mark.parametrize("files", ["shared", "own"])
def test_three_processes_at_once_give_what_one_gives(
    home: Home, room: Path, expected: dict[str, str], files: str
) -> None:
    history = a_history()
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.protocol.processes.worker",
                str(home.path if files == "shared" else room / f"worker-{n}"),
                str(home.path),
                str(len(history)),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for n in range(3)
    ]
    for at in range(0, len(history), 3):
        home.publish(*history[at : at + 3])
        home.ledger.wait({}, 0.02)
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors.decode()
    home.drive()
    assert live(home) == expected
    assert len(home.ledger.read(EVENTS, partition_of(ZONE), 0, 10_000, ZONE)) == len(history)
    if files == "shared":
        assert len(home.changes()) == len(history)
    else:
        for n in range(3):
            worker_home = Home(room / f"worker-{n}", ledger=home.path)
            worker_home.drive()
            assert live(worker_home) == expected
            worker_home.close()
    assert projected(home) == expected


# The demo's export


def test_live_is_projected_is_derived(export: Home) -> None:
    agree(export)
    assert verify(export.node, ZONE).ok
    assert len(export.facts()) > 100


@pytest.mark.parametrize(
    "level",
    ["index", "project", *(pytest.param(n, marks=pytest.mark.slow) for n in ("derive", "fresh"))],
)
def test_after_a_rebuild_the_content_is_the_same(export: Home, level: RebuildLevel) -> None:
    hashes = live(export)
    assert rebuild(export.node, ZONE, level).level == level
    assert live(export) == hashes


def test_a_rebuild_opens_no_door(export: Home) -> None:
    export.restart()
    assert rebuild(export.node, ZONE, "derive").encoded == 0
    assert rebuild(export.node, ZONE, "project").encoded == 0


@pytest.mark.slow
def test_after_forgetting_ten_messages_one_by_one(export: Home) -> None:
    numbers = random.Random(20_260_105).sample(range(1, len(exported()) + 1), 10)
    before = live(export)
    for number in numbers:
        export.tell(forget(number))
        assert projected(export) == live(export)
    hashes = agree(export)
    assert hashes != before
    assert verify(export.node, ZONE).ok


@pytest.mark.slow
def test_after_forgetting_several_in_one_command(export: Home, make_home: MakeHome) -> None:
    """One command, several commands, and never having been told end in the same facts."""
    numbers = random.Random(7).sample(range(1, len(exported()) + 1), 10)
    export.tell(forget(*numbers))
    hashes = agree(export)
    one_by_one = make_home("one-by-one")
    one_by_one.publish(*exported())
    one_by_one.tell(*(forget(number) for number in numbers))
    assert live(one_by_one) == hashes
    never = make_home("never")
    never.tell(*(draft for n, draft in enumerate(exported(), 1) if n not in numbers))
    sentences = "SELECT text, context, as_of FROM facts ORDER BY 1, 2, 3"
    assert never.rows("memory", sentences) == export.rows("memory", sentences)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["project", "derive", "fresh"])
@pytest.mark.parametrize("name", ["rebuild.written", "rebuild.switched"])
def test_a_rebuild_killed_half_way_is_resumed(export: Home, level: RebuildLevel, name: str) -> None:
    hashes = live(export)
    failpoints.arm(name)
    with pytest.raises(InjectedFailure):
        rebuild(export.node, ZONE, level)
    failpoints.disarm()
    export.restart()
    assert live(export) == hashes
    rebuild(export.node, ZONE, level)
    assert live(export) == hashes
    assert verify(export.node, ZONE).ok
    assert all(generation.complete for generation in export.node.zone(ZONE).generations())


@pytest.mark.slow
@pytest.mark.parametrize("passed", [2, 4])
def test_a_derivation_killed_between_batches_is_resumed(export: Home, passed: int) -> None:
    hashes = live(export)
    failpoints.arm("commit.accepted", passed)
    with pytest.raises(InjectedFailure):
        rebuild(export.node, ZONE, "derive")
    failpoints.disarm()
    export.restart()
    again: list[int] = []
    rebuild(export.node, ZONE, "derive", progress=again.append)
    assert sum(again) <= len(exported()) - (passed - 1) * BATCH_SIZE
    assert live(export) == hashes
    assert verify(export.node, ZONE).ok


@pytest.mark.parametrize(
    "level", ["project", *(pytest.param(n, marks=pytest.mark.slow) for n in ("derive", "fresh"))]
)
def test_a_rollback_brings_the_old_generation_up_to_date(export: Home, level: RebuildLevel) -> None:
    old = export.node.current(ZONE)
    rebuild(export.node, ZONE, level)
    export.tell(say("The new bicycle is blue.", "new"), forget(5))
    hashes = live(export)
    assert rollback(export.node, ZONE).name == old.name
    assert live(export) == hashes
    assert verify(export.node, ZONE).ok
    export.tell(say("The newer bicycle is red.", "newer"))
    newest = live(export)
    rollback(export.node, ZONE)
    assert live(export) == newest != hashes
    assert verify(export.node, ZONE).ok
