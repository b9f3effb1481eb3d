"""Wall clocks that are wrong, and jump while processes look at them."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

_WRONG = Path(__file__).with_name("wrong")
_HOUR = 3_600.0
_YEAR = 365 * 24 * _HOUR
#: By how many seconds a clock may be off.
OFFS = (
    -10 * _YEAR,
    -3 * 24 * _HOUR,
    -2 * _HOUR,
    -90.0,
    90.0,
    2 * _HOUR,
    3 * 24 * _HOUR,
    10 * _YEAR,
)


class Clock:
    """The wall clock of the processes that are started with `environment`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.off = 0.0
        self.jump(0.0)

    @property
    def environment(self) -> dict[str, str]:
        """What a process is started with, so that it has this clock."""
        given = os.environ.get("PYTHONPATH")
        return {
            "STORM_CLOCK": str(self._path),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(_WRONG), given))),
        }

    def jump(self, off: float) -> None:
        """Put it wrong by so many seconds, at once, for processes that run as well."""
        self._path.touch()
        with self._path.open("r+b", buffering=0) as file:
            file.write(struct.pack("<d", off))
        self.off = off


def another(draw: random.Random, now: float) -> float:
    """Return by how much a clock that is off by `now` is to be off: right again at times."""
    return draw.choice([off for off in (0.0, *OFFS) if off != now])


def told(off: float) -> str:
    """Return by how much a clock is off, in words."""
    if not off:
        return "right"
    size = abs(off)
    number, unit = next(
        (size / each, unit)
        for each, unit in ((_YEAR, "years"), (24 * _HOUR, "days"), (_HOUR, "hours"), (1.0, "s"))
        if size >= each
    )
    return f"{number:.0f} {unit} {'ahead' if off > 0 else 'behind'}"
