"""Rows of what is known about an entity say when each fact ended, as its tables say together."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import InvalidInput, MemoryInput, Recollect
from recollect.library.library_zone import Zone
from recollect.projections.sqlite import rows

TOWNS = ("Porto", "Utrecht", "Bergen", "Lyon", "Graz", "Tartu")
DAY = 86_400_000
START = 1_778_248_560_000


def told_and_ended(memory: apsw.Connection) -> dict[str, tuple[int | None, int]]:
    """Return fact -> (when it ended, whether it is told), from every row of every fact's tables."""
    retractions = rows(
        memory, "SELECT fact_id, invalid_at, is_void FROM retracted_facts WHERE is_standing"
    )
    void = {fact for fact, _, is_void in retractions if is_void}
    superseded = {
        fact: (by, at)
        for fact, by, at in rows(
            memory, "SELECT fact_id, superseded_by, invalid_at FROM fact_supersessions"
        )
    }
    merged = {fact for (fact,) in rows(memory, "SELECT fact_id FROM fact_merges WHERE is_standing")}
    found = {}
    for fact, own_event in rows(memory, "SELECT id, source_event_id FROM facts"):
        ends = [at for id_, at, _ in retractions if id_ == fact]
        next_, seen = fact, set()
        while next_ in superseded and next_ not in seen:
            seen.add(next_)
            next_, at = superseded[next_]
            # What was never true ends nothing; what ended it in turn does.
            if next_ not in void:
                ends.append(at)
                break
        occasions = dict(
            rows(
                memory,
                "SELECT event_id, is_standing FROM fact_occasions WHERE fact_id = ?",
                (fact,),
            )
        )
        repeated = rows(memory, "SELECT event_id FROM occasions WHERE fact_id = ?", (fact,))
        standing = {event for (event,) in repeated} - occasions.keys()
        standing |= {event for event, stands in occasions.items() if stands}
        is_stated = occasions.get(own_event, 1) or standing
        is_told = bool(is_stated) and fact not in void | merged
        found[fact] = (min(ends, default=None), int(is_told))
    return found


def kept(memory: apsw.Connection) -> dict[str, tuple[int | None, int]]:
    return {
        fact: (ended, told)
        for fact, ended, told in rows(
            memory, "SELECT fact_id, ended_at, is_told FROM entity_facts ORDER BY fact_id"
        )
    }


def step(zone: Zone, rng: random.Random, texts: list[str], number: int) -> str:
    """Change the zone in a random way; return what was done."""
    facts = [fact.id for fact in zone.facts(superseded=True)]
    done = rng.choice(["store", "edit", "edit", "edit fact", "retract", "retract", "restore"])
    done = rng.choice([done, "state", "forget", "edit message"]) if rng.random() < 0.3 else done
    text = f"Ada lives in {rng.choice(TOWNS)}{rng.choice(['', ' with Bob'])}."
    try:
        if done == "store" or len(texts) < 2 or not facts:
            at = START + rng.randrange(5) * DAY
            (stored,) = zone.store_memories([MemoryInput(content=text, at=at)])
            texts.append(stored.event_id)
        elif done == "edit":
            place = rng.randrange(len(texts))
            texts[place] = zone.update_memory(texts[place], text).id
        elif done == "edit fact":
            zone.update_memory(rng.choice(facts), text)
        elif done == "retract":
            zone.retract(rng.choice([*facts, *texts]))
        elif done == "restore":
            zone.retract(rng.choice([*facts, *texts]), restore=True)
        elif done == "state":
            zone.set_memory_state([rng.choice(texts)], rng.choice(["inactive", "active"]))
        elif done == "forget":
            zone.forget(texts.pop(rng.randrange(len(texts))))
        else:
            zone.ingest([_message(number, rng, text)])
    except InvalidInput:
        return f"{done}: refused"
    return done


def _message(number: int, rng: random.Random, text: str) -> dict[str, Any]:
    edit = {"kind": "edit", "target": "m0", "id": f"m{number}"} if number else {}
    return {
        "id": "m0",
        "platform": "slack",
        "sender_id": "ada",
        "sender_name": "Ada",
        "content": text,
        "occurred_at": START + rng.randrange(5) * DAY,
        **edit,
    }


@pytest.mark.parametrize("seed", range(4))
def test_every_change_reaches_the_facts_that_it_ends_or_restores(tmp_path: Path, seed: int) -> None:
    rng, texts, done = random.Random(seed), list[str](), list[str]()
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        zone.ingest([_message(0, rng, "Ada lives in Porto.")])
        for number in range(1, 25):
            done.append(step(zone, rng, texts, number))
            with zone._zone.files() as files, files.read_transaction():
                memory = files.memory.connection
                expected, found = told_and_ended(memory), kept(memory)
            assert found == {fact: expected[fact] for fact in found}, done
            assert found or number < 5
        zone.rebuild("derive")
        assert zone.verify().ok
        with zone._zone.files() as files, files.read_transaction():
            assert kept(files.memory.connection) == found


def test_an_edit_costs_as_many_queries_however_many_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed: Counter[str] = Counter()

    def count(connection: apsw.Connection) -> None:
        def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
            executed[sql] += 1
            return True

        connection.exec_trace = note

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, count])
    counts = []
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        id_ = zone.remember("Ada lives in Porto.").event_id
        for number in range(30):
            before = executed.total()
            town = TOWNS[number % len(TOWNS)]
            id_ = zone.update_memory(id_, f"Ada lives in {town}, house {number}.").id
            counts.append(executed.total() - before)
        assert len(zone.facts(superseded=True)) == len(counts) + 1
    assert counts[-1] <= counts[9] + 9, counts
