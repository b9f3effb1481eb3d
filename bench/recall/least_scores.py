"""The effect of `--min-score` on questions about the same conversation, and about other people's.

There are no real questions without an answer, so each conversation also gets the questions about
the others, with the names of its own people: the most similar questions without an answer in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.kit.report import Report

LEAST = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
#: LoCoMo's questions that are meant to have no answer, though their words occur in the
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
        "LoCoMo: least scores",
        f"The best score of {len(own)} questions that have an answer in the conversation that is "
        f"asked, and of {len(others)} that were asked about other people's lives, with the names "
        "exchanged. The share of the first that `--min-score` answers, and of the others that it "
        f"refuses, in percent. Area under the curve: {area(own, others):.2f}.",
        ["min-score", "answered", "refused"],
        [
            [f"{least}", f"{_share(own, least):.0f}", f"{100 - _share(others, least):.0f}"]
            for least in LEAST
        ],
    )


def renamed(question: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    """Return a question about other people with the names of ours."""
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
