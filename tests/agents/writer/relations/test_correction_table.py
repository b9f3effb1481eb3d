"""A table of corrections in many forms, and of words like them that correct nothing (C9, F7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, HOUR, START, Zone, says

TABLE = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "data/corrections/table.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
CORRECTIONS = [row for row in TABLE if row["ends"] is not None]
#: How many of the corrections are found; the others leave both standing.
FOUND = 0.9


def ended(before: list[str], words: str) -> list[str]:
    """Return the sentences that somebody's words end, of what they said two days before."""
    zone = Zone(RuleWriter())
    for place, text in enumerate(before):
        zone.read(says("Ada", text, peer_id="c", at=START + place * HOUR, id=f"b{place}"))
    zone.read(says("Ada", words, peer_id="c", at=START + 2 * DAY, id="now"))
    sql = "SELECT text FROM facts JOIN fact_supersessions ON fact_id = facts.id"
    return [text for (text,) in zone.ask("memory", sql)]


def test_most_corrections_end_what_they_correct_and_nothing_else() -> None:
    missed = []
    for row in CORRECTIONS:
        found = ended(row["before"], row["words"])
        assert all(row["ends"].lower() in text.lower() for text in found), (row, found)
        if not found:
            missed.append(row["words"])
    assert len(CORRECTIONS) >= 100
    assert 1 - len(missed) / len(CORRECTIONS) >= FOUND, missed


@pytest.mark.parametrize("row", [row for row in TABLE if row["ends"] is None], ids=str)
def test_what_corrects_nothing_ends_nothing(row: dict[str, list[str]]) -> None:
    assert ended(row["before"], str(row["words"])) == []
