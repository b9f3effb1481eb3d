"""Late interaction: each word of a question looks for its nearest in a turn and around it.

ColBERT's MaxSim (Khattab and Zaharia, 2020), with the window of `turns`: a word that stands two
turns before counts somewhat, as in what answers a question that was asked there. The vectors of
one encoder lie in a narrow cone (Ethayarajh, 2019), so the zone's mean is taken off both sides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.embeddings.canonical_vectors import to_int8
from recollect.projections.embeddings.token_vectors import content_token_mask, project
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.growable_arrays import distinct
from recollect.projections.recall.index.index_terms import MAX_WORDS
from recollect.projections.recall.index.int8_products import products
from recollect.projections.recall.index.token_index import Centroid, TurnTokens
from recollect.projections.recall.index.turn_index import Turns
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.encoding import QueryTokens

#: How much the nearest word at a distance (turns before: negative) counts for a turn.
WINDOW = {-3: 0.5, -2: 0.7, -1: 0.85, 1: 0.6, 2: 0.4}
# Where all turns are about equally near, the nearest is hardly the answer; in four of five
# questions (LoCoMo, dev) they are further apart.
_MIN_SPREAD = 0.35
_TINY = np.finfo(np.float32).tiny
# A word that stands in most turns says little, but not nothing.
_MIN_IDF = 0.1

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class LateScores(NamedTuple):
    """The score of each candidate; `unread`: those without token vectors.

    `nearest` is the best score before it is scaled; None where nothing could be read.
    """

    scores: Floats
    unread: Mask
    nearest: float | None


class _QuestionTokens(NamedTuple):
    """The tokens of a question without stop words: (t, dimensions) integers, and their weights."""

    codes: Floats
    weights: Floats


def late_interaction(tokens: QueryTokens, candidates: Ints, index: Index) -> LateScores:
    """Score candidates (places, ascending), from 0 for the worst to 1; others are not read.

    The best gives less than 1 where it is hardly nearer than the worst.

    score = sum_t v_t X_t / sum_t v_t, X_t the greatest over the window of weight times cosine of
    token t and its nearest there, and v_t the root of the token's idf.
    """
    scores = np.zeros(len(candidates), np.float32)
    words = _words(tokens, index)
    if not len(candidates) or not len(words.codes):
        return LateScores(scores, np.zeros(len(candidates), bool), None)
    places = with_window(candidates, index.turns)
    found = index.tokens.of(places)
    near = max_over_window(
        max_similarity(words.codes, found, index.tokens.centroid),
        index.turns.session[places[found.turn_of_unit]],
    )
    weights = words.weights.astype(np.float64)
    of_unit = (weights[:, None] * near.T).sum(axis=0) / words.weights.sum()
    first_units = np.searchsorted(found.turn_of_unit, np.arange(len(places)))
    of_turn = np.maximum.reduceat(of_unit, first_units).astype(np.float32)
    by_place = np.argsort(places)
    asked = by_place[np.searchsorted(places, candidates, sorter=by_place)]
    known = found.known[asked]
    if 2 * known.sum() <= len(candidates):
        # Where most turns have no tokens, the few that do cannot be compared with one another.
        return LateScores(scores, np.ones(len(candidates), bool), None)
    read = of_turn[asked[known]]
    scores[known] = min_max_scale(read, min_range=_MIN_SPREAD)
    return LateScores(scores, ~known, float(read.max()))


def max_similarity(words: Floats, found: TurnTokens, centre: Centroid) -> Floats:
    """Return (units, words): the cosine of a word and its nearest token in a unit; 0 at least.

    Both are taken from the centre. Sums of products of codes are whole numbers below 2 ** 24:
    exact, whatever the order in which they are added.
    """
    codes, _ = to_int8(words - np.float32(centre.scale) * centre.codes)
    sought = np.concatenate((codes, centre.codes[None].astype(np.int8)))
    # Words by tokens from here: each step then runs along the tokens.
    along = np.ascontiguousarray(products(found.codes, sought).T, np.float32)
    near, with_centre = along[:-1], along[-1]
    scale, shift = found.scales, np.float32(centre.scale)
    squared = (
        scale * scale * found.squares
        - 2 * scale * shift * with_centre
        + shift * shift * np.square(centre.codes).sum()
    )
    reach = np.sqrt(np.maximum(squared, 0))
    per_reach = np.where(reach > 0, 1 / np.maximum(reach, _TINY), 0)
    query = codes.astype(np.float32)
    near *= scale * per_reach
    near -= shift * (query @ centre.codes)[:, None] * per_reach
    # One of zeros is near nothing; what is not has a length of 127 at least.
    length = np.maximum(np.sqrt(np.square(query).sum(axis=1)), 1)[:, None]
    best: Floats = np.maximum(_max_per_unit(near, found.tokens_of_unit), 0) / length
    return best.T


def _max_per_unit(near: Floats, tokens_of_unit: Ints) -> Floats:
    """Return (words, units) of (words, tokens): the greatest in each unit, 0 where it has none."""
    filled = tokens_of_unit > 0
    first = np.cumsum(tokens_of_unit) - tokens_of_unit
    if filled.all():
        best: Floats = np.maximum.reduceat(near, first, axis=1)
        return best
    best = np.zeros((len(near), len(tokens_of_unit)), np.float32)
    if filled.any():
        best[:, filled] = np.maximum.reduceat(near, first[filled], axis=1)
    return best


def max_over_window(near: Floats, session: Ints) -> Floats:
    """Return (units, words): the greatest within the window, each times its weight.

    `session` of each unit; units stand in the order in which they were said.
    """
    words = near.T
    widest = words.copy()
    for distance in range(1, max(map(abs, WINDOW)) + 1):
        before, after = np.s_[..., :-distance], np.s_[..., distance:]
        together = session[before] == session[after]
        for here, there, weight in (
            (after, before, WINDOW.get(-distance)),
            (before, after, WINDOW.get(distance)),
        ):
            if weight is not None:
                counts_for = np.float32(weight) * together
                np.maximum(widest[here], counts_for * words[there], out=widest[here])
    return widest.T


def with_window(places: Ints, turns: Turns) -> Ints:
    """Return places with those in the window around them, session by session, as they were said."""
    near = turns.sessions.neighbours(places, WINDOW)
    found = distinct(np.concatenate((places, *near)))
    found = found[found >= 0]
    return found[np.argsort(turns.session[found], kind="stable")]


def _words(tokens: QueryTokens, index: Index) -> _QuestionTokens:
    telling_ones = np.flatnonzero(content_token_mask(tokens.text, tokens.offsets))[:MAX_WORDS]
    weights = []
    for start, end in tokens.offsets[telling_ones].tolist():
        terms = index.tokeniser.terms(_word_around(tokens.text, start, end))
        idf = max((index.turns.idf(term) for term in terms), default=_MIN_IDF)
        weights.append(math.sqrt(max(idf, _MIN_IDF)))
    return _QuestionTokens(project(tokens.vectors[telling_ones]), np.array(weights, np.float32))


def _word_around(text: str, start: int, end: int) -> str:
    """Return the word that a word piece is part of."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start:end]
