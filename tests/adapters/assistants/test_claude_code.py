"""Claude Code's transcripts: what was typed and answered, and nothing that nobody said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment
from tests.adapters.kit import EXPORTS, Opened, opened, zipped


def record(
    type_: str, uuid: str, content: Any, second: int = 0, *, session: str = "s1", **more: Any
) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ada/house",
        "sessionId": session,
        "version": "2.0.42",
        "gitBranch": "main",
        "type": type_,
        "message": {"role": type_, "content": content},
        "uuid": uuid,
        "timestamp": f"2025-11-05T09:{second // 60:02d}:{second % 60:02d}.500Z",
        **more,
    }


def user(uuid: str, content: Any, second: int = 0, **more: Any) -> dict[str, Any]:
    return record("user", uuid, content, second, **more)


def answer(
    uuid: str, id: str | None, content: Any, second: int = 0, stop: str | None = None, **more: Any
) -> dict[str, Any]:
    made = record("assistant", uuid, content, second, **more)
    made["message"] |= {"id": id, "model": "claude-opus", "stop_reason": stop, "usage": {}}
    return made


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


THINKING = {"type": "thinking", "thinking": "Ada lives in Porto, it seems.", "signature": "x"}
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = [{"type": "tool_result", "tool_use_id": "t1", "content": "I live in a log file."}]
SESSION: list[dict[str, Any]] = [
    {"type": "summary", "summary": "Ada's house", "leafUuid": "u1"},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    user("u1", "I live in Porto.", 0),
    answer("a1", "msg_1", [THINKING], 1, parentUuid="u1"),
    answer("a2", "msg_1", [text("Let me look.")], 2, parentUuid="a1"),
    answer("a3", "msg_1", [CALL], 3, "tool_use", parentUuid="a2"),
    user("u2", RESULT, 4, toolUseResult="I live in a log file."),
    answer("a4", "msg_2", [text("A nice house.")], 5, "end_turn"),
    user("u3", [text("My dog is called Rex."), {"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": "AAAA"}}], 60),
    answer("a5", "msg_3", [text("Hello Rex.")], 61, "end_turn"),
]  # fmt: skip
SAID = [
    ("u1", "in", "I live in Porto."),
    ("msg_1:0", "out", "Let me look."),
    ("msg_2:0", "out", "A nice house."),
    ("u3", "in", "My dog is called Rex."),
    ("msg_3:0", "out", "Hello Rex."),
]


def said(found: Opened) -> list[tuple[str, str | None, str]]:
    return [(one.source_id, one.direction, one.content) for one in found.contents]


def written(path: Path, *records: Any, name: str = "s1.jsonl") -> Path:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    (path / name).write_text("".join(line + "\n" for line in lines))
    return path / name


def home(path: Path) -> Recollect:
    return Recollect(Home.create_or_open(path / "home", without_encoder=True))


def session(path: Path, *records: Any) -> Opened:
    return opened(written(path, *records))


def test_what_was_typed_and_answered_is_kept_and_nothing_else(tmp_path: Path) -> None:
    found = session(tmp_path, *SESSION)
    assert (found.formats, found.rejections) == (["claude_code"], [])
    assert said(found) == SAID
    assert [one.turn_id for one in found.contents] == [None, "u1", "u1", None, "u3"]
    assert [one.sender_id for one in found.contents][:2] == ["user", "assistant"]
    assert {one.peer_id for one in found.contents} == {"/home/ada/house"}
    assert found.contents[3].attachments == (Attachment(type="image", mime_type="image/png"),)
    assert found.drafts[0].occurred_at % 60_000 == 500


REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)
NOTE = (
    "\n\nNote: The user's next message may contain a correction or preference. Pay close attention "
    "to it."
)
NOBODYS = [
    user("x", "Read the notes first.", isMeta=True),
    user("x", "Find all houses.", isSidechain=True),
    answer("x", "msg_x", [text("I own a zeppelin.")], isSidechain=True),
    user("x", "The user owns a zeppelin.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
    user("x", "This session is being continued from a previous conversation that ran out."),
    user("x", "<system-reminder>\nI own a zeppelin.\n</system-reminder>"),
    user("x", "<system-reminder>\nI own a zeppelin, and this is cut off"),
    user("x", "<command-name>/model</command-name>\n<command-args>opus</command-args>"),
    user("x", "<local-command-stdout>I own a zeppelin.</local-command-stdout>"),
    user("x", "<bash-input>ls</bash-input><bash-stdout>zeppelin</bash-stdout>"),
    user("x", "<memory_context>\n- I own a zeppelin.\n</memory_context>"),
    user("x", "Caveat: The messages below were generated by the user while running local commands"),
    user("x", [text("[Request interrupted by user for tool use]")]),
    user("x", [*RESULT, text("I own a zeppelin.")]),
    user("x", [text("I own a zeppelin.")], toolUseResult={"stdout": ""}),
    user("x", "Agent finished.", origin={"kind": "task-notification"}),
    answer("x", "msg_x", [text("API Error: 500")], isApiErrorMessage=True),
    {"type": "system", "subtype": "compact_boundary", "content": "Compacted", "uuid": "x"},
    {"type": "queue-operation", "operation": "enqueue", "content": "later", "sessionId": "s1"},
    {"type": "progress", "data": {"type": "hook_progress"}, "uuid": "x"},
    {
        "type": "api-request-blob",
        "sessionId": "s1",
        "message": {"role": "user", "content": [text("I own a zeppelin.")]},
    },
    {"type": "some-later-type", "sessionId": "s1"},
]


NOBODYS += [
    user("x", "Implement the following plan:\n\n# Plan\n\nI own a zeppelin."),
    user("x", "Implement the following plan: I own a zeppelin."),
    user("x", "# Plan\n\nI own a zeppelin.", planContent="# Plan\n\nI own a zeppelin."),
    user("x", "Stop hook feedback:\nI own a zeppelin."),
    user("x", [{**RESULT[0], "content": REFUSED + "STOP what you are doing and wait."}]),
    user("x", [{**RESULT[0], "content": f"1 {REFUSED}the user said: I own a zeppelin."}]),
    user("x", RESULT, toolUseResult={"answers": {}}),
    *(
        user("x", f"<command-name>/go</command-name><command-args>{arguments}</command-args>")
        for arguments in ("--all -v /tmp/zeppelin", "#12 7", "https://zeppelin.example/x", " ")
    ),
]


@pytest.mark.parametrize("of", NOBODYS)
def test_what_nobody_said_is_no_event(tmp_path: Path, of: Any) -> None:
    found = session(tmp_path, SESSION[2], of, SESSION[7])
    assert (said(found), found.rejections) == ([SAID[0], SAID[2]], [])


def test_what_was_added_to_a_prompt_is_taken_off_it(tmp_path: Path) -> None:
    blocks = [
        text("<ide_opened_file>The user opened /x.py</ide_opened_file>"),
        text("<memory_context>Bob owns a boat.</memory_context>\nWhere was I?\n"
             "<system-reminder>Be brief.</system-reminder>"),
    ]  # fmt: skip
    assert session(tmp_path, user("u", blocks)).texts == ["Where was I?"]


def command(name: str, arguments: str) -> str:
    return (
        f"<command-message>{name} is running…</command-message>\n"
        f"<command-name>/{name}</command-name>\n<command-args>{arguments}</command-args>"
    )


COMMANDS = [
    (command("review", "Only the roof, please."), "Only the roof, please."),
    (command("house:paint", "Blue,\nnever <b>grey</b>."), "Blue,\nnever <b>grey</b>."),
    (command("compact", "Keep what I said of Porto."), "Keep what I said of Porto."),
    (
        "<command-name>/plan</command-name>\n            <command-message>plan</command-message>\n"
        "            <command-args>A room for Rex.</command-args>",
        "A room for Rex.",
    ),
]


@pytest.mark.parametrize(("typed", "words"), COMMANDS)
def test_arguments_of_a_command_are_words_of_the_user(
    tmp_path: Path, typed: str, words: str
) -> None:
    """FAULTS 15."""
    found = session(tmp_path, *SESSION[2:6], user("c", typed, 9), SESSION[7])
    assert said(found)[2:] == [("c", "in", words), ("msg_2:0", "out", "A nice house.")]
    assert found.contents[3].turn_id == "c"


def test_a_command_of_claude_code_itself_may_have_words(tmp_path: Path) -> None:
    """FAULTS 15."""
    local = record("system", "c", None, 9, subtype="local_command")
    del local["message"]
    setting = {**local, "uuid": "d", "content": command("model", "opus")}
    output = {**local, "uuid": "e", "content": "<local-command-stdout>ok</local-command-stdout>"}
    spoken = {**local, "content": command("btw", "Rex bites.")}
    found = session(tmp_path, spoken, setting, output, user("u", command("theme", "dark")))
    assert said(found) == [("c", "in", "Rex bites.")]


ANSWERS = [
    ({"answers": {"Which colour?": "Blue"}}, "Blue"),
    ({"answers": {"Which colour?": "Blue", "How many rooms?": "Seven, one for Rex"}},
     "Blue\nSeven, one for Rex"),
    ({"answers": {"Which pets?": ["Dogs", "Cats"]}}, "Dogs, Cats"),
    ({"answers": {"Which colour?": "Blue"},
      "annotations": {"Which colour?": {"notes": "as in Porto", "preview": "#00f"}}},
     "Blue, as in Porto"),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "words"), ANSWERS)
def test_answers_to_questions_of_the_agent_are_of_the_user(
    tmp_path: Path, outcome: dict[str, Any], words: str
) -> None:
    """FAULTS 15."""
    outcome = {"questions": [{"question": "Which colour?", "options": []}], **outcome}
    done = user("d", [{**RESULT[0], "content": "The user has answered."}], 4, toolUseResult=outcome)
    found = session(tmp_path, *SESSION[2:6], done, SESSION[7])
    assert said(found)[2:] == [("d", "in", words), ("msg_2:0", "out", "A nice house.")]
    questions = "\n".join(outcome["answers"])
    assert found.contents[2].metadata["quoted"] == questions
    # The turn of the question goes on.
    assert found.contents[3].turn_id == "u1"


LEFT = (
    "The user wants to clarify these questions.\n    This means they may have additional "
    'information.\n\n    Questions asked:\n- "Which colour?"\n  Answer: Blue\n- "How many '
    'rooms?"\n  (No answer provided)'
)
REFUSALS = [
    (f"{REFUSED}To tell you how to proceed, the user said:\nuse tiles, never slate", ""),
    (f"{REFUSED}To tell you how to proceed, the user said: use tiles, never slate", ""),
    (f"{REFUSED}To tell you how to proceed, the user said:\nuse tiles, never slate{NOTE}", ""),
    (f"Error: {REFUSED}To tell you how to proceed, the user said:\nuse tiles, never slate", ""),
    ("Permission for this tool use was denied. The tool use was rejected. The user said:\n"
     "use tiles, never slate", ""),
    (f"{REFUSED}To tell you how to proceed, the user said:\nuse tiles,\n\nnever slate",
     "use tiles,\n\nnever slate"),
    (f"{REFUSED}To tell you how to proceed, the user said:\n{LEFT}{NOTE}", "Blue"),
]  # fmt: skip


@pytest.mark.parametrize("as_blocks", [True, False])
@pytest.mark.parametrize(("result", "words"), REFUSALS)
def test_what_explains_a_refusal_is_of_the_user(
    tmp_path: Path, result: str, words: str, as_blocks: bool
) -> None:
    """FAULTS 15."""
    content = [text(result)] if as_blocks else result
    block = {**RESULT[0], "content": content, "is_error": True}
    refusal = user("r", [block], 4, toolUseResult=f"Error: {result}")
    found = session(tmp_path, *SESSION[2:6], refusal, SESSION[7])
    assert said(found)[2:] == [
        ("r", "in", words or "use tiles, never slate"),
        ("msg_2:0", "out", "A nice house."),
    ]


def test_a_record_counts_in_its_own_folder(tmp_path: Path) -> None:
    elsewhere = [{**one, "cwd": "/home/ada/garden"} for one in SESSION[7:]]
    peers = [one.peer_id for one in session(tmp_path, *SESSION[:7], *elsewhere).contents]
    assert peers == ["/home/ada/house"] * 2 + ["/home/ada/garden"] * 3


def test_what_was_typed_while_the_assistant_worked_is_said(tmp_path: Path) -> None:
    queued = record("attachment", "q1", None, 5)
    del queued["message"]
    queued["attachment"] = {
        "type": "queued_command",
        "prompt": "Use Rust.",
        "commandMode": "prompt",
    }
    notice = {**queued, "uuid": "q2"}
    notice["attachment"] = {**queued["attachment"], "commandMode": "task-notification"}
    assert session(tmp_path, *SESSION[:4], queued, notice).texts == [
        "I live in Porto.",
        "Use Rust.",
    ]


def test_the_last_line_of_a_message_wins(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        user("u", "Hi"),
        answer("a", "m", [text("Hel")], 1),
        answer("a", "m", [text("Hello")], 1),
        answer("b", "m", [text("Hello, Ada")], 2, "end_turn"),
    )
    assert found.texts == ["Hi", "Hello, Ada"]


def test_a_message_may_have_several_texts(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        user("u", "Hi"),
        answer("a", "m", [text("First.")], 1),
        answer("b", "m", [CALL], 2, parentUuid="a"),
        answer("c", "m", [text("Second.")], 3, parentUuid="b"),
    )
    assert said(found)[1:] == [("m:0", "out", "First."), ("m:1", "out", "Second.")]


def test_a_session_that_is_resumed_or_compacted_repeats_nothing(tmp_path: Path) -> None:
    copies = [{**one, "sessionId": "s2"} for one in SESSION[2:]]
    more = user("u4", "I sold the house.", 90, session="s2")
    project = tmp_path / "projects" / "-home-ada-house"
    project.mkdir(parents=True)
    written(project, *SESSION)
    # A compaction writes what it keeps a second time into the same file.
    written(project, *copies, *copies, more, name="s2.jsonl")
    (project / "s2" / "subagents").mkdir(parents=True)
    agent = user("z", "Find all houses.", isSidechain=True, agentId="7")
    written(project / "s2" / "subagents", agent, name="agent-7.jsonl")
    with home(tmp_path) as memory:
        report = memory.zone("ada").ingest_files([tmp_path / "projects"])
    assert (report.new, report.duplicate, report.rejected) == (6, 5, 0)
    assert report.skipped == []


def test_what_the_user_said_is_known_and_what_the_assistant_said_is_not(tmp_path: Path) -> None:
    claims = [
        user("u1", "I live in Porto."),
        answer("a1", "m", [text("I live in Rome. Ada owns a zeppelin.")], 1, "end_turn"),
        user("u2", "My dog is called Rex.", 2),
    ]
    with home(tmp_path) as memory:
        zone = memory.zone("ada")
        zone.ingest_files([written(tmp_path, *claims)])
        facts = [fact.text for fact in zone.facts()]
    assert any("Porto" in fact for fact in facts)
    assert any("Rex" in fact for fact in facts)
    assert not any("Rome" in fact or "zeppelin" in fact for fact in facts)


def test_a_grown_transcript_repeats_what_was_there(tmp_path: Path) -> None:
    whole = session(tmp_path, *SESSION).contents
    for end in range(3, len(SESSION)):
        before = session(tmp_path, *SESSION[:end]).contents
        assert before == whole[: len(before)]


@pytest.mark.parametrize(
    "broken",
    [
        '"a text"',
        "42",
        "[1]",
        '{"silly": "this"}',
        '{"type": "user", "message": "error"}',
        '{"type": "user", "message": {"role": "user"}}',
        '{"type": "hologram", "message": {"content": "I live in Porto."}}',
        '{"type": "user", "message": {"content": "no time"}, "uuid": "x"}',
        '{"type": "user", "message": {"content": "cut',
        "[" * 100_000,
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(tmp_path: Path, broken: str) -> None:
    found = session(tmp_path, *SESSION[:4], broken, *SESSION[4:])
    assert said(found) == SAID
    assert [rejection.line for rejection in found.rejections] == [5]


@pytest.mark.parametrize(
    "odd",
    [
        user("o", None),
        user("o", []),
        user("o", [None, 7, {"type": "text", "text": None}, {"type": "text"}]),
        answer("o", None, None),
        user("o", "  \n"),
    ],
)
def test_what_says_nothing_is_no_event(tmp_path: Path, odd: Any) -> None:
    found = session(tmp_path, *SESSION, odd)
    assert (said(found), found.rejections) == (SAID, [])


def test_half_a_pair_of_surrogates_and_wrong_bytes_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    half = json.dumps(user("u", "Porto \ud83d!")).encode()
    wrong = json.dumps(user("v", "Porto ?!")).encode().replace(b"?", b"\xff")
    path.write_bytes(half + b"\n" + wrong + b"\n")
    assert opened(path).texts == ["Porto \ufffd!", "Porto \ufffd!"]


def test_a_line_with_a_picture_may_be_long(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/jpeg", "data": "A" * 3_000_000}
    big = user("u", [{"type": "image", "source": source}, text("This is my house.")])
    assert session(tmp_path, big, *SESSION[7:8]).texts == ["This is my house.", "A nice house."]


def test_a_transcript_that_is_cut_off_anywhere_gives_what_came_before(tmp_path: Path) -> None:
    data = written(tmp_path, *SESSION).read_bytes()
    path = tmp_path / "cut.jsonl"
    for end in range(150, len(data), 61):
        path.write_bytes(data[:end])
        found = opened(path, "claude_code")
        assert said(found) == SAID[: len(found.texts)]
        assert len(found.rejections) <= 1


def test_a_session_of_the_web_and_an_archive_are_taken(tmp_path: Path) -> None:
    web = [
        {"type": one["type"], "timestamp": one["timestamp"], "message": one["message"]}
        for one in SESSION[2:]
    ]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"loglines": web}, indent=2))
    assert opened(path).texts == [content for *_, content in SAID]
    archive = tmp_path / "projects.zip"
    lines = "\n".join(map(json.dumps, SESSION)).encode()
    archive.write_bytes(zipped({"-home-ada-house/s1.jsonl": lines, "-home-ada-house/x.txt": b"x"}))
    assert said(opened(archive)) == SAID


def test_events_are_not_taken_for_a_transcript(tmp_path: Path) -> None:
    event = {
        "type": "user", "sessionId": "s", "uuid": "u", "message": {"content": "x"},
        "platform": "x", "sender_id": "a", "occurred_at": "2025-01-01T00:00:00Z", "content": "Hi",
    }  # fmt: skip
    found = session(tmp_path, event)
    assert (found.formats, found.texts) == (["jsonl"], ["Hi"])


@pytest.mark.skipif(not EXPORTS.exists(), reason="the exports are not at hand")
def test_real_transcripts() -> None:
    # Counted by hand: questions and texts of answers; in edge_cases five lines are no records.
    expected = {
        "claude-code-log/edge_cases.jsonl": (3, 2, 5),
        "claude-code-log/representative_messages.jsonl": (4, 3, 0),
        "claude-code-log/session_b.jsonl": (2, 1, 0),
        "claude-code-log/todowrite_examples.jsonl": (2, 3, 0),
        "claude-code-transcripts/sample_session.json": (5, 8, 0),
        "claude-code-transcripts/sample_session.jsonl": (2, 2, 0),
    }
    for name, counts in expected.items():
        found = opened(EXPORTS / "claude_code" / name)
        directions = [one.direction for one in found.contents]
        assert found.formats == ["claude_code"]
        assert (directions.count("in"), directions.count("out"), len(found.rejections)) == counts


@pytest.mark.parametrize("kind", [[], {}, ["user"]])
def test_a_record_whose_type_is_no_text_is_no_transcript(tmp_path: Path, kind: Any) -> None:
    event = {
        "platform": "x", "sender_id": "ada", "content": "The key is here.",
        "occurred_at": "2026-05-08T13:56:00Z",
    }  # fmt: skip
    found = opened(written(tmp_path, {"type": kind, "uuid": "1"}, event))
    assert (found.formats, found.texts) == (["jsonl"], ["The key is here."])
