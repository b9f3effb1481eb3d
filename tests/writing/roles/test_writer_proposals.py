"""Versions of its role and notes that a model proposes, and what becomes of them (A22)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import ModelAnswered
from recollect.streams.records.chain_readers import events_of_kinds
from recollect.streams.writing.writer_prompt import DEFAULT_VERSION
from tests.cli.kit import Shell
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.conftest import OpenWriting, writing_home
from tests.writing.model_server import Body, Reply, say
from tests.writing.scripts import message_of, results_of
from tests.writing.test_model_facts import fact
from tests.writing.test_writing import say_all

NOTE = "The ferry Zyzzyva is a boat, not a person."
ROLE = "You write down boats. Nothing else is worth keeping."
FERRY = "The ferry is on Mondays at Quayside Yard."
PIANO = "Ann sold her piano in Graz."


def proposing(name: str, text: Any, **more: Any) -> Any:
    """Return a script that proposes a text at each message with a ferry, and copies messages."""

    def script(body: Body) -> Reply:
        words = message_of(body)["content"]
        if results_of(body):
            return say("done")
        boats_only = "Nothing else" in body["messages"][0]["content"]
        copied = [fact(words, words)] if "ferry" in words or not boats_only else []
        text_ = {"name": name, "text": text, "reason": "I took it for a person"} | more
        return say("", *copied, *([("propose_writer_text", text_)] if "ferry" in words else []))

    return script


def pending(memory: Memory) -> list[Any]:
    return list(memory.writer_proposals(status="pending"))


def test_a_proposal_waits_and_changes_nothing(opened: OpenWriting) -> None:
    memory, _ = opened(proposing("boats", NOTE))
    say_all(memory, FERRY)
    before = memory.writer_texts()
    assert memory.write().role == DEFAULT_VERSION
    (found,) = pending(memory)
    assert (found.name, found.text, found.current) == ("boats", NOTE, "")
    assert found.reason == "I took it for a person"
    assert found.diff[-1] == f"+{NOTE}"
    assert memory.writer_texts() == before
    assert memory.write(again=True, dry_run=True).role == DEFAULT_VERSION
    memory.rebuild("derive")
    assert pending(memory) == [found]
    assert memory.verify().ok


def test_an_accepted_note_is_in_the_next_prompt(opened: OpenWriting) -> None:
    memory, server = opened(proposing("boats", NOTE))
    say_all(memory, FERRY)
    memory.write()
    (found,) = pending(memory)
    accepted = memory.decide_proposal(found.id, "accepted")
    assert accepted.status == "accepted"
    assert [(text.name, text.text) for text in memory.writer_texts()][1:] == [("boats", NOTE)]
    memory.write(again=True)
    assert NOTE in server.questions[-1]["messages"][0]["content"]
    # The same text is not proposed again.
    assert pending(memory) == []
    memory.rebuild("derive")
    assert [text.name for text in memory.writer_texts()] == ["role", "boats"]
    with pytest.raises(InvalidInput, match="only a pending one"):
        memory.decide_proposal(found.id, "rejected")


def test_a_rejected_role_is_not_in_force(opened: OpenWriting) -> None:
    memory, _ = opened(proposing("role", ROLE))
    say_all(memory, FERRY)
    memory.write()
    (found,) = pending(memory)
    assert found.current.startswith("You are a memory writer.")
    assert "-You are a memory writer." in " ".join(found.diff)
    assert memory.decide_proposal(found.id, "rejected").status == "rejected"
    assert memory.writer_texts()[0].number == 0
    assert pending(memory) == []
    with pytest.raises(UnknownId, match="writer_proposals"):
        memory.decide_proposal("nobody", "accepted")


def test_the_setting_accepts_by_itself(opened: OpenWriting) -> None:
    memory, _ = opened(proposing("role", ROLE), accept_proposals="true")
    say_all(memory, FERRY)
    memory.write()
    assert pending(memory) == []
    role = memory.writer_texts()[0]
    assert role.text.startswith(ROLE)
    memory.write(again=True)
    assert memory.writer_texts()[0] == role
    assert memory.verify().ok


def roles_of_facts(memory: Memory) -> dict[str, str]:
    """Return the text of each fact of the model -> the version of the role that wrote it."""
    with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
        found = files.memory.connection.execute(
            "SELECT text, json_extract(metadata, '$.role') FROM facts "
            "WHERE json_extract(metadata, '$.role') IS NOT NULL"
        )
        return {str(text): str(role) for text, role in found}


@pytest.mark.usefixtures("nothing_salient")
@pytest.mark.parametrize("count", [3, 40])
def test_an_accepted_role_writes_all_that_follows_in_the_ledger(
    opened: OpenWriting, count: int
) -> None:
    """It is accepted while the last message but one is read: in the first batch, or in the second.

    The messages that are asked about and not committed by then are asked about again.
    """

    def script(body: Body) -> Reply:
        is_last_but_one = f"number {count - 1} " in message_of(body)["content"]
        if is_last_but_one and (waiting := pending(memory)):
            memory.decide_proposal(waiting[0].id, "accepted")
        reply: Reply = proposing("role", ROLE)(body)
        return reply

    memory, server = opened(script, concurrency=1)
    say_all(memory, FERRY)
    memory.write()
    say_all(memory, *(f"Boat number {n} of the ferry sank." for n in range(1, count + 1)), start=1)
    report = memory.write()
    (accepted,) = events_of_kinds(memory.node.ledger, memory.zone, {"decide_writer_text"})
    role = f"record-{accepted.number}"
    assert (report.processed, report.role) == (count, role)
    written = [
        (event.number, event.payload.role)
        for event in events_of_kinds(memory.node.ledger, memory.zone, {"model_wrote"})
        if isinstance(event.payload, ModelAnswered)
    ]
    assert len(written) == count + 1
    assert {name for number, name in written if number < accepted.number} == {DEFAULT_VERSION}
    assert {name for number, name in written if number > accepted.number} == {role}
    # As the model's server saw it: the last question about each message names the role.
    prompts = {
        message_of(body)["content"]: body["messages"][0]["content"] for body in server.questions
    }
    by_role = {text for text, prompt in prompts.items() if prompt.startswith(ROLE)}
    facts = roles_of_facts(memory)
    assert {text for text, name in facts.items() if name == role} == by_role
    memory.rebuild("derive")
    assert roles_of_facts(memory) == facts
    assert memory.verify().ok


def test_only_the_newest_proposal_of_a_text_waits(opened: OpenWriting) -> None:
    texts = iter(("One.", "Two."))
    memory, _ = opened(lambda body: proposing("boats", next(texts, "Two."))(body), concurrency=1)
    say_all(memory, f"{FERRY} One.")
    memory.write()
    say_all(memory, f"{FERRY} Two.", start=1)
    memory.write()
    assert sorted((each.text, each.status) for each in memory.writer_proposals()) == [
        ("One.", "replaced"),
        ("Two.", "pending"),
    ]
    memory.set_writer_text("boats", "Three.")
    assert pending(memory) == []


def test_a_text_is_gone_with_the_messages_that_it_may_repeat(opened: OpenWriting) -> None:
    memory, _ = opened(proposing("boats", NOTE))
    say_all(memory, "My boat is Zyzzyva.", FERRY)
    memory.write()
    memory.decide_proposal(pending(memory)[0].id, "accepted")
    memory.forget("m0")
    assert [text.name for text in memory.writer_texts()] == ["role"]
    assert list(memory.writer_proposals()) == []
    assert memory.verify().ok
    assert files_holding(memory.home.directory, b"Zyzzyva", b"zyzzyva") == []
    memory.rebuild("derive")
    assert [text.name for text in memory.writer_texts()] == ["role"]


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("role", "", {}),
        ("role", 7, {}),
        ("role", "x" * 8_001, {}),
        ("role", "a\u202eb", {}),
        ("n" * 101, "A note.", {}),
        ("", "A note.", {}),
        ("names", "A note.", {"reason": None}),
    ],
)
def test_a_malformed_proposal_is_refused_and_counted(
    opened: OpenWriting, name: str, text: Any, more: dict[str, Any]
) -> None:
    memory, _ = opened(proposing(name, text, **more))
    say_all(memory, FERRY)
    assert memory.write().reasons == {"form": 1}
    assert list(memory.writer_proposals()) == []


def test_a_new_role_is_compared_beside_the_old(opened: OpenWriting) -> None:
    memory, server = opened(proposing("role", ROLE), concurrency=1)
    say_all(memory, PIANO, FERRY)
    memory.write()
    (found,) = pending(memory)
    before, asked = list(memory.facts(superseded=True)), len(server.questions)
    compared = memory.compare_writer_proposal(found.id)
    by_event = {each.event_id: each for each in compared.messages}
    assert (by_event["m1"].added, by_event["m1"].dropped) == ([], [])
    assert by_event["m0"].added == []
    assert by_event["m0"].same == []
    assert compared.calls == len(server.questions) - asked > 0
    assert list(memory.facts(superseded=True)) == before
    assert memory.writer_texts()[0].number == 0
    # Its answers are recorded, so that it costs nothing again.
    assert memory.compare_writer_proposal(found.id).calls == 0
    assert memory.compare_writer_proposal(found.id, limit=1).messages == compared.messages[:1]
    assert memory.verify().ok


def test_the_commands_show_compare_and_decide(tmp_path: Path) -> None:
    with writing_home(tmp_path / "home", proposing("role", ROLE)) as (memory, server):
        say_all(memory, PIANO, FERRY)
        memory.close()
        shell = Shell(tmp_path)
        shell.environment["RECOLLECT_HOME"] = str(tmp_path / "home")
        written = shell("write")
        assert written.status == 0, written.err
        assert "1 proposed text to decide" in written.err
        shown = shell("writer", "--proposals").out
        assert "role pending" in shown
        assert f"+{ROLE}" in shown
        assert "-You are a memory writer." in shown
        (proposal,) = shell("writer", "--proposals", "--json").json()
        compared = shell("writer", "--compare", str(proposal["id"]), "--limit", "2")
        assert compared.status == 0, compared.err
        assert "m0" in compared.out
        assert "m1" in compared.out
        assert ROLE not in shell("writer").out
        assert ROLE in shell("writer", "--accept", str(proposal["id"])).out
        assert "accepted" in shell("writer", "--proposals").out
        assert "only a pending one" in shell("writer", "--reject", str(proposal["id"])).err
        assert server.questions


@pytest.mark.usefixtures("nothing_salient")
def test_a_fact_that_a_new_role_would_not_write_is_shown(opened: OpenWriting) -> None:
    memory, _ = opened(proposing("role", ROLE), concurrency=1)
    say_all(memory, PIANO, FERRY)
    memory.write()
    compared = memory.compare_writer_proposal(pending(memory)[0].id)
    dropped = {each.event_id: each.dropped for each in compared.messages}
    assert dropped == {"m0": [PIANO], "m1": []}
