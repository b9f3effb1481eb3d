"""The ledger of one machine keeps the contract, and what only it promises of its files."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.schemas.errors import InjectedFailure
from recollect.streams.ledger import CHANGES, EVENTS, LedgerGap, embedded_ledger, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.ledger.ledger_file import LedgerFile
from recollect.streams.system import failpoints
from tests.ledger.contract import SPAWN, LedgerContract, Opener, Reader, draft, ids, tick


class TestEmbeddedLedger(LedgerContract):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        return partial(EmbeddedLedger, tmp_path / "ledger")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def bytes_of(home: Path, name: str) -> bytes:
    """Return all that lies in a database's files: the file, its WAL and its index."""
    found = sorted(home.glob(f"{name}*"))
    assert found
    return b"".join(path.read_bytes() for path in found)


def delete(home: Path, topic: str, partition: int, offsets: Iterable[int]) -> None:
    """Do what no program of ours does: take records out of the ledger."""
    with closing(sqlite3.connect(home / "ledger.db")) as connection, connection:
        for offset in offsets:
            gone = connection.execute(
                f"DELETE FROM {topic} WHERE position = ?", ((partition << 40) + offset,)
            )
            assert gone.rowcount == 1


def test_nothing_that_was_said_is_in_the_files_of_the_ledger(home: Path) -> None:
    words = "the heron stands in the reeds"
    with closing(EmbeddedLedger(home)) as ledger:
        ledger.publish(
            "z", [draft("the-id-of-it", words, sender_id="who-said", metadata={"a": "beside-it"})]
        )
        keys = ledger.keys.get([event.key_id for event in Reader(ledger).zone("z")])
        for _ in range(2):
            for name in ("ledger.db", "keys.db"):
                found = bytes_of(home, name)
                for said in (words, "heron", "the-id-of-it", "who-said", "beside-it"):
                    assert said.encode() not in found
                    assert said.encode("utf-16-le") not in found
            (key,) = keys.values()
            assert key not in bytes_of(home, "ledger.db")
            assert key in bytes_of(home, "keys.db"), "so the search above can find things"
            ledger.publish("z", [draft("another")])


@pytest.mark.parametrize("others", [0, 1])
def test_a_destroyed_key_is_in_no_file(home: Path, others: int) -> None:
    handles = [EmbeddedLedger(home) for _ in range(1 + others)]
    try:
        ledger = handles[0]
        ledger.publish("z", [draft(str(number)) for number in range(20)])
        kept = [handle.keys.get([e.key_id for e in Reader(handle).zone("z")]) for handle in handles]
        key_ids = list(kept[0])
        ledger.keys.destroy(key_ids[:10])
        found = bytes_of(home, "keys.db")
        assert [kept[0][key_id] in found for key_id in key_ids] == [False] * 10 + [True] * 10
    finally:
        for handle in handles:
            handle.close()


def test_who_waits_in_this_process_is_woken_and_need_not_look(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_ledger, "_POLL_INTERVAL_SECONDS", 60)
    with closing(EmbeddedLedger(home)) as ledger, closing(EmbeddedLedger(home)) as other:
        with ThreadPoolExecutor(1) as pool:
            started = time.monotonic()
            waiting = pool.submit(ledger.wait, {(EVENTS, partition_of("z")): 0}, 60)
            time.sleep(0.2)
            other.publish("z", [draft("a")])
            assert waiting.result(90)
        assert time.monotonic() - started < 30


def test_a_key_is_kept_before_its_event(home: Path) -> None:
    with closing(EmbeddedLedger(home)) as ledger:
        failpoints.arm("append.keys")
        try:
            with pytest.raises(InjectedFailure):
                ledger.publish("z", [draft("a")])
        finally:
            failpoints.disarm()
        with closing(sqlite3.connect(home / "keys.db")) as connection:
            assert connection.execute("SELECT count(*) FROM keys").fetchall() == [(1,)]
        assert ledger.end(EVENTS, partition_of("z")) == 0


def test_an_appender_that_rolled_back_leaves_no_key_in_use(home: Path) -> None:
    with closing(EmbeddedLedger(home)) as ledger:
        with pytest.raises(OverflowError):
            ledger.publish("z", [draft("a"), draft("b", metadata={"n": 2**70})])
        assert ledger.zones() == []
        ledger.publish("z", [draft("a")])
        assert ids(Reader(ledger).zone("z")) == ["a"]


