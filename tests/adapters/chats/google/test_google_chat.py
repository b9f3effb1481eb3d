"""Google Chat's messages in a Takeout."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, Content, Deletion, Edit, Reaction
from recollect.streams.adapters.chats.google.google_dates import parse_google_date
from tests.adapters.kit import opened, zipped

ADA = {"name": "Ada Low", "email": "ada@example.org", "user_type": "Human"}
BOB = {"name": "Bob", "email": "bob@example.org", "user_type": "Human"}
AT = "Thursday, November 3, 2022 at 11:59:50\u202fAM UTC"
LATER = "Thursday, November 3, 2022 at 12:04:00\u202fPM UTC"
FIRST = "DMxyzAAAAE/Top1/Top1"


def sent(text: str | None, own: str = "Top1", topic: str = "Top1", **more: Any) -> dict[str, Any]:
    made = {
        "creator": ADA,
        "created_date": AT,
        "topic_id": topic,
        "message_id": f"DMxyzAAAAE/{topic}/{own}",
        **more,
    }
    return made if text is None else {**made, "text": text}


def takeout(
    path: Path, *messages: Any, folder: str = "DM DMxyzAAAAE", name: str | None = None
) -> Path:
    """Write a Takeout with one chat; return the folder of the chat."""
    chat = path / "Takeout" / "Google Chat" / "Groups" / folder
    chat.mkdir(parents=True, exist_ok=True)
    (chat / "messages.json").write_text(json.dumps({"messages": messages}, indent=2))
    info = {"members": [ADA, BOB], **({"name": name} if name else {})}
    (chat / "group_info.json").write_text(json.dumps(info))
    return chat


def test_what_was_said_is_kept_with_its_ids(tmp_path: Path) -> None:
    chat = takeout(
        tmp_path,
        sent("Where is the key?"),
        sent("In the safe.", "R2", creator=BOB),
        sent("Thanks", "Top3", "Top3", quoted_message_metadata={"creator": BOB, "text": "In …"}),
        folder="Space AAAAxyz",
        name="Boat house",
    )
    (chat / "File-notes.txt").write_text("12/05/2024, 10:00 - Ada: hi\n")
    found = opened(tmp_path)
    assert (found.formats, found.rejections) == (["googlechat"], [])
    assert found.texts == ["Where is the key?", "In the safe.", "Thanks"]
    first, second, third = found.contents
    assert found.drafts[0].platform == "googlechat"
    assert found.drafts[0].occurred_at == 1_667_476_790_000
    assert (first.source_id, first.sender_id, first.sender_name) == (
        FIRST, "ada@example.org", "Ada Low",
    )  # fmt: skip
    assert (first.thread_id, first.reply_to) == (None, None)
    assert (second.thread_id, second.reply_to) == ("Top1", FIRST)
    assert third.metadata == {"channel": "Boat house", "quoted": "In …"}
    assert {(one.peer_id, one.peer_kind, one.direction) for one in found.contents} == {
        ("DMxyzAAAAE", "group", None)
    }


def test_a_quotation_answers_the_message_that_it_quotes(tmp_path: Path) -> None:
    quoted = {"creator": BOB, "text": "In the safe.", "message_id": "DMxyzAAAAE/Top1/R2"}
    takeout(tmp_path, sent("Thanks", "Top3", "Top3", quoted_message_metadata=quoted))
    assert [one.reply_to for one in opened(tmp_path).contents] == ["DMxyzAAAAE/Top1/R2"]


def test_times_in_utc_are_shown_in_the_zone_given(tmp_path: Path) -> None:
    late = "Thursday, November 3, 2022 at 11:30:00\u202fPM UTC"
    takeout(tmp_path, sent("Good night", created_date=late), sent("Hi"))
    found = opened(tmp_path, timezone="Europe/Berlin")
    assert [one.utc_offset for one in found.contents] == [60, 60]
    assert {one.utc_offset for one in opened(tmp_path).contents} == {0}


def test_edits_keep_every_text(tmp_path: Path) -> None:
    versions = [{"created_date": AT, "text": "The key is here."}]
    edited = {
        "creator": ADA, "message_id": FIRST, "topic_id": "Top1", "updated_date": LATER,
        "text": "The key is there.", "previous_message_versions": versions,
    }  # fmt: skip
    before = opened(takeout(tmp_path, sent("The key is here.")))
    after = opened(takeout(tmp_path, edited))
    assert after.texts == ["The key is here.", "The key is there."]
    assert after.drafts[0] == before.drafts[0]
    edit = after.contents[1]
    assert isinstance(edit, Edit)
    assert (edit.target, edit.source_id) == (FIRST, f"{FIRST}:edited:1667477040")
    assert (edit.said_at, after.drafts[1].occurred_at) == (1_667_476_790_000, 1_667_477_040_000)


def test_an_edit_whose_first_text_is_unknown_is_no_message(tmp_path: Path) -> None:
    found = opened(takeout(tmp_path, sent("New", updated_date=LATER)))
    assert found.kinds == {"edit": 1}
    (edit,) = found.contents
    assert isinstance(edit, Edit)
    assert edit.said_at == 1_667_476_790_000


def test_deleted_messages_reactions_and_apps(tmp_path: Path) -> None:
    gone = {
        "creator": BOB, "topic_id": "T2", "message_id": "DMxyzAAAAE/T2/T2",
        "message_state": "DELETED", "deleted_date": LATER,
        "deletion_metadata": {"deletion_type": "CREATOR"},
    }  # fmt: skip
    thumbs = [{"emoji": {"unicode": "👍"}, "reactor_emails": ["bob@example.org", "eve@x.org"]}]
    build = {"name": "Build", "user_type": "Bot"}
    found = opened(
        takeout(tmp_path, gone, sent("Hi", reactions=thumbs), sent("Done", "B", creator=build))
    )
    deletion, hi, *reactions, done = found.contents
    assert isinstance(deletion, Deletion)
    assert (deletion.target, deletion.source_id) == (
        "DMxyzAAAAE/T2/T2", "DMxyzAAAAE/T2/T2:deleted",
    )  # fmt: skip
    assert found.drafts[0].occurred_at == 1_667_477_040_000
    assert [(one.sender_id, one.sender_name, one.content) for one in reactions] == [
        ("bob@example.org", "Bob", "👍"), ("eve@x.org", None, "👍"),
    ]  # fmt: skip
    assert all(isinstance(one, Reaction) and one.target == hi.source_id for one in reactions)
    assert (hi.direction, done.direction, done.sender_id) == (None, "out", "Build")


def linked(**more: Any) -> list[dict[str, Any]]:
    return [{"start_index": 0, "length": 0, **more}]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (
            sent(None, attached_files=[{"export_name": "File-a.png"}, {
                "original_name": "plan.pdf", "export_name": "File-plan(1).pdf"}]),
            (Attachment(type="image", name="a.png"), Attachment(name="plan.pdf")),
        ),
        (
            sent(None, annotations=linked(drive_metadata={"id": "1u", "title": "Budget"})),
            (Attachment(type="link", name="Budget"),),
        ),
        (
            sent(None, annotations=linked(url_metadata={
                "title": "", "url": {"private_do_not": "https://maps.example/x"}})),
            (Attachment(type="link", url="https://maps.example/x"),),
        ),
        (
            sent("https://a.example/x", annotations=linked(
                length=19, url_metadata={"title": "A", "url": {"p": "https://a.example/x"}})),
            (),
        ),
        (sent(None), (Attachment(type="unsupported"),)),
    ],
)  # fmt: skip
def test_what_is_attached_is_kept(
    tmp_path: Path, message: dict[str, Any], kept: tuple[Attachment, ...]
) -> None:
    (content,) = opened(takeout(tmp_path, message)).contents
    assert content.attachments == kept


def test_calls_and_tasks_are_notices(tmp_path: Path) -> None:
    integrations: list[dict[str, Any]] = [
        {"call_data": {"call_status": "CALL_MISSED"}},
        {"tasks_data": {"task_properties": {"title": "Buy rope", "completed": True}}},
        {"calendar_event_data": {"calendar_event": {"title": "Regatta"}}},
    ]
    found = opened(
        takeout(
            tmp_path,
            *(
                sent(None, f"M{n}", annotations=linked(gsuite_integration_metadata=one))
                for n, one in enumerate(integrations)
            ),
        )
    )
    assert found.kinds == {"notice": 3}
    assert found.texts == ["call missed", "completed task: Buy rope", "calendar event: Regatta"]


def test_a_message_without_an_id_is_kept(tmp_path: Path) -> None:
    """Exports from before 2022 have none."""
    old = {"creator": {"name": "Ada Low"}, "created_date": AT, "text": "ok"}
    found = opened(takeout(tmp_path, old, old))
    assert [one.content for one in found.contents] == ["ok", "ok"]
    assert len({one.source_id for one in found.contents}) == 2
    assert {one.peer_id for one in found.contents} == {"DMxyzAAAAE"}


def test_takeout_as_a_zip_gives_the_same(tmp_path: Path) -> None:
    takeout(tmp_path, sent("Hi"), sent("Ho", "R2"))
    files = [path for path in (tmp_path / "Takeout").rglob("*") if path.is_file()]
    members = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in files}
    members["Takeout/archive_browser.html"] = b"<html></html>"
    members["Takeout/Google Chat/Users/User 1/user_info.json"] = b'{"user": {}}'
    path = tmp_path / "takeout-001.zip"
    path.write_bytes(zipped(members))
    from_zip = opened(path)
    assert (from_zip.formats, from_zip.rejections) == (["googlechat"], [])
    assert from_zip.drafts == opened(tmp_path / "Takeout").drafts


def test_a_longer_takeout_adds_only_what_is_new(tmp_path: Path) -> None:
    first = sent("The key is in the safe.")
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as memory:
        zone = memory.zone("ada")
        takeout(tmp_path / "a", first)
        assert zone.ingest_files(tmp_path / "a").new == 1
        takeout(tmp_path / "a", first, sent("Good.", "R2", creator=BOB))
        report = zone.ingest_files(tmp_path / "a")
        assert (report.new, report.duplicate, report.rejected) == (1, 1, 0)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (7, "not as expected"),
        (sent("x", created_date="yesterday"), "'yesterday' is not a date"),
        ({"creator": ADA, "text": "x"}, "no created_date"),
    ],
)
def test_a_broken_message_is_rejected_alone(tmp_path: Path, broken: Any, reason: str) -> None:
    found = opened(takeout(tmp_path, sent("Hi"), broken, sent("Ho", "R2")))
    assert found.texts == ["Hi", "Ho"]
    assert [one.line for one in found.rejections] == [2]
    assert reason in found.rejections[0].reason


def test_a_damaged_group_info_loses_no_message(tmp_path: Path) -> None:
    chat = takeout(tmp_path, sent("Hi"))
    (chat / "group_info.json").write_text('{"members": [')
    found = opened(tmp_path)
    assert found.texts == ["Hi"]
    assert [Path(one.path).name for one in found.rejections] == ["group_info.json"]


@pytest.mark.parametrize(
    "text",
    [
        "Tuesday, March 14, 2023 at 10:41:03 PM UTC",
        "Tuesday, 14 March 2023 at 22:41:03 UTC",
        "Tuesday, March 14, 2023 at 11:41:03\u202fPM GMT+1",
        "Dienstag, 14. März 2023 um 22:41:03 UTC",
        "mardi 14 mars 2023 à 22:41:03 UTC",
        "martes, 14 de marzo de 2023, 22:41:03 UTC",
        "martes, 14 de marzo de 2023, 10:41:03 p.\xa0m. UTC",
        "terça-feira, 14 de março de 2023 às 22:41:03 UTC",
        "dinsdag 14 maart 2023 om 22:41:03 UTC",
        "вторник, 14 марта 2023 г., 22:41:03 UTC",  # noqa: RUF001
        "tirsdag den 14. marts 2023 kl. 22.41.03 UTC",
        "2023-03-14T22:41:03Z",
    ],
)
def test_dates_are_read_as_google_writes_them(text: str) -> None:
    assert parse_google_date(text) == datetime(2023, 3, 14, 22, 41, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "March 14, 2023", "March 14, 2023 at 10:41 PM", "Foo 14, 2023 at 10:41 PM UTC",
     "February 30, 2023 at 10:41 PM UTC", "2023-03-14T22:41:03"],
)  # fmt: skip
def test_a_date_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a date"):
        parse_google_date(text)


def test_every_content_has_a_place(tmp_path: Path) -> None:
    """A file alone is read like its folder."""
    chat = takeout(tmp_path, sent("Hi"))
    alone: list[Content] = opened(chat / "messages.json").contents
    assert [one.source_id for one in alone] == [FIRST]
    assert [(one.peer_id, one.peer_kind) for one in alone] == [("DMxyzAAAAE", "dm")]
