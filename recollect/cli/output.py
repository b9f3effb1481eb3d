"""The output of commands: lines for people, JSON for programs, and progress."""

from __future__ import annotations

import os
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
WIDEST = 100
_NARROWEST = 30
# The width if the terminal states none.
_USUAL = (80, 24)
# The most lines of a text on a terminal, unless all of it is asked for.
_MAX_LINES = 3


class Styled(NamedTuple):
    """A part of a line that stands out on a terminal."""

    text: str
    style: dict[str, Any]


def strong(text: str) -> Styled:
    """Return a text emphasised."""
    return Styled(text, {"bold": True})


def quiet(text: str) -> Styled:
    """Return a text dimmed."""
    return Styled(text, {"dim": True})


def warning(text: str) -> Styled:
    """Return a text as a warning."""
    return Styled(text, {"fg": "yellow"})


def good(text: str) -> Styled:
    """Return a text as a success."""
    return Styled(text, {"fg": "green"})


def bad(text: str) -> Styled:
    """Return a text as an error."""
    return Styled(text, {"fg": "red", "bold": True})


def emit(value: object) -> None:
    """Write one JSON document on stdout."""
    import msgspec

    sys.stdout.write(escape_invisible_json(msgspec.json.encode(value).decode()) + "\n")


def say(*parts: str | Styled, err: bool = False) -> None:
    """Write one line for people on stdout, or stderr; quoted text cannot act on the terminal.

    All output for people goes through here. Styles show only on a terminal, and not if NO_COLOR is
    set.
    """
    line = "".join(
        escape_invisible(part)
        if isinstance(part, str)
        else click.style(escape_invisible(part.text), **part.style)
        for part in parts
    )
    click.echo(line, err=err, color=False if _plain() else None)


def note(line: str) -> None:
    """Write a note on stderr that may explain the answer."""
    say(warning("note: "), line, err=True)


def _plain() -> bool:
    """Return whether the reader wants no colours."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def width() -> int | None:
    """Return how many columns a line may take on stdout; None if it is no terminal."""
    if not sys.stdout.isatty():
        return None
    return max(_NARROWEST, min(shutil.get_terminal_size(_USUAL).columns, WIDEST))


def paragraph(text: str, indent: int = 0, *, full: bool = False) -> list[str]:
    """Return a text as the lines that a terminal has room for, `indent` columns taken already.

    At most three, the last with an ellipsis where that is not all, unless `full`. Where stdout is
    no terminal, it is one line with all of the text.
    """
    room = width()
    whole = escape_invisible(collapse_whitespace(text))
    if room is None:
        return [whole]
    lines = wrapped(whole, max(room - indent, _NARROWEST // 2))
    if full or len(lines) <= _MAX_LINES:
        return lines
    kept = lines[:_MAX_LINES]
    return [*kept[:-1], _cut(kept[-1] + " " + lines[_MAX_LINES], room - indent)]


def wrapped(text: str, columns: int) -> list[str]:
    """Return a text in lines of at most so many columns, broken at blanks where there are any."""
    lines: list[str] = []
    line, taken = "", 0
    for word in text.split(" "):
        length = columns_of(word)
        if line and taken + 1 + length <= columns:
            line, taken = f"{line} {word}", taken + 1 + length
            continue
        if line:
            lines.append(line)
        line, taken = "", 0
        for sign in word:
            size = columns_of(sign)
            if taken + size > columns:
                lines.append(line)
                line, taken = "", 0
            line, taken = line + sign, taken + size
    return [*lines, line]


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of_sign, text))


def _columns_of_sign(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in ("W", "F") else 1


def cut(text: str, columns: int) -> str:
    """Return the beginning of a text in so many columns, with an ellipsis if it was cut."""
    return text if columns_of(text) <= columns else _cut(text, columns)


def _cut(text: str, columns: int) -> str:
    kept, taken = "", 0
    for sign in text:
        size = _columns_of_sign(sign)
        if taken + size > columns - 1:
            break
        kept, taken = kept + sign, taken + size
    return kept.rstrip(" ,;:") + "…"


def say_parts(indent: str, *parts: Styled) -> None:
    """Write parts with a dot between them: in one line, or a line each where that is too long."""
    room = width()
    length = sum(columns_of(escape_invisible(part.text)) for part in parts) + 3 * (len(parts) - 1)
    if room is None or len(indent) + length <= room:
        dotted = [piece for part in parts for piece in (quiet(" · "), part)]
        say(indent, *dotted[1:])
        return
    for part in parts:
        for line in wrapped(escape_invisible(part.text), room - len(indent)):
            say(indent, Styled(line, part.style))


def padded(text: str, columns: int) -> str:
    """Return a text with blanks after it, up to so many columns."""
    return text + " " * (columns - columns_of(text))


def show_step(what: str, done: int, total: int | None) -> None:
    """Write on stderr what is being fetched: once, or on a terminal with its progress, in one
    line.
    """
    if not sys.stderr.isatty():
        if done == 0:
            say(what, err=True)
        return
    share = f" {done / total:4.0%}" if total else ""
    click.echo(
        f"\r{escape_invisible(what)}{share}\x1b[K", err=True, nl=bool(total and done >= total)
    )


@contextmanager
def progress(
    label: str, total: int | None = None, unit: str = "records"
) -> Iterator[Callable[[int], None]]:
    """Show on stderr, on a terminal only, how many records (or bytes) of a number are done.

    `total` None: the number is not known.
    """
    in_bytes = unit == "bytes"

    def so_far(done: int | None) -> str | None:
        if done is None:
            return None
        said = size(done) if in_bytes else f"{done:,}"
        of = size(total or 0) if in_bytes else f"{total:,}"
        return f"{said} of {of}" if total else said

    with click.progressbar(
        length=total or 0,
        label=label,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_percent=bool(total),
        show_eta=bool(total),
        item_show_func=so_far,
        bar_template="%(label)s  [%(bar)s]  %(info)s" if total else "%(label)s  %(info)s",
    ) as bar:
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            bar.update(count, done)

        yield advance


def size(count: int) -> str:
    """Return a number of bytes as people read it: 12.3 MB."""
    if count < 1_000:
        return f"{count} B"
    for unit, one in (("kB", 1_000), ("MB", 1_000_000)):
        if count < one * 1_000:
            return f"{count / one:.1f} {unit}"
    return f"{count / 1_000_000_000:.1f} GB"
