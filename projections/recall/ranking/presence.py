"""Is anything here relevant: how likely it is that a memory has something to say on a prompt.

Scores rank what was found; this says whether to answer at all. It rests on a few features that
anybody can read:

- how much nearer the prompt's sentences come to personal turns (`personal_turns`) than generic
  prompts do (`usual_similarity`): so memories of any size, and encoders, compare;
- the share of the prompt's words that are near one turn;
- whether the prompt is about somebody whom the memory can know: it names one who speaks there,
  refers back to what was said, or is in the first person.

The weights are round numbers, chosen on RealMem's prompts (AvatarMemory, Apache-2.0; three
personas) and the ten questions of `demo/`, which count 0.3: what answers most of them where 8, 5
and 3% of RealMem's unrelated prompts are answered too. Where neither tells, it is the middle: a
name does as well from 1.75 to 2.75. The middle of the sum and the slope are a logistic regression
of RealMem. Weights and a cut chosen so on two personas answer 81% of the third's prompts on
average, at 7% false. How sure recall is of its best result (`relevance`) was tried as a feature,
and gains nothing there.

LoCoMo's questions and precisionMemBench's beliefs (MIT) were only looked at this time. But the
features were found, and weights that differed in "refers back" alone (2.2) chosen, on all three.
What each gives at RealMem's 5% false, with each weight halved and doubled:

    weight            RealMem       LoCoMo        precision     recall of beliefs, all in %
    as they are         81.6          96.6          70.5          80.9
    PERSONAL         81.3  79.0    97.4  94.8    68.9  71.3     62.7  83.8
    KEYWORD          82.1  81.1    96.4  96.9    70.5  70.1     80.9  79.4
    named            81.6  81.3    80.3  99.0    70.5  70.5     80.9  80.9
    refers back      82.4  81.3    96.9  96.1    70.5  69.7     80.9  77.9
    first person     73.4  81.8    99.5  74.0    70.1  68.9     79.4  62.7

So it does matter: a name at half, or the first person at twice its weight, loses 16 and 23 points
of LoCoMo, and the first person at half 8 of RealMem. `bench/context.py` measures what ships.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.recall.arms.arm_scores import Candidates
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

#: The weight of a cosine above the usual one, and of the share of words; without vectors, of the
#: latter alone.
PERSONAL, KEYWORD, KEYWORD_ALONE = 8.0, 0.5, 3.0
#: What it adds that the prompt names one who speaks in the memory, refers back, or is in the first
#: person; the most of them counts.
ABOUT = {"named": 2.2, "refers_back": 2.0, "first_person": 1.5}
#: At which sum a prompt concerns the memory as likely as not, with vectors and without, and how
#: fast that changes.
MIDDLE, MIDDLE_ALONE, SLOPE = 1.6, 2.45, 1.1
#: What is worth putting before an agent unasked: of prompts that do not concern the memory, one in
#: twenty gets as much.
LEAST_UNASKED = 0.7

#: What anybody might ask, and no memory answers.
GENERIC_PROMPTS = (
    "What is the capital of Australia?",
    "Write a short poem about the sea.",
    "Give me ten names for a coffee shop.",
    'Translate "good morning" into Japanese.',
    "What is the difference between a virus and a bacterium?",
    "How do you make pancakes?",
    "List the pros and cons of nuclear power.",
    "Rewrite this paragraph so that it sounds more formal.",
    "Create a weekly workout plan for beginners.",
    "What are good books on Roman history?",
    "Design a logo for a bakery.",
    "Fix the grammar of this sentence.",
    "How many people live in Canada?",
    "Write an email that asks for a refund.",
    "What are the symptoms of the flu?",
    "How do vaccines work?",
)
# A quarter of generic prompts come nearer than what is called usual.
_USUAL = 75
# In a large memory each costs a while, and half of them say as much.
_LARGE, _OF_LARGE = 100_000, 8


class Near(NamedTuple):
    """How near a prompt comes to a memory: its cosine above the usual one, and its share of words.

    `above` None: there are no vectors.
    """

    above: float | None
    words: float


def nearness(
    found: Sequence[tuple[ParsedQuestion, Candidates | None]],
    sentences: Sequence[Floats],
    usual: float,
    index: Index,
) -> Near | None:
    """Return how near a prompt comes; None where there is nothing that it could come near.

    `found`: each question of the prompt, and what the arms found for it. `sentences`: the unit
    vectors of the prompt's sentences; the nearer half of them counts. `usual`: the cosine to which
    generic prompts come.
    """
    shares = [
        _without_names(candidates.evidence.get("keyword", 0.0), question, index)
        for question, candidates in found
        if candidates is not None
    ]
    if not shares:
        return None
    if not sentences:
        return Near(None, max(shares))
    allowed = index.turns.personal & found[0][0].allowed
    best = sorted(
        (_found(one, found) or _nearest(one, allowed, index) for one in sentences), reverse=True
    )
    half = best[: (len(best) + 1) // 2]
    return Near(math.fsum(half) / len(half) - usual, max(shares))


def usual_similarity(vectors: Sequence[Floats], index: Index) -> float:
    """Return the cosine to which generic prompts come, given the unit vectors of all of them.

    It is that of the index as it was at its last round number of turns, so that it does not change
    with each, and is the same for everybody.
    """
    known = settled(index)
    if known > _LARGE:
        vectors = vectors[:_OF_LARGE]
    allowed = index.turns.personal_among(known)
    return float(np.percentile([_nearest(one, allowed, index) for one in vectors], _USUAL))


def settled(index: Index) -> int:
    """Return how many of the first turns count for what is usual: all of them are decided.

    It is their number with its first two digits, the others 0.
    """
    count = index.settled
    step = int(10 ** max(len(str(count)) - 2, 0))
    return count - count % step


def _found(
    sentence: Floats, found: Sequence[tuple[ParsedQuestion, Candidates | None]]
) -> float | None:
    """Return the largest cosine that the arms found for a sentence; None: it was not searched."""
    for question, candidates in found:
        if candidates is None or question.vector is None:
            continue
        if np.array_equal(sentence, question.vector):
            return candidates.personal
    return None


def _nearest(sentence: Floats, allowed: Mask, index: Index) -> float:
    """Return the largest cosine of a sentence to a turn that is allowed, or a fact of one."""
    return max(
        float(vectors.near(sentence, 1, allowed).similarity.max(initial=0))
        for vectors in (index.event_vectors, index.fact_vectors)
    )


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


def presence(near: Near | None, about: Mapping[str, bool]) -> float:
    """Return the probability, 0 to 1, that a memory has something to say on a prompt.

    `about`: which kinds of ABOUT the prompt is of.
    """
    if near is None or (not near.words and (near.above or 0) <= 0):
        return 0.0
    known = max((ABOUT[kind] for kind, holds in about.items() if holds), default=0.0)
    if near.above is None:
        odds = KEYWORD_ALONE * near.words + known - MIDDLE_ALONE
    else:
        odds = PERSONAL * near.above + KEYWORD * near.words + known - MIDDLE
    return 1 / (1 + math.exp(-SLOPE * odds))
