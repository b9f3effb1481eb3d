"""Messages' database: words kept as objects, versions, tapbacks, both clocks, what is beside it."""

from __future__ import annotations

import plistlib
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.events import (
    Attachment,
    Content,
    Deletion,
    Edit,
    Reaction,
    SystemNotice,
)
from tests.adapters.kit import EXPORTS, Opened, opened, zipped

SECONDS = 721_692_800  # since 2001: 2023-11-14T22:13:20Z
AT = 1_700_000_000_000
SCHEMA = """
CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT, service TEXT);
CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, style INTEGER, chat_identifier TEXT);
CREATE TABLE message (ROWID INTEGER PRIMARY KEY, guid TEXT UNIQUE, text TEXT, attributedBody BLOB,
    handle_id INTEGER DEFAULT 0, account TEXT, date INTEGER, is_from_me INTEGER DEFAULT 0,
    item_type INTEGER DEFAULT 0, other_handle INTEGER DEFAULT 0, group_title TEXT,
    group_action_type INTEGER DEFAULT 0, associated_message_guid TEXT, service TEXT,
    associated_message_type INTEGER DEFAULT 0, associated_message_emoji TEXT,
    thread_originator_guid TEXT, date_edited INTEGER, message_summary_info BLOB,
    is_audio_message INTEGER DEFAULT 0);
CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
CREATE TABLE chat_recoverable_message_join (chat_id INTEGER, message_id INTEGER);
CREATE TABLE attachment (ROWID INTEGER PRIMARY KEY, guid TEXT, filename TEXT, mime_type TEXT,
    transfer_name TEXT, total_bytes INTEGER);
CREATE TABLE message_attachment_join (message_id INTEGER, attachment_id INTEGER);
INSERT INTO handle VALUES (1, '+4915112345', 'iMessage'), (2, 'bob@example.org', 'iMessage');
INSERT INTO chat VALUES (1, 'iMessage;-;+4915112345', 45, '+4915112345'),
    (2, 'iMessage;+;chat77', 43, 'chat77');
INSERT INTO attachment VALUES (1, 'a1', '~/Library/Messages/x/plan.pdf', 'application/pdf',
    'plan.pdf', 5);
INSERT INTO message_attachment_join VALUES (5, 1);
"""


def archived(text: str) -> bytes:
    """Return text as Messages keeps it."""

    def counted(number: int) -> bytes:
        return bytes([number]) if number < 0x80 else b"\x81" + number.to_bytes(2, "little")

    raw = text.encode()
    return (
        b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x12NSAttributedString\x00\x84\x84"
        b"\x08NSObject\x00\x85\x92\x84\x84\x84\x08NSString\x01\x94\x84\x01+" + counted(len(raw))
        + raw + b"\x86\x84\x02iI\x01" + counted(len(text))
        + b"\x92\x84\x84\x84\x0cNSDictionary\x00\x94\x84\x01i\x00\x86\x86"
    )  # fmt: skip


def edited(*versions: str) -> bytes:
    entries = [
        {"d": SECONDS + 60.0 * number, "t": archived(words)}
        for number, words in enumerate(versions)
    ]
    return plistlib.dumps({"ec": {"0": entries}}, fmt=plistlib.FMT_BINARY)


ROWS: list[dict[str, Any]] = [
    {"text": "Where do you live?", "handle_id": 1},
    {"attributedBody": archived("I moved to Turin. ü"), "is_from_me": 1, "account": "P:+4917000"},
    {"associated_message_type": 2001, "associated_message_guid": "p:0/g2", "handle_id": 1},
    {"associated_message_type": 3001, "associated_message_guid": "bp:g2", "handle_id": 1},
    {"text": "\ufffcThe plan", "handle_id": 2, "thread_originator_guid": "g1"},
    {"text": "Now Oslo.", "handle_id": 2, "date_edited": SECONDS + 60,
     "message_summary_info": edited("Now Rome.", "Now Oslo.")},
    {"handle_id": 2, "date_edited": SECONDS + 90,
     "message_summary_info": plistlib.dumps({"rp": [0]}, fmt=plistlib.FMT_BINARY)},
    {"item_type": 2, "group_title": "Tea", "handle_id": 2},
    {"item_type": 1, "group_action_type": 0, "other_handle": 2, "is_from_me": 1},
    {"associated_message_type": 2006, "associated_message_guid": "p:0/g1",
     "associated_message_emoji": "🐱", "is_from_me": 1},
    {"text": "Was deleted.", "handle_id": 1},
    {"text": "\ufffd", "is_audio_message": 1, "handle_id": 1},
]  # fmt: skip


def database(path: Path, rows: list[dict[str, Any]] = ROWS, scale: int = 10**9) -> Path:
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as made:
        made.executescript(SCHEMA)
        for number, row in enumerate(rows, 1):
            row = {"guid": f"g{number}", "date": SECONDS, **row}
            for name in ("date", "date_edited"):
                if name in row:
                    row[name] *= scale
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            made.execute(f"INSERT INTO message ({names}) VALUES ({marks})", list(row.values()))
            group = 2 if row.get("handle_id") == 2 else 1
            made.execute("INSERT INTO chat_message_join VALUES (?, ?)", (group, number))
        made.execute("INSERT INTO chat_recoverable_message_join VALUES (1, 11)")
    made.close()
    return path


