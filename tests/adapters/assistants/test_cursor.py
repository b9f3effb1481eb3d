"""Cursor's chats in its database: what was typed and answered, without tools and thoughts."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from recollect.schemas.events import Attachment
from tests.adapters.kit import Opened, import_counts, opened

AT = 1_762_500_000_000
CHAT = "98251e54-8aed-4515-b2b4-08895453eedd"
MESSAGES: tuple[dict[str, Any], ...] = (
    {"bubbleId": "b1", "type": 1, "text": "I live in Porto.", "images": [],
     "createdAt": "2025-11-07T07:20:00.500Z"},
    {"bubbleId": "b2", "type": 2, "text": "", "thinking": {"text": "Hm"},
     "createdAt": "2025-11-07T07:20:01.000Z"},
    {"bubbleId": "b3", "type": 2, "text": "", "toolFormerData": {"name": "read_file"},
     "createdAt": "2025-11-07T07:20:02.000Z"},
    {"bubbleId": "b4", "type": 2, "text": "Noted.", "createdAt": "2025-11-07T07:20:03.000Z"},
    {"bubbleId": "b5", "type": 1, "text": "What is this?", "images": [{"path": "/x.png"}]},
    {"bubbleId": "b6", "type": 2, "text": "A boat.", "timingInfo": {
        "clientStartTime": 4745281.3, "clientRpcSendTime": AT + 9000,
        "clientEndTime": AT + 12_000}},
)  # fmt: skip
OLD = {
    "composerId": "old", "createdAt": AT - 86_400_000, "conversation": [
        {"bubbleId": "o1", "type": 1, "text": "My boat is Otter."},
        {"bubbleId": "o2", "type": 2, "text": "Nice."},
    ],
}  # fmt: skip
BY_AGENT = {
    "composerId": "agent", "createdAt": AT + 100_000, "subagentInfo": {"parentComposerId": CHAT},
    "fullConversationHeadersOnly": [{"bubbleId": "s1", "type": 1}, {"bubbleId": "s2", "type": 2}],
}  # fmt: skip


def database(path: Path, *messages: dict[str, Any], more: dict[str, str] | None = None) -> Path:
    """Write a database with these messages in a chat, and with further values."""
    file = path / "state.vscdb"
    file.unlink(missing_ok=True)
    headers = [{"bubbleId": one["bubbleId"], "type": one["type"]} for one in messages]
    chat = {"_v": 10, "composerId": CHAT, "name": "Boats", "createdAt": AT,
            "fullConversationHeadersOnly": headers, "conversationMap": {}}  # fmt: skip
    values = {
        f"composerData:{CHAT}": json.dumps(chat),
        **{f"bubbleId:{CHAT}:{one['bubbleId']}": json.dumps(one) for one in messages},
        "composerData:old": json.dumps(OLD),
        "composerData:agent": json.dumps(BY_AGENT),
        "bubbleId:agent:s1": json.dumps({"bubbleId": "s1", "type": 1, "text": "Look at the tests"}),
        "bubbleId:agent:s2": json.dumps({"bubbleId": "s2", "type": 2, "text": "They pass."}),
        "checkpointId:x": "{}",
        **(more or {}),
    }
    with sqlite3.connect(file) as connection:
        for table in ("ItemTable", "cursorDiskKV"):
            connection.execute(
                f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
            )
        connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", values.items())
        connection.execute("INSERT INTO cursorDiskKV VALUES ('composerData:none', NULL)")
    connection.close()
    return file


def read(path: Path, **more: Any) -> Opened:
    return opened(database(path, *MESSAGES, **more))


def test_what_was_typed_and_answered_is_kept_and_nothing_else(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (found.formats, found.rejections) == (["cursor"], [])
    assert [(one.peer_id, one.direction, one.content) for one in found.contents] == [
        ("old", "in", "My boat is Otter."),
        ("old", "out", "Nice."),
        (CHAT, "in", "I live in Porto."),
        (CHAT, "out", "Noted."),
        (CHAT, "in", "What is this?"),
        (CHAT, "out", "A boat."),
        ("agent", "out", "They pass."),
    ]
    assert found.contents[4].attachments == (Attachment(type="image"),)
    assert found.contents[3].reply_to == found.contents[2].source_id == f"{CHAT}:b1"


def test_times_are_the_best_that_cursor_keeps(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert [draft.occurred_at - AT for draft in found.drafts] == [
        -86_400_000, -86_400_000, 500, 3000, 3000, 9000, 100_000,
    ]  # fmt: skip


def test_a_later_message_changes_no_time(tmp_path: Path) -> None:
    timed = {"bubbleId": "b7", "type": 1, "text": "Yes.", "createdAt": "2025-11-07T09:00:00Z"}
    untimed = [{"bubbleId": f"u{n}", "type": 1, "text": f"Boat {n}"} for n in (1, 2)]
    messages = (*MESSAGES, *untimed)
    first = opened(database(tmp_path, *messages)).drafts
    later = opened(database(tmp_path, *messages, timed)).drafts
    assert [one for one in later if one.payload.source_id != f"{CHAT}:b7"] == first


def test_a_database_with_views_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.vscdb"
    with sqlite3.connect(file) as connection:
        connection.execute(
            f"CREATE VIEW cursorDiskKV AS SELECT 'composerData:old' AS key,"
            f" '{json.dumps(OLD)}' AS value"
        )
    connection.close()
    found = opened(file)
    assert not found.drafts
    assert "the database has the view 'cursorDiskKV'" in found.rejections[0].reason


def test_what_is_not_understood_is_rejected_alone(tmp_path: Path) -> None:
    broken = {"composerData:broken": "{", "composerData:list": "[]"}
    odd = {"composerId": "odd", "createdAt": AT, "conversation": [{"type": 7, "text": "Hm"}, 3]}
    found = read(tmp_path, more={**broken, "composerData:odd": json.dumps(odd)})
    assert (len(found.texts), len(found.rejections)) == (7, 3)
    assert any("unknown type '7'" in one.reason for one in found.rejections)


def test_other_editors_databases_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.vscdb"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
    connection.close()
    assert "is not Cursor's database" in opened(file).rejections[0].reason


def test_a_chat_that_grew_adds_only_what_is_new(tmp_path: Path) -> None:
    exports = (database(tmp_path, *MESSAGES[:end]) for end in (4, 6, 6))
    counts = import_counts(tmp_path / "home", exports)
    assert counts == [(5, 0, 0), (2, 5, 0), (0, 7, 0)]
