"""LinkedIn's messages in an account's data archive."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from recollect.schemas.events import Attachment
from tests.adapters.kit import Opened, import_counts, opened, saved

AT = 1_709_640_000_000
COLUMNS = (
    "CONVERSATION ID", "CONVERSATION TITLE", "FROM", "SENDER PROFILE URL", "TO",
    "RECIPIENT PROFILE URLS", "DATE", "SUBJECT", "CONTENT", "FOLDER", "ATTACHMENTS",
    "IS MESSAGE DRAFT",
)  # fmt: skip
ADA, BOB = "https://www.linkedin.com/in/ada-low-1", "https://www.linkedin.com/in/bob"


def sent(text: str, time: str, **more: str) -> dict[str, str]:
    row = {
        "CONVERSATION ID": "2-abc==", "FROM": "Ada Low", "SENDER PROFILE URL": ADA, "TO": "Bob",
        "RECIPIENT PROFILE URLS": BOB, "DATE": f"2024-03-05 {time} UTC", "CONTENT": text,
        "FOLDER": "INBOX", "IS MESSAGE DRAFT": "No",
    }  # fmt: skip
    return {**row, **{key.replace("_", " "): value for key, value in more.items()}}


BY_BOB = {"FROM": "Bob", "SENDER_PROFILE_URL": BOB, "TO": "Ada Low", "RECIPIENT_PROFILE_URLS": ADA}
# The newest first, as in the archive.
MESSAGES = (
    sent("Not yet", "13:00:00", IS_MESSAGE_DRAFT="Yes"),
    sent("", "12:04:00", SUBJECT="A boat", ATTACHMENTS="https://files.example/a https://b"),
    sent("<p>Dear all,</p><p>the key is in the <b>safe</b>.</p>", "12:03:00",
         CONVERSATION_ID="2-group", CONVERSATION_TITLE="Boat club",
         TO="Bob,Carl", RECIPIENT_PROFILE_URLS=f"{BOB},https://www.linkedin.com/in/carl"),
    sent("Nice,\n\"really\" nice", "12:01:00", **BY_BOB),
    sent("I moved to Porto, yes", "12:00:00"),
)  # fmt: skip


def table(*rows: Mapping[str, str]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def read(path: Path, *rows: Mapping[str, str]) -> Opened:
    file = path / "messages.csv"
    file.write_text("\ufeff" + table(*rows), encoding="utf-8")
    return opened(file)


def test_messages_are_kept_from_the_oldest_on_without_drafts(tmp_path: Path) -> None:
    found = read(tmp_path, *MESSAGES)
    assert (found.formats, found.rejections) == (["linkedin"], [])
    assert [(one.sender_id, one.sender_name, one.content) for one in found.contents] == [
        ("ada-low-1", "Ada Low", "I moved to Porto, yes"),
        ("bob", "Bob", 'Nice,\n"really" nice'),
        ("ada-low-1", "Ada Low", "Dear all,\n\nthe key is in the safe."),
        ("ada-low-1", "Ada Low", "A boat"),
    ]
    assert [draft.occurred_at - AT for draft in found.drafts] == [0, 60_000, 180_000, 240_000]
    assert [(one.peer_id, one.peer_kind, one.metadata) for one in found.contents[1:]] == [
        ("2-abc==", "dm", {}),
        ("2-group", "group", {"channel": "Boat club"}),
        ("2-abc==", "dm", {"subject": "A boat"}),
    ]
    assert found.contents[3].attachments == (
        Attachment(type="file", url="https://files.example/a"),
        Attachment(type="file", url="https://b"),
    )


def test_what_is_not_understood_is_rejected_alone(tmp_path: Path) -> None:
    found = read(tmp_path, {**MESSAGES[3], "DATE": "05/03/2024"}, MESSAGES[4])
    assert (len(found.texts), [one.line for one in found.rejections]) == (1, [3])
    assert "'05/03/2024' is not a time" in found.rejections[0].reason


def test_a_later_archive_adds_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / "messages.csv"
    exports = (saved(file, table(*MESSAGES[begin:])) for begin in (3, 0, 0))
    counts = import_counts(tmp_path / "home", exports)
    assert counts == [(2, 0, 0), (2, 2, 0), (0, 4, 0)]
