"""Ids are derived: the same parts give the same id on every machine, other parts another."""

from __future__ import annotations

import hashlib
import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.schemas import ids

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
TIMES = st.integers(0, 2**48 - 1)
TEXTS = st.text(max_size=40)


def digest_of(parts: tuple[str, ...], size: int) -> bytes:
    framed = b"".join(struct.pack(">I", len(p.encode())) + p.encode() for p in parts)
    return hashlib.blake2b(framed, digest_size=size).digest()


def ulid_of(time_ms: int, parts: tuple[str, ...]) -> str:
    """The layout by way of a string of bits, not of shifts: 2 bits of nothing, 48 of time, 80."""
    bits = f"{0:02b}{time_ms:048b}" + "".join(f"{byte:08b}" for byte in digest_of(parts, 10))
    return "".join(LETTERS[int(bits[place : place + 5], 2)] for place in range(0, 130, 5))


@given(TIMES, st.lists(TEXTS, max_size=4))
def test_a_ulid_is_its_time_and_the_hash_of_its_parts(time_ms: int, parts: list[str]) -> None:
    assert ids.derive_ulid(time_ms, *parts) == ulid_of(time_ms, tuple(parts))


@pytest.mark.parametrize(
    ("time_ms", "start"),
    [
        # From the README of ulid/javascript: ulid(1469918176385) is 01ARYZ6S41TSV4RRFFQ69G5FAV.
        (1_469_918_176_385, "01ARYZ6S41"),
        (0, "0000000000"),
        # The largest that the specification allows: 7ZZZZZZZZZZZZZZZZZZZZZZZZZ.
        (2**48 - 1, "7ZZZZZZZZZ"),
    ],
)
def test_the_time_is_where_the_specification_puts_it(time_ms: int, start: str) -> None:
    made = ids.derive_ulid(time_ms, "x")
    assert made[:10] == start
    assert len(made) == 26


@given(TIMES, TIMES, TEXTS, TEXTS)
def test_ids_sort_by_their_time(first: int, second: int, one: str, other: str) -> None:
    a, b = ids.derive_ulid(first, one), ids.derive_ulid(second, other)
    if first != second:
        assert (a < b) == (first < second)


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), ((), ("",)), (("é",), ("e\u0301",))],
)
def test_parts_are_told_apart(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert ids.derive_ulid(1, *one) != ids.derive_ulid(1, *other)


@given(st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_other_parts_give_another_id(one: list[str], other: list[str]) -> None:
    assert (ids.derive_ulid(7, *one) == ids.derive_ulid(7, *other)) == (one == other)


def test_each_kind_of_id_has_a_name_space_of_its_own() -> None:
    made = [
        ids.event_id("z", "a", "b", 1),
        ids.fact_id("a", "b", 1),
        ids.entity_id("a", "b", 1),
        ids.row_id(1, "merges", "a", "b"),
    ]
    assert made == [
        ulid_of(1, ("event", "z", "a", "b")),
        ulid_of(1, ("fact", "a", "b")),
        ulid_of(1, ("entity", "a", "b")),
        ulid_of(1, ("merges", "a", "b")),
    ]
    assert len(set(made)) == 4


def test_one_id_in_two_zones_or_on_two_platforms_is_two_events() -> None:
    assert len({ids.event_id(z, p, "1", 5) for z in ("a", "b") for p in ("x", "y")}) == 4


def test_a_lone_surrogate_does_not_stop_a_hash() -> None:
    assert ids.derive_ulid(1, "\ud800") != ids.derive_ulid(1, "\ud801")
    assert ids.text_hash("\ud800")


@given(TEXTS)
def test_a_texts_hash_is_128_bits_of_blake2b(text: str) -> None:
    made = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    assert ids.text_hash(text) == made


@given(TEXTS, TEXTS, TEXTS, TIMES, TEXTS, st.integers(0, 3))
def test_a_record_without_an_id_is_known_by_who_said_what_when_and_where(
    platform: str, sender: str, thread: str, at: int, content: str, ordinal: int
) -> None:
    made = ids.content_source_id(platform, sender, thread, at, content, ordinal)
    digest = digest_of((platform, sender, thread, str(at), content), 16).hex()
    assert made == "content-" + digest + ("" if ordinal == 0 else f"-{ordinal}")


def test_an_id_of_today_is_the_id_of_tomorrow() -> None:
    """Written down once: ids are in ledgers, read models and other people's notes."""
    at = int(datetime(2026, 5, 8, 13, 56, tzinfo=UTC).timestamp() * 1000)
    assert [
        ids.event_id("default", "slack", "m-1", at),
        ids.fact_id("01KR3XYZ", "ada lives in zürich", at),
        ids.entity_id("person", "ada", at),
        ids.text_hash("Ada lives in Zürich."),
        ids.content_source_id("slack", "U1", "", at, "hi", 1),
    ] == [
        "01KR3XZBC0KWCK0533FZF75RYF",
        "01KR3XZBC0S8K62FTEGJ7BA4JA",
        "01KR3XZBC0X146Y9JZ195Y1MK5",
        "09f8de7286c02f42a352a04a655f421b",
        "content-cd3b231b01c2947227d53818c430c7ed-1",
    ]
