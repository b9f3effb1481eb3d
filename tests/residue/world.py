"""Events, of which some are to be forgotten: what only those hold is made up and stands once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Line = dict[str, Any]

START_MS = 1_767_607_200_000  # 2026-01-05 10:00 UTC
MINUTE_MS = 60_000
PEOPLE = ("Ada", "Bruno", "Carla", "Deniz", "Edgar", "Farah")
TOWNS = ("Porto", "Utrecht", "Bergen", "Lyon", "Graz", "Tartu")
THINGS = ("bicycle", "boat", "piano", "garden", "dog", "kettle", "violin", "ladder")
KEPT = (
    "I moved to {town} with my {thing}.",
    "My {thing} number {number} is older than the one in {town}.",
    "The storm broke the {thing}. Therefore, we sold {number} of them.",
    "Where did you buy the {thing} in {town}?",
    "I live in {town}.",
)


@dataclass
class Gone:
    """What is forgotten in one go, and the made-up words by which it could be found.

    `words`: by what they are; of several letters, lower case or a name.
    """

    ids: list[str]
    words: dict[str, list[str]] = field(default_factory=dict)

    def say(self, kind: str, word: str) -> str:
        """Note a word and return it."""
        self.words.setdefault(kind, []).append(word)
        return word


@dataclass
class World:
    """The lines of an export in order; `gone`: what is to be forgotten of it."""

    lines: list[Line]
    gone: list[Gone]


def make_world(events: int, erasures: int, seed: int = 1) -> World:
    """Return `events` events or a few more, with `erasures` that are to be forgotten."""
    return _Maker(events, erasures, random.Random(f"residue {seed}")).world


class _Maker:
    def __init__(self, events: int, erasures: int, draw: random.Random) -> None:
        self._draw = draw
        self._now = START_MS
        self._number = 0
        self._made: set[str] = set()
        self.world = World([], [])
        every = max(events // max(erasures, 1), 1)
        while len(self.world.lines) < events:
            if len(self.world.gone) < erasures and len(self.world.lines) % every < 3:
                self.world.lines += self._gone(len(self.world.gone))
            self.world.lines.append(self._kept())

    def _gone(self, number: int) -> Iterator[Line]:
        """Yield what is forgotten, and what was said around it: each kind is woven in otherwise."""
        gone = Gone([])
        self.world.gone.append(gone)
        name = f"{gone.say('name', self._word())} {gone.say('name', self._word())}".title()
        word = gone.say("word", self._word())
        handle = gone.say("handle", self._word())
        thread = gone.say("thread", self._word())
        who = {"sender_id": f"{handle}@example.org", "sender_name": name, "thread_id": thread}
        kind = number % 5
        if kind == 0:
            # An account that says nothing else, and speaks of somebody nobody else knows.
            friend = gone.say("name", self._word()).title()
            shown = gone.say("word", self._word())
            more = {
                "attachments": [{"type": "image", "caption": f"a {shown} at dawn"}],
                "metadata": {"tag": gone.say("metadata", self._word())},
            }
            said = f"I live in {name.split()[0]}. My friend {friend} works at the {word} with me."
            yield self._line(gone, said, **who, **more)
        elif kind == 1:
            # A turn of an assistant, which its end names.
            turn = {"turn_id": gone.say("turn", self._word()), "thread_id": thread}
            yield self._line(gone, f"I own a {word} from Lyon.", **who | turn)
            yield self._line(gone, "That is all.", **who | turn, kind="turn_completed")
        elif kind == 2:
            # Asked to be remembered; in letters that no stemmer knows.
            other = gone.say("word", self._word("абвгдежзиклмнопрстуф"))
            yield self._line(gone, f"The {word} opens with {other}.", **who, kind="remember")
        elif kind == 3:
            # A question, which the context of the answer's fact quotes; the answer stays.
            asked = f"Does anybody know who painted the {word} in Graz?"
            place = {"peer_id": "hall"}
            yield self._line(gone, asked, **who, **place)
            yield self._plain("My grandmother painted it.", **place, thread_id=None)
        else:
            # Something of one who stays, which something later takes the place of.
            town = gone.say("name", self._word()).title()
            ada = {"sender_id": "u-Ada", "sender_name": "Ada"}
            yield self._line(gone, f"I live in {town} near the {word}.", **who | ada)
            yield self._plain("I live in Porto.", **ada)
            gone.words["name"] = gone.words["name"][2:]
            del gone.words["handle"]

    def _kept(self) -> Line:
        words = {
            "town": self._draw.choice(TOWNS),
            "thing": self._draw.choice(THINGS),
            "number": self._draw.randrange(4, 900),
        }
        return self._plain(self._draw.choice(KEPT).format(**words))

    def _plain(self, content: str, **more: Any) -> Line:
        who = self._draw.choice(PEOPLE)
        given = {"sender_id": f"u-{who}", "sender_name": who, "peer_id": f"c{self._number % 40}"}
        self._number += 1
        return self._event(f"kept-{self._number}", content, **{**given, **more})

    def _line(self, gone: Gone, content: str, **more: Any) -> Line:
        id_ = gone.say("source id", self._word())
        gone.ids.append(id_)
        return self._event(id_, content, **more)

    def _event(self, id_: str, content: str, **more: Any) -> Line:
        self._now += self._draw.randrange(1, 5) * MINUTE_MS
        return {
            "id": id_,
            "platform": "chat",
            "occurred_at": self._now,
            "ingested_at": self._now + 1_000,
            "content": content,
            **more,
        }

    def _word(self, letters: str = "") -> str:
        """Return a word of fourteen letters that no stemmer shortens, and never the same."""
        while True:
            if letters:
                word = "".join(self._draw.choice(letters) for _ in range(14))
            else:
                pairs = (
                    self._draw.choice("bdfgkmprtvz") + self._draw.choice("aou") for _ in range(6)
                )
                word = "".join(pairs) + "mk"
            # No index, which may leave out how a word begins, holds less of it than this.
            if word[3:11] not in self._made:
                self._made.add(word[3:11])
                return word
