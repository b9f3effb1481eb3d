"""A record that was changed by one byte is never read as what it was not."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.events import Attachment, Draft, Message
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    GENESIS,
    ChangeHeader,
    Source,
    read_change,
    read_event,
    record_hash,
    unseal_event,
    unseal_part,
    write_change,
    write_event,
)
from recollect.schemas.ledger.seal import joint_key, new_key, seal, source_digest, unseal

# An array of two, bytes with their length, an array: then the format.
FORMAT_AT = 4
TEXT = "the plain words of a person"
DRAFT = Draft(
    platform="slack",
    occurred_at=1_778_248_560_000,
    payload=Message(
        source_id="message-1",
        sender_id="U01ADA7K2",
        content=TEXT,
        attachments=(Attachment(caption="a lake"),),
        metadata={"n": 1},
    ),
)


def event_record(**other: Any) -> tuple[bytes, bytes, bytes]:
    """Return (record, key id, key)."""
    key_id, key = new_key()
    given_: dict[str, Any] = {
        "zone": "z",
        "number": 1,
        "previous": GENESIS,
        "ingested_at": 5,
        "source": bytes(16),
        "key_id": key_id,
        "key": key,
        **other,
    }
    return write_event(DRAFT, **given_), key_id, key


def change_record(*sources: int) -> tuple[bytes, dict[bytes, bytes]]:
    """Return (record, keys): one part for each number, with that many sources."""
    keys = dict(new_key() for _ in range(3))
    every = tuple(Source(number, key_id) for number, key_id in enumerate(keys, 1))
    header = ChangeHeader(
        format=CHANGE_FORMAT,
        chain="main",
        zone="z",
        number=3,
        event_hash=bytes(32),
        event_offset=2,
        previous=GENESIS,
        is_parked=False,
        command_count=0,
        erased_events=(),
    )
    parts = [(every[:count], f"part with {count}".encode()) for count in sources]
    return write_change(header, parts, keys), keys


def opened_event(value: bytes, keys: dict[bytes, bytes]) -> object:
    """Return what a reader gets: an event, or None where the key is not there."""
    envelope, record = read_event(value)
    key = keys.get(envelope.key_id)
    return None if key is None else unseal_event(envelope, record, key)


def opened_change(
    value: bytes, keys: dict[bytes, bytes]
) -> tuple[ChangeHeader, list[bytes | None]]:
    header, record = read_change(value)
    return header, [unseal_part(record, part, keys) for part in record.parts]


def test_what_was_sealed_is_read_again() -> None:
    value, key_id, key = event_record()
    envelope, record = read_event(value)
    event = unseal_event(envelope, record, key)
    assert event.payload == DRAFT.payload
    assert (event.zone, event.number, event.platform) == ("z", 1, "slack")
    assert (event.occurred_at, event.ingested_at) == (1_778_248_560_000, 5)
    assert envelope.key_id == key_id


def test_nothing_that_was_said_is_in_the_clear() -> None:
    value, _, key = event_record()
    for word in (b"plain words", b"message-1", b"U01ADA7K2", b"a lake", key):
        assert word not in value


def test_a_flipped_bit_anywhere_in_an_event_is_found() -> None:
    """Every bit of the record; the chain is not even needed."""
    value, key_id, key = event_record()
    whole = opened_event(value, {key_id: key})
    assert whole is not None
    read = []
    for place in range(len(value)):
        for bit in range(8):
            changed = bytearray(value)
            changed[place] ^= 1 << bit
            try:
                found = opened_event(bytes(changed), {key_id: key})
            except IntegrityError:
                continue
            except NewerFormat:
                # The format is all that this can have been.
                assert place == FORMAT_AT
                continue
            if found is not None:
                read.append((place, bit))
            # Only a changed key id may read as "the key is gone": that the chain finds.
            assert msgspec.msgpack.decode(msgspec.msgpack.decode(bytes(changed))[0])[9] != key_id
    assert read == []


def test_a_flipped_bit_anywhere_in_a_change_is_found() -> None:
    value, keys = change_record(1, 2)
    header, _ = read_change(value)
    texts = [b"part with 1", b"part with 2"]
    assert opened_change(value, keys) == (header, texts)
    for place in range(len(value)):
        for bit in range(8):
            changed = bytearray(value)
            changed[place] ^= 1 << bit
            try:
                _, found = opened_change(bytes(changed), keys)
            except IntegrityError:
                continue
            except NewerFormat:
                assert place == FORMAT_AT
                continue
            # A changed key id names no key: that part is unreadable, and the other is whole.
            assert None in found
            assert set(found) <= {None, *texts}


@settings(max_examples=200)
@given(st.data())
def test_a_changed_byte_is_found_by_the_hash_too(data: st.DataObject) -> None:
    value = data.draw(st.sampled_from([event_record()[0], change_record(1, 2)[0]]))
    place = data.draw(st.integers(0, len(value) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != value[place]))
    changed = value[:place] + bytes([byte]) + value[place + 1 :]
    assert record_hash(changed) != record_hash(value)


@settings(max_examples=300)
@given(st.binary(max_size=80))
@example(b"")
@example(b"\xc1")
@example(b"\x92\xc4\x00\xc4\x00")
@example(b"\x92\xc4\x00\x90")
@example(b"\x92\xa1\xff\xa1\xff")
@example(b"\x91" * 80)
def test_bytes_that_are_no_record_are_refused_by_name(value: bytes) -> None:
    for read in (read_event, read_change):
        with pytest.raises(IntegrityError, match="cannot be read"):
            read(value)


def test_a_shortened_record_is_refused() -> None:
    value, key_id, key = event_record()
    change, keys = change_record(1)
    for end in range(len(value)):
        with pytest.raises(IntegrityError):
            opened_event(value[:end], {key_id: key})
    for end in range(len(change)):
        with pytest.raises(IntegrityError):
            opened_change(change[:end], keys)


def test_a_payload_under_another_envelope_is_refused() -> None:
    key_id, key = new_key()
    one, _, _ = event_record(key_id=key_id, key=key, number=1)
    two, _, _ = event_record(key_id=key_id, key=key, number=2)
    mixed = msgspec.msgpack.encode([msgspec.msgpack.decode(one)[0], msgspec.msgpack.decode(two)[1]])
    with pytest.raises(IntegrityError, match="changed after it was written"):
        opened_event(mixed, {key_id: key})


def test_a_part_under_another_header_is_refused() -> None:
    value, keys = change_record(1)
    header, parts = msgspec.msgpack.decode(value)
    clear = msgspec.msgpack.decode(header)
    clear[3] += 1
    with pytest.raises(IntegrityError):
        opened_change(msgspec.msgpack.encode([msgspec.msgpack.encode(clear), parts]), keys)


def test_a_wrong_key_is_refused() -> None:
    value, key_id, _ = event_record()
    for key in (new_key()[1], b"", b"short"):
        with pytest.raises(IntegrityError):
            opened_event(value, {key_id: key})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_part_needs_the_keys_of_all_its_sources(count: int) -> None:
    value, keys = change_record(count)
    assert opened_change(value, keys)[1] == [f"part with {count}".encode()]
    _, record = read_change(value)
    for source in record.parts[0].sources:
        left = {key_id: key for key_id, key in keys.items() if key_id != source.key_id}
        assert unseal_part(record, record.parts[0], left) is None


def test_one_part_dies_and_the_others_live() -> None:
    value, keys = change_record(1, 3, 2)
    _, record = read_change(value)
    third = record.parts[1].sources[2]
    del keys[third.key_id]
    assert [unseal_part(record, part, keys) for part in record.parts] == [
        b"part with 1",
        None,
        b"part with 2",
    ]


def test_a_change_cannot_be_sealed_without_a_sources_key() -> None:
    _, keys = change_record(1)
    header, _ = read_change(change_record(1)[0])
    stranger = Source(9, bytes(16))
    with pytest.raises(KeyError):
        write_change(header, [((stranger,), b"x")], keys)


def test_the_order_of_keys_matters() -> None:
    one, two = new_key()[1], new_key()[1]
    assert joint_key([one, two]) != joint_key([two, one])
    assert joint_key([one]) == one


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=2, max_size=5))
def test_a_joint_key_is_that_of_rfc_5869(keys: list[bytes]) -> None:
    extracted = hmac.digest(bytes(32), b"".join(keys), hashlib.sha256)
    assert joint_key(keys) == hmac.digest(extracted, b"recollect change\x01", hashlib.sha256)


def test_a_records_hash_is_sha256_of_its_bytes() -> None:
    assert record_hash(b"abc").hex() == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_each_record_names_the_one_before() -> None:
    previous = bytes(32)
    values = []
    for number in range(1, 6):
        value, _, _ = event_record(number=number, previous=previous)
        previous = hashlib.sha256(value).digest()
        values.append(value)
    before = bytes(32)
    for value in values:
        envelope = msgspec.msgpack.decode(msgspec.msgpack.decode(value)[0])
        assert envelope[3] == before
        before = hashlib.sha256(value).digest()


@given(st.binary(max_size=200), st.binary(max_size=50))
def test_what_is_sealed_is_unsealed(text: bytes, context: bytes) -> None:
    key = new_key()[1]
    sealed = seal(key, text, context)
    assert len(sealed) == 12 + len(text) + 16
    assert unseal(key, sealed, context) == text
    with pytest.raises(IntegrityError):
        unseal(key, sealed, context + b"x")


def test_the_same_text_is_sealed_differently_each_time() -> None:
    key = new_key()[1]
    assert len({seal(key, b"hi", b"") for _ in range(50)}) == 50


def test_keys_and_their_ids_are_drawn() -> None:
    drawn = [new_key() for _ in range(50)]
    assert {(len(key_id), len(key)) for key_id, key in drawn} == {(16, 32)}
    assert len({half for pair in drawn for half in pair}) == 100


def test_a_sources_id_is_known_again_only_with_the_secret() -> None:
    secret, other = new_key()[1], new_key()[1]
    known = source_digest(secret, "z", "slack", "m-1")
    assert len(known) == 16
    assert known == source_digest(secret, "z", "slack", "m-1")
    different = {
        source_digest(other, "z", "slack", "m-1"),
        source_digest(secret, "y", "slack", "m-1"),
        source_digest(secret, "z", "slac", "km-1"),
        source_digest(secret, "zs", "lack", "m-1"),
        source_digest(secret, "z", "slack", "m-2"),
    }
    assert known not in different
    assert len(different) == 5
