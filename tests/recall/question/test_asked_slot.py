"""A plain question for a slot is answered by what fills it, whatever has more of its words (F7)."""

from __future__ import annotations

import pytest

from recollect.projections.recall.question.slots.slot_questions import (
    SlotQuestion,
    parse_slot_question,
)
from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, say, tell


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def friends(request: pytest.FixtureRequest, open_memory: Open) -> Memory:
    memory = open_memory(encoder=request.param)
    tell(
        memory,
        [
            say("I live in Turin.", "turin", by="Ada"),
            say("I work as a nurse at the city hospital.", "nurse", by="Ada", at=START + DAY),
            say("I'm a carpenter.", "carpenter", by="Bob", at=START + 2 * DAY),
            say("I live in Lisbon, near the river.", "lisbon", by="Bob", at=START + 3 * DAY),
            say("Where does Bob live? I forgot.", "asked", by="Cleo", at=START + 4 * DAY),
            say("I moved to Milan last week.", "milan", by="Ada", at=START + 5 * DAY),
        ],
    )
    return memory


def first(results: list[Result]) -> str:
    return results[0].source_event_ids[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does Bob live?", "lisbon"),
        ("where is ada living now", "milan"),
        ("What is Bob's job?", "carpenter"),
        ("What does Ada do for work?", "nurse"),
    ],
)
def test_what_fills_the_slot_comes_first(friends: Memory, question: str, answer: str) -> None:
    results = ask(friends, question)
    assert first(results) == answer
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)


def test_it_is_no_weak_answer(friends: Memory) -> None:
    assert [first([one]) for one in ask(friends, "What is Bob's job?", min_score=0.8)] == [
        "carpenter"
    ]


def test_at_a_time_before_it_is_what_filled_the_slot_then(friends: Memory) -> None:
    assert first(ask(friends, "Where does Ada live?", valid_at=START + 2 * DAY)) == "turin"


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def mover(request: pytest.FixtureRequest, open_memory: Open) -> Memory:
    """Moves each three months, from January 2026 on."""
    memory = open_memory(encoder=request.param)
    january = 1_768_000_000_000  # 9 January 2026
    places = ["Oslo", "Bergen", "Molde"]
    moved = [
        say(f"I live in {place}.", place, by="Ada", at=january + 90 * DAY * number)
        for number, place in enumerate(places)
    ]
    tell(memory, [*moved, say("Lovely weather.", "last", by="Bob", at=january + 240 * DAY)])
    return memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did Ada live in February?", "Oslo"),
        ("Where was Ada living in May 2026?", "Bergen"),
        ("In which city did Ada live in June 2026?", "Bergen"),
        ("Where did Ada live in May?", "Bergen"),
        ("Where did Ada live in August?", "Molde"),
        ("Where does Ada live?", "Molde"),
    ],
)
def test_what_filled_a_slot_at_a_past_time_comes_first(
    mover: Memory, question: str, answer: str
) -> None:
    best, *others = ask(mover, question)
    assert best.source_event_ids == [answer]
    assert best.score > max(each.score for each in others)


@pytest.mark.parametrize("question", ["Where did Ada live?", "Where did Ada live in 2019?"])
def test_at_no_known_past_time_no_value_is_sure(mover: Memory, question: str) -> None:
    assert max(each.score for each in ask(mover, question)) < 0.8


def test_a_filter_that_leaves_it_out_leaves_it_out(friends: Memory) -> None:
    found = ask(friends, "Where does Bob live?", time_before=START + 2 * DAY)
    assert "lisbon" not in {first([one]) for one in found}


def test_what_was_forgotten_fills_no_slot(friends: Memory) -> None:
    friends.forget("lisbon")
    assert "lisbon" not in {first([one]) for one in ask(friends, "Where does Bob live?")}


def test_of_two_people_of_one_name_neither_is_put_first(open_memory: Open) -> None:
    memory = open_memory(encoder=False)
    tell(
        memory,
        [
            say("I live in Turin.", "turin", by="Sam Reed"),
            say("I live in Oslo, and where do you live?", "oslo", by="Sam Hill", at=START + DAY),
        ],
    )
    assert all(result.score < 0.9 for result in ask(memory, "Where does Sam live?"))


