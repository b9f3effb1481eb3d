"""What a question says of itself: whose words it wants, of which time, and what hangs together."""

from __future__ import annotations

import pytest

from recollect import Query
from recollect.projections.recall import DEFAULT_PROFILE, Profile, RecallQuery
from tests.memory import Memory
from tests.recall.kit import (
    DAY,
    HOUR,
    MINUTE,
    START,
    ConceptEncoder,
    ask,
    cited,
    recalled,
    say,
    talk,
    tell,
)


def by_arm(memory: Memory, arm: str, text: str, **fields: object) -> dict[str, int]:
    """Return the rank of each turn that an arm found, by the source's id."""
    results = ask(memory, text, explain=True, max_results=1_000, scope=("events",), **fields)
    return {
        result.source_event_ids[0]: (result.arms or {})[arm]
        for result in results
        if arm in (result.arms or {})
    }


class TestAssistant:
    """A zone of one user and an assistant."""

    @pytest.fixture
    def chat(self, memory: Memory) -> Memory:
        told = [
            ("user", "My budget for the kitchen is four thousand."),
            ("assistant", "A kitchen budget of four thousand is a budget for a kitchen."),
            ("user", "I would like oak."),
            ("assistant", "Oak is a hard wood. The kitchen should have oak."),
        ]
        tell(
            memory,
            [
                say(text, f"m{place}", sender_id=by, sender_name=by, at=START + place * HOUR * 12)
                for place, (by, text) in enumerate(told, 1)
            ],
        )
        return memory

    @pytest.mark.parametrize(
        "question",
        [
            "What is my budget for the kitchen?",
            "What is the kitchen budget?",
            "Can you tell me the budget for the kitchen?",
            "Do you remember what the kitchen may cost?",
        ],
    )
    def test_what_the_user_said_is_asked_for(self, chat: Memory, question: str) -> None:
        assert set(by_arm(chat, "entity", question)) == {"m1", "m3"}
        assert cited(ask(chat, question))[0] == "m1"

    @pytest.mark.parametrize(
        "question",
        ["What did you say about the oak?", "What was your advice on wood?"],
    )
    def test_unless_the_question_is_about_the_assistant(self, chat: Memory, question: str) -> None:
        assert set(by_arm(chat, "entity", question)) == {"m2", "m4"}
        assert cited(ask(chat, question))[0] == "m4"

    def test_where_two_users_talk_nobody_is_preferred(self, chat: Memory) -> None:
        tell(chat, [say("The kitchen is fine.", "m9", by="Eve", at=START + 9 * DAY)])
        assert by_arm(chat, "entity", "What is the kitchen budget?") == {}


class TestTime:
    """A question that speaks of a time."""

    @pytest.fixture
    def year(self, memory: Memory) -> Memory:
        # START is 2026-01-05, a Monday.
        days = {"jan5": 0, "jan20": 15, "feb2": 28, "mar4": 58, "mar20": 74}
        tell(
            memory,
            [
                say(f"I painted again, {id_}.", id_, at=START + day * DAY)
                for id_, day in days.items()
            ],
        )
        return memory

    @pytest.mark.parametrize(
        ("question", "then", "around"),
        [
            ("What did Ada do on 20 January 2026?", {"jan20"}, set()),
            # A question about nothing but a time is about all of it, and nothing else.
            ("What did Ada do in January?", {"jan5", "jan20"}, set()),
            ("What did Ada paint in January?", {"jan5", "jan20"}, {"feb2"}),
            ("What did Ada do last month?", {"feb2"}, set()),
            ("What did Ada paint last month?", {"feb2"}, {"mar4"}),
            ("What did Ada paint two weeks ago?", {"mar4"}, set()),
            ("What did Ada paint the week before February 8, 2026?", {"feb2"}, {"jan20"}),
            ("What did Ada paint since February 2026?", {"feb2", "mar4", "mar20"}, set()),
            ("What did Ada paint in 2019?", set(), set()),
            ("What did Ada paint?", set(), set()),
        ],
    )
    def test_prefers_what_was_said_then_and_a_few_days_around(
        self, year: Memory, question: str, then: set[str], around: set[str]
    ) -> None:
        found = by_arm(year, "temporal", question)
        assert {id_ for id_, rank in found.items() if rank == 1} == then
        assert {id_ for id_, rank in found.items() if rank > 1} == around

    def test_excludes_nothing(self, year: Memory) -> None:
        found = cited(ask(year, "What did Ada paint in February 2026?"))
        assert found[0] == "feb2"
        assert set(found) == {"jan5", "jan20", "feb2", "mar4", "mar20"}

    def test_is_asked_about_as_it_was_when_it_ended(self, year: Memory) -> None:
        tell(year, [say("It rained.", "later", at=START + 200 * DAY)])
        assert set(by_arm(year, "temporal", "What did Ada do last month?")) == set()

    def test_a_caller_may_say_which_time_is_meant(self, year: Memory) -> None:
        spans = ((START + 57 * DAY, START + 59 * DAY),)
        question = RecallQuery(text="What did Ada paint?", spans=spans)
        assert cited(year.recaller().recall(question, None).results)[0] == "mar4"


