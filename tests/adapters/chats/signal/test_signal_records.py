"""Chats of Signal as JSON lines: sigexport's `data.json`, alone and beside its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, Edit
from tests.adapters.kit import opened, zipped

QUOTE = "\n\n> Where is\n> the key?\n\n"


def record(at: str, sender: str, body: str, **more: Any) -> dict[str, Any]:
    """Return a message as sigexport's `Message.dict` gives it, in the order of its fields."""
    return {
        "date": f"2024-05-01T10:{at}",
        "sender": sender,
        "body": f"{body}  ",
        "quote": "",
        "sticker": None,
        "reactions": [],
        "attachments": [],
        "deleted": False,
        "call": False,
        "missed": False,
        **more,
    }


def data(*records: Mapping[str, Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


FILE = {"name": "house 1.jpg", "path": "media/house%201.jpg"}
STICKER = {"id": "7", "packId": "p", "packKey": "k", "emoji": "😀", "extension": None}
#: A chat, and the same chat as sigexport writes it into chat.md.
CHAT = (
    record("00:00.123000", "Ada", "The key is in the blue safe.", reactions=[["Me", "👍"]]),
    record("00:01", "Me", "There.\nLook", quote=QUOTE, attachments=[FILE]),
    record("00:02", "Ada", "", sticker=STICKER),
    record("00:03", "Me", "", deleted=True),
    record("00:04", "Ada", "Missed voice call", call=True, missed=True),
    record("00:05", "No-Sender", ""),
    record("00:06.500000", "Ada", "ok"),
    record("00:06.900000", "Ada", "ok"),
    record("00:07", "Ada", "", attachments=[{"name": "", "path": "", "missing_kind": "media"}]),
)
TEXT = f"""[2024-05-01 10:00:00] Ada: The key is in the blue safe.  \n(- Me: 👍 -)

[2024-05-01 10:00:01] Me: {QUOTE}There.\nLook  ![house 1.jpg](./media/house%201.jpg)  \n
[2024-05-01 10:00:02] Ada:   \n(( 😀 ))

[2024-05-01 10:00:03] Me: (This message was deleted)

[2024-05-01 10:00:04] Ada: Missed voice call  \n
[2024-05-01 10:00:05] No-Sender:   \n
[2024-05-01 10:00:06] Ada: ok  \n
[2024-05-01 10:00:06] Ada: ok  \n
[2024-05-01 10:00:07] Ada:   (media not exported)  \n
"""


def chat(path: Path, *records: Mapping[str, Any], name: str = "Ada") -> Path:
    file = path / name / "data.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data(*records), encoding="utf-8")
    return file


def test_what_was_said_is_kept_with_what_belongs_to_it(tmp_path: Path) -> None:
    found = opened(chat(tmp_path, *CHAT), timezone="Europe/Berlin")
    assert (found.formats, found.rejections) == (["signal"], [])
    assert found.texts == [
        "The key is in the blue safe.",
        "There.\nLook",
        "",
        "(This message was deleted)",
        "Missed voice call",
        "(empty)",
        "ok",
        "ok",
        "",
    ]
    assert found.kinds == {"message": 6, "notice": 3}
    first, second, third, deleted, *_, last = found.contents
    assert (first.sender_id, first.peer_id, first.utc_offset) == ("Ada", "Ada", 120)
    assert first.metadata == {"reactions": "Me: 👍"}
    assert second.metadata == {"quoted": "Where is\nthe key?"}
    url = "./media/house%201.jpg"
    assert second.attachments == (Attachment(type="image", name="house 1.jpg", url=url),)
    assert third.attachments == (Attachment(type="sticker", name="😀"),)
    assert deleted.metadata == {"deleted": True}
    assert last.attachments == (Attachment(type="media"),)
    assert len({one.source_id for one in found.contents}) == len(CHAT)


def test_text_of_the_same_chat_gives_the_same_events(tmp_path: Path) -> None:
    path = tmp_path / "Ada" / "chat.md"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    from_text = opened(path, timezone="UTC")
    from_json = opened(chat(tmp_path / "json", *CHAT), timezone="UTC")
    assert from_text.drafts == from_json.drafts


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_each_chat_of_an_export_is_read_once(tmp_path: Path, packed: bool) -> None:
    members = {
        "export/Ada/data.json": data(*CHAT).encode(),
        "export/Ada/chat.md": TEXT.encode(),
        "export/Ada/index.html": b"<html></html>",
        "export/Ada/media/notes.txt": b"12/05/2024, 10:00 - Ada: hi\n",
        "export/Group/data.json": data(record("09:00", "Bob", "Ho")).encode(),
        "export/Group/chat.md": b"[2024-05-01 10:09:00] Bob: Ho  \n\n",
        "export/Old/chat.md": b"[2020-05-01 10:09:00] Eve: Hm  \n\n",
        "export/style.css": b"",
    }
    path = tmp_path / "export.zip"
    if packed:
        path.write_bytes(zipped(members))
    else:
        path = tmp_path
        for name, content in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    found = opened(path, timezone="UTC")
    assert found.formats == ["signal"] * 3
    assert len(found.drafts) == len(CHAT) + 2
    assert {one.peer_id for one in found.contents} == {"Ada", "Group", "Old"}


def test_edits_keep_the_first_text_and_its_id(tmp_path: Path) -> None:
    before = record("00:00.100000", "Ada", "The key is here.")
    versions = [{"date": "2024-05-01T10:00:00.100000", "body": "The key is here."}]
    once = {**before, "body": "The key is there.", "edits": versions}
    versions = [*versions, {"date": "2024-05-01T10:03:00", "body": "The key is there."}]
    twice = {**before, "body": "The key is gone.", "edits": versions}
    first, second, third = (
        opened(chat(tmp_path, one), timezone="UTC") for one in (before, once, twice)
    )
    assert second.drafts[0] == first.drafts[0]
    assert third.drafts[:2] == second.drafts
    assert third.texts == ["The key is here.", "The key is there.", "The key is gone."]
    edit = third.contents[2]
    assert isinstance(edit, Edit)
    assert edit.target == first.contents[0].source_id
    assert third.drafts[2].occurred_at - third.drafts[0].occurred_at == 180_000


def test_a_later_export_adds_only_what_is_new(tmp_path: Path) -> None:
    path = chat(tmp_path, *CHAT[:3])
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as memory:
        zone = memory.zone("ada")
        assert zone.ingest_files(path, timezone="UTC").new == 3
        chat(tmp_path, *CHAT)
        report = zone.ingest_files(path.parent, timezone="UTC")
        assert (report.new, report.duplicate, report.rejected) == (6, 3, 0)
        (path.parent / "data.json").unlink()
        (path.parent / "chat.md").write_text(TEXT, encoding="utf-8")
        report = zone.ingest_files(path.parent, timezone="UTC")
        assert (report.new, report.duplicate, report.rejected) == (0, 9, 0)


def test_broken_lines_are_rejected_by_number(tmp_path: Path) -> None:
    path = chat(tmp_path, CHAT[0])
    with path.open("a") as file:
        file.write('{"date": "2024-05-01T10:00:02", "sen\n\n')
        file.write(data(record("00:03", "Me", "a", reactions=[["Me"]])))
        file.write(data({**CHAT[1], "date": "yesterday"}))
        file.write(data({"sender": "Me"}))
        file.write(data(CHAT[6]))
    found = opened(path, timezone="UTC")
    assert found.texts == ["The key is in the blue safe.", "ok"]
    assert [one.line for one in found.rejections] == [2, 4, 5, 6]
    assert found.rejections[0].reason.startswith("not JSON")
    assert "`date`" in found.rejections[3].reason


def test_a_chat_without_a_time_zone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="`timezone`"):
        opened(chat(tmp_path, *CHAT))
