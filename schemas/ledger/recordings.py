"""Recordings: language-model answers, sealed with the keys of every event in the prompt.

Erasing any of these events makes the recording unreadable.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError, NewerFormat
from recollect.schemas.ledger.compression import deflate, inflate
from recollect.schemas.ledger.records import Source, decode
from recollect.schemas.ledger.seal import joint_key, seal, unseal

#: The current format, the first field of a header.
RECORDING_FORMAT = 1


class RecordingHeader(msgspec.Struct, frozen=True, array_like=True):
    """The unencrypted part of a recording; it contains no text.

    `request`: keyed hash of the request. `role`: version of the role prompt. `cost`: in the
    currency of the configured prices. `asked_at`: unix ms.
    """

    format: int
    zone: str
    request: bytes
    sources: tuple[Source, ...]
    model: str
    role: str
    tokens_in: int
    tokens_out: int
    cost: float
    asked_at: int


class RecordedCall(msgspec.Struct, frozen=True, array_like=True):
    """A tool call by a model: id, name, and the arguments verbatim."""

    id: str
    name: str
    arguments: str


class RecordedAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The sealed part: text and tool calls."""

    text: str
    calls: tuple[RecordedCall, ...]
    finish: str


class Recording(NamedTuple):
    """A recording as stored in the topic."""

    header: RecordingHeader
    header_bytes: bytes
    sealed: bytes


class _Record(msgspec.Struct, frozen=True, array_like=True):
    header: bytes
    sealed: bytes


class _Format(msgspec.Struct, frozen=True, array_like=True):
    format: int


_pack = msgspec.msgpack.Encoder()
_records = msgspec.msgpack.Decoder(_Record)
_formats = msgspec.msgpack.Decoder(_Format)
_headers = msgspec.msgpack.Decoder(RecordingHeader)
_answers = msgspec.msgpack.Decoder(RecordedAnswer)


def request_digest(secret: bytes, zone: str, request: bytes) -> bytes:
    """Return the keyed hash (BLAKE2b-128) of a request; recorded answers are looked up by it."""
    zone_bytes = zone.encode()
    framed = len(zone_bytes).to_bytes(4, "big") + zone_bytes + request
    return hashlib.blake2b(framed, key=secret, digest_size=16).digest()


def write_recording(
    header: RecordingHeader, answer: RecordedAnswer, keys: Mapping[bytes, bytes]
) -> bytes:
    """Encode and seal a recording.

    Raises:
        KeyError: a source's key is not in `keys`.
    """
    clear = _pack.encode(header)
    joint = joint_key([keys[source.key_id] for source in header.sources])
    return _pack.encode(_Record(clear, seal(joint, deflate(_pack.encode(answer)), clear)))


def read_recording(value: bytes) -> Recording:
    """Decode a recording; its answer stays sealed.

    Raises:
        IntegrityError: the bytes are not a recording.
        NewerFormat: a newer program wrote it.
    """
    record: _Record = decode(_records, value, "a recording")
    format_: int = decode(_formats, record.header, "the beginning of a recording").format
    if format_ > RECORDING_FORMAT:
        raise NewerFormat(
            f"a recording of format {format_} was written by a newer recollect "
            f"(this one reads up to {RECORDING_FORMAT}); upgrade recollect to read it"
        )
    return Recording(
        decode(_headers, record.header, "a recording's header"), record.header, record.sealed
    )


def unseal_recording(recording: Recording, keys: Mapping[bytes, bytes]) -> RecordedAnswer | None:
    """Return the answer, or None if one of its sources was erased.

    Raises:
        IntegrityError: the recording was changed after it was written.
    """
    needed = [keys.get(source.key_id) for source in recording.header.sources]
    present = [key for key in needed if key is not None]
    if not present or len(present) < len(needed):
        return None
    text = unseal(joint_key(present), recording.sealed, recording.header_bytes)
    try:
        answer: RecordedAnswer = _answers.decode(inflate(text))
    except (zlib.error, msgspec.DecodeError) as error:
        raise IntegrityError(f"a recording cannot be read: {error}; {RESTORE_LEDGER}") from None
    return answer
