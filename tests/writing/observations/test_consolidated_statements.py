"""Consolidation with a language model: what it states, and when that shows."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from recollect import MemoryInput
from tests.memory import Memory
from tests.writing.conftest import OpenWriting
from tests.writing.model_server import Body, Reply, say

STATEMENT = "The kiln was cold, then hot."


def shown_to(body: Body) -> Any:
    """Return the memories that a model is shown."""
    text = body["messages"][1]["content"]
    return json.loads(text[len("<data>\n") : -len("\n</data>")])["memories"]


def stating(*memories: int, text: str = STATEMENT) -> Any:
    def script(body: Body) -> Reply:
        return say("", ("state", {"text": text, "memories": list(memories)}))

    return script


def store(memory: Memory, *texts: str) -> list[str]:
    given = [MemoryInput(content=text) for text in texts]
    return [each.event_id for each in memory.store_memories(given)]


def consolidate(memory: Memory, **arguments: Any) -> str:
    (level,) = memory.consolidate_memories(method="criteria", **arguments)
    return str(level.memory_ids[0])


def test_C15_a_model_states_what_the_memories_say(opened: OpenWriting) -> None:
    memory, server = opened(stating(1, 2))
    ids = store(memory, "The kiln is cold.", "The kiln is hot.")
    made = consolidate(memory)
    text = memory.stored_memory(made).content
    assert text.splitlines()[1:] == [f"[1, 2] {STATEMENT}"]
    assert [each["text"] for each in shown_to(server.questions[-1])] == [
        "The kiln is cold.",
        "The kiln is hot.",
    ]
    memory.rebuild("derive")
    assert memory.stored_memory(made).content == text
    assert memory.verify().ok
    memory.update_memory(ids[0], "The kiln is broken.")
    assert STATEMENT not in memory.stored_memory(made).content
    assert "broken" in memory.stored_memory(made).content


def test_C15_a_statement_is_gone_with_a_forgotten_memory(opened: OpenWriting) -> None:
    memory, _ = opened(stating(1))
    ids = store(memory, "The kiln is cold.", "A boat sank.", "Ada sings.")
    made = consolidate(memory)
    assert STATEMENT in memory.stored_memory(made).content
    memory.forget(ids[2])
    found = memory.stored_memory(made)
    assert STATEMENT not in found.content
    assert found.child_memory_ids == ids[:2]
    assert memory.verify().ok


@pytest.mark.parametrize(
    "reply",
    [
        say("I have no idea."),
        say("", ("state", "{")),
        say("", ("state", {"text": STATEMENT, "memories": []})),
        say("", ("state", {"text": STATEMENT, "memories": [3]})),
        say("", ("state", {"text": " ", "memories": [1]})),
        say("", ("state", {"text": "x" * 401, "memories": [1]})),
        say("", ("forget_everything", {"text": STATEMENT, "memories": [1]})),
    ],
)
def test_C15_nonsense_leaves_the_memories_quoted(opened: OpenWriting, reply: Reply) -> None:
    memory, _ = opened(lambda body: reply)
    store(memory, "The kiln is cold.", "A boat sank.")
    text = memory.stored_memory(consolidate(memory)).content
    assert "[1]" in text
    assert "A boat sank." in text


def test_C15_an_exhausted_budget_leaves_the_memories_quoted(opened: OpenWriting) -> None:
    memory, server = opened(stating(1), tokens_per_day=1)
    store(memory, "The kiln is cold.", "A boat sank.")
    assert "A boat sank." in memory.stored_memory(consolidate(memory)).content
    assert server.questions == []


def test_C15_what_is_forgotten_before_it_is_shown_is_left_out(opened: OpenWriting) -> None:
    first = threading.Lock()

    def script(body: Body) -> Reply:
        with first:
            # More clusters than are asked about at once: the last is shown after an answer.
            if last not in forgotten:
                memory.forget(last)
                forgotten.append(last)
        return say("", ("state", {"text": STATEMENT, "memories": [1]}))

    memory, _ = opened(script)
    forgotten: list[str] = []
    receipts = memory.store_memories(
        [
            MemoryInput(content=f"The kiln {place} is {how}.", namespace=f"/{place}")
            for place in range(5)
            for how in ("cold", "hot", "new")
        ]
    )
    last = receipts.receipts[-1].event_id
    (level,) = memory.consolidate_memories(method="criteria")
    assert (len(level.memory_ids), level.with_model) == (5, 4)
    assert memory.verify().ok


def test_C15_without_a_model_nothing_is_asked(opened: OpenWriting) -> None:
    memory, server = opened(stating(1))
    store(memory, "The kiln is cold.", "A boat sank.")
    consolidate(memory, model=False)
    assert server.questions == []
