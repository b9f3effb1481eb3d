"""An erasure leaves the observations that there would be without the event; the oracle derives all
of them again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from recollect.schemas.events import Draft, Tick, UndoMerge
from recollect.streams.agents import BY_NAME
from recollect.streams.deciding import erasing
from recollect.streams.lifecycle.verifying import verify
from tests.protocol.erasure.test_redeciding import steps, talk
from tests.protocol.kit import DAY, START, ZONE, Home, agree, command, forget
from tests.slow_parameters import slow_except

#: Said by several, on many days: topics, changes, values that replace each other.
SAID = (
    "I went riding with my horse in {city}.",
    "My horse Daisy won a prize in {city}.",
    "I sold my horse.",
    "I bought a horse called {nick} yesterday.",
    "I never ride horses in {city}.",
    "I like pottery.",
    "I dislike pottery.",
    "I signed up for a pottery class in {city}.",
    "I moved to {city}.",
    "I live in {city} now.",
    "I work at Larch.",
    "{name} adopted a horse in {city}.",
    "I quit my job at the bakery.",
    "I joined the choir with {name}.",
    "The choir sang in {city}. I was sick.",
    "I run every morning in {city}.",
    "I play chess with {name} every night.",
    "I swim in {city} on Tuesdays.",
    "{name} plays the cello.",
    "{name} works at Larch Labs.",
    "I work at Larch Labs.",
)
AGENTS = tuple(agent for name, agent in BY_NAME.items() if name != "modelwriter")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home", AGENTS)
    yield made
    made.close()


@pytest.fixture
def traced_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No erasure may derive everything again."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("an erasure derived the zone in full")

    monkeypatch.setattr(erasing, "_full_difference", refuse)


def tick(n: int) -> Draft:
    return command(Tick(source_id=f"tick:{n}", name="consolidate"), START + n)


def pass_tick(n: int) -> Draft:
    return command(Tick(source_id=f"pass:{n}", name="temporal"), START + n * DAY // 2)


def observations(home: Home) -> list[str]:
    """Return the texts of all versions of observations."""
    found = home.rows("memory", "SELECT output_text FROM analysis_runs ORDER BY created_at, id")
    return [text for (text,) in found if text is not None]


def says(draw: random.Random, home: Home, n: int) -> list[Draft]:
    """Return what happens next, mostly about the topics above."""
    drafts = steps(draw, home, n)
    said = drafts[0].payload
    if hasattr(said, "content") and said.content and draw.random() < 0.8:
        words = {
            "city": draw.choice(("Oslo", "Lima")),
            "nick": draw.choice(("Tom", "Bella")),
            "name": draw.choice(("Ada Moreau", "Bob Stone")),
        }
        payload = msgspec.structs.replace(said, content=draw.choice(SAID).format(**words))
        at = START + n * draw.choice((1, DAY // 2))
        drafts = [msgspec.structs.replace(drafts[0], payload=payload, occurred_at=at)]
    return drafts


@pytest.mark.parametrize("seed", slow_except([0], range(24)))
def test_an_erasure_leaves_the_observations_of_the_rest(
    home: Home, traced_only: None, seed: int
) -> None:
    draw = random.Random(seed)
    n = written = 0
    home.tell(talk(draw, n))
    for _ in range(4):
        for _ in range(30):
            n += 1
            home.tell(*says(draw, home, n))
            if draw.random() < 0.15:
                n += 1
                home.tell(tick(n))
            if draw.random() < 0.1:
                n += 1
                home.tell(pass_tick(n))
                merged = home.rows("memory", "SELECT fact_id FROM fact_merges WHERE is_standing")
                if merged and draw.random() < 0.5:
                    n += 1
                    undo = UndoMerge(source_id=f"undo:{n}", merge_id=draw.choice(merged)[0])
                    home.tell(command(undo, START + n))
        n += 1
        home.tell(tick(n), pass_tick(n))
        written = max(written, len(observations(home)))
        head = home.ledger.head(ZONE).number
        n += 1
        home.tell(forget(*draw.sample(range(1, head + 1), draw.choice((1, 2, 6))), at=START + n))
        agree(home)
    assert written > 2
    assert verify(home.node, ZONE).ok
