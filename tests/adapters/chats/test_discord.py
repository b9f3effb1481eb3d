"""Discord: DiscordChatExporter's JSON, and the package that Discord sends on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.schemas.events import Attachment, Content, Edit
from tests.adapters.kit import Opened, opened, zipped

ADA = {"id": "1", "name": "ada", "discriminator": "0000", "nickname": "Ada L.", "isBot": False}
BOB = {"id": "2", "name": "bob", "discriminator": "0000", "nickname": "bob", "isBot": False}
BOT = {"id": "3", "name": "helper", "nickname": "helper", "isBot": True}


def said(id_: int, content: str, author: Any = ADA, type_: str = "Default", **more: Any) -> Any:
    return {
        "id": str(id_), "type": type_, "timestamp": "2023-11-14T23:13:20.5+01:00",
        "timestampEdited": None, "isPinned": False, "content": content, "author": author,
        "attachments": [], "embeds": [], "stickers": [], "reactions": [], "mentions": [], **more,
    }  # fmt: skip


MESSAGES: list[Any] = [
    said(11, "I moved to Turin. <:wave:55>",
         reactions=[{"emoji": {"id": "", "name": "👍"}, "count": 1, "users": [BOB]}]),
    said(12, "Really?", BOB, "Reply", reference={"messageId": "11", "channelId": "9"}),
    said(13, "Now Oslo.", timestampEdited="2023-11-14T23:20:00.5+01:00"),
    said(14, "Joined the server.", BOB, "GuildMemberJoin"),
    said(15, "", type_="Default", reference={"messageId": "5", "type": "Forward"},
         forwardedMessage={"content": "I moved to Rome.", "attachments": []}),
    said(16, "", attachments=[{"id": "1", "url": "https://cdn.example/a.png", "fileName": "a.png",
                               "fileSizeBytes": 5}]),
    said(17, "", BOT, embeds=[{"title": "Build", "description": "failed", "fields": []}]),
    said(18, "", type_="ThreadCreated"),
]  # fmt: skip
CHANNEL = {"id": "9", "type": "GuildTextChat", "categoryId": "8", "category": "Text", "name": "tea"}


def document(messages: list[Any] = MESSAGES, **channel: Any) -> dict[str, Any]:
    return {
        "guild": {"id": "7", "name": "Guild", "iconUrl": "x"},
        "channel": {**CHANNEL, **channel},
        "dateRange": {"after": None, "before": None},
        "exportedAt": "2024-01-01T00:00:00+01:00",
        "messages": messages,
        "messageCount": len(messages),
    }


def read(tmp_path: Path, content: Any, name: str = "Guild - tea [9].json") -> Opened:
    path = tmp_path / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return opened(path)


def by_id(found: Opened) -> dict[str, Content]:
    return {content.source_id: content for content in found.contents}


def test_a_channel_says_who_said_what_when(tmp_path):
    found = read(tmp_path, document())
    assert found.formats == ["discord"]
    assert found.kinds == {"message": 5, "reaction": 1, "edit": 1, "notice": 2}
    assert not found.rejections
    contents = by_id(found)
    moved = contents["11"]
    assert (moved.content, moved.sender_id, moved.sender_name) == (
        "I moved to Turin. :wave:", "1", "ada",
    )  # fmt: skip
    assert moved.metadata == {"channel": "tea", "nickname": "Ada L."}
    assert (moved.peer_id, moved.peer_kind, moved.thread_id) == ("9", "channel", None)
    assert found.drafts[0].occurred_at == 1_700_000_000_500
    assert contents["12"].reply_to == "11"
    assert contents["15"].attachments == (Attachment(type="forward", caption="I moved to Rome."),)
    assert contents["16"].attachments == (
        Attachment(type="image", name="a.png", url="https://cdn.example/a.png", size=5),
    )
    assert (contents["17"].content, contents["17"].direction) == ("Build\nfailed", "out")
    assert (contents["14"].content, contents["18"].content) == (
        "Joined the server.", "thread created",
    )  # fmt: skip


def test_an_edit_and_a_reaction_name_what_they_are_about(tmp_path):
    contents = by_id(read(tmp_path, document()))
    edit = contents["13:edited:1700000400500"]
    assert isinstance(edit, Edit)
    assert (edit.target, edit.said_at, edit.content) == ("13", 1_700_000_000_500, "Now Oslo.")
    assert "13" not in contents
    assert contents["11:reaction:2:👍"].target == "11"  # type: ignore[attr-defined]


def test_the_same_exported_in_another_zone_is_the_same(tmp_path):
    here = read(tmp_path, document())
    text = json.dumps(document()).replace("23:13:20.5+01:00", "22:13:20.5+00:00")
    there = read(tmp_path, json.loads(text.replace("23:20:00.5+01:00", "22:20:00.5+00:00")))
    assert [(d.payload, d.occurred_at) for d in here.drafts] == [
        (d.payload, d.occurred_at) for d in there.drafts
    ]


def test_a_thread_stands_in_its_channel_and_a_dm_is_one(tmp_path):
    (content,) = read(tmp_path, document(MESSAGES[1:2], type="GuildPublicThread")).contents
    assert (content.peer_id, content.thread_id, content.peer_kind) == ("8", "9", "channel")
    (content,) = read(tmp_path, document(MESSAGES[1:2], type="DirectTextChat")).contents
    assert (content.peer_id, content.thread_id, content.peer_kind) == ("9", None, "dm")


def test_numbers_stand_for_types_as_their_names_do(tmp_path: Path) -> None:
    """Exporters that pass on what Discord's interface returns keep its numbers."""
    messages = [
        said(11, "I moved to Turin."), said(12, "Really?", BOB, reference={"messageId": "11"}),
        said(14, "", BOB), said(15, ""), said(16, "", BOB),
    ]  # fmt: skip
    for message, number in zip(messages, (0, 19, 7, "6", 99), strict=True):
        message["type"] = number
    found = read(tmp_path, document(messages, type=11))
    assert [(one.content, one.reply_to) for one in found.contents] == [
        ("I moved to Turin.", None), ("Really?", "11"), ("guild member join", None),
        ("channel pinned message", None), ("99", None),
    ]  # fmt: skip
    assert found.kinds == {"message": 2, "notice": 3}
    assert {(one.peer_id, one.thread_id) for one in found.contents} == {("8", "9")}
    assert {one.peer_kind for one in read(tmp_path, document(messages, type=1)).contents} == {"dm"}


