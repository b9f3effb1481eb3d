"""What an adapter is: it yields drafts with the place they came from, and refuses by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from schemas.events import Draft
from schemas.wire import Rejection
from streams.adapters.input_files import InputFile

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: How an array of objects begins; or one of anything, on a line of its own.
OPENS_ARRAY = re.compile(rb"\[\s*(?:\{|\Z)")


class Source(Protocol):
    """An export that is open for reading."""

    def drafts(self) -> Iterator[tuple[int, Draft | Rejection]]:
        """Yield (line or record number from 1, draft or refusal), in the export's order."""
        ...


class Adapter(NamedTuple):
    """A format that can be imported.

    `recognises` is asked of a file's first line that is not blank (or 4 kB of it) and its name.
    """

    name: str
    recognises: Callable[[bytes, str], bool]
    read: Callable[[InputFile], Source]
