"""A record of tomorrow is refused by name; one of yesterday is read."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.schemas.changes import (
    DecidedPart,
    Delete,
    Embedding,
    Fact,
    Section,
    TokenVectorsRow,
    Turn,
    decode_outbox,
    decode_sections,
    encode_part,
)
from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.events import Draft, Tick
from recollect.schemas.ledger.compression import (
    DEFLATE_DICTIONARY,
    deflate,
    huffman_decode,
    huffman_encode,
    inflate,
)
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    EVENT_FORMAT,
    chain_of,
    read_change,
    read_event,
)
from tests.opened import sections_of

pack = msgspec.msgpack.encode
unpack = msgspec.msgpack.decode

FACT = Fact("F1", "Ada lives here.", None, 1, 2, "E1", "{}", 3, "ada")
TURN = Turn("T1", "slack", "t", "E1", 4)
TICK = Draft(platform="recollect", occurred_at=5, payload=Tick(source_id="t", name="daily"))
EVERY = ("memory", "identity", "embeddings")

#: What a header or an envelope of tomorrow may look like: only that its format comes first stands.
TOMORROWS: list[Any] = [
    [[99, "c0", "z", 1, bytes(32), 0, bytes(32), False, 0, []], []],
    [[99, "c0", "z", 1, bytes(32), 0, bytes(32), False, 0, [], "one field more"], []],
    [[99, {"chain": "c0"}], {"parts": []}, "something"],
    [[99]],
]


@pytest.mark.parametrize("shape", range(len(TOMORROWS)))
@pytest.mark.parametrize("read", [read_event, read_change, chain_of])
def test_a_record_of_a_newer_format_is_refused_by_name_whatever_its_shape(
    read: Any, shape: int
) -> None:
    clear, *rest = TOMORROWS[shape]
    with pytest.raises(NewerFormat, match=r"format 99.*upgrade recollect"):
        read(pack([pack(clear), *rest]))


@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize("read", [read_event, read_change, chain_of])
def test_a_format_that_never_was_is_damage(read: Any, number: int) -> None:
    with pytest.raises(IntegrityError, match="cannot be read"):
        read(pack([pack([number, "c0"]), []]))


def test_formats_are_what_they_were() -> None:
    """Whoever raises one adds records of the new one to tests/data/golden."""
    assert (EVENT_FORMAT, CHANGE_FORMAT) == (2, 5)


def test_the_dictionary_is_what_it_was() -> None:
    """Records that were deflated with it need these very bytes: another one needs a new format."""
    assert hashlib.sha256(DEFLATE_DICTIONARY).hexdigest() == (
        "16b29c467f0f761fa85dd9452b6a9bc3a1d2a17cd9b7b13b5bd9be61a0eda8bf"
    )


@given(st.binary(max_size=3_000))
def test_what_is_deflated_or_coded_comes_back(text: bytes) -> None:
    assert inflate(deflate(text)) == text
    assert huffman_decode(huffman_encode(text)) == text


@given(st.binary(max_size=300), st.integers(1, 300))
def test_what_ends_too_early_or_too_late_is_no_text(text: bytes, cut: int) -> None:
    for there, back in ((deflate, inflate), (huffman_encode, huffman_decode)):
        for damaged in (there(text)[:-cut], there(text) + b"x"):
            with pytest.raises(zlib.error):
                back(damaged)


def test_a_part_holds_vectors_and_tokens_as_they_are() -> None:
    vector = Embedding("V1", "fact", "F1", "m", bytes(range(8)), 8, "00ff", 5)
    tokens = TokenVectorsRow("event", "E1", "m", "form", b"codes", b"scales", b"units", "00ff", 5)
    other = msgspec.structs.replace(vector, id="V2", target_id="F2", embedding=bytes(8))
    rows = (vector, tokens, other, msgspec.structs.replace(tokens, target_id="E2", units=b""))
    text = encode_part(DecidedPart((1,), puts=[FACT, *rows]))
    assert decode_sections(text, EVERY, CHANGE_FORMAT)["embeddings"].puts == rows
    assert decode_sections(text, ("memory",), CHANGE_FORMAT)["memory"].puts == (FACT,)


def test_a_vector_is_as_long_as_it_says() -> None:
    vector = Embedding("V1", "fact", "F1", "m", bytes(7), 8, "00ff", 5)
    with pytest.raises(ValueError, match="8 dimensions has 7 bytes"):
        encode_part(DecidedPart((1,), puts=[vector]))


@pytest.mark.parametrize("change", [(1, b""), (1, b"x"), (2, []), (2, [b"codes"] * 6)])
def test_vectors_or_tokens_that_are_not_those_of_the_rows_are_damage(
    change: tuple[int, Any],
) -> None:
    vector = Embedding("V1", "fact", "F1", "m", bytes(8), 8, "00ff", 5)
    tokens = TokenVectorsRow("event", "E1", "m", "form", b"codes", b"scales", b"units", "00ff", 5)
    text = unpack(encode_part(DecidedPart((1,), puts=[vector, tokens])))
    text[change[0]] = change[1]
    with pytest.raises(IntegrityError, match="cannot be read"):
        decode_sections(pack(text), EVERY, CHANGE_FORMAT)


def test_a_part_names_its_sections_and_leaves_empty_ones_out() -> None:
    assert unpack(sections_of(encode_part(DecidedPart((1,))))) == {}
    text = encode_part(
        DecidedPart((1,), puts=[FACT], deletes=[Delete("handles", ("H0",))], outbox=[TICK])
    )
    sections = unpack(sections_of(text))
    assert {name: len(said) for name, said in sections.items()} == {
        "memory": 2,
        "identity": 2,
        "outbox": 1,
    }
    assert sections["identity"] == [[["handles", ["H0"]]], []]


def test_a_part_of_the_first_format_says_the_same_as_one_of_today() -> None:
    facts = [["fact", *msgspec.structs.astuple(FACT)]]
    first = pack([[[], facts], [[["handles", ["H0"]]], []], [[], []], [TICK]])
    today = encode_part(
        DecidedPart((1,), puts=[FACT], deletes=[Delete("handles", ("H0",))], outbox=[TICK])
    )
    named = sections_of(today)
    for text, format_ in ((first, 1), (named, 2), (zlib.compress(named), 3), (today, 4)):
        sections = decode_sections(text, EVERY, format_)
        assert sections["memory"].puts == (FACT,)
        assert sections["identity"].deletes == (Delete("handles", ("H0",)),)
        assert not sections["embeddings"].puts
        assert decode_outbox(text, format_) == (TICK,)


def test_what_a_part_does_not_name_is_empty() -> None:
    sections = decode_sections(pack({}), EVERY, 2)
    assert sections == dict.fromkeys(EVERY, Section())
    assert decode_outbox(pack({}), 2) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ({"plans": [[], []]}, "plans"),
        ({"memory": [[], [["fact_of_tomorrow", "F1"]]]}, "fact_of_tomorrow"),
        ({"memory": [[], [["entity", "E", "n", "t", "n", "inferred", 1]]]}, "entity"),
        ({"memory": [[["tables_of_tomorrow", ["F1"]]], []]}, "tables_of_tomorrow"),
    ],
)
def test_a_section_a_row_and_a_table_that_are_not_known_come_from_a_newer_program(
    text: dict[str, Any], name: str
) -> None:
    with pytest.raises(NewerFormat, match=f"{name}.*upgrade recollect"):
        decode_sections(pack(text), ("memory",), 2)


def test_a_command_that_is_not_known_comes_from_a_newer_program() -> None:
    draft = {"platform": "recollect", "occurred_at": 5, "payload": {"kind": "dream"}}
    with pytest.raises(NewerFormat, match=r"dream.*upgrade recollect"):
        decode_outbox(pack({"outbox": [draft]}), 2)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xc1",
        pack(5),
        pack([1, 2]),
        pack({1: [[], []]}),
        pack({"memory": 5}),
        pack({"memory": [[], [["fact", "F1"]]]}),
        pack({"memory": [[], [["turn", "T1", "slack", "t", "E1", "not a number"]]]}),
        pack({"memory": [[], [7]]}),
        pack({"memory": [[["facts"]], []]}),
        pack({"memory": [["facts"], []]}),
        b"\x81\xa6memory\x92\x90\x91\x92\xa4turn\xa1\xff",
    ],
)
@pytest.mark.parametrize("format_", [1, 2, 3, 4])
def test_what_nobody_can_have_meant_is_never_an_error_of_the_codec(
    text: bytes, format_: int
) -> None:
    with pytest.raises(IntegrityError, match="cannot be read"):
        decode_sections(text, ("memory",), format_)
