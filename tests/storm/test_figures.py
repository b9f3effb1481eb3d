"""What a storm counts: what homes lack, why zones stood still, and how it is told."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from tests.kill.checks import Checks
from tests.storm.figures import Figures, reasons
from tests.storm.verification.homes import compare_with_truth
from tests.storm.verification.truth import INBOX, Forgotten, Note, Said, Truth, digest_of

ROWS = [("slack", "m1", "It rains."), ("slack", "m2", "It snows.")]


def home(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    """Make the files of a home that keeps the zone ada, by hand."""
    zone = path / "zones" / "ada"
    generation = zone / "g000001"
    generation.mkdir(parents=True)
    (zone / "CURRENT").write_text("g000001\n")
    with closing(sqlite3.connect(generation / "events.db")) as events, events:
        events.execute("CREATE TABLE events (platform TEXT, source_id TEXT, content TEXT)")
        events.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
    with closing(sqlite3.connect(generation / "memory.db")) as memory, memory:
        memory.execute("CREATE TABLE watermark (number INTEGER)")
        memory.execute("INSERT INTO watermark VALUES (2)")
    return path


def truth() -> Truth:
    notes: list[Note] = [
        Said("ada", "slack", source, digest_of(said), INBOX, at)
        for at, (_, source, said) in enumerate(ROWS)
    ]
    # Nobody looks for it in a home that does not keep its zone.
    notes.append(Said("bert", "slack", "m3", digest_of("Who is there?"), INBOX, 2))
    # The end of a turn is no row.
    notes.append(Said("ada", "chat", "end", digest_of(""), INBOX, 3))
    notes.append(Said("ada", "slack", "m4", digest_of("Gone."), INBOX, 4))
    notes.append(Forgotten("ada", "slack", "m4", "Gone"))
    return Truth.of(notes)


def wrong(tmp_path: Path, rows: list[tuple[str, str, str]]) -> str:
    checks = Checks()
    compare_with_truth([home(tmp_path / "home", rows)], truth(), checks)
    ((_, said),) = checks.found
    return said


def test_a_home_that_has_everything_once_is_right(tmp_path: Path) -> None:
    assert wrong(tmp_path, ROWS) == ""


def test_a_home_that_lacks_an_event_is_told(tmp_path: Path) -> None:
    assert wrong(tmp_path, ROWS[:1]) == "1, first ada lacks ('slack', 'm2')"


def test_a_home_that_has_an_event_twice_is_told(tmp_path: Path) -> None:
    assert wrong(tmp_path, [*ROWS, ROWS[0]]) == "1, first ada has ('slack', 'm1') 2 times"


def test_a_home_that_has_other_words_is_told(tmp_path: Path) -> None:
    rows = [ROWS[0], ("slack", "m2", "It hails.")]
    assert wrong(tmp_path, rows) == "1, first ada has other words of ('slack', 'm2')"


def test_a_home_that_still_has_what_was_forgotten_is_told(tmp_path: Path) -> None:
    rows = [*ROWS, ("slack", "m4", "Gone.")]
    assert wrong(tmp_path, rows) == "1, first ada still has ('slack', 'm4')"


def test_why_zones_stood_still_is_read_from_the_workers_logs(tmp_path: Path) -> None:
    first, second = tmp_path / "worker-1.log", tmp_path / "worker-2.log"
    first.write_text(
        "recollect: zone ada has stopped: the ledger kafka://127.0.0.1:1 cannot be used\n"
        "zone-1: decided 3 records\n"
    )
    second.write_text(
        "recollect: zone bert has stopped: the ledger kafka://127.0.0.1:2 cannot be used\n"
        "recollect: zone ada has stopped: a key is missing\n"
    )
    os.utime(first, (1, 1))
    last, often = reasons([second, first])
    assert last == {
        "ada": "a key is missing",
        "bert": "the ledger kafka://127.0.0.1:2 cannot be used",
    }
    assert often == {"the ledger … cannot be used": 2, "a key is missing": 1}


def test_figures_say_in_a_line_what_came_of_it() -> None:
    found = Figures(
        seconds=120.0,
        events=10,
        acknowledged=9,
        kills=3,
        stops=1,
        broker_kills=2,
        broker_stops=1,
        disks_lost=1,
        one_in_sync=1,
        leader_changes=7,
        shrinks=8,
        unclean=0,
        clock_jumps=4,
        lost=1,
        doubled=0,
        zones=2,
        zones_stopped={"ada": "1 events to decide"},
        stood_still={},
    )
    assert found.line.endswith("lost 1, doubled 0, zones stopped 1 (ada: 1 events to decide)")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Figures) == found
