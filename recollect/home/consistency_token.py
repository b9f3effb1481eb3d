"""Tokens: positions in the ledger, which `ingest` prints and `recall --wait-for` takes."""

from __future__ import annotations

import msgspec

from recollect.schemas.errors import InvalidInput


class Token(msgspec.Struct, frozen=True):
    """A position in the ledger: a partition, the offset after a record, and its number in the
    zone.
    """

    partition: int
    offset: int
    number: int

    @classmethod
    def read(cls, text: str) -> Token:
        """Return the token that `ingest` printed.

        Raises:
            InvalidInput: the text is no token.
        """
        if not cls.looks(text):
            raise InvalidInput(f"{text[:60]!r} is no token; ingest --json prints one")
        return cls(*map(int, text.split(":")))

    @staticmethod
    def looks(text: str) -> bool:
        """Return whether a text has the form of a token, which no time has."""
        parts = text.split(":")
        return len(parts) == 3 and all(part.isdecimal() and len(part) < 16 for part in parts)

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}:{self.number}"
