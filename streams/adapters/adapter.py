"""What an adapter is: it yields drafts with the place they came from, and refuses by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from schemas.events import Draft
from schemas.wire import Rejection


class Source(Protocol):
    """An export that is open for reading."""

    def drafts(self) -> Iterator[tuple[int, Draft | Rejection]]:
        """Yield (line or record number from 1, draft or refusal), in the export's order."""
        ...
