"""What is said again within a day is folded into its fact; what differs in anything that counts is
not; and a value that comes back is the value again (A21, F7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from recollect.schemas.changes import Fact, FactOccasion
from recollect.schemas.events import Draft
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.encoder.encoder import TokenVectors
from recollect.streams.encoder.gateway import EncoderGateway
from tests.agents.kit import DAY, HOUR, MINUTE, START, Zone, ends_turn, says
from tests.protocol.kit import MODEL, TinyEncoder

DIMENSION = 64
#: Words that an encoder takes for one another.
SAME = {"purchased": "bought", "acquired": "bought", "automobile": "car", "pup": "puppy"}


class Likening(TinyEncoder):
    """An encoder for which a text is the sum of its words, and some words are nearly others."""

    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([self.vector(text) for text in texts], np.float32)

    def encode_query_tokens(self, text: str) -> TokenVectors:
        return TokenVectors(
            ids=np.zeros(0, np.int32),
            offsets=np.zeros((0, 2), np.int32),
            vectors=np.zeros((0, DIMENSION), np.float32),
            pooled=np.array(self.vector(text), np.float32),
        )

    def vector(self, text: str) -> npt.NDArray[np.float64]:
        """Return the vector of a text."""
        words = [word.strip(".,!?").lower() for word in text.split()]
        return sum(
            (_noise(SAME.get(word, word)) + 0.05 * _noise(word) for word in words),
            start=np.zeros(DIMENSION),
        )


def _noise(word: str) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
    return np.random.default_rng(seed).normal(size=DIMENSION)


def zone(*drafts: Draft, encoder: bool = True) -> Zone:
    gateway = EncoderGateway(MODEL, DIMENSION, Likening) if encoder else None
    return Zone(RuleWriter(), gateway=gateway).given(*drafts)


def kept(first: str, second: str, *, encoder: bool = True, later: int = HOUR) -> int:
    """Return how many facts two messages give."""
    return len(
        zone(says("Ada", first), says("Ada", second, at=START + later), encoder=encoder).facts()
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I sold my boat on Monday.", "On Monday I sold my boat."),
        ("I met Bob in Rome.", "In Rome I met Bob!"),
        ("I drove from Paris to Rome.", "from Paris to Rome I drove"),
        ("I live in Berlin.", "i LIVE in berlin!!"),
    ],
)
@pytest.mark.parametrize("encoder", [False, True])
def test_words_that_are_only_turned_are_the_same(first: str, second: str, encoder: bool) -> None:
    assert kept(first, second, encoder=encoder) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I bought a bike in Rome.", "I purchased a bike in Rome."),
        ("My sister has an old car.", "My sister has an old automobile."),
        ("I bought a bike in Rome.", "In Rome I purchased a bike."),
    ],
)
def test_another_word_for_the_same_is_the_same_to_an_encoder(first: str, second: str) -> None:
    assert kept(first, second) == 1
    assert kept(first, second, encoder=False) == 2, "words alone do not tell"
    assert kept(first, second, later=DAY + MINUTE) == 2, "and after a day it is news"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # values, numbers, days
        ("I have two cats at home.", "I have three cats at home."),
        ("My rent is 900 euros a month.", "My rent is 950 euros a month."),
        ("The meeting is in Room 101.", "The meeting is in Room 102."),
        ("I fly to Oslo on Monday.", "I fly to Oslo on Tuesday."),
        ("I take my pills in the morning.", "I take my pills in the evening."),
        ("I live in Berlin.", "I live in Bonn."),
        ("The code of my bike lock is 512.", "The code of my bike lock is 513."),
        # negation, tense, doubt
        ("I can come to the party on Monday.", "I can't come to the party on Monday."),
        ("I will move to Rome in May.", "I may move to Rome in May."),
        ("I eat meat at home.", "I never eat meat at home."),
        # people and subjects
        ("My sister plays the harp.", "My brother plays the harp."),
        ("I like Bob a lot.", "I like Tom a lot."),
        ("Ada Moreau met Bob in May.", "Bob met Ada Moreau in May."),
        ("My dog bit my cat.", "My cat bit my dog."),
        ("I moved to Lisbon last month.", "We moved to Lisbon last month."),
        # directions, sides, opposites
        ("I moved to Lisbon last month.", "I moved from Lisbon last month."),
        ("I broke my left arm.", "I broke my right arm."),
        ("I bought a bike in Rome.", "I sold a bike in Rome."),
        ("Not Anna, Tom lives in Rome.", "Not Tom, Anna lives in Rome."),
    ],
)
@pytest.mark.parametrize("encoder", [False, True])
def test_what_differs_in_what_counts_is_another_fact(
    first: str, second: str, encoder: bool
) -> None:
    alone = sum(len(zone(says("Ada", each)).facts()) for each in (first, second))
    assert alone == 2
    assert kept(first, second, encoder=encoder) == 2


def test_an_encoder_that_takes_all_for_one_folds_no_value() -> None:
    """The worst encoder: every vector is the same. What counts is compared by itself."""

    class One(Likening):
        def vector(self, text: str) -> npt.NDArray[np.float64]:
            return np.ones(DIMENSION)

    home = Zone(RuleWriter(), gateway=EncoderGateway(MODEL, DIMENSION, One)).given(
        says("Ada", "I have two cats at home."),
        says("Ada", "I have three cats at home.", at=START + 1),
        says("Ada", "My sister plays the harp.", at=START + 2),
        says("Ada", "My brother plays the harp.", at=START + 3),
        says("Ada", "I fly to Oslo on Monday.", at=START + 4),
        says("Ada", "I fly to Rome on Monday.", at=START + 5),
    )
    assert len(home.facts()) == 6


def test_the_reason_is_recorded_with_the_fact() -> None:
    home = zone(says("Ada", "I bought a bike in Rome."))
    (first,) = home.ask("memory", "SELECT id FROM facts")
    turned = home.read(says("Ada", "In Rome I bought a bike.", at=START + 1, id="turned"))
    other = home.read(says("Ada", "I purchased a bike in Rome.", at=START + 2, id="other"))
    (same,) = turned.rows(FactOccasion)
    (meant,) = other.rows(FactOccasion)
    assert (same.fact_id, meant.fact_id) == (first[0], first[0])
    assert same.reason == "said again: the same words"
    assert meant.reason.startswith("near-duplicate within 24 hours: all but one word, cosine 0.9")


def test_what_another_person_says_in_the_same_words_is_theirs() -> None:
    home = zone(
        says("Ada", "I bought a bike in Rome."),
        says("Bob", "I purchased a bike in Rome.", at=START + 1),
    )
    assert len(home.facts()) == 2


def test_she_said_twice_may_be_two_people() -> None:
    """Nothing is lost where the same words may be about somebody else."""
    home = zone(
        says("Ada", "My sister lives in Oslo. She broke her leg on Monday."),
        says("Ada", "My aunt lives in Rome. She broke her leg on Monday.", at=START + HOUR),
    )
    assert sum("broke her leg" in fact for fact in home.facts()) == 2


# A value that comes back


def _home_of_ada(*drafts: Draft) -> list[str]:
    return zone(*drafts).current_facts()


A, B = "I live in Berlin.", "I moved to Paris."


def test_a_value_that_comes_back_is_the_value_again() -> None:
    assert _home_of_ada(
        says("Ada", A),
        says("Ada", B, at=START + HOUR),
        says("Ada", A, at=START + 2 * HOUR, id="again"),
    ) == ["Ada lives in Berlin."]


def test_a_value_that_comes_back_is_the_value_again_in_one_message() -> None:
    found = _home_of_ada(says("Ada", "I live in Berlin. I live in Paris. I live in Berlin."))
    assert found == ["Ada lives in Berlin."]


@pytest.mark.parametrize(
    "order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
)
def test_a_value_that_comes_back_does_so_in_whatever_order_it_is_learnt(
    order: tuple[int, ...],
) -> None:
    """Two exports of one day may come one after the other."""
    said = [
        says("Ada", A),
        says("Ada", B, at=START + HOUR),
        says("Ada", A, at=START + 2 * HOUR, id="again"),
    ]
    assert _home_of_ada(*(said[place] for place in order)) == ["Ada lives in Berlin."]


def test_a_value_that_is_said_again_before_another_has_ended_by_it() -> None:
    found = _home_of_ada(
        says("Ada", A),
        says("Ada", A, at=START + HOUR, id="again"),
        says("Ada", B, at=START + 2 * HOUR),
    )
    assert found == ["Ada moved to Paris."]


def test_a_value_that_comes_back_within_a_turn_is_the_value_again() -> None:
    found = _home_of_ada(
        says("Ada", A, turn_id="t"),
        says("Ada", A, at=START + 2 * HOUR, id="again", turn_id="t"),
        says("Ada", B, at=START + HOUR, turn_id="t"),
        ends_turn("t", at=START + 3 * HOUR),
    )
    assert found == ["Ada lives in Berlin."]


def test_three_values_each_end_where_the_next_begins() -> None:
    home = zone(
        says("Ada", A),
        says("Ada", A, at=START + 3 * HOUR, id="again"),
        says("Ada", B, at=START + HOUR),
        says("Ada", "I live in Oslo.", at=START + 2 * HOUR),
    )
    assert home.current_facts() == ["Ada lives in Berlin."]
    assert len(home.facts()) == 3


def test_facts_that_fold_have_one_fact_row() -> None:
    home = zone(says("Ada", "I bought a bike in Rome."))
    outcome = home.read(says("Ada", "I purchased a bike in Rome.", at=START + 1))
    assert outcome.rows(Fact) == []
