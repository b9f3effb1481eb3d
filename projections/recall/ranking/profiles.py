"""Profiles: which arms run, and the weights of their scores, as data."""

from __future__ import annotations

from typing import Literal

import msgspec

from recollect.schemas.wire import Budget

#: The weight of each arm. In order: terms of the turn and its neighbours; terms of its facts; its
#: vector and its neighbours'; its best sentence's vector; speaker and mentions; causes and
#: effects; token vectors of the turn and its neighbours; the time that the question refers to;
#: entities shared with the best turns; the best turn of its day from another platform; the source
#: that the question names; relationships, if the query asks for them. Many turns have no facts,
#: since only durable statements become facts. So 0.25 for the vectors of facts and 0.15 for their
#: terms, which include the speaker and resolved dates, is better than 0.4 and 0.05: recall@10 is
#: 89.5 instead of 88.9, though MRR is 69.2 instead of 69.4 (LoCoMo, dev). 0.4 for times, 0.3 for
#: days and 0.2 for sources were chosen on two LifeBench people; LoCoMo hardly has any.
WEIGHTS = {
    "keyword": 0.5,
    "statement": 0.15,
    "semantic": 0.3,
    "sentence": 0.25,
    "entity": 0.3,
    "causal": 0.1,
    "late": 1.0,
    "temporal": 0.4,
    "shared": 0.08,
    "day": 0.3,
    "source": 0.2,
    "graph": 0.3,
}
#: The arms that score the text of turns; the others use speakers, mentions, times and causes.
TEXT_ARMS = frozenset({"keyword", "statement", "semantic", "sentence", "late"})
#: The arms whose weighted scores are added to the mean of the others: a turn is not penalised for
#: being of another time, for sharing no entity, or for being alone on its day.
BONUS_ARMS = frozenset({"temporal", "shared", "day", "source"})

#: The limits of a wide search, relative to those of others. It raises recall@10 of questions that
#: ask for a list by 0.6 points (two LifeBench people, on whom it was chosen).
WIDE = 2


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of ranking.

    `fusion`: "weighted" is the weighted sum of min-max normalised scores, "rrf" is Reciprocal Rank
    Fusion with `rrf_k`. `question_share`: subtracted from the score of a turn that only asks
    questions (compared with 0.1, recall@10 is 0.4 and 1 point higher on two LifeBench people, and
    the same on LoCoMo, dev). `mmr_lambda`: the weight of relevance against redundancy in Maximal
    Marginal Relevance; None: no diversification. `pool`: the number of candidates per arm.
    `late_interaction_limit`: how many of the best candidates late interaction scores, if it has a
    weight (100 give the same recall@10, 20 give 0.8 less; LoCoMo, dev). Both limits grow with the
    number of requested results. `decay` and `recency`: the shares of a score that are subject to
    them (see `decay`). `rerank_limit`: how many of the best turns a reranker scores, if there is
    one. `match_answer_type`: whether turns with the expected answer type are boosted, and
    neighbours demoted for list questions.
    """

    fusion: Literal["weighted", "rrf"] = "weighted"
    weights: dict[str, float] = msgspec.field(default_factory=lambda: dict(WEIGHTS))
    question_share: float = 0.05
    rrf_k: int = 60
    mmr_lambda: float | None = None
    pool: int = 100
    late_interaction_limit: int = 40
    decay: float = 0.0
    recency: float = 0.0
    rerank_limit: int = 50
    match_answer_type: bool = True

    def pool_for(self, results: int, *, wide: bool) -> int:
        """Return the number of candidates per arm for a number of requested results.

        A `wide` search, of high budget or for every answer, has `WIDE` times as many.
        """
        return max(self.pool * (WIDE if wide else 1), 2 * results)

    def late_interaction_limit_for(self, results: int, *, wide: bool) -> int:
        """Return how many candidates late interaction scores; `wide`: of high budget."""
        return max(self.late_interaction_limit * (WIDE if wide else 1), 2 * results)


DEFAULT_PROFILE = Profile()

#: Reciprocal Rank Fusion without late interaction and days, then MMR.
RRF_PROFILE = Profile(
    fusion="rrf",
    weights={**WEIGHTS, "late": 0.0, "day": 0.0},
    mmr_lambda=0.7,
    match_answer_type=False,
)

#: Prefers recent and recently recalled turns: half of a score decays, and half is kept, so
#: that an old answer still beats a new turn that answers nothing. Not the default: for questions
#: about any time it costs 2.6 of recall@10 (LoCoMo, dev), and shares of 0.05 gain nothing
#: (recall@10 +0.2, MRR -0.4).
RECENT_PROFILE = Profile(decay=0.3, recency=0.2)

#: Semantic 0.4, keyword 0.3, graph 0.3, and nothing else: for queries with a `graph_mode`.
GRAPH_PROFILE = Profile(
    weights={**dict.fromkeys(WEIGHTS, 0.0), "semantic": 0.4, "keyword": 0.3, "graph": 0.3},
    match_answer_type=False,
)

#: The profiles by name, as clients request them.
PROFILES = {
    "default": DEFAULT_PROFILE,
    "rrf": RRF_PROFILE,
    "recent": RECENT_PROFILE,
    "graph": GRAPH_PROFILE,
}

_MID_ARMS = frozenset(
    {"semantic", "keyword", "entity", "late", "temporal", "shared", "day", "source"}
)
#: The arms that each budget runs. "high" also has twice the limits (see `Profile.pool_for`).
BUDGETS: dict[Budget, frozenset[str]] = {
    "low": frozenset({"semantic"}),
    "mid": _MID_ARMS,
    "high": _MID_ARMS | {"causal"},
}
