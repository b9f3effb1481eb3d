"""The generic adapter: one JSON object a line, in the form that docs/reference.md gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from schemas.errors import InvalidInput
from schemas.events import Draft
from schemas.inbound import MAX_RECORD_BYTES, decode_inbound, draft_of
from schemas.wire import Rejection
from streams.adapters.adapter import Source


class JsonLines(Source):
    """A file of JSON lines. Blank lines are passed over; a byte order mark is no data."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name

    def drafts(self) -> Iterator[tuple[int, Draft | Rejection]]:
        same: Counter[str] = Counter()
        with open(self._path, "rb") as file:
            for number, line in enumerate(lines(file), 1):
                text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if not text.strip():
                    continue
                try:
                    yield number, draft_of_line(text, same)
                except InvalidInput as error:
                    yield number, Rejection(self._name, number, str(error))


def draft_of_line(line: bytes, same: Counter[str]) -> Draft:
    """Return the draft of one JSON object.

    `same` counts those of one import that have no id and are otherwise alike.

    Raises:
        InvalidInput: what is wrong with it, in one sentence.
    """
    event = decode_inbound(line.rstrip(b"\r\n"))
    draft = draft_of(event)
    if event.id is None:
        # The second such record of a file is a second event; in another file it is the same.
        first = draft.payload.source_id
        ordinal = same[first]
        same[first] += 1
        if ordinal:
            draft = draft_of(event, ordinal)
    return draft


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of one that is too long only as much as shows that it is."""
    while line := file.readline(MAX_RECORD_BYTES + 2):
        if len(line) > MAX_RECORD_BYTES + 1 and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
                pass
        yield line
