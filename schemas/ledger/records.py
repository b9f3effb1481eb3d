"""Ledger records: an unencrypted envelope, a sealed payload, and a hash chain per zone."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError, NewerFormat
from recollect.schemas.events import KINDS, AnyPayload, Draft, Event, kind_of
from recollect.schemas.ids import event_id
from recollect.schemas.ledger.compression import deflate, inflate
from recollect.schemas.ledger.seal import joint_key, new_key, seal, unseal
from recollect.schemas.ledger.upcast import CURRENT_VERSIONS, upcast

GENESIS = bytes(32)
#: The chain named in the placeholder of a reclaimed change record.
NO_CHAIN = ""

#: The current formats. In all versions, every record starts with its envelope or header, and that
#: starts with the format number. Fields are positional, and a decoder drops unknown ones. So a new
#: field in a header or a row needs a new format number; older programs refuse to read it.
EVENT_FORMAT = 2
CHANGE_FORMAT = 5
#: From this format on, an event's payload is deflated.
FIRST_DEFLATED_EVENT = 2
#: From this format on, a change record contains the dependencies of its decision
#: (`recollect.schemas.changes.DecisionDependencies`).
FIRST_FORMAT_WITH_DEPENDENCIES = 2
#: From this format on, a part is compressed, and a vector has one byte per dimension, a token
#: vector three bits per dimension.
FIRST_COMPACT_FORMAT = 3
#: From this format on, a chain is in use only if an event of the ledger switched to it, except for
#: the first chain. Before, a switch may stand only in a zone's files.
FIRST_FORMAT_WITH_SWITCHES = 3
#: From this format on, a part's rows are deflated with the preset dictionary of `compression.py`,
#: and their vectors and tokens are stored separately.
FIRST_COLUMNAR_FORMAT = 4
# In format 5, a trajectory has an owner and readers.

_pack = msgspec.msgpack.Encoder()


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """The unencrypted part of an event; it contains no text."""

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
    """An event as stored in the topic: the encoded envelope and the sealed payload."""

    envelope: bytes
    sealed: bytes


class Source(msgspec.Struct, frozen=True, array_like=True):
    """A source event of a part: its running number and the id of its key."""

    number: int
    key_id: bytes


class Part(msgspec.Struct, frozen=True, array_like=True):
    """Decided rows and commands that have the same source events, sealed with all their keys."""

    sources: tuple[Source, ...]
    sealed: bytes


class ChangeHeader(msgspec.Struct, frozen=True, array_like=True):
    """The part of a change record that is not sealed.

    `chain`: the chain that the record belongs to. `event_hash`, `event_offset`: hash and offset of
    the decided event. `command_count`: number of commands in the outboxes of the parts.
    `erased_events`: events whose keys this record destroys. `is_parked`: the event could not be
    decided and became a dead letter.
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
    """A change as stored in the topic."""

    header: bytes
    parts: tuple[Part, ...]


