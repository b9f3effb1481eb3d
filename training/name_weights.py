"""Fit the weights by which merges of similar names are proposed.

    python -m training.name_weights PAIRS.jsonl

A line of PAIRS is {"a": {"name", "type"}, "b": {...}, "same": true}. Prints the weights,
and their quality in cross-validation over fifths and halves of the pairs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recollect.streams.language.names.name_alignment import align
from recollect.streams.language.names.name_comparison import (
    PROPOSED,
    WEIGHTS,
    compare_names,
    features,
    likelihood,
)
from recollect.text.name_forms import NameKind, name_form

Floats = npt.NDArray[np.float64]
_RIDGE = 1.0
_FOLDS = 5
_KINDS: dict[str, NameKind] = {
    "Person": "person",
    "Company": "organisation",
    "Organization": "organisation",
    "LegalEntity": "organisation",
}


def learn(values: Floats, same: Floats) -> Floats:
    """Return the weights of a logistic regression with a ridge, by Newton's method."""
    weights = np.zeros(values.shape[1])
    ridge = np.full(values.shape[1], _RIDGE)
    ridge[0] = 0.0
    for _ in range(50):
        likely = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (likely - same) + ridge * weights
        curve = (values * (likely * (1 - likely))[:, None]).T @ values + np.diag(ridge + 1e-9)
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    """Learn, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().pairs.read_text().splitlines()]
    same = np.array([float(row["same"]) for row in rows])
    values, sure, by_rule = [], [], []
    for row in rows:
        kind = _KINDS.get(row["a"]["type"], "other")
        one, other = sorted((row["a"]["name"], row["b"]["name"]))
        left, right = name_form(one, kind), name_form(other, kind)
        values.append(features(left, right, align(left, right, kind), kind))
        compared = compare_names(one, other, kind)
        sure.append(compared.decision == "same")
        decided_by_rule = compared.likelihood != likelihood(values[-1])
        by_rule.append((decided_by_rule, compared.decision == "propose"))
    table, decided = np.array(values), np.array([rule for rule, _ in by_rule])
    ruled = np.array([rule and proposes for rule, proposes in by_rule])
    yes, no = same == 1, same == 0
    print(f"same: {sum(np.array(sure) & yes)} of {sum(yes)}, false {sum(np.array(sure) & no)}")
    for folds in (2, _FOLDS):
        proposed = np.zeros(len(rows), bool)
        for fold in range(folds):
            held = np.arange(len(rows)) % folds == fold
            weights = learn(table[~held & ~decided], same[~held & ~decided])
            proposed[held] = 1 / (1 + np.exp(-table[held] @ weights)) >= PROPOSED
        proposed = np.where(decided, ruled, proposed)
        recall = np.mean((np.array(sure) | proposed)[yes])
        print(
            f"{folds} parts: found {recall:.3f}, proposed among others {np.mean(proposed[no]):.3f}"
        )
    for row, is_same, is_proposed, is_sure in zip(rows, same, proposed, sure, strict=True):
        judged = "same" if is_sure else "proposed" if is_proposed else "different"
        if (judged == "different") == bool(is_same):
            print(f"{judged:9s} {row['a']['name']} | {row['b']['name']}")
    weights = learn(table[~decided], same[~decided])
    for feature, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{feature}": {weight:.3f},')


if __name__ == "__main__":
    main()
