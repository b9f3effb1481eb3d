"""The parts of a mail, parsed leniently: headers, addresses, texts, times, files."""

from __future__ import annotations

import base64
import email
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from itertools import islice
from typing import NamedTuple, cast

from recollect.schemas.events import PACKED_MAIL, Attachment
from recollect.streams.adapters.mail.html_text import (
    UNSPACED,
    HtmlText,
    Link,
    add_addresses,
    text_and_links_of_html,
    text_of_html,
)
from recollect.streams.adapters.mail.tnef import TnefError, contents_of_tnef

#: Maximum number of bytes that are read of a mail; larger mails contain large files.
MAX_MAIL_BYTES = 1 << 25
_MAX_DEPTH = 20
_MAX_PARTS = 1_000
_MAX_NAME_LENGTH = 1_000

# Declared character sets, and the supersets that programs actually use.
_SUPERSET_CHARSETS = {
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
# A word, or a letter of a script that is written without spaces.
_WORD = re.compile(rf"[^\W{UNSPACED}]+|\w")
_MIN_LOST_WORDS = 12
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_NOT_TEXT = frozenset({"base64", "hex", "rot13", "zlib", "bz2", "uu", "quopri", "idna"})
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE
)
_ENCODED_WORD_WITH_SPACE = re.compile(r"(=\?[\w.*-]+\?[bBqQ]\?[^?\s]*)\s+(?=[^?\s]*\?=)")


class Person(NamedTuple):
    """A person named by a header."""

    address: str
    name: str | None


class MailParts(NamedTuple):
    """The contents of a mail: its text, files, included mails, and calendar texts.

    `has_more`: earlier builds read less of it. `has_other_text`: they read another text.
    """

    text: str
    files: tuple[Attachment, ...]
    mails: tuple[Message, ...]
    calendars: tuple[str, ...]
    has_more: bool = False
    has_other_text: bool = False


class _LenientPolicy(Compat32):
    """Accepts headers with raw bytes of any character set."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return _decode_surrogates(value)


_POLICY = _LenientPolicy()
_SPACE_BEFORE_COLON = re.compile(rb"^([!-9;-~]+)[ \t]+:", re.MULTILINE)
# A line among headers that is not one: the rest of a folded header, without its indentation.
_UNINDENTED = re.compile(rb"(?<=\n)(?=[^\s:])(?![!-9;-~]+:)")
_KNOWN_HEADER = re.compile(
    rb"^(From|Date|To|Cc|Subject|Message-ID|In-Reply-To|References|MIME-Version|Content-[\w-]+):",
    re.MULTILINE | re.IGNORECASE,
)


def parse_mail(raw: bytes) -> Message:
    """Parse a mail, however broken it is."""
    end = re.search(rb"\r?\n\r?\n", raw)
    head = raw[: end.start()] if end else raw
    fixed = _SPACE_BEFORE_COLON.sub(rb"\1:", head)
    last_header = _last_known_header(fixed)
    fixed = _UNINDENTED.sub(b" ", fixed[:last_header]) + fixed[last_header:]
    return email.message_from_bytes(fixed + raw[len(head) :], policy=_POLICY)


def _last_known_header(head: bytes) -> int:
    """Return where the last known header begins, before the first that repeats another.

    A repeated header may belong to a mail that is quoted right below the headers.
    """
    seen: set[bytes] = set()
    last = 0
    for header_ in _KNOWN_HEADER.finditer(head):
        name = header_[1].lower()
        if name in seen:
            break
        seen.add(name)
        last = header_.start()
    return last


def header(mail: Message, name: str) -> str:
    """Return the first header of this name as text, unfolded and decoded, or ""."""
    return next(headers(mail, name), "")


def headers(mail: Message, name: str) -> Iterator[str]:
    """Yield the headers of this name as text, unfolded and decoded."""
    for value in _raw(mail, name):
        yield decode_words(value)


def _raw(mail: Message, name: str) -> Iterator[str]:
    folded_name = name.casefold()
    for field, value in mail.raw_items():
        if field.casefold() == folded_name:
            yield _unfold(str(value))


def _unfold(value: str) -> str:
    text = re.sub(r"\s*[\r\n]+\s*", " ", _decode_surrogates(value))
    return "".join(one for one in text if one >= " " and one != "\x7f").strip()


def _decode_surrogates(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        return decode_bytes(value.encode("utf-8", "surrogateescape"), None)
    return value


def decode_words(value: str) -> str:
    """Decode the encoded words in a header's text."""
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(_ENCODED_WORD_WITH_SPACE.sub(r"\1_", value))
    except (HeaderParseError, ValueError):
        return value
    decoded = [
        piece if isinstance(piece, str) else decode_bytes(piece, charset)
        for piece, charset in cast("list[tuple[str | bytes, str | None]]", pieces)
    ]
    text = "".join(decoded)
    return " ".join("".join(one for one in text if one >= " " or one == "\t").split())


