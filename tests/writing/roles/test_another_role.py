"""Another role of the writer beside that of a zone: priced, read, compared, used, taken back."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.conftest import OpenWriting, writing_home
from tests.writing.model_server import Body, ModelServer, Reply, say
from tests.writing.scripts import message_of

HORSE, TRAIN = "Zinnia the horse limps.", "Our train runs at dawn."
GOAT, FERRY = "Quill the goat sneezes.", "The ferry is late on Mondays."
#: What each role makes of a message.
ANIMALS = {HORSE: "Zinnia the horse limps.", GOAT: "Quill the goat sneezes."}
TRAVEL = {TRAIN: "The train of Ada runs at dawn.", FERRY: "The ferry is late on Mondays."}
ROLES = {"animals": ANIMALS, "travel": TRAVEL, "animals-and-travel": ANIMALS | TRAVEL}

Opened = tuple[Memory, ModelServer]


@pytest.fixture(autouse=True, scope="module")
def salience_of_other_processes(learnt_salience: None) -> None:
    """Decide as the command line does, which is another process in one of the tests."""


def by_role(body: Body) -> Reply:
    """Answer as the role says: its first word names what is written."""
    role = body["messages"][0]["content"].split()[0]
    text = ROLES.get(role, {}).get(message_of(body)["content"])
    if text is None or len(body["messages"]) > 2:
        return say("done")
    evidence = message_of(body)["content"].rstrip(".")
    return say("", ("insert_fact", {"text": text, "metadata": {"evidence": evidence}}))


def said(number: int, text: str) -> dict[str, Any]:
    return {
        "platform": "chat",
        "id": f"m{number}",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": f"2026-05-08T13:{number:02d}:00Z",
        "content": text,
    }


def by_model(memory: Memory) -> set[str]:
    """Return the current facts that the model wrote, as `why` says."""
    return {
        fact.text
        for fact in memory.facts()
        if any("scripted" in step.description for step in memory.why(fact.id).steps)
    }


def read_as_animals(memory: Memory) -> None:
    """Let the model read two messages under the role `animals`."""
    memory.ingest([said(1, HORSE), said(2, TRAIN)])
    memory.set_writer_text("role", "animals")
    memory.write()


@pytest.fixture
def animals(opened: OpenWriting) -> Opened:
    """A zone that the model has read under the role `animals`, and the model's server."""
    memory, server = opened(by_role, price_in=1.0, price_out=1.0)
    read_as_animals(memory)
    return memory, server


def rebuilt(memory: Memory, role: str = "travel", **more: Any) -> Any:
    return memory.rebuild("derive", writer_role=role, **more)


def role_of(memory: Memory) -> str:
    return str(memory.writer_texts()[0].text.split()[0])


def asked(server: ModelServer, role: str) -> list[str]:
    """Return the messages that were sent to the model under a role, for each question."""
    return [
        message_of(body)["content"]
        for body in server.questions
        if body["messages"][0]["content"].startswith(role)
    ]


def test_a_role_is_priced_before_anything_is_asked(animals: Opened) -> None:
    memory, server = animals
    before = memory.status()
    priced = rebuilt(memory, dry_run=True)
    assert asked(server, "travel") == []
    assert memory.status().head == before.head
    again = memory.write(again=True, dry_run=True)
    assert priced.written.pending == 2
    assert (priced.written.min_calls, priced.written.recorded, again.pending) == (2, 0, 0)
    done = rebuilt(memory).written
    assert len(asked(server, "travel")) == done.calls
    assert priced.written.min_calls <= done.calls <= priced.written.calls
    assert 0 < priced.written.min_cost < priced.written.cost


