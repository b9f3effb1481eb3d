"""Imports the chats of Aider: what the user typed, and the answers.

`.aider.chat.history.md` has all sessions in a repository, as Markdown. What the user typed begins
with `####`, output of the program with `>`; everything else is an answer. The program ends both
with two spaces, which headings and quotations of an answer lack. Only the beginning of a session
has a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.assistants.assistant_chats import Turns, message_event
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    USER,
    without_injected,
)
from recollect.streams.adapters.import_options import LocalClock, Options
from recollect.streams.adapters.input.input_files import InputEntry, decoded_path
from recollect.streams.adapters.input.text_lines import text_lines

_PLATFORM = "aider"
_NAME = "Aider"
_SESSION = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_START = re.compile(rb"\s*# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s")
_TYPED = re.compile(r"####(?: (?P<words>.*))?  ")
_OUTPUT = re.compile(r">(?: |$)")
_END = "  "
# Commands whose arguments are the user's words; those of others are files, settings and programs.
_PROMPT_COMMAND = re.compile(r"/(?:ask|architect|chat|code|context|ok)\b\s*")
_BLANK = "<blank>"


class _Message(NamedTuple):
    """A message of a session. `number`: from 1 in its session."""

    session: str
    number: int
    role: str
    text: str


def _recognises(start: bytes, name: str) -> bool:
    return _START.match(start.removeprefix(BYTE_ORDER_MARK)) is not None


def _messages(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Message]]:
    """Yield the messages of all sessions, each with the number of its first line."""
    session, number = "", 0
    first, role = 1, ASSISTANT
    rows: list[str] = []
    after_blank = False

    def finished() -> Iterator[tuple[int, _Message]]:
        nonlocal number
        text = "\n".join(rows).strip()
        if text and session:
            number += 1
            yield first, _Message(session, number, role, text)
        rows.clear()

    for line_number, line in lines:
        begun = _SESSION.fullmatch(line)
        if begun is not None:
            yield from finished()
            session, number, role = begun[1], 0, ASSISTANT
            continue
        is_answering = role == ASSISTANT and bool(rows)
        if _OUTPUT.match(line) and (line.endswith(_END) or not is_answering):
            # Output of the program ends what precedes it. Its first line of several has no spaces.
            yield from finished()
            role = ASSISTANT
            continue
        typed = _TYPED.fullmatch(line)
        of_user = typed is not None
        # The program writes a blank line before each prompt.
        begins_prompt = of_user and (role == ASSISTANT or after_blank)
        if begins_prompt or (role == USER and not of_user and line.strip()):
            yield from finished()
            role = USER if of_user else ASSISTANT
        after_blank = not line.strip()
        if typed is not None:
            line = (typed["words"] or "").rstrip()
        if not rows:
            first = line_number
        if rows or line.strip():
            rows.append(line)
    yield from finished()


class _Chats:
    """Converts the messages of a file, in order."""

    def __init__(self, clock: LocalClock, project: str | None) -> None:
        self._clock = clock
        self._project = project
        self._session = ""
        self._at = ""
        self._turns = Turns()

    def events(self, message: _Message) -> Iterator[InboundEvent]:
        """Yield the event of a message; none if it is a command without words of the user."""
        if message.session != self._session:
            self._session, self._turns = message.session, Turns()
            self._at = self._clock.zoned(datetime.fromisoformat(message.session))
        text = message.text
        if message.role == USER:
            text = _PROMPT_COMMAND.sub("", text, count=1) if _PROMPT_COMMAND.match(text) else text
            if text.startswith(("/", "!")) or text == _BLANK:
                return
        text = without_injected(text)
        if not text:
            return
        id_ = f"{message.session}:{message.number}"
        turn = self._turns.of(message.role, id_)
        yield message_event(
            *(_PLATFORM, message.role, text, self._at),
            id=id_,
            chat=message.session,
            turn=turn,
            name=_NAME if message.role == ASSISTANT else None,
            # A later message may belong to the same turn: the program writes between them.
            ends_turn=False,
            reply_to=self._turns.question if message.role == ASSISTANT else None,
            metadata={"project": self._project},
        )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    zone = options.zone_for(entry.path)
    *_, folder, _ = ("", *decoded_path(entry.path).split("/"))

    def parse(opened: InputEntry) -> Iterator[tuple[int, ParseResult]]:
        chats = _Chats(LocalClock(zone), folder or None)
        return convert(_messages(text_lines(opened)), chats.events)

    return SingleFileSource(entry, parse, revisable="growing")


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
