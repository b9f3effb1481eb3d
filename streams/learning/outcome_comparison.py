"""Reflection without a language model: what distinguishes successful runs from failed ones.

Each step that some runs took is tested by Fisher's exact test: how likely is it by chance that
so many of the runs with it succeeded? That probability, times the number of comparisons
(Bonferroni), is the step's p-value; its confidence is 1 - p. Steps taken by the same runs, or by
complementary sets of runs, are one comparison. With two runs on each side and one difference, p is
1/6; with one run on each side it is 1/2, and nothing is concluded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import comb
from typing import Literal, NamedTuple

from recollect.schemas.events import StepKind
from recollect.streams.learning.strategies import FoundItem, StepRef

#: The confidence above which a difference is reported.
MIN_CONFIDENCE = 0.5
#: The minimum number of runs with the outcome that took a step, or made an error.
MIN_RUNS = 2
#: The score from which a run counts as a success.
SUCCESS_SCORE = 0.5
#: The maximum number of items of a kind.
MAX_ITEMS = 10
#: The maximum number of characters of an item's text.
MAX_TEXT = 500
#: The kinds of step that can be a strategy; an observation cannot.
_STRATEGIC = frozenset({"action", "decision", "tool_call"})


class Step(NamedTuple):
    """A step of a run; `number` is the number of its ledger record."""

    id: str
    number: int
    kind: StepKind
    content: str
    tool: str | None


class Run(NamedTuple):
    """A completed trajectory. `score`: by its latest feedback, or else its own.

    `number`: the ledger record that completed it.
    """

    trajectory_id: str
    number: int
    score: float
    error: str | None
    steps: Sequence[Step]

    @property
    def succeeded(self) -> bool:
        """Whether it counts as a success."""
        return self.score >= SUCCESS_SCORE


class _Feature(NamedTuple):
    """Something that runs can have in common: the words of a step, or a tool."""

    kind: Literal["step", "tool"]
    name: str


def compare_outcomes(runs: Sequence[Run]) -> list[FoundItem]:
    """Return what distinguishes the successful runs of a task from the failed ones, with evidence.

    `runs` are in order of the ledger. The result is empty if there is too little evidence.
    """
    taken: dict[_Feature, dict[int, Step]] = defaultdict(dict)
    for index, run in enumerate(runs):
        for step in run.steps:
            for feature in _features(step):
                taken[feature].setdefault(index, step)
    successes = {index for index, run in enumerate(runs) if run.succeeded}
    failures = set(range(len(runs))) - successes
    # A step of one run alone can never be reported, so it does not count as a comparison (Tarone,
    # 1990).
    differing = {
        feature: steps for feature, steps in taken.items() if MIN_RUNS <= len(steps) < len(runs)
    }
    all_runs = frozenset(range(len(runs)))
    with_it = {frozenset(steps) for steps in differing.values()}
    comparisons = len({frozenset({runs_with, all_runs - runs_with}) for runs_with in with_it})
    sides: tuple[tuple[Literal["helpful", "harmful"], set[int]], ...] = (
        ("helpful", successes),
        ("harmful", failures),
    )
    items: dict[str, list[FoundItem]] = {"helpful": [], "harmful": []}
    for feature, steps in differing.items():
        for kind, side in sides:
            inside = sorted(side & steps.keys())
            outside = len(steps) - len(inside)
            by_chance = _chance(len(inside), outside, len(side), len(runs) - len(side))
            confidence = _confidence(comparisons, by_chance)
            if len(inside) >= MIN_RUNS and confidence is not None:
                evidence = [(runs[index].trajectory_id, steps[index]) for index in inside]
                items[kind].append(_item(kind, feature, confidence, evidence, outside))
    errors = _common_errors([runs[index] for index in sorted(failures)])
    return [*_best(items["helpful"]), *_best(items["harmful"]), *errors]


def _features(step: Step) -> Iterator[_Feature]:
    if step.kind not in _STRATEGIC:
        return
    if step.tool is not None and step.tool.strip():
        yield _Feature("tool", " ".join(step.tool.split()))
    if step.content.strip():
        yield _Feature("step", _normalised(step.content))


def _normalised(text: str) -> str:
    return " ".join(text.casefold().split())


def _chance(inside: int, outside: int, side: int, other: int) -> float:
    """Return the probability that at least `inside` runs with a step are on one side.

    `outside`: runs with the step on the other side; `side`, `other`: total runs on each side. This
    is the upper tail of the hypergeometric distribution.
    """
    with_it, total = inside + outside, side + other
    ways = sum(
        comb(side, more) * comb(other, with_it - more)
        for more in range(inside, min(side, with_it) + 1)
    )
    return ways / comb(total, with_it)


def _confidence(comparisons: int, by_chance: float) -> float | None:
    """Return the confidence in a difference, or None if it is too low to report."""
    confidence = round(1 - min(comparisons * by_chance, 1), 4)
    return confidence if confidence > MIN_CONFIDENCE else None


def _item(
    kind: Literal["helpful", "harmful"],
    feature: _Feature,
    confidence: float,
    evidence: Sequence[tuple[str, Step]],
    outside: int,
) -> FoundItem:
    """Return a step as an item; `outside`: the runs with it that had the other outcome."""
    inside = len(evidence)
    first = evidence[0][1]
    text = f"Use the tool {feature.name}." if feature.kind == "tool" else first.content.strip()
    return FoundItem(
        kind,
        text[:MAX_TEXT],
        confidence,
        tuple(StepRef(trajectory, step.id) for trajectory, step in evidence),
        tuple(sorted(step.number for _, step in evidence)),
        impact=f"{inside} of {inside + outside} runs with it failed" if kind == "harmful" else "",
        in_successes=inside if kind == "helpful" else outside,
        in_failures=outside if kind == "helpful" else inside,
    )


def _best(items: Sequence[FoundItem]) -> list[FoundItem]:
    """Return the items of the highest confidence; those of equal confidence keep their order."""
    return sorted(items, key=lambda item: -item.confidence)[:MAX_ITEMS]


def _common_errors(failures: Sequence[Run]) -> list[FoundItem]:
    """Return the errors that several failed runs ended with, the most frequent first."""
    with_error: dict[str, list[Run]] = defaultdict(list)
    for run in failures:
        if run.error is not None and run.error.strip():
            with_error[_normalised(run.error)].append(run)
    frequent = sorted(with_error.values(), key=lambda runs: -len(runs))
    return [
        FoundItem(
            "observation",
            f"{len(runs)} of {len(failures)} failed runs ended with: {runs[0].error}"[:MAX_TEXT],
            round(len(runs) / len(failures), 4),
            tuple(StepRef(run.trajectory_id, "") for run in runs),
            tuple(sorted(run.number for run in runs)),
            in_successes=0,
            in_failures=len(runs),
        )
        for runs in frequent[:MAX_ITEMS]
        if len(runs) >= MIN_RUNS
    ]
