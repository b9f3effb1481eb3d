"""What was recalled is counted, now and then, where that is asked for (A3, B1)."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.operations.answers import recall_counter

SAID = {
    "platform": "chat",
    "sender_id": "u1",
    "sender_name": "Ada",
    "occurred_at": "2026-05-08T13:56:00Z",
    "content": "I live in Turin.",
}


SMALL_TALK = ("Did the parcel come?", "See you at lunch!", "Thanks, that's perfect.")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Recollect(tmp_path / "home", encoder="none") as r:
        r.zone("ada").ingest([SAID, *(SAID | {"content": words} for words in SMALL_TALK)])
    return tmp_path / "home"


def counts(home: Path) -> list[tuple[str, int]]:
    """Return (fact's text, how often it was recalled) of all that are counted, by SQL."""
    (path,) = home.glob("zones/ada/*/memory.db")
    with sqlite3.connect(path) as connection:
        return connection.execute(
            "SELECT text, sum(count) FROM fact_accesses JOIN facts ON facts.id = fact_id "
            "GROUP BY fact_id"
        ).fetchall()


@pytest.mark.usefixtures("nothing_salient")
def test_A3_what_is_recalled_is_counted_when_the_home_is_closed(home: Path) -> None:
    with Recollect(home, count_accesses=True) as r:
        for _ in range(3):
            assert r.zone("ada").recall("Where does Ada live?").results[0].type == "fact"
        assert r.zone("ada").context("Where does Ada live?").items[0].type == "event"
        before = r.zone("ada").status().events
    assert counts(home) == [("Ada lives in Turin.", 4)]
    with Recollect(home) as r:
        assert r.zone("ada").status().events == before, "a count is no memory"
        assert r.zone("ada").verify().ok


@pytest.mark.usefixtures("nothing_salient")
def test_A3_what_is_recalled_is_counted_now_and_then(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_counter, "PERIOD", 0.01)
    with Recollect(home, count_accesses=True) as r:
        zone = r.zone("ada")
        head = zone.head()
        zone.recall("Where does Ada live?")
        for _ in range(3_000):
            if zone.head() != head:
                break
            time.sleep(0.01)
        assert zone.head() != head, "it was appended before the home is closed"
    assert counts(home) == [("Ada lives in Turin.", 1)]


def test_asking_writes_nothing_where_nobody_counts(home: Path) -> None:
    with Recollect(home) as r:
        head = r.zone("ada").head()
        r.zone("ada").recall("Where does Ada live?")
        r.zone("ada").context("Where does Ada live?")
        assert r.zone("ada").head() == head
    assert counts(home) == []


def test_counts_that_cannot_be_kept_are_dropped_and_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*given: object) -> None:
        raise OSError(28, "No space left on device: I live in Turin.")

    with monkeypatch.context() as patched:
        patched.setattr("recollect.operations.answers.recalling.record_accesses", full)
        with Recollect(home, count_accesses=True) as r:
            assert r.zone("ada").recall("Where does Ada live?").results
    assert counts(home) == []
    assert "were dropped" in caplog.text
    assert "Turin" not in caplog.text
