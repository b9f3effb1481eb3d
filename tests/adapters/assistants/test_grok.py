"""Grok's export: what was asked and answered, on the branch that Grok shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.events import Deletion, kind_of
from tests.adapters.kit import Opened, opened, zipped

AT = 1_741_000_000_000


def said(id_: str, sender: str, text: Any, second: int, parent: str | None = None) -> Any:
    response = {
        "_id": id_, "conversation_id": "c1", "message": text, "sender": sender,
        "create_time": {"$date": {"$numberLong": str(AT + second * 1000)}},
        "parent_response_id": parent, "manual": False, "partial": False, "model": "grok-3",
        "metadata": {},
    }  # fmt: skip
    return {"response": response, "share_link": None}


def conversation(*responses: Any) -> dict[str, Any]:
    about = {"id": "c1", "user_id": "u", "title": "Boats", "create_time": "2025-03-03T11:06:40Z"}
    return {"conversation": about, "responses": list(responses)}


RESPONSES = (
    said("r1", "human", "I live in Porto.", 0),
    said("r2", "ASSISTANT", "Nice!", 2, "r1"),
    said("r3", "human", "My boat is Otter.", 5, "r2"),
    said("r4", "assistant", "Noted.", 7, "r3"),
)


def export(*conversations: Any) -> dict[str, Any]:
    return {"conversations": list(conversations), "projects": [], "tasks": [], "media_posts": []}


def read(path: Path, *responses: Any) -> Opened:
    file = path / "prod-grok-backend.json"
    file.write_text(json.dumps(export(conversation(*responses))))
    return opened(file)


def test_what_was_asked_and_answered_is_kept(tmp_path: Path) -> None:
    found = read(tmp_path, *RESPONSES)
    assert (found.formats, found.rejections) == (["grok"], [])
    assert [
        (kind_of(one), one.direction, one.content, one.reply_to, one.turn_id)
        for one in found.contents
    ] == [
        ("message", "in", "I live in Porto.", None, None),
        ("turn_completed", "out", "Nice!", "c1:r1", "c1:r1"),
        ("message", "in", "My boat is Otter.", None, None),
        ("turn_completed", "out", "Noted.", "c1:r3", "c1:r3"),
    ]
    assert [draft.occurred_at - AT for draft in found.drafts] == [0, 2000, 5000, 7000]
    assert found.contents[0].metadata == {"title": "Boats", "on_current_path": True}
    (tmp_path / "grok.zip").write_bytes(
        zipped({"ttl/30d/export_data/u/prod-grok-backend.json": (
            tmp_path / "prod-grok-backend.json").read_bytes()})
    )  # fmt: skip
    assert opened(tmp_path / "grok.zip").texts == found.texts


def test_a_replaced_prompt_is_deleted(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        said("r1", "human", "I live in Porto.", 0),
        said("r2", "ASSISTANT", "Nice!", 2, "r1"),
        said("r3", "human", "I own a car.", 5, "r2"),
        said("r4", "human", "I own a boat.", 9, "r2"),
        said("r5", "ASSISTANT", "Good.", 10, "r4"),
    )
    assert [one.target for one in found.contents if isinstance(one, Deletion)] == ["c1:r3"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (said("x", "narrator", "Hm", 1), "unknown sender 'narrator'"),
        ({"response": {**RESPONSES[0]["response"], "create_time": None}}, "no timestamp"),
    ],
)
def test_what_is_not_understood_is_rejected_alone(tmp_path: Path, broken: Any, reason: str) -> None:
    found = read(tmp_path, broken, *RESPONSES[1:])
    assert len(found.texts) == 3
    assert [reason in one.reason for one in found.rejections] == [True]
