"""Vectors in a decision: one row per target, with what the encoder said and of which text."""

from __future__ import annotations

from recollect.schemas.changes import Embedding, Fact, TokenVectorsRow
from recollect.schemas.ids import text_hash
from recollect.streams.agents.vectors import embedding_rows, turn_rows
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import START, Zone, ends_turn, says
from tests.protocol.kit import MODEL


def test_without_an_encoder_there_are_no_vectors_and_all_the_rest() -> None:
    outcome = Zone(RuleWriter()).read(says("Ada", "I live in Berlin."))
    assert len(outcome.rows(Fact)) == 1
    assert outcome.rows(Embedding) == []
    assert embedding_rows(Zone().state(), START, ("fact", "F1", "words")) == []
    assert turn_rows(Zone().state(), START, "E1", "words") == []


def test_a_target_gets_what_the_encoder_said_of_its_text() -> None:
    state = Zone(encoder=True).state(["one", "two"])
    first, second = embedding_rows(state, START, ("fact", "F1", "one"), ("model", "M1", "two"))
    assert (first.target_type, first.target_id, first.text_hash) == ("fact", "F1", text_hash("one"))
    assert (second.target_type, second.target_id) == ("model", "M1")
    assert first.embedding == state.encoded[text_hash("one")].vector != second.embedding
    assert (first.model, first.dimension, first.created_at) == (MODEL, state.dimension, START)
    assert first.id != second.id


def test_two_targets_of_one_text_share_its_vector_and_nothing_else() -> None:
    state = Zone(encoder=True).state(["one"])
    first, second = embedding_rows(state, START, ("fact", "F1", "one"), ("fact", "F2", "one"))
    assert first.embedding == second.embedding
    assert first.id != second.id


def test_a_raw_turn_has_a_vector_and_its_tokens_have_theirs() -> None:
    state = Zone(encoder=True).state([], turns=["I live in Berlin."])
    (vector,) = [row for row in turn_rows(state, START, "E1", "I live in Berlin.")
                 if isinstance(row, Embedding)]  # fmt: skip
    (tokens,) = [row for row in turn_rows(state, START, "E1", "I live in Berlin.")
                 if isinstance(row, TokenVectorsRow)]  # fmt: skip
    assert (vector.target_type, vector.target_id) == ("event", "E1")
    assert (tokens.target_id, tokens.text_hash) == ("E1", vector.text_hash)


def test_a_text_whose_tokens_were_never_recorded_stays_without() -> None:
    """A replay repeats what was recorded, and asks no encoder."""
    state = Zone(encoder=True).state(["I live in Berlin."])
    rows = turn_rows(state, START, "E1", "I live in Berlin.")
    assert [type(row) for row in rows] == [Embedding]


def test_the_writer_asks_for_its_sentences_and_for_the_whole_turn() -> None:
    home = Zone(RuleWriter(), encoder=True)
    outcome = home.read(says("Ada", "I live in Berlin. My cat is called Figaro."))
    found = {(row.target_type, row.text_hash) for row in outcome.rows(Embedding)}
    assert found == {
        ("fact", text_hash("I live in Berlin.")),
        ("fact", text_hash("My cat is called Figaro.")),
        ("event", text_hash("I live in Berlin. My cat is called Figaro.")),
    }
    facts = {row.id for row in outcome.rows(Fact)}
    assert {row.target_id for row in outcome.rows(Embedding)} == facts | {outcome.event.id}


def test_a_turn_that_waits_can_be_found_by_its_meaning_at_once() -> None:
    home = Zone(RuleWriter(), encoder=True)
    waiting = home.read(says("Ada", "I live in Berlin.", turn_id="t1"))
    assert [row.target_type for row in waiting.rows(Embedding)] == ["event"]
    ended = home.read(ends_turn("t1"))
    assert [row.target_type for row in ended.rows(Embedding)] == ["fact"]


def test_what_says_nothing_has_no_vector() -> None:
    home = Zone(RuleWriter(), encoder=True)
    assert home.read(ends_turn("t1")).rows(Embedding) == []
