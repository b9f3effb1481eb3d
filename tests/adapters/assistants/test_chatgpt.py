"""ChatGPT's exports: trees of messages, of which the user said some and no tool said any."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.events import (
    Attachment,
    Content,
    Message,
    SystemNotice,
    TurnCompleted,
)
from tests.adapters.kit import EXPORTS, Opened, opened, zipped

SPRING = 1_700_000_000.25


def node(
    id: str,
    parent: str | None,
    role: str | None = None,
    text: Any = "",
    at: float | None = None,
    *,
    content: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    message = role and {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": content or {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "metadata": metadata or {},
        "recipient": "all",
        **more,
    }
    return {"id": id, "message": message or None, "parent": parent, "children": []}


def conversation(*nodes: dict[str, Any], leaf: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "title": "Moving",
        "create_time": SPRING,
        "update_time": SPRING + 900,
        "mapping": {one["id"]: one for one in nodes},
        "moderation_results": [],
        "current_node": leaf,
        "conversation_id": "c1",
        "id": "c1",
        **more,
    }


ROOT = node("root", None)
SYSTEM = node("sys", "root", "system", "You are ChatGPT.", None)
CUSTOM = node(
    "custom",
    "sys",
    "user",
    content={"content_type": "user_editable_context", "user_profile": "I am a spy."},
    metadata={"is_visually_hidden_from_conversation": True},
)
FIRST = node("u1", "custom", "user", "I live in Paris.", SPRING + 1)
FIRST_ANSWER = node("a1", "u1", "assistant", "Lovely!", SPRING + 2, end_turn=True)
EDITED = node("u2", "custom", "user", "I live in Porto.", SPRING + 10)
THOUGHTS = node(
    "t",
    "u2",
    "assistant",
    at=SPRING + 11,
    content={"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "They moved."}]},
)
CALL = node("call", "t", "assistant", 'search("Porto")', SPRING + 12, recipient="web")
RESULT = node("tool", "call", "tool", "Porto is in Portugal.", SPRING + 13)
PREAMBLE = node("pre", "tool", "assistant", "Let me look.", None, end_turn=False)
ANSWER = node("a2", "pre", "assistant", "Porto\ue200cite\ue202x\ue201 is fine.", SPRING + 15)
TREE = (
    *(ROOT, SYSTEM, CUSTOM, FIRST, FIRST_ANSWER),
    *(EDITED, THOUGHTS, CALL, RESULT, PREAMBLE, ANSWER),
)


def said(found: Opened) -> list[Content]:
    """Return what somebody said, on any branch, without what ChatGPT noted."""
    spoken = [one for one in found.contents if isinstance(one, Message | TurnCompleted)]
    return [one for one in spoken if "noted" not in one.metadata]


def export(path: Path, *conversations: Any) -> Opened:
    file = path / "conversations.json"
    file.write_text(json.dumps(conversations))
    return opened(file)


def test_what_was_asked_and_answered_is_kept_and_nothing_else(tmp_path: Path) -> None:
    found = export(tmp_path, conversation(*TREE, leaf="a2"))
    assert found.formats == ["chatgpt"]
    assert not found.rejections
    assert [(one.sender_id, one.direction, one.content) for one in said(found)] == [
        ("user", "in", "I live in Paris."),
        ("assistant", "out", "Lovely!"),
        ("user", "in", "I live in Porto."),
        ("assistant", "out", "Let me look."),
        ("assistant", "out", "Porto is fine."),
    ]
    turns = [one.turn_id for one in said(found)]
    assert turns == [None, "c1:u1", None, "c1:u2", "c1:u2"]
    assert [one.reply_to for one in said(found)] == [None, "c1:u1", None, "c1:u2", "c1:u2"]
    # A message without a time has that of the one before it.
    times = {draft.payload.source_id: draft.occurred_at for draft in found.drafts}
    assert [times[one.source_id] - 1_700_000_000_000 for one in said(found)] == [
        *(1_250, 2_250, 10_250, 13_250, 15_250)
    ]


def test_the_branches_that_are_not_shown_are_marked(tmp_path: Path) -> None:
    found = export(tmp_path, conversation(*TREE, leaf="a2"))
    marks = [one.metadata["on_current_path"] for one in said(found)]
    assert marks == [False, False, True, True, True]


def test_another_current_branch_makes_no_new_events(tmp_path: Path) -> None:
    before = export(tmp_path, conversation(*TREE[:5], leaf="a1", title="Moving house"))
    after = export(tmp_path, conversation(*TREE, leaf="a2"))
    known = {(one.source_id, one.content, one.turn_id) for one in after.contents}
    assert {(one.source_id, one.content, one.turn_id) for one in before.contents} < known


def test_a_conversation_that_asks_not_to_be_remembered_is_not(tmp_path: Path) -> None:
    private = conversation(*TREE, is_do_not_remember=True)
    open_ = conversation(node("x", None, "user", "Hello", SPRING), is_do_not_remember=False)
    assert export(tmp_path, private, open_).texts == ["Hello"]
    quiet = node("x", None, "user", "Psst", SPRING, metadata={"is_do_not_remember": True})
    assert not export(tmp_path, conversation(quiet)).texts


def test_a_hidden_message_is_kept_as_a_notice(tmp_path: Path) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    found = export(
        tmp_path,
        conversation(node("h", None, "user", "Go on as before.", SPRING, metadata=hidden)),
    )
    (notice,) = found.contents
    assert isinstance(notice, SystemNotice)
    assert notice.metadata["hidden"] is True


def test_files_are_named_and_what_was_spoken_aloud_is_said(tmp_path: Path) -> None:
    parts = [
        {"content_type": "audio_transcription", "text": "I have a dog.", "direction": "in"},
        {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_a"},
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1", "width": 9},
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f2",
         "size_bytes": 7},
        None,
        "",
    ]  # fmt: skip
    uploads = [
        {"id": "f1", "name": "dog.png", "size": 12, "mime_type": "image/png"},
        {"id": "f3", "name": "plan.pdf", "mime_type": "application/pdf"},
    ]
    found = export(
        tmp_path,
        conversation(
            node("u", None, "user", at=SPRING, metadata={"attachments": uploads},
                 content={"content_type": "multimodal_text", "parts": parts})
        ),
    )  # fmt: skip
    (message,) = found.contents
    assert message.content == "I have a dog."
    assert message.attachments == (
        Attachment(type="audio", name="file_a"),
        Attachment(type="image", name="dog.png", mime_type="image/png", size=12),
        Attachment(type="image", name="f2", size=7),
        Attachment(type="file", name="plan.pdf", mime_type="application/pdf"),
    )


def test_what_our_own_hooks_injected_is_said_by_nobody(tmp_path: Path) -> None:
    block = "<memory_context>\n- Ada owns a zeppelin.\n</memory_context>\n\nWhere was I?"
    found = export(tmp_path, conversation(node("u", None, "user", block, SPRING)))
    assert found.texts == ["Where was I?"]


def test_questions_in_a_row_are_one_turn(tmp_path: Path) -> None:
    found = export(
        tmp_path,
        conversation(
            node("u1", None, "user", "Hi", SPRING),
            node("u2", "u1", "user", "Are you there?", SPRING + 1),
            node("a", "u2", "assistant", "Yes.", SPRING + 2),
            node("u3", "a", "user", "Good.", SPRING + 3),
        ),
    )
    assert [one.turn_id for one in found.contents] == [None, None, "c1:u1", None]


def test_times_that_are_missing_come_from_above_or_from_the_conversation(tmp_path: Path) -> None:
    timeless = conversation(
        node("u1", None, "user", "Hi"), node("a1", "u1", "assistant", "Ho", SPRING - 5)
    )
    timeless["create_time"] = None
    assert len(export(tmp_path, timeless).drafts) == 2
    nothing = conversation(node("u1", None, "user", "Hi"), create_time=None, update_time=None)
    assert "time" in export(tmp_path, nothing).rejections[0].reason


@pytest.mark.parametrize(
    "broken",
    [
        17,
        None,
        {"mapping": None},
        {"mapping": []},
        conversation(node("u", None, "user", "x", SPRING, content={"content_type": "hologram"})),
        conversation(node("u", None, "goblin", "x", SPRING)),
        conversation(node("u", None, "user", "x\0y", SPRING)),
        conversation(node("u", None, "user", "x", 1e30)),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(tmp_path: Path, broken: Any) -> None:
    found = export(tmp_path, conversation(*TREE), broken, conversation(*TREE, conversation_id="c2"))
    assert len(said(found)) == 10
    assert [rejection.line for rejection in found.rejections] == [2]


@pytest.mark.parametrize(
    "odd",
    [
        conversation({"id": "n"}, {"id": "m", "message": {}, "parent": 7, "children": None}),
        conversation(node("u", None, "user", content={"content_type": "text", "parts": None})),
        conversation(node("u", None, "user", content={"content_type": "text"})),
        conversation(),
    ],
)
def test_what_says_nothing_is_no_event(tmp_path: Path, odd: Any) -> None:
    found = export(tmp_path, conversation(*TREE), odd)
    assert (len(said(found)), found.rejections) == (5, [])


def test_a_tree_that_is_a_circle_ends(tmp_path: Path) -> None:
    found = export(
        tmp_path,
        conversation(
            node("a", "b", "user", "One", SPRING), node("b", "a", "assistant", "Two", SPRING)
        ),
    )
    assert sorted(found.texts) == ["One", "Two"]


def test_the_zip_as_it_comes_and_one_conversation_are_taken(tmp_path: Path) -> None:
    text = json.dumps([conversation(*TREE)]).encode()
    members = {
        "chat.html": b"<html><script>var jsonData = [];</script></html>",
        "conversations.json": text,
        "message_feedback.json": b"[]",
        "user.json": b'{"id": "user-1", "email": "ada@example.com"}',
        "file-f1-dog.png": b"\x89PNG",
    }
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(members))
    expected = export(tmp_path, conversation(*TREE)).contents
    assert opened(path).contents == expected
    single = tmp_path / "one.json.gz"
    single.write_bytes(gzip.compress(json.dumps(conversation(*TREE), indent=1).encode()))
    assert opened(single).contents == expected


def test_a_file_that_is_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([conversation(*TREE), conversation(*TREE, conversation_id="c2")]).encode()
    path = tmp_path / "conversations.json"
    before = len(json.dumps([conversation(*TREE)]))
    for end in range(400, len(whole), 37):
        path.write_bytes(whole[:end])
        found = opened(path)
        assert len(said(found)) == (5 if end >= before else 0)
        assert len(found.rejections) == 1


@pytest.mark.skipif(not EXPORTS.exists(), reason="the exports are not at hand")
def test_a_real_export() -> None:
    found = opened(EXPORTS / "chatgpt")
    assert found.formats == ["chatgpt"]
    assert not found.rejections
    # Seven conversations of three questions and two answers each, counted by hand.
    assert found.kinds == {"message": 21, "turn_completed": 14}
    assert found.texts[:3] == [
        "Hi, what's up?",
        "I'm here to assist you. What would you like to know?",
        "How do you work?",
    ]


def mark(*fields: str) -> str:
    return "\ue200" + "\ue202".join(fields) + "\ue201"


LABELLED = {
    mark("entity", '["restaurant","Casa Verde","Porto"]'): "Casa Verde",
    '\ue200entity["company","Acme [EU]","tools"]\ue201': "Acme [EU]",
    mark("entity", "a plain label"): "a plain label",
    mark("product_entity", '["turn0product3","Kettle 5"]'): "Kettle 5",
    mark("url", "the guide", "https://example.com/guide"): "the guide",
    mark("url", "the guide", "turn0search0"): "the guide",
    mark("url", "https://example.com/guide"): "https://example.com/guide",
    mark("link_title", "Trams in Porto", "turn1search2"): "Trams in Porto",
    mark("navlist", "News of the day", "turn0news3,turn0news10"): "News of the day",
    mark("hologram", "turn0search1", "Soon known"): "Soon known",
    mark("entity", "turn0business1"): "Named Elsewhere",
}
UNLABELLED = (
    *(mark("cite", "turn0search0", "turn1search1"), mark("filecite", "turn2file0", "L9-L18")),
    *(mark("memcite"), mark("i", "turn0image0", "turn0image1"), mark("hologram", "turn0search1")),
    *(mark("image_group", '{"layout": "carousel",\n "query": ["Porto"]}'), mark("genui", "{}")),
    *("\u30104:0\u2020source\u3011", "\u301012\u2020L3-L9\u3011", "\u3010turn0search3\u3011"),
    *(":contentReference[oaicite:1]{index=1}", "\u3010oaicite:2\u3011"),
    *("citeturn0search0turn0news12", "\ue203", mark("entity", '["cut off'), mark("")),
)


@pytest.mark.parametrize(
    ("shown", "label"), [*LABELLED.items(), *((one, "") for one in UNLABELLED)]
)
def test_33_marks_become_the_labels_that_were_shown(tmp_path: Path, shown: str, label: str) -> None:
    """FAULTS 33."""
    reference = {"matched_text": shown, "type": "entity", "name": "Named Elsewhere"}
    known = {"content_references": [reference]} if "turn0business1" in shown else {}
    text = f"Try {shown} first, then go [home] (\u3010really\u3011)."
    found = export(
        tmp_path, conversation(node("a", None, "assistant", text, SPRING, metadata=known))
    )
    assert found.texts == [f"Try {label} first, then go [home] (\u3010really\u3011)."]


@pytest.mark.parametrize(
    "odd",
    [
        node("x", None, "assistant", "Hm", SPRING, recipient={"to": "bio"}),
        node("x", None, "user", content={"content_type": ["text"], "parts": ["Hm"]}, at=SPRING),
        node("x", None, "user", "Hm", SPRING, author={"role": ["user"]}),
        node("x", None, "tool", content={"content_type": {"a": 1}}, at=SPRING),
    ],
)
def test_an_odd_message_keeps_no_other_from_being_read(tmp_path: Path, odd: Any) -> None:
    found = export(tmp_path, conversation(odd, node("y", "x", "user", "I am here.", SPRING + 1)))
    assert found.texts == ["I am here."]


def test_33_a_mark_that_was_cut_off_ends_with_its_line(tmp_path: Path) -> None:
    """FAULTS 33."""
    text = 'First.\ue200cite\ue202turn0\nSecond.\ue200entity\ue202["place","Por'
    found = export(tmp_path, conversation(node("a", None, "assistant", text, SPRING)))
    assert found.texts == ["First.\nSecond."]


def test_33_labels_that_are_no_text_raise_nothing(tmp_path: Path) -> None:
    """FAULTS 33."""
    odd = ['["a", 7]', '{"name": 7}', "[" * 5_000 + "]", '[["a"], ["b"]]', "[]", '{"name": "N"}']
    text = "".join(mark("entity", one) for one in odd)
    metadata = {"content_references": [7, {"matched_text": None}, {"matched_text": "x", "name": 3}]}
    message = node("a", None, "assistant", f"So {text}.", SPRING, metadata=metadata)
    found = export(tmp_path, conversation(message))
    assert (found.texts, found.rejections) == (["So N."], [])


def test_a_text_without_an_author_is_refused_and_a_spoken_one_is_kept(tmp_path: Path) -> None:
    spoken = {"content_type": "audio_transcription", "text": "Hi there", "direction": "in"}
    sound = {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}
    content = {"content_type": "multimodal_text", "parts": [spoken, sound]}
    found = export(
        tmp_path,
        conversation(
            node("x", None, "user", "Hm", SPRING, author=None),
            node("empty", "x", "user", "", SPRING, author=None),
            node("y", "empty", "user", at=SPRING, content=content),
        ),
    )
    assert [one.reason for one in found.rejections] == ["a message without an author"]
    assert found.texts == ["Hi there"]
    assert [one.type for one in found.contents[0].attachments] == ["audio"]


def test_what_chatgpt_writes_in_a_canvas_is_its_answer(tmp_path: Path) -> None:
    def call(id_: str, parent: str, tool: str, second: int, **fields: Any) -> dict[str, Any]:
        content = {"content_type": "code", "language": "json", "text": json.dumps(fields)}
        return node(id_, parent, "assistant", at=SPRING + second, content=content, recipient=tool)

    text_form = node(
        "k2", "k1t", "assistant", recipient="canmore.update_textdoc", at=SPRING + 5,
        text=json.dumps({"updates": [{"pattern": ".*", "replacement": "Dear Bo"}]}),
    )  # fmt: skip
    found = export(
        tmp_path,
        conversation(
            node("u", None, "user", "Write to Ann.", SPRING),
            call("k1", "u", "canmore.create_textdoc", 3, name="Letter", type="document",
                 content="Dear Ann,\n\nthanks."),
            node("k1t", "k1", "tool", "Successfully created text document.", SPRING + 4),
            text_form,
            call("k3", "k2", "canmore.comment_textdoc", 6,
                 comments=[{"pattern": "Bo", "comment": "His full name?"}]),
            node("k4", "k3", "assistant", '{"updates": [', SPRING + 7,
                 recipient="canmore.update_textdoc"),
            node("a", "k4", "assistant", "Done.", SPRING + 8),
            leaf="a",
        ),
    )  # fmt: skip
    assert not found.rejections
    assert [(one.direction, one.content, one.reply_to) for one in said(found)] == [
        ("in", "Write to Ann.", None),
        ("out", "Letter\n\nDear Ann,\n\nthanks.", "c1:u"),
        ("out", "Dear Bo", "c1:u"),
        ("out", "His full name?", "c1:u"),
        ("out", "Done.", "c1:u"),
    ]
