"""Microsoft Teams at work: messages as Microsoft Graph returns them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Deletion, Edit, Reaction, SystemNotice
from tests.adapters.kit import Opened, opened

ADA = {"id": "8ea0e38b", "displayName": "Ada Low", "userIdentityType": "aadUser"}
BOB = {"id": "4b82a5c1", "displayName": "Bob", "userIdentityType": "aadUser"}
GROUP = "19:2da4c29f6d7041eca70b638b43d45437@thread.v2"
AT = "2021-03-29T03:53:52.035Z"


def by(user: Any) -> dict[str, Any]:
    return {"application": None, "device": None, "user": user}


def said(id_: str, content: str, user: Any = ADA, **more: Any) -> dict[str, Any]:
    return {
        "id": id_, "replyToId": None, "etag": id_, "messageType": "message", "createdDateTime": AT,
        "lastModifiedDateTime": AT, "lastEditedDateTime": None, "deletedDateTime": None,
        "subject": None, "summary": None, "chatId": GROUP, "importance": "normal",
        "locale": "en-us", "webUrl": None, "channelIdentity": None, "policyViolation": None,
        "eventDetail": None, "from": by(user), "body": {"contentType": "html", "content": content},
        "attachments": [], "mentions": [], "reactions": [], **more,
    }  # fmt: skip


def answer(*messages: Any) -> dict[str, Any]:
    """Return the answer of Graph that lists the messages of a chat."""
    return {"@odata.context": "https://x", "@odata.count": len(messages), "value": list(messages)}


def read(path: Path, *messages: Any) -> Opened:
    file = path / "chat.json"
    file.write_text(json.dumps(answer(*messages)))
    return opened(file)


def test_what_was_said_is_kept_without_its_markup(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        said("1", '<div><p>Hi <at id="0">Bob</at>, I <b>moved</b> &amp; sail '
                  '<emoji id="smile" alt="🙂" title="Smile"></emoji></p></div>'),
        said("2", "a < b", BOB, body={"contentType": "text", "content": "a < b"}),
    )  # fmt: skip
    assert (found.formats, found.rejections) == (["teams"], [])
    assert found.texts == ["Hi Bob, I moved & sail 🙂", "a < b"]
    first, second = found.contents
    assert (first.source_id, first.sender_id, first.sender_name) == (
        f"{GROUP}:1", "8ea0e38b", "Ada Low",
    )  # fmt: skip
    assert (first.peer_id, first.peer_kind, first.thread_id) == (GROUP, "group", None)
    assert second.sender_name == "Bob"
    assert found.drafts[0].occurred_at == 1_616_990_032_035


@pytest.mark.parametrize(
    "shape", [list, lambda found: {"chat": {"topic": "Boats"}, "messages": list(found)}]
)
def test_messages_are_found_in_an_array_too(tmp_path: Path, shape: Any) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(shape((said("1", "ahoy"), said("2", "hi", BOB)))))
    found = opened(file)
    assert (found.formats, found.texts) == (["teams"], ["ahoy", "hi"])


def test_a_chat_of_two_and_a_channel_are_what_they_are(tmp_path: Path) -> None:
    two = "19:8ea0e38b_4b82a5c1@unq.gbl.spaces"
    channel = {"teamId": "t", "channelId": "19:abc@thread.tacv2"}
    reply = said("3", "Yes.", BOB, chatId=None, channelIdentity=channel, replyToId="2")
    found = read(
        tmp_path,
        said("1", "psst", chatId=two),
        said("2", "Ship?", chatId=None, channelIdentity=channel, subject="Boats", replies=[reply]),
    )
    dm, root, answered = found.contents
    assert (dm.peer_id, dm.peer_kind) == (two, "dm")
    assert (root.peer_id, root.peer_kind) == ("19:abc@thread.tacv2", "channel")
    assert root.metadata == {"subject": "Boats"}
    assert (answered.thread_id, answered.reply_to) == (root.source_id, root.source_id)


def test_an_answer_names_what_it_answers(tmp_path: Path) -> None:
    preview = json.dumps({"messageId": "1", "messagePreview": "The key is here."})
    reference = {"id": "1", "contentType": "messageReference", "content": preview, "name": None}
    message = said("2", '<attachment id="1"></attachment><p>Thanks</p>', attachments=[reference])
    (content,) = read(tmp_path, message).contents
    assert (content.content, content.reply_to) == ("Thanks", f"{GROUP}:1")
    assert (content.metadata, content.attachments) == ({"quoted": "The key is here."}, ())


def test_edits_deletions_and_reactions_are_what_they_are(tmp_path: Path) -> None:
    like = {"reactionType": "👍", "createdDateTime": "2021-03-29T04:00:00Z", "user": by(BOB)}
    edited, gone = "2021-03-29T03:55:00Z", "2021-03-29T05:00:00Z"
    found = read(
        tmp_path,
        said("1", "The key is there.", lastEditedDateTime=edited, reactions=[like]),
        said("2", "", deletedDateTime=gone),
    )
    edit, reaction, deletion = found.contents
    assert isinstance(edit, Edit)
    assert (edit.content, edit.target) == ("The key is there.", f"{GROUP}:1")
    assert isinstance(reaction, Reaction)
    assert (reaction.sender_id, reaction.content) == ("4b82a5c1", "👍")
    assert isinstance(deletion, Deletion)
    assert deletion.target == f"{GROUP}:2"
    assert found.drafts[2].occurred_at == 1_616_994_000_000


def test_what_is_attached_is_kept(tmp_path: Path) -> None:
    file = {"id": "f", "contentType": "reference", "contentUrl": "https://x/plan.pdf",
            "content": None, "name": "plan.pdf"}  # fmt: skip
    card = {"id": "c", "contentType": "application/vnd.microsoft.card.adaptive", "content": "{}",
            "contentUrl": None, "name": None}  # fmt: skip
    first, second, third = read(
        tmp_path,
        said("1", '<attachment id="f"></attachment>', attachments=[file, card]),
        said("2", '<img src="https://graph/x/$value" width="9">'),
        said("3", ""),
    ).contents
    assert first.attachments == (
        Attachment("file", "plan.pdf", url="https://x/plan.pdf"), Attachment("card"),
    )  # fmt: skip
    assert second.attachments == (Attachment("image", url="https://graph/x/$value"),)
    assert third.attachments == (Attachment("unsupported"),)


def test_what_happens_to_a_chat_is_a_notice(tmp_path: Path) -> None:
    def happened(id_: str, type_: str, **detail: Any) -> Any:
        detail |= {"@odata.type": f"#microsoft.graph.{type_}", "initiator": by(ADA)}
        return said(id_, "<systemEventMessage/>", messageType="systemEventMessage",
                    eventDetail=detail, **{"from": None})  # fmt: skip

    found = read(
        tmp_path,
        happened("1", "membersAddedEventMessageDetail", members=[BOB]),
        happened("2", "chatRenamedEventMessageDetail", chatDisplayName="Boats"),
        happened("3", "callEndedEventMessageDetail", callDuration="PT5M"),
    )
    assert all(isinstance(one, SystemNotice) for one in found.contents)
    assert found.texts == ["members added: Bob", "chat renamed: Boats", "call ended"]
    assert {one.sender_id for one in found.contents} == {"8ea0e38b"}


def test_an_app_is_no_person(tmp_path: Path) -> None:
    app = {"application": {"id": "a1", "displayName": "Deploy Bot"}, "device": None, "user": None}
    (found,) = read(tmp_path, said("1", "failed", **{"from": app})).contents
    assert (found.sender_id, found.direction) == ("a1", "out")


def test_a_malformed_message_is_rejected_alone(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        said("1", "first"),
        said("2", "x", chatId=None),
        said("3", "x", createdDateTime="soon"),
        {**said("4", "x"), "reactions": 7},
        "nothing",
        said("6", "last", **{"from": None}),
    )
    assert found.texts == ["first", "last"]
    assert [one.line for one in found.rejections] == [2, 3, 4, 5]
    assert "chatId" in found.rejections[0].reason
    assert found.contents[1].sender_id == "unknown"


@pytest.mark.parametrize(
    "shape",
    [
        lambda one, two: {"teams": [{"displayName": "Crew", "channels": [
            {"id": "c", "displayName": "General", "messages": [one]},
            {"id": "d", "displayName": "Boats", "messages": [two]}]}]},
        lambda one, two: {"channels": [{"id": "c", "messages": {"value": [one, two]}}]},
        lambda one, two: [{"@odata.nextLink": "https://x/2", "value": [one]}, {"value": [two]}],
        lambda one, two: {"value": [
            {"id": "c", "lastMessagePreview": {"id": "9", "messageType": "message"},
             "messages": [one, two], "messages@odata.nextLink": "https://x/2"}]},
        lambda one, two: {"chats": [{"topic": None, "messages": [one]}],
                          "teams": [{"channels": [{"messages": [two]}]}]},
        lambda one, two: [{**one, "replies": {"value": one["replies"]}}, two],
        lambda one, two: {"value": [one, two], "@odata.nextLink": "https://x/2"},
    ],
)  # fmt: skip
def test_messages_are_found_in_each_chat_and_page(tmp_path: Path, shape: Any) -> None:
    file = tmp_path / "export.json"
    root = {"replies": [said("3", "Yes.", BOB, replyToId="1")], **said("1", "Ship?")}
    file.write_text(json.dumps(shape(root, said("2", "hi"))))
    found = opened(file)
    assert (found.formats, found.rejections) == (["teams"], [])
    assert found.texts == ["Ship?", "Yes.", "hi"]


def test_a_malformed_reply_is_rejected_alone(tmp_path: Path) -> None:
    replies = [
        said("2", "one", BOB, replyToId="1"),
        said("3", "x", replyToId="1", createdDateTime="soon"),
        {**said("4", "x", replyToId="1"), "body": 7},
        None,
        said("5", "two", replyToId="1"),
    ]
    bad_root = said("6", "x", chatId=None, replies=[said("7", "three", replyToId="6")])
    found = read(tmp_path, said("1", "root", replies=replies), bad_root,
                 said("8", "four", replies=7))  # fmt: skip
    assert found.texts == ["root", "one", "two", "three", "four"]
    assert [one.line for one in found.rejections] == [1, 1, 1, 2, 3]


def test_messages_before_a_damage_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    text = json.dumps({"chats": [{"messages": [said("1", "a")]}, {"messages": [said("2", "b")]}]})
    file.write_text(text[:-9])
    found = opened(file)
    assert found.texts == ["a"]
    assert "cut off" in found.rejections[0].reason


def test_importing_again_adds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    like = {"reactionType": "like", "createdDateTime": AT, "user": by(BOB)}
    file.write_text(json.dumps(answer(said("1", "I live in Porto.", reactions=[like]))))
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as found:
        zone = found.zone("ada")
        assert zone.ingest_files(file).new == 2
        again = zone.ingest_files(file)
        assert (again.new, again.duplicate) == (0, 2)
