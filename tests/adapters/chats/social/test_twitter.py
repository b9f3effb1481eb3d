"""X's direct messages in an account's archive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.schemas.events import Attachment, kind_of
from tests.adapters.kit import Opened, import_counts, opened, saved, zipped

AT = 1_709_640_000_000
DM, GROUP = "111-222", "1612345678901234567"


def sent(id_: str, sender: str, second: int, text: str, **more: Any) -> dict[str, Any]:
    return {"messageCreate": {
        "recipientId": "222", "reactions": [], "urls": [], "text": text, "mediaUrls": [],
        "senderId": sender, "id": id_, "createdAt": f"2024-03-05T12:00:{second:02}.000Z", **more,
    }}  # fmt: skip


# The newest first, as in the archive.
MESSAGES = (
    sent("4", "222", 30, "", mediaUrls=["https://ton.twitter.com/dm/4/1/boat.jpg"]),
    sent("3", "222", 20, "Nice", reactions=[{
        "senderId": "111", "reactionKey": "like", "eventId": "9",
        "createdAt": "2024-03-05T12:00:25.000Z"}]),
    sent("2", "111", 10, "See https://t.co/x &amp; tell me if 1 &lt; 2", urls=[{
        "url": "https://t.co/x", "expanded": "https://boats.example/otter", "display": "b"}]),
    sent("1", "111", 0, "I moved to Porto"),
)  # fmt: skip
GROUP_MESSAGES = (
    {"participantsLeave": {"userIds": ["333"], "createdAt": "2024-03-05T12:00:40.000Z"}},
    sent("6", "333", 30, "Hello"),
    {"conversationNameUpdate": {"initiatingUserId": "111", "name": "Boats",
                                "createdAt": "2024-03-05T12:00:20.000Z"}},
    sent("5", "222", 10, "Hi all"),
    {"joinConversation": {"initiatingUserId": "222", "participantsSnapshot": ["111", "222", "333"],
                          "createdAt": "2024-03-05T12:00:00.000Z"}},
)  # fmt: skip


def script(name: str, value: Any) -> bytes:
    return f"window.YTD.{name}.part0 = {json.dumps(value, indent=2)}".encode()


def conversation(id_: str, *items: Any) -> dict[str, Any]:
    return {"dmConversation": {"conversationId": id_, "messages": list(items)}}


def archive(*messages: Any) -> dict[str, bytes]:
    account = {"accountId": "111", "username": "ada", "accountDisplayName": "Ada Low"}
    return {
        "Your archive.html": b"<!DOCTYPE html><html><body></body></html>",
        "data/account.js": script("account", [{"account": account}]),
        "data/tweets.js": script("tweets", [{"tweet": {"full_text": "I own a zeppelin"}}]),
        "data/direct-message-headers.js": script("direct_message_headers", []),
        "data/direct-messages.js": script("direct_messages", [conversation(DM, *messages)]),
        "data/direct-messages-group.js": script(
            "direct_messages_group", [conversation(GROUP, *GROUP_MESSAGES)]
        ),
    }


def read(path: Path, *messages: Any) -> Opened:
    file = path / "twitter-2024-03-06.zip"
    file.write_bytes(zipped(archive(*messages)))
    return opened(file)


def test_messages_are_kept_with_their_ids_from_the_oldest_on(tmp_path: Path) -> None:
    found = read(tmp_path, *MESSAGES)
    assert (found.formats, found.rejections) == (["twitter"], [])
    assert [
        (kind_of(one), one.peer_kind, one.sender_id, one.sender_name, one.content)
        for one in found.contents
        if one.peer_id == DM
    ] == [
        ("message", "dm", "111", "Ada Low", "I moved to Porto"),
        ("message", "dm", "111", "Ada Low",
         "See https://boats.example/otter & tell me if 1 < 2"),
        ("message", "dm", "222", None, "Nice"),
        ("reaction", "dm", "111", "Ada Low", "like"),
        ("message", "dm", "222", None, ""),
    ]  # fmt: skip
    said = [draft for draft in found.drafts if draft.payload.source_id in ("1", "2", "3")]
    assert [draft.occurred_at - AT for draft in said] == [0, 10_000, 20_000]
    picture = found.contents[-1].attachments
    assert picture == (Attachment(
        type="image", name="boat.jpg", url="https://ton.twitter.com/dm/4/1/boat.jpg"),)  # fmt: skip


def test_what_happens_to_a_group_is_a_notice(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert [
        (kind_of(one), one.sender_id, one.content, one.metadata.get("channel"))
        for one in found.contents
    ] == [
        ("notice", "222", "join conversation: Ada Low, 222, 333", None),
        ("message", "222", "Hi all", None),
        ("notice", "111", "conversation name update: Boats", "Boats"),
        ("message", "333", "Hello", "Boats"),
        ("notice", "333", "participants leave: 333", "Boats"),
    ]
    assert {one.peer_kind for one in found.contents} == {"group"}


def test_links_are_expanded_once_and_only_those(tmp_path: Path) -> None:
    links = [
        {"url": "https://t.co/x", "expanded": "https://boats.example/?u=https://t.co/y"},
        {"url": "https://t.co/y", "expanded": "https://y.example/"},
        {"url": "https://t.co/z", "expanded": "javascript:z"},
        *({"url": "o", "expanded": "oo"} for _ in range(12)),
    ]
    text = "https://t.co/x, https://t.co/xy https://t.co/y https://t.co/z so"
    found = read(tmp_path, sent("1", "111", 0, text, urls=links))
    assert [one.content for one in found.contents if one.peer_id == DM] == [
        "https://boats.example/?u=https://t.co/y, https://t.co/xy https://y.example/"
        " https://t.co/z so"
    ]


def test_links_make_no_message_longer_than_any_may_be(tmp_path: Path) -> None:
    links = [{"url": "https://t.co/x", "expanded": f"https://x.example/{'a' * 100_000}"}]
    found = read(tmp_path, sent("1", "111", 0, "https://t.co/x " * 500, urls=links))
    texts = [one.content for one in found.contents if one.peer_id == DM]
    assert "".join(texts).count("https://x.example/") > 1
    assert "https://t.co/x" in texts[-1]


def test_what_is_not_understood_is_rejected_alone(tmp_path: Path) -> None:
    found = read(tmp_path, {"messageCreate": {"id": "7", "senderId": "1"}}, *MESSAGES)
    assert (len(found.contents), len(found.rejections)) == (10, 1)
    assert "createdAt" in found.rejections[0].reason


def test_a_later_archive_adds_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / "archive.zip"
    exports = (saved(file, zipped(archive(*MESSAGES[begin:]))) for begin in (2, 0, 0))
    counts = import_counts(tmp_path / "home", exports)
    assert counts == [(7, 0, 0), (3, 7, 0), (0, 10, 0)]
