"""The formats that can be imported, and how one is recognised."""

from __future__ import annotations

import shlex
from pathlib import Path

from schemas.errors import InvalidInput
from streams.adapters import jsonl
from streams.adapters.adapter import BYTE_ORDER_MARK, OPENS_ARRAY, Source
from streams.adapters.input_files import STANDARD_INPUT, Advance, InputFile

#: Asked in this order who recognises a file.
ADAPTERS = (jsonl.ADAPTER,)
FORMATS = ("auto", *(adapter.name for adapter in ADAPTERS))

_ZIP = b"PK\x03\x04"
_TABLES = {".csv": ",", ".tsv": "\t"}
# A column that a table of events has, whatever its file is called.
_COLUMN = b"content"
_ROWS = "csv.DictReader(sys.stdin{})"
_TO_LINES = "python3 -c 'import csv, json, sys; [print(json.dumps(row)) for row in {}]'"


def open_source(path: Path, format_: str = "auto", advance: Advance | None = None) -> Source:
    """Return a file as its adapter reads it; `-` is standard input, of which the beginning is read.

    `advance` is called with each number of bytes of the file that were read.

    Raises:
        InvalidInput: the file cannot be read, or is in no format that is known here; the message
            says what to do with it.
    """
    file = InputFile(path, advance)
    if format_ != "auto":
        return next(adapter for adapter in ADAPTERS if adapter.name == format_).read(file)
    start = file.start()
    for adapter in ADAPTERS:
        if adapter.recognises(start, file.name):
            return adapter.read(file)
    raise InvalidInput(_advice(start.removeprefix(BYTE_ORDER_MARK).strip(), path))


def _advice(start: bytes, path: Path) -> str:
    """Return what to do with a file that nobody recognises."""
    what = "standard input" if path == STANDARD_INPUT else str(path)
    given = "" if path == STANDARD_INPUT else shlex.quote(str(path))
    if OPENS_ARRAY.match(start):
        return (
            f"{what} is one JSON array, and events come one object a line; take it apart: "
            f"jq -c '.[]' {given or 'FILE'} | recollect ingest -"
        )
    if start.startswith(_ZIP):
        return f"{what} is a zip archive; unpack it and name the files in it"
    if separator := _separator(start, path):
        rows = _ROWS.format("" if separator == "," else ', delimiter="\\t"')
        return (
            f"{what} is a table (CSV), and events come as JSON, one object a line; name its "
            "columns platform, sender_id, occurred_at and content, and turn its rows into "
            f"objects: {_TO_LINES.format(rows)} < {given or 'FILE'} | recollect ingest -"
        )
    return (
        f"{what} is in no format that is known here ({', '.join(FORMATS[1:])}); an event is one "
        "JSON object on a line, as recollect ingest --help shows"
    )


def _separator(start: bytes, path: Path) -> str | None:
    """Return what parts the columns of a table; None: it is none."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    if suffix in _TABLES:
        return _TABLES[suffix]
    return next(
        (separator for separator in _TABLES.values() if _COLUMN in start.split(separator.encode())),
        None,
    )