def by_id(found: Opened) -> dict[str, Content]:
    return {content.source_id: content for content in found.contents}


@pytest.fixture
def found(tmp_path: Path) -> Opened:
    return opened(database(tmp_path / "chat.db"))


def test_messages_say_who_said_what_when(found):
    assert found.formats == ["imessage"]
    assert not found.rejections
    assert found.kinds == {"message": 5, "reaction": 2, "notice": 3, "edit": 1, "deletion": 2}
    contents = by_id(found)
    asked, moved = contents["g1"], contents["g2"]
    assert (asked.sender_id, asked.peer_id, asked.peer_kind) == ("+4915112345", "+4915112345", "dm")
    # The owner's own words are a person's, and no assistant's.
    assert (moved.content, moved.sender_id, moved.direction) == (
        "I moved to Turin. ü", "+4917000", None,
    )  # fmt: skip
    assert contents["g10"].sender_id == "+4917000"
    assert {draft.occurred_at for draft in found.drafts} == {AT, AT + 60_000, AT + 90_000}


def test_files_answers_tapbacks_and_what_happened(found):
    contents = by_id(found)
    plan = contents["g5"]
    assert (plan.content, plan.reply_to, plan.thread_id) == ("The plan", "g1", "g1")
    assert (plan.peer_id, plan.peer_kind) == ("chat77", "group")
    assert plan.attachments == (
        Attachment(type="file", name="plan.pdf", mime_type="application/pdf", size=5),
    )
    assert contents["g12"].attachments == (Attachment(type="audio"),)
    liked, cat = contents["g3"], contents["g10"]
    assert isinstance(liked, Reaction)
    assert isinstance(cat, Reaction)
    assert (liked.target, liked.content, cat.target, cat.content) == ("g2", "👍", "g1", "🐱")
    assert [contents[id_].content for id_ in ("g4", "g8", "g9")] == [
        "took 👍 back", "named the chat Tea", "added bob@example.org"
    ]  # fmt: skip


def test_versions_are_told_apart_and_what_was_taken_back_is_deleted(found):
    contents = by_id(found)
    edit = contents[f"g6:edited:{AT + 60_000}"]
    assert isinstance(edit, Edit)
    assert (contents["g6"].content, edit.content, edit.target) == ("Now Rome.", "Now Oslo.", "g6")
    assert {c.target for c in contents.values() if isinstance(c, Deletion)} == {"g7", "g11"}
    assert not {"g7", "g11"} & set(contents)


def test_of_a_message_whose_versions_are_not_known_the_last_words_are_an_edit(tmp_path):
    row = {"text": "Now Oslo.", "handle_id": 1, "date_edited": SECONDS + 60}
    (edit,) = opened(database(tmp_path / "chat.db", [row])).contents
    assert isinstance(edit, Edit)
    assert (edit.target, edit.said_at) == ("g1", AT)


def test_an_answer_is_told_by_its_type(tmp_path):
    told = {1000: "sticker", 2000: "❤️", 2007: "sticker", 3005: "took ❓ back",
            3006: "took 🐱 back", 4000: "an answer of type 4000"}  # fmt: skip
    rows = [
        {"associated_message_type": type_, "associated_message_guid": "p:0/g9", "handle_id": 1,
         "associated_message_emoji": "🐱" if type_ == 3006 else None}
        for type_ in told
    ]  # fmt: skip
    contents = opened(database(tmp_path / "chat.db", rows)).contents
    assert [content.content for content in contents] == list(told.values())
    assert [isinstance(content, Reaction) for content in contents] == [True] * 3 + [False] * 3


def test_a_tapback_that_came_as_a_text_says_nothing_of_its_sender(tmp_path):
    texts = ["Liked “I moved to Turin.”", "Reacted 🐱 to “Tea\nat five”", "Loved an image",
             "Removed a heart from “Tea”", "Liked “Tea” and cake", "Loved the image"]  # fmt: skip
    rows = [{"text": text, "service": "SMS", "handle_id": 1} for text in texts]
    rows.append({"text": texts[0], "service": "iMessage", "handle_id": 1})
    contents = opened(database(tmp_path / "chat.db", rows)).contents
    assert [content.content for content in contents] == [*texts, texts[0]]
    assert [isinstance(content, SystemNotice) for content in contents] == [True] * 4 + [False] * 3


def test_older_databases_count_seconds(tmp_path):
    found = opened(database(tmp_path / "chat.db", ROWS[:1], scale=1))
    assert [draft.occurred_at for draft in found.drafts] == [AT]


def test_words_are_found_without_the_library_too(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "typedstream", None)
    rows = [{"attributedBody": archived(text), "handle_id": 1} for text in ("Hi ü", "ü" * 300)]
    assert opened(database(tmp_path / "chat.db", rows)).texts == ["Hi ü", "ü" * 300]