def test_an_export_that_grew_adds_only_what_is_new(tmp_path):
    begun = {(c.source_id, c.content) for c in read(tmp_path, document(MESSAGES[:4])).contents}
    assert begun < {(c.source_id, c.content) for c in read(tmp_path, document()).contents}


OWN = [
    {"ID": 1158000000000000001, "Timestamp": "2023-11-14 22:13:20", "Contents": "I moved.",
     "Attachments": ""},
    {"ID": 1158000000000000002, "Timestamp": "2023-11-14 22:13:21", "Contents": "",
     "Attachments": "https://cdn.example/1/my%20plan.pdf?ex=1"},
]  # fmt: skip
TABLE = (
    "ID,Timestamp,Contents,Attachments\n"
    '1157000000000000001,2022-11-14 22:13:20.500000+00:00,"Two\nlines, quoted",\n'
)
PACKAGE = {
    "Account/user.json": json.dumps({"id": "1", "username": "ada", "global_name": "Ada"}).encode(),
    "Messages/index.json": b'{"9": "tea", "10": "Direct Message with bob#0"}',
    "Messages/c9/channel.json": b'{"id": "9", "type": 0, "name": "tea"}',
    "Messages/c9/messages.json": json.dumps(OWN).encode(),
    "Messages/c10/channel.json": b'{"id": "10", "type": "DM", "recipients": ["1", "2"]}',
    "Messages/c10/messages.csv": TABLE.encode(),
    "Servers/index.json": b"{}",
}


