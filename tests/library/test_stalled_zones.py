"""A zone is stalled if it has work, and no process does it; the list of zones says so too."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from recollect import Recollect
from tests.library.kit import said

#: Two minutes: longer than any process needs for these few records.
_EARLIER_MS = 120_000


def make_earlier(home: Path) -> None:
    """Move the arrival of all records, and all progress, two minutes back in the files."""
    at = (time.time_ns() // 1_000_000 - _EARLIER_MS,)
    with closing(sqlite3.connect(home / "ledger.db")) as database, database:
        database.execute("UPDATE events SET appended_at = ?", at)
    with closing(sqlite3.connect(home / "driver.db")) as database, database:
        database.execute("UPDATE moves SET at = ?", at)


@pytest.mark.parametrize("decided_before", [False, True])
def test_a_zone_whose_records_wait_is_stalled(tmp_path: Path, decided_before: bool) -> None:
    home = tmp_path / "home"
    with Recollect(home, encoder=None) as opened:
        opened.zone("idle").ingest(said("m1", "I live in Turin."))
        if decided_before:
            opened.zone("busy").ingest(said("m1", "I live in Turin."))
        opened.zone("busy").ingest(said("m2", "I live in Oslo."), wait=False)
        assert [each.stalled for each in opened.zone_summaries()] == [False, False]
    make_earlier(home)
    with Recollect(home) as opened:
        assert {each.zone: each.stalled for each in opened.zone_summaries()} == {
            "busy": True,
            "idle": False,
        }
        assert opened.zone("busy").status().stalled
        assert not opened.zone("idle").status().stalled
        # Somebody does it.
        opened.zone("busy").ingest(said("m3", "I moved to Lima."))
        assert [each.stalled for each in opened.zone_summaries()] == [False, False]
