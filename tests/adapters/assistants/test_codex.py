"""Sessions of Codex: what was typed and answered, without what Codex and editors add."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, kind_of
from tests.adapters.kit import Opened, opened

SESSION = "0199d1a0-1111-7000-8000-000000000001"
MORNING = 1_762_000_000_000  # 2025-11-01T12:26:40Z


def record(second: float, type_: str, **payload: Any) -> dict[str, Any]:
    millis = round((40 + second) * 1000)
    stamp = f"2025-11-01T12:{26 + millis // 60_000}:{millis // 1000 % 60:02}.{millis % 1000:03}Z"
    return {"timestamp": stamp, "type": type_, "payload": payload}


def says(second: float, role: str, *texts: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return record(second, "response_item", type="message", role=role, content=content, **more)


META = record(
    *(0, "session_meta"), id=SESSION, timestamp="2025-11-01T12:26:40.000Z", cwd="/home/ada/boats",
    originator="codex_cli_rs", cli_version="0.46.0", instructions=None, source="cli",
    git={"branch": "main"},
)  # fmt: skip
RECORDS = [
    META,
    says(1, "developer", "<permissions instructions>read-only</permissions instructions>"),
    says(1, "user", "# AGENTS instructions for /home/ada/boats\n\n<INSTRUCTIONS>x",
         "<environment_context>\n  <cwd>/home/ada/boats</cwd>\n</environment_context>"),
    record(2, "turn_context", cwd="/home/ada/boats", model="gpt-5-codex"),
    says(2, "user", "My boat is called Otter. Add it."),
    record(2, "event_msg", type="user_message", message="My boat is called Otter. Add it."),
    record(3, "event_msg", type="agent_reasoning", text="**Thinking**"),
    record(3, "response_item", type="reasoning", summary=[], encrypted_content="x"),
    says(4, "assistant", "I look at the list."),
    record(5, "response_item", type="function_call", name="shell", arguments="{}", call_id="c"),
    record(6, "response_item", type="function_call_output", call_id="c", output="ok"),
    says(7, "assistant", "Done."),
    record(7, "event_msg", type="agent_message", message="Done."),
    record(8, "event_msg", type="token_count", info=None),
    record(9, "event_msg", type="task_complete", last_agent_message="Done."),
    record(
        *(20, "response_item"), type="message", role="user",
        content=[{"type": "input_text", "text": "# Context from my IDE setup:\n\n## Open tabs:\n"
                  "- a.py\n\n## My request for Codex:\nI live in Porto."},
                 {"type": "input_image", "image_url": "data:image/png;base64,AA"}]),
    says(20, "user", "<turn_aborted>\nThe user interrupted the turn.</turn_aborted>"),
    says(20, "user", "And my cat is Tom."),
]  # fmt: skip


def write(path: Path, records: list[Any], name: str = "rollout-1.jsonl") -> Path:
    file = path / name
    file.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records))
    return file


def read(path: Path, records: list[Any]) -> Opened:
    return opened(write(path, records))


def test_what_was_typed_and_answered_is_kept_and_nothing_else(tmp_path: Path) -> None:
    found = read(tmp_path, RECORDS)
    assert (found.formats, found.rejections) == (["codex"], [])
    first, third = f"{SESSION}:{MORNING + 2000}", f"{SESSION}:{MORNING + 20_000}"
    assert [
        (kind_of(one), one.direction, one.content, one.reply_to, one.turn_id)
        for one in found.contents
    ] == [
        ("message", "in", "My boat is called Otter. Add it.", None, None),
        ("message", "out", "I look at the list.", first, first),
        ("message", "out", "Done.", first, first),
        ("turn_completed", "out", "", None, first),
        ("message", "in", "I live in Porto.", None, None),
        ("message", "in", "And my cat is Tom.", None, None),
    ]
    assert [one.source_id for one in found.contents if one.direction == "in"] == [
        first, third, f"{third}:2",
    ]  # fmt: skip
    assert found.drafts[0].occurred_at == MORNING + 2000
    assert found.contents[0].metadata == {"project": "/home/ada/boats", "branch": "main"}
    assert {one.peer_id for one in found.contents} == {SESSION}
    assert found.contents[4].attachments == (Attachment(type="image"),)


def test_prompts_that_an_agent_wrote_for_another_are_not_the_users(tmp_path: Path) -> None:
    meta = {**META, "payload": {**META["payload"], "source": {"subagent": "review"}}}
    found = read(
        tmp_path, [meta, says(2, "user", "I own a zeppelin."), says(3, "assistant", "No.")]
    )
    assert found.texts == ["No."]


def test_sessions_of_the_first_version_have_only_the_time_of_their_beginning(
    tmp_path: Path,
) -> None:
    first = {"id": SESSION, "timestamp": "2025-11-01T12:26:40.000Z", "instructions": None}
    items = [
        {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
        for role, text in (("user", "I live in Porto."), ("assistant", "Nice."), ("user", "Yes."))
    ]
    found = read(tmp_path, [first, {"record_type": "state"}, *items])
    assert (found.formats, found.rejections) == (["codex"], [])
    assert found.texts == ["I live in Porto.", "Nice.", "Yes."]
    assert {draft.occurred_at for draft in found.drafts} == {MORNING}
    assert len({one.source_id for one in found.contents}) == 3


def test_a_session_that_grew_adds_only_what_is_new(tmp_path: Path) -> None:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    counts = []
    with Recollect(home) as recollect:
        zone = recollect.zone("ada")
        for end in (5, 10, len(RECORDS), len(RECORDS)):
            report = zone.ingest_files([write(tmp_path, RECORDS[:end])])
            counts.append((report.new, report.duplicate, report.rejected))
        assert "Otter" in zone.recall("What is my boat called?").results[0].text
    assert counts == [(1, 0, 0), (1, 1, 0), (4, 2, 0), (0, 6, 0)]


@pytest.mark.parametrize("broken", ["{", "7", '"x"'])
def test_a_damaged_line_is_rejected_with_its_number(tmp_path: Path, broken: str) -> None:
    file = write(tmp_path, RECORDS)
    rows = file.read_text().splitlines()
    file.write_text("\n".join([*rows[:5], broken, *rows[5:]]))
    found = opened(file)
    assert [one.line for one in found.rejections] == [6]
    assert len(found.texts) == 6


def test_a_rollout_is_recognised_by_a_first_record_of_any_length(tmp_path: Path) -> None:
    meta = {**META, "payload": {**META["payload"], "base_instructions": "x" * 200_000}}
    assert read(tmp_path, [meta, *RECORDS[1:]]).formats == ["codex"]
