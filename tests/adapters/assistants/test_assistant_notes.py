"""FAULTS 45: what an assistant noted of its user is kept as its words, and is no fact (F1)."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from recollect.schemas.events import Content
from recollect.streams.adapters.assistants import chatgpt as chatgpt_adapter
from tests.adapters.kit import Opened, opened

SPRING = 1_772_000_000
NOON = datetime(2026, 2, 25, 12, tzinfo=UTC)


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as found:
        yield found.zone("ada")


def chatgpt(path: Path, *contents: tuple[str, str, dict[str, Any]], **more: Any) -> Opened:
    """Read a conversation of (role, recipient, content) one after the other."""
    path.write_text(json.dumps([chat(*contents, **more)]))
    return opened(path)


def chat(*contents: tuple[str, str, dict[str, Any]], id: str = "c", at: int = 0) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    above = None
    for number, (role, recipient, content) in enumerate(contents):
        node = f"n{number}"
        message = {
            "id": node,
            "author": {"role": role},
            "create_time": SPRING + at + number,
            "content": content,
            "recipient": recipient,
        }
        nodes[node] = {"id": node, "message": message, "parent": above, "children": []}
        above = node
    return {"id": id, "title": "Chat", "create_time": SPRING + at, "mapping": nodes,
            "current_node": above}  # fmt: skip


def says(text: str) -> dict[str, Any]:
    return {"content_type": "text", "parts": [text]}


def profile(about: str, style: str = "") -> tuple[str, str, dict[str, Any]]:
    content = {
        "content_type": "user_editable_context",
        "user_profile": about,
        "user_instructions": style,
    }
    return "user", "all", content


def memory(text: str) -> tuple[str, str, dict[str, Any]]:
    return "assistant", "all", {"content_type": "model_editable_context", "model_set_context": text}


NOTED = (
    ("user", "all", says("My sister is called Vera.")),
    ("assistant", "bio", says("User's sister is Vera.")),
    ("tool", "all", says("Model set context updated.")),
    ("assistant", "all", says("Noted.")),
)


def noted(found: Opened) -> list[Content]:
    assert not found.rejections
    return [one for one in found.contents if "noted" in one.metadata]


def test_what_chatgpt_notes_is_kept_beside_what_was_said(tmp_path: Path) -> None:
    found = chatgpt(tmp_path / "conversations.json", *NOTED)
    (note,) = noted(found)
    assert (note.content, note.source_id) == ("User's sister is Vera.", "c:n1")
    assert (note.sender_id, note.direction, note.turn_id) == ("assistant", "out", None)
    assert (note.thread_id, note.metadata["noted"]) == ("bio", "bio")
    others = [(one.source_id, one.turn_id, one.reply_to) for one in found.contents if one != note]
    assert others == [("c:n0", None, None), ("c:n3", "c:n0", "c:n0")]


def test_notes_are_found_and_are_no_facts(tmp_path: Path, zone: Zone) -> None:
    path = tmp_path / "conversations.json"
    chatgpt(
        path, profile("I am a beekeeper."), memory("1. [2025-06-01]. User owns a kayak."), *NOTED
    )
    zone.ingest_files([path])
    assert [fact.text for fact in zone.facts().facts if "Vera" not in fact.text] == []
    assert len(zone.facts().facts) == 1
    for words in ("beekeeper", "kayak"):
        assert any(words in one.text for one in zone.recall(words).results)
    again = zone.ingest_files([path])
    assert (again.new, again.rejected) == (0, 0)


def test_a_profile_that_every_chat_repeats_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    about = profile("I am a beekeeper.", "Be brief.")
    later = chat(about, NOTED[0], id="c2", at=900)
    path.write_text(json.dumps([later, chat(about, NOTED[0])]))
    found = opened(path)
    assert sorted(one.content for one in noted(found)) == ["Be brief.", "I am a beekeeper."]
    times = {one.payload.source_id: one.occurred_at for one in found.drafts}
    assert {times[one.source_id] for one in noted(found)} == {SPRING * 1000}
    path.write_text(json.dumps([chat(about, id="c3", at=1_800), later, chat(about, NOTED[0])]))
    assert {one.source_id for one in noted(opened(path))} == {one.source_id for one in noted(found)}


def test_what_asks_not_to_be_remembered_is_not_noted(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    private = chat(profile("I am a beekeeper."), ("assistant", "bio", says("User keeps bees.")))
    for node in private["mapping"].values():
        node["message"]["metadata"] = {"is_do_not_remember": True}
    path.write_text(json.dumps([private, chat(NOTED[0], id="c2")]))
    assert opened(path).texts == [NOTED[0][2]["parts"][0]]


def test_each_thing_that_chatgpt_remembers_has_its_day(tmp_path: Path) -> None:
    listed = "1. [2025-06-01]. User owns a kayak.\n\n2. [2025-07-12]. User keeps bees.\n3. Odd"
    found = chatgpt(tmp_path / "conversations.json", memory(listed))
    days = {one.payload.content: one.occurred_at // 86_400_000 for one in found.drafts}  # type: ignore[union-attr]
    assert days == {"User owns a kayak.": 20_240, "User keeps bees.": 20_281}


@pytest.mark.parametrize("limit", ["_MAX_NOTES", "_MAX_NOTES_LENGTH"])
def test_notes_beyond_a_limit_are_counted_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    chats = [chat(profile(f"{number:02}"), id=str(number)) for number in range(50)]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chats + chats))
    assert len(opened(path).drafts) == 50
    monkeypatch.setattr(chatgpt_adapter, limit, 20)
    found = opened(path)
    kept = 20 if limit == "_MAX_NOTES" else 11
    assert len(found.drafts) == kept
    (rejection,) = found.rejections
    assert rejection.reason.startswith(f"{2 * (50 - kept)} notes")


MEMORIES = [
    {
        "conversations_memory": "**Work context**\n\nAda keeps bees in Porto.",
        "project_memories": {"p-1": "The hives are numbered."},
        "account_uuid": "acc",
    }
]
PROJECTS = [
    {
        "uuid": "p-1",
        "name": "Hives",
        "description": "A log of the hives.",
        "prompt_template": "Always answer in grams.",
        "is_private": True,
        "created_at": "2026-01-05T10:00:00+00:00",
        "updated_at": "2026-02-05T10:00:00+00:00",
        "docs": [{"uuid": "d", "filename": "hives.csv", "content": "I own a zeppelin."}],
    },
    {"uuid": "p-2", "name": "How to use Claude", "is_starter_project": True, "docs": []},
]


def claude(room: Path) -> Path:
    room.mkdir()
    for name, content in (("memories.json", MEMORIES), ("projects.json", PROJECTS)):
        (room / name).write_text(json.dumps(content))
        os.utime(room / name, (NOON.timestamp(), NOON.timestamp()))
    (room / "users.json").write_text('[{"uuid": "acc", "full_name": "Ada"}]')
    return room


def test_claudes_memories_and_projects_are_kept(tmp_path: Path) -> None:
    found = opened(claude(tmp_path / "data"))
    assert [(one.content, one.thread_id) for one in noted(found)] == [
        ("**Work context**\n\nAda keeps bees in Porto.", "memory"),
        ("The hives are numbered.", "project:p-1"),
        ("Hives\n\nA log of the hives.\n\nAlways answer in grams.", "project:p-1"),
    ]
    assert [one.name for one in noted(found)[2].attachments] == ["hives.csv"]
    assert "zeppelin" not in str(found.drafts)
    assert {(one.sender_id, one.direction) for one in noted(found)} == {("assistant", "out")}
    assert found.drafts[0].occurred_at == NOON.timestamp() * 1000 - 12 * 3_600_000
    assert [skipped.names for skipped in found.input.skipped] == [["users.json"]]


def test_claudes_memories_are_no_facts_and_come_once(tmp_path: Path, zone: Zone) -> None:
    folder = claude(tmp_path / "data")
    assert zone.ingest_files([folder]).new == 3
    assert zone.facts().facts == []
    assert any("bees" in one.text for one in zone.recall("bees").results)
    archive = tmp_path / "data.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in ("memories.json", "projects.json"):
            info = zipfile.ZipInfo(name, NOON.timetuple()[:6])
            made.writestr(info, (folder / name).read_bytes())
    packed = tmp_path / "data.tar"
    with tarfile.open(packed, "w") as tar:
        tar.add(folder, "data")
    for again in (folder, archive, packed, folder / "memories.json"):
        report = zone.ingest_files([again])
        assert (report.new, report.rejected, report.duplicate > 0) == (0, 0, True)


def test_a_file_for_each_project_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p-1.json"
    path.write_text(json.dumps(PROJECTS[0], indent=2))
    assert [one.thread_id for one in noted(opened(path))] == ["project:p-1"]


def test_memories_without_any_time_are_refused_by_name(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo("memories.json"), json.dumps(MEMORIES))
    path = tmp_path / "data.zip"
    path.write_bytes(made.getvalue())
    found = opened(path)
    assert found.drafts == []
    assert [one.path.rpartition("/")[2] for one in found.rejections] == ["memories.json"]
    assert "time" in found.rejections[0].reason


@pytest.mark.parametrize(
    "odd",
    [
        [{"conversations_memory": 7, "project_memories": []}],
        [{"conversations_memory": None, "project_memories": {"p": {"x": 1}}}],
        [{"conversations_memory": " ", "project_memories": {}}, 7, None, []],
        [{"uuid": 3, "name": 4, "docs": 5, "prompt_template": []}],
    ],
)
def test_memories_in_odd_forms_raise_nothing(tmp_path: Path, odd: Any) -> None:
    path = tmp_path / "memories.json"
    path.write_text(json.dumps(odd))
    assert opened(path).drafts == []
