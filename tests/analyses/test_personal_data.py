"""Personal data: what is found, where exactly, and what is left alone."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.streams.analyses.personal_data import TYPES, personal_data


def found(text: str) -> list[tuple[str, str]]:
    return [(datum.type, text[datum.start : datum.end]) for datum in personal_data(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to Ada.Byron@example.org, please.", ("email", "Ada.Byron@example.org")),
        ("+44 20 7946 0018 is the clinic", ("phone", "+44 20 7946 0018")),
        ("call me on (415) 555-0132 x12", ("phone", "(415) 555-0132 x12")),
        ("Tel: 0572-12345678", ("phone", "0572-12345678")),
        ("her cell is 5550132 now", ("phone", "5550132")),
        ("the card 4111 1111 1111 1111 expired", ("card", "4111 1111 1111 1111")),
        ("amex 378282246310005.", ("card", "378282246310005")),
        ("IBAN GB29 NWBK 6016 1331 9268 19 please", ("iban", "GB29 NWBK 6016 1331 9268 19")),
        ("to de89370400440532013000, thanks", ("iban", "de89370400440532013000")),
        ("SSN 219-09-9999", ("national_id", "219-09-9999")),
        ("my NHS number is 943 476 5919", ("national_id", "943 476 5919")),
        ("DNI 12345678Z", ("national_id", "12345678Z")),
        ("id 11010519491231002X", ("national_id", "11010519491231002X")),
        ("Passport no. K1234567 is lost", ("passport", "K1234567")),
        ("my driver's license number is B2447577", ("licence", "B2447577")),
        ("blocked 203.0.113.77 today", ("ip", "203.0.113.77")),
        ("from 2001:db8::8a2e:370:7334", ("ip", "2001:db8::8a2e:370:7334")),
        ("the password is hunter2!x, ok", ("secret", "hunter2!x")),
        ("PIN: 4821", ("secret", "4821")),
        ("AKIAIOSFODNN7EXAMPLE leaked", ("secret", "AKIAIOSFODNN7EXAMPLE")),
        ("use https://bob:s3cret@db.example.org/x", ("secret", "s3cret")),
        (
            "She lives at 221B Baker Street, London NW1 6XE.",
            ("address", "221B Baker Street, London NW1 6XE"),
        ),
        ("Ship to 12 N. Main St., Springfield, IL 62701", None),
        ("Er wohnt Hauptstraße 5, 10115 Berlin", ("address", "Hauptstraße 5, 10115 Berlin")),
        ("12 rue de la Paix, 75002 Paris", ("address", "12 rue de la Paix, 75002 Paris")),
        ("my address is 12 oak street", ("address", "12 oak street")),
        ("Meet at No. 18, Xinhua Road, Pudong District", None),
        ("PO Box 1142", ("address", "PO Box 1142")),
    ],
)
def test_personal_data_is_found_in_its_exact_place(
    text: str, expected: tuple[str, str] | None
) -> None:
    if expected is None:
        start = next(place for place, sign in enumerate(text) if sign == "N" or sign.isdigit())
        expected = ("address", text[start:])
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "It ran from 2025-01-02 10:30:00 to 2025-01-02 17:45:00.",
        "We paid 1,250,000 in 2023-2024, up from 980 000 dollars.",
        "Order 4482917735 shipped; tracking number 999412345678.",
        "Version 10.2.3.4 runs on 127.0.0.1.",
        "The score was 21-19, 18-21 and 21-15 at 18:05.",
        "ISBN 978-0-306-40615-7",
        "https://shop.example.org/items/4111111111111111?phone=5550132444",
        "the card 4111 1111 1111 1112 expired",
        "GB29 NWBK 6016 1331 9268 18",
        "SSN 666-12-3456",
        "On March 5, 2025, Lake Park opened; Building 3, Room 12 is ours.",
        "I have 12 great books and 3 Main ideas.",
        "The password is wrong.",
        "We sat near Baker Street.",
        "1111111111",
    ],
)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_value_is_normalised() -> None:
    data = personal_data("Ada@Example.org, +44 (20) 7946-0018, GB29 NWBK 6016 1331 9268 19")
    assert [datum.value for datum in data] == [
        "ada@example.org",
        "+442079460018",
        "GB29NWBK60161331926819",
    ]


def test_the_more_specific_rule_wins() -> None:
    assert found("call 4111111111111111") == [("card", "4111111111111111")]


PARTS = st.sampled_from(
    [
        ("", ""),
        ("email", "eve@example.com"),
        ("phone", "+1 212 555 0147"),
        ("card", "5500 0000 0000 0004"),
        ("iban", "NL91ABNA0417164300"),
        ("ip", "198.51.100.23"),
        ("national_id", "219-09-9999"),
    ]
)
WORDS = st.text(st.characters(categories=["Lu", "Ll", "Lo", "Po", "So"], exclude_characters="@#/'"))


@given(st.lists(st.tuples(WORDS, PARTS), max_size=6))
def test_places_are_exact_in_any_text(pieces: list[tuple[str, tuple[str, str]]]) -> None:
    text = ""
    expected = []
    for words, (kind, value) in pieces:
        text += words + " . "
        if value:
            expected.append((len(text), len(text) + len(value), kind))
            text += value + " . "
    data = personal_data(text)
    assert [(it.start, it.end, it.type) for it in data if it.type != "secret"] == expected


@given(st.text(st.sampled_from("0123456789 -.:/()+@,\nABCSaxs'٣५"), max_size=300))
def test_results_never_overlap(text: str) -> None:
    data = personal_data(text)
    spans = [(datum.start, datum.end) for datum in data]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert {datum.type for datum in data} <= set(TYPES)


@pytest.mark.parametrize(
    "unit",
    [
        "1", "1 ", "1-", "(1", "1.", "+1 ", "A", "A ", "Ab 1 ", "1 Ab ", "a@", "a.", ":", "::1",
        "GB29 ", "eyJ", "sk-", "password ", "call me on ", "passport number ", "1 Oak ", "Rue de ",
        "bearer ", "box 1 ", "0a:", "-----BEGIN ", "://a:", "<<", "\n1, ", "No. 1, ",
    ],
)  # fmt: skip
def test_a_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    # A quadratic rule would not end within the time that a test has.
    personal_data(unit * (100_000 // len(unit)))
