"""Sources that a question names: turns from there are preferred, and nothing is excluded."""

from __future__ import annotations

import pytest

from recollect.projections.recall.index.turn_index import ChatPlatforms
from recollect.projections.recall.question.named_sources import (
    kind_of_platform,
    kinds_named,
    platforms_named,
)
from recollect.schemas.events import Draft
from tests.memory import Memory
from tests.recall.kit import HOUR, START, ask, cited, say, tell


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("What do my notes say about the boiler?", ["note"]),
        ("What did I write down after the tasting?", ["note"]),
        ("Which photos did I take of the heron?", ["photo"]),
        ("Is there a screenshot of the ticket?", ["photo"]),
        ("When is the chimney sweep in my calendar?", ["calendar"]),
        ("Did I text Ann about the ladder?", ["message"]),
        ("What did Ann tell you in her text message?", ["message"]),
        ("What did Bob and I chat about on Sunday?", ["message"]),
        ("What price was mentioned by the roofer?", ["message"]),
        ("How long was my phone call with Cleo?", ["call"]),
        ("Has Dana called Eli back?", ["call"]),
        ("Did the florist call?", ["call"]),
        ("What did the landlord e-mail us?", ["email"]),
        ("Which notification came from the bank?", ["notification"]),
        ("What did the assistant suggest for the stew?", ["assistant"]),
        ("Compare my notes with the emails from Fay.", ["email", "note"]),
        ("Which new phone did I buy?", []),
        ("What is the ferry called?", []),
        ("Which context did Gus mean?", []),
        ("Where does Ivy live?", []),
    ],
)
def test_a_question_names_kinds_of_sources(question: str, kinds: list[str]) -> None:
    assert kinds_named(question) == kinds


@pytest.mark.parametrize(
    ("platform", "kind"),
    [
        ("calendar", "calendar"),
        ("apple_notes", "note"),
        ("Camera Roll", "photo"),
        ("call-log", "call"),
        ("webmail", "email"),
        ("push", "notification"),
        ("text messages", "message"),
        ("pigeon", "message"),
        ("helper_chat", "assistant"),
        ("bakery", None),
    ],
)
def test_a_platform_is_of_a_kind_by_name_or_writers(platform: str, kind: str | None) -> None:
    chats = ChatPlatforms(among_people={"pigeon", "webmail"}, with_assistant={"helper_chat"})
    assert kind_of_platform(platform, chats) == kind


@pytest.mark.parametrize(
    ("question", "platforms"),
    [
        ("What did Ann send me on Pigeon?", ["pigeon"]),
        ("What stands in my field book?", ["field_book"]),
        ("Was it on my bench in Pigeon?", ["pigeon"]),
        ("Did I feed the pigeon?", []),
        ("What lies on the pigeons?", []),
    ],
)
def test_a_platform_is_named_after_a_preposition(question: str, platforms: list[str]) -> None:
    assert platforms_named(question, ["pigeon", "field_book"]) == platforms


def boiler() -> list[Draft]:
    """Return the same words from four sources, the last of them a chat of two."""
    words = "The boiler needs a new valve."
    return [
        say(words, "note", platform="note", peer_id=None),
        say(words, "photo", platform="photo", peer_id=None, at=START + 24 * HOUR),
        say(words, "push", platform="push", peer_id="app", by="Heating", at=START + 48 * HOUR),
        say("And the boiler?", "asked", platform="pigeon", by="Bob", at=START + 72 * HOUR),
        say(words, "chat", platform="pigeon", at=START + 90 * HOUR),
    ]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did I note about the boiler valve?", "note"),
        ("Which photo shows the boiler valve?", "photo"),
        ("Which notification was about the boiler valve?", "push"),
        ("What message did I send about the boiler valve?", "chat"),
        ("What was said on Pigeon about the boiler valve?", "chat"),
    ],
)
def test_the_source_that_is_named_comes_first(
    words_only: Memory, question: str, first: str
) -> None:
    tell(words_only, boiler())
    found = ask(words_only, question, explain=True)
    assert found[0].arms is not None
    assert cited(found)[0] == first
    assert found[0].arms["source"] == 1
    assert {"note", "photo", "push", "chat"} <= set(cited(found))


def test_in_a_single_source_nothing_is_preferred(words_only: Memory) -> None:
    tell(words_only, [say("The boiler needs a valve.", "note", platform="note")])
    (found,) = ask(words_only, "What do my notes say of the boiler?", explain=True)
    assert found.arms is not None
    assert "source" not in found.arms
