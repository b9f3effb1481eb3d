"""The codec: records of every kind, damaged, reshaped, or sealed anew with what nobody wrote."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import strategies as st

from recollect.schemas.changes import READ_MODEL_ROWS, decode_outbox, decode_sections
from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.events import KINDS
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import (
    FIRST_COLUMNAR_FORMAT,
    FIRST_COMPACT_FORMAT,
    FIRST_DEFLATED_EVENT,
    ChangeRecord,
    chain_of,
    read_change,
    read_event,
    unseal_event,
    unseal_part,
)
from recollect.schemas.ledger.seal import joint_key, seal
from tests.fuzz.target import Check, Target
from tests.fuzz.values import damaged, reshaped
from tests.opened import payload_of, sections_of, text_of

_GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden"
_REFUSED = (IntegrityError, NewerFormat)


class Sample(NamedTuple):
    """A record as it stands in a topic, whole or in fragments, and the keys of what it holds."""

    topic: str
    records: tuple[bytes, ...]
    keys: Mapping[bytes, bytes]


def _samples() -> list[Sample]:
    samples = []
    for path in sorted(_GOLDEN.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            golden = json.loads(line)
            some = golden["record"] if isinstance(golden["record"], list) else [golden["record"]]
            keys = {bytes.fromhex(id_): bytes.fromhex(key) for id_, key in golden["keys"].items()}
            samples.append(Sample(golden["topic"], tuple(map(bytes.fromhex, some)), keys))
    return samples


_SAMPLES = _samples()


def _read(sample: Sample) -> None:
    """Read records to the last row, as a node does."""
    assembler = Assembler()
    for record in sample.records:
        whole = assembler.add(record)
        if whole is None:
            continue
        if sample.topic == "events":
            _read_event(whole, sample.keys)
        else:
            _read_change(whole, sample.keys)


def _read_event(value: bytes, keys: Mapping[bytes, bytes]) -> None:
    envelope, record = read_event(value)
    key = keys.get(envelope.key_id)
    if key is None:
        return
    try:
        event = unseal_event(envelope, record, key)
    except KeyError:
        assert envelope.kind not in KINDS
        return
    assert event.kind == envelope.kind
    msgspec.msgpack.encode(event)


def _read_change(value: bytes, keys: Mapping[bytes, bytes]) -> None:
    chain_of(value)
    header, record = read_change(value)
    for part in record.parts:
        text = unseal_part(record, part, keys)
        if text is not None:
            decode_sections(text, tuple(READ_MODEL_ROWS), header.format)
            decode_outbox(text, header.format)


@contextmanager
def _codec(room: Path) -> Iterator[Check]:
    def check(sample: Sample) -> None:
        """What was changed is refused by name; nothing else comes of it."""
        try:
            _read(sample)
        except _REFUSED:
            return

    yield check


@st.composite
def _damaged_sample(draw: st.DrawFn) -> Sample:
    sample = draw(st.sampled_from(_SAMPLES))
    place = draw(st.integers(0, len(sample.records) - 1))
    record = sample.records[place]
    if draw(st.booleans()):
        changed = draw(damaged(st.just(record)))
    else:
        changed = msgspec.msgpack.encode(draw(reshaped(msgspec.msgpack.decode(record))))
    records = [*sample.records[:place], changed, *sample.records[place + 1 :]]
    return sample._replace(records=tuple(draw(st.permutations(records))))


def _resealed_event(draw: st.DrawFn, sample: Sample) -> Sample:
    clear, sealed = msgspec.msgpack.decode(sample.records[0])
    envelope, _ = read_event(sample.records[0])
    key = sample.keys[envelope.key_id]
    opened = _opened(key, sealed, clear)
    deflated = envelope.format >= FIRST_DEFLATED_EVENT
    payload = msgspec.msgpack.decode(payload_of(opened) if deflated else opened)
    if draw(st.booleans()):
        clear = msgspec.msgpack.encode(draw(reshaped(msgspec.msgpack.decode(clear))))
    text = msgspec.msgpack.encode(draw(reshaped(payload)))
    text = text_of(text) if deflated else text
    return sample._replace(records=(msgspec.msgpack.encode([clear, seal(key, text, clear)]),))


def _resealed_change(draw: st.DrawFn, sample: Sample) -> Sample:
    _, record = read_change(sample.records[0])
    parts: list[Any] = []
    for part in record.parts:
        key = joint_key([sample.keys[source.key_id] for source in part.sources])
        context = record.header + msgspec.msgpack.encode(part.sources)
        opened = _opened(key, part.sealed, context)
        text = draw(_reshaped_text(opened, read_change(sample.records[0])[0].format))
        parts.append(msgspec.structs.replace(part, sealed=seal(key, text, context)))
    changed = msgspec.msgpack.encode(ChangeRecord(record.header, tuple(parts)))
    return sample._replace(records=(changed,))


@st.composite
def _reshaped_text(draw: st.DrawFn, text: bytes, format_: int) -> bytes:
    """Draw what a part may say in place of its text: other sections, or other columns."""
    encode, decode = msgspec.msgpack.encode, msgspec.msgpack.decode
    if format_ < FIRST_COMPACT_FORMAT:
        return encode(draw(reshaped(decode(text))))
    if format_ < FIRST_COLUMNAR_FORMAT:
        return zlib.compress(encode(draw(reshaped(decode(zlib.decompress(text))))))
    if draw(st.booleans()):
        return encode(draw(reshaped(decode(text))))
    _, *columns = decode(text)
    return encode([text_of(encode(draw(reshaped(decode(sections_of(text)))))), *columns])


def _opened(key: bytes, sealed: bytes, context: bytes) -> bytes:
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], context)


@st.composite
def _resealed_sample(draw: st.DrawFn) -> Sample:
    """Draw a record that a broken or a newer program sealed, which has the keys."""
    sample = draw(st.sampled_from([sample for sample in _SAMPLES if len(sample.records) == 1]))
    reseal = _resealed_event if sample.topic == "events" else _resealed_change
    return reseal(draw, sample)


CODEC = Target("codec", _damaged_sample() | _resealed_sample(), _codec)
