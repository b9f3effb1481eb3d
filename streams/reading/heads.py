"""Heads: a short text that names the end of a zone's ledger, to be kept out of an attacker's reach.

Each event holds the hash of the one before, so the last one's hash stands for all of them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.streams.ledger.ledger import Head

#: Hexadecimal digits of an event's SHA-256: 128 bits, so nobody can make another event that fits.
_DIGITS = 32
_FORM = re.compile(rf"([0-9]{{1,15}}):([0-9a-f]{{{_DIGITS}}})")


def head_text(head: Head) -> str:
    """Return the head as it is printed: the running number of the last event, and its hash."""
    return f"{head.number}:{_digits(head)}"


class Expected(NamedTuple):
    """A head of an earlier moment: the event that was the last one then."""

    number: int
    digits: str

    @classmethod
    def read(cls, text: str) -> Expected:
        """Parse a head.

        Raises:
            InvalidInput: it is no head.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise InvalidInput(
                f"{text[:60]!r} is no head; status prints one: a number, a colon and {_DIGITS} "
                "digits of 0 to f"
            )
        return cls(int(found[1]), found[2])

    def problem(self, last: int, then: Head | None) -> str | None:
        """Return why a ledger does not hold this head; None: it does.

        `last` is the number of its last event, `then` the event that has the head's number.
        """
        if then is None:
            return (
                f"the ledger ends at event {last}, and the expected head names event "
                f"{self.number}: it was cut off, or an older one was put in its place"
            )
        if _digits(then) != self.digits:
            return (
                f"event {self.number} is not the one that the expected head names: the ledger was "
                "rolled back and written on, chained anew, or is another one"
            )
        return None


def _digits(head: Head) -> str:
    return head.hash.hex()[:_DIGITS]
