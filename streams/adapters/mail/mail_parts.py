"""The parts of a mail, for whom declarations lie: headers, addresses, texts, times, files."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from typing import NamedTuple, cast

from recollect.schemas.events import Attachment
from recollect.streams.adapters.mail.html_text import text_of_html

#: As much of a mail as is read: those that are larger hold large files.
MAX_MAIL_BYTES = 1 << 25
_MAX_DEPTH = 20
_MAX_PARTS = 1_000
_MAX_NAME_LENGTH = 1_000

# Names of character sets that mean more than they say.
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "big5": "big5hkscs",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "ansi_x3.4-1968": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "iso-2022-jp": "iso2022_jp_ext",
    "unicode-1-1-utf-7": "utf-7",
    "utf8mb4": "utf-8",
}
_NOT_TEXT = frozenset({"base64", "hex", "rot13", "zlib", "bz2", "uu", "quopri", "idna"})
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE
)
_BROKEN_WORD = re.compile(r"(=\?[\w.*-]+\?[bBqQ]\?[^?\s]*)\s+(?=[^?\s]*\?=)")


class Person(NamedTuple):
    """Whom a header names."""

    address: str
    name: str | None


class Parts(NamedTuple):
    """What a mail holds: its text, its files, mails within it, and texts of calendars."""

    text: str
    files: tuple[Attachment, ...]
    mails: tuple[Message, ...]
    calendars: tuple[str, ...]


class _Lenient(Compat32):
    """Takes headers as they are, with bytes of any character set in them."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return _readable(value)


_POLICY = _Lenient()
_SPACED_NAME = re.compile(rb"^([!-9;-~]+)[ \t]+:", re.MULTILINE)


def parsed(raw: bytes) -> Message:
    """Return a mail, however broken it is."""
    end = re.search(rb"\r?\n\r?\n", raw)
    head = raw[: end.start()] if end else raw
    return email.message_from_bytes(
        _SPACED_NAME.sub(rb"\1:", head) + raw[len(head) :], policy=_POLICY
    )


def header(mail: Message, name: str) -> str:
    """Return the first header of a name as text, unfolded; "" where there is none."""
    return next(headers(mail, name), "")


def headers(mail: Message, name: str) -> Iterator[str]:
    """Yield the headers of a name as text, unfolded, words decoded."""
    for value in _raw(mail, name):
        yield decoded_words(value)


def _raw(mail: Message, name: str) -> Iterator[str]:
    wanted = name.casefold()
    for known, value in mail.raw_items():
        if known.casefold() == wanted:
            yield _unfolded(str(value))


def _unfolded(value: str) -> str:
    text = re.sub(r"\s*[\r\n]+\s*", " ", _readable(value))
    return "".join(one for one in text if one >= " " and one != "\x7f").strip()


def _readable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        return decoded_text(value.encode("utf-8", "surrogateescape"), None)
    return value


def decoded_words(value: str) -> str:
    """Return a header's text with its encoded words decoded."""
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(_BROKEN_WORD.sub(r"\1_", value))
    except (HeaderParseError, ValueError):
        return value
    found = [
        piece if isinstance(piece, str) else decoded_text(piece, charset)
        for piece, charset in cast("list[tuple[str | bytes, str | None]]", pieces)
    ]
    text = "".join(found)
    return " ".join("".join(one for one in text if one >= " " or one == "\t").split())


def people(mail: Message, *names: str) -> list[Person]:
    """Return whom headers name, each address once, in order."""
    values = [value for name in names for value in _raw(mail, name)]
    found: dict[str, Person] = {}
    for value in values:
        for name, address in _addresses(value):
            key = address.casefold()
            if key and key not in found:
                found[key] = Person(key, name or None)
    return list(found.values())