WHO = "\x00"


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        (f"So, where does {WHO} live now?", "home"),
        (f"In which city does {WHO} live?", "home"),
        (f"Who does {WHO} work for?", "employer"),
        (f"Where is {WHO} working these days?", "employer"),
        (f"What does {WHO} do?", "role"),
        (f"What's {WHO}'s occupation?", "role"),
        (f"the job of {WHO}", "role"),
        (f"Who is {WHO} dating?", "partner"),
        (f"What is the name of {WHO}'s partner?", "partner"),
        # A girlfriend is no wife.
        (f"Who is {WHO}'s wife?", None),
        (f"Who is {WHO} married to?", None),
        (f"When is {WHO}'s birthday?", "birthday"),
        (f"{WHO}'s phone number", "phone"),
        (f"What is {WHO}'s e-mail address?", "email"),
        # These ask for something else, or for more.
        (f"Where does {WHO}'s brother live?", None),
        (f"Where does {WHO} live when it is winter?", None),
        (f"Why does {WHO} live in Turin?", None),
        (f"Where did {WHO} live?", None),
        (f"Where would {WHO} like to live?", None),
        (f"What does {WHO} do on Sundays?", None),
        (f"What did {WHO} do?", None),
        (f"What is {WHO}'s favourite job?", None),
        (f"When did {WHO} celebrate a birthday?", None),
        (f"What did {WHO} get for the birthday of {WHO}?", None),
        (f"Who phoned {WHO}?", None),
        (f"Where does {WHO} work out?", None),
    ],
)
def test_which_slot_a_question_asks_for(question: str, attribute: str | None) -> None:
    assert parse_slot_question(question) == (attribute and SlotQuestion(attribute))


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        (f"How old is {WHO}?", SlotQuestion("age")),
        (f"Where is {WHO} from?", SlotQuestion("origin")),
        (f"Which languages does {WHO} speak?", SlotQuestion("language")),
        (f"What is {WHO} allergic to?", SlotQuestion("health", "allerg")),
        (f"What allergies does {WHO} have?", SlotQuestion("health", "allerg")),
        (f"What's {WHO}'s dog called?", SlotQuestion("pet", "dog")),
        (f"What is the name of {WHO}'s cat?", SlotQuestion("pet", "cat")),
        (f"What pets does {WHO} have?", SlotQuestion("pet")),
        (f"Who is {WHO}'s brother?", SlotQuestion("family", "brother")),
        (f"Why is {WHO} allergic to peanuts?", None),
        (f"What did {WHO}'s dog eat?", None),
        (f"When did {WHO}'s brother call?", None),
    ],
)
def test_which_kind_of_value_a_question_asks_for(question: str, slot: SlotQuestion | None) -> None:
    assert parse_slot_question(question) == slot


def test_of_several_values_each_comes_before_what_only_shares_words(open_memory: Open) -> None:
    memory = open_memory(encoder=False)
    tell(
        memory,
        [
            say("My dog is called Rex.", "dog", by="Bob"),
            say("What pets does Bob have? He has pets.", "chat", by="Cleo", at=START + DAY),
            say("My cat is called Minou.", "cat", by="Bob", at=START + 2 * DAY),
            say("My dog is called Fido.", "other", by="Cleo", at=START + 3 * DAY),
        ],
    )
    found = [first([one]) for one in ask(memory, "What pets does Bob have?")]
    assert found[:2] == ["cat", "dog"]
    assert first(ask(memory, "What is the name of Bob's dog?")) == "dog"


def test_an_in_law_is_no_sister(open_memory: Open) -> None:
    memory = open_memory(encoder=False)
    tell(
        memory,
        [
            say("My older sister Anna lives in Ghent.", "anna"),
            say("My sister-in-law Rita lives in Paris.", "rita", at=START + DAY),
        ],
    )
    found = ask(memory, "Who is Ada's sister?")
    assert first(found) == "anna"
    assert [first([one]) for one in found if one.score >= 0.9] == ["anna"]
