"""Chats with an assistant: one long chat does not fill the answer."""

from __future__ import annotations

from itertools import pairwise

from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import MINUTE, START, ask, say, tell


def scores(memory: Memory, other: str) -> list[float]:
    """Return the scores of a chat of Ada, in which each turn says the same."""
    drafts = [
        say("My kiln glaze.", f"m{place}", at=START + place * MINUTE, sender_id=by, session_id="s")
        for place, by in enumerate(("ada", other) * 4)
    ]
    tell(memory, drafts)
    return [item.score for item in ask(memory, "glaze", scope=("events",))]


def test_each_further_turn_of_a_chat_scores_less(open_memory: Open) -> None:
    with_assistant = scores(open_memory("one", encoder=False), "assistant")
    with_bob = scores(open_memory("two", encoder=False), "bob")
    assert len(with_assistant) == len(with_bob) == 8
    assert all(score > 0.5 * with_bob[0] for score in with_bob)
    # Each has at most seven tenths of the score of the one before, but never nothing.
    assert all(0 < less <= 0.71 * more for more, less in pairwise(with_assistant))


def test_chats_between_people_are_left_alone(open_memory: Open) -> None:
    assert min(found := scores(open_memory(encoder=False), "bob")) > 0.5 * max(found)
