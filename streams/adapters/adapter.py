"""What an adapter is: it yields drafts with the place they came from, and refuses by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from schemas.events import Draft


class Rejection(msgspec.Struct, frozen=True):
    """A record that was refused: where it stands (line from 1) and why."""

    path: str
    line: int
    reason: str


class Source(Protocol):
    """An export that is open for reading."""

    def drafts(self) -> Iterator[tuple[int, Draft | Rejection]]:
        """Yield (line or record number from 1, draft or refusal), in the export's order."""
        ...
