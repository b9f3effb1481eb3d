"""Messages that signal-cli receives, as it prints them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.schemas.events import Attachment, kind_of
from tests.adapters.kit import Opened, import_counts, opened

AT = 1_709_640_000_000
ADA, BOB = "7c3ee3d2-0000-4000-8000-00000000ada0", "0f5e7a11-0000-4000-8000-000000000b0b"
GROUP = {"groupId": "Z3JvdXA=", "groupName": "Boats", "revision": 3, "type": "DELIVER"}


def envelope(second: int, uuid: str, name: str, **more: Any) -> dict[str, Any]:
    at = AT + second * 1000
    return {"envelope": {"source": uuid, "sourceNumber": None, "sourceUuid": uuid,
                         "sourceName": name, "sourceDevice": 1, "timestamp": at,
                         "serverReceivedTimestamp": at, "serverDeliveredTimestamp": at, **more},
            "account": "+4917000000"}  # fmt: skip


def data(second: int, message: str | None, **more: Any) -> dict[str, Any]:
    return {"timestamp": AT + second * 1000, "message": message, "expiresInSeconds": 0,
            "viewOnce": False, **more}  # fmt: skip


def received(second: int, message: str | None, **more: Any) -> dict[str, Any]:
    return envelope(second, BOB, "Bob", dataMessage=data(second, message, **more))


def sent(second: int, message: str | None, **more: Any) -> dict[str, Any]:
    fields = {"destination": BOB, "destinationNumber": None, "destinationUuid": BOB, **more}
    said = {**fields, **data(second, message), **more}
    return envelope(second, ADA, "Ada", syncMessage={"sentMessage": said})


REACTION = {"emoji": "👍", "targetAuthor": BOB, "targetAuthorUuid": BOB,
            "targetSentTimestamp": AT, "isRemove": False}  # fmt: skip
RECORDS = (
    received(0, "I moved to Porto"),
    sent(10, "Nice", quote={"id": AT, "author": BOB, "authorUuid": BOB, "text": "I moved"}),
    envelope(11, BOB, "Bob", receiptMessage={"when": AT, "isDelivery": True}),
    envelope(12, BOB, "Bob", typingMessage={"action": "STARTED", "timestamp": AT}),
    sent(20, None, reaction=REACTION),
    received(30, "\ufffc has the key", groupInfo=GROUP, mentions=[
        {"name": "Carl", "number": None, "uuid": "c", "start": 0, "length": 1}]),
    received(40, None, attachments=[{"contentType": "image/jpeg", "filename": None, "id": "x.jpg",
                                     "size": 5, "caption": "boat"}]),
    envelope(50, BOB, "Bob", editMessage={
        "targetSentTimestamp": AT, "dataMessage": data(50, "I moved to Lisbon")}),
    sent(60, None, remoteDelete={"timestamp": AT + 10_000}),
    sent(70, "Buy milk", destination=ADA, destinationUuid=ADA),
    received(80, None, isExpirationUpdate=True),
)  # fmt: skip


def write(path: Path, *records: Any, rpc: bool = False) -> Path:
    file = path / "signal.jsonl"
    if rpc:
        records = tuple({"jsonrpc": "2.0", "method": "receive", "params": one} for one in records)
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records)
    file.write_text(text, encoding="utf-8")
    return file


def read(path: Path, *records: Any, rpc: bool = False) -> Opened:
    return opened(write(path, *records, rpc=rpc))


def test_messages_of_both_sides_are_kept(tmp_path: Path) -> None:
    found = read(tmp_path, *RECORDS)
    assert (found.formats, found.rejections) == (["signal"], [])
    assert [
        (kind_of(one), one.peer_id, one.sender_id, one.sender_name, one.content)
        for one in found.contents
    ] == [
        ("message", BOB, BOB, "Bob", "I moved to Porto"),
        ("message", BOB, "Me", "Ada", "Nice"),
        ("reaction", BOB, "Me", "Ada", "👍"),
        ("message", "Z3JvdXA=", BOB, "Bob", "@Carl has the key"),
        ("message", BOB, BOB, "Bob", ""),
        ("edit", BOB, BOB, "Bob", "I moved to Lisbon"),
        ("deletion", BOB, "Me", "Ada", ""),
        ("message", "Me", "Me", "Ada", "Buy milk"),
    ]
    first, answer, reaction, in_group, picture, edit, deletion, note = found.contents
    assert first.source_id == f"{BOB}:{BOB}:{AT}"
    assert (answer.reply_to, answer.metadata) == (first.source_id, {"quoted": "I moved"})
    assert (reaction.target, edit.target, deletion.target) == (  # type: ignore[attr-defined]
        first.source_id, first.source_id, answer.source_id,
    )  # fmt: skip
    assert (in_group.peer_kind, in_group.metadata["channel"]) == ("group", "Boats")
    assert picture.attachments == (
        Attachment(type="image", mime_type="image/jpeg", caption="boat", size=5),
    )
    assert [draft.occurred_at - AT for draft in found.drafts] == [
        0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000,
    ]  # fmt: skip
    assert note.peer_kind == "dm"


def test_answers_and_reactions_to_the_owner_point_to_the_owners_messages(tmp_path: Path) -> None:
    by_id = {"targetAuthor": ADA, "targetAuthorUuid": ADA, "targetAuthorNumber": None}
    number = "+4917000000"
    by_number = {"targetAuthor": number, "targetAuthorUuid": None, "targetAuthorNumber": number}
    reactions = [
        {**REACTION, **by, "targetSentTimestamp": AT + 10_000} for by in (by_id, by_number)
    ]
    quote = {"id": AT + 10_000, "author": ADA, "authorUuid": ADA, "text": "Nice"}
    own, to_own, by_other, to_number, answer = read(
        tmp_path,
        sent(10, "Nice"),
        sent(20, None, reaction=reactions[0]),
        received(21, None, reaction=reactions[0]),
        received(22, None, reaction=reactions[1]),
        received(30, "Why?", quote=quote),
    ).contents
    targets = [one.target for one in (to_own, by_other, to_number)]  # type: ignore[attr-defined]
    assert [*targets, answer.reply_to] == 4 * [own.source_id]


def test_notifications_of_json_rpc_give_the_same(tmp_path: Path) -> None:
    assert read(tmp_path, *RECORDS, rpc=True).drafts == read(tmp_path, *RECORDS).drafts


def test_what_is_not_understood_is_rejected_by_line(tmp_path: Path) -> None:
    found = read(tmp_path, RECORDS[0], {"account": "+49"}, received(1, "Hi", timestamp="x"))
    assert (len(found.texts), [one.line for one in found.rejections]) == (1, [2, 3])
    assert found.rejections[0].reason == "the record has no envelope"


def test_a_longer_file_adds_only_what_is_new(tmp_path: Path) -> None:
    exports = (write(tmp_path, *RECORDS[:end]) for end in (6, len(RECORDS), len(RECORDS)))
    counts = import_counts(tmp_path / "home", exports)
    assert counts == [(4, 0, 0), (4, 4, 0), (0, 8, 0)]
