"""Late interaction: the documented formula, over few turns, in sessions, as long as it is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.projections.embeddings import canonical_vectors
from recollect.projections.embeddings.token_vectors import quantise_int8
from recollect.projections.recall.arms.late_interaction import (
    WINDOW,
    late_interaction,
    max_over_window,
    max_similarity,
)
from recollect.projections.recall.index import token_index
from recollect.projections.recall.index.token_index import Centroid, Tokens, TurnTokens
from recollect.projections.recall.question.encoding import QueryTokens
from recollect.projections.recall.ranking.profiles import DEFAULT_PROFILE
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.agents.writer import rule_writer
from tests.memory import Memory
from tests.migrations.layouts import set_back
from tests.recall import oracle
from tests.recall.conftest import Open
from tests.recall.kit import (
    DAY,
    DIMENSION,
    HOUR,
    MINUTE,
    MODEL,
    START,
    ConceptEncoder,
    ask,
    cited,
    recaller_of,
    say,
    talk,
    tell,
)

KEPT = 8


def by_late(memory: Memory, text: str, **fields: object) -> list[str]:
    """Return the source's ids of what the late arm found, by its rank."""
    results = ask(memory, text, explain=True, max_results=1_000, scope=("events",), **fields)
    found = [result for result in results if "late" in (result.arms or {})]
    found.sort(key=lambda result: (result.arms or {})["late"])
    return [result.source_event_ids[0] for result in found]


def token_rows(memory: Memory) -> list[tuple]:
    with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
        return files.embeddings.connection.execute(
            "SELECT * FROM token_vectors ORDER BY target_id"
        ).fetchall()


