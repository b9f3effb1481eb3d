"""Text messages and calls of Android phones, as SMS Backup & Restore writes them: XML files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.parsers import expat

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.chats.phone.imessage import TAPBACK_AS_TEXT
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry

_PLATFORM = "sms"
# The sender of sent messages: the phone's owner, whom no file names.
_OWNER = "me"
_ROOT = re.compile(rb"<(?:smses|calls)\b[^>]*>")
_PROLOGUE = re.compile(rb"\s*<(?:\?xml|!--|smses\b|calls\b)")
_CHUNK_BYTES = 1 << 16
# Some versions write an emoji as two characters that XML does not allow.
_SURROGATES = re.compile(rb"&#(5[56]\d{3});&#(5[67]\d{3});")
_UNFINISHED_REFERENCE = re.compile(rb"&[^;\s]{0,20}(?:;&[^;\s]{0,20})?\Z")
# Unix milliseconds, and the duration of a call; longer numbers are damage.
_DATE, _SECONDS = re.compile(r"\d{1,16}", re.ASCII), re.compile(r"\d{1,9}", re.ASCII)
_SENT = "2"
# Drafts, and messages that were not sent.
_UNSENT = frozenset({"3", "4", "5", "6"})
_CALLS = {
    "1": "Incoming call", "2": "Outgoing call", "3": "Missed call", "4": "Voicemail",
    "5": "Rejected call", "6": "Blocked call",
}  # fmt: skip
# In a message to several people, the address of its sender.
_FROM = "137"
_PLACEHOLDER = "insert-address-token"
_NO_NAMES = frozenset({"", "null", "(Unknown)"})
_NUMBER = re.compile(r"[+\d][\d\s().\-/]{2,}")


class _Element(NamedTuple):
    """An element of the file: its name, its attributes, and the elements in it."""

    name: str
    attributes: dict[str, str]
    parts: list[dict[str, str]]
    addresses: list[dict[str, str]]


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK)
    return _PROLOGUE.match(head) is not None and _ROOT.search(head) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    names: dict[str, str] = {}
    return convert(_elements(entry), lambda element: _events(element, names))


class _Reader:
    """Collects the messages and calls of a file that is fed to it in pieces."""

    def __init__(self) -> None:
        self.found: list[tuple[int, _Element]] = []
        self._open: _Element | None = None
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in ("sms", "mms", "call"):
            self._open = _Element(name, attributes, [], [])
            self._line = self.parser.CurrentLineNumber
        elif self._open is not None and name == "part":
            size = len(attributes.pop("data", "")) * 3 // 4
            self._open.parts.append({**attributes, "size": str(size)})
        elif self._open is not None and name == "addr":
            self._open.addresses.append(attributes)

    def _end(self, name: str) -> None:
        if self._open is not None and name == self._open.name:
            self.found.append((self._line, self._open))
            self._open = None

    def _refuse(self, *declaration: object) -> None:
        raise DamagedInput("the file declares XML entities, which no backup does")


def _elements(entry: InputEntry) -> Iterator[tuple[int, _Element]]:
    """Yield the messages and calls of a file, with their lines.

    Raises:
        DamagedInput: the file is damaged from here on.
    """
    reader = _Reader()
    with entry.open() as file:
        pending = b""
        while True:
            piece = file.read(_CHUNK_BYTES)
            text = pending + piece
            cut = _UNFINISHED_REFERENCE.search(text, max(len(text) - 50, 0)) if piece else None
            text, pending = (
                (text, b"") if cut is None else (text[: cut.start()], text[cut.start() :])
            )
            damage = None
            try:
                reader.parser.Parse(_SURROGATES.sub(_character, text), not piece)
            except expat.ExpatError as error:
                damage = DamagedInput(f"not XML from here on: {error}")
            yield from reader.found
            reader.found = []
            if damage is not None:
                raise damage
            if not piece:
                return


def _character(pair: re.Match[bytes]) -> bytes:
    """Return the character that two references to surrogates stand for."""
    units = int(pair[1]).to_bytes(2, "big") + int(pair[2]).to_bytes(2, "big")
    return units.decode("utf-16-be", errors="replace").encode()


def _events(element: _Element, names: dict[str, str]) -> Iterator[InboundEvent]:
    """Yield the event of a message or call. `names`: of the addresses so far."""
    fields = element.attributes
    if not _DATE.fullmatch(fields.get("date", "")):
        raise InvalidInput("the record has no date")
    at = int(fields["date"])
    addresses = [_address(one) for one in re.split(r"[~;]", fields.get("address", ""))]
    if element.name == "call":
        addresses = [_address(fields.get("number", ""))]
    addresses = [one for one in addresses if one]
    if not addresses:
        raise InvalidInput("the record has no address")
    name = fields.get("contact_name", "").strip()
    if len(addresses) == 1 and name not in _NO_NAMES:
        names[addresses[0]] = name
    others = sorted(set(addresses))
    common: dict[str, Any] = {
        "platform": _PLATFORM,
        "occurred_at": at,
        "peer_id": ", ".join(others),
        "peer_kind": "dm" if len(others) == 1 else "group",
        "metadata": {"channel": name} if len(others) > 1 and name not in _NO_NAMES else {},
    }
    if element.name == "call":
        yield _call(fields, common, others[0], names)
        return
    box = fields.get("type") if element.name == "sms" else fields.get("msg_box")
    if box in _UNSENT:
        return
    sender = _OWNER if box == _SENT else _sender(element, others)
    text = fields.get("body", "")
    files: tuple[Attachment, ...] = ()
    if element.name == "mms":
        text, files = _contents(element)
    text = "" if text == "null" else text.strip()
    if subject := _subject(fields):
        common["metadata"] = {**common["metadata"], "subject": subject}
        text = text or subject
    if not text and not files:
        return
    yield InboundEvent(
        **common,
        kind="notice" if TAPBACK_AS_TEXT.fullmatch(text) else "message",
        sender_id=sender,
        sender_name=names.get(sender),
        direction="out" if sender == _OWNER else "in",
        content=text,
        attachments=files,
    )


def _call(
    fields: Mapping[str, str], common: Mapping[str, Any], other: str, names: Mapping[str, str]
) -> InboundEvent:
    kind = fields.get("type", "")
    duration = fields.get("duration", "")
    seconds = int(duration) if _SECONDS.fullmatch(duration) else 0
    sender = _OWNER if kind == _SENT else other
    return InboundEvent(
        **common,
        kind="notice",
        sender_id=sender,
        sender_name=names.get(sender),
        direction="out" if sender == _OWNER else "in",
        content=_CALLS.get(kind, "Call") + (f", {seconds} s" if seconds else ""),
    )


def _address(text: str) -> str:
    """Return a number without the signs that group its digits, or another address as it is."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return re.sub(r"[^+\d]", "", text)
    return text.casefold()


