"""Consolidation of a zone turned off and on beside what answers, on the shared ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.kafka.conftest import Make
from tests.kafka.kit import DAY, START, Recollect, line, write

ENCODER = "all-MiniLM-L6-v2"
POTTERY = (
    "I signed up for a pottery class in Oslo.",
    "I made two bowls in the pottery class.",
    "I showed my pottery at the winter market.",
    "My pottery teacher lent me a better wheel.",
    "I sold my first pottery bowl at the market.",
)
SHED = "I keep my pottery in the garden shed."
OFF = ("rebuild", "--level", "fresh", "--consolidation", "off")
ON = ("rebuild", "--level", "fresh", "--consolidation", "on")


def said(*texts: str, first: int = 0) -> list[dict[str, Any]]:
    return [line(f"m{n}", text, at=START + n * DAY) for n, text in enumerate(texts, first)]


def observations(home: Recollect) -> list[str]:
    """Return the texts of the observations in use."""
    ended = home.run("observations", "--json")
    assert ended.status == 0, ended
    return sorted(json.loads(found)["text"] for found in ended.output.splitlines())


def test_consolidation_changes_beside_the_old_on_every_node(make: Make, room: Path) -> None:
    embedded = make("alone", "embedded", ENCODER, RECOLLECT_TICKS="on")
    asking, following = (make(name, "", ENCODER, RECOLLECT_TICKS="on") for name in "ab")
    both = (embedded, asking)
    source = write(room / "said.jsonl", said(*POTTERY))
    for home in both:
        home.ask("ingest", source)
    before = observations(embedded)
    assert len(before) == 1
    assert "better wheel" in before[0]
    assert observations(asking) == before

    used = asking.generation()
    compared = [home.ask(*OFF, "--diff")["difference"] for home in both]
    assert compared[0] == compared[1]
    assert compared[1]["observations"] == {"same": 0, "gained": 0, "lost": 1, "changed": 0}
    assert (asking.generation(), observations(asking)) == (used, before)
    following.once()
    assert observations(following) == before

    encoded = [home.ask(*OFF)["encoded"] for home in both]
    assert encoded[0] == encoded[1]
    followed(embedded, asking, following, [])
    later = write(room / "later.jsonl", said(SHED, first=len(POTTERY)))
    for home in both:
        home.ask("ingest", later)
    followed(embedded, asking, following, [])

    for home in both:
        gained = home.ask(*ON, "--diff")["difference"]["observations"]
        assert gained == {"same": 0, "gained": 1, "lost": 0, "changed": 0}
        home.ask(*ON)
    (now,) = observations(embedded)
    assert "garden shed" in now
    followed(embedded, asking, following, [now])

    for home in both:
        home.ask("rollback")
    followed(embedded, asking, following, [])


def followed(
    embedded: Recollect, asking: Recollect, following: Recollect, texts: list[str]
) -> None:
    """Check that all three homes have these observations, and the same files."""
    following.once()
    for home in (embedded, asking, following):
        assert observations(home) == texts
        assert home.ask("verify")["problems"] == []
    assert embedded.hashes() == asking.hashes() == following.hashes()
