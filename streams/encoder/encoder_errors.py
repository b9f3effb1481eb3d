"""The errors of encoders; each message says what happened and what to do."""

from __future__ import annotations

from recollect.schemas.errors import RecollectError


class EncoderError(RecollectError):
    """Base of every error about bringing, loading or running an encoder."""


class EncoderMissing(EncoderError):
    """The home's encoder is not in the cache; the message says how to bring it."""


class EncoderMismatch(EncoderError):
    """Bytes do not have the checksum that was pinned; they are never used."""


class EncoderUnavailable(EncoderError):
    """A source gave no file, or broke off half-way; nothing of it is kept."""


class EncoderUnreachable(EncoderUnavailable):
    """A source did not give even its first file, so another one may be tried."""


class EncoderUnsupported(EncoderError):
    """The files describe a model that this loader cannot reproduce faithfully."""
