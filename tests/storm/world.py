"""What the storm says: zones on every partition, and events made from a seed."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

from aiokafka.partitioner import murmur2

from tests.kill.world import PEOPLE, PROJECTS, QUESTIONS, SENTENCES, START_MS, TOWNS
from tests.storm.verification.topics import PARTITIONS
from tests.storm.verification.truth import UNADDRESSED

Line: TypeAlias = dict[str, Any]
Item = TypeVar("Item")

ZONES_PER_PARTITION = 3
_TURNS = 0.08
# Every so many events, one that is large enough for its change record to be split.
_LARGE_EVERY = 1_200
_LARGE_BYTES = 200_000


def zone_names() -> list[str]:
    """Return zones that fill every partition, by a client's own partitioner."""
    found: dict[int, list[str]] = {number: [] for number in range(PARTITIONS)}
    number = 0
    while any(len(names) < ZONES_PER_PARTITION for names in found.values()):
        name = f"zone-{number:02}"
        number += 1
        names = found[(murmur2(name.encode()) & 0x7FFFFFFF) % PARTITIONS]
        if len(names) < ZONES_PER_PARTITION:
            names.append(name)
    return sorted(name for names in found.values() for name in names)


class World:
    """Makes lines from a seed; may be asked by several threads."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(f"world {seed}")
        self._lock = threading.Lock()
        self._number = 0
        self._turns = 0
        self._open: list[Line] = []
        self._tokens: set[str] = set()
        self.zones = zone_names()
        self._weights = [1 / (index + 1) ** 0.5 for index in range(len(self.zones))]

    def zone(self) -> str:
        """Return a zone; some are busier than others."""
        with self._lock:
            return self._draw.choices(self.zones, self._weights)[0]

    def line(self) -> Line:
        """Return the next event."""
        with self._lock:
            self._number += 1
            if self._open and self._draw.random() < 0.3:
                return self._open.pop(0)
            if self._number % _LARGE_EVERY == 0:
                return self._said(" ".join(self._sentence() for _ in range(_LARGE_BYTES // 50)))
            if self._draw.random() < _TURNS:
                return self._turn()
            return self._said(self._sentence())

    def forgettable(self) -> tuple[Line, str]:
        """Return an event with a word that no other has, and the word."""
        with self._lock:
            self._number += 1
            token = self._token()
            return self._said(f"The spare key is behind the {token} in the hall."), token

    def malformed(self) -> tuple[str, bytes | None, bytes]:
        """Return a record that must be parked: in which zone, its key and its value."""
        with self._lock:
            self._number += 1
            zone = self._draw.choice(self.zones)
            line = {**self._said(self._sentence()), "metadata": {"bad": self._number}}
            kind = self._draw.randrange(7)
            if kind == 0:
                return zone, zone.encode(), json.dumps(line).encode()[:-20]
            if kind == 1:
                del line["occurred_at"]
            elif kind == 2:
                line["kind"] = "forget"
            elif kind == 3:
                line["content"] = ""
            elif kind == 4:
                return UNADDRESSED, None, json.dumps(line).encode()
            elif kind == 5:
                return UNADDRESSED, b"\xff\xfe", json.dumps(line).encode()
            else:
                return UNADDRESSED, b"no zone is called so", json.dumps(line).encode()
            return zone, zone.encode(), json.dumps(line).encode()

    def chance(self) -> float:
        with self._lock:
            return self._draw.random()

    def choice(self, some: Sequence[Item]) -> Item:
        with self._lock:
            return self._draw.choice(some)

    def _turn(self) -> Line:
        """Begin a turn of an assistant; a third of them is never completed."""
        self._turns += 1
        turn = {"turn_id": f"t{self._turns}", "session_id": f"s{self._turns}", "platform": "chat"}
        self._open.append(self._said("I will keep that in mind.", direction="out", **turn))
        if self._turns % 3:
            self._number += 1
            self._open.append({**self._said("", **turn), "kind": "turn_completed"})
        self._number += 1
        return self._said(self._sentence(), direction="in", **turn)

    def _said(self, content: str, **more: Any) -> Line:
        sender = self._draw.choice(sorted(PEOPLE))
        return {
            "id": f"m{self._number}",
            "platform": self._draw.choice(("slack", "mail")),
            "sender_id": sender,
            "sender_name": PEOPLE[sender],
            "peer_id": f"c{self._number % 3}",
            "peer_kind": "channel",
            "occurred_at": START_MS + self._number * 1_000,
            "content": content,
            **more,
        }

    def _sentence(self) -> str:
        return self._draw.choice((*SENTENCES, *QUESTIONS)).format(
            name=self._draw.choice(list(PEOPLE.values())),
            town=self._draw.choice(TOWNS),
            project=self._draw.choice(PROJECTS),
            number=self._draw.randrange(4, 900),
        )

    def _token(self) -> str:
        syllables = [a + b for a in "bdfgkmprtvz" for b in "aiou"]
        while True:
            token = "".join(self._draw.sample(syllables, 6)) + "k"
            if token not in self._tokens:
                self._tokens.add(token)
                return token
