"""The facts of a report: one that another of the same message contains is not told twice."""

from __future__ import annotations

import pytest

from recollect.operations.answers.reflecting import _sections
from recollect.schemas.wire import Result

SHORT, LONG, OTHER = "Ada rows", "Ada rows in Graz on Mondays", "Ada paints boats"


def fact(text: str) -> Result:
    return Result(
        id=text,
        type="fact",
        text=text,
        as_of="2026-01-05T10:00:00Z",
        score=0.5,
        is_stale=False,
        entity_ids=[],
        platform=None,
        sender_name=None,
        source_event_ids=["m1"],
    )


@pytest.mark.parametrize(
    ("found", "limit", "told"),
    [
        ([LONG, SHORT, OTHER], 9, [LONG, OTHER]),
        ([SHORT, LONG, OTHER], 9, [LONG, OTHER]),
        # There is no room for the longer one.
        ([SHORT, OTHER, LONG], 2, [SHORT, OTHER]),
    ],
)
def test_a_fact_is_left_out_only_for_one_that_is_told(
    found: list[str], limit: int, told: list[str]
) -> None:
    ((_, shown),) = _sections([("Facts", limit, [fact(each) for each in found])], 9)
    assert [item.text for item in shown] == told
