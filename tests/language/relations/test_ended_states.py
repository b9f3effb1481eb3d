"""Which states end by what a message says, and which go on."""

from __future__ import annotations

import pytest

from recollect.streams.language.relations.corrections import Earlier
from recollect.streams.language.relations.ended_states import find_over, was_so

DAY_MS = 86_400_000


def over(words: str, *before: str, same: bool = True, days: int = 3) -> list[str]:
    """Return the sentences before, given nearest first, that a message says are over."""
    earlier = [Earlier(text, 0, 0, same, age_ms=days * DAY_MS) for text in before]
    return [
        before[what.distance][what.start : what.end]
        for one in find_over(words)
        for what in was_so(one, earlier)
    ]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("My sister Ruta is in hospital since Friday.", "Ruta is home, thank God."),
        ("My dad is in the hospital.", "My dad is out of hospital!"),
        ("I'm in quarantine, don't visit.", "I'm out of quarantine."),
        ("I'm away, Otto does the mail.", "I'm back."),
        ("My boss is on sick leave.", "My boss is back at work."),
        ("Our nanny is ill.", "Our nanny is well again."),
        ("My son has the flu.", "My son has fully recovered."),
        ("I'm sick.", "I'm better now, thanks."),
        ("The boiler is broken again.", "Good news, the boiler is fixed!"),
        ("The lift is out of order.", "The lift works again."),
        ("My laptop won't start.", "My laptop is finally repaired."),
        ("The wiki is down.", "The wiki is back up."),
        ("The bridge is closed.", "The bridge is open again."),
        ("We're looking for a flat near the park.", "We found a flat!"),
        (
            "I am searching for a piano teacher.",
            "I've finally found a piano teacher, she is great.",
        ),
        ("I'm moving out!", "I've moved out."),
        ("We're moving to Tartu.", "We live in Tartu now."),
        ("We're moving to Tartu soon.", "I've moved to Tartu now!"),
        ("I live with two roommates.", "I moved out."),
        ("im moving house", "ok moved in"),
    ],
)
def test_a_state_ends_by_what_says_so(before: str, words: str) -> None:
    assert over(words, "Hello there.", before) == [before]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        # Another, or nobody knows who.
        ("My sister Ruta is in hospital.", "My brother is home."),
        ("My sister Ruta is in hospital.", "She is home."),
        ("My sister Ruta is in hospital.", "I'm home."),
        ("I'm ill.", "My cat is well again."),
        ("The boiler is broken.", "The oven is fixed."),
        ("The boiler is broken.", "It's fixed."),
        ("The door of the shed is broken.", "The door of the garage is fixed."),
        # Not yet, not so, or only asked.
        ("My sister Ruta is in hospital.", "Ruta is home on Monday."),
        ("My sister Ruta is in hospital.", "Is Ruta home?"),
        ("My sister Ruta is in hospital.", "Ruta is not home."),
        ("My sister Ruta is in hospital.", "Call me when Ruta is home."),
        ("My sister Ruta is in hospital.", "I hope Ruta is back."),
        ("My sister Ruta is in hospital.", "Ruta will be home again."),
        ("The boiler is broken.", "The boiler was fixed in 2019."),
        ("The boiler is broken.", "If the boiler is fixed, call me."),
        ("The boiler is broken.", "The boiler isn't fixed."),
        ("The boiler is broken.", 'Tom said: "the boiler is fixed"'),
        # Another state, or no state.
        ("My sister Ruta is ill.", "Ruta is home."),
        ("The boiler is broken.", "The boiler is back to front."),
        ("I'm sick of rain.", "I'm better now."),
        ("I'm away in June.", "I'm back."),
        ("The shop is closed on Sundays.", "The shop is open again."),
        ("The price is down to 40 euros.", "The price is back up."),
        ("Is the boiler broken?", "The boiler is fixed."),
        ("The boiler was broken.", "The boiler is fixed."),
        ("My phone doesn't work with this cable.", "My phone works again."),
        # Another thing was found, another place moved to.
        ("We're looking for a flat.", "We found a kitten!"),
        ("We're looking for a flat near the park.", "We found a nice bench near the park."),
        ("We're looking for a flat.", "We bought a flat screen."),
        ("I'm looking for a job.", "I found a nice place for lunch."),
        ("We're moving to Tartu.", "We moved to Riga."),
        ("I'm moving out.", "I moved to the night shift."),
        ("I live with my husband.", "I live in Riga now."),
        ("I live in Riga now and we are moving.", "I live on coffee."),
        ("We're moving on Sunday.", "We moved in."),
    ],
)
def test_what_says_less_ends_nothing(before: str, words: str) -> None:
    assert over(words, before) == []


def test_one_speaks_of_oneself_but_of_things_anybody_may() -> None:
    assert over("I'm better now.", "I'm sick.", same=False) == []
    assert over("I found a flat.", "I'm looking for a flat.", same=False) == []
    assert over("The lift is fixed.", "The lift is broken.", same=False) == ["The lift is broken."]


def test_all_that_told_the_state_ends_and_nothing_of_long_ago() -> None:
    told = ("Our dog is still ill.", "Our dog is ill.")
    assert over("Our dog is well again.", *told) == [*told]
    assert over("Our dog is well again.", *told, days=120) == []
