"""The ledger's records: a clear envelope, a sealed payload, and a hash chain per zone."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.events import KINDS, AnyPayload, Draft, Event, kind_of
from recollect.schemas.ids import event_id
from recollect.schemas.ledger.compression import deflate, inflate
from recollect.schemas.ledger.seal import joint_key, new_key, seal, unseal
from recollect.schemas.ledger.upcast import CURRENT_VERSIONS, upcast

GENESIS = bytes(32)
#: The chain of change records that were reclaimed.
NO_CHAIN = ""

#: The formats that are written today. An event record begins with its envelope's bytes, a change
#: record with its header's, and each of those with its format. That will never change. These arrays
#: do not name their fields, and a decoder drops fields that it does not know. So a new field, in a
#: header or in a row, must raise the format: that stops an older program.
EVENT_FORMAT = 2
CHANGE_FORMAT = 4
#: From this format on an event's payload is deflated.
FIRST_DEFLATED_EVENT = 2
#: From this format on a change states what its decision depends on
#: (`recollect.schemas.changes.Decided`).
FIRST_TRACED_FORMAT = 2
#: From this format on a part's text is compressed, a vector has one byte per dimension, and a token
#: three bits per dimension.
FIRST_COMPACT_FORMAT = 3
#: From this format on a part's rows are deflated with the dictionary, and their vectors and tokens
#: stand beside them.
FIRST_COLUMNAR_FORMAT = 4

_pack = msgspec.msgpack.Encoder()


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """The part of an event that is not sealed: no words."""

    format: int
    zone: str
    number: int
    previous: bytes
    kind: str
    version: int
    occurred_at: int
    ingested_at: int
    platform: str
    key_id: bytes
    source: bytes


class EventRecord(msgspec.Struct, frozen=True, array_like=True):
    """An event in the topic: the envelope's bytes and the sealed payload."""

    envelope: bytes
    sealed: bytes


class Source(msgspec.Struct, frozen=True, array_like=True):
    """An event on which a part rests: its running number and the id of its key."""

    number: int
    key_id: bytes


class Part(msgspec.Struct, frozen=True, array_like=True):
    """Decided rows and commands that rest on the same sources, sealed with all their keys."""

    sources: tuple[Source, ...]
    sealed: bytes


class ChangeHeader(msgspec.Struct, frozen=True, array_like=True):
    """The part of a change record that is not sealed.

    `chain`: the generation that decided it; `event_hash` and `event_offset`: of the ledger record;
    `command_count`: commands in the outboxes of its parts; `erased_events`: events whose keys this
    record destroys; `is_parked`: the event could not be decided and went to the dead letters.
    """

    format: int
    chain: str
    zone: str
    number: int
    event_hash: bytes
    event_offset: int
    previous: bytes
    is_parked: bool
    command_count: int
    erased_events: tuple[Source, ...]


class ChangeRecord(msgspec.Struct, frozen=True, array_like=True):
    """A change in the topic."""

    header: bytes
    parts: tuple[Part, ...]


