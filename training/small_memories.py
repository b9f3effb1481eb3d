"""Small invented memories of work and life, with questions: a corpus of this repository.

Half of the questions are close in topic to the events of a memory, but have no answer there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parent / "corpora" / "small_memories.txt"


class Memory(NamedTuple):
    """A memory: events, questions with words of their answers, unanswerable questions."""

    name: str
    events: list[dict[str, Any]]
    answered: list[tuple[str, str]]
    unanswered: list[str]


def memories() -> list[Memory]:
    """Return the memories of the file."""
    memories: list[Memory] = []
    for line in FILE.read_text("utf-8").splitlines():
        sign, _, rest = line.partition(" ")
        match sign:
            case "" | "#":
                continue
            case "zone":
                memories.append(Memory(rest, [], [], []))
            case "+":
                question, _, answer = rest.rpartition(" | ")
                memories[-1].answered.append((question, answer))
            case "-":
                memories[-1].unanswered.append(rest)
            case day:
                by, _, text = rest.partition(": ")
                memories[-1].events.append(_event(memories[-1], day, by, text))
    return memories


def _event(memory: Memory, day: str, by: str, text: str) -> dict[str, Any]:
    number = len(memory.events)
    event: dict[str, Any] = {
        "id": f"{memory.name}-{number}",
        "platform": "chat",
        "peer_id": memory.name,
        "session_id": f"{memory.name}-{day}",
        "occurred_at": f"{day}T{9 + number % 10:02d}:00:00Z",
        "content": text,
    }
    match by:
        case "assistant":
            return event | {"sender_id": "assistant", "direction": "out"}
        case "user":
            return event | {"sender_id": "user"}
        case "me remember":
            return event | {"sender_id": "me", "kind": "remember", "session_id": event["id"]}
        case _:
            return event | {"sender_id": f"u-{by.lower().replace(' ', '-')}", "sender_name": by}
