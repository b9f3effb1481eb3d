"""The same events give the same files, by hash, whichever ledger and driver carried them."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from recollect.home.home_directory import Home
from recollect.home.ledgers import open_node
from recollect.streams.projecting import background
from recollect.streams.projecting.background import BackgroundProjection
from tests.kafka.conftest import Make
from tests.kafka.kit import Recollect, line, post, wait_until, write

ZONES = 50
EVENTS = 400
PEOPLE = ("ada", "bob", "eve", "Grace Hopper", "Jürgen")
PLACES = ("Berlin", "Lyon", "Bergen", "the harbour", "Ōsaka")
DONE = (
    "{who} moved to {place} in {year}.",
    "I met {who} in {place}, because the train to {place} was late.",
    "Where did {who} put the keys to the {thing}? I asked twice.",
    "My {thing} number {number} is green. {who} says it was red in {year}.",
    "Therefore {who} sold the {thing}, and bought number {number} in {place}.",
    "{who} works at Bluebell in {place}; she likes the {thing}.",
    "ok",
    "Look: https://example.org/{thing}/{number} \U0001f6b2",
)
THINGS = ("bicycle", "boat", "piano", "garden", "dog")

Line = Mapping[str, Any]


def talk(zone: int, events: int) -> list[Line]:
    """Return what is said in a zone: threads, turns that end, and now and then the same again."""
    draw = random.Random(f"parity {zone}")
    lines: list[Line] = []
    for number in range(events):
        text = draw.choice(DONE).format(
            who=draw.choice(PEOPLE).title(),
            place=draw.choice(PLACES),
            thing=draw.choice(THINGS),
            year=draw.randint(1990, 2025),
            number=number,
        )
        lines.append(
            line(
                f"m{number}",
                text,
                number=number,
                sender_id=draw.choice(PEOPLE),
                thread_id=f"t{number // 40}",
            )
        )
        if draw.random() < 0.02:
            lines.append(draw.choice(lines))
    return lines


def posted(url: str, said: Mapping[str, Sequence[Line]]) -> None:
    """Publish everything to the inbox, the zones taking turns."""
    longest = max(map(len, said.values()))
    post(
        url,
        "inbox",
        [
            (zone.encode(), json.dumps(lines[at]).encode())
            for at in range(longest)
            for zone, lines in said.items()
            if at < len(lines)
        ],
    )


def ingested(home: Recollect, path: Path, said: Mapping[str, Sequence[Line]]) -> None:
    for zone, lines in said.items():
        home.ask("--zone", zone, "ingest", write(path, lines))


def hashes(home: Recollect, zones: Sequence[str]) -> dict[str, dict[str, str]]:
    return {zone: home.hashes(zone) for zone in zones}


# Its wait for the workers alone may take 600 s; then it says what they printed.
@pytest.mark.timeout(1_500)
def test_twenty_thousand_events_give_the_same_files_on_every_way(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    said = {f"zone-{number:02}": talk(number, EVENTS) for number in range(ZONES)}
    zones = list(said)
    alone = make("alone", "embedded")
    ingested(alone, tmp_path / "e.jsonl", said)
    wanted = hashes(alone, zones)
    assert all(alone.decided(zone) == EVENTS for zone in zones)

    # By two workers of Faust, from the inbox.
    homes = make("a"), make("b")
    workers = [home.worker() for home in homes]
    posted(kafka_url, said)
    wait_until(
        lambda: all(max(home.decided(zone) for home in homes) == EVENTS for zone in zones),
        lambda: f"all is decided: {[worker.errors[-800:] for worker in workers]}",
        seconds=600,
    )
    shares = [{zone for zone in zones if home.decided(zone) == EVENTS} for home in homes]
    assert all(shares), "one of them had nothing to do"
    assert [worker.stop() for worker in workers] == [0, 0]
    for home, share in zip(homes, shares, strict=True):
        assert hashes(home, sorted(share)) == {zone: wanted[zone] for zone in sorted(share)}

    # By a bulk replay into a home that has nothing, and by a rebuild of it.
    late = make("late")
    late.once()
    assert hashes(late, zones) == wanted
    for zone in zones[:2]:
        for level in ("project", "derive"):
            late.ask("--zone", zone, "rebuild", "--level", level)
            assert late.hashes(zone) == wanted[zone], level
        verified = late.ask("--zone", zone, "verify")
        assert verified["ok"], verified["problems"]


def test_vectors_are_the_same_whoever_had_them_made(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    encoder = "all-MiniLM-L6-v2"
    said = {f"zone-{number:02}": talk(number, 40) for number in range(3)}
    zones = list(said)
    alone = make("alone", "embedded", encoder=encoder)
    ingested(alone, tmp_path / "e.jsonl", said)
    wanted = hashes(alone, zones)
    home, late = make("a", encoder=encoder), make("late", encoder=encoder)
    worker = home.worker()
    posted(kafka_url, said)
    for zone in zones:
        home.wait_for(zone, 40, seconds=180)
    assert worker.stop() == 0, worker.errors
    assert hashes(home, zones) == wanted
    late.once()
    assert hashes(late, zones) == wanted
    assert all(late.query("embeddings", "SELECT count(*) FROM embeddings", zone) for zone in zones)


def test_a_home_far_behind_has_its_events_folded_by_a_process_beside(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MIN_BACKLOG", 20)
    monkeypatch.setattr(background, "usable_cores", lambda: 2)
    home, late, later = make("a"), make("late"), make("later")
    ingested(home, tmp_path / "e.jsonl", {"default": talk(0, 60)})
    with patch.dict(os.environ, late.environment(), clear=True):
        node = open_node(Home(late.home))
        with closing(node), BackgroundProjection(node.ledger, "default") as helper:
            generation = node.current("default")
            with node.open("default", generation) as files:
                list(helper.run(files, generation))
                # Nobody here has projected anything.
                assert files.events.watermark().number == 60
    assert late.hashes()["events"] == home.hashes()["events"]
    later.ask("recall", "Who moved?")
    assert later.hashes() == home.hashes()
