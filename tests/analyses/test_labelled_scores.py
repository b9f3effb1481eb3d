"""How the benchmark of personal data compares results with labels."""

from __future__ import annotations

from bench.encoder.personal_data import Span, joined, score

TEXT = "Write to 5 Elm Road,\nLeeds LS1 4AP or call 01632 960983 in Leeds."
STREET, TOWN, POSTCODE = (
    Span(9, 19, "STREET_ADDRESS"),
    Span(21, 26, "GPE"),
    Span(27, 34, "ZIP_CODE"),
)
PHONE, OTHER_TOWN = Span(43, 55, "PHONE_NUMBER"), Span(59, 64, "GPE")
ADDRESS = Span(9, 34, "STREET_ADDRESS")


def test_parts_side_by_side_are_one_address_and_a_town_alone_is_none() -> None:
    labels = [OTHER_TOWN, POSTCODE, PHONE, STREET, TOWN]
    assert sorted(joined(TEXT, labels)) == [ADDRESS, PHONE]


def test_a_result_counts_with_half_of_the_longer_span_and_the_right_type() -> None:
    types = ["STREET_ADDRESS", "PHONE_NUMBER"]
    short = Span(9, 21, "STREET_ADDRESS")
    half = Span(9, 22, "STREET_ADDRESS")
    assert score([([ADDRESS], [short])], types) == (0, 1, 1)
    assert score([([ADDRESS], [half])], types) == (1, 0, 0)
    assert score([([PHONE], [Span(43, 55, "STREET_ADDRESS")])], types) == (0, 1, 1)


def test_a_label_is_found_once_and_other_types_do_not_count() -> None:
    twice = [PHONE, PHONE]
    assert score([([PHONE], twice)], ["PHONE_NUMBER"]) == (1, 1, 0)
    assert score([([PHONE], twice)], ["STREET_ADDRESS"]) == (0, 0, 0)
    found = score([([PHONE], twice), ([PHONE], [])], ["PHONE_NUMBER"])
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
