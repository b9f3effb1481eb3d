"""Refused tool calls of a model, and the reading of their arguments."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """A refused call: `reason` is a short name for statistics, the message is for the model."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def text_argument(given: dict[str, Any], name: str) -> str:
    """Return a required argument that is a text.

    Raises:
        Refused: it is missing, empty or not a text.
    """
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Refused("form", f"{name} must be a string")
    return value


def unit_argument(given: dict[str, Any], name: str) -> float:
    """Return a required argument that is a number from 0 to 1.

    Raises:
        Refused: it is missing or no such number.
    """
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Refused("form", f"{name} must be a number from 0 to 1")
    return float(value)
