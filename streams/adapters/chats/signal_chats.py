"""Signal: a chat as text, a stamped line for each message and what follows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, Adapter, Found, OneFile, converted
from recollect.streams.adapters.import_options import Options, zoned
from recollect.streams.adapters.input.input_files import Member
from recollect.streams.adapters.input.text_lines import decoded, text_lines

_PLATFORM = "signal"
# With a comma and without seconds, or the other way round: both would be WhatsApp's.
_STAMP = re.compile(
    r"\[(?P<day>\d{4}-\d\d-\d\d)(?P<time>, \d\d:\d\d| \d\d:\d\d:\d\d)\] (?P<rest>.*)", re.DOTALL
)
_SAID = re.compile(r"(?P<who>[^:\n]{1,100}):(?: (?P<text>.*)|\s*)$", re.DOTALL)
_FILE = re.compile(
    r"(?P<image>!?)\[(?P<name>[^\[\]\n]{0,300})\]\((?P<url>(?:\./)?media/[^)\n]{0,1000})\)"
)
_REACTIONS = re.compile(r"\(- (?P<given>[^\n]*) -\)$")
# A chat's text is called so, in a folder with the chat's name.
_IN_FOLDER = re.compile(r"(?:index|chat)\.(?:md|txt)$")
_MAX_LINES = 10_000


class _Message(NamedTuple):
    stamp: re.Match[str]
    text: str


def _messages(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Message | InvalidInput]]:
    """Yield each stamped line with those that belong to it."""
    begun, stamp, held = 0, None, [""]
    for number, line in lines:
        found = _STAMP.match(line)
        if found is None and stamp is not None and len(held) < _MAX_LINES:
            held.append(line)
        elif found is None:
            if line.strip():
                yield number, InvalidInput("this line is before any message, or of one too long")
        else:
            if stamp is not None:
                yield begun, _Message(stamp, "\n".join(held).strip())
            begun, stamp, held = number, found, [found["rest"]]
    if stamp is not None:
        yield begun, _Message(stamp, "\n".join(held).strip())


def _reactions(words: str) -> tuple[str, str | None]:
    """Part what was said and the reactions to it, which stand at the end of the last line."""
    whole = words.rstrip()
    at = whole.find("(- ", whole.rfind("\n") + 1)
    found = _REACTIONS.match(whole, at) if at >= 0 else None
    return (words, None) if found is None else (whole[:at].rstrip(), found["given"])


def _event(message: _Message | InvalidInput, zone: ZoneInfo, chat: str | None) -> InboundEvent:
    if isinstance(message, InvalidInput):
        raise message
    stamp, text = message
    at = datetime.fromisoformat(f"{stamp['day']} {stamp['time'].lstrip(', ')}")
    said = _SAID.match(text)
    if said is None:
        raise InvalidInput("a message that does not say who wrote it")
    words = said["text"] or ""
    metadata: dict[str, str] = {}
    words, reactions = _reactions(words)
    if reactions is not None:
        metadata["reactions"] = reactions
    files = tuple(
        Attachment(type="image" if file["image"] else "file", name=file["name"], url=file["url"])
        for file in _FILE.finditer(words)
    )
    # Two blanks at its end are how markdown ends a line.
    rows = [row.rstrip() for row in _FILE.sub("", words).strip().split("\n")]
    quoted = [row[1:].strip() for row in rows if row.startswith(">")]
    if quoted:
        metadata["quoted"] = "\n".join(quoted)
    return InboundEvent(
        platform=_PLATFORM,
        sender_id=said["who"].strip(),
        sender_name=said["who"].strip(),
        occurred_at=zoned(at, zone),
        content="\n".join(row for row in rows if not row.startswith(">")).strip(),
        peer_id=chat,
        attachments=files,
        metadata=metadata,
    )


def _recognises(start: bytes, name: str) -> bool:
    row = decoded(start.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0])
    stamp = _STAMP.match(row.rstrip("\r"))
    return stamp is not None and _SAID.match(stamp["rest"]) is not None


def _opened(member: Member, options: Options) -> OneFile:
    zone = options.zone_for(member.path)
    *_, folder, _ = ("", "", *member.path.split("/"))
    chat = folder or None if _IN_FOLDER.match(member.name) else None

    def found(one: Member) -> Iterator[tuple[int, Found]]:
        return converted(_messages(text_lines(one)), lambda message: [_event(message, zone, chat)])

    return OneFile(member, found)


ADAPTER = Adapter(_PLATFORM, _recognises, _opened)
