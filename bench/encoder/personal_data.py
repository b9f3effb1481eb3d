"""Personal data found in labelled texts, compared with Presidio.

python -m bench.encoder.personal_data --presidio PYTHON

`PYTHON`: a Python that has presidio-evaluator, which makes the texts, and a spaCy pipeline.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.kit.report import Report, Target, count, markdown
from recollect.streams.analyses.personal_data import personal_data

TEXTS, SEED = 2_000, 1
LEAST_F1 = 0.62
_CHILD = Path(__file__).with_name("labelled_texts.py")
#: Type of a label, as Presidio names it: how the report names it.
TYPES = {
    "EMAIL_ADDRESS": "e-mail address",
    "PHONE_NUMBER": "telephone number",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "IBAN",
    "US_SSN": "social security number",
    "US_DRIVER_LICENSE": "driving licence",
    "IP_ADDRESS": "IP address",
    "STREET_ADDRESS": "postal address",
}
_OURS = {
    "email": "EMAIL_ADDRESS",
    "phone": "PHONE_NUMBER",
    "card": "CREDIT_CARD",
    "iban": "IBAN_CODE",
    "national_id": "US_SSN",
    "licence": "US_DRIVER_LICENSE",
    "ip": "IP_ADDRESS",
    "address": "STREET_ADDRESS",
}
#: Labels that are part of a postal address if they are next to a street.
_PARTS = frozenset({"STREET_ADDRESS", "GPE", "ZIP_CODE"})


class Span(NamedTuple):
    """Characters of a text, and their type."""

    start: int
    end: int
    type: str


class Labelled(msgspec.Struct):
    """A text with its labels, and what Presidio finds."""

    text: str
    labels: list[Span]
    found: list[Span]


class Score(NamedTuple):
    """Numbers of labels found, of wrong results, and of labels missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.wrong + self.missed, 1)


def run(python: str | None) -> Report:
    """Score recollect and Presidio on the same texts."""
    if python is None:
        return _report([], [], "no Python with presidio-evaluator was given")
    rows, ours, other = [], [], []
    for text in labelled_texts(python):
        labels = [label for label in joined(text.text, text.labels) if label.type in TYPES]
        found = [
            Span(it.start, it.end, _OURS[it.type])
            for it in personal_data(text.text)
            if it.type in _OURS
        ]
        ours.append((labels, found))
        other.append((labels, [it for it in text.found if it.type in TYPES]))
    without_addresses = [type_ for type_ in TYPES if type_ != "STREET_ADDRESS"]
    groups = [([type_], name) for type_, name in TYPES.items()]
    groups += [(without_addresses, "all but addresses"), (list(TYPES), "all")]
    for types, name in groups:
        mine, theirs = score(ours, types), score(other, types)
        rows.append(
            [
                name,
                count(mine.right + mine.missed),
                *(f"{each:.3f}" for each in (mine.precision, mine.recall, mine.f1)),
                *(f"{each:.3f}" for each in (theirs.precision, theirs.recall, theirs.f1)),
            ]
        )
    f1 = score(ours, list(TYPES)).f1
    target = Target(f"F1 of all types above {LEAST_F1}", f"{f1:.3f}", f1 > LEAST_F1)
    return _report(rows, [target], "")


def labelled_texts(python: str) -> list[Labelled]:
    """Return the texts that another Python makes."""
    done = subprocess.run(
        [python, str(_CHILD), str(TEXTS), str(SEED)], capture_output=True, text=True, check=True
    )
    return [msgspec.json.decode(line, type=Labelled) for line in done.stdout.splitlines()]


def joined(text: str, labels: Iterable[Span]) -> list[Span]:
    """Return labels, with the parts of a postal address as one.

    Streets, towns and postcodes are one address if no letter or digit is between them.
    """
    spans: list[Span] = []
    run: list[Span] = []
    for label in sorted(labels):
        if label.type not in _PARTS:
            spans.append(label)
            continue
        if run and any(sign.isalnum() for sign in text[run[-1].end : label.start]):
            spans += _address(run)
            run = []
        run.append(label)
    return [*spans, *_address(run)]


def _address(parts: Sequence[Span]) -> list[Span]:
    if all(part.type != "STREET_ADDRESS" for part in parts):
        return []
    return [Span(parts[0].start, parts[-1].end, "STREET_ADDRESS")]


def score(texts: Iterable[tuple[Sequence[Span], Sequence[Span]]], types: Sequence[str]) -> Score:
    """Return the score of results: (labels, results) of each text.

    A result is right if it has the label's type and overlaps at least half of the longer span.
    """
    counts = Counter[str]()
    for all_labels, results in texts:
        labels = [label for label in all_labels if label.type in types]
        unused = [it for it in results if it.type in types]
        for label in labels:
            match = next((it for it in unused if _is_same(it, label)), None)
            if match is not None:
                unused.remove(match)
            counts["missed" if match is None else "right"] += 1
        counts["wrong"] += len(unused)
    return Score(counts["right"], counts["wrong"], counts["missed"])


def _is_same(one: Span, other: Span) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    longer = max(one.end - one.start, other.end - other.start)
    return one.type == other.type and 2 * shared >= longer


def _report(rows: Sequence[Sequence[str]], targets: Sequence[Target], skipped: str) -> Report:
    return Report(
        title="Personal data",
        about=f"{count(TEXTS)} texts from the templates of presidio-evaluator, filled with its "
        f"invented people and numbers (seed {SEED}): precision, recall and F1 of `pii_v1`, on the "
        "types that it finds, and of Presidio's analyzer with a small English spaCy pipeline, at "
        "the threshold of Presidio's own evaluation. A result is right if it has the type of a "
        "label and overlaps at least half of the longer span. Adjacent parts of a postal address "
        "are one label; Presidio has no type for it. The templates combine parts of addresses at "
        "random.",
        columns=(
            "what",
            "labels",
            "precision",
            "recall",
            "F1",
            "Presidio: precision",
            "recall",
            "F1",
        ),
        rows=rows,
        targets=targets,
        skipped=skipped,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presidio", required=True, metavar="PYTHON")
    print(markdown(run(parser.parse_args().presidio)))
