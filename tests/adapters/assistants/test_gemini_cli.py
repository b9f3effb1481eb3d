"""Sessions of Gemini CLI: what was typed and answered, without tools, thoughts and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.adapters.kit import Opened, opened

SESSION = "f86f5318-f47b-4433-85f8-ec9d9a417f8e"


def said(id_: str, kind: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    stamp = f"2025-10-18T14:57:{second:02}.974Z"
    return {"id": id_, "timestamp": stamp, "type": kind, "content": content, **more}


MESSAGES = (
    said("1", "user", "My boat is Otter. Read @list.txt\n--- Content from referenced files ---\n"
         "Content from @list.txt:\nI own a zeppelin.\n--- End of content ---", 28),
    said("2", "gemini", "", 30, thoughts=[{"subject": "S", "description": "x"}],
         toolCalls=[{"id": "t", "name": "read_file", "args": {}, "result": []}]),
    said("3", "gemini", "I look at it.", 31, tokens={"total": 3}, model="gemini-2.5-pro"),
    said("4", "gemini", "Done.", 33),
    said("5", "info", "Request cancelled.", 34),
    said("6", "user", [{"text": "I live in Porto."}], 40),
)  # fmt: skip


def session(*messages: Any) -> dict[str, Any]:
    return {
        "sessionId": SESSION, "projectHash": "79b6", "startTime": "2025-10-18T14:57:28.974Z",
        "lastUpdated": "2025-10-18T14:58:07.161Z", "messages": list(messages),
    }  # fmt: skip


def read(path: Path, *messages: Any) -> Opened:
    file = path / "session-2025-10-18T14-57-f86f5318.json"
    file.write_text(json.dumps(session(*messages), indent=2))
    return opened(file)


def test_what_was_typed_and_answered_is_kept_and_nothing_else(tmp_path: Path) -> None:
    found = read(tmp_path, *MESSAGES)
    assert (found.formats, found.rejections) == (["gemini_cli"], [])
    assert [(one.direction, one.content, one.reply_to) for one in found.contents] == [
        ("in", "My boat is Otter. Read @list.txt", None),
        ("out", "I look at it.", f"{SESSION}:1"),
        ("out", "Done.", f"{SESSION}:1"),
        ("in", "I live in Porto.", None),
    ]
    assert found.drafts[0].occurred_at == 1_760_799_448_974
    assert {one.turn_id for one in found.contents} == {None, f"{SESSION}:1"}
    assert {one.peer_id for one in found.contents} == {SESSION}


def test_what_is_not_understood_is_rejected_alone(tmp_path: Path) -> None:
    found = read(tmp_path, said("x", "narrator", "Hm", 1), 7, *MESSAGES)
    assert (len(found.texts), len(found.rejections)) == (4, 2)
    assert "unknown type 'narrator'" in found.rejections[0].reason
