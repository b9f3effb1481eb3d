"""Profiles: which arms run, and how their scores are weighed; data, not code."""

from __future__ import annotations

from typing import Literal

import msgspec

from recollect.schemas.wire import Budget

#: The weight of each arm: words of the turn and its neighbours, words of its facts,
#: its vector and its neighbours', its best sentence's vector, who speaks and who is mentioned,
#: causes and effects, the vectors of its words and its neighbours', whether it is of
#: the time that the question speaks of, and what it shares with the best turns. Since only what
#: lasts becomes a fact, many turns have none: the vectors of facts weigh less than they did, and
#: their words, which name the speaker and the days, more (0.4 and 0.05: recall@10 88.9 instead of
#: 89.5, MRR 69.4 and 69.2; LoCoMo, dev).
WEIGHTS = {
    "keyword": 0.5,
    "statement": 0.15,
    "semantic": 0.3,
    "sentence": 0.25,
    "entity": 0.3,
    "causal": 0.1,
    "late": 1.0,
    "temporal": 0.08,
    "shared": 0.08,
}
#: The arms that read the text of turns; the others know speakers, mentions, times and causes.
READING = frozenset({"keyword", "statement", "semantic", "sentence", "late"})
#: The arms whose weighted scores are added to the mean of the others: a turn does not score less
#: for being of another time, or for sharing no entity.
EXTRA = frozenset({"temporal", "shared"})


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """How recall ranks.

    `fusion`: "weighted" adds the arms' min-max normalised scores, each times its weight; "rrf" is
    Reciprocal Rank Fusion with `rrf_k`. `mmr_lambda`: the share of relevance against redundancy in
    Maximal Marginal Relevance; None: no diversification. `pool`: how many candidates an arm may
    bring, and `read` how many of the best of them late interaction reads, which does not run where
    it weighs nothing (of 100, recall@10 is the same, of 20 it is 0.8 less; LoCoMo, dev); both are
    more where many results are asked for. `decay` and `recency`: the shares of a score that fade
    (see `fading`). `reranked`: how many of the best a cross-encoder judges, where there is one.
    `fitting`: whether a turn that has the type of answer that is wanted comes first among equals,
    and lists are gathered over a person's turns.
    """

    fusion: Literal["weighted", "rrf"] = "weighted"
    weights: dict[str, float] = msgspec.field(default_factory=lambda: dict(WEIGHTS))
    question_share: float = 0.1
    rrf_k: int = 60
    mmr_lambda: float | None = None
    pool: int = 100
    read: int = 40
    decay: float = 0.0
    recency: float = 0.0
    reranked: int = 50
    fitting: bool = True

    def pool_for(self, results: int) -> int:
        """Return how many candidates an arm may bring where so many results are asked for."""
        return max(self.pool, 2 * results)

    def read_for(self, results: int) -> int:
        """Return how many candidates late interaction reads where so many are asked for."""
        return max(self.read, 2 * results)


DEFAULT_PROFILE = Profile()

#: Reciprocal Rank Fusion without late interaction, then MMR.
RRF_PROFILE = Profile(fusion="rrf", weights={**WEIGHTS, "late": 0.0}, mmr_lambda=0.7, fitting=False)

#: What is new, or was recalled lately, comes first among equals: half of a score fades (B1) and
#: half stays, so that an old answer still beats a new turn that answers nothing.
#: No default: on questions about any time it costs 2.6 of recall@10 (LoCoMo, dev), and a share of
#: 0.05 of either gains nothing there (recall@10 +0.2, MRR -0.4).
RECENT_PROFILE = Profile(decay=0.3, recency=0.2)

#: The profiles that can be asked for by name.
PROFILES = {"default": DEFAULT_PROFILE, "rrf": RRF_PROFILE, "recent": RECENT_PROFILE}

_MID = frozenset({"semantic", "keyword", "entity", "late", "temporal", "shared"})
#: Which arms each budget runs (A14). Twice the pool for "high" found nothing more (recall@10
#: 89.7 instead of 89.9; LoCoMo, dev).
BUDGETS: dict[Budget, frozenset[str]] = {
    "low": frozenset({"semantic"}),
    "mid": _MID,
    "high": _MID | {"causal"},
}
