"""The lexical arms: BM25 over turns, and over facts."""

from __future__ import annotations

import numpy as np

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.arrays.selection import top_with_ties
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion


def keyword(question: ParsedQuestion, index: Index) -> tuple[ArmScores, float]:
    """Score turns by windowed BM25; also return the best idf-weighted term coverage of a turn."""
    scores, share = index.turns.bm25(question.terms, question.restricted_to)
    return ArmScores(None, min_max_scale(scores, floor=0.0)), share


def statement(
    question: ParsedQuestion, index: Index, *, pool: int, with_facts: bool
) -> tuple[ArmScores, dict[str, float]]:
    """Score turns by the BM25 of their best fact; facts also name the speaker and dates.

    `with_facts`: also return id -> score of up to `pool` facts, the best first.
    """
    facts = index.facts
    scores = np.zeros(len(index.turns), np.float32)
    rows, fact_scores = facts.bm25(question.terms)
    if (allowed := question.restricted_to) is not None:
        is_allowed = allowed[facts.places[rows]]
        rows, fact_scores = rows[is_allowed], fact_scores[is_allowed]
    if not len(rows):
        return ArmScores(None, scores), {}
    fact_scores /= fact_scores.max()
    np.maximum.at(scores, facts.places[rows], fact_scores)
    if not with_facts:
        return ArmScores(None, scores), {}
    best = top_with_ties(fact_scores, pool)
    ids = facts.ids.take(rows[best])
    order = np.lexsort((np.array(ids), -fact_scores[best]))[:pool]
    best_scores = fact_scores[best[order]].tolist()
    best_ids = (ids[row] for row in order.tolist())
    return ArmScores(None, scores), dict(zip(best_ids, best_scores, strict=True))
