"""Decay and recency (B1): a documented part of the score, off unless a profile asks for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from recollect import Query
from recollect.projections.recall import PROFILES, Profile
from recollect.schemas.events import RecallCount
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, HOUR, START, ask, say, tell

#: Turns alike but for their age, each in a conversation of its own.
AGES = (0, 1, 24, 72, 24 * 30)
NOW = START + 40 * DAY


def alike(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I own a dog.", f"h{age}", by=f"P{age}", at=NOW - age * HOUR, peer_id=f"p{age}")
            for age in AGES
        ],
    )


def scores(memory: Memory, **fields: Any) -> dict[str, float]:
    asked: dict[str, Any] = {"scope": ("events",), "asked_at": NOW, **fields}
    return {item.source_event_ids[0]: item.score for item in ask(memory, "dog", **asked)}


def test_by_default_nothing_fades(memory: Memory) -> None:
    alike(memory)
    assert len(set(scores(memory).values())) == 1


@pytest.mark.parametrize(("decay", "recency"), [(1.0, 0.0), (0.0, 1.0), (0.3, 0.2)])
def test_a_score_fades_as_the_formula_says(open_memory: Open, decay: float, recency: float) -> None:
    memory = open_memory(profile=Profile(decay=decay, recency=recency))
    alike(memory)
    whole = scores(open_memory())
    for id_, score in scores(memory).items():
        hours = int(id_[1:])
        kept = 1 - decay - recency + decay * 0.99**hours + recency * math.exp(-hours / 72)
        assert score == pytest.approx(whole[id_] * kept, abs=2e-6)


def test_it_fades_from_when_it_is_asked(open_memory: Open) -> None:
    memory = open_memory(profile=PROFILES["recent"])
    alike(memory)
    now, later = scores(memory), scores(memory, asked_at=NOW + 5 * DAY)
    assert all(later[id_] < now[id_] for id_ in now)
    # What is still to come is as new as can be.
    assert len(set(scores(memory, asked_at=NOW - 60 * DAY).values())) == 1


def test_what_was_recalled_decays_slower_and_anew(open_memory: Open) -> None:
    memory = open_memory(profile=Profile(decay=1.0))
    alike(memory)
    facts = {item.source_event_ids[0]: item.id for item in ask(memory, "dog", scope=("facts",))}
    tell(memory, [say("ok", "tick", at=NOW, ingested_at=NOW + 2 * HOUR, peer_id="x")])
    memory.record_accesses([RecallCount("fact", facts["h720"], 3)])
    found = scores(memory, asked_at=NOW + 12 * HOUR)
    whole = scores(open_memory())["h720"]
    strength = 1 + math.log(1 + 3)
    assert found["h720"] == pytest.approx(whole * 0.99 ** (10 / strength), abs=2e-6)
    assert found["h720"] > found["h0"]


def test_the_past_fades_from_then(open_memory: Open) -> None:
    memory = open_memory(profile=PROFILES["recent"])
    old = START - 900 * DAY
    tell(
        memory,
        [
            say("I own a dog.", "a", at=old, ingested_at=old),
            say("I own a cat.", "b", at=old + 50 * DAY, ingested_at=old + 50 * DAY),
        ],
    )
    then = memory.recall(Query("dog"), known_at=old + HOUR).results
    later = memory.recall(Query("dog"), known_at=old + 40 * DAY).results
    assert then[0].score > later[0].score
    assert memory.recall(Query("dog"), known_at=old + HOUR).results == then
