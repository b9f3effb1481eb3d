"""An export of a zone by recollect: its events, each with the number of its record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.schemas.errors import InvalidInput
from recollect.schemas.exported_events import MAX_LINE_BYTES, exported_draft
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.input_files import PROBE_BYTES, InputEntry
from recollect.streams.adapters.input.text_lines import lines

_ORIGIN = re.compile(rb'"recollect":\{"zone":"[^"\\]{1,64}","number":\d+\}\}\s*\Z')
# How a line of an export begins; its origin is at the end.
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_BEGINNING = re.compile(
    rb'\{"id":' + _TEXT + rb',"platform":' + _TEXT + rb',"kind":"[a-z_]+"'
    rb',"occurred_at":"[^"]+","ingested_at":"'
)


class ExportedZone(SingleFileSource):
    """The export of a zone."""

    splits_long_messages = False


def _recognises(start: bytes, name: str) -> bool:
    first, feed, _ = start.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")
    if not first.startswith(b"{"):
        return False
    if not feed and len(start) >= PROBE_BYTES:
        # The first line is longer than the beginning.
        return _BEGINNING.match(first) is not None
    return _ORIGIN.search(first) is not None


def _results(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    with entry.open() as file:
        for number, line in enumerate(lines(file, MAX_LINE_BYTES), 1):
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
