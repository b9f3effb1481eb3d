"""Turns in memory: windowed BM25 is the documented formula, in sessions only."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.projections.events import EventsModel
from recollect.projections.recall.index.turn_index import Turns
from tests.recall import oracle
from tests.recall.kit import HOUR, MINUTE, START
from tests.recall.oracle import Line

# What stands in a text, and the term that the index makes of it.
STEMS = {
    "walk": "walk",
    "walks": "walk",
    "Walking": "walk",
    "tree": "tree",
    "TREES": "tree",
    "stone": "stone",
    "café": "cafe",
}

turns = st.tuples(
    st.sampled_from(["a", "b"]),
    st.sampled_from([MINUTE, HOUR, 6 * HOUR, 6 * HOUR + 1, -9 * HOUR]),
    st.lists(st.sampled_from(sorted(STEMS)), min_size=1, max_size=6),
)


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory):
    model = EventsModel(tmp_path_factory.mktemp("events"))
    yield model
    model.close()


def filled(events: EventsModel, said: list[tuple[str, int, str]]) -> Turns:
    """Return the turns of a zone in which this was said: (conversation, time, words)."""
    events.connection.execute("DELETE FROM events")
    for number, (conversation, at, text) in enumerate(said, 1):
        events.connection.execute(
            "INSERT INTO events (number, id, kind, platform, source_id, sender_id, content, caption"
            ", attachments, metadata, utc_offset, conversation, occurred_at, ingested_at) "
            "VALUES (?1, 'e' || ?1, 'message', 'chat', 's' || ?1, 'u', ?2, '', '[]', '{}', 0, ?3, "
            "?4, ?4)",
            (number, text, conversation, at),
        )
    turns = Turns(events.connection)
    turns.follow()
    return turns


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(turns, min_size=1, max_size=14), st.sets(st.sampled_from(sorted(STEMS.values()))))
def test_bm25_is_the_documented_formula(events: EventsModel, said: list, terms: set[str]) -> None:
    at, lines = START, []
    for conversation, step, words in said:
        at += step
        lines.append((conversation, at, " ".join(words)))
    index = filled(events, lines)
    expected = oracle.bm25(
        [
            Line(where, at, tuple(STEMS[word] for word in text.split()), len(text))
            for where, at, text in lines
        ],
        sorted(terms),
    )
    found, _ = index.bm25(sorted(terms))
    by_number = {int(number): float(found[place]) for place, number in enumerate(index.numbers)}
    assert [by_number[number] for number in range(1, len(lines) + 1)] == pytest.approx(
        expected, rel=1e-4
    )


def test_a_word_counts_for_its_neighbours_in_the_talk_and_for_nobody_after_a_night(
    events: EventsModel,
) -> None:
    index = filled(
        events,
        [
            ("a", START, "stone"),
            ("a", START + MINUTE, "tree"),
            ("b", START + MINUTE, "tree"),
            ("a", START + 7 * HOUR, "tree"),
        ],
    )
    assert list(index.ids) == ["e1", "e2", "e3", "e4"]
    assert (index.bm25(["stone"])[0] > 0).tolist() == [True, True, False, False]


def test_what_was_said_years_before_and_came_later_is_another_talk(events: EventsModel) -> None:
    index = filled(events, [("a", START, "stone"), ("a", START - 10_000 * HOUR, "tree")])
    assert (index.bm25(["stone"])[0] > 0).tolist() == [True, False]


@pytest.mark.parametrize("terms", [[], ["nowhere"], ["stone"]])
def test_a_zone_without_turns_has_no_scores(events: EventsModel, terms: list[str]) -> None:
    assert filled(events, []).bm25(terms)[0].tolist() == []
