"""Errors of encoders; each message says what happened and what to do."""

from __future__ import annotations

from recollect.schemas.errors import RecollectError


class EncoderError(RecollectError):
    """Base of every error in installing, loading or running an encoder."""


class EncoderMissing(EncoderError):
    """The home's encoder is not in the cache; the message says how to install it."""


class EncoderMismatch(EncoderError):
    """A file does not have its pinned checksum, and is not used."""


class EncoderUnavailable(EncoderError):
    """A source lacks a file, or a download was interrupted; no part of it is kept."""


class EncoderUnreachable(EncoderUnavailable):
    """A source failed on its first file, so the next source may be tried."""


class EncoderUnsupported(EncoderError):
    """The files describe a model that this loader cannot reproduce exactly."""
