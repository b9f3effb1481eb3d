"""Judging values of attributes: their type, their owner, and whether they still hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.head_scores import Scores, ScoringHead, label_shares, percentages
from recollect.streams.reader.packed_reading import VALUE_TYPES, PackedValue
from recollect.streams.reader.words.word_cutter import Place
from recollect.streams.reader.words.word_states import WholeNumbers, columns_of, means_of

#: The heads that judge values; a reader has all of them or none.
OF_VALUES = frozenset({"value_types", "value_owners", "value_signs"})
#: One label of each: no value, the sender's own value, still true.
NO_VALUE, OWN_VALUE, HOLDS = "none", "own", "holds"
#: The numbers of words before and after a value from which its attribute is judged.
_AROUND, _JUST_BEFORE = 10, 2
#: In percent: a candidate is dropped from this probability of `NO_VALUE` on.
_NO_VALUE = 85


class ValueJudge:
    """Judges values by the states of the words in and around them."""

    def __init__(self, heads: Mapping[str, ScoringHead], layers: Sequence[int]) -> None:
        """`heads`: with all of `OF_VALUES`; `layers`: the layers in the states, side by side."""
        self._heads = heads
        self._layers = layers

    def judged(
        self,
        found: Mapping[Place, int],
        states: WholeNumbers,
        firsts: Sequence[int],
    ) -> list[PackedValue]:
        """Return the values found that are confirmed.

        `found`: the (begin, end) of each by word numbers, with its probability in percent;
        `states`: (words, columns); `firsts`: the number of the first word of each text, and the
        total number of words.
        """
        places = sorted(found)
        if not places:
            return []
        around = surroundings(states, places, firsts)
        types = self._heads["value_types"].labels
        shares = label_shares(self._scores("value_types", around))
        none = types.index(NO_VALUE)
        own = self._percent("value_owners", OWN_VALUE, around)
        holds = self._percent("value_signs", HOLDS, around)
        values = []
        for number, place in enumerate(places):
            if shares[number, none] >= _NO_VALUE:
                continue
            best = max(
                (type_ for type_ in range(len(types)) if type_ != none), key=shares[number].item
            )
            values.append(
                PackedValue(
                    *place,
                    found[place],
                    VALUE_TYPES[VALUE_TYPES.index(types[best])],
                    min(int(shares[number, best]), 100),
                    int(own[number]),
                    int(holds[number]),
                )
            )
        return values

    def _percent(
        self, name: str, label: str, around: Sequence[WholeNumbers]
    ) -> npt.NDArray[np.int64]:
        """Return the percentage of a label for each value."""
        scores = self._scores(name, around)
        return percentages(scores, np.full(len(scores), self._heads[name].labels.index(label)))

    def _scores(self, name: str, around: Sequence[WholeNumbers]) -> Scores:
        """Return a head's scores for each value, from the states around it."""
        head = self._heads[name]
        return head.scores(
            [part for each in around for part in columns_of(each, self._layers, head.layers)]
        )


def surroundings(
    states: WholeNumbers, places: Sequence[Place], firsts: Sequence[int]
) -> list[WholeNumbers]:
    """Return the input of value heads, (n, columns).

    It is the means of the words of each value, and of those before, just before and after it.
    `places`: (begin, end) of each value by word numbers; `firsts`: the number of the first word of
    each text, and the total number of words.
    """
    bounds = np.array(places, np.int64).reshape(-1, 2)
    texts = np.searchsorted(firsts, bounds[:, 0], side="right") - 1
    begins, ends = bounds.T
    first, last = np.array(firsts)[texts], np.array(firsts)[texts + 1]
    return [
        means_of(states, np.stack(region, axis=1))
        for region in (
            (begins, ends),
            (np.maximum(first, begins - _AROUND), begins),
            (np.maximum(first, begins - _JUST_BEFORE), begins),
            (ends, np.minimum(last, ends + _AROUND)),
        )
    ]
