"""Is anything here relevant: how likely it is that a memory has something to say on a prompt.

Scores rank what was found; this says whether to answer at all. It rests on a few features that
anybody can read, all of personal turns alone (`personal_turns`), so that what anybody might ask of
an assistant says nothing:

- how much nearer the prompt's sentences come to one than generic prompts do (`usual_similarity`):
  so memories of any size, and encoders, compare;
- how much of the prompt's words one turn has, by their idf;
- whether the prompt is about somebody whom the memory can know: it names one who speaks there,
  refers back to what was said, or is in the first person; an order that is none of these is
  seldom about anybody.

The weights are a logistic regression, rounded, of RealMem's prompts (AvatarMemory, Apache-2.0;
three personas), the small memories of `training/corpora/small_memories.txt` and the questions of
`demo/`. RealMem's prompts that need the memory are nearly all in the first person. So that the
regression learns what comes near and no set's style, half of a prompt's weight in it is such that
of each kind (named, back, first person, none) those with an answer weigh as much as those without.
The middle of the sum is such that one in twenty of RealMem's unrelated prompts gets
INJECTION_THRESHOLD. Weights and a middle chosen so without one of the personas answer 81% of its
prompts on average, at 6% false.

LoCoMo's questions (in the table a quarter of them) and precisionMemBench's beliefs (MIT) were
looked at, and chose nothing. What each weight gives at RealMem's 5% false, halved and doubled: the
share of the prompts that a memory answers, and of those to the small memories that come near and
have no answer, all in %.

    weight            RealMem      LoCoMo     beliefs       demo       small    no answer
    as they are         80.1        97.2        83.3       100.0        81.4        35.1
    COSINE          81.8  78.8  99.1  92.5  73.8  90.5  90.0 100.0  79.4  80.4  37.2  34.0
    WORDS           81.1  80.6  97.2  97.2  85.7  76.2  90.0 100.0  85.6  77.3  44.7  29.8
    named           80.1  80.1  91.5  99.1  83.3  83.3 100.0 100.0  76.3  86.6  23.4  53.2
    refers back     78.0  79.3  97.2  97.2  83.3  78.6 100.0  90.0  81.4  80.4  35.1  35.1
    first person    78.8  83.1  97.2  93.4  78.6  83.3 100.0  90.0  83.5  77.3  42.6  30.9
    order           80.3  83.1  97.2  97.2  83.3  85.7 100.0 100.0  81.4  83.5  35.1  39.4
    no vectors          67.8        98.2        42.9        80.0        47.4        18.1

A name that the memory knows, of somebody who does not speak there, gains nothing as a feature, nor
do the share of words that no turn has, and late interaction. Which of two questions near in topic
has its answer there, this cannot tell well. `bench/recall/context.py` measures what ships.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

#: The weight of a cosine above the usual one, and of the words that one turn has; without vectors,
#: of the latter alone.
COSINE, WORDS, WORDS_ALONE = 15.0, 8.0, 15.0
#: What it adds that the prompt names one who speaks in the memory, refers back, or is in the first
#: person (the most of them counts), or is an order and none of these.
ABOUT = {"named": 2.5, "refers_back": 2.0, "first_person": 1.0, "order": -2.0}
#: At which sum a prompt concerns the memory as likely as not, with vectors and without.
MIDDLE, MIDDLE_ALONE = 2.92, 3.22
#: What is worth putting before an agent unasked: of prompts that do not concern the memory, one in
#: twenty gets as much.
INJECTION_THRESHOLD = 0.7

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
# Whatever else a prompt says, so many words that no turn has are taken to be in it: that a turn has
# the one word of a short prompt shows less than that it has three of three.
_MORE_WORDS = 2
# In a memory of few things their words are in many turns, and are not nothing: at least so much of
# one in none, all but as much where there are far fewer than _FEW turns.
_MIN_WEIGHT, _FEW = 0.2, 16


class NearestTargets(NamedTuple):
    """How near a prompt comes to the personal turns of a memory.

    `above`: its cosine above the usual one; None: there are no vectors. `words`: the share of its
    words, by their idf, that one turn has, and of _MORE_WORDS.
    """

    above: float | None
    words: float


def nearness(
    found: Sequence[tuple[ParsedQuestion, Candidates | None]],
    sentences: Sequence[Floats],
    usual: float,
    index: Index,
) -> NearestTargets | None:
    """Return how near a prompt comes; None where there is nothing that it could come near.

    `found`: each question of the prompt, and what the arms found for it. `sentences`: the unit
    vectors of the prompt's sentences; the nearer half of them counts. `usual`: the cosine to which
    generic prompts come.
    """
    words = [
        _words_in_one(question, candidates, index)
        for question, candidates in found
        if candidates is not None
    ]
    if not words:
        return None
    if not sentences:
        return NearestTargets(None, max(words))
    allowed = index.turns.personal & found[0][0].allowed
    best = sorted(
        (_found(one, found) or _nearest(one, allowed, index) for one in sentences), reverse=True
    )
    half = best[: (len(best) + 1) // 2]
    return NearestTargets(math.fsum(half) / len(half) - usual, max(words))


def usual_similarity(vectors: Sequence[Floats], index: Index) -> float:
    """Return the cosine to which generic prompts come, given the unit vectors of all of them.

    It is that of the index as it was at its last round number of turns, so that it does not change
    with each, and is the same for everybody.
    """
    known = settled(index)
    if known > _LARGE:
        vectors = vectors[:_OF_LARGE]
    allowed = index.turns.personal_in_first(known)
    near = sorted(_nearest(one, allowed, index) for one in vectors)
    # As `np.percentile`, which loads a tenth of numpy for this.
    before, above = divmod(_USUAL * (len(near) - 1), 100)
    return near[before] + (near[min(before + 1, len(near) - 1)] - near[before]) * (above / 100)


def settled(index: Index) -> int:
    """Return how many of the first turns count for what is usual: all of them are decided.

    It is their number with its first two digits, the others 0.
    """
    count = index.decided_turn_count
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
            return candidates.personal_cosine
    return None


def _nearest(sentence: Floats, allowed: Mask, index: Index) -> float:
    """Return the largest cosine of a sentence to a turn that is allowed, or a fact of one."""
    return max(
        float(vectors.nearest(sentence, 1, allowed).similarity.max(initial=0))
        for vectors in (index.event_vectors, index.fact_vectors)
    )


def _words_in_one(question: ParsedQuestion, found: Candidates, index: Index) -> float:
    """Return the greatest share of a question's words, by their idf, that a personal turn has."""
    turns = index.turns
    rare = turns.idf("")
    least = rare * max(_MIN_WEIGHT, _FEW / (_FEW + 4 * index.decided_turn_count))
    terms = {
        term: max(turns.idf(term), least) for term in question.terms_asked_for(index.tokeniser)
    }
    places = found.places[turns.personal[found.places] & question.allowed[found.places]]
    every = math.fsum(terms.values()) + _MORE_WORDS * rare
    return float(turns.term_weights(terms, places).max(initial=0)) / every


def presence(near: NearestTargets | None, about: Mapping[str, bool]) -> float:
    """Return the probability, 0 to 1, that a memory has something to say on a prompt.

    `about`: which kinds of ABOUT the prompt is of.
    """
    if near is None or (not near.words and (near.above or 0) <= 0):
        return 0.0
    odds = max((ABOUT[kind] for kind, holds in about.items() if holds), default=0.0)
    if near.above is None:
        odds += WORDS_ALONE * near.words - MIDDLE_ALONE
    else:
        odds += COSINE * near.above + WORDS * near.words - MIDDLE
    return 1 / (1 + math.exp(-odds))
