"""Chats of Signal, Instagram and Messenger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, SystemNotice
from tests.adapters.kit import EXPORTS, Opened, opened

SIGNAL = """[2019-12-24, 12:23] Ada: I live in Porto.
[2019-12-24, 12:24] Me: Lucky: you!
Send a picture.

[2019-12-24, 12:25] Ada: > Send a picture.
![house.jpg](./media/house.jpg) Here. (- Me: 👍 -)
"""


def instagram(path: Path, *messages: Any, folder: str = "inbox/ada_17") -> Opened:
    file = path / folder / "message_1.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    people = [{"name": "Ada"}, {"name": "Bob"}]
    document = {"participants": people, "messages": messages, "title": "Ada"}
    file.write_text(json.dumps(document, indent=2))
    return opened(file)


def sent(content: str | None, at: int = 1_577_186_580_123, **more: Any) -> dict[str, Any]:
    made = {"sender_name": "Ada", "timestamp_ms": at, **more}
    return made if content is None else {**made, "content": content}


def test_a_chat_of_signal(tmp_path: Path) -> None:
    path = tmp_path / "Ada" / "chat.txt"
    path.parent.mkdir()
    path.write_text(SIGNAL)
    with pytest.raises(InvalidInput, match="`timezone`"):
        opened(path)
    found = opened(path, timezone="Europe/Berlin")
    assert (found.formats, found.rejections) == (["signal"], [])
    assert [(one.sender_id, one.content) for one in found.contents] == [
        ("Ada", "I live in Porto."),
        ("Me", "Lucky: you!\nSend a picture."),
        ("Ada", "Here."),
    ]
    last = found.contents[2]
    assert last.attachments == (
        Attachment(type="image", name="house.jpg", url="./media/house.jpg"),
    )
    assert last.metadata == {"reactions": "Me: 👍", "quoted": "Send a picture."}
    assert {one.peer_id for one in found.contents} == {"Ada"}
    assert last.utc_offset == 60


def test_a_chat_of_instagram(tmp_path: Path) -> None:
    found = instagram(
        tmp_path,
        sent("caf\u00c3\u00a9", reactions=[{"actor": "Bob", "reaction": "\u00e2\u009d\u00a4"}]),
        sent("Ada sent an attachment.", photos=[{"uri": "photos/house.jpg"}]),
        sent("Liked a message"),
        sent("Ada started a video chat", call_duration=3),
        sent(None, share={"link": "https://a.example/x", "share_text": "Look"}),
        sent(None, is_unsent=True),
        sent(None),
    )
    assert (found.formats, found.rejections) == (["instagram"], [])
    assert found.texts[:2] == ["café", ""]
    assert found.contents[0].metadata == {"reactions": ["Bob: ❤"]}
    assert [isinstance(one, SystemNotice) for one in found.contents] == [
        *(False, False, True, True, False, True, False)
    ]
    assert found.contents[4].attachments[0].caption == "Look"
    assert found.drafts[0].occurred_at == 1_577_186_580_123
    assert {(one.platform, one.payload.peer_id) for one in found.drafts} == {  # type: ignore[union-attr]
        ("instagram", "ada_17")
    }


def test_messenger_is_told_apart(tmp_path: Path) -> None:
    found = instagram(tmp_path, sent("Hi"), folder="your_facebook_activity/messages/inbox/ada_1")
    assert [draft.platform for draft in found.drafts] == ["messenger"]


@pytest.mark.parametrize("broken", [7, {"content": "x"}, sent("x", sender_name=None)])
def test_what_is_not_understood_is_refused_with_its_place(tmp_path: Path, broken: Any) -> None:
    found = instagram(tmp_path, sent("Hi"), broken, sent("Ho"))
    assert found.texts == ["Hi", "Ho"]
    assert [rejection.line for rejection in found.rejections] == [2]


@pytest.mark.skipif(not EXPORTS.exists(), reason="the exports are not at hand")
def test_real_exports() -> None:
    found = opened(EXPORTS / "other_chat", timezone="UTC")
    assert sorted(found.formats) == ["instagram", "signal"]
    assert not found.rejections
    assert found.texts == ["Hello Jane!", "Hello John!", "Hello John!", "Hello\nJane!"]


@pytest.mark.parametrize("piece", [" ", "[", "(- ", "![](media/", "\n"])
def test_a_chat_of_signal_that_is_made_to_be_slow_is_read(tmp_path: Path, piece: str) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(SIGNAL + f"[2019-12-24, 12:26] Ada: a{piece * (50_000 // len(piece))}z\n")
    found = opened(path, timezone="UTC")
    assert found.contents[-1].content.startswith("a")


def test_a_line_of_markdown_ends_without_its_blanks(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("[2019-12-24 12:23:01] Ada: one  \ntwo  \n[a.pdf](./media/a.pdf)  \n")
    (content,) = opened(path, timezone="UTC").contents
    assert content.content == "one\ntwo"
    assert [one.name for one in content.attachments] == ["a.pdf"]


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("Ada created a poll: Where?", {}),
        ("Ada set the nickname for Bob to B.", {}),
        ('Bob voted for "A" in the poll: Where?', {}),
        ("The video chat ended.", {}),
        ("Reaccion\u00c3\u00b3 con \u00e2\u009d\u00a4 a tu mensaje ", {}),
        ("Bob ist der Gruppe beigetreten.", {"type": "Subscribe"}),
    ],
)
def test_what_the_program_says_is_a_notice(
    tmp_path: Path, content: str, more: dict[str, Any]
) -> None:
    found = instagram(tmp_path, sent(content, **more))
    assert found.kinds == {"notice": 1}


def test_what_is_attached_is_not_announced_in_any_language(tmp_path: Path) -> None:
    link = {"link": "https://example.org"}
    found = instagram(
        tmp_path,
        sent("Ada hat einen Anhang gesendet.", share=link),
        sent(None, 1_577_186_580_124, sticker={"uri": "messages/stickers_used/7.png"}),
    )
    assert found.texts == ["", ""]
    assert [one.attachments[0].type for one in found.contents] == ["forward", "sticker"]


def test_a_chat_of_messenger_that_was_encrypted(tmp_path: Path) -> None:
    """Its texts are written as they are, and its names differ."""
    messages = [
        {"senderName": "Zoë", "timestamp": 1_577_186_580_123, "text": "J'habite à Lyon.",
         "type": "text", "isUnsent": False, "media": [], "reactions": []},
        {"senderName": "Bob", "timestamp": 1_577_186_580_124, "text": "", "type": "media",
         "isUnsent": False, "media": [{"uri": "./media/a.jpg"}], "reactions": []},
    ]  # fmt: skip
    path = tmp_path / "Bob_7.json"
    document = {"participants": ["Zoë", "Bob"], "threadName": "Bob_7", "messages": messages}
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    found = opened(path)
    assert (found.formats, found.rejections) == (["instagram"], [])
    assert {draft.platform for draft in found.drafts} == {"messenger"}
    first, second = found.contents
    assert (first.sender_name, first.content, first.peer_id) == ("Zoë", "J'habite à Lyon.", "Bob_7")
    assert [one.name for one in second.attachments] == ["a.jpg"]


def test_what_sigexport_writes_of_itself_is_not_said(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(
        "[2023-05-01 10:00:00] Ada:   ![IMG (1).jpg](./media/2023_IMG%20(1).jpg)  \n"
        "[2023-05-01 10:00:01] Ada: see [a [final].pdf](./media/a%20[final].pdf)  \n"
        "[2023-05-01 10:00:02] Me: (This message was deleted)\n"
        "[2023-05-01 10:00:03] Ada:   \n(( \U0001f600 ))\n"
        "[2023-05-01 10:00:04] Ada:   [\U0001f600](../exported_stickers/12/1.webp)  \n"
        "[2023-05-01 10:00:05] Me: Outgoing voice call (accepted, 3m 2s)  \n"
        "[2023-05-01 10:00:06] No-Sender:   \n"
        "[2023-05-01 10:00:07] Me: I missed your call (sorry)  \n"
    )
    found = opened(path, timezone="UTC")
    assert not found.rejections
    assert found.kinds == {"message": 5, "notice": 3}
    assert found.texts[:2] == ["", "see"]
    assert [(one.type, one.name) for all_ in found.contents for one in all_.attachments] == [
        ("image", "IMG (1).jpg"), ("file", "a [final].pdf"),
        ("sticker", "\U0001f600"), ("sticker", "\U0001f600"),
    ]  # fmt: skip
    assert found.contents[0].attachments[0].url == "./media/2023_IMG%20(1).jpg"
    assert found.contents[2].metadata == {"deleted": True}


def test_messages_whose_content_is_gone_and_shared_profiles_are_kept(tmp_path: Path) -> None:
    profile = {"profile_share_username": "ada", "profile_share_name": "Ada \u00c3\u0089."}
    file = {"uri": "messages/inbox/a/files/Pl\u00c3\u00a4n.pdf"}
    found = instagram(
        tmp_path, sent(None), sent(None, 1_577_186_580_124, share=profile),
        sent(None, 1_577_186_580_125, files=[file]),
    )  # fmt: skip
    assert [one.attachments for one in found.contents] == [
        (Attachment(type="unsupported"),),
        (Attachment(type="forward", name="ada", caption="Ada \u00c9."),),
        (Attachment(name="Pl\u00e4n.pdf"),),
    ]
