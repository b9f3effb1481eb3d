"""Decisions on proposed texts while another role of the writer is read beside that of the zone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.memory import Memory
from tests.writing.conftest import OpenWriting
from tests.writing.model_server import Body, ModelServer, Reply, say
from tests.writing.roles.test_another_role import (
    FERRY,
    TRAVEL,
    by_model,
    by_role,
    read_as_animals,
    rebuilt,
    role_of,
    said,
)
from tests.writing.scripts import message_of, results_of

NOTE = "Ferries are boats."
PROPOSED_ROLE = "both animals and travel"


@pytest.fixture(autouse=True, scope="module")
def salience_of_other_processes(learnt_salience: None) -> None:
    """Have the model write what the rules do not."""


def proposing(text: str, name: str, while_reading: Callable[[], None] = lambda: None) -> Any:
    """Return a script that, under the role `animals`, proposes a text at the ferry.

    `while_reading` is called once, when the ferry is read under the role `travel`.
    """
    called: list[bool] = []

    def script(body: Body) -> Reply:
        role = body["messages"][0]["content"].split()[0]
        if message_of(body)["content"] == FERRY and not results_of(body):
            if role == "animals":
                text_ = {"name": name, "text": text, "reason": "it comes again"}
                return say("", ("propose_writer_text", text_))
            if role == "travel" and not called:
                called.append(True)
                while_reading()
        return by_role(body)

    return script


def notes_of(memory: Memory) -> list[tuple[str, str]]:
    return [(text.name, text.text) for text in memory.writer_texts() if text.name != "role"]


def pending(memory: Memory) -> list[str]:
    return [proposal.id for proposal in memory.writer_proposals(status="pending")]


def compared(memory: Memory) -> None:
    """Read another role beside the old one; then let the old one propose a text."""
    read_as_animals(memory)
    rebuilt(memory, compare=True)
    memory.ingest([said(3, FERRY)])
    assert memory.write().processed == 1
    assert len(pending(memory)) == 1


def read_under(server: ModelServer, role: str) -> list[str]:
    """Return the prompts of the questions that were asked under a role."""
    prompts = (body["messages"][0]["content"] for body in server.questions)
    return [prompt for prompt in prompts if prompt.startswith(role)]


def test_what_awaits_a_decision_still_does_under_the_new_role(opened: OpenWriting) -> None:
    memory, _ = opened(proposing(NOTE, "ferries"))
    compared(memory)
    waiting = pending(memory)
    rebuilt(memory)
    assert pending(memory) == waiting
    memory.decide_proposal(waiting[0], "accepted")
    assert notes_of(memory) == [("ferries", NOTE)]
    assert memory.verify().ok
    memory.rollback()
    assert (role_of(memory), notes_of(memory)) == ("animals", [("ferries", NOTE)])
    assert pending(memory) == []
    assert memory.verify().ok


@pytest.mark.parametrize(("status", "kept"), [("accepted", [("ferries", NOTE)]), ("rejected", [])])
def test_a_decision_while_the_new_role_reads_holds(
    opened: OpenWriting, status: str, kept: list[tuple[str, str]]
) -> None:
    def decide() -> None:
        memory.decide_proposal(pending(memory)[0], status)

    memory, _ = opened(proposing(NOTE, "ferries", decide))
    compared(memory)
    known = {fact.id for fact in memory.facts(known_at="2026-05-08T13:02:30Z")}
    rebuilt(memory)
    assert role_of(memory) == "travel"
    assert (notes_of(memory), pending(memory)) == (kept, [])
    assert [each.status for each in memory.writer_proposals()] == [status]
    assert by_model(memory) == set(TRAVEL.values())
    assert memory.verify().ok
    memory.rollback()
    assert (notes_of(memory), pending(memory)) == (kept, [])
    assert {fact.id for fact in memory.facts(known_at="2026-05-08T13:02:30Z")} == known
    memory.rebuild("derive")
    assert notes_of(memory) == kept


@pytest.mark.parametrize("status", ["accepted", "rejected"])
def test_a_decision_on_a_note_asks_nothing_again(opened: OpenWriting, status: str) -> None:
    memory, server = opened(proposing(NOTE, "ferries"))
    compared(memory)
    before = len(read_under(server, "travel"))
    memory.decide_proposal(pending(memory)[0], status)
    rebuilt(memory)
    # Only the message that came after the comparison.
    later = read_under(server, "travel")[before:]
    assert len(later) in (1, 2)
    assert all((NOTE in prompt) == (status == "accepted") for prompt in later)
    assert [name for name, _ in notes_of(memory)] == (["ferries"] if status == "accepted" else [])


def test_the_role_of_the_rebuild_follows_one_accepted_before_it(opened: OpenWriting) -> None:
    memory, _ = opened(proposing(PROPOSED_ROLE, "role"))
    compared(memory)
    memory.decide_proposal(pending(memory)[0], "accepted")
    assert role_of(memory) == "both"
    rebuilt(memory)
    assert role_of(memory) == "travel"
    memory.rollback()
    assert role_of(memory) == "both"


def test_a_role_accepted_while_another_is_read_is_in_force(opened: OpenWriting) -> None:
    def decide() -> None:
        memory.decide_proposal(pending(memory)[0], "accepted")

    memory, _ = opened(proposing(PROPOSED_ROLE, "role", decide))
    compared(memory)
    rebuilt(memory)
    assert role_of(memory) == "both"
    memory.rollback()
    assert role_of(memory) == "both"
    assert memory.verify().ok


def test_a_role_beside_proposes_nothing_to_the_zone_in_use(opened: OpenWriting) -> None:
    def script(body: Body) -> Reply:
        if body["messages"][0]["content"].startswith("travel") and not results_of(body):
            note = {"name": "ferries", "text": NOTE, "reason": "it comes again"}
            return say("", ("propose_writer_text", note))
        return by_role(body)

    memory, _ = opened(script, concurrency=1)
    read_as_animals(memory)
    rebuilt(memory, compare=True)
    assert pending(memory) == []
    rebuilt(memory)
    assert len(pending(memory)) == 1
    memory.rollback()
    assert pending(memory) == []
