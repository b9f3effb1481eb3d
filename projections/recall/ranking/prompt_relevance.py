"""The probability that the memory has anything relevant to a prompt.

Scores rank the results; this probability decides whether to return any. It is a logistic model of a
few features, all computed over personal turns only (`personal_turns`), so that turns with generic
requests to an assistant do not count:

- how much more similar the prompt's sentences are to a turn than generic prompts are
  (`baseline_similarity`); this difference is comparable between encoders and between memories of
  any size;
- the largest idf-weighted share of the prompt's words that one turn has;
- cues that the prompt is about somebody known to the memory: it names a participant, refers back to
  earlier messages, or is in the first person. A command without these cues rarely is about them.

The weights are the rounded ones of a logistic regression over RealMem's prompts (AvatarMemory,
Apache-2.0; three personas), the small memories of `training/corpora/small_memories.txt` and the
questions of `demo/`. RealMem's prompts that need the memory are nearly all in the first person. So
that the regression does not learn the style of a data set, half of each prompt's sample weight is
uniform, and the other half is chosen so that within a cue (named, refers back, first person, none)
the prompts with an answer weigh as much in total as those without one. The midpoint lets one in
twenty of RealMem's unrelated prompts reach INJECTION_THRESHOLD. In leave-one-persona-out
validation, the model answers on average 81% of the prompts of the persona left out, at 6% false
positives.

LoCoMo's questions (a quarter of them in the table) and precisionMemBench's beliefs (MIT) were
evaluated, not fitted. Each row of the table has the results with one weight halved (left)
and doubled (right), at 5% false positives on RealMem. The columns give the percentage of answerable
prompts that are answered. The last column gives the percentage of prompts on the topics of the
small memories, but without an answer in them, that are answered all the same (lower is better).

    weight            RealMem      LoCoMo     beliefs       demo       small    no answer
    unchanged           80.1        97.2        83.3       100.0        81.4        35.1
    COSINE          81.8  78.8  99.1  92.5  73.8  90.5  90.0 100.0  79.4  80.4  37.2  34.0
    WORDS           81.1  80.6  97.2  97.2  85.7  76.2  90.0 100.0  85.6  77.3  44.7  29.8
    named           80.1  80.1  91.5  99.1  83.3  83.3 100.0 100.0  76.3  86.6  23.4  53.2
    refers back     78.0  79.3  97.2  97.2  83.3  78.6 100.0  90.0  81.4  80.4  35.1  35.1
    first person    78.8  83.1  97.2  93.4  78.6  83.3 100.0  90.0  83.5  77.3  42.6  30.9
    order           80.3  83.1  97.2  97.2  83.3  85.7 100.0 100.0  81.4  83.5  35.1  39.4
    no vectors          67.8        98.2        42.9        80.0        47.4        18.1

Three other features gain nothing: names of entities that are not participants, the share of words
that no turn has, and late interaction. The model cannot tell well which of two questions on the
same topic has an answer. `bench/recall/context.py` measures the shipped weights.
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

#: The weights of the cosine above the baseline, of the word share, and of the word share if there
#: are no vectors.
COSINE, WORDS, WORDS_ALONE = 15.0, 8.0, 15.0
#: The weights of cues in the prompt: it names a participant, refers back, is in the first person
#: (the largest counts), or is a command without any of these.
CUES = {"named": 2.5, "refers_back": 2.0, "first_person": 1.0, "order": -2.0}
#: The sum at which the probability is one half, with vectors and without.
MIDPOINT, MIDPOINT_ALONE = 2.92, 3.22
#: The minimum probability for putting memories into an agent's context. One in twenty prompts that
#: are unrelated to the memory reaches it.
INJECTION_THRESHOLD = 0.7

#: Prompts that anybody might ask of an assistant, and that need no memory.
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
# The percentile of the generic prompts' similarities that is the baseline.
_BASELINE_PERCENTILE = 75
# In a memory with more turns than this, only the first generic prompts are compared, to save time.
_MANY_TURNS, _MAX_PROMPTS_IF_LARGE = 100_000, 8
# The word share of a prompt is computed as if the prompt had this many more words that no turn has.
# So a turn with the only word of a prompt is weaker evidence than a turn with all three words of
# another.
_SMOOTHING_WORDS = 2
# In a small memory, even its topics' words are in many turns, and their idf is low. So each
# term's idf is at least this share of the idf of an unseen term. The share approaches 1 as the
# number of turns falls far below _FEW_TURNS.
_MIN_IDF_SHARE, _FEW_TURNS = 0.2, 16


class PromptFeatures(NamedTuple):
    """The similarity of a prompt to the personal turns of a memory.

    `cosine_above`: its cosine above the baseline, or None without vectors. `word_share`: the
    largest idf-weighted share of its words that one turn has.
    """

    cosine_above: float | None
    word_share: float


def prompt_features(
    found: Sequence[tuple[ParsedQuestion, Candidates | None]],
    sentences: Sequence[Floats],
    baseline: float,
    index: Index,
) -> PromptFeatures | None:
    """Return the features of a prompt; None if no turns were searched.

    `found`: each question of the prompt with its candidates. `sentences`: the unit vectors of the
    prompt's sentences; only the more similar half of them counts. `baseline`: see
    `baseline_similarity`.
    """
    words = [
        _max_word_share(question, candidates, index)
        for question, candidates in found
        if candidates is not None
    ]
    if not words:
        return None
    if not sentences:
        return PromptFeatures(None, max(words))
    allowed = index.turns.personal & found[0][0].allowed
    best = sorted(
        (_cosine_of_arms(one, found) or _max_cosine(one, allowed, index) for one in sentences),
        reverse=True,
    )
    half = best[: (len(best) + 1) // 2]
    return PromptFeatures(math.fsum(half) / len(half) - baseline, max(words))


def baseline_similarity(vectors: Sequence[Floats], index: Index) -> float:
    """Return the similarity of generic prompts, given as unit vectors, to the index.

    It is computed over the first `baseline_turn_count` turns. So it changes rarely, and is the same
    on every node.
    """
    count = baseline_turn_count(index)
    if count > _MANY_TURNS:
        vectors = vectors[:_MAX_PROMPTS_IF_LARGE]
    allowed = index.turns.personal_in_first(count)
    cosines = sorted(_max_cosine(one, allowed, index) for one in vectors)
    # Like `np.percentile`, which would import a tenth of numpy.
    low, hundredths = divmod(_BASELINE_PERCENTILE * (len(cosines) - 1), 100)
    high = min(low + 1, len(cosines) - 1)
    return cosines[low] + (cosines[high] - cosines[low]) * (hundredths / 100)


def baseline_turn_count(index: Index) -> int:
    """Return the number of first turns over which the baseline is computed.

    It is the number of decided turns, rounded down to two significant digits.
    """
    count = index.decided_turn_count
    step = int(10 ** max(len(str(count)) - 2, 0))
    return count - count % step


def _cosine_of_arms(
    sentence: Floats, found: Sequence[tuple[ParsedQuestion, Candidates | None]]
) -> float | None:
    """Return the largest cosine that the arms found for a sentence; None if it was not searched."""
    for question, candidates in found:
        if candidates is None or question.vector is None:
            continue
        if np.array_equal(sentence, question.vector):
            return candidates.personal_cosine
    return None


def _max_cosine(sentence: Floats, allowed: Mask, index: Index) -> float:
    """Return the largest cosine of a sentence to an allowed turn, or to a fact of one."""
    return max(
        float(vectors.nearest(sentence, 1, allowed).similarity.max(initial=0))
        for vectors in (index.event_vectors, index.fact_vectors)
    )


def _max_word_share(question: ParsedQuestion, candidates: Candidates, index: Index) -> float:
    """Return the largest idf-weighted share of a question's words that a personal turn has."""
    turns = index.turns
    unseen_idf = turns.idf("")
    min_share = _FEW_TURNS / (_FEW_TURNS + 4 * index.decided_turn_count)
    min_idf = unseen_idf * max(_MIN_IDF_SHARE, min_share)
    terms = {
        term: max(turns.idf(term), min_idf) for term in question.content_terms(index.tokeniser)
    }
    places = candidates.places[
        turns.personal[candidates.places] & question.allowed[candidates.places]
    ]
    total = math.fsum(terms.values()) + _SMOOTHING_WORDS * unseen_idf
    return float(turns.term_weights(terms, places).max(initial=0)) / total


def prompt_relevance(features: PromptFeatures | None, cues: Mapping[str, bool]) -> float:
    """Return the probability, 0 to 1, that the memory has anything relevant to a prompt.

    `cues`: which of CUES the prompt has.
    """
    if features is None or (not features.word_share and (features.cosine_above or 0) <= 0):
        return 0.0
    log_odds = max((CUES[cue] for cue, is_present in cues.items() if is_present), default=0.0)
    if features.cosine_above is None:
        log_odds += WORDS_ALONE * features.word_share - MIDPOINT_ALONE
    else:
        log_odds += COSINE * features.cosine_above + WORDS * features.word_share - MIDPOINT
    return 1 / (1 + math.exp(-log_odds))