def test_the_old_role_answers_until_the_new_one_is_complete(opened: OpenWriting) -> None:
    seen: list[tuple[set[str], str]] = []

    def script(body: Body) -> Reply:
        if body["messages"][0]["content"].startswith("travel"):
            seen.append((by_model(memory), role_of(memory)))
        return by_role(body)

    memory, _ = opened(script)
    read_as_animals(memory)
    found = rebuilt(memory, compare=True).difference
    assert seen
    assert set(map(str, seen)) == {str(({ANIMALS[HORSE]}, "animals"))}
    assert [fact.text for fact in found.gained] == [TRAVEL[TRAIN]]
    assert [fact.text for fact in found.lost] == [ANIMALS[HORSE]]
    assert (by_model(memory), role_of(memory)) == ({ANIMALS[HORSE]}, "animals")


def test_facts_of_the_old_role_go_and_come_back(animals: Opened) -> None:
    memory, server = animals
    rebuilt(memory, compare=True)
    questions = len(server.questions)
    assert rebuilt(memory).stopped is None
    assert len(server.questions) == questions
    assert (by_model(memory), role_of(memory)) == ({TRAVEL[TRAIN]}, "travel")
    assert [fact.text for fact in memory.facts(superseded=True)] == [TRAVEL[TRAIN]]
    assert memory.write().pending == 0
    assert memory.verify().ok
    memory.rollback()
    assert (by_model(memory), role_of(memory)) == ({ANIMALS[HORSE]}, "animals")
    assert memory.verify().ok
    # The other way again, and the answers are still there.
    rebuilt(memory)
    assert by_model(memory) == {TRAVEL[TRAIN]}
    assert len(server.questions) == questions


def test_what_was_said_since_is_read_under_the_role_in_use(animals: Opened) -> None:
    memory, _ = animals
    rebuilt(memory)
    memory.ingest([said(3, GOAT), said(4, FERRY)])
    assert memory.write().processed == 2
    assert by_model(memory) == {TRAVEL[TRAIN], TRAVEL[FERRY]}
    memory.rollback()
    assert by_model(memory) == {ANIMALS[HORSE]}
    assert memory.write().processed == 2
    assert by_model(memory) == {ANIMALS[HORSE], ANIMALS[GOAT]}
    assert memory.verify().ok


def test_later_rebuilds_and_lost_files_keep_the_role(animals: Opened) -> None:
    memory, server = animals
    rebuilt(memory)
    questions = len(server.questions)
    memory.rebuild("derive")
    memory.rebuild("project")
    assert (by_model(memory), role_of(memory)) == ({TRAVEL[TRAIN]}, "travel")
    place = memory.home.directory
    memory.close()
    shutil.rmtree(place / "zones")
    with Memory(place) as anew:
        anew.status()
        assert (by_model(anew), role_of(anew)) == ({TRAVEL[TRAIN]}, "travel")
        assert anew.verify().ok
    assert len(server.questions) == questions


def test_facts_of_both_roles_stay_and_the_default_role_comes_back(animals: Opened) -> None:
    memory, _ = animals
    found = rebuilt(memory, "animals-and-travel", compare=True).difference
    assert (found.facts_same, found.facts_gained, found.facts_lost) == (1, 1, 0)
    rebuilt(memory, "")
    assert role_of(memory) == "You"
    assert by_model(memory) == set()


def test_a_spending_limit_is_said_and_the_rest_is_asked_later(opened: OpenWriting) -> None:
    memory, server = opened(by_role, concurrency=1, rounds=1, answer_tokens=100)
    read_as_animals(memory)
    place, used = memory.home.directory, memory.status().generation
    with (place / "recollect.toml").open("a") as settings:
        # Enough for one question, and not for two.
        settings.write("tokens_per_run = 2_060\n")
    memory.close()
    with Memory(place) as again:
        done = rebuilt(again, compare=True)
        assert "tokens_per_run" in done.stopped
        assert done.difference is None
        assert (done.written.pending, done.written.processed) == (2, 1)
        assert again.status().generation == used
        assert (by_model(again), role_of(again)) == ({ANIMALS[HORSE]}, "animals")
    with Memory(place) as again:
        done = rebuilt(again)
        assert (done.stopped, done.written.pending) == (None, 1)
        assert by_model(again) == {TRAVEL[TRAIN]}
    assert asked(server, "travel") == [HORSE, TRAIN]


