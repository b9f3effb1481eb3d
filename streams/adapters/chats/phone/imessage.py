"""Apple's Messages: the database of a Mac or an iPhone, or a chat of it as text."""

from __future__ import annotations

import plistlib
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
)
from recollect.streams.adapters.chats.phone.address_book import AddressBook, read_address_books
from recollect.streams.adapters.chats.phone.imessage_text import is_text, open_text
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.databases import SQLITE, WAL, opened_copy, write_ahead_log
from recollect.streams.adapters.input.folders import Directory, Folder
from recollect.streams.adapters.input.input_files import ByteCounter, InputEntry, InputFile

_PLATFORM = "imessage"
_NAMES = ("chat.db", "sms.db")
#: Apple's epoch, 2001, in unix milliseconds.
_EPOCH = 978_307_200_000
# Larger times are nanoseconds, which Messages has stored since 2017. As seconds, they would be
# after the year 5138.
_MAX_SECONDS = 100_000_000_000
_DM = 45
_OBJECT_REPLACEMENT = "\ufffc"
_TAPBACKS = {0: "❤️", 1: "👍", 2: "👎", 3: "😂", 4: "‼️", 5: "❓"}
# The first types of answers: stickers that were put on a message, tapbacks, and their removals.
_STICKER, _TAPBACK, _REMOVAL, _OTHERS = 1000, 2000, 3000, 4000
_TEXT_SERVICES = frozenset({"SMS", "RCS"})
#: A tapback that came as text, since the conversation was not over iMessage; it repeats the words
#: of the message that it is about.
TAPBACK_AS_TEXT = re.compile(
    r"(?:Loved|Liked|Disliked|Laughed at|Emphasi[sz]ed|Questioned|Reacted \S{1,16} to"
    r"|Removed an? [\w ]{3,40} from) (?:“.*”|an? [a-z ]{3,20})",
    re.DOTALL,
)
_TARGET = re.compile(r"^(?:p:\d+/|bp:)?(.+)$")
# The columns that are read, in the order of the query; those that older versions lack are NULL.
_COLUMNS = (
    *("ROWID", "guid", "text", "attributedBody", "subject", "service", "date", "is_from_me"),
    *("item_type", "group_title", "group_action_type", "associated_message_guid"),
    *("associated_message_type", "associated_message_emoji", "thread_originator_guid"),
    *("date_edited", "message_summary_info", "balloon_bundle_id", "is_audio_message"),
)


def _is_database(start: bytes, name: str) -> bool:
    if not start.startswith(SQLITE):
        return False
    return b"chat_message_join" in start or name.casefold() in _NAMES


def _is_folder(folder: Folder) -> bool:
    return any(
        _is_database(folder.file(name).start(), name)
        for name in folder.files()
        if name.casefold() in _NAMES
    )


class _Messages(ExportSource):
    """A Messages database with its write-ahead log."""

    def __init__(self, database: InputEntry, wal: InputEntry | None, folder: Folder | None) -> None:
        self._database = database
        self._wal = wal
        self._folder = folder
        self._book = AddressBook()

    def parts(self) -> Iterator[ExportFile]:
        if self._folder is not None:
            self._book = read_address_books(self._folder)
        for path, error in self._book.damaged:
            yield ExportFile(path, iter([(1, error)]))
        yield ExportFile(self._database.path, self._parse())

    def _parse(self) -> Iterator[tuple[int, ParseResult]]:
        with opened_copy(self._database, self._wal, "a Messages database") as database:
            reader = _RowConverter(database, self._book)
            yield from convert(reader.rows(), reader.events)


class _Chat:
    def __init__(self, row: sqlite3.Row) -> None:
        self.id = str(row["chat_identifier"] or row["guid"])
        self.kind: PeerKind = "dm" if row["style"] == _DM else "group"
        title = row["display_name"] if "display_name" in row.keys() else None  # noqa: SIM118
        self.metadata: dict[str, Any] = {"channel": str(title)} if title else {}


