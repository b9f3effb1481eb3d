"""Faults that users of other memory systems report, and that must not happen here (F1 to F12).

F7 is in test_validity, F8 in test_lifetime and test_past, what is typed in test_odd.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Query
from recollect.home.home_directory import Home
from recollect.projections.recall import BUDGETS, PROFILES
from recollect.schemas.times import format_time
from recollect.schemas.wire import SCOPES, Result, Scope
from recollect.streams.encoder.encoder import Encoder
from recollect.streams.encoder.pin import Pin
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.arms.test_observations import observe
from tests.recall.conftest import Open
from tests.recall.kit import (
    DAY,
    DIMENSION,
    START,
    ConceptEncoder,
    EncodedHome,
    ask,
    cited,
    say,
    tell,
    vector_of,
)

TURNS: tuple[Scope, ...] = ("events", "facts")


class Dated(NamedTuple):
    """A message: when it was written, and how much later (or earlier) it reached the ledger."""

    said: int
    delay: int


MOMENTS = st.integers(START - 3_000 * DAY, START + 100 * DAY)


class TestEventTimes:
    """F6: the supplied event time dropped, "today" in a backfill, filters at the wrong time."""

    @settings(max_examples=15, deadline=None)
    @given(
        st.lists(st.builds(Dated, MOMENTS, st.integers(-DAY, 5_000 * DAY)), min_size=1, max_size=8),
        st.tuples(MOMENTS, MOMENTS).filter(lambda ends: ends[0] != ends[1]).map(sorted),
    )
    def test_a_result_is_as_of_when_it_was_said_and_so_are_filters(
        self, told: list[Dated], ends: list[int]
    ) -> None:
        after, before = ends
        with (
            in_memory() as room,
            Memory(Home.create_or_open(room / "home", without_encoder=True)) as memory,
        ):
            tell(
                memory,
                [
                    say(
                        f"I saw dog {place}.", f"m{place}", at=said, ingested_at=max(said + late, 0)
                    )
                    for place, (said, late) in enumerate(told)
                ],
            )
            for scope in (("events",), ("facts",), TURNS):
                every = ask(memory, "dog", scope=scope, max_results=99)
                assert {item.source_event_ids[0]: item.as_of for item in every} == {
                    f"m{place}": format_time(item.said) for place, item in enumerate(told)
                }
                some = ask(
                    memory, "dog", scope=scope, time_after=after, time_before=before, max_results=99
                )
                assert set(cited(some)) == {
                    f"m{place}" for place, item in enumerate(told) if after < item.said < before
                }


class OtherEncoder(ConceptEncoder):
    """A model of the same dimension that means other directions by the same words."""

    model = "other"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return super().encode([text[::-1] for text in texts])

    def encode_query(self, text: str) -> np.ndarray:
        return vector_of(text[::-1])


class OtherHome(EncodedHome):
    """The same home after somebody chose another encoder."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        pin = cast(Pin, SimpleNamespace(model=OtherEncoder.model, dimension=DIMENSION))
        self.settings = msgspec.structs.replace(self.settings, encoder=pin)

    def load_encoder(self) -> Encoder:
        return OtherEncoder()


class TestAnotherModel:
    """F9: a change of embedding model that silently empties recall."""

    SAID = (
        say("I own a dog.", "dog"),
        say("I sold the car.", "car", at=START + DAY, peer_id="b"),
        say("It rained.", "rain", at=START + 2 * DAY, peer_id="c"),
    )

    def test_nothing_is_lost_before_the_vectors_are_made_anew(self, memory: Memory) -> None:
        tell(memory, self.SAID)
        directory = memory.home.directory
        memory.close()
        with Memory(OtherHome(directory)) as other:
            for budget in sorted(BUDGETS):
                assert cited(ask(other, "dog", budget=budget))[0] == "dog"
            # Vectors of one model are no measure for a question that another one read.
            words = Query("dog", explain=True)
            (best, *_) = other.recall(words).results
            assert set(best.arms or {}) == {"keyword", "statement"}
            tell(other, [say("I own a boat.", "boat", at=START + 3 * DAY, peer_id="d")])
            assert cited(ask(other, "boat"))[0] == "boat"

    def test_it_is_whole_again_after_fresh(self, memory: Memory) -> None:
        tell(memory, self.SAID)
        directory = memory.home.directory
        memory.close()
        with Memory(OtherHome(directory)) as other:
            assert cited(ask(other, "dog"))[0] == "dog"
            other.rebuild("fresh")
            for word in ("dog", "car", "rain"):
                (best, *_) = ask(other, f"{word}ed" if word == "rain" else word, explain=True)
                assert best.source_event_ids == [word]
                assert (best.arms or {})["semantic"] == 1
            assert other.status().encoder == "other"


