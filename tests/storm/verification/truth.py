"""What must be in the ledger in the end: notes, taken as each thing was acknowledged.

A note is written when the broker, or a command, has said that it holds what was published. What
nobody answered for is noted as unsure: it may be there, once.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec

#: Where records are parked that name no zone.
UNADDRESSED = "unaddressed"
#: The line of events that came through the inbox.
INBOX = "inbox"

#: (zone, platform, the source's id)
Name: TypeAlias = tuple[str, str, str]


class Said(msgspec.Struct, frozen=True, tag=True):
    """An event is held. `line` is where it was published in order, `at` its place there."""

    zone: str
    platform: str
    id: str
    digest: str
    line: str
    at: int

    @property
    def name(self) -> Name:
        return self.zone, self.platform, self.id


class Unsure(msgspec.Struct, frozen=True, tag=True):
    """An event was published, and nobody said what became of it."""

    zone: str
    platform: str
    id: str

    @property
    def name(self) -> Name:
        return self.zone, self.platform, self.id


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The inbox holds a record that must be parked; `of` is the event that a conflict is about."""

    zone: str
    key: bytes | None
    body: bytes
    of: tuple[str, str] | None = None


class Forgotten(msgspec.Struct, frozen=True, tag=True):
    """An event was erased, and with it a word that no other event has."""

    zone: str
    platform: str
    id: str
    token: str

    @property
    def name(self) -> Name:
        return self.zone, self.platform, self.id


Note: TypeAlias = Said | Unsure | Refused | Forgotten

_notes = msgspec.json.Decoder(Note)


def digest_of(content: str) -> str:
    """Return by what the content of an event is known again."""
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass
class Truth:
    """All notes, by what they are about."""

    #: What each event says, by its name.
    said: dict[Name, str] = field(default_factory=dict)
    #: In which lines each event was published, and where first.
    lines: dict[Name, dict[str, int]] = field(default_factory=dict)
    unsure: set[Name] = field(default_factory=set)
    refused: set[Refused] = field(default_factory=set)
    forgotten: dict[Name, str] = field(default_factory=dict)

    @classmethod
    def of(cls, notes: Iterable[Note]) -> Truth:
        """Return what notes say."""
        truth = cls()
        for note in notes:
            truth.add(note)
        return truth

    @classmethod
    def read(cls, path: Path) -> Truth:
        """Return what a file of notes says."""
        return cls.of(_notes.decode(line) for line in path.read_bytes().splitlines())

    def add(self, note: Note) -> None:
        """Take a note in."""
        if isinstance(note, Said):
            self.said[note.name] = note.digest
            lines = self.lines.setdefault(note.name, {})
            lines[note.line] = min(note.at, lines.get(note.line, note.at))
        elif isinstance(note, Unsure):
            self.unsure.add(note.name)
        elif isinstance(note, Refused):
            self.refused.add(note)
        else:
            self.forgotten[note.name] = note.token


class Notes:
    """A file of notes that any thread may add to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file = path.open("ab")

    def add(self, *notes: Note) -> None:
        """Write notes down."""
        with self._lock:
            self._file.writelines(msgspec.json.encode(note) + b"\n" for note in notes)
            self._file.flush()

    def close(self) -> None:
        self._file.close()