class _RowConverter:
    """Converts the rows of a database to events."""

    def __init__(self, database: sqlite3.Connection, book: AddressBook) -> None:
        self._database = database
        self._book = book
        self._chats = {
            row["ROWID"]: _Chat(row) for row in database.execute("SELECT ROWID, * FROM chat")
        }
        self._tables = {
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        self._columns = {row[1] for row in database.execute("PRAGMA table_info(message)")}
        self._owner = self._account()

    def _account(self) -> str:
        """Return the owner's first account, as the sender of all their messages."""
        for column in ("account", "destination_caller_id"):
            if column in self._columns:
                row = self._database.execute(
                    f"SELECT {column} FROM message WHERE is_from_me = 1 AND "
                    f"length({column}) > 2 ORDER BY ROWID LIMIT 1"
                ).fetchone()
                if row is not None:
                    return re.sub(r"^[a-zA-Z]:", "", str(row[0])) or "me"
        return "me"

    def rows(self) -> Iterator[tuple[int, sqlite3.Row]]:
        columns = ", ".join(
            f"m.{one} AS {one}" if one == "ROWID" or one in self._columns else f"NULL AS {one}"
            for one in _COLUMNS
        )
        deleted = (
            "(SELECT 1 FROM chat_recoverable_message_join r WHERE r.message_id = m.ROWID)"
            if "chat_recoverable_message_join" in self._tables
            else "NULL"
        )
        other = "m.other_handle" if "other_handle" in self._columns else "NULL"
        query = (
            f"SELECT {columns}, h.id AS handle, o.id AS other, {deleted} AS deleted, "
            "(SELECT min(j.chat_id) FROM chat_message_join j WHERE j.message_id = m.ROWID) AS chat "
            "FROM message m LEFT JOIN handle h ON h.ROWID = m.handle_id "
            f"LEFT JOIN handle o ON o.ROWID = {other} ORDER BY m.ROWID"
        )
        for row in self._database.execute(query):
            yield row["ROWID"], row

    def events(self, row: sqlite3.Row) -> Iterator[InboundEvent]:
        """Yield the events of a row: a message with its edits, a tapback, or a notice."""
        guid, at = str(row["guid"]), _parse_time(row["date"])
        chat = self._chats.get(row["chat"])
        sender = self._owner if row["is_from_me"] else str(row["handle"] or "")
        if not sender:
            sender = chat.id if chat is not None else "unknown"
        common: dict[str, Any] = {
            "platform": _PLATFORM,
            "sender_id": sender,
            "sender_name": self._book.name_of(sender),
            "peer_id": chat.id if chat is not None else row["handle"],
            "peer_kind": chat.kind if chat is not None else None,
            "metadata": chat.metadata if chat is not None else {},
        }
        if row["deleted"]:
            yield self._deletion(common, guid, at)
        elif row["item_type"]:
            yield InboundEvent(
                **common, kind="notice", id=guid, occurred_at=at, content=_notice_text(row)
            )
        elif (row["associated_message_type"] or 0) >= _STICKER:
            yield _tapback(row, common, guid, at)
        else:
            yield from self._messages(row, common, guid, at)

    def _messages(
        self, row: sqlite3.Row, common: dict[str, Any], guid: str, at: int
    ) -> Iterator[InboundEvent]:
        text = _plain(row["text"] or text_of(row["attributedBody"]))
        files = tuple(self._files(row))
        if row["service"] in _TEXT_SERVICES and TAPBACK_AS_TEXT.fullmatch(text):
            yield InboundEvent(**common, kind="notice", id=guid, occurred_at=at, content=text)
            return
        summary = _summary(row["message_summary_info"])
        edited = _parse_time(row["date_edited"]) if row["date_edited"] else None
        if edited is not None and summary.get("rp") and not text and not files:
            yield self._deletion(common, guid, edited)
            return
        if not text and not files:
            files = (Attachment(type=_type_without_text(row)),)
        if row["subject"]:
            common["metadata"] = {**common["metadata"], "subject": str(row["subject"])}
        if originator := row["thread_originator_guid"]:
            common |= {"reply_to": str(originator), "thread_id": str(originator)}
        common["attachments"] = files
        versions = _versions(summary)
        if edited is None:
            yield InboundEvent(**common, id=guid, occurred_at=at, content=text)
            return
        if versions:
            yield InboundEvent(**common, id=guid, occurred_at=at, content=versions[0][1])
        for when, words in versions[1:] or [(edited, text)]:
            yield InboundEvent(
                **common,
                kind="edit",
                id=f"{guid}:edited:{when}",
                target=guid,
                occurred_at=when,
                said_at=at,
                content=words,
            )

    def _deletion(self, common: Mapping[str, Any], guid: str, at: int) -> InboundEvent:
        return InboundEvent(
            **common, kind="deletion", id=f"{guid}:deleted", target=guid, occurred_at=at, content=""
        )

    def _files(self, row: sqlite3.Row) -> Iterator[Attachment]:
        if "message_attachment_join" not in self._tables:
            return
        for one in self._database.execute(
            "SELECT a.* FROM attachment a JOIN message_attachment_join j "
            "ON a.ROWID = j.attachment_id WHERE j.message_id = ? ORDER BY a.ROWID",
            (row["ROWID"],),
        ):
            file = dict(one)
            mime = str(file.get("mime_type") or "")
            family = mime.partition("/")[0]
            name = file.get("transfer_name") or file.get("filename") or None
            if str(name or "").endswith(".pluginPayloadAttachment"):
                # It is a link preview, not a file that was sent.
                continue
            if row["is_audio_message"]:
                family = "audio"
            yield Attachment(
                type=family if family in ("image", "audio", "video") else "file",
                name=str(name).rpartition("/")[2] if name else None,
                mime_type=mime or None,
                size=file.get("total_bytes") or None,
            )


def _parse_time(value: object) -> int:
    """Return an Apple time in unix ms."""
    if not isinstance(value, int | float) or not value:
        raise InvalidInput("the row has no timestamp")
    if abs(value) > _MAX_SECONDS:
        return round(value / 1_000_000) + _EPOCH
    return round(value * 1000) + _EPOCH


def _plain(text: str) -> str:
    """Return a text without placeholders for objects."""
    text = text.replace(_OBJECT_REPLACEMENT, "").replace("\x00", "").strip()
    return "" if text == "\ufffd" else text


def _type_without_text(row: sqlite3.Row) -> str:
    if row["is_audio_message"]:
        return "audio"
    return "app" if row["balloon_bundle_id"] else "unsupported"


def _tapback(row: sqlite3.Row, common: Mapping[str, Any], guid: str, at: int) -> InboundEvent:
    kind = int(row["associated_message_type"])
    target = _TARGET.match(str(row["associated_message_guid"] or ""))
    if target is None:
        raise InvalidInput("a reaction without a target message")
    shown = "sticker"
    if kind >= _OTHERS:
        # Such as a vote.
        shown = f"an answer of type {kind}"
    elif kind >= _TAPBACK:
        shown = _TAPBACKS.get(kind % 1000) or str(row["associated_message_emoji"] or shown)
    if _REMOVAL <= kind < _OTHERS:
        shown = f"took {shown} back"
    return InboundEvent(
        **common,
        kind="notice" if kind >= _REMOVAL else "reaction",
        id=guid,
        occurred_at=at,
        target=target.group(1),
        content=shown,
    )


def _notice_text(row: sqlite3.Row) -> str:
    """Return the text of the notice in a row."""
    other, action = row["other"] or "somebody", row["group_action_type"]
    kind = row["item_type"]
    if kind == 1:
        return f"removed {other}" if action else f"added {other}"
    if kind == 2:
        title = row["group_title"]
        return f"named the chat {title}" if title else "took the chat's name away"
    if kind == 3:
        return "changed the chat's picture" if action else "left the chat"
    return {4: "shared a location", 5: "kept an audio message", 6: "called"}.get(
        kind, f"an item of type {kind}"
    )


def _summary(raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, bytes):
        return {}
    try:
        found = plistlib.loads(raw)
    except Exception:
        # The format is undocumented and used only for edits; without it, the last version remains.
        return {}
    return found if isinstance(found, dict) else {}


def _versions(summary: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return (time, text) of the versions of an edited message with one part, oldest first."""
    parts = summary.get("ec")
    if not isinstance(parts, dict) or len(parts) != 1:
        return []
    versions: list[tuple[int, str]] = []
    for version in next(iter(parts.values())):
        words = _plain(text_of(version.get("t"))) if isinstance(version, dict) else ""
        if not words or not version.get("d"):
            return []
        versions.append((_parse_time(version["d"]), words))
    return versions if len(versions) > 1 else []


def text_of(raw: object) -> str:
    """Return the text of a typedstream, the format of Messages for styled text."""
    if not isinstance(raw, bytes) or not raw:
        return ""
    try:
        import typedstream

        archive = typedstream.unarchive_from_data(raw)
        return str(archive.contents[0].value.value)
    except Exception:
        # The package is not installed, or does not know the stream. Its first string is the text.
        return _first_string(raw)


def _first_string(raw: bytes) -> str:
    at = raw.find(b"+", max(raw.find(b"NSString"), 0))
    if b"NSString" not in raw or at < 0 or at + 2 > len(raw):
        return ""
    size, begins = raw[at + 1], at + 2
    for mark, width in ((0x81, 2), (0x82, 4)):
        if size == mark:
            size = int.from_bytes(raw[begins : begins + width], "little")
            begins += width
            break
    return raw[begins : begins + size].decode(errors="replace")


def _recognises(start: bytes, name: str) -> bool:
    return _is_database(start, name) or is_text(start)


def _read(entry: InputEntry, options: Options) -> ExportSource:
    if is_text(entry.start()):
        return open_text(entry, options)
    folder = None
    if isinstance(entry, InputFile) and Path(entry.path).is_file():
        folder = Directory(Path(entry.path).parent, ByteCounter())
    return _Messages(entry, write_ahead_log(entry), folder)


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    files = folder.files()
    name = next(
        one
        for one in files
        if one.casefold() in _NAMES and _is_database(folder.file(one).start(), one)
    )
    wal = folder.file(f"{name}{WAL}") if f"{name}{WAL}" in files else None
    return _Messages(folder.file(name), wal, folder)


ADAPTER = Adapter("imessage", _recognises, _read, _is_folder, _read_folder)