class _Chain(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a header, up to its chain."""

    format: int
    chain: str


class _Prefix(msgspec.Struct, frozen=True, array_like=True):
    """The first field of a record of any format: an event's envelope, or a change's header."""

    prefix: bytes


class _Format(msgspec.Struct, frozen=True, array_like=True):
    """The first field of an envelope or a header of any format."""

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
    """Return the SHA-256 of a record, which the next record of its chain contains."""
    return hashlib.sha256(value).digest()


def decode(decoder: msgspec.msgpack.Decoder[Any], value: bytes, what: str) -> Any:
    """Decode `value`; `what` names it in the error.

    Raises:
        IntegrityError: it cannot be decoded.
    """
    try:
        return decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise IntegrityError(f"{what} cannot be read: {error}; {RESTORE_LEDGER}") from None


def _check_format(value: bytes, newest: int, what: str) -> int:
    """Return a record's format; raise if a newer program wrote it, or it is unreadable."""
    start: _Prefix = decode(_prefixes, value, what)
    format_: int = decode(_formats, start.prefix, f"the beginning of {what}").format
    if format_ < 1:
        raise IntegrityError(
            f"{what} cannot be read: {format_} is not a valid format number; {RESTORE_LEDGER}"
        )
    if format_ > newest:
        raise NewerFormat(
            f"{what} of format {format_} was written by a newer recollect "
            f"(this one reads up to {newest}); upgrade recollect to read it"
        )
    return format_


def read_event(value: bytes) -> tuple[Envelope, EventRecord]:
    """Return the envelope and the sealed record.

    Raises:
        IntegrityError: the bytes are not an event record.
        NewerFormat: a newer program wrote it.
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
    """Encode the next event of a zone, sealed with `key`."""
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
    """Encode a tombstone: a record with this envelope and an unreadable payload.

    It replaces an event that was erased elsewhere. With it, the event's source id stays known.
    """
    clear = _pack.encode(msgspec.structs.replace(envelope, format=EVENT_FORMAT))
    return _pack.encode(EventRecord(clear, seal(new_key()[1], b"", clear)))


def unseal_event(envelope: Envelope, record: EventRecord, key: bytes) -> Event:
    """Decrypt an event and upcast its payload to the current version.

    Raises:
        IntegrityError: the record was changed after it was written.
        NewerFormat: a newer program wrote it.
        KeyError: its kind is unknown; such a record is parked.
    """
    plain = unseal(key, record.sealed, record.envelope)
    if envelope.kind not in KINDS:
        raise KeyError(envelope.kind)
    payload: AnyPayload
    what = f"a {envelope.kind} of version {envelope.version}"
    if envelope.format >= FIRST_DEFLATED_EVENT:
        try:
            plain = inflate(plain)
        except zlib.error as error:
            raise IntegrityError(f"{what} cannot be read: {error}; {RESTORE_LEDGER}") from None
    if envelope.version == CURRENT_VERSIONS[envelope.kind]:
        payload = decode(_payloads[envelope.kind], plain, what)
    elif envelope.version < 1:
        raise IntegrityError(
            f"{what} cannot be read: {envelope.version} is not a valid version number; "
            f"{RESTORE_LEDGER}"
        )
    else:
        raw = upcast(envelope.kind, envelope.version, decode(_anything, plain, what))
        try:
            payload = msgspec.convert(raw, KINDS[envelope.kind])  # type: ignore[assignment]
        except msgspec.ValidationError as error:
            raise IntegrityError(f"{what} cannot be read: {error}; {RESTORE_LEDGER}") from None
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
        IntegrityError: the bytes are not a change record.
        NewerFormat: a newer program wrote it.
    """
    _check_format(value, CHANGE_FORMAT, "a change record")
    record: ChangeRecord = decode(_change_records, value, "a change record")
    header: ChangeHeader = decode(_headers, record.header, "a change's header")
    return header, record


def format_of_change(value: bytes) -> int:
    """Return the format of a change record; nothing else in it is checked.

    Raises:
        IntegrityError: the bytes are not a change record.
        NewerFormat: a newer program wrote it.
    """
    return _check_format(value, CHANGE_FORMAT, "a change record")


def chain_of(value: bytes) -> str:
    """Return the chain of a change record; nothing else in it is checked.

    Raises:
        IntegrityError: the bytes are not a change record.
        NewerFormat: a newer program wrote it.
    """
    format_of_change(value)
    start: _Prefix = decode(_prefixes, value, "a change record")
    header: _Chain = decode(_chains, start.prefix, "a change's header")
    return header.chain


def write_change(
    header: ChangeHeader,
    parts: Sequence[tuple[tuple[Source, ...], bytes]],
    keys: Mapping[bytes, bytes],
) -> bytes:
    """Encode a change record; each part (sources, content) is sealed with its sources' keys.

    Raises:
        KeyError: a source's key is not in `keys`.
    """
    clear = _pack.encode(header)
    sealed = tuple(
        Part(
            sources,
            seal(
                joint_key([keys[source.key_id] for source in sources]),
                content,
                clear + _pack.encode(sources),
            ),
        )
        for sources, content in parts
    )
    return _pack.encode(ChangeRecord(clear, sealed))


def reclaimed_change(zone: str) -> bytes:
    """Return the placeholder for a change record of a chain that no generation needs.

    Its chain belongs to no generation, so every reader skips it.
    """
    header = ChangeHeader(CHANGE_FORMAT, NO_CHAIN, zone, 0, b"", 0, b"", False, 0, ())
    return write_change(header, (), {})


def unseal_part(record: ChangeRecord, part: Part, keys: Mapping[bytes, bytes]) -> bytes | None:
    """Return the encoded rows of `part`, or None if a source's key was destroyed.

    Raises:
        IntegrityError: the part or the header was changed after it was written.
    """
    needed = [keys.get(source.key_id) for source in part.sources]
    present = [key for key in needed if key is not None]
    if len(present) < len(needed):
        return None
    return unseal(joint_key(present), part.sealed, record.header + _pack.encode(part.sources))