def _sender(element: _Element, others: list[str]) -> str:
    found = [
        address
        for one in element.addresses
        if one.get("type") == _FROM and (address := _address(one.get("address", "")))
    ]
    return found[0] if found and found[0] != _PLACEHOLDER else others[0]


def _subject(fields: Mapping[str, str]) -> str:
    subject = (fields.get("subject") or fields.get("sub") or "").strip()
    # Programs write a technical subject into messages with pictures.
    return "" if subject in ("null", "NoSubject", "no subject") or "proto:" in subject else subject


def _contents(element: _Element) -> tuple[str, tuple[Attachment, ...]]:
    """Return the text and the files of a message with several parts."""
    texts: list[str] = []
    files: list[Attachment] = []
    for part in element.parts:
        kind = part.get("ct", "")
        if kind == "text/plain":
            texts.append(part.get("text", ""))
        elif kind and kind != "application/smil":
            family = kind.partition("/")[0]
            named = (part.get(one, "") for one in ("cl", "name", "fn"))
            files.append(
                Attachment(
                    type=family if family in ("image", "audio", "video") else "file",
                    name=next((name for name in named if name not in ("", "null")), None),
                    mime_type=kind,
                    size=int(part["size"]) or None,
                )
            )
    return "\n".join(text for text in texts if text not in ("", "null")), tuple(files)


ADAPTER = Adapter(_PLATFORM, _recognises, lambda entry, options: SingleFileSource(entry, _parse))
