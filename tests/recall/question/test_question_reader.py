"""The reader of questions: one query in, everything that its text and its options ask for out."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.projections.recall import RecallQuery
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query_parser import QueryParser
from tests.memory import Memory
from tests.recall.kit import FixedEncoder, talk, tell, vector_of

# 2026-01-20T00:00:00Z and 2026-01-20T23:59:59.999Z.
JANUARY_20 = (1_768_867_200_000, 1_768_953_599_999)


@pytest.fixture
def talked(memory: Memory) -> Memory:
    """A zone in which Ada and Bob have talked."""
    tell(memory, talk(("Ada", "I own a dog."), ("Bob", "It rained."), ("Ada", "I moved to Leeds.")))
    return memory


def read(
    memory: Memory, text: str, encoder: FixedEncoder | None = None, **fields: Any
) -> list[ParsedQuestion]:
    """Return the questions that are read in a text."""
    node = memory.node
    with node.open_to_read(memory.zone, node.current(memory.zone)) as files:
        query = RecallQuery(text=text, **fields)
        return QueryParser(files).parse(query, Index.open(files), encoder, now=7)


def test_who_is_named_and_who_is_asked_for(talked: Memory) -> None:
    (question,) = read(talked, "Where does Ada live?")
    assert [item.entity.name for item in question.named] == ["Ada"]
    assert question.speakers == {("chat", "u-Ada")}
    assert (question.original_text, question.asked_at) == (None, 7)


def test_the_encoder_reads_each_question_once_without_who_takes_part(talked: Memory) -> None:
    encoder = FixedEncoder(vector_of("anything"))
    (question,) = read(talked, "Where does Ada live?", encoder)
    assert encoder.read == ["Where does live?"]
    assert question.vector is encoder.vector
    two = read(talked, "Where did Ada move, and what does she own?", encoder)
    assert len(encoder.read) == 1 + len(two) == 3


def test_without_an_encoder_there_are_words(talked: Memory) -> None:
    (question,) = read(talked, "Where does the dog live?")
    assert question.vector is None
    assert question.terms == ["dog", "live"]


def test_each_of_several_questions_takes_what_it_lacks_from_those_before(talked: Memory) -> None:
    questions = read(talked, "Where did Ada move, and what does she own?")
    assert [item.original_text for item in questions] == [
        "Where did Ada move",
        "what does she own?",
    ]
    assert all(item.speakers == {("chat", "u-Ada")} for item in questions)


@pytest.mark.parametrize(
    ("text", "type_", "list_"),
    [
        ("When did Ada move?", "time", False),
        ("How many dogs does Ada own?", "number", True),
        ("Which cities has Ada visited?", None, True),
        ("Where does Ada live?", None, False),
    ],
)
def test_the_type_of_the_answer(talked: Memory, text: str, type_: str, list_: bool) -> None:
    (question,) = read(talked, text)
    assert (question.answer_type, question.wants_list) == (type_, list_)


def test_days_in_words(talked: Memory) -> None:
    (question,) = read(talked, "What did Ada do on 20 January 2026?")
    assert question.spans == (JANUARY_20,)
    assert question.event is None


def test_days_count_from_when_it_is_asked_where_the_query_says_so(talked: Memory) -> None:
    (question,) = read(talked, "What did Ada do yesterday?", asked_at=JANUARY_20[1] + 1)
    assert question.spans == (JANUARY_20,)
    assert question.asked_at == JANUARY_20[1] + 1


def test_an_event_is_to_be_looked_up(talked: Memory) -> None:
    (question,) = read(talked, "What did Ada do the week before the move?")
    assert question.spans == ()
    assert question.event is not None
    assert question.event.event == "the move"


def test_times_that_are_given_count_alone(talked: Memory) -> None:
    (question,) = read(talked, "What did Ada do on 3 May 2020?", spans=(JANUARY_20,))
    assert question.spans == (JANUARY_20,)
    (question,) = read(talked, "What was before the move?", spans=(JANUARY_20,))
    assert question.event is None


def test_filters(talked: Memory) -> None:
    (question,) = read(talked, "dog")
    assert question.restricted_to is None
    assert question.eligible.tolist() == [True, True, True]
    (question,) = read(talked, "dog", entity="Bob", platform="chat")
    assert set(question.masks) == {"entity", "platform"}
    assert question.allowed.tolist() == [False, True, False]
    (question,) = read(talked, "dog", entity="Zoe")
    assert question.entity_ids == set()
    assert not question.allowed.any()


def test_text_that_cannot_be_encoded_is_read(talked: Memory) -> None:
    (question,) = read(talked, "a\ud800b\0dog")
    assert question.text == "a\ufffdb dog"
