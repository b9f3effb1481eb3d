"""The formats that can be imported, and how one is recognised."""

from __future__ import annotations

from pathlib import Path

from schemas.errors import InvalidInput
from streams.adapters.adapter import Source
from streams.adapters.jsonl import JsonLines

FORMATS = ("auto", "jsonl")


def open_source(path: Path, format_: str = "auto") -> Source:
    """Return the adapter for a file.

    Raises:
        InvalidInput: the file cannot be read, or is in no format that is known here.
    """
    if not path.is_file():
        what = "does not exist"
        if path.exists():
            what = "is a directory" if path.is_dir() else "is no regular file"
        raise InvalidInput(f"{path} {what}; name a file")
    if format_ == "auto":
        with open(path, "rb") as file:
            start = file.read(4_096).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start and not start.startswith(b"{") and path.suffix not in (".jsonl", ".ndjson"):
            raise InvalidInput(
                f"{path} is in no format that is known here ({', '.join(FORMATS[1:])}); "
                "if it is one of them, name it with --format"
            )
    return JsonLines(path, str(path))