def people(mail: Message, *names: str) -> list[Person]:
    """Return the people in headers, each address once, in order."""
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
        (decode_words(name).strip("\"' "), decode_words(address).strip("<>\"' "))
        for name, address in getaddresses([value])
    ]
    usable = [(name, address) for name, address in pairs if "@" in address and " " not in address]
    if usable:
        yield from usable
        return
    # It cannot be parsed: use what looks like an address, and the text before it as the name.
    plain = decode_words(value)
    if match := re.search(r"[^\s<>()\[\],;:\"]+@[^\s<>()\[\],;:\"]+", plain):
        yield plain[: match.start()].strip("\"'< ,"), match.group()
        return
    yield from ((name, address) for name, address in pairs if address or name)


def decode_bytes(raw: bytes, charset: str | None) -> str:
    """Decode bytes with the declared character set, unless it is plainly wrong."""
    charset = (charset or "").strip("\"' ").casefold()
    if not charset or charset == "unknown-8bit":
        charset = "iso-2022-jp" if re.search(rb"\x1b\$[@B]", raw) else "us-ascii"
    superset = _SUPERSET_CHARSETS.get(charset, charset)
    is_single_byte = superset.startswith(("cp125", "cp874", "iso-8859", "koi8", "mac"))
    tried = ["utf-8", superset] if is_single_byte and not raw.isascii() else [superset, "utf-8"]
    for name in tried:
        if name in _NOT_TEXT:
            continue
        try:
            text = raw.decode(name)
        except (UnicodeError, LookupError, ValueError):
            continue
        if isinstance(text, str):
            return text
    if not is_single_byte and superset not in _NOT_TEXT:
        try:
            text = raw.decode(superset, errors="replace")
        except (UnicodeError, LookupError, ValueError):
            return raw.decode("cp1252", errors="replace")
        non_ascii_count = sum(byte > 0x7F for byte in raw) or 1
        if isinstance(text, str) and text.count("\ufffd") * 2 <= non_ascii_count:
            return text
    return raw.decode("cp1252", errors="replace")


def time_of(mail: Message) -> datetime | None:
    """Return when a mail was sent, or received if its date is missing or implausible."""
    sent_at = next(filter(None, map(parse_header_time, _raw(mail, "Date"))), None)
    received_at = [
        time for one in _raw(mail, "Received") if (time := parse_header_time(one, after=";"))
    ]
    if sent_at is None or sent_at.year < 1980:
        for name in ("Delivery-Date", "Resent-Date", "X-Original-Date", "Posted-Date"):
            received_at += filter(None, map(parse_header_time, _raw(mail, name)))
        return received_at[0] if received_at else sent_at
    resent = any(_raw(mail, "Resent-Date"))
    late = received_at and sent_at > max(received_at) + timedelta(days=1)
    early = received_at and not resent and sent_at < min(received_at) - timedelta(days=180)
    return received_at[0] if late or early else sent_at


def parse_header_time(value: str, after: str = "") -> datetime | None:
    """Return the time in a header.

    `after`: read only what follows its last occurrence in the header.
    """
    text = value.rpartition(after)[2] if after else value
    text = re.sub(r"\([^()]*\)", " ", text).strip()
    time = None
    try:
        time = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        if re.match(r"\d{4}-\d{2}-\d{2}[T ]", text):
            try:
                time = datetime.fromisoformat(text)
            except ValueError:
                return None
    if time is None:
        return None
    time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    offset = time.utcoffset()
    if offset is None or abs(offset) > timedelta(hours=15) or not 1970 < time.year < 2200:
        return None
    return time


def parts_of(mail: Message, *, as_before: bool = False) -> MailParts:
    """Return the contents of a mail. Of alternative forms of a text, the plainest is used.

    `as_before`: as earlier builds read it: a `winmail.dat` is a file, and links have no addresses.
    """
    collector = _PartCollector(as_before)
    collector.collect(mail)
    texts = [text.strip("\r\n") for text in collector.texts if text.strip()]
    text = "\n\n".join(texts or collector.packed_texts)
    return MailParts(
        text,
        tuple(collector.files),
        tuple(collector.mails),
        tuple(collector.calendars),
        collector.has_more,
        collector.has_other_text,
    )


