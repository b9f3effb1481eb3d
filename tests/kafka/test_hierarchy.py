"""Consolidated memories on Kafka: one command that every worker and replica decides alike."""

from __future__ import annotations

import json
from pathlib import Path

from tests.kafka.conftest import Make
from tests.kafka.kit import Recollect, files_holding

TEXTS = ("The kiln is cold.", "Mira sweeps the yard.", "A zuqomaril sank in the bay.", "Ada sings.")


def levels(home: Recollect) -> dict[str, list[int]]:
    """Return text -> the levels above it, of all texts."""
    above = {
        child: (parent, level)
        for child, parent, level in home.query(
            "memory",
            "SELECT child_id, parent_id, level FROM memory_parents "
            "JOIN memory_consolidations ON memory_consolidations.id = parent_id",
        )
    }
    found: dict[str, list[int]] = {}
    for id_, text in home.query("events", "SELECT id, content FROM events ORDER BY number"):
        found[text] = []
        while id_ in above:
            id_, level = above[id_]
            found[text].append(level)
    return found


def told(home: Recollect) -> list[tuple[int, str]]:
    """Return (level, text) of what `hierarchy` lists, the highest level first."""
    ended = home.run("hierarchy", "--json")
    assert ended.status == 0, ended
    listed = map(json.loads, ended.output.splitlines())
    return [(each["abstraction_level"], each["content"]) for each in listed]


def test_memories_are_consolidated_and_forgotten_on_every_node(make: Make, room: Path) -> None:
    asking, deciding, copy = (make(name) for name in "abc")
    worker, replica = deciding.worker(), copy.replica()
    for pair in (TEXTS[:2], TEXTS[2:]):
        for text in pair:
            asking.ask("remember", text)
        made = asking.ask("hierarchy", "consolidate", "--method", "criteria", "--levels", "1")
        assert [(level["level"], level["archived"]) for level in made["levels"]] == [(1, 2)]
    made = asking.ask("hierarchy", "consolidate", "--method", "criteria", "--levels", "2")
    assert [(level["level"], level["archived"]) for level in made["levels"]] == [(2, 2)]
    top, *_ = told(asking)
    assert top[0] == 2
    assert all(text in top[1] for text in TEXTS)
    for home in (deciding, copy):
        home.wait_for("default", asking.decided())
        assert levels(home) == {text: [1, 2] for text in TEXTS}
        assert told(home) == told(asking)
        assert home.ask("verify")["problems"] == []

    sunk = next(
        id_
        for id_, text in asking.query("events", "SELECT id, content FROM events")
        if text == TEXTS[2]
    )
    asking.ask("forget", sunk, "--yes")
    for home in (deciding, copy):
        home.wait_for("default", asking.decided())
    assert (replica.stop(), worker.stop()) == (0, 0)
    # Of two, one is left, so nothing consolidates it; the other two stay together.
    left = {text: [1] if text in TEXTS[:2] else [] for text in TEXTS if text != TEXTS[2]}
    for home in (asking, deciding, copy):
        assert levels(home) == left
        assert [level for level, _ in told(home)] == [1]
        assert home.ask("verify")["problems"] == []
    assert files_holding(room, b"zuqomaril") == []
    assert copy.hashes() == deciding.hashes() == asking.hashes()
    deciding.ask("rebuild", "--level", "derive")
    assert levels(deciding) == left
    assert deciding.hashes()["memory"] == copy.hashes()["memory"]
