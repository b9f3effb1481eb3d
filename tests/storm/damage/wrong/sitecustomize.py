"""Puts the wall clock of a process wrong. Python imports this by itself where it is in PYTHONPATH.

The file that STORM_CLOCK names holds by how many seconds the clock is off, as a little-endian
double; it may change at any moment. What measures intervals stays as it is.
"""

import mmap
import os
import struct
import time


def _put_wrong(path: str) -> None:
    with open(path, "rb") as file:
        shared = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    right, right_ns = time.time, time.time_ns

    def off() -> float:
        (seconds,) = struct.unpack("<d", shared[:8])
        return float(seconds)

    time.time = lambda: right() + off()
    time.time_ns = lambda: right_ns() + int(off() * 1e9)


if "STORM_CLOCK" in os.environ:
    _put_wrong(os.environ["STORM_CLOCK"])