class _Chain(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a header, up to its chain."""

    format: int
    chain: str


class _Prefix(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a record of any format: an event's envelope, or a change's header."""

    prefix: bytes


class _Format(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of an envelope or a header of any format."""

    format: int


_envelopes = msgspec.msgpack.Decoder(Envelope)
_event_records = msgspec.msgpack.Decoder(EventRecord)
_headers = msgspec.msgpack.Decoder(ChangeHeader)
_change_records = msgspec.msgpack.Decoder(ChangeRecord)
_chains = msgspec.msgpack.Decoder(_Chain)
_prefixes = msgspec.msgpack.Decoder(_Prefix)
_formats = msgspec.msgpack.Decoder(_Format)
_anything = msgspec.msgpack.Decoder(dict)
_payloads: dict[str, msgspec.msgpack.Decoder[Any]] = {
    kind: msgspec.msgpack.Decoder(cls) for kind, cls in KINDS.items()
}


def record_hash(value: bytes) -> bytes:
    """Return the hash of a record that stands in the next one: SHA-256 of its bytes."""
    return hashlib.sha256(value).digest()


def decode(decoder: msgspec.msgpack.Decoder[Any], value: bytes, what: str) -> Any:
    """Return the decoded `value`; `what` names it in the IntegrityError if it cannot be read."""
    try:
        return decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise IntegrityError(f"{what} cannot be read: {error}") from None


def _check_format(value: bytes, newest: int, what: str) -> None:
    """Raise if a record was written by a newer program, or cannot be read at all."""
    begun: _Prefix = decode(_prefixes, value, what)
    format_ = decode(_formats, begun.prefix, f"the beginning of {what}").format
    if format_ < 1:
        raise IntegrityError(f"{what} cannot be read: it says that its format is {format_}")
    if format_ > newest:
        raise NewerFormat(
            f"{what} of format {format_} was written by a newer recollect "
            f"(this one reads up to {newest}); upgrade recollect to read it"
        )


def read_event(value: bytes) -> tuple[Envelope, EventRecord]:
    """Return the envelope and the sealed record.

    Raises:
        IntegrityError: these bytes are no event record.
        NewerFormat: it was written by a newer program.
    """
    _check_format(value, EVENT_FORMAT, "an event record")
    record: EventRecord = decode(_event_records, value, "an event record")
    envelope: Envelope = decode(_envelopes, record.envelope, "an event's envelope")
    return envelope, record


def write_event(
    draft: Draft,
    *,
    zone: str,
    number: int,
    previous: bytes,
    ingested_at: int,
    source: bytes,
    key_id: bytes,
    key: bytes,
) -> bytes:
    """Return the bytes of the next event of a zone, sealed with `key`."""
    kind = kind_of(draft.payload)
    envelope = _pack.encode(
        Envelope(
            format=EVENT_FORMAT,
            zone=zone,
            number=number,
            previous=previous,
            kind=kind,
            version=CURRENT_VERSIONS[kind],
            occurred_at=draft.occurred_at,
            ingested_at=ingested_at,
            platform=draft.platform,
            key_id=key_id,
            source=source,
        )
    )
    sealed = seal(key, deflate(_pack.encode(draft.payload)), envelope)
    return _pack.encode(EventRecord(envelope, sealed))


def write_erased_event(envelope: Envelope) -> bytes:
    """Return the bytes of an event with this envelope that nobody can open.

    It stands for one that was erased elsewhere: its source's id is known by it.
    """
    clear = _pack.encode(msgspec.structs.replace(envelope, format=EVENT_FORMAT))
    return _pack.encode(EventRecord(clear, seal(new_key()[1], b"", clear)))


def unseal_event(envelope: Envelope, record: EventRecord, key: bytes) -> Event:
    """Return the event, its payload upcast to today's version.

    Raises:
        IntegrityError: the record was changed after it was written.
        NewerFormat: it was written by a newer program.
        KeyError: its kind is unknown here; such a record is parked.
    """
    text = unseal(key, record.sealed, record.envelope)
    if envelope.kind not in KINDS:
        raise KeyError(envelope.kind)
    payload: AnyPayload
    what = f"a {envelope.kind} of version {envelope.version}"
    if envelope.format >= FIRST_DEFLATED_EVENT:
        try:
            text = inflate(text)
        except zlib.error as error:
            raise IntegrityError(f"{what} cannot be read: {error}") from None
    if envelope.version == CURRENT_VERSIONS[envelope.kind]:
        payload = decode(_payloads[envelope.kind], text, what)
    elif envelope.version < 1:
        raise IntegrityError(f"{what} cannot be read: there never was one")
    else:
        raw = upcast(envelope.kind, envelope.version, decode(_anything, text, what))
        try:
            payload = msgspec.convert(raw, KINDS[envelope.kind])  # type: ignore[assignment]
        except msgspec.ValidationError as error:
            raise IntegrityError(f"{what} cannot be read: {error}") from None
    return Event(
        zone=envelope.zone,
        number=envelope.number,
        id=event_id(envelope.zone, envelope.platform, payload.source_id, envelope.occurred_at),
        platform=envelope.platform,
        occurred_at=envelope.occurred_at,
        ingested_at=envelope.ingested_at,
        payload=payload,
    )


def read_change(value: bytes) -> tuple[ChangeHeader, ChangeRecord]:
    """Return the header and the sealed record.

    Raises:
        IntegrityError: these bytes are no change record.
        NewerFormat: it was written by a newer program.
    """
    _check_format(value, CHANGE_FORMAT, "a change record")
    record: ChangeRecord = decode(_change_records, value, "a change record")
    header: ChangeHeader = decode(_headers, record.header, "a change's header")
    return header, record


def chain_of(value: bytes) -> str:
    """Return the chain of a change record without checking anything else in it.

    Raises:
        IntegrityError: these bytes are no change record.
        NewerFormat: it was written by a newer program.
    """
    _check_format(value, CHANGE_FORMAT, "a change record")
    begun: _Prefix = decode(_prefixes, value, "a change record")
    header: _Chain = decode(_chains, begun.prefix, "a change's header")
    return header.chain


def write_change(
    header: ChangeHeader,
    parts: Sequence[tuple[tuple[Source, ...], bytes]],
    keys: Mapping[bytes, bytes],
) -> bytes:
    """Return the bytes of a change record: each part (sources, text) sealed with its sources' keys.

    Raises:
        KeyError: a source's key is not in `keys`.
    """
    clear = _pack.encode(header)
    sealed = tuple(
        Part(
            sources,
            seal(
                joint_key([keys[source.key_id] for source in sources]),
                text,
                clear + _pack.encode(sources),
            ),
        )
        for sources, text in parts
    )
    return _pack.encode(ChangeRecord(clear, sealed))


def reclaimed_change(zone: str) -> bytes:
    """Return the record that replaces a change record whose chain is no longer needed.

    It belongs to no generation's chain, so every reader skips it.
    """
    header = ChangeHeader(CHANGE_FORMAT, NO_CHAIN, zone, 0, b"", 0, b"", False, 0, ())
    return write_change(header, (), {})


def unseal_part(record: ChangeRecord, part: Part, keys: Mapping[bytes, bytes]) -> bytes | None:
    """Return the encoded rows of `part`, or None if a source's key has been destroyed.

    Raises:
        IntegrityError: the part or the header was changed after it was written.
    """
    needed = [keys.get(source.key_id) for source in part.sources]
    present = [key for key in needed if key is not None]
    if len(present) < len(needed):
        return None
    return unseal(joint_key(present), part.sealed, record.header + _pack.encode(part.sources))
