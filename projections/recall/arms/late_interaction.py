"""Late interaction: each token of a question matches its nearest token in a window of turns.

This is ColBERT's MaxSim (Khattab and Zaharia, 2020), extended to tokens of neighbouring turns,
which count with a weight. So a turn that answers another turn's question is also found by the
words of that question. Token vectors are centred on the zone's mean, since contextual embeddings
lie in a narrow cone (Ethayarajh, 2019).

A unit is a stretch of a turn whose tokens are stored together; a long turn has several.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.embeddings.canonical_vectors import to_int8
from recollect.projections.embeddings.token_vectors import content_token_mask, project
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.arrays.growable_arrays import distinct
from recollect.projections.recall.index.arrays.int8_products import products
from recollect.projections.recall.index.index_terms import MAX_WORDS
from recollect.projections.recall.index.token_index import Centroid, TurnTokens
from recollect.projections.recall.index.turn_index import Turns
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.encoding import QueryTokens

#: Distance in units of the same session -> weight of the nearest token there. Negative distances
#: are earlier units.
WINDOW = {-3: 0.5, -2: 0.7, -1: 0.85, 1: 0.6, 2: 0.4}
# If the scores span less than this range, the best score stays below 1: if all turns are about
# equally near, the nearest is rarely the answer. Four of five questions (LoCoMo dev) have a wider
# range.
_MIN_SPREAD = 0.35
_TINY = np.finfo(np.float32).tiny
# The minimum idf, for words that occur in most turns.
_MIN_IDF = 0.1

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class LateScores(NamedTuple):
    """The score of each candidate; `unread` marks those that were not scored.

    These are the candidates without token vectors, or all if at most half of them have any.
    `best_raw`: the best score before scaling; None if no candidate was scored.
    """

    scores: Floats
    unread: Mask
    best_raw: float | None


class _QuestionTokens(NamedTuple):
    """The content tokens of a question: (t, dimensions) projected vectors, and (t,) weights."""

    vectors: Floats
    weights: Floats


def late_interaction(tokens: QueryTokens, candidates: Ints, index: Index) -> LateScores:
    """Score candidates (places, ascending) from 0 for the worst to at most 1 for the best.

    score = sum_t v_t X_t / sum_t v_t, where X_t is the maximum over the window of weight times
    cosine of token t and its nearest token there, and v_t the square root of the token's idf.
    Scores are then scaled by `min_max_scale` with a minimum range.
    """
    scores = np.zeros(len(candidates), np.float32)
    question = _question_tokens(tokens, index)
    if not len(candidates) or not len(question.vectors):
        return LateScores(scores, np.zeros(len(candidates), bool), None)
    places = with_window(candidates, index.turns)
    window_tokens = index.tokens.of(places)
    similarity = max_over_window(
        max_similarity(question.vectors, window_tokens, index.tokens.centroid),
        index.turns.session[places[window_tokens.turn_of_unit]],
    )
    weights = question.weights.astype(np.float64)
    unit_scores = (weights[:, None] * similarity.T).sum(axis=0) / question.weights.sum()
    first_units = np.searchsorted(window_tokens.turn_of_unit, np.arange(len(places)))
    turn_scores = np.maximum.reduceat(unit_scores, first_units).astype(np.float32)
    by_place = np.argsort(places)
    candidate_rows = by_place[np.searchsorted(places, candidates, sorter=by_place)]
    known = window_tokens.known[candidate_rows]
    if 2 * known.sum() <= len(candidates):
        # The few turns with token vectors are not a fair sample of the candidates.
        return LateScores(scores, np.ones(len(candidates), bool), None)
    read = turn_scores[candidate_rows[known]]
    scores[known] = min_max_scale(read, min_range=_MIN_SPREAD)
    return LateScores(scores, ~known, float(read.max()))


def max_similarity(vectors: Floats, found: TurnTokens, centroid: Centroid) -> Floats:
    """Return (units, t): the cosine of each question token and its nearest token in the unit.

    Negative cosines count as 0.

    Both sides are centred on the centroid. Dot products of codes are integers below 2 ** 24, so
    they are exact in any order of additions.
    """
    codes, _ = to_int8(vectors - np.float32(centroid.scale) * centroid.codes)
    with_centroid_codes = np.concatenate((codes, centroid.codes[None].astype(np.int8)))
    # (t + 1, tokens) from here, so that each step runs along the tokens.
    dots = np.ascontiguousarray(products(found.codes, with_centroid_codes).T, np.float32)
    similarity, with_centroid = dots[:-1], dots[-1]
    scale, shift = found.scales, np.float32(centroid.scale)
    squared_norm = (
        scale * scale * found.squares
        - 2 * scale * shift * with_centroid
        + shift * shift * np.square(centroid.codes).sum()
    )
    norm = np.sqrt(np.maximum(squared_norm, 0))
    inverse_norm = np.where(norm > 0, 1 / np.maximum(norm, _TINY), 0)
    query = codes.astype(np.float32)
    similarity *= scale * inverse_norm
    similarity -= shift * (query @ centroid.codes)[:, None] * inverse_norm
    # A zero vector is similar to nothing; any other has a norm of 127 or more.
    query_norm = np.maximum(np.sqrt(np.square(query).sum(axis=1)), 1)[:, None]
    best: Floats = np.maximum(_max_per_unit(similarity, found.tokens_of_unit), 0) / query_norm
    return best.T


def _max_per_unit(similarity: Floats, tokens_of_unit: Ints) -> Floats:
    """Return (t, units) of (t, tokens): the maximum over each unit's tokens; 0 if it has none."""
    filled = tokens_of_unit > 0
    first = np.cumsum(tokens_of_unit) - tokens_of_unit
    if filled.all():
        best: Floats = np.maximum.reduceat(similarity, first, axis=1)
        return best
    best = np.zeros((len(similarity), len(tokens_of_unit)), np.float32)
    if filled.any():
        best[:, filled] = np.maximum.reduceat(similarity, first[filled], axis=1)
    return best


