"""What a fuzzer is: cases, and a check that must pass for each, within a time."""

from __future__ import annotations

import faulthandler
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recollect.cli.app import run
from recollect.schemas.text_sanitising import first_invisible_character

# A case takes milliseconds; one that takes so long hangs, whatever else the machine does.
_MAX_SECONDS = 120
# The real one, by its number, whatever stands in its place at the moment.
_STDERR = 2

Check = Callable[[Any], None]


class Target(NamedTuple):
    """A place that reads. `open` makes what it reads into, in a directory, and gives the check."""

    name: str
    cases: st.SearchStrategy[Any]
    open: Callable[[Path], AbstractContextManager[Check]]

    def fuzz(self, room: Path, examples: int, seed: int) -> None:
        """Check so many cases; raise what one of them raised, made as small as it can be."""
        with self.open(room) as check:

            @hypothesis.seed(seed)
            @settings(
                max_examples=examples,
                database=None,
                deadline=None,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
                print_blob=False,
            )
            @given(self.cases)
            def holds(case: Any) -> None:
                with _limited():
                    check(case)

            holds()


@contextmanager
def _limited() -> Iterator[None]:
    """End the process, with what every thread is at, where this takes too long."""
    faulthandler.dump_traceback_later(_MAX_SECONDS, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


class Said(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


def command(arguments: Sequence[str]) -> Said:
    """Run a command as the command line does; it may refuse, and must not break.

    What it writes is UTF-8 and acts on no terminal, and with --json it is JSON.
    """
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        status = run(list(arguments))
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    assert status in (0, 1, 2), (status, err)
    assert first_invisible_character((out + err).replace("\n", "")) is None
    if "--json" in arguments or "--batch" in arguments:
        for line in out.splitlines():
            json.loads(line)
    assert status != 2 or err.strip(), "wrong use, and nothing says what is wrong"
    return Said(status, out, err)
