"""Questions that ask for a list: further turns of the one who is asked about come first."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.projections.recall import Profile, RecallQuery
from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.projections.recall.index.sessions import Sessions
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.answer_type import asks_for_all, asks_for_list
from recollect.projections.recall.ranking.list_diversity import demote_neighbours
from recollect.schemas.events import Draft
from recollect.schemas.wire import Budget, Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, cited, recaller_of, say, talk, tell

CITIES = ("Lisbon", "Oslo", "Rome", "Quito", "Kyoto", "Lima", "Cairo", "Seoul", "Turin", "Porto")


@pytest.mark.parametrize(
    ("question", "does"),
    [
        ("What hobbies does Ann have?", True),
        ("Which cities has Bob visited?", True),
        ("What are Ann's plans?", True),
        ("In which old towns did Ann live?", True),
        ("How many dogs does Ann own?", True),
        ("and what books has Ann read", True),
        ("What does Ann like?", False),
        ("What was said of the boats?", False),
        ("What did the cats do?", False),
        ("Which bus does Ann take?", False),
        ("Where does Ann live?", False),
        ("When did Ann visit the cities?", False),
        ("", False),
    ],
)
def test_a_question_tells_whether_it_asks_for_a_list(question: str, does: bool) -> None:
    assert asks_for_list(question) is does


@pytest.mark.parametrize(
    ("question", "does"),
    [
        ("How often did I row in June?", True),
        ("How many times was the oven mended?", True),
        ("List the gifts from Bob.", True),
        ("What do we usually eat on Sundays?", True),
        ("Which cities has Bob visited?", True),
        ("Where does Ann row?", False),
        ("How long did the ferry take?", False),
    ],
)
def test_a_question_tells_whether_it_needs_all_answers(question: str, does: bool) -> None:
    assert asks_for_all(question) is does


@pytest.mark.parametrize(
    ("question", "budget"), [("How often did we row?", "mid"), ("Did we row?", "high")]
)
def test_what_needs_all_answers_has_twice_the_candidates(
    words_only: Memory, question: str, budget: Budget
) -> None:
    tell(
        words_only,
        [say(f"We rowed past buoy {n}.", f"m{n}", peer_id=f"chat-{n}") for n in range(130)],
    )
    assert ranked(words_only, RecallQuery(text="Did we row?")) == 100
    assert ranked(words_only, RecallQuery(text=question, budget=budget)) == 130


def ranked(memory: Memory, query: RecallQuery) -> int:
    """Return how many turns are ranked for a query."""

    def count(traces: list[AnswerTrace], *_: object) -> int:
        (trace,) = traces
        assert trace.ranked is not None
        return len(trace.ranked.places)

    return recaller_of(memory).with_traces(query, count)


def told(
    second: str = "And I visited {} as well.", bob: str = "That is why I never visited such cities."
) -> list[Draft]:
    """Five talks, a day apart: in each, Ann writes of two cities, and Bob of cities in general."""
    drafts = []
    for day, (one, other) in enumerate(zip(CITIES[:5], CITIES[5:], strict=True)):
        drafts += talk(
            ("Ann", f"Of all cities I visited {one} with joy."),
            ("Bob", bob),
            ("Ann", second.format(other)),
            start=START + day * DAY,
            id=f"{day}-",
        )
    return drafts


def members(results: list[Result]) -> int:
    """Return how many of the cities are in an answer."""
    return sum(any(city in result.text for city in CITIES) for result in results)


@pytest.mark.parametrize(
    ("encoder", "drafts", "more"),
    [
        (False, told(), 2),
        # By their vectors all that Ann told above comes before Bob's words already.
        (
            True,
            told(
                "And then I saw {}.",
                "Ann, which cities were visited? Nobody here remembers who drove the old "
                "yellow bus to the harbour, or does somebody know it?",
            ),
            1,
        ),
    ],
)
def test_a_list_holds_more_of_what_the_one_who_is_named_told(
    open_memory: Open, encoder: bool, drafts: list[Draft], more: int
) -> None:
    gathering = open_memory(encoder=encoder)
    plain = open_memory(encoder=encoder, profile=Profile(match_answer_type=False))
    tell(gathering, drafts)
    question = "Which cities has Ann visited?"
    # What Bob says again is a turn of its own here.
    asked = partial(ask, text=question, scope=("events",))
    found = {memory: asked(memory, max_results=10) for memory in (gathering, plain)}
    assert members(found[gathering]) >= members(found[plain]) + more
    # The best stay where they are, and nothing is lost to a longer answer.
    assert cited(found[gathering])[:5] == cited(found[plain])[:5]
    everything = [set(cited(asked(memory, max_results=50))) for memory in found]
    assert everything[0] == everything[1]


@pytest.mark.parametrize(
    "question",
    ["Which city has Ann visited?", "Which cities have Ann and Bob visited?", "Which cities?"],
)
def test_another_question_or_one_of_nobody_in_particular_is_answered_as_ever(
    open_memory: Open, question: str
) -> None:
    gathering, plain = open_memory(), open_memory(profile=Profile(match_answer_type=False))
    tell(gathering, told())
    assert ask(gathering, question) == ask(plain, question)


@given(st.data())
def test_what_gives_way_stands_beside_a_better_turn_of_the_one_named_or_another(
    data: st.DataObject,
) -> None:
    count = data.draw(st.integers(1, 20))
    room = np.array(data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    said = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    places = np.array(data.draw(st.permutations(range(count))))
    scores = np.linspace(1, 0, count, dtype=np.float32)
    sessions = Sessions()
    sessions.extend(room, np.zeros(count, np.int64), np.full(count, -1))
    index = SimpleNamespace(turns=SimpleNamespace(sessions=sessions))
    less = demote_neighbours(scores, places, by_speakers=said, index=cast(Index, index))
    in_room = [np.flatnonzero(room == number).tolist() for number in (0, 1)]
    for rank, place in enumerate(places.tolist()):
        talk = in_room[room[place]]
        close = [
            other
            for other in places[:rank].tolist()
            if other in talk and abs(talk.index(other) - talk.index(place)) <= 2
        ]
        gives_way = rank >= 5 and not said[place] and close
        expected = max(scores[rank] - np.float32(0.05), 0) if gives_way else scores[rank]
        assert less[rank] == pytest.approx(expected)
