"""Consistency tokens: ledger positions, printed by `ingest` and taken by `recall --wait-for`."""

from __future__ import annotations

import msgspec

from recollect.schemas.errors import InvalidInput


class LedgerPosition(msgspec.Struct, frozen=True):
    """A partition, the offset after a record in it, and the record's number in its zone.

    Its text form is a consistency token.
    """

    partition: int
    offset: int
    number: int

    @classmethod
    def parse(cls, text: str) -> LedgerPosition:
        """Parse a consistency token.

        Raises:
            InvalidInput: the text is not a consistency token.
        """
        if not isinstance(text, str):
            raise InvalidInput(f"token is {type(text).__name__}; give a consistency token")
        if not cls.matches(text):
            raise InvalidInput(
                f"{text[:60]!r} is not a consistency token; receipts of events have one"
            )
        return cls(*map(int, text.split(":")))

    @staticmethod
    def matches(text: str) -> bool:
        """Return whether a text has the form of a consistency token. No time has this form."""
        parts = text.split(":")
        return len(parts) == 3 and all(part.isdecimal() and len(part) < 16 for part in parts)

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}:{self.number}"
