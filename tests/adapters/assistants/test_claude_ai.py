"""claude.ai's exports: what a person and Claude said, and not what documents and tools did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.events import Attachment, Deletion
from tests.adapters.kit import Opened, opened, zipped

DAY = "2025-03-04T10:00:{:02d}.123456Z"


def message(
    uuid: str, sender: str, text: str = "", second: int = 0, *blocks: Any, **more: Any
) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "text": text,
        "content": list(blocks),
        "sender": sender,
        "created_at": DAY.format(second),
        "updated_at": DAY.format(second + 1),
        "attachments": [],
        "files": [],
        **more,
    }


def says(text: str | None) -> dict[str, Any]:
    return {"type": "text", "text": text, "start_timestamp": None, "citations": []}


MESSAGES = [
    message(
        *("m1", "human", "I live in Porto.\nReport text", 0, says("I live in Porto.")),
        attachments=[
            {
                "file_name": "report.pdf",
                "file_type": "application/pdf",
                "file_size": 900,
                "extracted_content": "I own a zeppelin.",
            },
            {"file_name": "", "file_type": "txt", "file_size": 3, "extracted_content": "pasted"},
        ],
        files=[{"file_name": "house.png", "file_uuid": "f-1"}],
        files_v2=[{"file_name": "house.png", "file_uuid": "f-1", "file_kind": "image"}],
    ),
    message(
        *("m2", "assistant", "```\nThis block is not supported.\n```\nPorto!", 2),
        {"type": "thinking", "thinking": "They live in Porto."},
        says("Let me look."),
        {"type": "tool_use", "name": "web_search", "input": {"query": "Porto"}},
        {"type": "tool_result", "content": [says("Porto is in Portugal.")]},
        {"type": "token_budget"},
        says("Porto is fine."),
    ),
    # Older exports have the text alone.
    message("m3", "human", "And I have a dog.", 4),
    message("m4", "assistant", "Nice.", 6, says("Nice.")),
]


def conversation(*messages: Any, uuid: str = "c1", **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": "Moving",
        "created_at": DAY.format(0),
        "updated_at": DAY.format(59),
        "account": {"uuid": "acc"},
        "chat_messages": list(messages),
        **more,
    }


def export(path: Path, *conversations: Any) -> Opened:
    file = path / "conversations.json"
    file.write_text(json.dumps(conversations))
    return opened(file)


def test_the_blocks_in_which_somebody_speaks_are_what_was_said(tmp_path: Path) -> None:
    found = export(tmp_path, conversation(*MESSAGES))
    assert (found.formats, found.rejections) == (["claude"], [])
    said = [(one.source_id, one.sender_id, one.direction, one.content) for one in found.contents]
    assert said == [
        ("m1", "user", "in", "I live in Porto."),
        ("m2", "assistant", "out", "Let me look.\n\nPorto is fine."),
        ("m3", "user", "in", "And I have a dog."),
        ("m4", "assistant", "out", "Nice."),
    ]
    assert [one.turn_id for one in found.contents] == [None, "m1", None, "m3"]
    assert found.kinds == {"message": 2, "turn_completed": 2}
    assert {one.peer_id for one in found.contents} == {"c1"}
    assert found.drafts[1].occurred_at % 60_000 == 2_123


def test_what_claude_writes_in_an_artifact_is_a_part_of_its_answer(tmp_path: Path) -> None:
    def artifact(**fields: str) -> dict[str, Any]:
        return {"type": "tool_use", "name": "artifacts", "input": fields}

    letter = artifact(command="create", id="a", title="Letter", content="Dear Ann,\nthanks.")
    change = artifact(command="update", id="a", old_str="Ann", new_str="Dear Bo")
    found = export(
        tmp_path,
        conversation(
            message("m1", "human", "Write to Ann.", 0, says("Write to Ann.")),
            message("m2", "assistant", "", 2, says("Gladly."), letter, says("Fine?")),
            message("m3", "assistant", "", 4, change),
        ),
    )
    assert [one.content for one in found.contents] == [
        "Write to Ann.", "Gladly.\n\nLetter\n\nDear Ann,\nthanks.\n\nFine?", "Dear Bo",
    ]  # fmt: skip


def test_documents_are_named_and_not_said(tmp_path: Path) -> None:
    found = export(tmp_path, conversation(*MESSAGES))
    assert found.contents[0].attachments == (
        Attachment(type="file", name="report.pdf", mime_type="application/pdf", size=900),
        Attachment(type="file", size=3),
        Attachment(type="file", name="house.png"),
    )
    assert "zeppelin" not in str(found.drafts)
    assert "pasted" not in str(found.drafts)


def test_an_answer_to_an_earlier_question_is_in_its_turn(tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    branches = [
        message("q1", "human", "One?", 0, parent_message_uuid=root),
        message("a1", "assistant", "1", 1, parent_message_uuid="q1"),
        message("q2", "human", "Two?", 2, parent_message_uuid="a1"),
        message("a2", "assistant", "2", 3, parent_message_uuid="q2"),
        message("b1", "assistant", "One!", 4, parent_message_uuid="q1"),
    ]
    found = export(tmp_path, conversation(*branches, current_leaf_message_uuid="b1"))
    said = [one for one in found.contents if not isinstance(one, Deletion)]
    assert [one.turn_id for one in said] == [None, "q1", None, "q2", "q1"]
    marks = [one.metadata["on_current_path"] for one in said]
    assert marks == [True, False, False, False, True]


def test_a_grown_export_repeats_what_was_there(tmp_path: Path) -> None:
    before = export(tmp_path, conversation(*MESSAGES[:3]))
    after = export(tmp_path, conversation(*MESSAGES, name="Renamed"))
    assert [(one.source_id, one.content, one.turn_id) for one in before.contents] == [
        (one.source_id, one.content, one.turn_id) for one in after.contents[:3]
    ]


def test_what_our_own_hooks_injected_is_said_by_nobody(tmp_path: Path) -> None:
    block = "<memory_context>Ada owns a zeppelin.</memory_context>Where was I?"
    assert export(tmp_path, conversation(message("m", "human", block))).texts == ["Where was I?"]


@pytest.mark.parametrize(
    "broken",
    [
        17,
        {"chat_messages": "none"},
        conversation("hello"),
        conversation(message("m9", "goblin", "x")),
        conversation(message("m9", "human", "x", created_at="yesterday")),
        conversation({"uuid": "m9", "sender": "human", "text": "x"}, created_at=None),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(tmp_path: Path, broken: Any) -> None:
    found = export(tmp_path, conversation(*MESSAGES[:2]), broken, conversation(MESSAGES[2]))
    assert len(found.texts) == 3
    assert [rejection.line for rejection in found.rejections] == [2]


@pytest.mark.parametrize(
    "odd",
    [
        conversation(),
        conversation(message("m9", "human", content=None, attachments=None, files=None)),
        conversation(message("m9", "assistant", "```not supported```", 0, {"type": "tool_use"})),
        conversation(message("m9", "human", "x", 0, says(None))),
    ],
)
def test_what_says_nothing_is_no_event(tmp_path: Path, odd: Any) -> None:
    found = export(tmp_path, conversation(*MESSAGES[:2]), odd)
    assert (len(found.texts), found.rejections) == (2, [])


def test_a_message_without_id_or_time_is_taken(tmp_path: Path) -> None:
    bare = {"sender": "human", "text": "Hi"}
    first = export(tmp_path, conversation(bare, MESSAGES[1]))
    again = export(tmp_path, conversation(bare, MESSAGES[1], MESSAGES[2]))
    assert first.texts == ["Hi", MESSAGES[1]["content"][1]["text"] + "\n\nPorto is fine."]
    assert [one.source_id for one in first.contents] == [
        one.source_id for one in again.contents[:2]
    ]


def test_the_zip_as_it_comes_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "data-2025-03-05.zip"
    members = {
        "conversations.json": json.dumps([conversation(*MESSAGES)]).encode(),
        "users.json": b'[{"uuid": "acc", "full_name": "Ada"}]',
        "projects.json": b'[{"uuid": "p", "docs": [{"content": "I own a zeppelin."}]}]',
        "memories.json": b"[]",
    }
    path.write_bytes(zipped(members))
    assert len(opened(path).texts) == 4
    single = tmp_path / "one.json"
    single.write_text(json.dumps(conversation(*MESSAGES), indent=2))
    assert len(opened(single).texts) == 4


def test_a_file_that_is_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([conversation(*MESSAGES), conversation(MESSAGES[2], uuid="c2")]).encode()
    path = tmp_path / "conversations.json"
    before = len(json.dumps([conversation(*MESSAGES)]))
    for end in range(300, len(whole), 41):
        path.write_bytes(whole[:end])
        found = opened(path)
        assert len(found.texts) == (4 if end >= before else 0)
        assert len(found.rejections) == 1
