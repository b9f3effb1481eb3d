"""The same answer cold, warm and rebuilt; never a forgotten one; never a torn one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from recollect import Query
from recollect.projections.recall import DEFAULT_PROFILE
from recollect.schemas.events import Draft, Forget
from recollect.streams.publishing.commands import command
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import (
    DAY,
    MINUTE,
    START,
    FixedEncoder,
    ask,
    cited,
    plain,
    recalled,
    say,
    talk,
    tell,
)
from tests.slow_parameters import slow_except

QUESTIONS = [
    Query("Where does Ada live?", explain=True),
    Query("dog", scope=("facts",), max_results=50),
    Query("Who saw a hound with a physician?", max_results=1_000, budget="high", explain=True),
    Query("boat", scope=("events",), budget="low", max_results=300, explain=True),
    Query("Grace Hopper", scope=("entities", "facts", "mental_models")),
    Query("the car", time_after=START + 100 * MINUTE, max_results=50),
]


@pytest.fixture
def busy(memory: Memory) -> Memory:
    """A zone with repeats, corrections, equals by the hundred, and turns that were forgotten."""
    random = np.random.default_rng(3)
    things = ["dog", "hound", "car", "boat", "doctor", "physician", "kite"]
    drafts = [
        say(
            (
                "ok",
                "I own a dog.",
                f"I saw a {random.choice(things)}. I own a {random.choice(things)}.",
            )[int(random.integers(0, 3))],
            f"m{place}",
            by=("Ada", "Bob", "Eve")[place % 3],
            at=START + place * MINUTE,
            peer_id=f"room{place % 4}",
        )
        for place in range(420)
    ]
    drafts += [
        say("I live in Rome.", "rome"),
        say("I live in Oslo.", "oslo", at=START + 3 * DAY),
        say("Grace Hopper visited Paris.", "grace", at=START + 4 * DAY),
    ]
    tell(memory, drafts)
    memory.create_mental_model("Grace Hopper", "An admiral with a dog")
    memory.forget("m7", "m30", "m31")
    return memory


def answers(memory: Memory) -> list[list[dict]]:
    return [plain(memory.recall(query)) for query in QUESTIONS]


def test_the_first_question_is_answered_as_every_later_one(busy: Memory, open_memory: Open) -> None:
    warm = answers(busy)
    assert all(warm)
    assert answers(busy) == warm
    for query, expected in zip(QUESTIONS, warm, strict=True):
        assert plain(open_memory().recall(query)) == expected


@pytest.mark.parametrize("level", slow_except(("index",), ("index", "project", "derive")))
def test_a_rebuilt_zone_gives_the_same_answers(busy: Memory, open_memory: Open, level: str) -> None:
    before = answers(busy)
    other = open_memory()
    assert answers(other) == before
    busy.rebuild(level)
    assert answers(busy) == before
    assert answers(other) == before
    assert answers(open_memory()) == before


def test_what_was_said_since_is_found(busy: Memory, open_memory: Open) -> None:
    reader = open_memory()
    assert "new" not in cited(ask(reader, "zeppelin"))
    busy.publish([say("I own a zeppelin.", "new", at=START + 5 * DAY)])
    (first, *_) = ask(reader, "zeppelin")
    assert (first.type, first.source_event_ids) == ("event", ["new"])
    busy.drive()
    (first, *_) = ask(reader, "zeppelin")
    assert (first.type, first.source_event_ids) == ("fact", ["new"])


class TestForgotten:
    """What was forgotten is in no answer, whoever asks."""

    SECRET = "Grace Hopper hid the zeppelin in Paris. I own a zeppelin."
    ASKED = ("zeppelin", "Grace Hopper", "hid", "Paris", SECRET)
    SCOPES = (("events",), ("facts",), ("entities",), ("events", "facts", "mental_models"))

    def found(self, memory: Memory) -> Iterator[str]:
        for text in self.ASKED:
            for scope in self.SCOPES:
                for result in ask(memory, text, scope=scope, budget="high", max_results=100):
                    yield from (result.text, *result.source_event_ids)

    @pytest.fixture(params=[True, False], ids=["encoder", "words"])
    def pair(self, request: pytest.FixtureRequest, open_memory: Open) -> tuple[Memory, Memory]:
        """A memory that forgets, and another, open on the same zone, that has asked before."""
        memory = open_memory(encoder=request.param)
        tell(memory, talk(("Ada", "It rained."), ("Bob", self.SECRET), ("Ada", "It snowed.")))
        reader = open_memory(encoder=request.param)
        for one in (memory, reader):
            assert any("zeppelin" in text for text in self.found(one))
        return memory, reader

    def test_by_an_open_reader_or_a_new_one(
        self, pair: tuple[Memory, Memory], open_memory: Open
    ) -> None:
        memory, reader = pair
        memory.forget("m2")
        cold = open_memory(encoder=memory.home.settings.encoder is not None)
        for one in (memory, reader, cold, cold):
            texts = " ".join(self.found(one))
            assert "zeppelin" not in texts
            assert "Hopper" not in texts
            assert "m2" not in texts

    def test_as_soon_as_it_is_in_the_ledger(self, pair: tuple[Memory, Memory]) -> None:
        memory, reader = pair
        memory.node.ledger.publish(memory.zone, [_forget(2)])
        for one in (reader, memory, reader):
            texts = " ".join(self.found(one))
            assert "zeppelin" not in texts
            assert "Hopper" not in texts

    def test_with_nothing_left(self, pair: tuple[Memory, Memory], open_memory: Open) -> None:
        memory, reader = pair
        memory.node.ledger.publish(memory.zone, [_forget(1, 2, 3)])
        cold = open_memory(encoder=memory.home.settings.encoder is not None)
        for one in (cold, memory, reader, reader):
            assert list(self.found(one)) == []
        memory.drive()
        for one in (memory, reader):
            assert list(self.found(one)) == []


def test_of_hundreds_of_equals_the_same_are_answered_cold_and_warm(
    memory: Memory, open_memory: Open
) -> None:
    tell(
        memory,
        [say("ok", f"c{place}", at=START - place, peer_id=f"p{place}") for place in range(450)],
    )
    for count in (10, 150, 1_000):
        query = Query("ok", budget="low", scope=("events",), max_results=count)
        warm = plain(memory.recall(query))
        assert len(warm) == min(count, 450)
        assert plain(open_memory().recall(query)) == warm


def test_what_is_being_forgotten_takes_no_place_from_what_is_not(
    memory: Memory, open_memory: Open
) -> None:
    crowd = [say(f"A dog, {place}", f"c{place}", at=START + place) for place in range(500)]
    tell(memory, [*crowd, say("Long ago I had a hound here in the rain.", "kept", peer_id="x")])
    memory.node.ledger.publish(memory.zone, [_forget(*range(1, 501))])
    for _ in range(2):
        assert cited(ask(memory, "dog", budget="low")) == ["kept"]
    assert cited(ask(open_memory(), "dog", budget="low", scope=("facts",))) == ["kept"]


def _forget(*numbers: int) -> Draft:
    name = "forget:" + ",".join(map(str, numbers))
    return command(Forget(source_id=name, targets=numbers), START)


class TestLittle:
    """Zones that hold little, vectors that say nothing."""

    @pytest.mark.parametrize("fields", [{}, {"platform": "chat"}, {"entity": "Ada"}], ids=str)
    def test_a_zone_with_commands_alone_answers_nothing(self, memory: Memory, fields: dict) -> None:
        memory.create_mental_model("Weather", "It rains")
        for scope in (("events",), ("facts",), ("entities",)):
            for _ in range(2):
                assert ask(memory, "dog", scope=scope, **fields) == []

    def test_a_zone_with_bare_turns_alone_answers_nothing(self, memory: Memory) -> None:
        tell(memory, [say("", "end", kind="turn_completed", turn_id="t")])
        assert [ask(memory, "dog") for _ in range(2)] == [[], []]

    def test_raw_turns_without_vectors_are_found_by_words(self, memory: Memory) -> None:
        memory.publish(talk(("Ada", "I own a dog.")))
        for _ in range(2):
            assert cited(ask(memory, "dog")) == ["m1"]

    def test_one_turn_is_an_answer(self, memory: Memory) -> None:
        tell(memory, talk(("Ada", "I own a dog.")))
        for budget in ("low", "mid", "high"):
            assert cited(ask(memory, "hound", budget=budget, max_results=1_000)) == ["m1"]

    @pytest.mark.parametrize("filler", [np.nan, np.inf, 0.0])
    def test_a_vector_without_direction_is_as_none(self, memory: Memory, filler: float) -> None:
        tell(memory, talk(("Ada", "I own a dog."), ("Ada", "It rained.")))
        ask(memory, "dog")
        query = Query("dog", budget="low")
        broken = FixedEncoder(np.full(256, filler, np.float32))
        expected = plain(recalled(memory, query))
        assert expected[0]["source_event_ids"] == ["m1"]
        assert plain(recalled(memory, query, DEFAULT_PROFILE, None, broken)) == expected
        assert broken.read

    def test_a_vector_of_another_model_is_as_none(self, memory: Memory) -> None:
        tell(memory, talk(("Ada", "I own a dog.")))
        ask(memory, "dog")
        encoder = FixedEncoder(np.ones(8, np.float32))
        answer = recalled(memory, Query("dog"), DEFAULT_PROFILE, None, encoder)
        assert encoder.read
        assert cited(answer.results) == ["m1"]


@pytest.mark.slow
def test_answers_are_whole_while_another_thread_writes_forgets_and_rebuilds(
    open_memory: Open, room: Path
) -> None:
    writer = open_memory()
    tell(writer, [say("Number m0: I own a dog.", "m0")])
    reader = open_memory()
    failures: list[BaseException] = []
    forgotten: set[str] = set()
    done = threading.Event()

    def write() -> None:
        try:
            for step in range(1, 9):
                tell(
                    writer,
                    [
                        say(
                            f"Number m{place}: I own a dog. Number m{place}: I saw Grace Hopper.",
                            f"m{place}",
                            at=START + place * MINUTE,
                        )
                        for place in range(step * 10, step * 10 + 10)
                    ],
                )
                writer.forget(f"m{step * 10}")
                forgotten.add(f"m{step * 10}")
                if step % 2 == 0:
                    writer.rebuild(("index", "project", "derive", "fresh")[step // 2 - 1])
        except BaseException as error:
            failures.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=write)
    thread.start()
    asked = 0
    try:
        while not done.is_set() or asked < 10:
            gone = set(forgotten)
            query = Query(
                query=("Who owns a hound?", "Grace Hopper")[asked % 2],
                scope=("events", "facts") if asked % 3 else ("facts",),
                max_results=200,
                budget=("low", "mid", "high")[asked % 3],
            )
            results = reader.recall(query).results
            assert results
            assert len({item.id for item in results}) == len(results)
            for item in results:
                assert f"Number {item.source_event_ids[0]}:" in item.text
            assert not gone & set(cited(results))
            asked += 1
    finally:
        done.wait(60)
        thread.join()
    assert not failures, failures
    assert len(cited(ask(reader, "dog", max_results=500, scope=("events",)))) == 1 + 8 * 9


def test_the_same_vector_gives_the_same_scores_whatever_is_in_memory(
    busy: Memory, open_memory: Open
) -> None:
    ask(busy, "dog")
    query = Query("hound and car", budget="low", max_results=1_000)
    warm = plain(busy.recall(query))
    cold = open_memory()
    assert plain(cold.recall(query)) == warm
