"""The arms by words: those of turns, and those of facts."""

from __future__ import annotations

import numpy as np

from projections.recall.arms.arm_scores import Said
from projections.recall.arms.scaling import scaled
from projections.recall.index.selection import close_to_top
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion


def keyword(question: ParsedQuestion, index: Index) -> tuple[Said, float]:
    """Score turns by the question's words in them and around them.

    Also the greatest share of the words, by their idf, that is near one turn.
    """
    scores, share = index.turns.bm25(question.terms, question.restricted_to)
    return Said(None, scaled(scores, floor=0.0)), share


def statement(
    question: ParsedQuestion, index: Index, *, pool: int, tell: bool
) -> tuple[Said, dict[str, float]]:
    """Score turns by their best fact by words; facts also say who spoke, and dates.

    `tell`: also return how near the facts are, by id; of up to `pool`.
    """
    facts = index.facts_said
    scores = np.zeros(len(index.turns), np.float32)
    rows, found = facts.bm25(question.terms)
    if (allowed := question.restricted_to) is not None:
        open_ = allowed[facts.places[rows]]
        rows, found = rows[open_], found[open_]
    if not len(rows):
        return Said(None, scores), {}
    found /= found.max()
    np.maximum.at(scores, facts.places[rows], found)
    if not tell:
        return Said(None, scores), {}
    best = close_to_top(found, pool)
    ids = facts.ids.take(rows[best])
    order = np.lexsort((np.array(ids), -found[best]))[:pool]
    near = found[best[order]].tolist()
    return Said(None, scores), dict(zip((ids[at] for at in order.tolist()), near, strict=True))