def test_what_is_only_in_the_file_beside_the_database_is_read_and_nothing_is_written(tmp_path):
    path = database(tmp_path / "chat.db", ROWS[:1])
    live = sqlite3.connect(path)
    live.execute("PRAGMA journal_mode = WAL")
    live.execute(
        "INSERT INTO message (guid, text, handle_id, date) VALUES ('g2', 'New.', 1, ?)",
        (SECONDS * 10**9,),
    )
    live.execute("INSERT INTO chat_message_join VALUES (1, 2)")
    live.commit()
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("chat.db", "chat.db-wal"):
        shutil.copy(tmp_path / name, copied / name)
    live.close()
    before = {file.name: file.read_bytes() for file in copied.iterdir()}
    assert opened(copied / "chat.db").texts == ["Where do you live?", "New."]
    assert opened(copied).texts == ["Where do you live?", "New."]
    assert {file.name: file.read_bytes() for file in copied.iterdir()} == before
    path = tmp_path / "messages.zip"
    path.write_bytes(zipped(before))
    assert opened(path).texts == ["Where do you live?", "New."]


def test_a_database_that_grew_or_comes_twice_adds_only_what_is_new(tmp_path):
    begun = {
        (c.source_id, c.content) for c in opened(database(tmp_path / "a.db", ROWS[:6])).contents
    }
    whole = opened(database(tmp_path / "a.db"))
    assert begun < {(c.source_id, c.content) for c in whole.contents}


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_damaged_database_is_refused_by_name(tmp_path, share):
    raw = database(tmp_path / "chat.db").read_bytes()
    path = tmp_path / "cut.db"
    path.write_bytes(raw[: int(len(raw) * share)])
    assert opened(path, "imessage").rejections
    path.write_bytes(raw[: int(len(raw) * share)] + b"\xff" * 3_000)
    opened(path, "imessage")


REAL = EXPORTS / "imessage" / "macos-ts"


@pytest.mark.skipif(not REAL.is_dir(), reason="real exports are not at hand")
def test_a_real_database_is_read():
    found = opened(REAL / "chat.db")
    assert found.kinds == {"message": 15}
    assert not found.rejections
    assert found.texts[5] == "Check out this cool project!"
    assert {c.peer_kind for c in found.contents} == {"dm", "group"}
    assert by_id(found)["msg-guid-13"].reply_to == "msg-guid-10"
    assert found.contents[8].attachments[0].name == "screenshot.png"


CARDS = """BEGIN:VCARD
VERSION:3.0
FN:Cleo Ray
ORG:Initech;
item1.TEL;type=CELL:0151 12345
END:VCARD
BEGIN:VCARD
VERSION:3.0
FN:Bob Osei
EMAIL;type=HOME:Bob@Example.org
END:VCARD
"""


@pytest.mark.parametrize("whole_folder", [True, False])
def test_an_address_book_beside_it_gives_names(tmp_path, whole_folder):
    path = database(tmp_path / "chat.db", [
        {"text": "Hi.", "handle_id": 1}, {"text": "Ho.", "handle_id": 2},
        {"text": "I.", "is_from_me": 1},
    ])  # fmt: skip
    (tmp_path / "contacts.vcf").write_text(CARDS)
    found = opened(tmp_path if whole_folder else path)
    assert found.rejections == []
    assert [one.sender_name for one in found.contents] == ["Cleo Ray", "Bob Osei", None]
    assert found.contents[0].sender_id == "+4915112345"


def test_apples_own_address_book_is_read_and_a_broken_one_loses_nothing(tmp_path):
    database(tmp_path / "chat.db", [
        {"text": "Hi.", "handle_id": 1}, {"text": "Ho.", "handle_id": 2},
    ])  # fmt: skip
    book = sqlite3.connect(tmp_path / "AddressBook-v22.abcddb")
    book.executescript("""
        CREATE TABLE ZABCDRECORD (Z_PK INTEGER PRIMARY KEY, ZFIRSTNAME, ZLASTNAME, ZORGANIZATION);
        CREATE TABLE ZABCDPHONENUMBER (ZOWNER INTEGER, ZFULLNUMBER TEXT);
        CREATE TABLE ZABCDEMAILADDRESS (ZOWNER INTEGER, ZADDRESS TEXT);
        INSERT INTO ZABCDRECORD VALUES (1, 'Cleo', 'Ray', NULL), (2, NULL, NULL, 'Initech');
        INSERT INTO ZABCDRECORD VALUES (3, 'Bo', NULL, NULL);
        INSERT INTO ZABCDPHONENUMBER VALUES (1, '+49 (151) 12345');
        INSERT INTO ZABCDEMAILADDRESS VALUES (2, 'BOB@example.org'), (3, 'bob@example.org');
    """)
    book.commit()
    book.close()
    found = opened(tmp_path)
    # Of an address that several have nobody knows who it was.
    assert [one.sender_name for one in found.contents] == ["Cleo Ray", None]
    (tmp_path / "broken.abcddb").write_bytes(b"no database")
    found = opened(tmp_path)
    assert [one.sender_name for one in found.contents] == ["Cleo Ray", None]
    assert [one.path.rpartition("/")[2] for one in found.rejections] == ["broken.abcddb"]
