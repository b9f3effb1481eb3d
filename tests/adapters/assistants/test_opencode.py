"""OpenCode's sessions, exported and in its database, without tools, thoughts and added texts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.events import Attachment
from tests.adapters.kit import Opened, opened

AT = 1_762_500_000_000
SESSION = "ses_5a1b2c3d4e5f"
FILE = {
    "type": "file",
    "mime": "image/png",
    "filename": "boat.png",
    "url": "data:image/png;base64,",
}
MESSAGES: tuple[tuple[str, str, dict[str, Any], list[dict[str, Any]]], ...] = (
    ("msg_1", "user", {}, [
        {"type": "text", "text": "I live in Porto. Read @a.txt"},
        {"type": "text", "text": "Called the Read tool with a.txt", "synthetic": True},
        {"type": "text", "text": "I own a zeppelin.", "synthetic": True}, FILE]),
    ("msg_2", "assistant", {"parentID": "msg_1", "modelID": "m"}, [
        {"type": "step-start"}, {"type": "reasoning", "text": "Hm", "time": {"start": AT}},
        {"type": "tool", "callID": "c", "tool": "read", "state": {"status": "completed"}},
        {"type": "step-finish", "reason": "tool-calls", "cost": 0}]),
    ("msg_3", "assistant", {"parentID": "msg_1"}, [{"type": "text", "text": "Noted."}]),
    ("msg_4", "assistant", {"parentID": "msg_1", "summary": True}, [
        {"type": "text", "text": "The user lives in Porto."}]),
    ("msg_5", "user", {"summary": {"title": "Boat", "diffs": []}}, [
        {"type": "text", "text": "My boat is Otter."}]),
)  # fmt: skip
EXPECTED = [
    ("in", "I live in Porto. Read @a.txt", None),
    ("out", "Noted.", f"{SESSION}:msg_1"),
    ("in", "My boat is Otter.", None),
]


def info(number: int, id_: str, role: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"id": id_, "sessionID": SESSION, "role": role,
            "time": {"created": AT + number * 1000}, **more}  # fmt: skip


def exported(
    messages: Sequence[tuple[str, str, dict[str, Any], list[dict[str, Any]]]] = MESSAGES,
    **more: Any,
) -> dict[str, Any]:
    """Return what `opencode export` prints."""
    return {
        "info": {"id": SESSION, "slug": "brave-otter", "projectID": "global",
                 "directory": "/home/ada/boats", "title": "Boats", "version": "1.2.0",
                 "time": {"created": AT, "updated": AT}, **more},
        "messages": [
            {"info": info(number, id_, role, fields),
             "parts": [{"id": f"prt_{place}", "messageID": id_, **part}
                       for place, part in enumerate(parts)]}
            for number, (id_, role, fields, parts) in enumerate(messages)
        ],
    }  # fmt: skip


def write(path: Path, kind: str, **more: Any) -> Path:
    if kind == "export":
        file = path / "session.json"
        file.write_text(json.dumps(exported(**more), indent=2))
        return file
    file = path / "opencode.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text,"
            " directory text, title text, time_created integer, time_updated integer);"
            "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,"
            " time_updated integer, data text);"
            "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text,"
            " time_created integer, time_updated integer, data text);"
        )
        connection.execute(
            "INSERT INTO session VALUES (?, 'global', ?, '/home/ada/boats', 'Boats', ?, ?)",
            (SESSION, more.get("parentID"), AT, AT),
        )
        for number, (id_, role, fields, parts) in enumerate(MESSAGES):
            data = info(number, id_, role, fields)
            del data["id"], data["sessionID"]
            connection.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
                (id_, SESSION, AT + number * 1000, AT, json.dumps(data)),
            )
            for place, part in enumerate(parts):
                connection.execute(
                    "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                    (f"prt_{number}_{place}", id_, SESSION, AT, AT, json.dumps(part)),
                )
    connection.close()
    return file


def read(path: Path, kind: str, **more: Any) -> Opened:
    return opened(write(path, kind, **more))


@pytest.mark.parametrize("kind", ["export", "database"])
def test_what_was_typed_and_answered_is_kept_and_nothing_else(tmp_path: Path, kind: str) -> None:
    found = read(tmp_path, kind)
    assert (found.formats, found.rejections) == (["opencode"], [])
    assert [(one.direction, one.content, one.reply_to) for one in found.contents] == EXPECTED
    assert [draft.occurred_at - AT for draft in found.drafts] == [0, 2000, 4000]
    assert found.contents[0].attachments == (
        Attachment(type="image", name="boat.png", mime_type="image/png"),
    )
    assert {one.metadata["project"] for one in found.contents} == {"/home/ada/boats"}


@pytest.mark.parametrize("kind", ["export", "database"])
def test_prompts_that_an_agent_wrote_are_left_out(tmp_path: Path, kind: str) -> None:
    assert read(tmp_path, kind, parentID="ses_parent").texts == ["Noted."]


def test_both_forms_have_the_same_ids(tmp_path: Path) -> None:
    ids = [[one.source_id for one in read(tmp_path, kind).contents]
           for kind in ("export", "database")]  # fmt: skip
    assert ids[0] == ids[1]


def test_what_is_not_understood_is_rejected_alone(tmp_path: Path) -> None:
    said = [{"type": "text", "text": "Hm"}]
    found = read(tmp_path, "export", messages=[*MESSAGES, ("msg_6", "narrator", {}, said)])
    assert (len(found.texts), len(found.rejections)) == (3, 1)
    assert "unknown role 'narrator'" in found.rejections[0].reason
