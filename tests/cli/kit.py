"""Test kit for the command line: commands at a terminal or in a pipe."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, TextIO

import pytest

from recollect.cli.app import run

STYLE = re.compile(r"\x1b\[[0-9;]*m")
TIMEOUT = 60

Json = dict[str, Any]


class Done(NamedTuple):
    """What a command wrote, and its exit status."""

    status: int
    out: str
    err: str

    def json(self) -> list[Json]:
        """Return the documents on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def _status(arguments: list[str]) -> int:
    try:
        return run(arguments)
    except SystemExit as done:
        return int(done.code or 0)


def _read_to_end(terminal: int) -> bytes:
    """Return what is written to a terminal until it is closed on the other side."""
    written = b""
    # Linux says so by an error.
    with contextlib.suppress(OSError), open(terminal, "rb", buffering=0) as stream:
        while some := stream.read(65_536):
            written += some
    return written


class Shell:
    """A shell in a directory of its own, with a home there."""

    def __init__(self, room: Path) -> None:
        self.room = room
        ours = ("RECOLLECT_", "NO_COLOR", "COLUMNS", "LINES", "TERM")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environment = {
            **kept,
            "RECOLLECT_HOME": str(room / "home"),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "TERM": "xterm",
        }

    def __call__(self, *arguments: str, given: bytes = b"") -> Done:
        """Run a command whose output is piped; `given` is its standard input."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "ab")
        with TemporaryFile("w+b") as file:
            file.write(given)
            file.seek(0)
            with io.TextIOWrapper(file, "utf-8") as in_, self._streams(in_, out, err, {}):
                status = _status(list(arguments))
        written = (stream.buffer.getvalue().decode() for stream in (out, err))
        return Done(status, *written)

    @contextlib.contextmanager
    def _streams(
        self, in_: TextIO, out: TextIO, err: TextIO, environment: Mapping[str, str]
    ) -> Iterator[None]:
        """Be the process of a command: its streams, its directory and its environment."""
        before = os.environ.copy()
        with (
            contextlib.chdir(self.room),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(sys, "stdin", in_)
            # The width of a terminal is asked of this one.
            patch.setattr(sys, "__stdout__", out)
            os.environ.clear()
            os.environ.update(self.environment, **environment)
            try:
                yield
            finally:
                os.environ.clear()
                os.environ.update(before)

    def on_a_terminal(self, columns: int, *arguments: str, **environment: str) -> str:
        """Return the output of a command on a terminal of `columns`, with its styles."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(_read_to_end, ours)
            with (
                open(theirs, closefd=False) as in_,
                open(theirs, "w", encoding="utf-8", buffering=1) as out,
                self._streams(in_, out, out, environment),
            ):
                _status(list(arguments))
            return written.result(TIMEOUT).decode().replace("\r\n", "\n")

    def ingest(self, *events: Json, zone: str = "default") -> Done:
        """Take in events."""
        text = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
        done = self("--zone", zone, "ingest", "-", given=text.encode())
        assert done.status == 0, done.err
        return done


def said(id_: str, content: str, name: str = "Ada", at: str = "2026-05-08T13:56:00Z") -> Json:
    """Return an event in which somebody says something."""
    return {
        "id": id_,
        "platform": "slack",
        "sender_id": f"U-{name}",
        "sender_name": name,
        "occurred_at": at,
        "content": content,
    }
