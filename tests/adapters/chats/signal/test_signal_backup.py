"""The export of the Signal app: frames of its backup as JSON lines."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Deletion, Edit, Message, Reaction
from tests.adapters.kit import Opened, opened, zipped

ADA = "6a1fa2e5-3b0b-4ac3-9b2a-51a9f4f3d001"
AT = 1_767_225_600_000


def key(uuid: str) -> str:
    return b64encode(UUID(uuid).bytes).decode()


FRAMES: list[dict[str, Any]] = [
    {"version": "1", "backupTimeMs": str(AT), "mediaRootBackupKey": "AAAA"},
    {"account": {"givenName": "Bob", "familyName": "Low", "accountSettings": {}}},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {
        "aci": key(ADA), "e164": "447700900123", "profileGivenName": "Ada"}}},
    {"recipient": {"id": "3", "group": {
        "masterKey": "c2VjcmV0", "snapshot": {"title": {"title": "Boats"}}}}},
    {"recipient": {"id": "4", "distributionList": {"distributionId": "AAAA"}}},
    {"chat": {"id": "10", "recipientId": "2"}},
    {"chat": {"id": "11", "recipientId": "3"}},
]  # fmt: skip


def item(at: int, author: int = 2, chat: int = 10, **content: Any) -> dict[str, Any]:
    fields = {"chatId": str(chat), "authorId": str(author), "dateSent": str(AT + at)}
    return {"chatItem": {**fields, "incoming": {}, **content}}


def text(body: str, **more: Any) -> dict[str, Any]:
    return {"standardMessage": {"text": {"body": body}, **more}}


def export(path: Path, *items: dict[str, Any]) -> Path:
    file = path / "signal-export" / "main.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in (*FRAMES, *items)))
    return file


def read(path: Path, *items: dict[str, Any]) -> Opened:
    return opened(export(path, *items))


def test_what_was_said_is_kept_with_who_said_it_and_where(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        item(1, **text("The key is in the safe.")),
        item(
            2, 1, **text("Thanks", quote={
                "authorId": "2", "targetSentTimestamp": str(AT + 1), "text": {"body": "The key"}}),
        ),
        item(3, chat=11, **text("Ahoy")),
    )  # fmt: skip
    assert (found.formats, found.rejections) == (["signal"], [])
    assert found.texts == ["The key is in the safe.", "Thanks", "Ahoy"]
    first, reply, third = found.contents
    assert (first.source_id, first.sender_id, first.sender_name) == (
        f"{ADA}:{ADA}:{AT + 1}",
        ADA,
        "Ada",
    )
    assert (first.peer_id, first.peer_kind, found.drafts[0].occurred_at) == (ADA, "dm", AT + 1)
    assert (reply.sender_id, reply.sender_name) == ("Me", "Bob Low")
    assert (reply.reply_to, reply.metadata) == (first.source_id, {"quoted": "The key"})
    assert (third.peer_kind, third.metadata) == ("group", {"channel": "Boats"})
    assert "secret" not in str(third.peer_id)


def test_edits_deletions_and_reactions_are_what_they_are(tmp_path: Path) -> None:
    revision = item(1, **text("The key is here."))["chatItem"]
    found = read(
        tmp_path,
        item(
            9, revisions=[revision], **text("The key is there.", reactions=[
                {"emoji": "👍", "authorId": "1", "sentTimestamp": str(AT + 20)}]),
        ),
        item(5, remoteDeletedMessage={}),
    )  # fmt: skip
    first, edit, thumb, gone = found.contents
    assert isinstance(first, Message)
    assert isinstance(edit, Edit)
    assert isinstance(thumb, Reaction)
    assert isinstance(gone, Deletion)
    assert first.source_id == f"{ADA}:{ADA}:{AT + 1}"
    assert edit.target == thumb.target == first.source_id
    assert (edit.content, found.drafts[1].occurred_at) == ("The key is there.", AT + 9)
    assert (thumb.sender_id, thumb.content) == ("Me", "👍")
    assert gone.target == f"{ADA}:{ADA}:{AT + 5}"


def test_mentions_are_written_out_by_their_place_in_utf_16(tmp_path: Path) -> None:
    ranges = [{"start": 3, "length": 1, "mentionAci": key(ADA)}, {"length": 2, "style": "BOLD"}]
    body = {"body": "😀 \ufffc, look", "bodyRanges": ranges}
    (content,) = read(tmp_path, item(1, standardMessage={"text": body})).contents
    assert content.content == "😀 @Ada, look"
    assert content.metadata["mentions"] == [{"start": 2, "end": 6, "id": ADA}]


def test_what_is_attached_is_kept(tmp_path: Path) -> None:
    picture = {"pointer": {"contentType": "image/jpeg", "fileName": "a.jpg"}, "flag": "NONE"}
    found = read(
        tmp_path,
        item(1, standardMessage={"attachments": [picture]}),
        item(2, stickerMessage={"sticker": {"emoji": "⛵"}}),
        item(3, contactMessage={"contact": {"name": {"givenName": "Eve"}, "number": [
            {"value": "+44 1"}]}}),
        item(4, poll={"question": "Where?", "options": [{"option": "Porto"}, {"option": "Faro"}]}),
        item(5, viewOnceMessage={}),
    )  # fmt: skip
    assert [one.attachments[0] for one in found.contents] == [
        Attachment(type="image", name="a.jpg", mime_type="image/jpeg"),
        Attachment(type="sticker", name="⛵"),
        Attachment(type="contact", name="Eve +44 1"),
        Attachment(type="poll", caption="Porto / Faro"),
        Attachment(type="unsupported"),
    ]
    assert found.texts[3] == "Where?"


def test_calls_and_changes_are_notices(tmp_path: Path) -> None:
    updates: list[dict[str, Any]] = [
        {"individualCall": {"type": "AUDIO_CALL", "direction": "INCOMING", "state": "MISSED"}},
        {"groupChange": {"updates": [{"groupNameUpdate": {"newGroupName": "Boats"}}]}},
        {"profileChange": {"previousName": "Ada", "newName": "Ada L."}},
    ]
    found = read(
        tmp_path, *(item(n, updateMessage=one, directionless={}) for n, one in enumerate(updates))
    )
    assert found.kinds == {"notice": 3}
    assert found.texts == [
        "individual call: audio call, incoming, missed",
        "group change: group name update, Boats",
        "profile change: Ada, Ada L.",
    ]


def test_a_later_export_adds_only_what_is_new(tmp_path: Path) -> None:
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as memory:
        zone = memory.zone("ada")
        assert zone.ingest_files(export(tmp_path, item(1, **text("a")))).new == 1
        revised = item(9, revisions=[item(1, **text("a"))["chatItem"]], **text("b"))
        report = zone.ingest_files(export(tmp_path, revised, item(3, 1, **text("c"))))
        assert (report.new, report.duplicate, report.rejected) == (2, 1, 0)


def test_a_zip_is_read_without_its_attached_files(tmp_path: Path) -> None:
    file = export(tmp_path, item(1, **text("a")))
    path = tmp_path / "export.zip"
    members = {
        "signal-export/main.jsonl": file.read_bytes(),
        "signal-export/metadata.json": b'{"version": 1}',
        "signal-export/files/00/00ab.txt": b"12/05/2024, 10:00 - Ada: hi\n",
    }
    path.write_bytes(zipped(members))
    found = opened(path)
    assert (found.formats, found.texts) == (["signal"], ["a"])


def test_a_broken_frame_is_rejected_alone(tmp_path: Path) -> None:
    file = export(tmp_path, item(1, **text("a")), item(2, 77, **text("b")))
    with file.open("a") as opened_file:
        opened_file.write('{"chatItem": {"chat\n')
        opened_file.write(json.dumps({"chatItem": {"chatId": "10", "authorId": "2"}}) + "\n")
        opened_file.write(json.dumps(item(3, **text("c"))) + "\n")
    found = opened(file)
    assert found.texts == ["a", "c"]
    first = len(FRAMES) + 2
    assert [one.line for one in found.rejections] == [first, first + 1, first + 2]
    assert "recipient 77" in found.rejections[0].reason


def test_what_is_sent_to_two_chats_at_the_same_time_is_kept_in_both(tmp_path: Path) -> None:
    file = export(tmp_path, item(1, 1, **text("Ahoy")), item(1, 1, chat=11, **text("Ahoy")))
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as memory:
        zone = memory.zone("bob")
        assert zone.ingest_files(file).new == 2
        again = zone.ingest_files(file)
        assert (again.new, again.duplicate, again.rejected) == (0, 2, 0)


@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], {}, ["x"], 2**70])
def test_a_value_of_another_type_rejects_its_event_alone(tmp_path: Path, value: Any) -> None:
    reaction = {"emoji": value, "authorId": "1", "sentTimestamp": str(AT + 20)}
    file = export(
        tmp_path,
        item(1, **text("a", reactions=[reaction])),
        {"chatItem": value},
        item(3, **text("c")),
    )
    found = opened(file)
    assert found.texts == ["a", "c"]
    first = len(FRAMES) + 1
    assert [one.line for one in found.rejections] == [first, first + 1]
