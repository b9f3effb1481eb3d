"""Observations in answers (B2): in the place of a third result, each fact once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from recollect import Query
from recollect.cli.app import run
from recollect.projections.sqlite import atomic, scalar
from recollect.schemas.times import format_time
from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, look_anew, say, tell
from tests.recall.test_past import forget

SAID = [
    say("I own a dog.", "dog"),
    say("I fed the puppy.", "fed", at=START + DAY),
    say("I walked the hound in the rain.", "walked", at=START + 2 * DAY),
    say("My dog sleeps on the sofa.", "sofa", at=START + 3 * DAY),
    say("I live in Rome.", "rome", at=START + 3 * DAY, platform="mail"),
    say("The boat leaked.", "boat", by="Bob", at=START + 4 * DAY),
]
TEXT = "Ada cares for a dog every day."
CARE = ("dog", "fed", "walked", "sofa")
ASKED = "What does Ada do with the dog?"


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
    """Write an observation that says these facts, as consolidation leaves one."""
    node = memory.node
    with node.open(memory.zone, node.current(memory.zone)) as files:
        connection = files.memory.connection
        entity = scalar(
            connection, "SELECT min(entity_id) FROM fact_entities WHERE fact_id = ?", (facts[0],)
        )
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
            connection.execute(
                "INSERT INTO observation_versions VALUES (?1, ?1, 'cluster', ?2, '', 0)",
                (id_, entity),
            )
            connection.executemany(
                "INSERT INTO observation_items VALUES (?, ?, ?, 0, 0)",
                [(id_, place, fact) for place, fact in enumerate(facts)],
            )
    look_anew(memory)


@pytest.fixture
def observed(memory: Memory) -> Memory:
    tell(memory, SAID)
    observe(memory, "care", TEXT, facts_of(memory, *CARE))
    return memory


def kinds(results: Sequence[Result]) -> list[str]:
    return [item.type for item in results]


def observations(memory: Memory, text: str, **fields: Any) -> list[str]:
    """Return the ids of the observations that answer a question."""
    return [item.id for item in ask(memory, text, **fields) if item.type == "observation"]


def test_it_stands_in_the_place_of_the_third_result_from_its_events(observed: Memory) -> None:
    results = ask(observed, ASKED)
    place = kinds(results).index("observation")
    before = [item.source_event_ids[0] for item in results[:place]]
    assert len(set(before) & set(CARE)) == 2
    assert (results[place].id, results[place].text) == ("care", TEXT)
    scores = [item.score for item in results]
    assert scores == sorted(scores, reverse=True)


def test_it_cites_its_events_and_adds_facts_that_no_result_before_it_has(
    observed: Memory,
) -> None:
    results = ask(observed, ASKED)
    place = kinds(results).index("observation")
    found = results[place]
    before = {event for item in results[:place] for event in item.source_event_ids}
    assert set(found.source_event_ids) == set(CARE)
    assert found.facts
    assert before.isdisjoint(fact.source_event_id for fact in found.facts)
    others = {item.id for item in results}
    assert others.isdisjoint(fact.id for fact in found.facts)


def test_at_most_five_facts_come_with_it_and_others_stay_results(memory: Memory) -> None:
    many = [say(f"I saw dog number {place}.", f"m{place}", at=START + place) for place in range(9)]
    tell(memory, many)
    ids = [item.id for item in ask(memory, "dog", scope=("facts",), max_results=99)]
    observe(memory, "dogs", "Ada sees dogs.", ids)
    (alone,) = ask(memory, "dog", scope=("observations",))
    assert len(alone.facts) == 5
    results = ask(memory, "Which is the dog that Ada saw?", max_results=99)
    (found,) = [item for item in results if item.type == "observation"]
    shown = [item.id for item in results] + [fact.id for fact in found.facts]
    assert set(ids) < set(shown)
    assert len(set(shown)) == len(shown)


def test_its_facts_have_the_days_that_they_speak_of(memory: Memory) -> None:
    tell(memory, [say("I own a dog.", "dog"), say("My dog runs in Rome tomorrow.", "race")])
    observe(memory, "dogs", "Ada has a dog that runs.", facts_of(memory, "dog", "race"))
    (first,) = ask(memory, "dog", scope=("observations",))
    days = {fact.text: fact.when and (fact.when.first, fact.when.last) for fact in first.facts}
    assert days == {
        "Ada owns a dog.": None,
        "Ada's dog runs in Rome tomorrow (2026-01-06).": ("2026-01-06", "2026-01-06"),
    }


def test_a_limit_counts_what_is_answered(observed: Memory) -> None:
    for count in (1, 2, 3, 4):
        assert len(ask(observed, ASKED, max_results=count)) == count


def test_a_person_a_place_a_time_or_a_number_is_answered_by_turns_first(observed: Memory) -> None:
    for text in (
        "Who has the dog that Ada fed?",
        "Where does the dog of Ada sleep?",
        "When did Ada walk the dog?",
        "How many dogs does Ada have?",
    ):
        results = ask(observed, text)
        assert "observation" not in kinds(results[:-1]), text


def test_it_needs_its_entity_in_the_question(observed: Memory) -> None:
    assert observations(observed, ASKED) == ["care"]
    assert observations(observed, "What about the dog?") == []
    assert observations(observed, "What does Bob do with the dog?") == []
    assert observations(observed, "the dog", scope=("observations",)) == ["care"]


def test_the_first_person_means_the_owner(memory: Memory) -> None:
    drafts = [
        say(f"I own dog {place}.", f"m{place}", at=START + place, peer_id=f"p{place}")
        for place in range(12)
    ]
    tell(memory, [*drafts, say("Hello!", "hello", by="Bob", peer_id="p1")])
    ids = [item.id for item in ask(memory, "dog", scope=("facts",), max_results=99)]
    observe(memory, "dogs", "Ada has dogs.", ids)
    assert observations(memory, "What did I say about the dog?") == ["dogs"]
    assert observations(memory, "What is there about the dog?") == []


def test_one_about_something_else_is_not_answered(observed: Memory) -> None:
    results = ask(observed, "What does Ada say about Rome?")
    assert results[0].source_event_ids == ["rome"]
    assert "observation" not in kinds(results)


def test_one_is_answered_and_two_for_a_list(observed: Memory) -> None:
    facts = facts_of(observed, *CARE)
    for place in range(3):
        observe(observed, f"o{place}", f"Ada has a dog {place}.", facts)
    assert len(observations(observed, ASKED, max_results=99)) == 1
    assert len(observations(observed, "What are the dogs of Ada?", max_results=99)) == 2
    assert len(observations(observed, "dogs", scope=("observations",))) == 4


def test_the_newest_finished_version_alone_is_answered_and_shows_the_one_before(
    observed: Memory,
) -> None:
    facts = facts_of(observed, "dog", "fed")
    observe(observed, "v2", "Ada has a dog.", facts, before="care", at=START + 9 * DAY)
    observe(observed, "v3", "no dog", facts, before="v2", at=START + 10 * DAY, status="failed")
    (only,) = ask(observed, "dog", scope=("observations",))
    assert only.id == "v2"
    (change,) = only.supersedes
    assert (change.id, change.text, change.at) == ("care", TEXT, format_time(START + 9 * DAY))
    (then,) = ask(observed, "dog", scope=("observations",), valid_at=START + 6 * DAY)
    assert (then.id, then.supersedes) == ("care", [])
    assert ask(observed, "dog", scope=("observations",), valid_at=START + 2 * DAY) == []


def test_filters_hold_for_its_facts(observed: Memory) -> None:
    (first,) = ask(observed, "dog", scope=("observations",), time_before=START + DAY + 1)
    assert {fact.text for fact in first.facts} == {"Ada fed the puppy.", "Ada owns a dog."}
    assert set(first.source_event_ids) == {"dog", "fed"}
    for fields in ({"platform": "mail"}, {"entity": "Bob"}, {"time_after": START + 3 * DAY}):
        assert ask(observed, "dog", scope=("observations",), **fields) == []
    assert "observation" not in kinds(ask(observed, ASKED, scope=("facts", "events")))
    assert kinds(ask(observed, "dog", scope=("observations",))) == ["observation"]


def test_one_that_rests_on_what_is_being_forgotten_is_not_answered(
    observed: Memory, open_memory: Open
) -> None:
    observed.node.ledger.publish(observed.zone, [forget(2)])
    for memory in (observed, open_memory()):
        assert ask(memory, "dog", scope=("observations",)) == []
        results = ask(memory, ASKED, max_results=99)
        assert "observation" not in kinds(results)
        assert results


def test_it_is_explained(observed: Memory) -> None:
    became = observed.explain(Query(ASKED), "care")
    assert became is not None
    assert (became.rank, became.type) == (3, "observation")
    (found,) = [item for item in ask(observed, ASKED) if item.type == "observation"]
    became = observed.explain(Query(ASKED), found.facts[0].id)
    assert became is not None
    assert became.dropped_by == "stands_for"
    assert "care" in became.reason
    became = observed.explain(Query(ASKED, max_results=2), "care")
    assert became is not None
    assert became.dropped_by == "max_results"


def test_on_the_command_line(observed: Memory, capfd: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        capfd.readouterr()
        assert run(["--home", str(observed.home.directory), *arguments]) == 0
        return capfd.readouterr().out

    asked: Any = ("recall", "dog", "--scope", "observations")
    assert "    - Ada owns a dog." in said(*asked)
    assert '"facts":[{"id"' in said(*asked, "--json")