class TestKind:
    """A question whose words say what kind of answer is wanted."""

    @pytest.fixture
    def talk(self, memory: Memory) -> Memory:
        lines = {
            "plain": "My sister visits the zoo with me.",
            "dated": "My sister visits the zoo yesterday.",
            "counted": "My sister visits the zoo twice.",
        }
        tell(memory, [say(text, id_, peer_id=id_) for id_, text in lines.items()])
        return memory

    @staticmethod
    def gained(memory: Memory, question: str) -> set[str]:
        """Return what scores more than in the profile that passes over kinds of answers."""
        query = Query(question, scope=("events",))
        with_it, without = (
            {
                result.source_event_ids[0]: result.score
                for result in recalled(memory, query, profile, None, ConceptEncoder()).results
            }
            for profile in (DEFAULT_PROFILE, Profile(match_answer_type=False))
        )
        assert with_it.keys() == without.keys()
        assert all(with_it[id_] >= without[id_] for id_ in without)
        return {id_ for id_ in without if with_it[id_] > without[id_]}

    @pytest.mark.parametrize(
        ("question", "found"),
        [
            ("When does my sister visit the zoo?", {"dated"}),
            ("On what day does my sister visit the zoo?", {"dated"}),
            ("How often does my sister visit the zoo?", {"counted"}),
            ("how many times does my sister visit the zoo", {"counted"}),
            ("Who visits the zoo when it rains?", set()),
            ("Does my sister visit the zoo?", set()),
        ],
    )
    def test_what_holds_such_an_answer_scores_a_little_more(
        self, talk: Memory, question: str, found: set[str]
    ) -> None:
        assert self.gained(talk, question) == found

    def test_finds_nothing_else(self, talk: Memory) -> None:
        best = cited(ask(talk, "How many plain people are with me?"))[0]
        assert best == "plain"


class TestEvent:
    """A question that gives a time by an event."""

    @pytest.fixture
    def diary(self, memory: Memory) -> Memory:
        # START is 2026-01-05, a Monday.
        days = {"jan5": 0, "jan20": 15, "feb2": 28, "mar4": 58, "jul20": 196}
        painted = [
            say(f"I painted again, {id_}.", id_, at=START + day * DAY, peer_id=id_)
            for id_, day in days.items()
        ]
        told = [
            say("We moved house yesterday!", "moved", at=START + 31 * DAY, peer_id="x"),
            say("Our wedding is on 2 March 2026.", "wedding", at=START + 3 * DAY, peer_id="y"),
            say("I started at the bakery.", "bakery", at=START + 180 * DAY, peer_id="z"),
        ]
        tell(memory, [*painted, *told])
        return memory

    @pytest.mark.parametrize(
        ("question", "then", "around"),
        [
            # Told on 5 February, of the day before: from 28 January to 3 February.
            (
                "What did Ada paint the week before she moved house?",
                {"feb2"},
                {"jan20", "moved"},
            ),
            (
                "What did Ada paint 3 weeks before they moved house?",
                {"jan20", "feb2"},
                {"jan5", "wedding", "moved"},
            ),
            # Told in January, of 2 March.
            ("What did Ada paint the week after our wedding?", {"mar4"}, set()),
            # The day of the wedding belongs to both sides, and the message of it speaks of it.
            (
                "After our wedding, what did Ada paint?",
                {"mar4", "jul20", "bakery", "wedding"},
                set(),
            ),
            (
                "What did Ada do the summer she started at the bakery?",
                {"jul20", "bakery"},
                set(),
            ),
            ("What did Ada paint the month we moved house?", {"feb2", "moved"}, {"mar4"}),
            # Nothing of the kind is known.
            ("What did Ada paint the week before the earthquake?", set(), set()),
            ("Who looks after the wedding?", set(), set()),
        ],
    )
    def test_prefers_what_was_said_then(
        self, diary: Memory, question: str, then: set[str], around: set[str]
    ) -> None:
        found = by_arm(diary, "temporal", question)
        assert {id_ for id_, rank in found.items() if rank == 1} == then
        assert {id_ for id_, rank in found.items() if rank > 1} == around

    def test_a_date_in_the_question_counts_for_more(self, diary: Memory) -> None:
        question = "What did Ada paint in January 2026 before the wedding?"
        assert set(by_arm(diary, "temporal", question)) == {
            "jan5",
            "jan20",
            "wedding",
            "feb2",
            "moved",
        }

    def test_excludes_nothing(self, diary: Memory) -> None:
        found = cited(ask(diary, "What did Ada paint the week before she moved house?"))
        assert len(found) == 8


def test_what_shares_a_rare_name_with_the_best_is_found(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I own a zeppelin from Grace Hopper.", "first", peer_id="a"),
            say("Grace Hopper visited Oslo.", "hop", peer_id="b", at=START + DAY),
            *talk(*[("Bob", f"Nothing new on day {day}.") for day in range(8)], peer_id="c"),
        ],
    )
    found = by_arm(memory, "shared", "zeppelin", budget="high")
    assert found["hop"] == 1
    assert "hop" in cited(ask(memory, "zeppelin"))
    assert by_arm(memory, "shared", "zeppelin", budget="low") == {}


def test_a_hop_stays_within_what_is_allowed(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I own a zeppelin from Grace Hopper.", "first", peer_id="a"),
            say("Grace Hopper visited Oslo.", "hop", peer_id="b", at=START + MINUTE, platform="x"),
        ],
    )
    assert set(by_arm(memory, "shared", "zeppelin", platform="chat")) <= {"first"}