@pytest.fixture(scope="module")
def full() -> Any:
    with in_memory() as room:
        Home.create_or_open(room / "home", without_encoder=True)
        with Memory(EncodedHome(room / "home")) as memory:
            tell(
                memory,
                [
                    say(
                        f"I own dog {place}. Grace Hopper owns a cat.",
                        f"m{place}",
                        at=START + place,
                        peer_id=f"p{place % 3}",
                    )
                    for place in range(30)
                ],
            )
            memory.create_mental_model("Dogs", "Ada has a dog")
            facts = [item.id for item in ask(memory, "dog", scope=("facts",), max_results=99)]
            for place in range(7):
                observe(memory, f"o{place}", f"Ada has dogs {place}.", facts[place:][:7])
            yield memory.home.directory


class TestLimits:
    """F10: a result limit that is overshot."""

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_no_answer_is_longer_than_asked(self, full: Path, profile: str) -> None:
        every: tuple[tuple[Scope, ...], ...] = (SCOPES, TURNS, ("facts",), ("observations",))
        with Memory(EncodedHome(full), profile=PROFILES[profile]) as memory:
            for budget, scope in itertools.product(BUDGETS, every):
                for count in (1, 2, 5, 6, 40):
                    query = Query(
                        query="Grace Hopper own dog", scope=scope, budget=budget, max_results=count
                    )
                    results = memory.recall(query).results
                    assert 0 < len(results) <= count
                    self.check_once(results)

    def check_once(self, results: list[Result]) -> None:
        """Nothing is answered twice, be it by itself or with an observation."""
        shown = [item.id for item in results]
        shown += [fact.id for item in results for fact in item.facts]
        assert len(set(shown)) == len(shown)


class TestZones:
    """F12: one user's memory reaching another's recall."""

    @pytest.mark.parametrize("encoder", [True, False])
    def test_each_zone_answers_from_its_own_memory_alone(
        self, open_memory: Open, encoder: bool
    ) -> None:
        zones = {name: open_memory(name, encoder=encoder) for name in ("ada", "bob", "empty")}
        owned = {"ada": "dog", "bob": "boat"}
        for name, thing in owned.items():
            tell(
                zones[name],
                [
                    say(f"I own a {thing} called Brindlewick.", f"{name}-{place}", by=name.title())
                    for place in range(3)
                ],
            )
            zones[name].create_mental_model("Things", f"Brindlewick is a {thing}")
        queries = [
            Query(text, scope=SCOPES, budget=budget, max_results=99, **fields)
            for text in ("Who is Brindlewick?", "dog", "boat", "Ada", "Bob")
            for budget in BUDGETS
            for fields in cast(list[dict[str, Any]], [{}, {"entity": "Brindlewick"}])
        ]
        for name, memory in zones.items():
            for query, known_at in itertools.product(queries, (None, 2**42 - 1)):
                for result in memory.recall(query, known_at=known_at).results:
                    assert owned[name] in result.text or result.type == "entity"
                    assert all(id_.startswith(name) for id_ in result.source_event_ids)
                    others = {id_ for id_, other in zones.items() if other is not memory}
                    assert not any(other.title() in result.text for other in others)
        (fact, *_) = ask(zones["ada"], "dog", scope=("facts",))
        for id_ in (fact.id, "ada-0"):
            assert zones["ada"].explain(Query("dog"), id_) is not None
            assert zones["bob"].explain(Query("dog"), id_) is None
