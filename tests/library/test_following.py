"""A growing file of events, followed: torn lines, files that are cut or replaced, and the kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import IngestReport
from tests.library.kit import said


def lines(*texts: str) -> str:
    return "".join(json.dumps(said(text, f"{text} is here.")) + "\n" for text in texts)


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        yield opened.zone("ada")


@contextmanager
def followed(zone: Zone, path: Path) -> Iterator[Callable[[int], IngestReport]]:
    """Follow a file; yield what waits until so many events are known and tells the report."""
    latest: list[IngestReport] = []
    done = threading.Event()

    def each(report: IngestReport) -> bool:
        latest.append(report)
        return done.is_set()

    def known(count: int) -> IngestReport:
        deadline = time.monotonic() + 60
        while not latest or latest[-1].new < count:
            assert time.monotonic() < deadline, latest[-1:]
            time.sleep(0.02)
        return latest[-1]

    thread = threading.Thread(target=lambda: zone.follow_file(path, each=each))
    thread.start()
    try:
        yield known
    finally:
        done.set()
        with path.open("a") as file:
            # It is asked whether that is all when something came.
            file.write("no event\n")
        thread.join(60)
    assert not thread.is_alive()


def held(zone: Zone) -> list[str]:
    return sorted(source for fact in zone.facts(limit=100) for source in fact.source_event_ids)


def test_a_line_counts_once_it_is_whole(zone: Zone, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(lines("m1"))
    with followed(zone, path) as known:
        assert known(1).read == 1
        torn = lines("m2")
        with path.open("a") as file:
            file.write(torn[:20])
            file.flush()
            time.sleep(0.5)
            file.write(torn[20:] + lines("m3"))
        assert known(3).rejected == 0
    assert zone.ingest_files(path).new == 0


def test_a_file_that_is_replaced_or_cut_is_read_from_its_beginning(
    zone: Zone, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(lines("m1", "m2"))
    with followed(zone, path) as known:
        known(2)
        with path.open("a") as file:
            file.write(lines("m3"))
        path.rename(tmp_path / "log.1")
        time.sleep(0.3)
        path.write_text(lines("m4"))
        known(4)
        path.write_text(lines("m5"))
        known(5)
        # Cut, and longer than before when it is looked at again.
        path.write_text(lines("m6", "m7", "m8"))
        report = known(8)
    assert report.rejected == 0
    assert report.new == 8


def test_what_cannot_be_followed_is_refused(zone: Zone, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("25/06/2020, 15:05 - Ada: hi\n")
    with pytest.raises(InvalidInput, match="cannot be followed"):
        zone.follow_file(chat, each=lambda report: True)
    with pytest.raises(InvalidInput, match="is not a file"):
        zone.follow_file(tmp_path, each=lambda report: True)


@pytest.mark.slow
def test_after_a_kill_nothing_is_lost_or_twice(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "log.jsonl"
    path.write_text("")
    command = [sys.executable, "-m", "recollect", "--home", str(home), "ingest", "--json"]

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--follow", str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "RECOLLECT_TICKS": "off"},
        )

    def reported(process: subprocess.Popen[str], wanted: Callable[[IngestReport], bool]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if wanted(json.loads(line)):
                return
        raise AssertionError("it ended")

    subprocess.run(
        [sys.executable, "-m", "recollect", "--home", str(home), "init", "--encoder", "none"],
        check=True,
        capture_output=True,
    )
    process = started()
    with path.open("a") as file:
        file.write(lines(*(f"a{n}" for n in range(50))))
    reported(process, lambda report: report["new"] >= 1)  # type: ignore[index]
    process.kill()
    process.wait(60)
    with path.open("a") as file:
        file.write(lines(*(f"b{n}" for n in range(50))))
    process = started()
    reported(process, lambda report: report["read"] == 100)  # type: ignore[index]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    with Recollect(home) as opened:
        zone = opened.zone("default")
        assert zone.status().events == 100
        assert zone.ingest_files(path).duplicate == 100


def test_a_session_of_claude_code_is_followed(zone: Zone, tmp_path: Path) -> None:
    def record(kind: str, uuid: str, words: str) -> str:
        message = {"role": kind, "id": f"msg_{uuid}", "content": [{"type": "text", "text": words}]}
        at = "2025-11-05T09:00:00Z"
        return json.dumps({"type": kind, "uuid": uuid, "timestamp": at, "message": message}) + "\n"

    path = tmp_path / "session.jsonl"
    path.write_text(record("user", "u1", "I live in Porto."))
    with followed(zone, path) as known:
        known(1)
        line = record("user", "u2", "My dog is called Rex.")
        with path.open("a") as file:
            file.write(record("assistant", "a1", "I own a zeppelin.") + line[:40])
            file.flush()
            file.write(line[40:])
        known(3)
    assert held(zone) == ["u1", "u2"]
