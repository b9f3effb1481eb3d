"""Sends the messages of transcripts to the service, each from where the last hook stopped.

A position per transcript is kept in `$XDG_STATE_HOME/recollect/claude_code`
[~/.local/state/recollect/claude_code]: ids and a hash of the part read, no text. It advances when
the service has answered. So nothing is lost if a hook is killed, if two run at once, or while the
service is down: the same events are sent again, and the service recognises duplicates. A
transcript that was truncated or rewritten is read again from its beginning.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Optional
from urllib.error import HTTPError

if TYPE_CHECKING:
    from recollect.plugins.claude_code.hooks.plugin_service import Service
    from recollect.plugins.claude_code.hooks.transcript_parser import (
        MAX_LINE_BYTES,
        EventFields,
        MalformedRecord,
        Transcript,
        decode_record,
    )
else:
    from transcript_parser import MAX_LINE_BYTES, MalformedRecord, Transcript, decode_record

# Format version of a position file.
_VERSION = 1
_CHUNK_BYTES = 1 << 20
_MAX_BATCH_EVENTS = 200
_MAX_BATCH_BYTES = 500_000
# A transcript of another session that changed within this time may be in use.
_IN_USE_SECONDS = 60.0
# The HTTP status if all events, or the body, were rejected: a retry would not help.
_REFUSED_EVENTS = 422
_REFUSED_BODY = (400, 413)


class Position(NamedTuple):
    """How far a transcript was sent.

    Reading continues at `offset`, with the parser's `state`. `digest` is the SHA-256 of the first
    `end` bytes. `ledger_end`: the end offset of the service's ledger after the last events.
    """

    transcript: str
    offset: int = 0
    end: int = 0
    digest: str = sha256().hexdigest()
    ledger_end: int = 0
    state: Optional[dict[str, Any]] = None


class Positions:
    """The positions of transcripts for one service and zone, a file each."""

    def __init__(self, service: Service) -> None:
        self._service = [service.url, service.zone]
        self._directory = _state_directory()

    def read(self, transcript: str) -> Position:
        """Return a transcript's position; its beginning if none is stored."""
        try:
            with self._file(transcript).open(encoding="utf-8") as file:
                head, state = json.loads(file.readline()), json.loads(file.readline())
            if head.pop("version") == _VERSION and head.pop("service") == self._service:
                Transcript(state)
                return Position(**head, state=state)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            pass
        return Position(transcript)

    def write(self, position: Position) -> None:
        """Replace a transcript's position in one step.

        Raises:
            OSError: the file cannot be written; the old position stays.
        """
        head = {"version": _VERSION, "service": self._service, **position._asdict()}
        state = head.pop("state")
        self._directory.mkdir(0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=str(self._directory), prefix=".position-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{json.dumps(head)}\n{json.dumps(state)}\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._file(position.transcript))
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise

    def register(self, transcript: str) -> None:
        """Store a transcript's position, so that a later session sends what this one could not."""
        with suppress(OSError):
            if not self._file(transcript).exists():
                self.write(Position(transcript))

    def unsent(self) -> Iterator[tuple[str, bool]]:
        """Yield the transcripts with unsent records, and whether a session may be writing them."""
        for file in sorted(self._directory.glob("*.json")):
            with suppress(OSError, ValueError, TypeError, KeyError):
                with file.open(encoding="utf-8") as opened:
                    head = json.loads(opened.readline())
                if head["service"] != self._service:
                    continue
                transcript = str(head["transcript"])
                if not os.path.exists(transcript):
                    # Claude Code deletes old transcripts.
                    file.unlink()
                    continue
                status = os.stat(transcript)
                if status.st_size != head["end"]:
                    yield transcript, time.time() - status.st_mtime < _IN_USE_SECONDS

    @contextmanager
    def background_lock(self) -> Iterator[bool]:
        """Yield whether this process may send in the background: only one at a time may."""
        try:
            import fcntl
        except ImportError:
            yield True
            return
        with (self._directory / "background.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True

    def _file(self, transcript: str) -> Path:
        key = json.dumps([*self._service, transcript]).encode()
        return self._directory / f"{sha256(key).hexdigest()[:32]}.json"


class TranscriptSender:
    """Sends transcripts to a service; each request may take `timeout` seconds."""

    def __init__(self, service: Service, timeout: float) -> None:
        self.positions = Positions(service)
        self._service = service
        self._timeout = timeout

    def send_all(self, transcript: Optional[str]) -> None:
        """Send the new messages of a transcript, then those of all other registered ones.

        Raises:
            OSError, ValueError: the service does not accept them now; the position stays.
        """
        if transcript is not None:
            self._send(transcript)
        for other, is_in_use in self.positions.unsent():
            if other != transcript:
                self._send(other, is_in_use=is_in_use)

    def _send(self, transcript: str, *, is_in_use: bool = False) -> None:
        try:
            self._send_from(self.positions.read(transcript), is_in_use)
        except FileNotFoundError:
            # The file does not exist before the first prompt.
            return
        except _LedgerBehind:
            self._send_from(Position(transcript), is_in_use)

    def _send_from(self, position: Position, is_in_use: bool) -> None:
        with open(position.transcript, "rb") as file:
            for events, new_position in unsent_batches(file, position, is_in_use=is_in_use):
                ledger_end = self._post(events) if events else None
                if ledger_end is not None and ledger_end < position.ledger_end:
                    raise _LedgerBehind
                position = new_position._replace(ledger_end=ledger_end or position.ledger_end)
                # If the position cannot be stored, everything is sent again, so nothing is lost.
                with suppress(OSError):
                    self.positions.write(position)

    def _post(self, events: list[EventFields]) -> Optional[int]:
        """Send events, and return the ledger's new end offset, if the service reports it."""
        try:
            answer = self._service.post_in_zone("events", {"events": events}, self._timeout)
        except HTTPError as error:
            if error.code in _REFUSED_BODY and len(events) > 1:
                half = len(events) // 2
                ends = (self._post(events[:half]), self._post(events[half:]))
                return ends[1] or ends[0]
            if error.code == _REFUSED_EVENTS or error.code in _REFUSED_BODY:
                return None
            raise
        _, _, rest = str(answer.get("token", "")).partition(":")
        end, _, _ = rest.partition(":")
        return int(end) if end.isdigit() else None


class _LedgerBehind(Exception):
    """The service lost events that it had acknowledged, as after a restore from a backup."""


def unsent_batches(
    file: BinaryIO, position: Position, *, is_in_use: bool = False
) -> Iterator[tuple[list[EventFields], Position]]:
    """Yield batches of a transcript's unsent events, each with the position to store after sending.

    `is_in_use`: the last text of an answer may still grow, so it is not sent yet.
    """
    digest = _digest_of(file, position.end)
    if digest is None or digest.hexdigest() != position.digest:
        position, digest = Position(position.transcript), sha256()
    elif os.fstat(file.fileno()).st_size == position.end:
        return
    parser = Transcript(position.state)
    events: list[EventFields] = []
    size = 0
    start = file.seek(position.offset)
    hashed = position.end

    def reached() -> Position:
        return Position(
            position.transcript,
            offset=parser.resume_at(start),
            end=hashed,
            digest=digest.hexdigest(),
            state=parser.state(),
        )

    while line := file.readline(MAX_LINE_BYTES):
        is_complete = line.endswith(b"\n")
        record: object = None
        if len(line) < MAX_LINE_BYTES or is_complete:
            record = decode_record(line) if line.strip() else None
            if not is_complete and isinstance(record, MalformedRecord):
                # The rest of this line is not written yet.
                break
        end = start
        for part in _parts(file, line):
            digest.update(part[max(hashed - end, 0) :])
            end += len(part)
        hashed = max(hashed, end)
        if record is not None:
            for _, event in parser.add(start, record):
                if not isinstance(event, MalformedRecord):
                    events.append(event)
                    size += len(event["content"])
        if is_complete or record is None:
            start = end
        if len(events) >= _MAX_BATCH_EVENTS or size >= _MAX_BATCH_BYTES:
            position = reached()
            yield events, position
            events, size = [], 0
    if is_in_use and parser.resume_at(start) != start:
        # The position stays, so that this transcript counts as unsent.
        yield events, position
        return
    position = reached()
    # The turn is over: the last text is complete. It is read again if the transcript grows.
    events += [event for _, event in parser.finish() if not isinstance(event, MalformedRecord)]
    yield events, position


def _parts(file: BinaryIO, line: bytes) -> Iterator[bytes]:
    """Yield the parts of a line, whose first part `line` was already read."""
    yield line
    while len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
        line = file.readline(MAX_LINE_BYTES)
        yield line


def _digest_of(file: BinaryIO, length: int) -> Any:
    """Return the hash of a file's first `length` bytes; None if it has fewer."""
    digest = sha256()
    while length:
        chunk = file.read(min(length, _CHUNK_BYTES))
        if not chunk:
            return None
        digest.update(chunk)
        length -= len(chunk)
    return digest


def _state_directory() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or os.path.join("~", ".local", "state")
    base = os.path.expanduser(base)
    # Without a home directory no positions are stored, so that no file lands in the project.
    return Path(base if os.path.isabs(base) else os.devnull) / "recollect" / "claude_code"