class _PartCollector:
    """Collects the contents of a mail's parts."""

    def __init__(self, as_before: bool) -> None:
        self._as_before = as_before
        #: Whether earlier builds read less of it, or another text.
        self.has_more = False
        self.has_other_text = False
        self.texts: list[str] = []
        self.files: list[Attachment] = []
        self.mails: list[Message] = []
        self.calendars: list[str] = []
        #: The texts in `winmail.dat`, which mostly repeat those of other parts.
        self.packed_texts: list[str] = []
        #: The links in the HTML form of the plain text that is collected next.
        self._links: tuple[Link, ...] = ()
        self._count = 0

    def collect(self, part: Message, depth: int = 0) -> None:
        self._count += 1
        if self._count > _MAX_PARTS or depth > _MAX_DEPTH:
            return
        kind = part.get_content_type()
        if kind in ("message/rfc822", "message/global"):
            payload = part.get_payload()
            if isinstance(payload, list) and payload and isinstance(payload[0], Message):
                self.mails.append(payload[0])
        elif part.is_multipart():
            subparts = [one for one in part.get_payload() if isinstance(one, Message)]
            if kind == "multipart/alternative":
                subparts = self._choose(subparts)
            for one in subparts:
                self.collect(one, depth + 1)
        else:
            self._collect_leaf(part, kind, _file_name(part))

    def _collect_leaf(self, part: Message, kind: str, file_name: str | None) -> None:
        if kind.startswith("multipart/"):
            # The boundary of the part is missing or wrong, so the part is read as text.
            self.texts.append(text_part(part))
        elif kind == "text/calendar" and (part.get_param("method") or file_name is None):
            self.calendars.append(text_part(part))
        elif kind in PACKED_MAIL and not self._as_before:
            self._collect_tnef(part, kind, file_name)
        elif _is_file(part, kind, file_name):
            self.files.append(_attachment(part, kind, file_name))
        else:
            text = text_part(part)
            self.texts.append(self._of_html(text) if kind == "text/html" else self._linked(text))

    def _choose(self, subparts: list[Message]) -> list[Message]:
        """Return which of alternative parts to collect, and note the links that they lack."""
        as_before = _plainest(subparts)
        if self._as_before or not (html := _html_of(subparts)):
            return as_before
        rich = text_and_links_of_html(html)
        chosen = _plainest(subparts, rich)
        if list(map(id, chosen)) != list(map(id, as_before)):
            self.has_more = self.has_other_text = True
        self._links = rich.links
        return chosen

    def _linked(self, plain: str) -> str:
        """Return a plain text with the addresses that only its HTML form has."""
        links, self._links = self._links, ()
        text = add_addresses(plain, links) if links else plain
        self.has_more |= text != plain
        return text

    def _of_html(self, html: str) -> str:
        text = text_of_html(html, addresses=not self._as_before)
        self.has_more |= " <" in text
        return text

    def _collect_tnef(self, part: Message, kind: str, file_name: str | None) -> None:
        """Collect what Outlook packed into a part; a damaged one counts as a file."""
        try:
            packed = contents_of_tnef(_payload(part))
        except TnefError:
            self.files.append(_attachment(part, kind, file_name))
            return
        self.has_more = True
        if packed.html:
            self.packed_texts.append(self._of_html(decode_bytes(packed.html, packed.charset)))
        elif packed.text.strip():
            self.packed_texts.append(packed.text.replace("\r\n", "\n").strip())
        for one in packed.files[:_MAX_PARTS]:
            name = one.name[:_MAX_NAME_LENGTH] or None
            mime_type = one.mime_type[:200] or None
            self.files.append(
                Attachment(
                    type=_file_kind(mime_type or ""), name=name, mime_type=mime_type, size=one.size
                )
            )


def _plainest(subparts: list[Message], rich: HtmlText | None = None) -> list[Message]:
    """Return the plain text of alternatives, or the HTML, and the parts that are not text.

    `rich`: the text of the HTML, wherever it is; without it, as earlier builds chose.
    """
    kept = [one for one in subparts if one.get_content_type() == "text/calendar"]
    plain = [one for one in subparts if one.get_content_type() == "text/plain"]
    html = [one for one in subparts if one.get_content_type() == "text/html"]
    others = [one for one in subparts if one not in (*kept, *plain, *html)]
    words = text_part(plain[0]).strip() if plain else ""
    is_stub = bool(html) and _points_to_html(words)
    if rich is not None and rich.text:
        is_stub = _points_to_html(words) or _is_stub(words, rich.text)
    if plain and words and not is_stub:
        # The richer forms of the text may contain files.
        files = [one for parts in map(_without_text, others) for one in parts]
        return [plain[0], *kept, *files]
    if html and text_of_html(text_part(html[-1])):
        return [html[-1], *kept, *(one for parts in map(_without_text, others) for one in parts)]
    return [*others, *kept] or subparts[:1]