def test_the_package_holds_what_its_owner_wrote(tmp_path):
    path = tmp_path / "package.zip"
    path.write_bytes(zipped(PACKAGE))
    found = opened(path)
    assert found.formats == ["discord"]
    assert [(c.source_id, c.content, c.peer_id, c.peer_kind) for c in found.contents] == [
        ("1157000000000000001", "Two\nlines, quoted", "10", "dm"),
        ("1158000000000000001", "I moved.", "9", "channel"),
        ("1158000000000000002", "", "9", "channel"),
    ]
    assert {(c.sender_id, c.sender_name) for c in found.contents} == {("1", "Ada")}
    assert [c.metadata.get("channel") for c in found.contents] == [
        "Direct Message with bob#0", "tea", "tea",
    ]  # fmt: skip
    assert found.contents[2].attachments[0].name == "my plan.pdf"
    assert found.drafts[1].occurred_at == 1_700_000_000_000


RAW = json.dumps(document(), ensure_ascii=False).encode()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(RAW)), st.binary(max_size=4))
def test_an_export_that_is_cut_off_or_damaged_raises_nothing(tmp_path_factory, at, noise):
    path = tmp_path_factory.mktemp("discord") / "one.json"
    path.write_bytes(RAW[:at] + noise + (RAW[at + 4 :] if len(noise) > 2 else b""))
    opened(path, "discord")


def test_marks_are_read_as_they_are_shown_and_quotations_are_apart(tmp_path: Path) -> None:
    text = "<@2> and <@!7>, at <t:1700000000:R>\n> I hate tea.\nIs that so?"
    found = read(tmp_path, document([
        said(1, text, mentions=[{"id": "2", "name": "bob", "nickname": "Bobby"}]),
        said(2, "> all\n> quoted"),
        said(3, ">>> to\nthe end"),
    ]))  # fmt: skip
    first, second, third = found.contents
    assert first.content == "@Bobby and @7, at 2023-11-14 22:13 UTC\nIs that so?"
    assert first.metadata["quoted"] == "I hate tea."
    assert second.attachments == (Attachment(type="forward", caption="all\nquoted"),)
    assert third.attachments == (Attachment(type="forward", caption="to\nthe end"),)
    assert second.content == third.content == ""


def test_an_address_is_the_same_in_the_next_export(tmp_path: Path) -> None:
    """What follows it lets in whoever has it, and changes with each export."""
    for query in ("", "?ex=66&hm=1", "?ex=77&hm=2"):
        file = {"id": "1", "url": f"https://cdn.example/a.png{query}", "fileName": "a.png"}
        (content,) = read(tmp_path, document([said(1, "", attachments=[file])])).contents
        assert [one.url for one in content.attachments] == ["https://cdn.example/a.png"]


def test_the_result_of_a_poll_is_a_notice(tmp_path: Path) -> None:
    fields = [{"name": "poll_question_text", "value": "Where?"}]
    (found,) = read(
        tmp_path, document([said(1, "", type_="46", embeds=[{"fields": fields}])])
    ).contents
    assert found.content == "poll_question_text: Where?"


def test_what_a_bot_writes_in_embeds_counts_besides_its_words(tmp_path: Path) -> None:
    embeds = [{"title": "Build 7", "description": "failed", "fields": []}]
    preview = {"title": "News", "url": "https://news.example/1", "description": "of others"}
    found = read(
        tmp_path,
        document(
            [
                said(1, "Report:", BOT, embeds=embeds),
                said(2, "https://news.example/1", BOT, embeds=[preview]),
                said(3, "look", ADA, embeds=embeds),
            ]
        ),
    )
    assert found.texts == ["Report:\nBuild 7\nfailed", "https://news.example/1", "look"]


@pytest.mark.parametrize("id_", [None, "", 0])
def test_messages_without_an_id_are_reported(tmp_path: Path, id_: Any) -> None:
    messages = [said(1, "a"), {**said(2, "b"), "id": id_}, {**said(3, "c"), "id": id_}]
    found = read(tmp_path, document(messages))
    assert found.texts == ["a"]
    assert ["has no id" in one.reason for one in found.rejections] == [True, True]
