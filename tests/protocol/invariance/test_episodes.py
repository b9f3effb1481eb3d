"""Episodes come out the same however the zone is driven, and whatever was forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from recollect.schemas.events import Draft
from recollect.streams.lifecycle.verifying import verify
from tests.agents.episodes.test_episode_grouper import TEXTS
from tests.protocol.kit import MINUTE, START, ZONE, Home, agree, forget, live, say
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

#: Each event with the other events of its episode, whatever the episode's id.
TOGETHER = """
SELECT one.definition_id, one.event_id, group_concat(other.event_id ORDER BY other.event_id)
  FROM episode_events AS one JOIN episode_events AS other USING (episode_id)
 WHERE one.is_standing AND other.is_standing
 GROUP BY one.definition_id, one.event_id
 ORDER BY one.definition_id, one.event_id
"""


def talk(draw: random.Random, count: int) -> list[Draft]:
    """Return messages of two threads on two days; many arrive late."""
    return [
        say(
            draw.choice(TEXTS),
            f"m{n}",
            by=draw.choice(("Ada", "Bob")),
            thread=draw.choice("tu"),
            at=START + draw.randrange(1_500) * MINUTE + n,
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("seed", slow_except([0], range(3)))
def test_one_at_a_time_and_all_at_once_are_equal(make_home: MakeHome, seed: int) -> None:
    drafts = talk(random.Random(seed), 40)
    one, other = make_home("one"), make_home("other")
    for draft in drafts:
        one.tell(draft)
    other.tell(*drafts)
    assert live(one) == live(other)
    agree(other)


@pytest.mark.parametrize("seed", slow_except([0], range(3)))
def test_the_order_of_arrival_does_not_divide_messages(make_home: MakeHome, seed: int) -> None:
    draw = random.Random(seed)
    drafts = talk(draw, 40)
    one, other = make_home("one"), make_home("other")
    one.tell(*sorted(drafts, key=lambda draft: draft.occurred_at))
    other.tell(*draw.sample(drafts, len(drafts)))
    assert one.rows("memory", TOGETHER) == other.rows("memory", TOGETHER)


@pytest.mark.parametrize("seed", slow_except([0], range(4)))
def test_a_forgotten_message_was_never_in_an_episode(make_home: MakeHome, seed: int) -> None:
    draw = random.Random(seed)
    drafts = talk(draw, 40)
    home, without = make_home("home"), make_home("without")
    home.tell(*drafts)
    gone = set(draw.sample(range(40), 6))
    for number in gone:
        home.tell(forget(number + 1, at=START + number))
        agree(home)
    without.tell(*(draft for n, draft in enumerate(drafts) if n not in gone))
    assert home.rows("memory", TOGETHER) == without.rows("memory", TOGETHER)
    counts = "SELECT id, start_time, end_time, event_count FROM episodes ORDER BY id"
    assert home.rows("memory", counts) == without.rows("memory", counts)
    assert verify(home.node, ZONE).ok
