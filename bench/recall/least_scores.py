"""The effect of `--min-score` on questions with and without an answer in a conversation.

LoCoMo has no ordinary questions without an answer. So each conversation also gets the questions
about the others, with the names replaced by those of its own people: similar questions that have no
answer in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.kit.report import Report

LEAST = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
#: The category of LoCoMo's questions that have no answer, although their words occur in the
#: conversation.
_ADVERSARIAL = 5

Json = dict[str, Any]


def report(samples: Sequence[Json], run: Callable[..., str], scratch: Path) -> Report:
    """Ask every conversation both kinds of questions; `run` calls the command on their home."""
    own: list[float] = []
    others: list[float] = []
    for sample in samples:
        strange = [
            renamed(question, _people(other), _people(sample))
            for other in samples
            if other is not sample
            for question in _questions(other)
        ]
        own += _scores(sample["sample_id"], list(_questions(sample)), run, scratch)
        others += _scores(sample["sample_id"], strange, run, scratch)
    return Report(
        "LoCoMo: minimum scores",
        f"{len(own)} questions that have an answer in the conversation, and {len(others)} "
        "questions about other conversations, with the names replaced. With each `--min-score`: "
        "the percentage of the former that still get a result, and of the latter that get none. "
        f"Area under the curve: {area(own, others):.2f}.",
        ["min-score", "answered", "refused"],
        [
            [f"{least}", f"{_share(own, least):.0f}", f"{100 - _share(others, least):.0f}"]
            for least in LEAST
        ],
    )


def renamed(question: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    """Return a question about other people with their names replaced by ours."""
    for old, new in zip(theirs, ours, strict=True):
        question = re.sub(rf"\b{re.escape(old)}\b", new, question)
    return question


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive scores above a negative; ties count half."""
    above = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return above / (len(positive) * len(negative))


def _people(sample: Json) -> tuple[str, str]:
    conversation = sample["conversation"]
    return conversation["speaker_a"], conversation["speaker_b"]


def _questions(sample: Json) -> Iterator[str]:
    return (item["question"] for item in sample["qa"] if item["category"] != _ADVERSARIAL)


def _scores(
    zone: str, questions: Sequence[str], run: Callable[..., str], scratch: Path
) -> list[float]:
    path = scratch / f"{zone}.scores.jsonl"
    lines = [json.dumps({"id": str(place), "query": text}) for place, text in enumerate(questions)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    answers = run("recall", "--batch", str(path), "-k", "1", "--zone", zone, "--json").splitlines()
    found = [json.loads(line)["results"] for line in answers]
    return [results[0]["score"] if results else 0.0 for results in found]


def _share(scores: Sequence[float], least: float) -> float:
    return 100 * sum(score >= least for score in scores) / len(scores)
