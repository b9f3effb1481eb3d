"""The owner of a zone: asked about by name or as "I", the same is found."""

from __future__ import annotations

import pytest

from recollect.schemas.events import Draft
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, cited, say, tell

FRIENDS = ("Bob", "Cleo", "Dana", "Eli", "Fay", "Gus", "Hal", "Ivy", "Jon", "Kim")


def phone() -> list[Draft]:
    """Return ten chats of Ada, each with one friend."""
    chats: list[Draft] = []
    for day, friend in enumerate(FRIENDS):
        for id_, by, text in (
            (f"ask-{friend}", "Ada", f"Ada to {friend}: shall we meet?"),
            (f"yes-{friend}", friend, f"The {friend} reply: yes, gladly."),
        ):
            at = START + day * DAY
            chats.append(say(text, id_, by=by, at=at, peer_id=friend, platform="sms"))
    return chats


@pytest.fixture
def filled(open_memory: Open) -> Memory:
    memory = open_memory(encoder=False)
    tell(
        memory,
        [
            *phone(),
            say("The kiln is broken again.", "kiln", by="Bob", peer_id="Bob", at=START + 20 * DAY),
        ],
    )
    return memory


@pytest.mark.parametrize(
    ("by_name", "as_i"),
    [
        ("Who told Ada of the kiln?", "Who told I of the kiln?"),
        ("Which of Ada's friends has a kiln?", "Which of my friends has a kiln?"),
    ],
)
def test_by_name_and_as_i_the_same_is_found(filled: Memory, by_name: str, as_i: str) -> None:
    found, own = ask(filled, by_name), ask(filled, as_i)
    assert [(item.id, item.score) for item in found] == [(item.id, item.score) for item in own]


def test_the_owner_lifts_no_turn_that_shares_nothing_else(filled: Memory) -> None:
    assert cited(ask(filled, "Who told Ada of the kiln?")) == ["kiln"]


def test_others_are_asked_for_by_name(filled: Memory) -> None:
    assert cited(ask(filled, "What did Bob reply?"))[0] == "yes-Bob"


def test_of_two_who_share_all_chats_neither_is_the_owner(open_memory: Open) -> None:
    memory = open_memory(encoder=False)
    drafts = [
        say(
            f"{who} is at place {day}.",
            f"{who}{day}",
            by=who,
            at=START + day * DAY,
            session_id=str(day),
        )
        for day in range(12)
        for who in ("Ada", "Bob")
    ]
    tell(memory, drafts)
    found = cited(ask(memory, "Where was Ada?", max_results=5))
    assert all(id_.startswith("Ada") for id_ in found)
