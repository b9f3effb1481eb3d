"""A selection of texts that covers as much as possible of all texts in little space.

Greedy facility location: the next text is the one with the largest gain, the sum over all texts of
what it covers better than the texts chosen so far, plus its own value, divided by its length to the
power of `LENGTH_POWER`. Gains only fall, so a text is measured again only when it is the first in
the queue (Minoux, "Accelerated greedy algorithms", 1978). Similarities are whole numbers, so that
every machine makes the same choice.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

#: A text that is more similar than this (squared) to a chosen one is never chosen.
MAX_SQUARED = 0.72
LENGTH_POWER = 0.6
#: The similarity of a text to itself. Sums of products stay below 2^24, so that they are exact in
#: a 32-bit float.
UNIT = 1 << 16
#: Weights are rounded to this fraction.
_WEIGHT_UNIT = 1_024

Similarities = npt.NDArray[np.int64]


def word_similarities(texts: Sequence[Sequence[str]]) -> Similarities:
    """Return the similarity of every pair of texts, given by their words: 0 to about `UNIT`.

    The cosine of their words, weighted by inverse document frequency.
    """
    count = len(texts)
    in_texts = Counter(word for words in texts for word in set(words))
    weight = {word: math.log(1 + count / frequency) for word, frequency in in_texts.items()}
    # A word of a single text makes no two texts similar; it only adds to the text's length.
    shared = {word: place for place, word in enumerate(w for w, n in in_texts.items() if n > 1)}
    vectors = np.zeros((count, len(shared)), np.float32)
    for place, words in enumerate(texts):
        length = math.sqrt(sum(weight[word] ** 2 for word in set(words))) or 1.0
        for word in set(words) & shared.keys():
            vectors[place, shared[word]] = round(weight[word] / length * math.isqrt(UNIT))
    cosines = (vectors @ vectors.T).astype(np.int64)
    np.fill_diagonal(cosines, UNIT)
    return cosines


def in_order_of_gain(
    similarities: Similarities,
    values: Sequence[float],
    lengths: Sequence[int],
    weights: Sequence[float],
    shown: Sequence[int] = (),
) -> Iterator[int]:
    """Yield the places of texts, in the order in which the greedy choice takes them.

    Attributes:
        values: what a text is worth apart from what it covers.
        lengths: in tokens or words.
        weights: how much it counts that a text is covered.
        shown: texts that are shown elsewhere: they count as chosen, and are not yielded.
    """
    squared = np.minimum(similarities, UNIT) ** 2
    weight = np.round(np.asarray(weights) * _WEIGHT_UNIT).astype(np.int64)
    covered = np.zeros(len(values), np.int64)
    blocked = np.zeros(len(values), bool)

    powers = [round(math.pow(max(1, length), LENGTH_POWER), 6) for length in lengths]

    def cover(place: int) -> None:
        np.maximum(covered, squared[place], out=covered)
        np.logical_or(blocked, squared[place] > MAX_SQUARED * UNIT * UNIT, out=blocked)

    def gain(place: int, covers: int) -> float:
        total = covers / (UNIT * UNIT * _WEIGHT_UNIT) + values[place]
        return round(total / powers[place], 9)

    for place in shown:
        cover(place)
    # Sums stay below 2^63: a square below 2^33, a weight below 2^12, at most 2^12 texts.
    at_first = (np.maximum(squared - covered, 0) @ weight).tolist()
    queue = [(-gain(place, at_first[place]), place) for place in range(len(values))]
    heapq.heapify(queue)
    while queue:
        _, place = heapq.heappop(queue)
        if blocked[place]:
            continue
        covers = int(np.maximum(squared[place] - covered, 0) @ weight)
        now = (-gain(place, covers), place)
        if queue and now > queue[0]:
            heapq.heappush(queue, now)
            continue
        if now[0] >= 0:
            return
        yield place
        cover(place)
