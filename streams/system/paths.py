"""Paths that a program gives."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from recollect.schemas.errors import InvalidInput


def given_path(name: str, value: str | PathLike[str]) -> Path:
    """Return a path that a program gave, with ~ expanded.

    An empty text, such as the value of an unset variable, is not the current directory.

    Raises:
        InvalidInput: `value` is not a path, or is empty; the message begins with `name`.
    """
    if not isinstance(value, str | PathLike):
        raise InvalidInput(f"{name} is {type(value).__name__}; give a path")
    if not fspath(value):
        raise InvalidInput(f"{name} is empty; give a path, such as . for the current directory")
    return Path(value).expanduser()