def max_over_window(similarity: Floats, session: Ints) -> Floats:
    """Return (units, t): the maximum over the window of weight times similarity.

    `session`: the session of each unit. Units are in the order of their session's turns.
    """
    by_token = similarity.T
    widest = by_token.copy()
    for distance in range(1, max(map(abs, WINDOW)) + 1):
        all_but_last, all_but_first = np.s_[..., :-distance], np.s_[..., distance:]
        same_session = session[all_but_last] == session[all_but_first]
        for target, source, weight in (
            (all_but_first, all_but_last, WINDOW.get(-distance)),
            (all_but_last, all_but_first, WINDOW.get(distance)),
        ):
            if weight is not None:
                factor = np.float32(weight) * same_session
                np.maximum(widest[target], factor * by_token[source], out=widest[target])
    return widest.T


def with_window(places: Ints, turns: Turns) -> Ints:
    """Return places and the places in their windows, grouped by session and in order within it."""
    neighbours = turns.sessions.neighbours(places, WINDOW)
    found = distinct(np.concatenate((places, *neighbours)))
    found = found[found >= 0]
    return found[np.argsort(turns.session[found], kind="stable")]


def _question_tokens(tokens: QueryTokens, index: Index) -> _QuestionTokens:
    content = np.flatnonzero(content_token_mask(tokens.text, tokens.offsets))[:MAX_WORDS]
    weights = []
    for start, end in tokens.offsets[content].tolist():
        terms = index.tokeniser.query_terms(_word_around(tokens.text, start, end))
        idf = max((index.turns.idf(term) for term in terms), default=_MIN_IDF)
        weights.append(math.sqrt(max(idf, _MIN_IDF)))
    return _QuestionTokens(project(tokens.vectors[content]), np.array(weights, np.float32))


def _word_around(text: str, start: int, end: int) -> str:
    """Return the word that contains a word piece."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start:end]
