"""What the homes of the kill test are given: files of events made from a seed, with the truth.

What must be in a home in the end is known from how the lines were made, not from any home.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Line = dict[str, Any]

START_MS = 1_767_600_000_000  # 2026-01-05 08:00 UTC
MINUTE_MS = 60_000
PLATFORMS = ("slack", "mail")
PEOPLE = {"U1": "Ada", "U2": "Bruno", "U3": "Carla", "U4": "Deniz"}
TOWNS = ("Porto", "Utrecht", "Bergen", "Lyon", "Graz", "Tartu")
PROJECTS = ("Bluebell", "Osprey", "Halcyon", "Quillfeather")
SENTENCES = (
    "I moved to {town} last month",
    "My sister works at {project} in {town}",
    "We decided to ship {project} on Friday",
    "I booked the train to {town} for the {number}th",
    "The invoice of {project} is {number} euros too high",
    "I started to learn the cello, therefore I am busy on Mondays",
    "My daughter has a new bicycle, and she rides it to school in {town}",
    "{name} told me that {project} needs a second reviewer",
)
QUESTIONS = (
    "Where do you live now, {name}?",
    "Who reviews {project} this week?",
    "How much was the invoice of {project}?",
)


@dataclass(frozen=True)
class Forgotten:
    """An event that is to be erased, and a word that stands in no other event.

    `chosen_by`: what `forget` is given to choose it, and nothing else.
    """

    platform: str
    source_id: str
    token: str
    chosen_by: tuple[str, ...]


@dataclass
class World:
    """Files in the order of their import, each a list of lines; `lines` are JSON or damaged."""

    files: dict[str, list[str]] = field(default_factory=dict)
    forgotten: list[Forgotten] = field(default_factory=list)
    #: A word of an event that stays: the scan for forgotten words must be able to find it.
    kept_token: str = ""
    #: (platform, source id) of every event; those without an id by "content:" and their words.
    events: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Of those, what is no part of a turn and so must have been processed when it came.
    outside_turns: set[tuple[str, str]] = field(default_factory=set)
    #: file -> (lines, lines that must be refused)
    expected: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: The time of the last event, unix ms.
    end_ms: int = START_MS

    def write(self, directory: Path) -> None:
        """Write every file."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, lines in self.files.items():
            (directory / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def events_left(self) -> Counter[tuple[str, str]]:
        """Return what must stand in events.db after every erasure."""
        left = self.events.copy()
        for gone in self.forgotten:
            del left[gone.platform, gone.source_id]
        return left


def make_world(seed: int, size: int = 360) -> World:
    """Return four groups of three files, "1a" to "4c", with about `size` lines in all."""
    return _Maker(seed, size).world


class _Maker:
    def __init__(self, seed: int, size: int) -> None:
        self._draw = random.Random(seed)
        self.world = World()
        self._now = START_MS
        self._number = 0
        self._turns = 0
        per_file = max(size // 12, 12)
        earlier: list[Line] = []
        for group in "1234":
            for part in "abc":
                lines: list[Line] = []
                while len(lines) < per_file - 3:
                    lines += self._some()
                if part == "a":
                    lines += self._forgettable(int(group))
                again = self._draw.sample(earlier, 3) if earlier else []
                refused = self._conflict(again[0]) if again else []
                self._put(f"{group}{part}.jsonl", [*lines, *again], refused)
                earlier += lines
        self.world.kept_token = self._token()
        self._put("4d.jsonl", [self._said("U1", f"The password is {self.world.kept_token}.")], [])
        self.world.end_ms = self._now

    def _put(self, name: str, lines: list[Line], refused: list[str]) -> None:
        world = self.world
        world.files[name] = [*(json.dumps(line) for line in lines), *refused]
        world.expected[name] = (len(lines) + len(refused), len(refused))
        new: dict[tuple[str, str], int] = {}
        for line in lines:
            if not line["content"]:
                continue
            if "id" in line:
                key = (line["platform"], line["id"])
                new[key] = 1
            else:
                key = (line["platform"], "content:" + line["content"])
                new[key] = new.get(key, 0) + 1
            if "turn_id" not in line:
                world.outside_turns.add(key)
        for key, count in new.items():
            # Another file with the same line adds nothing to what was there.
            world.events[key] = max(world.events[key], count)

    def _some(self) -> list[Line]:
        """Return the next one to five lines: a remark, an exchange, a turn, or one said twice."""
        kind = self._draw.choice(("remark", "remark", "remark", "exchange", "turn", "twice"))
        one, other = self._draw.sample(sorted(PEOPLE), 2)
        if kind == "exchange":
            asked = self._draw.choice(QUESTIONS).format(**self._words())
            return [self._said(one, asked), self._said(other, self._sentence())]
        if kind == "turn":
            return self._turn(self._sentence())
        line = self._said(one, self._sentence())
        if kind == "twice" and self._draw.random() < 0.5:
            # Without an id, the second of a file is a second event.
            del line["id"]
            line["content"] += f" No. {self._number}."
            return [line, dict(line)]
        return [line]

    def _turn(self, content: str) -> list[Line]:
        """Return a turn of an assistant; one in three is never completed."""
        self._turns += 1
        turn = {"turn_id": f"t{self._turns}", "session_id": f"s{self._turns}"}
        lines = [
            self._said("U1", content, direction="in", **turn),
            self._said("bot", "I will keep that in mind.", direction="out", **turn),
        ]
        if self._turns % 3:
            done = self._said("bot", "", **turn)
            done["kind"] = "turn_completed"
            lines.append(done)
        return lines

    def _forgettable(self, group: int) -> list[Line]:
        """Return lines of which one is to be erased: each group's is woven in differently."""
        token = self._token()
        same = self._sentence()
        if group == 1:
            # The answer to a question; its second sentence is said again by somebody else.
            asked = self._said("U2", "Where is the spare key, Ada?")
            gone = self._said("U1", f"The spare key is behind the {token} in the hall. {same}")
            lines = [asked, gone, self._said("U3", same)]
            chosen_by: tuple[str, ...] = (gone["id"], "--platform", gone["platform"])
        elif group == 2:
            # The question, which the answer's fact quotes.
            question = f"Does anybody know who painted the {token}?"
            gone = self._said("U2", question, thread_id="attic")
            lines = [gone, self._said("U4", "My grandmother painted it in Graz.")]
            chosen_by = ("--thread", "attic")
        elif group == 3:
            # What the user said in a turn.
            lines = self._turn(f"I bought a {token} from Mr {token.title()} in Lyon. {same}")
            gone = lines[0]
            at = gone["occurred_at"]
            chosen_by = ("--after", str(at - 1), "--before", str(at + 1))
        else:
            # The first mention of somebody of whom others speak as well.
            met = f"I met Irina {token.title()} at Halcyon. She likes {token}."
            gone = self._said("U9", met, sender_name="Ines")
            chosen_by = ("--sender", "U9")
            lines = [gone, self._said("U2", "Irina works at Halcyon.")]
        self.world.forgotten.append(Forgotten(gone["platform"], gone["id"], token, chosen_by))
        return lines

    def _conflict(self, line: Line) -> list[str]:
        """Return lines that must be refused: a known id with other words, and no JSON."""
        refused = ['{"platform": "slack", "sender_id"']
        erased = {gone.source_id for gone in self.world.forgotten}
        if line.get("id", "") not in erased and line["content"] and "id" in line:
            refused.append(json.dumps({**line, "content": "This is not what was said."}))
        return refused

    def _said(self, sender: str, content: str, **more: Any) -> Line:
        self._number += 1
        self._now += self._draw.randrange(1, 30) * MINUTE_MS
        platform = "chat" if "turn_id" in more else self._draw.choice(PLATFORMS)
        return {
            "id": f"m{self._number}",
            "platform": platform,
            "sender_id": sender,
            "sender_name": PEOPLE.get(sender, "Assistant"),
            "peer_id": f"c{self._number % 3}",
            "peer_kind": "channel",
            "occurred_at": self._now,
            "ingested_at": self._now + 1_000,
            "content": content,
            **more,
        }

    def _sentence(self) -> str:
        return self._draw.choice(SENTENCES).format(**self._words()) + "."

    def _words(self) -> dict[str, Any]:
        return {
            "name": self._draw.choice(list(PEOPLE.values())),
            "town": self._draw.choice(TOWNS),
            "project": self._draw.choice(PROJECTS),
            "number": self._draw.randrange(4, 900),
        }

    def _token(self) -> str:
        """Return a made-up word that no stemmer shortens."""
        syllables = [a + b for a in "bdfgkmprtvz" for b in "aiou"]
        return "".join(self._draw.sample(syllables, 5)) + "k"
