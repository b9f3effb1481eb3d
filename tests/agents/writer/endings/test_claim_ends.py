"""Which earlier claims a statement ends, and on which of them its decision depends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest

from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.schemas.changes import AnyRow, Fact, FactClaim, FactSupersession, Section
from recollect.streams.agents.state import State, key_of, keys_of_row
from recollect.streams.agents.writer.claims.claim_ends import ended_claims, said_ending
from recollect.streams.agents.writer.claims.claim_order import Subjects, claim_rows
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.language.grammar.analysis import Claim, Ending

# Ada's claims: the third has ended, the fourth is stated after the statement.
CLAIMS = (
    FactClaim("violin", "ada", "activity", "violin lessons", 1),
    FactClaim("chess", "ada", "activity", "chess in a club", 2),
    FactClaim("judo", "ada", "activity", "judo lessons", 3),
    FactClaim("0000000009GGGGGGGGGGGGGGGG", "ada", "activity", "golf lessons", 9),
    FactClaim("home", "ada", "home", "Oslo", 1),
)


def ends_of(
    ending: Ending,
    sentence: str,
    keys_of: Callable[[str], Sequence[str]],
    state: State,
    pending: PendingRows | None = None,
) -> list[FactSupersession]:
    """Return what a sentence that the fact "new" states at 5 ends."""
    said = said_ending(ending, sentence, keys_of, "event", 0, 5, "new")
    return ended_claims(said, state, pending or PendingRows(), frozenset())[0]


@pytest.fixture
def state() -> Iterator[State]:
    with closing(MemoryModel(None)) as memory, closing(IdentityModel(None)) as identity:
        memory.project([Section((), (*CLAIMS, FactSupersession("judo", "later", 4)))])
        nowhere = identity.connection
        yield State(nowhere, memory.connection, identity.connection, None, 0)


@pytest.mark.parametrize(
    ("attribute", "percent", "words", "ended", "used", "ends_read"),
    [
        # Too improbable: whatever is stored, nothing ends.
        ("activity", 20, "violin", "", "", ""),
        ("home", 3, "oslo", "", "", ""),
        # Only a claim that is named may end, so that no other matters.
        ("activity", 29, "violin", "violin", "violin", "violin"),
        ("activity", 29, "lessons", "violin", "violin", "violin judo"),
        ("activity", 29, "swim", "", "", ""),
        ("home", 9, "swim", "", "", ""),
        # The only one ends unnamed, so that it matters whether there are others.
        ("home", 20, "swim", "home", "home", "home"),
        ("activity", 60, "swim", "", "violin chess", "violin chess judo"),
        ("activity", 60, "chess", "chess", "violin chess", "violin chess judo"),
    ],
)
def test_a_decision_depends_only_on_claims_that_its_statement_may_end(
    state: State,
    attribute: str,
    percent: int,
    words: str,
    ended: str,
    used: str,
    ends_read: str,
) -> None:
    ending = Ending(((attribute, percent),), ("Ada",), (), (), 40)
    found = ends_of(ending, words, lambda _: ["ada"], state)
    assert found == [FactSupersession(each, "new", 5) for each in ended.split()]
    facts = [claim.fact_id for claim in CLAIMS]
    assert [each for each in facts if key_of("claim", each) in state.reads] == used.split()
    assert [each for each in facts if key_of("end", each) in state.reads] == ends_read.split()


NAMED = (
    FactClaim("phone", "ada", "possession", "Nokia 3310", 1),
    FactClaim("camera", "ada", "possession", "Fuji 4100", 1),
    FactClaim("spare", "ada", "possession", "Fuji 5200", 1),
    FactClaim("club", "ada", "membership", "Rowing Club", 1),
    FactClaim("aunt", "ada", "family", "aunt Rosa", 1),
    FactClaim("code", "ada", "…'s gate code is", "4821", 1),
)


@pytest.mark.parametrize(
    ("sentence", "phrases", "percent", "ended"),
    [
        ("Gave my Nokia away", (), 30, "phone"),
        ("Gave my 3310 away", (), 30, "phone"),
        ("Gave my Nokia away", (), 29, ""),
        ("Gave my Fuji 5200 away", (), 30, "spare"),
        # Either may be meant, so neither ends.
        ("Gave my Fuji away", (), 30, ""),
        # An ordinary word, which only begins both texts with a capital.
        ("Rowing was too cold", (), 30, ""),
        # Much is said of people without anything about them ending.
        ("I visited Rosa", (), 30, ""),
        ("The gate code was changed", ("gate code",), 30, "code"),
        ("The gate code was changed", ("gate code",), 29, ""),
    ],
)
def test_a_name_or_a_number_or_an_open_attribute_is_enough(
    sentence: str, phrases: tuple[str, ...], percent: int, ended: str
) -> None:
    with closing(MemoryModel(None)) as memory, closing(IdentityModel(None)) as identity:
        memory.project([Section((), NAMED)])
        state = State(identity.connection, memory.connection, identity.connection, None, 0)
        kinds = tuple((each, 1) for each in ("possession", "membership", "family"))
        ending = Ending(kinds, ("Ada",), (), phrases, percent)
        found = ends_of(ending, sentence, lambda _: ["ada"], state)
    assert [each.fact_id for each in found] == ended.split()


@pytest.mark.parametrize(
    ("person", "percent", "ended"),
    [("Rex", 25, "dog"), ("Rex", 24, ""), ("Rosa", 25, ""), ("Town", 25, ""), ("Max", 25, "")],
)
def test_somebody_who_is_the_senders_ends_by_name(person: str, percent: int, ended: str) -> None:
    claims = (
        FactClaim("dog", "ada", "pet", "dog Rex", 1),
        FactClaim("cat", "ada", "pet", "Kitty", 1),
        FactClaim("aunt", "ada", "family", "aunt Rosa", 1),
        FactClaim("home", "ada", "home", "Rex Town", 1),
        FactClaim("0000000009JJJJJJJJJJJJJJJJ", "ada", "pet", "Max", 9),
    )
    with closing(MemoryModel(None)) as memory, closing(IdentityModel(None)) as identity:
        memory.project([Section((), claims)])
        state = State(identity.connection, memory.connection, identity.connection, None, 0)
        found = ends_of(
            Ending((("pet", percent), ("home", 1)), (person,), (), (), 40, "Ada"),
            f"{person} died.",
            lambda who: ["ada"] if who == "Ada" else [who.lower()],
            state,
        )
    assert [each.fact_id for each in found] == ended.split()


# What is said of two lessons and their teacher: they end, if at all, by the lesson that is meant.
LESSONS = {
    "cello": "Ada: The cello lessons are on Monday.",
    "chess": "Ada: The chess lessons are on Tuesday.",
}


@pytest.mark.parametrize(
    ("said", "stored", "ended"),
    [
        ("Ada: The cello lessons are off.", "cello chess", "cello"),
        ("Ada: The dance lessons are off.", "cello chess", ""),
        ("Ada: The lessons are off.", "cello", "cello"),
        # Either may be meant.
        ("Ada: The lessons are off.", "cello chess", ""),
    ],
)
@pytest.mark.parametrize("by", ["a newer value", "an ending"])
def test_only_the_thing_that_is_meant_ends(said: str, stored: str, ended: str, by: str) -> None:
    with closing(MemoryModel(None)) as memory, closing(IdentityModel(None)) as identity:
        rows = [
            row
            for each in stored.split()
            for row in (
                fact_of(each, LESSONS[each]),
                FactClaim(each, "ada's lessons", "…'s date", each, 1),
            )
        ]
        memory.project([Section((), tuple(rows))])
        state = State(identity.connection, memory.connection, identity.connection, None, 0)
        pending = PendingRows(facts=[fact_of("new", said)])
        found: list[AnyRow]
        if by == "an ending":
            ending = Ending((("…'s date", 90),), ("Ada",), ("Ada's lessons",), (), 90)
            found = [*ends_of(ending, said, lambda _: ["ada"], state, pending)]
        else:
            claim, keys = Claim("Ada's lessons", "…'s date", "June"), ["ada's lessons"]
            [_, *found] = claim_rows(
                claim, Subjects(keys, []), "new", 5, str, state, pending, frozenset()
            )
        assert found == [FactSupersession(each, "new", 5) for each in ended.split()]
        # Each that may be meant matters.
        may = [
            each for each in stored.split() if each in said or said == "Ada: The lessons are off."
        ]
        assert {key_of("claim", each) for each in may} <= state.reads


def test_a_fact_is_asked_for_by_a_key_that_is_known_before_it_is_read() -> None:
    # When a message is decided again, rows are restored as their keys are first read.
    with closing(MemoryModel(None)) as memory, closing(IdentityModel(None)) as identity:
        fact = fact_of("cello", LESSONS["cello"])

        def restore(key: bytes) -> None:
            if key in dict(keys_of_row(fact)):
                memory.project([Section((), (fact,))])

        nowhere = identity.connection
        state = State(nowhere, memory.connection, identity.connection, None, 0, restore)
        assert state.fact("cello") == fact


def fact_of(id_: str, text: str) -> Fact:
    return Fact(
        id=id_,
        text=text,
        context=None,
        as_of=1,
        ingested_at=1,
        source_event_id=id_,
        metadata="{}",
        created_at=1,
        signature="",
    )
