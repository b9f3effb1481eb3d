"""Observation-first (B2): observations come first, each with its facts, and no fact comes twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from recollect import Query
from recollect.cli.app import run
from recollect.projections.embeddings import canonical_vectors
from recollect.projections.sqlite import atomic
from recollect.schemas.times import format_time
from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, MODEL, START, ask, look_anew, say, tell, vector_of
from tests.recall.test_past import forget

SAID = [
    say("I own a dog.", "dog"),
    say("I fed the puppy.", "fed", at=START + DAY),
    say("I walked the hound in the rain.", "walked", at=START + 2 * DAY),
    say("I live in Rome.", "rome", at=START + 3 * DAY, platform="mail"),
    say("The boat leaked.", "boat", by="Bob", at=START + 4 * DAY),
]
TEXT = "Ada cares for a dog every day."


def facts_of(memory: Memory, *sources: str) -> list[str]:
    """Return the ids of the facts that these events gave."""
    found = {
        item.source_event_ids[0]: item.id
        for item in ask(memory, "Ada dog hound puppy Rome boat", scope=("facts",), max_results=99)
    }
    return [found[source] for source in sources]


def observe(
    memory: Memory,
    id_: str,
    text: str,
    facts: Sequence[str],
    *,
    before: str | None = None,
    at: int = START + 5 * DAY,
    status: str = "completed",
) -> None:
    """Write an observation as consolidation leaves one."""
    node = memory.node
    with node.open(memory.zone, node.current(memory.zone)) as files:
        connection = files.memory.connection
        with atomic(connection):
            connection.execute(
                "INSERT INTO episodes (id, definition_id, start_time, end_time, event_count, "
                "created_at) VALUES (?, 'consolidation', 0, 0, 1, 0)",
                (f"episode-{id_}",),
            )
            connection.execute(
                "INSERT INTO analysis_runs (id, analysis_type_id, episode_id, parent_id, status, "
                "output_text, created_at) VALUES (?, 'observation_v1', ?, ?, ?, ?, ?)",
                (id_, f"episode-{id_}", before, status, text, at),
            )
            connection.executemany(
                "INSERT INTO observation_facts VALUES (?, ?)", [(id_, fact) for fact in facts]
            )
        with atomic(files.embeddings.connection):
            files.embeddings.connection.execute(
                "INSERT INTO embeddings (id, target_type, target_id, model, embedding, dimension, "
                "text_hash, created_at) VALUES (?1, 'observation', ?1, ?2, ?3, 256, ?1, 0)",
                (id_, MODEL, *canonical_vectors.quantise(vector_of(text)[None])),
            )
    look_anew(memory)


@pytest.fixture
def observed(memory: Memory) -> Memory:
    tell(memory, SAID)
    observe(memory, "care", TEXT, facts_of(memory, "dog", "fed", "walked"))
    return memory


def kinds(results: Sequence[Result]) -> list[str]:
    return [item.type for item in results]


def test_it_comes_first_with_the_newest_of_its_facts(observed: Memory) -> None:
    (first, *rest) = ask(observed, "Does Ada have a dog?")
    assert (first.id, first.type, first.text) == ("care", "observation", TEXT)
    assert [fact.text for fact in first.facts] == [
        "Ada walked the hound in the rain.",
        "Ada fed the puppy.",
        "Ada owns a dog.",
    ]
    assert first.facts[0].as_of == first.as_of == format_time(START + 2 * DAY)
    assert first.source_event_ids == ["walked", "fed", "dog"]
    assert rest
    assert not {fact.id for fact in first.facts} & {item.id for item in rest}


def test_only_the_newest_facts_come_with_it_and_others_stay_results(memory: Memory) -> None:
    many = [say(f"I saw dog number {place}.", f"m{place}", at=START + place) for place in range(9)]
    tell(memory, many)
    ids = [item.id for item in ask(memory, "dog", scope=("facts",), max_results=99)]
    observe(memory, "dogs", "Ada sees dogs.", ids)
    (first, *rest) = ask(memory, "dog", max_results=99)
    assert first.source_event_ids == ["m8", "m7", "m6", "m5", "m4"]
    assert {item.source_event_ids[0] for item in rest} == {"m0", "m1", "m2", "m3"}


def test_its_facts_have_the_days_that_they_speak_of(memory: Memory) -> None:
    tell(memory, [say("I own a dog.", "dog"), say("My dog runs in Rome tomorrow.", "race")])
    observe(memory, "dogs", "Ada has a dog that runs.", facts_of(memory, "dog", "race"))
    (first, *_) = ask(memory, "dog")
    days = {fact.text: fact.when and (fact.when.first, fact.when.last) for fact in first.facts}
    assert days == {
        "Ada owns a dog.": None,
        "Ada's dog runs in Rome tomorrow (2026-01-06).": ("2026-01-06", "2026-01-06"),
    }


def test_a_limit_counts_what_is_answered(observed: Memory) -> None:
    for count in (1, 2, 3):
        results = ask(observed, "Does Ada have a dog?", max_results=count)
        assert len(results) == count
        assert results[0].type == "observation"


def test_one_about_something_else_does_not_come_first(observed: Memory) -> None:
    results = ask(observed, "Did the boat leak?")
    assert results[0].source_event_ids == ["boat"]


def test_at_most_five_come_first(observed: Memory) -> None:
    (rome,) = facts_of(observed, "rome")
    for place in range(7):
        observe(observed, f"o{place}", f"A dog, a dog and a dog {place}.", [rome])
    types = kinds(ask(observed, "a dog", max_results=99))
    assert types.index("fact") == 5
    assert types.count("observation") == 8


def test_the_newest_finished_version_alone_is_answered_and_shows_the_one_before(
    observed: Memory,
) -> None:
    facts = facts_of(observed, "dog", "fed")
    observe(observed, "v2", "Ada has a dog.", facts, before="care", at=START + 9 * DAY)
    observe(observed, "v3", "no dog", facts, before="v2", at=START + 10 * DAY, status="failed")
    found = [item for item in ask(observed, "dog") if item.type == "observation"]
    (only,) = found
    assert only.id == "v2"
    (change,) = only.supersedes
    assert (change.id, change.text, change.at) == ("care", TEXT, format_time(START + 9 * DAY))
    (then, *_) = ask(observed, "dog", valid_at=START + 6 * DAY)
    assert (then.id, then.supersedes) == ("care", [])
    assert "observation" not in kinds(ask(observed, "dog", valid_at=START + 2 * DAY))


def test_filters_hold_for_its_facts(observed: Memory) -> None:
    (first, *_) = ask(observed, "dog", time_before=START + DAY + 1)
    assert [fact.text for fact in first.facts] == ["Ada fed the puppy.", "Ada owns a dog."]
    for fields in ({"platform": "mail"}, {"entity": "Bob"}, {"time_after": START + 2 * DAY}):
        assert "observation" not in kinds(ask(observed, "dog", **fields))
    assert "observation" not in kinds(ask(observed, "dog", scope=("facts", "events")))
    assert kinds(ask(observed, "dog", scope=("observations",))) == ["observation"]


def test_one_that_rests_on_what_is_being_forgotten_is_not_answered(
    observed: Memory, open_memory: Open
) -> None:
    observed.node.ledger.publish(observed.zone, [forget(2)])
    for memory in (observed, open_memory()):
        results = ask(memory, "dog", max_results=99)
        assert "observation" not in kinds(results)
        assert results


def test_it_is_explained(observed: Memory) -> None:
    (fed,) = facts_of(observed, "fed")
    (first, *_) = ask(observed, "dog", explain=True)
    assert first.arms == {"keyword": 1, "semantic": 1}
    became = observed.explain(Query("dog"), "care")
    assert became is not None
    assert (became.rank, became.type, became.arms) == (
        1,
        "observation",
        {"keyword": 1, "semantic": 1},
    )
    became = observed.explain(Query("dog"), fed)
    assert became is not None
    assert became.dropped_by == "stands_for"
    assert "care" in became.reason


def test_on_the_command_line(observed: Memory, capfd: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        capfd.readouterr()
        assert run(["--home", str(observed.home.directory), *arguments]) == 0
        return capfd.readouterr().out

    asked: Any = ("recall", "dog", "--scope", "observations,facts")
    assert "    - Ada fed the puppy." in said(*asked)
    assert '"facts":[{"id"' in said(*asked, "--json")
