"""What tells successful runs from failed ones, and how sure that is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest

from recollect.schemas.events import StepKind
from recollect.streams.learning.outcome_comparison import Run, Step, compare_outcomes
from recollect.streams.learning.strategies import FoundItem


def runs(*steps_of: Sequence[str], good: Sequence[int], error: str | None = None) -> list[Run]:
    """Return a run for each list of steps; those in `good` succeeded."""
    return [
        Run(
            f"t{n}",
            100 * n + 99,
            1.0 if n in good else 0.0,
            None if n in good else error,
            [Step(f"t{n}s{i}", 100 * n + i, *read(text)) for i, text in enumerate(steps)],
        )
        for n, steps in enumerate(steps_of)
    ]


def read(text: str) -> tuple[StepKind, str, str | None]:
    """Read `words`, `!words` (an observation) or `tool: words`."""
    if text.startswith("!"):
        return "observation", text[1:], None
    tool, colon, words = text.partition(": ")
    return ("tool_call", words, tool) if colon else ("action", text, None)


def found(kind: str, items: Sequence[FoundItem]) -> dict[str, float]:
    return {item.text: item.confidence for item in items if item.kind == kind}


def chance(with_it: set[int], good: set[int], total: int) -> float:
    """Count the ways to choose who succeeded in which at least as many of `with_it` did."""
    ways = [set(each) for each in combinations(range(total), len(good))]
    return sum(len(each & with_it) >= len(good & with_it) for each in ways) / len(ways)


def test_a_step_of_all_successes_and_no_failure_is_helpful() -> None:
    items = compare_outcomes(runs(["a", "x"], ["x"], ["a", "x"], ["x"], good=(0, 2)))
    (item,) = items
    assert (item.kind, item.text, item.in_successes, item.in_failures) == ("helpful", "a", 2, 0)
    assert item.confidence == round(1 - chance({0, 2}, {0, 2}, 4), 4)
    assert [ref.step_id for ref in item.evidence] == ["t0s0", "t2s0"]
    assert item.sources == (0, 200)


def test_a_step_of_failures_is_harmful_and_says_so() -> None:
    items = compare_outcomes(runs(["a"], ["b"], ["a"], ["b"], ["b"], good=(0, 2)))
    assert set(found("helpful", items)) == {"a"}
    (item,) = [item for item in items if item.kind == "harmful"]
    assert (item.text, item.impact) == ("b", "3 of 3 runs with it failed")


@pytest.mark.parametrize(
    ("steps", "good"),
    [
        ([["a"], ["b"]], (0,)),
        ([["a"], ["a"]], (0, 1)),
        ([["a"], ["a"]], ()),
        ([["a"], ["a"], ["a"], ["a"]], (0, 1)),
        ([["a"], [], ["a"], ["a"], [], []], (0, 1, 2)),
        ([], ()),
    ],
)
def test_too_little_evidence_gives_nothing(steps: list[list[str]], good: tuple[int, ...]) -> None:
    assert compare_outcomes(runs(*steps, good=good)) == []


def test_more_comparisons_make_each_less_sure() -> None:
    one = compare_outcomes(runs(["a"], [], ["a"], [], ["a"], [], good=(0, 2, 4)))
    more = compare_outcomes(runs(["a", "b"], ["c"], ["a", "c"], [], ["a"], ["b"], good=(0, 2, 4)))
    p = chance({0, 2, 4}, {0, 2, 4}, 6)
    assert found("helpful", one) == {"a": round(1 - p, 4)}
    assert found("helpful", more) == {"a": round(1 - 3 * p, 4)}


def test_confidence_is_that_of_counting_all_outcomes() -> None:
    draw = random.Random(3)
    reported = 0
    for _ in range(200):
        total = draw.randrange(4, 9)
        good = set(draw.sample(range(total), draw.randrange(1, total)))
        with_it = {n for n in range(total) if draw.random() < (0.9 if n in good else 0.2)}
        steps = [["a"] if n in with_it else [] for n in range(total)]
        items = found("helpful", compare_outcomes(runs(*steps, good=tuple(good))))
        p = chance(with_it, good, total)
        enough = len(with_it & good) >= 2 and len(with_it) < total and round(1 - p, 4) > 0.5
        assert items == ({"a": pytest.approx(1 - p, abs=1e-4)} if enough else {})
        reported += enough
    assert reported > 50


def test_tools_are_compared_whatever_they_are_given() -> None:
    items = compare_outcomes(
        runs(["pytest: one"], ["x"], ["pytest: two"], ["x"], good=(0, 2)),
    )
    assert list(found("helpful", items)) == ["Use the tool pytest."]


def test_case_and_spaces_make_no_other_step() -> None:
    items = compare_outcomes(runs(["Run  it."], [], ["run it."], [], good=(0, 2)))
    assert list(found("helpful", items)) == ["Run  it."]


def test_what_was_seen_is_no_strategy() -> None:
    assert compare_outcomes(runs(["!ok"], ["!bad"], ["!ok"], ["!bad"], good=(0, 2))) == []


def test_an_error_of_several_runs_is_an_observation() -> None:
    items = compare_outcomes(runs([], [], [], good=(0,), error="It broke."))
    (item,) = items
    assert (item.kind, item.in_failures) == ("observation", 2)
    assert item.text == "2 of 2 failed runs ended with: It broke."
    assert item.sources == (199, 299)