def _html_of(subparts: list[Message]) -> str:
    """Return the HTML in alternative forms of a text; a form may be HTML with its pictures."""
    found = [
        one
        for part in subparts
        for one in islice(part.walk(), _MAX_PARTS)
        if one.get_content_type() == "text/html" and not _is_file(one, "text/html", _file_name(one))
    ]
    return "\n".join(map(text_part, found))


def _without_text(part: Message) -> list[Message]:
    """Return the files in a part that is an alternative form of a text."""
    if not part.is_multipart():
        return [part]
    return [
        one
        for one in part.walk()
        if not one.is_multipart() and one.get_content_maintype() != "text"
    ][:_MAX_PARTS]


def _points_to_html(words: str) -> bool:
    """Return whether a plain text says that it is only a pointer to the HTML form."""
    return len(words) < 400 and bool(
        re.search(
            r"\b(?:html|view (?:this|the) (?:e-?mail|message)|does not support)\b", words, re.I
        )
    )


def _is_stub(plain: str, rich: str) -> bool:
    """Return whether a plain text says little of what its HTML form says, in any language."""
    sought = set(_WORD.findall(rich.casefold()))
    said = sought.intersection(_WORD.findall(plain.casefold()))
    return len(sought) - len(said) >= _MIN_LOST_WORDS and len(said) * 3 < len(sought)


def text_part(part: Message) -> str:
    """Return the decoded text of a part."""
    raw, footer = _payload(part), ""
    if _transfer_encoding(part) == "base64" and (split := _split_base64(str(part.get_payload()))):
        raw, footer = split
    charset = part.get_content_charset()
    if charset is None and part.get_content_type() == "text/html":
        meta = _META_CHARSET.search(raw[:4_096])
        charset = meta.group(1).decode("ascii", "replace") if meta else None
    text = decode_bytes(raw, charset).replace("\r\n", "\n").replace("\x00", "")
    if str(part.get_param("format") or "").casefold() == "flowed":
        text = _unflow(text, str(part.get_param("delsp") or "").casefold() == "yes")
    return text.removeprefix("\ufeff") + footer


def _transfer_encoding(part: Message) -> str:
    return header(part, "Content-Transfer-Encoding").strip().casefold()


def _split_base64(body: str) -> tuple[bytes, str] | None:
    """Return the content of base64 that is followed by plain text, and that text; None if none is.

    Some mailing lists and virus scanners append a footer to a body without regard to its encoding.
    """
    lines = body.strip().splitlines()
    end = next((n for n, line in enumerate(lines) if not _BASE64.fullmatch(line.strip())), None)
    padded = next((n for n, line in enumerate(lines) if line.rstrip().endswith("=")), None)
    if padded is not None and (end is None or padded < end):
        end = padded + 1
    if end is None or all(_BASE64.fullmatch(line.strip()) for line in lines[end:] if line.strip()):
        return None
    encoded = "".join(lines[:end])
    try:
        raw = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except ValueError:
        return None
    return raw, "\n\n" + _decode_surrogates("\n".join(lines[end:])).strip()


def _payload(part: Message) -> bytes:
    try:
        raw = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        raw = None
    if isinstance(raw, bytes):
        return raw
    text = part.get_payload()
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else b""


def _unflow(text: str, delete_space: bool) -> str:
    """Join the paragraphs of format=flowed text (RFC 3676)."""
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
    name = decode_words(_unfold(name))
    return name[:_MAX_NAME_LENGTH] or None


def _is_file(part: Message, kind: str, file_name: str | None) -> bool:
    if part.get_content_disposition() == "attachment":
        return True
    return file_name is not None or not kind.startswith("text/")


def _attachment(part: Message, kind: str, name: str | None) -> Attachment:
    return Attachment(
        type=_file_kind(kind), name=name, mime_type=kind[:200], size=len(_payload(part))
    )


def _file_kind(mime_type: str) -> str:
    family = mime_type.partition("/")[0]
    return family if family in ("image", "audio", "video") else "file"
