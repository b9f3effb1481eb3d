"""A power cut, after the death of a process: what was not flushed to the disk is lost.

SQLite in WAL mode with synchronous=NORMAL flushes a WAL when it is checkpointed, and not at each
commit; so a power cut takes any number of the last frames that were not checkpointed, of each file
by itself. ledger.db and keys.db flush each commit, and lose nothing.
"""

from __future__ import annotations

import random
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

# The file format (sqlite.org/fileformat2.html, 4.1) and that of the WAL's index (walformat.html).
_HEADER, _FRAME_HEADER = 32, 24
_PAGE_SIZE_AT = 8
_BACKFILLED_AT, _ATTEMPTED_AT = 96, 128

#: Each commit of these survives a power cut.
FLUSHED = frozenset({"ledger.db-wal", "keys.db-wal"})


@dataclass
class PowerCut:
    """Cuts the power of homes that no process holds open, and counts what they lost."""

    draw: random.Random
    cuts: int = 0
    frames: int = 0

    def cut(self, home: Path) -> None:
        """Lose frames of every WAL that was not flushed: none, some, or all that may be lost."""
        before = self.frames
        for wal in sorted(home.rglob("*-wal")):
            if wal.name not in FLUSHED:
                self._lose(wal)
        for index in home.rglob("*-shm"):
            index.unlink()  # it lies in memory
        self.cuts += self.frames > before

    def _lose(self, wal: Path) -> None:
        size = wal.stat().st_size
        if size <= _HEADER:
            return
        with wal.open("r+b") as file:
            (page,) = struct.unpack_from(">I", file.read(_HEADER), _PAGE_SIZE_AT)
            frame = _FRAME_HEADER + page
            frames = (size - _HEADER) // frame
            least = min(checkpointed(wal), frames)
            # Often all: then the next process finds the furthest past.
            kept = least if self.draw.random() < 0.5 else self.draw.randint(least, frames)
            torn = self.draw.randrange(frame) if kept < frames and self.draw.random() < 0.3 else 0
            file.truncate(_HEADER + kept * frame + torn if kept or torn else 0)
        self.frames += frames - kept


def checkpointed(wal: Path) -> int:
    """Return how many frames of a WAL were copied into its file, or were about to be.

    For that the WAL was flushed. None of a WAL without an index can be lost: nobody wrote to it
    since the power came back, or it was copied whole by one who was closing it.
    """
    index = wal.with_name(wal.name.removesuffix("-wal") + "-shm")
    try:
        raw = index.read_bytes()
    except FileNotFoundError:
        return sys.maxsize
    if len(raw) < _ATTEMPTED_AT + 4:
        return sys.maxsize
    return max(
        int(struct.unpack_from("=I", raw, place)[0]) for place in (_BACKFILLED_AT, _ATTEMPTED_AT)
    )
