"""Names that are one, may be one, or are two: a table of our own, and what no name may do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.streams.language.names.name_comparison import compare_names
from recollect.text.name_forms import NameKind, name_keys

_TABLE = Path(__file__).parents[2] / "data" / "names" / "pairs.tsv"
_ALLOWED = {
    "same": {"same"},
    "propose": {"propose"},
    "different": {"different"},
    "apart": {"propose", "different"},
    "near": {"same", "propose"},
}
_ROWS = [
    tuple(line.split("\t"))
    for line in _TABLE.read_text("utf-8").splitlines()
    if not line.startswith("#")
]
_ENTITY = {"person": "person", "organisation": "organisation", "other": "place"}


def test_the_table_is_large_enough() -> None:
    assert len(_ROWS) >= 300
    assert len({(row[0], *sorted(row[2:])) for row in _ROWS}) == len(_ROWS), "a pair stands twice"


@pytest.mark.parametrize(("kind", "expected", "one", "other"), _ROWS)
def test_two_names_are_judged_as_the_table_says(
    kind: NameKind, expected: str, one: str, other: str
) -> None:
    found = compare_names(one, other, kind)
    assert found.decision in _ALLOWED[expected], found
    assert found == compare_names(other, one, kind), "the order does not matter"
    assert found.reasons
    if expected in ("same", "propose", "near"):
        keys = [set(name_keys(name.casefold(), _ENTITY[kind])) for name in (one, other)]
        assert not keys[0].isdisjoint(keys[1]), "a zone would never compare them"


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["person", "organisation"]))
def test_any_two_texts_can_be_compared(one: str, other: str, kind: NameKind) -> None:
    found = compare_names(one, other, kind)
    assert 0 <= found.likelihood <= 1
    assert found == compare_names(other, one, kind)
    assert compare_names(one, one, kind).decision == "same"


@pytest.mark.timeout(60)
def test_a_name_of_any_length_is_compared_at_once() -> None:
    for hostile in ("A" * 1_000_000, "a b " * 250_000, "'" * 500_000, "A." * 500_000):
        compare_names(hostile, "Ada Lovelace", "person")
        compare_names(hostile, hostile[::-1], "organisation")