def test_a_killed_rebuild_loses_no_answer(tmp_path: Path) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    answered_to_killed: list[Body] = []

    def script(body: Body) -> Reply:
        is_first = len(processes) == 1 and not answered_to_killed
        if is_first and message_of(body)["content"] == TRAIN:
            processes[0].kill()
            answered_to_killed.append(body)
        return by_role(body)

    role = tmp_path / "role.txt"
    role.write_text("travel")
    place = tmp_path / "home"
    with writing_home(place, script, concurrency=1) as (memory, server):
        read_as_animals(memory)
        memory.close()
        command = [sys.executable, "-m", "recollect", "--home", str(place)]
        command += ["rebuild", "--level", "derive", "--writer-role", str(role)]
        processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        assert processes[0].wait(60) == -signal.SIGKILL
        assert asked(server, "travel") == [HORSE, TRAIN]
        with Memory(place) as again:
            assert by_model(again) == {ANIMALS[HORSE]}
            rebuilt(again)
            assert asked(server, "travel").count(HORSE) == 1
            assert by_model(again) == {TRAVEL[TRAIN]}
            assert again.verify().ok


def test_what_a_person_decided_about_the_old_answers_stays(opened: OpenWriting) -> None:
    note = ("propose_writer_text", {"name": "horses", "text": "Zinnia limps.", "reason": "names"})

    def script(body: Body) -> Reply:
        text = body["messages"][0]["content"]
        if text.startswith("animals") and message_of(body)["content"] == HORSE:
            return say("", note) if len(body["messages"]) == 2 else say("done")
        return by_role(body)

    memory, server = opened(script)
    read_as_animals(memory)
    (proposed,) = memory.writer_proposals(status="pending")
    memory.decide_proposal(proposed.id, "accepted")
    rebuilt(memory)
    assert "Zinnia limps." in server.questions[-1]["messages"][0]["content"]
    assert [text.name for text in memory.writer_texts()] == ["role", "horses"]


def test_what_is_forgotten_while_a_role_waits_is_gone(animals: Opened) -> None:
    memory, server = animals
    rebuilt(memory, compare=True)
    questions = len(server.questions)
    memory.forget("m1")
    rebuilt(memory)
    assert len(server.questions) == questions + 2
    assert by_model(memory) == {TRAVEL[TRAIN]}
    assert files_holding(memory.home.directory, b"Zinnia") == []
    assert memory.verify().ok


def test_an_export_has_the_role_in_use(animals: Opened, tmp_path: Path) -> None:
    memory, _ = animals
    rebuilt(memory, "animals-and-travel", compare=True)
    rebuilt(memory)
    file = tmp_path / "export.jsonl"
    file.write_bytes(b"".join(memory.export_lines()))
    assert b"animals-and-travel" not in file.read_bytes()
    with Memory(Home.create_or_open(tmp_path / "new", without_encoder=True, writer="model")) as new:
        assert new.ingest_files(file).rejections == []
        assert role_of(new) == "travel"


@pytest.mark.parametrize(
    ("level", "said_why"),
    [("project", "derives nothing from the events"), ("index", "derives nothing from the events")],
)
def test_a_level_that_decides_nothing_refuses_a_role(
    animals: Opened, level: str, said_why: str
) -> None:
    memory, _ = animals
    with pytest.raises(InvalidInput, match=said_why):
        memory.rebuild(level, writer_role="travel")


def test_a_home_without_a_model_refuses_a_role(tmp_path: Path) -> None:
    with Memory(Home.create_or_open(tmp_path / "home", without_encoder=True)) as memory:
        memory.ingest([said(1, HORSE)])
        before = memory.status().head
        with pytest.raises(InvalidInput, match="--writer model"):
            rebuilt(memory)
        assert memory.status().head == before
