"""Is anything here relevant: how likely it is that a memory has something to say on a prompt.

Scores rank what was found; this says whether to answer at all. It rests on a few features that
anybody can read:

- how near the better half of the prompt's sentences come to personal turns (`personal_turns`): the
  mean of each sentence's largest cosine;
- the evidence of the recall itself: late interaction, and the share of words near one turn;
- whether the prompt is about somebody whom the memory can know: it names one who speaks there,
  refers back to what was said, or is in the first person.

The weights are round numbers: between half and twice of each, what follows changes by a few
hundredths. The slope and the middle are a logistic regression of RealMem's prompts (AvatarMemory,
Apache-2.0; three personas), half of which are taken to concern the memory. `bench/context.py`
measures with each origin left out of what is fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from projections.recall.arms.arm_scores import Candidates
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

#: The weight of each kind of similarity: of sentences to personal turns, and of the evidence. Where
#: one is missing, the others stand in for it.
SIMILARITY = {"personal": 2.0, "late": 1.0, "keyword": 0.5}
#: What it adds that the prompt names one who speaks in the memory, refers back, or is in the first
#: person; the most of them counts.
ABOUT = {"named": 2.4, "refers_back": 2.4, "first_person": 2.0}
#: At which sum a prompt concerns the memory as likely as not, and how fast that changes.
MIDDLE, SLOPE = 3.05, 2.0
#: What is worth putting before an agent unasked: of prompts that do not concern the memory, one in
#: twenty gets as much.
LEAST_UNASKED = 0.78


def similarity(
    found: Sequence[tuple[ParsedQuestion, Candidates | None]],
    sentences: Sequence[Floats],
    index: Index,
) -> dict[str, float]:
    """Return the similarity of each kind that there is; none where nothing is near.

    `found`: each question of a prompt, and what the arms found for it. `sentences`: the unit
    vectors of the prompt's sentences.
    """
    kinds: dict[str, list[float]] = {}
    for question, candidates in found:
        for kind, value in (candidates.evidence if candidates is not None else {}).items():
            if kind in SIMILARITY:
                share = value if kind != "keyword" else _without_names(value, question, index)
                kinds.setdefault(kind, []).append(share)
    near = {kind: max(values) for kind, values in kinds.items()}
    if not any(near.values()):
        return {}
    if sentences:
        allowed = index.turns.personal & found[0][0].allowed
        near["personal"] = _better_half([_nearest(one, allowed, index) for one in sentences])
    return near


def _nearest(sentence: Floats, allowed: Mask, index: Index) -> float:
    """Return the largest cosine of a sentence to a turn that is allowed, or a fact of one."""
    return max(
        float(vectors.near(sentence, 1, allowed).similarity.max(initial=0))
        for vectors in (index.event_vectors, index.fact_vectors)
    )


def _better_half(values: Sequence[float]) -> float:
    """Return the mean of the larger half of some values."""
    best = sorted(values, reverse=True)[: (len(values) + 1) // 2]
    return math.fsum(best) / len(best)


def _without_names(share: float, question: ParsedQuestion, index: Index) -> float:
    """Return which share of a question's words are near a turn, names of speakers left out.

    Whoever speaks seldom says their own name.
    """
    names = {
        term
        for name in question.named
        if name.senders
        for term in index.tokeniser.terms(question.text[name.start : name.end])
    }
    every = math.fsum(index.turns.idf(term) for term in question.terms)
    others = every - math.fsum(index.turns.idf(term) for term in question.terms if term in names)
    return min(1.0, share * every / others) if others > 0 else share


def presence(near: Mapping[str, float], about: Mapping[str, bool]) -> float:
    """Return the probability, 0 to 1, that a memory has something to say on a prompt.

    `near`: the similarity of each kind of SIMILARITY that there is; none: there is nothing.
    `about`: which kinds of ABOUT a prompt is of.
    """
    total = score(near, about)
    return 0.0 if total is None else 1 / (1 + math.exp(-SLOPE * (total - MIDDLE)))


def score(near: Mapping[str, float], about: Mapping[str, bool]) -> float | None:
    """Return the weighted sum of the features; None where there is nothing to compare with."""
    weight = math.fsum(SIMILARITY[kind] for kind in near)
    if not weight:
        return None
    alike = math.fsum(SIMILARITY[kind] * value for kind, value in near.items()) / weight
    known = max((ABOUT[kind] for kind, holds in about.items() if holds), default=0.0)
    return alike * math.fsum(SIMILARITY.values()) + known