@pytest.mark.parametrize("missing", [0, 3, 8])
@pytest.mark.parametrize("topic", [EVENTS, CHANGES])
def test_a_missing_record_stops_the_line_and_is_named(home: Path, missing: int, topic: str) -> None:
    partition = partition_of("z")
    with closing(EmbeddedLedger(home)) as ledger:
        ledger.publish("z", [draft(str(number)) for number in range(10)])
        ledger.append(CHANGES, "z", [bytes([number]) for number in range(10)])
        delete(home, topic, partition, [missing])
        assert ledger.end(topic, partition) == 10
        name = rf"{topic}/{partition}: offset {missing} is missing"
        for offset in range(missing + 1):
            with pytest.raises(LedgerGap, match=name):
                ledger.read(topic, partition, offset, 100)
        # Before the gap and after it, reading goes on.
        assert len(ledger.read(topic, partition, 0, missing)) == missing
        assert len(ledger.read(topic, partition, missing + 1, 100)) == 9 - missing


def test_a_ledger_that_lost_its_end_is_found_by_who_was_there(home: Path) -> None:
    partition = partition_of("z")
    with closing(EmbeddedLedger(home)) as ledger:
        ledger.publish("z", [draft(str(number)) for number in range(5)])
        delete(home, EVENTS, partition, [3, 4])
        for zone in (None, "z"):
            with pytest.raises(LedgerGap, match=rf"events/{partition} ends at offset 3, but 5"):
                ledger.read(EVENTS, partition, 5, 10, zone)


def _open(homes: list[Path], start: Any, answers: Any) -> None:
    for home in homes:
        start.wait(60)
        try:
            EmbeddedLedger(home).close()
        except BaseException as error:
            answers.put(repr(error))
        else:
            answers.put("opened")


@pytest.mark.slow
def test_a_new_ledger_may_be_opened_by_many_at_once(home: Path) -> None:
    many, homes = 4, [home / str(number) for number in range(8)]
    start, answers = SPAWN.Barrier(many), SPAWN.Queue()
    started = [SPAWN.Process(target=_open, args=(homes, start, answers)) for _ in range(many)]
    for one in started:
        one.start()
    found = [answers.get(timeout=60) for _ in started for _ in homes]
    for one in started:
        one.join(30)
    assert found == ["opened"] * many * len(homes)


def test_both_files_may_be_in_a_directory_that_is_not_there_yet(tmp_path: Path) -> None:
    home = tmp_path / "a" / "b"
    with closing(EmbeddedLedger(home)) as ledger:
        assert not home.exists(), "there is nothing to keep yet"
        ledger.publish("z", [draft("first")])
    assert {"ledger.db", "keys.db"} <= {path.name for path in home.iterdir()}


def message(id: str, platform: str) -> dict[str, Any]:
    at = "2026-05-01T10:00:00Z"
    return {
        "id": id,
        "platform": platform,
        "sender_id": "ada",
        "content": "It is late.",
        "occurred_at": at,
    }


def set_back(home: Path) -> None:
    """Make the ledger's file one of the build before, which had no index of kinds."""
    with closing(sqlite3.connect(home / "ledger.db")) as connection, connection:
        connection.executescript("DROP TABLE kinds; DROP TABLE platforms; PRAGMA user_version = 2;")


@pytest.mark.parametrize("readonly", [False, True])
def test_kinds_and_platforms_of_events_of_before_are_found(home: Path, readonly: bool) -> None:
    with closing(EmbeddedLedger(home)) as ledger:
        ledger.publish("y", [draft("1"), draft("2", platform="mail")])
        ledger.publish("z", [draft("1"), tick("t", "clock")])
    set_back(home)
    with closing(LedgerFile(home / "ledger.db", durable=False, readonly=readonly)) as file:
        for zone, kinds, platforms in (
            ("y", ["message", "message"], ["mail", "slack"]),
            ("z", ["message", "tick"], ["clock", "slack"]),
        ):
            found = [file.events_of_kind(zone, kind, 0) for kind in dict.fromkeys(kinds)]
            records = [record for records in found for record in records]
            assert records == file.read(EVENTS, partition_of(zone), 0, 9, zone)
            assert file.platforms(zone) == platforms


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM kinds WHERE kind = 'forget'", "ledger.kinds"),
        ("UPDATE kinds SET kind = 'tick' WHERE kind = 'forget'", "ledger.kinds"),
        ("DELETE FROM platforms WHERE platform = 'mail'", "ledger.platforms"),
    ],
)
def test_verify_finds_what_the_index_of_kinds_misses(home: Path, damage: str, problem: str) -> None:
    with Recollect(home, encoder="none") as recollect:
        zone = recollect.zone("z")
        zone.ingest([message("m1", "mail"), message("m2", "slack")])
        zone.forget("m1")
        assert zone.verify().ok
        with closing(sqlite3.connect(home / "ledger.db")) as connection, connection:
            assert connection.execute(damage).rowcount == 1
        assert any(each.startswith(problem) for each in zone.verify().problems)
