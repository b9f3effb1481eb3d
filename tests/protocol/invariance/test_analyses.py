"""Analyses come out the same however the zone is driven, and whatever was forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from recollect.home.ticks.due_analyses import due_commands
from recollect.schemas.events import Draft
from recollect.streams.analyses.analysis_types import BUILT_IN
from recollect.streams.lifecycle.verifying import verify
from tests.protocol.kit import MINUTE, START, ZONE, Home, agree, forget, live, say
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

DAY = 24 * 60 * MINUTE
TEXTS = (
    "Let's meet at the library on Friday.",
    "Sounds good, see you there.",
    "Write to {name}{n}@example.org or call me on +44 20 7946 00{n}.",
    "Which train does Mara take?",
    "I adopted a grey kitten from the shelter in Leeds.",
    "I'll send the contract tomorrow.",
)
FOUND = """
SELECT facet_type, value, metadata_json FROM facets ORDER BY facet_type, metadata_json, value
"""


def talk(draw: random.Random, count: int) -> list[Draft]:
    """Return messages of two threads, over some hours."""
    at = START
    drafts: list[Draft] = []
    for n in range(count):
        at += draw.randrange(1, 40) * MINUTE
        name = draw.choice(("Ada", "Bob"))
        text = draw.choice(TEXTS).format(name=name.lower(), n=n + 10)
        drafts.append(say(text, f"m{n}", by=name, thread=draw.choice("tu"), at=at))
    return drafts


def requests(home: Home, at: int) -> list[Draft]:
    with home.node.open(ZONE, home.node.current(ZONE)) as files:
        return due_commands(
            files.memory.connection, (), [*BUILT_IN], at=at, definition="time_window", limit=100
        )


@pytest.mark.parametrize("seed", slow_except([0], range(2)))
def test_one_at_a_time_and_all_at_once_are_equal(make_home: MakeHome, seed: int) -> None:
    drafts = talk(random.Random(seed), 24)
    one, other = make_home("one"), make_home("other")
    one.tell(*drafts)
    asked = requests(one, START + 3 * DAY)
    assert len(asked) > 1
    later = [say("Write to eve@example.org.", "late", at=drafts[-1].occurred_at + MINUTE)]
    for draft in (*asked, *later):
        one.tell(draft)
    other.tell(*drafts, *asked, *later)
    assert live(one) == live(other)
    agree(other)


@pytest.mark.parametrize("seed", slow_except([0], range(4)))
def test_nothing_is_found_in_a_forgotten_message(make_home: MakeHome, seed: int) -> None:
    draw = random.Random(seed)
    drafts = talk(draw, 24)
    home = make_home("home")
    home.tell(*drafts)
    home.tell(*requests(home, START + 3 * DAY))
    before = home.rows("memory", FOUND)
    assert before
    for number in draw.sample(range(24), 5):
        home.tell(forget(number + 1, at=START + 3 * DAY + number))
        agree(home)
        with home.node.open(ZONE, home.node.current(ZONE)) as files:
            text = "\n".join(map(str, files.memory.connection.execute(FOUND)))
        assert f"{number + 10}@example.org" not in text
    assert verify(home.node, ZONE).ok


def test_a_forgotten_request_was_never_made(make_home: MakeHome) -> None:
    drafts = talk(random.Random(1), 24)
    home, without = make_home("home"), make_home("without")
    home.tell(*drafts)
    asked = requests(home, START + 3 * DAY)
    home.tell(*asked)
    home.tell(forget(*range(25, 25 + len(asked)), at=START + 4 * DAY))
    agree(home)
    without.tell(*drafts)
    assert home.rows("memory", "SELECT * FROM analysis_runs") == []
    for sql in (FOUND, "SELECT id, start_time, event_count FROM episodes ORDER BY id"):
        assert home.rows("memory", sql) == without.rows("memory", sql)


def test_what_is_complete_is_not_due_again(make_home: MakeHome) -> None:
    home = make_home("home")
    home.tell(*talk(random.Random(2), 12))
    home.tell(*requests(home, START + 3 * DAY))
    assert requests(home, START + 3 * DAY) == []
    assert requests(home, START) == []


def test_an_episode_is_due_once_it_has_ended(make_home: MakeHome) -> None:
    home = make_home("home")
    home.tell(say("Write to eve@example.org.", "m", at=START))
    assert requests(home, START + 5 * 60 * MINUTE) == []
    assert len(requests(home, START + 7 * 60 * MINUTE)) == 1
