"""Process state from /proc."""

from __future__ import annotations

from pathlib import Path


def children_of(number: int) -> list[int]:
    """Return the ids of the processes started by a process's first thread."""
    found = Path(f"/proc/{number}/task/{number}/children")
    return [int(child) for child in found.read_text().split()]


def ended(number: int) -> bool:
    """Whether a process has ended; it may still be a zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
