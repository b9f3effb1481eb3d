"""A record that is split comes back whole, whatever lies between its fragments, or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.schemas.errors import IntegrityError
from recollect.schemas.ledger.fragments import (
    MAX_FRAGMENT_BYTES,
    MAX_INCOMPLETE_SETS,
    Assembler,
    split,
)
from recollect.schemas.ledger.records import ChangeHeader, ChangeRecord, read_change, read_event

#: What wraps a piece takes no more than this.
WRAPPING = 100

# Told apart from fragments by their first two bytes, as records of the ledger are: [bytes, ...].
values = st.binary(max_size=300).map(lambda body: msgspec.msgpack.encode([body, []]))
limits = st.integers(1, 320)


def a_change(size: int = 300) -> bytes:
    """Return the bytes of a change record without parts, about as large as that."""
    header = ChangeHeader(1, "main" * (size // 4), "z", 1, bytes(32), 0, bytes(32), False, 0, ())
    return msgspec.msgpack.encode(ChangeRecord(msgspec.msgpack.encode(header), ()))


def joined(records: Iterable[bytes], assembler: Assembler | None = None) -> list[bytes]:
    """Return the whole records that come of those of a topic."""
    assembler = assembler or Assembler()
    return [whole for record in records if (whole := assembler.add(record)) is not None]


def fragment(whole: bytes, index: int, count: int, data: bytes) -> bytes:
    """Return a fragment that nobody changed after it was written, whatever it says."""
    fields = (whole, index, count, data)
    check = hashlib.sha256(msgspec.msgpack.encode(fields)).digest()
    return msgspec.msgpack.encode(("fragment", *fields, check))


# Splitting


@given(values, limits)
def test_a_record_up_to_the_limit_stays_as_it_is(value: bytes, limit: int) -> None:
    if len(value) <= limit:
        assert split(value, limit) == [value]
        assert joined([value]) == [value]


@given(values, limits)
@example(a_change(), 1)
def test_a_record_beyond_the_limit_comes_back_with_its_last_fragment(
    value: bytes, limit: int
) -> None:
    records = split(value, limit)
    assembler = Assembler()
    assert [assembler.add(record) for record in records] == [None] * (len(records) - 1) + [value]
    assert assembler.void == 0


@given(values, limits)
def test_no_fragment_is_larger_than_the_limit_and_its_wrapping(value: bytes, limit: int) -> None:
    records = split(value, limit)
    assert len(records) == -(-len(value) // limit)
    assert max(map(len, records)) <= limit + WRAPPING


def test_kafka_takes_the_largest_fragment() -> None:
    records = split(bytes(2 * MAX_FRAGMENT_BYTES + 1), MAX_FRAGMENT_BYTES)
    assert len(records) == 3
    # Kafka's own limit, less what a batch of one record with a key of 128 bytes takes.
    assert max(map(len, records)) < 1_048_576 - 300


def test_a_fragment_is_no_record() -> None:
    """So a program from before there were fragments stops at one and says so."""
    for record in split(a_change(), 40):
        for read in (read_change, read_event):
            with pytest.raises(IntegrityError, match="cannot be read"):
                read(record)


# What lies between


@st.composite
def interleaved(draw: st.DrawFn) -> tuple[list[bytes], list[list[bytes]], list[bytes]]:
    """Return (values, the records that hold each, all of them as two to four writers append)."""
    drawn = draw(st.lists(values, min_size=2, max_size=4, unique=True))
    records = [split(value, draw(st.integers(len(value) // 8 + 1, 320))) for value in drawn]
    turns = [writer for writer, held in enumerate(records) for _ in held]
    left = [iter(held) for held in records]
    return drawn, records, [next(left[writer]) for writer in draw(st.permutations(turns))]


@given(interleaved())
def test_writers_who_write_between_each_other(
    found: tuple[list[bytes], list[list[bytes]], list[bytes]],
) -> None:
    drawn, records, topic = found
    in_order_of_their_ends = sorted(
        drawn, key=lambda value: topic.index(records[drawn.index(value)][-1])
    )
    assert joined(topic) == in_order_of_their_ends


@given(interleaved(), st.data())
def test_a_missing_fragment_voids_its_record_and_no_other(
    found: tuple[list[bytes], list[list[bytes]], list[bytes]], data: st.DataObject
) -> None:
    drawn, records, topic = found
    lost = data.draw(st.sampled_from(topic))
    whose = next(writer for writer, held in enumerate(records) if lost in held)
    assembler = Assembler()
    came = joined([record for record in topic if record != lost], assembler)
    assert sorted(came) == sorted(value for value in drawn if value != drawn[whose])
    assert assembler.void == len(records[whose]) - 1


@given(values, limits, st.data())
def test_fragments_that_come_twice_give_the_record_once(
    value: bytes, limit: int, data: st.DataObject
) -> None:
    """Copies of any that came already, anywhere, as a redelivery leaves them."""
    records = split(value, limit)
    topic = []
    for index, record in enumerate(records):
        topic.append(record)
        if 0 < index < len(records) - 1:
            topic += data.draw(st.lists(st.sampled_from(records[: index + 1]), max_size=2))
    assert joined(topic) == [value]


@given(values, limits, st.data())
def test_a_writer_that_died_and_one_that_appends_the_same_bytes_again(
    value: bytes, limit: int, data: st.DataObject
) -> None:
    records = split(value, limit)
    died_at = data.draw(st.integers(0, len(records) - 1))
    assert joined([*records[:died_at], *records]) == [value]
    assert joined([*records, *records]) == [value, value]


@given(values, limits, values, st.data())
def test_reading_from_the_middle_passes_over_the_tail(
    value: bytes, limit: int, other: bytes, data: st.DataObject
) -> None:
    records = split(value, limit)
    start = data.draw(st.integers(1, len(records)))
    assembler = Assembler()
    assert joined([*records[start:], other, *records], assembler) == [other, value]
    assert assembler.void == len(records) - start


def test_what_was_begun_is_forgotten_when_told() -> None:
    value = a_change()
    first, *rest = split(value, 100)
    assembler = Assembler()
    assert joined([first], assembler) == []
    assembler.reset()
    assert joined(rest, assembler) == []
    assert joined([first, *rest], assembler) == [value]


def test_sets_that_never_become_whole_do_not_grow_for_ever() -> None:
    assembler = Assembler()
    records = [split(a_change(300 + 4 * index), 100) for index in range(MAX_INCOMPLETE_SETS + 2)]
    oldest, second, *_, newest = records
    assert joined([held[0] for held in records], assembler) == []
    assert len(assembler._incomplete) == MAX_INCOMPLETE_SETS
    assert joined(newest[1:], assembler) == [a_change(300 + 4 * (MAX_INCOMPLETE_SETS + 1))]
    assert joined(oldest[1:], assembler) == joined(second[1:], assembler) == []
    assert len(assembler._incomplete) == MAX_INCOMPLETE_SETS - 1


def test_a_set_that_goes_on_is_not_the_oldest() -> None:
    assembler = Assembler()
    value = a_change()
    first, second, *rest = split(value, 100)
    others = [
        split(a_change(304 + 4 * index), 100)[0] for index in range(2 * MAX_INCOMPLETE_SETS - 2)
    ]
    half = MAX_INCOMPLETE_SETS - 1
    assert joined([first, *others[:half], second, *others[half:]], assembler) == []
    assert joined(rest, assembler) == [value]


# What was changed


def test_a_flipped_bit_anywhere_in_a_fragment_is_found_there() -> None:
    """Whether or not what belongs to it was read."""
    records = split(a_change(), 120)
    for index, record in enumerate(records):
        assembler = Assembler()
        joined(records[:index], assembler)
        for place in range(len(record)):
            for bit in range(8):
                changed = bytearray(record)
                changed[place] ^= 1 << bit
                for reader in (assembler, Assembler()):
                    with pytest.raises(IntegrityError):
                        read_change(reader.add(bytes(changed)) or b"")
        assert joined(records[index:], assembler) == [a_change()]


@given(values, limits, st.data())
def test_a_shortened_fragment_is_refused(value: bytes, limit: int, data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(split(value, min(limit, len(value) - 1))))
    end = data.draw(st.integers(10, len(record) - 1))
    with pytest.raises(IntegrityError):
        Assembler().add(record[:end])


def test_fragments_that_are_sound_but_not_of_one_record_are_refused() -> None:
    whole = hashlib.sha256(b"one").digest()
    with pytest.raises(IntegrityError, match="do not match its hash"):
        joined([fragment(whole, 0, 2, b"o"), fragment(whole, 1, 2, b"ther")])
    with pytest.raises(IntegrityError, match="do not match its hash"):
        joined([fragment(whole, 0, 3, b"o"), fragment(whole, 1, 2, b"n")])


@pytest.mark.parametrize(("index", "count"), [(-1, 1), (0, 0), (0, -1), (1, 1), (5, 5)])
def test_a_fragment_that_says_nonsense_gives_nothing(index: int, count: int) -> None:
    whole = hashlib.sha256(b"one").digest()
    assert joined([fragment(whole, index, count, b"one")] * 3) == []