def tokens_of(codes: np.ndarray, scales: np.ndarray, counts: np.ndarray) -> TurnTokens:
    """Return the tokens of turns with so many each."""
    squares = np.square(codes.astype(np.float32)).sum(axis=1)
    return TurnTokens(codes, scales, squares, counts, np.arange(len(counts)), counts >= 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=10),
    st.integers(1, 3),
    st.integers(0, 2**32),
)
def test_scores_are_the_documented_formula(
    said: list[tuple[int, int]], asked: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    said = sorted(said, key=lambda item: item[0])
    counts = np.array([count for _, count in said])
    codes, scales = quantise_int8(
        random.standard_normal((int(counts.sum()), KEPT)).astype(np.float32)
    )
    middle, middle_scale = quantise_int8(0.3 * random.standard_normal((1, KEPT)).astype(np.float32))
    question = random.standard_normal((asked, KEPT)).astype(np.float32)
    weights = random.uniform(0.3, 2.0, asked)
    centre = Centroid(middle[0].astype(np.float32), float(middle_scale[0]))
    found = tokens_of(codes, scales, counts)
    near = max_over_window(
        max_similarity(question, found, centre), np.array([session for session, _ in said])
    )
    scores = (near * weights).sum(axis=1) / weights.sum()

    vectors = iter((codes * scales[:, None].astype(np.float64)).tolist())
    expected = oracle.late(
        list(zip(question.tolist(), weights.tolist(), strict=True)),
        [(session, [next(vectors) for _ in range(count)]) for session, count in said],
        (middle[0] * float(middle_scale[0])).tolist(),
    )
    # The question is rounded to whole numbers as well, which moves a cosine by a hundredth.
    assert scores.tolist() == pytest.approx(expected, abs=0.012)


def test_a_turn_scores_the_same_in_any_company() -> None:
    random = np.random.default_rng(4)
    codes, scales = quantise_int8(random.standard_normal((600, 128)).astype(np.float32))
    question = random.standard_normal((5, 128)).astype(np.float32)
    centre = Centroid(np.arange(-64, 64).astype(np.float32), 0.01)
    counts = np.full(60, 10)
    whole = max_similarity(question, tokens_of(codes, scales, counts), centre)
    for first, last in ((0, 1), (7, 9), (13, 60)):
        rows = slice(first * 10, last * 10)
        part = tokens_of(codes[rows], scales[rows], counts[first:last])
        assert np.array_equal(max_similarity(question, part, centre), whole[first:last])


def test_the_words_of_a_question_are_looked_for_one_by_one(memory: Memory) -> None:
    tell(
        memory,
        [
            say("We bought a retriever for the automobile.", "both", peer_id="a"),
            say("We bought a retriever.", "one", peer_id="b"),
            say("It rained all week.", "none", peer_id="c"),
        ],
    )
    assert by_late(memory, "dog in a car?")[0] == "both"


def test_the_window_ends_with_the_session(memory: Memory) -> None:
    tell(
        memory,
        [
            *talk(("Bob", "Tell me about your hound"), ("Ada", "Rex, eight"), ("Bob", "Ah")),
            *talk(("Ada", "Snow, again"), id="later", start=START + DAY),
            say("Ice cream is cold", "far", peer_id="x"),
        ],
    )
    recaller = recaller_of(memory)
    index = recaller._current_index()
    encoded = ConceptEncoder().encode_query_tokens("dog")
    asked = QueryTokens("dog", encoded.offsets, encoded.vectors)
    scores, unread, _ = late_interaction(asked, np.arange(len(index.turns)), index)
    place_of = {source: index.turns.place_of_id[id_] for id_, source in _source_ids(memory)}
    assert scores[place_of["m1"]] == 1
    assert scores[place_of["m1"]] > scores[place_of["m2"]] > scores[place_of["m3"]] > 0
    assert scores[place_of["m3"]] > max(scores[place_of["later1"]], scores[place_of["far"]])
    assert not unread.any()


def _source_ids(memory: Memory) -> list[tuple]:
    with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
        return files.events.connection.execute("SELECT id, source_id FROM events").fetchall()


@pytest.fixture
def crowd(memory: Memory) -> Memory:
    random = np.random.default_rng(9)
    things = ["dog", "hound", "car", "boat", "kite", "stone", "river", "bread"]
    tell(
        memory,
        [
            say(
                f"The {random.choice(things)} and the {random.choice(things)}, {place}.",
                f"m{place}",
                at=START + place * (HOUR if place % 5 == 0 else MINUTE),
                peer_id=f"room{place % 3}",
            )
            for place in range(700)
        ],
    )
    return memory


def test_no_more_turns_are_read_than_the_budget_says(
    crowd: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    of = Tokens.of

    def counting(self: Tokens, places: np.ndarray) -> TurnTokens:
        read.append(len(places))
        return of(self, places)

    monkeypatch.setattr(Tokens, "of", counting)
    recaller_of(crowd)._current_index().tokens.centroid  # noqa: B018
    read.clear()
    ask(crowd, "dog on a river", budget="mid")
    assert 0 < sum(read) <= (1 + len(WINDOW)) * DEFAULT_PROFILE.pool
    read.clear()
    ask(crowd, "dog on a river", budget="low")
    assert read == []


def test_levels_that_are_held_are_those_that_are_unpacked(
    crowd: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def codes(most: int, places: np.ndarray) -> np.ndarray:
        monkeypatch.setattr(token_index, "MAX_UNPACKED_LEVELS", most)
        return recaller._current_index().tokens.of(places).codes

    def both(places: np.ndarray) -> np.ndarray:
        held, unpacked, again = (codes(most, places) for most in (1 << 30, 0, 1 << 30))
        assert np.array_equal(held, unpacked)
        assert np.array_equal(held, again)
        return held

    recaller = recaller_of(crowd)
    before = both(np.arange(700))
    tell(crowd, [say("A kite by the river.", "more", peer_id="room1")])
    assert np.array_equal(both(np.arange(701))[: len(before)], before)
    crowd.forget("m0")
    assert len(both(np.arange(700))) < len(before) + 2


def test_a_derived_zone_has_the_same_tokens_and_asked_nobody(crowd: Memory) -> None:
    before = token_rows(crowd)
    assert len(before) == 700
    for level in ("project", "derive"):
        assert crowd.rebuild(level).encoded == 0
        assert token_rows(crowd) == before


def test_what_is_forgotten_leaves_no_tokens_and_asks_nobody(memory: Memory) -> None:
    tell(memory, talk(("Ada", "I bought a zeppelin."), ("Bob", "It rained."), ("Ada", "Snow.")))
    (row, *_) = [row for row in token_rows(memory) if len(row[4]) == 2 * 48]
    codes = row[4]
    asked = memory.node.gateway.encoded_count
    memory.forget("m1")
    assert memory.node.gateway.encoded_count == asked
    assert [row[4] for row in token_rows(memory)].count(codes) == 0
    assert len(token_rows(memory)) == 2
    for path in memory.home.directory.rglob("*"):
        assert not path.is_file() or codes not in path.read_bytes(), path


class TestOldHome:
    """A home whose turns were decided before there were token vectors."""

    @pytest.fixture
    def old(self, open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> Memory:
        memory = open_memory()
        with monkeypatch.context() as before:
            before.setattr(
                rule_writer,
                "turn_rows",
                lambda state, at, id_, text: embedding_rows(state, at, ("event", id_, text)),
            )
            before.setattr(
                canonical_vectors,
                "quantise",
                lambda vectors: [row.tobytes() for row in canonical_vectors.to_int8(vectors)[0]],
            )
            tell(memory, talk(("Ada", "I own a hound."), ("Bob", "It rained."), ("Ada", "Snow.")))
        with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
            path = files.embeddings.path
        memory.close()
        set_back(path, "embeddings-1", MODEL, DIMENSION)
        return open_memory()

    def test_answers(self, old: Memory) -> None:
        assert by_late(old, "dog") == []
        assert cited(ask(old, "dog"))[0] == "m1"

    def test_is_whole_once_it_is_opened(self, old: Memory) -> None:
        ask(old, "dog")
        assert old.verify().ok

    def test_derives_without_the_encoder_and_gets_tokens_afresh(self, old: Memory) -> None:
        assert old.rebuild("derive").encoded == 0
        assert token_rows(old) == []
        old.rebuild("fresh")
        assert len(token_rows(old)) == 3
        assert by_late(old, "dog")[0] == "m1"

    def test_forgets_without_the_encoder(self, old: Memory) -> None:
        asked = old.node.gateway.encoded_count
        old.forget("m2")
        assert old.node.gateway.encoded_count == asked
        assert token_rows(old) == []

    def test_what_has_no_tokens_is_judged_by_the_other_arms(self, old: Memory) -> None:
        tell(old, talk(("Bob", "A stone."), id="new", peer_id="x", start=START + DAY))
        assert cited(ask(old, "hound"))[0] == "m1"
        assert by_late(old, "hound") == []


def test_one_forward_gives_the_vector_of_a_turn_and_of_its_words(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    encode, encode_query_tokens = ConceptEncoder.encode, ConceptEncoder.encode_query_tokens

    def listening(self: ConceptEncoder, texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return encode(self, texts)

    def listening_to_tokens(self: ConceptEncoder, text: str) -> object:
        asked.append(text)
        return encode_query_tokens(self, text)

    monkeypatch.setattr(ConceptEncoder, "encode", listening)
    monkeypatch.setattr(ConceptEncoder, "encode_query_tokens", listening_to_tokens)
    tell(memory, talk(("Ada", "I own a hound."), ("Bob", "It rained. I saw a boat.")))
    assert sorted(asked) == sorted(set(asked))
    assert "I own a hound." in asked
    assert memory.node.gateway.encoded_count == len(asked)