def _addresses(value: str) -> Iterator[tuple[str, str]]:
    pairs = [
        (decoded_words(name).strip("\"' "), decoded_words(address).strip("<>\"' "))
        for name, address in getaddresses([value])
    ]
    usable = [(name, address) for name, address in pairs if "@" in address and " " not in address]
    if usable:
        yield from usable
        return
    # What no parser takes: whatever looks like an address, and what stands before it.
    plain = decoded_words(value)
    if found := re.search(r"[^\s<>()\[\],;:\"]+@[^\s<>()\[\],;:\"]+", plain):
        yield plain[: found.start()].strip("\"'< ,"), found.group()
        return
    yield from ((name, address) for name, address in pairs if address or name)


def decoded_text(raw: bytes, charset: str | None) -> str:
    """Return bytes as text: as declared, unless that is plainly wrong."""
    charset = (charset or "").strip("\"' ").casefold()
    if not charset or charset == "unknown-8bit":
        charset = "iso-2022-jp" if re.search(rb"\x1b\$[@B]", raw) else "us-ascii"
    wide = _WIDER.get(charset, charset)
    single = wide.startswith(("cp125", "cp874", "iso-8859", "koi8", "mac"))
    tried = ["utf-8", wide] if single and not raw.isascii() else [wide, "utf-8"]
    for name in tried:
        if name in _NOT_TEXT:
            continue
        try:
            text = raw.decode(name)
        except (UnicodeError, LookupError, ValueError):
            continue
        if isinstance(text, str):
            return text
    if not single and wide not in _NOT_TEXT:
        try:
            text = raw.decode(wide, errors="replace")
        except (UnicodeError, LookupError, ValueError):
            return raw.decode("cp1252", errors="replace")
        foreign = sum(byte > 0x7F for byte in raw) or 1
        if isinstance(text, str) and text.count("\ufffd") * 2 <= foreign:
            return text
    return raw.decode("cp1252", errors="replace")


def time_of(mail: Message) -> datetime | None:
    """Return when a mail was sent; where its date is missing or cannot be, when it came."""
    said = next(filter(None, map(moment_of, _raw(mail, "Date"))), None)
    came = [moment for one in _raw(mail, "Received") if (moment := moment_of(one, after=";"))]
    if said is None or said.year < 1980:
        for name in ("Delivery-Date", "Resent-Date", "X-Original-Date", "Posted-Date"):
            came += filter(None, map(moment_of, _raw(mail, name)))
        return came[0] if came else said
    resent = any(_raw(mail, "Resent-Date"))
    late = came and said > max(came) + timedelta(days=1)
    early = came and not resent and said < min(came) - timedelta(days=180)
    return came[0] if late or early else said


def moment_of(value: str, after: str = "") -> datetime | None:
    """Return the time in a header, of a Received what stands behind its last semicolon."""
    text = value.rpartition(after)[2] if after else value
    text = re.sub(r"\([^()]*\)", " ", text).strip()
    moment = None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        if re.match(r"\d{4}-\d{2}-\d{2}[T ]", text):
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                return None
    if moment is None:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    offset = moment.utcoffset()
    if offset is None or abs(offset) > timedelta(hours=15) or not 1970 < moment.year < 2200:
        return None
    return moment


def parts_of(mail: Message) -> Parts:
    """Return what a mail holds. Of the same text in several forms the plainest counts."""
    taken = _Taken()
    taken.take(mail)
    text = "\n\n".join(text.strip("\r\n") for text in taken.texts if text.strip())
    return Parts(text, tuple(taken.files), tuple(taken.mails), tuple(taken.calendars))


