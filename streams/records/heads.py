"""Heads: short texts that identify the last event of a zone, to be stored outside the ledger.

Each event holds the hash of the event before it, so that the last event's hash covers all events.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.streams.ledger.ledger import Head

#: Hexadecimal digits of an event's SHA-256: 128 bits, so that no second preimage can be found.
_DIGITS = 32
_PATTERN = re.compile(rf"([0-9]{{1,15}}):([0-9a-f]{{{_DIGITS}}})")


def head_text(head: Head) -> str:
    """Return a head as text: the number of the last event, a colon and digits of its hash."""
    return f"{head.number}:{_digits(head)}"


class ExpectedHead(NamedTuple):
    """A head that was stored earlier, to compare the ledger with."""

    number: int
    digits: str

    @classmethod
    def read(cls, text: str) -> ExpectedHead:
        """Parse a head.

        Raises:
            InvalidInput: it is not a head.
        """
        match = _PATTERN.fullmatch(text.strip())
        if match is None:
            raise InvalidInput(
                f"{text[:60]!r} is not a head; `status` prints one: a number, a colon and "
                f"{_DIGITS} hexadecimal digits"
            )
        return cls(int(match[1]), match[2])

    def mismatch(self, last: int, found_head: Head | None) -> str | None:
        """Return why a ledger does not contain this head, or None if it does.

        `last`: the number of the ledger's last event. `found_head`: the ledger's head as of event
        `self.number`, or None if the ledger ends before it.
        """
        if found_head is None:
            return (
                f"the ledger ends at event {last}, and the expected head names event "
                f"{self.number}: it was truncated, or replaced by an older one"
            )
        if _digits(found_head) != self.digits:
            return (
                f"event {self.number} is not the one that the expected head names: the ledger was "
                "rolled back and continued differently, or its hashes were recomputed, or it is "
                "another ledger"
            )
        return None


def _digits(head: Head) -> str:
    return head.hash.hex()[:_DIGITS]
