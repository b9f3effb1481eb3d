"""What a forgotten message ended is forgotten with it, and nothing else is (E8, G8)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from recollect.streams.encoder.gateway import ReaderHandle
from recollect.streams.lifecycle.verifying import verify
from tests.agents.told_histories import HistoryReader, history
from tests.protocol.kit import DAY, START, ZONE, Home, agree, files_holding, forget, say
from tests.slow_parameters import slow_except

READER = ReaderHandle(b"told", HistoryReader, encodes=False)


def tell(home: Home, day: int, text: str) -> None:
    home.tell(say(text, f"d{day}", at=START + day * DAY, thread=f"t{day}"))


def current(home: Home) -> set[str]:
    sql = "SELECT text FROM facts WHERE id NOT IN (SELECT fact_id FROM fact_ends)"
    return {str(text) for (text,) in home.rows("memory", sql)}


def test_a_forgotten_ending_ends_nothing_and_leaves_no_word(room: Path) -> None:
    home = Home(room / "home", reader=READER)
    tell(home, 5, "I sold the kayak.")
    tell(home, 1, "I have a kayak.")
    assert "Ada has a kayak." not in current(home)
    home.tell(forget(1))
    assert current(home) == {"Ada has a kayak."}
    assert home.rows("memory", "SELECT * FROM stated_endings") == []
    agree(home)
    assert verify(home.node, ZONE).ok
    home.close()
    assert files_holding(room / "home", b"sold") == []


def test_a_forgotten_denial_denies_nothing_that_arrived_later(room: Path) -> None:
    home = Home(room / "home")
    home.tell(
        say("I no longer eat fish.", "no", at=START + DAY, thread="t"),
        say("I eat fish.", "yes", at=START, thread="t"),
    )
    assert current(home) == {"Ada no longer eats fish."}
    home.tell(forget(1))
    assert current(home) == {"Ada eats fish."}
    agree(home)
    assert verify(home.node, ZONE).ok
    home.close()


@pytest.mark.parametrize("together", [True, False])
def test_what_arrives_after_a_late_message_does_not_hide_its_correction(
    room: Path, *, together: bool
) -> None:
    home = Home(room / "home")
    told = [
        say("I work in a bakery in Ghent.", "first", at=START - DAY, thread="t"),
        say("Correction: the choir sings in hall 9, not hall 4.", "no", at=START + DAY, thread="t"),
        say("The choir sings in hall 4.", "yes", at=START, thread="t"),
        *(
            say(
                f"The weather was fine on walk {number}.",
                f"f{number}",
                at=START + number,
                thread="t",
            )
            for number in range(1, 61)
        ),
    ]
    for batch in [told] if together else [told[:2], told[2:3], told[3:]]:
        home.tell(*batch)
    assert not any("sings in hall 4." in text for text in current(home))
    agree(home)
    home.tell(forget(1, at=START + 99 * DAY))
    assert not any("sings in hall 4." in text for text in current(home))
    agree(home)
    home.close()


@pytest.mark.parametrize("seed", slow_except([0, 1], range(12)))
def test_any_erasure_leads_where_deriving_everything_again_does(room: Path, seed: int) -> None:
    draw = Random(seed)
    home = Home(room / "home", reader=READER)
    told = history(draw, named=False)
    for day, text in draw.sample(told, len(told)):
        tell(home, day, text)
    for number in draw.sample(range(1, len(told) + 1), 2):
        home.tell(forget(number, at=START + 99 * DAY + number))
        agree(home)
    assert verify(home.node, ZONE).ok
    home.close()
