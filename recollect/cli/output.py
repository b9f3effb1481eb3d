"""Command output: lines for people, JSON for programs, and progress."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import click

from recollect.schemas.text_sanitising import (
    collapse_whitespace,
    escape_invisible,
    escape_invisible_json,
)

#: Longer lines are hard to read, however wide the terminal is.
MAX_WIDTH = 100
_MIN_WIDTH = 30
# Columns and lines of a terminal that does not report its size.
_DEFAULT_SIZE = (80, 24)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Maximum lines of a text on a terminal, unless --full is given.
_MAX_LINES = 3


class Styled(NamedTuple):
    """A styled part of a line."""

    text: str
    style: dict[str, Any]


def strong(text: str) -> Styled:
    """Return a text in bold."""
    return Styled(text, {"bold": True})


def quiet(text: str) -> Styled:
    """Return a text dimmed."""
    return Styled(text, {"dim": True})


def warning(text: str) -> Styled:
    """Return a text in the style of a warning."""
    return Styled(text, {"fg": "yellow"})


def good(text: str) -> Styled:
    """Return a text in the style of a success."""
    return Styled(text, {"fg": "green"})


def bad(text: str) -> Styled:
    """Return a text in the style of an error."""
    return Styled(text, {"fg": "red", "bold": True})


def print_json(value: object) -> None:
    """Print one JSON document on stdout, in ASCII if stdout is not UTF-8."""
    import msgspec

    text = escape_invisible_json(msgspec.json.encode(value).decode())
    # A stream of text in memory has no encoding.
    if (sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8"):
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    sys.stdout.write(text + "\n")


def print_line(*parts: str | Styled, err: bool = False) -> None:
    """Print one line for people on stdout, or stderr, with control characters escaped.

    All output for people goes through here. Styles appear only on a terminal, and not if NO_COLOR
    is set.
    """
    line = "".join(
        escape_invisible(part)
        if isinstance(part, str)
        else click.style(escape_invisible(part.text), **part.style)
        for part in parts
    )
    click.echo(line, err=err, color=False if _plain() else None)


def note(line: str) -> None:
    """Print a note on stderr."""
    print_line(warning("note: "), line, err=True)


def _plain() -> bool:
    """Return whether the environment disables colours."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def width() -> int | None:
    """Return the maximum line width on stdout, in columns; None if it is not a terminal."""
    if not sys.stdout.isatty():
        return None
    return max(_MIN_WIDTH, min(shutil.get_terminal_size(_DEFAULT_SIZE).columns, MAX_WIDTH))


def paragraph(text: str, indent: int = 0, *, full: bool = False) -> list[str]:
    """Return a text wrapped to the terminal, less `indent` columns.

    A longer text is cut to three lines and ends in an ellipsis, unless `full` is set. If stdout is
    not a terminal, the whole text is on one line.
    """
    columns = width()
    escaped = escape_invisible(collapse_whitespace(text))
    if columns is None:
        return [escaped]
    lines = wrapped(escaped, max(columns - indent, _MIN_WIDTH // 2))
    if full or len(lines) <= _MAX_LINES:
        return lines
    kept = lines[:_MAX_LINES]
    return [*kept[:-1], _truncate(kept[-1] + " " + lines[_MAX_LINES], columns - indent)]


def wrapped(text: str, columns: int) -> list[str]:
    """Return a text in lines of at most `columns`, broken at spaces where possible."""
    lines: list[str] = []
    line, taken = "", 0
    for word in text.split(" "):
        length = display_width(word)
        if line and taken + 1 + length <= columns:
            line, taken = f"{line} {word}", taken + 1 + length
            continue
        if line:
            lines.append(line)
        line, taken = "", 0
        for character in word:
            size = display_width(character)
            if taken + size > columns:
                lines.append(line)
                line, taken = "", 0
            line, taken = line + character, taken + size
    return [*lines, line]


def display_width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def truncate(text: str, columns: int) -> str:
    """Return a text truncated to `columns`, with an ellipsis if it was longer."""
    return text if display_width(text) <= columns else _truncate(text, columns)


def _truncate(text: str, columns: int) -> str:
    kept, taken = "", 0
    for character in text:
        size = _character_width(character)
        if taken + size > columns - 1:
            break
        kept, taken = kept + character, taken + size
    return kept.rstrip(" ,;:") + "…"


def print_parts(indent: str, *parts: Styled) -> None:
    """Print parts on one line, separated by dots; if that is too long, each on its own line."""
    columns = width()
    length = sum(display_width(escape_invisible(part.text)) for part in parts) + 3 * (
        len(parts) - 1
    )
    if columns is None or len(indent) + length <= columns:
        dotted = [piece for part in parts for piece in (quiet(" · "), part)]
        print_line(indent, *dotted[1:])
        return
    for part in parts:
        for line in wrapped(escape_invisible(part.text), columns - len(indent)):
            print_line(indent, Styled(line, part.style))


def padded(text: str, columns: int) -> str:
    """Return a text padded with spaces to `columns`."""
    return text + " " * (columns - display_width(text))


def show_step(what: str, done: int, total: int | None) -> None:
    """Show a download on stderr: one line, updated with its progress on a terminal."""
    if not sys.stderr.isatty():
        if done == 0:
            print_line(what, err=True)
        return
    share = f" {done / total:4.0%}" if total else ""
    click.echo(
        f"\r{escape_invisible(what)}{share}\x1b[K", err=True, nl=bool(total and done >= total)
    )


@contextmanager
def progress(
    label: str, total: int | None = None, unit: str = "records"
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr if that is a terminal; yield the function that advances it.

    `total`: the number of records or bytes; None if it is unknown.
    """
    in_bytes = unit == "bytes"

    def _progress_text(done: int | None) -> str | None:
        if done is None:
            return None
        text = size(done) if in_bytes else f"{done:,}"
        of = size(total or 0) if in_bytes else f"{total:,}"
        return f"{text} of {of}" if total else text

    with click.progressbar(
        length=total or 0,
        label=label,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_percent=bool(total),
        show_eta=bool(total),
        item_show_func=_progress_text,
        bar_template="%(label)s  [%(bar)s]  %(info)s" if total else "%(label)s  %(info)s",
    ) as bar:
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            bar.update(count, done)

        yield advance


def size(count: int) -> str:
    """Return a number of bytes in a readable unit: 12.3 MB."""
    if count < 1_000:
        return f"{count} B"
    for unit, one in (("kB", 1_000), ("MB", 1_000_000)):
        if count < one * 1_000:
            return f"{count / one:.1f} {unit}"
    return f"{count / 1_000_000_000:.1f} GB"