class _Taken:
    """Collects what the parts of a mail hold."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.files: list[Attachment] = []
        self.mails: list[Message] = []
        self.calendars: list[str] = []
        self._count = 0

    def take(self, part: Message, depth: int = 0) -> None:
        self._count += 1
        if self._count > _MAX_PARTS or depth > _MAX_DEPTH:
            return
        kind = part.get_content_type()
        if kind in ("message/rfc822", "message/global"):
            held = part.get_payload()
            if isinstance(held, list) and held and isinstance(held[0], Message):
                self.mails.append(held[0])
        elif part.is_multipart():
            members = [one for one in part.get_payload() if isinstance(one, Message)]
            for one in _plainest(members) if kind == "multipart/alternative" else members:
                self.take(one, depth + 1)
        else:
            self._take_leaf(part, kind, _file_name(part))

    def _take_leaf(self, part: Message, kind: str, named: str | None) -> None:
        if kind.startswith("multipart/"):
            # Its boundary is missing or wrong: what is there is read as it stands.
            self.texts.append(text_part(part))
        elif kind == "text/calendar" and (part.get_param("method") or named is None):
            self.calendars.append(text_part(part))
        elif _is_file(part, kind, named):
            self.files.append(_attachment(part, kind, named))
        else:
            text = text_part(part)
            self.texts.append(text_of_html(text) if kind == "text/html" else text)


def _plainest(members: list[Message]) -> list[Message]:
    """Return of alternatives the plain text, or the HTML; and what is no text."""
    kept = [one for one in members if one.get_content_type() == "text/calendar"]
    plain = [one for one in members if one.get_content_type() == "text/plain"]
    html = [one for one in members if one.get_content_type() == "text/html"]
    others = [one for one in members if one not in (*kept, *plain, *html)]
    words = text_part(plain[0]).strip() if plain else ""
    if plain and words and not (html and _is_stub(words)):
        # Files that a program put beside the richer form of the text.
        rest = [_without_text(one) for one in others]
        return [plain[0], *kept, *(one for found in rest for one in found)]
    if html and text_of_html(text_part(html[-1])):
        return [html[-1], *kept, *(one for found in map(_without_text, others) for one in found)]
    return [*others, *kept] or members[:1]


def _without_text(part: Message) -> list[Message]:
    """Return the files within a part that is another form of a text."""
    if not part.is_multipart():
        return [part]
    return [
        one
        for one in part.walk()
        if not one.is_multipart() and one.get_content_maintype() != "text"
    ][:_MAX_PARTS]


def _is_stub(words: str) -> bool:
    """Return whether a plain text only says that there is another."""
    return len(words) < 400 and bool(
        re.search(
            r"\b(?:html|view (?:this|the) (?:e-?mail|message)|does not support)\b", words, re.I
        )
    )


def text_part(part: Message) -> str:
    """Return the text of one part."""
    raw = _payload(part)
    charset = part.get_content_charset()
    if charset is None and part.get_content_type() == "text/html":
        found = _META_CHARSET.search(raw[:4_096])
        charset = found.group(1).decode("ascii", "replace") if found else None
    text = decoded_text(raw, charset).replace("\r\n", "\n").replace("\x00", "")
    if str(part.get_param("format") or "").casefold() == "flowed":
        text = _unflowed(text, str(part.get_param("delsp") or "").casefold() == "yes")
    return text.removeprefix("\ufeff")


def _payload(part: Message) -> bytes:
    try:
        raw = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        raw = None
    if isinstance(raw, bytes):
        return raw
    text = part.get_payload()
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else b""


def _unflowed(text: str, delete_space: bool) -> str:
    """Return text whose paragraphs were wrapped for sending, each on one line (RFC 3676)."""
    lines: list[str] = []
    flows = None
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        words = line[depth:].removeprefix(" ")
        if flows == depth and lines and words != "-- ":
            lines[-1] += words
        else:
            lines.append((">" * depth + " " if depth else "") + words)
        flows = None
        if words.endswith(" ") and words != "-- ":
            flows = depth
            if delete_space:
                lines[-1] = lines[-1][:-1]
    return "\n".join(lines)


def _file_name(part: Message) -> str | None:
    try:
        name = part.get_filename()
    except (ValueError, TypeError, LookupError):
        name = None
    if not name:
        return None
    name = decoded_words(_unfolded(name))
    return name[:_MAX_NAME_LENGTH] or None


def _is_file(part: Message, kind: str, named: str | None) -> bool:
    if part.get_content_disposition() == "attachment":
        return True
    return named is not None or not kind.startswith("text/")


def _attachment(part: Message, kind: str, name: str | None) -> Attachment:
    family = kind.partition("/")[0]
    return Attachment(
        type=family if family in ("image", "audio", "video") else "file",
        name=name,
        mime_type=kind[:200],
        size=len(_payload(part)),
    )
