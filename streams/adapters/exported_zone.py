"""An export of a zone by recollect: its events, each with the number of its record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.schemas.errors import InvalidInput
from recollect.schemas.exported_events import exported_draft
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import lines

_ORIGIN = re.compile(rb'"recollect":\{"zone":"[^"\\]{1,64}","number":\d+\}\}\s*\Z')


class ExportedZone(SingleFileSource):
    """The export of a zone."""

    splits_long_messages = False


def _recognises(start: bytes, name: str) -> bool:
    first, feed, _ = start.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")
    if not first.startswith(b"{"):
        return False
    # The beginning of a file may end within a long first line.
    return bool(_ORIGIN.search(first)) if feed else b'"recollect":{"zone":"' in first


def _results(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    with entry.open() as file:
        for number, line in enumerate(lines(file), 1):
            text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if not text.strip():
                continue
            try:
                yield number, exported_draft(text)
            except InvalidInput as error:
                yield number, error


def _read(entry: InputEntry, options: Options) -> ExportedZone:
    return ExportedZone(entry, _results)


ADAPTER = Adapter("recollect", _recognises, _read)
