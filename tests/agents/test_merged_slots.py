"""When a fact of a merged person ends by what the other stated (fault 48)."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import FactClaim
from recollect.streams.agents.consolidation.merged_slots import StatedClaim, merged_ends


def stated(
    fact: str,
    value: str,
    at: int,
    *,
    by: str = "ada",
    attribute: str = "home",
    until: int | None = None,
    again: int | None = None,
) -> StatedClaim:
    claim = FactClaim(fact, by, attribute, value, at)
    return StatedClaim(claim, by, value, until, at if again is None else again)


@pytest.mark.parametrize(
    ("claims", "ends"),
    [
        ([stated("f1", "oslo", 1), stated("f2", "lima", 2, by="bob")], {"f1": ("f2", 2)}),
        # The same value, or the person's own, ends nothing here.
        ([stated("f1", "oslo", 1), stated("f2", "oslo", 2, by="bob")], {}),
        ([stated("f1", "oslo", 1), stated("f2", "lima", 2)], {}),
        # What the person ended before stays so; what ended later ends now.
        ([stated("f1", "oslo", 1, until=2), stated("f2", "lima", 3, by="bob")], {}),
        ([stated("f1", "oslo", 1, until=3), stated("f2", "lima", 3, by="bob")], {}),
        (
            [stated("f1", "oslo", 1, until=4), stated("f2", "lima", 3, by="bob")],
            {"f1": ("f2", 3)},
        ),
        # Stated again after the other: that one ends then.
        (
            [stated("f1", "oslo", 1, again=5), stated("f2", "lima", 3, by="bob")],
            {"f2": ("f1", 5)},
        ),
        # At the same time: by id, and one of the two only.
        ([stated("f1", "oslo", 3), stated("f2", "lima", 3, by="bob")], {"f1": ("f2", 3)}),
        ([stated("f2", "oslo", 3), stated("f1", "lima", 3, by="bob")], {"f1": ("f2", 3)}),
        # Corrected at once, so never valid.
        ([stated("f1", "oslo", 1), stated("f2", "lima", 3, by="bob", until=3)], {}),
        # Three persons: each ends by the next.
        (
            [
                stated("f1", "oslo", 1),
                stated("f3", "bonn", 3, by="cem"),
                stated("f2", "lima", 2, by="bob"),
            ],
            {"f1": ("f2", 2), "f2": ("f3", 3)},
        ),
        # Of a multi-valued attribute only the opposite of the same value.
        (
            [
                stated("f1", "tea", 1, attribute="likes"),
                stated("f2", "tea", 2, by="bob", attribute="dislikes"),
                stated("f3", "coffee", 3, by="bob", attribute="likes"),
                stated("f4", "coffee", 4, attribute="likes"),
            ],
            {"f1": ("f2", 2)},
        ),
    ],
    ids=str,
)
def test_what_another_person_ends(
    claims: list[StatedClaim], ends: dict[str, tuple[str, int]]
) -> None:
    assert merged_ends(claims) == ends
    assert merged_ends(claims[::-1]) == ends
