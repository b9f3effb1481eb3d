"""With the real encoder: what was meant is found without a shared word."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.recall.latency import DATA
from bench.recall.sentences import load_texts, share_of_nearest
from recollect import Query
from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.kit import DAY, START, ask, cited, plain, say, tell

SAID = {
    "music": "My daughter plays the violin in the school orchestra.",
    "health": "The physician told me to cut down on salt because of my blood pressure.",
    "move": "We are relocating to Lisbon in the spring.",
    "car": "The engine of my old Volvo broke down on the motorway.",
    "food": "I make my own sourdough every Sunday morning.",
    "work": "They promoted me to head of the design team.",
}
QUESTIONS = {
    "Which instrument does the child practise?": "music",
    "What did the doctor advise?": "health",
    "Which city will they live in next?": "move",
    "Was there trouble with a vehicle?": "car",
    "Does anybody bake bread?": "food",
    "How is the career going?": "work",
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with in_memory() as room:
        home = Home.create_or_open(room / "home", encoder="all-MiniLM-L6-v2", source="wheel")
        with Memory(home) as opened:
            tell(
                opened,
                [
                    say(text, id_, at=START + place * DAY)
                    for place, (id_, text) in enumerate(SAID.items())
                ],
            )
            yield opened


@pytest.mark.parametrize("scope", [("events",), ("facts",), ("events", "facts")])
@pytest.mark.parametrize("budget", ["low", "mid", "high"])
def test_a_question_finds_what_was_meant(memory: Memory, scope: tuple, budget: str) -> None:
    for question, wanted in QUESTIONS.items():
        assert cited(ask(memory, question, scope=scope, budget=budget))[0] == wanted, question


def test_the_first_question_is_answered_as_every_later_one(memory: Memory) -> None:
    for question in QUESTIONS:
        query = Query(question, explain=True)
        with Memory(memory.home) as cold:
            assert plain(cold.recall(query)) == plain(memory.recall(query))


@pytest.mark.skipif(not DATA.is_file(), reason="the conversations are not part of the repository")
def test_bit_codes_find_what_an_exact_search_finds(memory: Memory) -> None:
    texts, questions = load_texts(DATA, conversations=1)
    encoder = memory.home.load_encoder()
    vectors, asked = encoder.encode(texts[:800]), encoder.encode(questions[:40])
    for nearest in (10, 50):
        assert share_of_nearest(vectors, asked, nearest) >= 0.99


def test_similarity_is_the_cosine_of_question_and_sentence(memory: Memory) -> None:
    """Against vectors that the encoder makes of the texts by themselves."""
    encoder = memory.home.load_encoder()
    text = "Which instrument does the child practise?"
    for scope in (("events",), ("facts",)):
        answer = memory.recall(Query(text, scope=scope, explain=True))
        assert answer.results
        for result in answer.results:
            (vector,) = encoder.encode([SAID[result.source_event_ids[0]]])
            cosine = float(encoder.encode_query(text) @ vector)
            assert result.similarity == pytest.approx(cosine, abs=0.02)
    assert all(result.similarity is None for result in memory.recall(Query(text)).results)
