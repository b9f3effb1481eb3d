"""Train the heads of values: where the values of attributes are, and what they are of.

A chain of labels finds values. Three more heads see the states of a value's words and of those
around it: `value_types` says what it is of, or that it is none after all; `value_owners` whether it
is said of the sender; `value_signs` whether it is said to hold, or to be over or denied. They are
trained on the labelled corpus (train), on single sentences and on messages of lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.reader.head_file import Head
from recollect.streams.reader.head_scores import ScoringHead
from recollect.streams.reader.name_chain import NameChain
from recollect.streams.reader.packed_reading import VALUE_TYPES
from recollect.streams.reader.text_reader import UNITS
from recollect.streams.reader.value_judgement import (
    HOLDS,
    NO_VALUE,
    OWN_VALUE,
    surroundings,
)
from training.heads.head_corpora import LabelledText, States, lines, rows_of, states_of
from training.heads.head_fitting import Floats, Mask, chain_head, fit_labels
from training.heads.writer_heads import Measures, labelled_text
from training.labelled_corpus import (
    ATTRIBUTES,
    LIVES,
    SLOTLESS,
    UPDATES,
    LabelledMessage,
    Sign,
    Span,
    lives,
)

LAYERS = (3, 4)
LABELS = ("O", "B-value", "I-value")
TYPE_LABELS = (*VALUE_TYPES, NO_VALUE)
OWNER_LABELS, SIGN_LABELS = ("other", OWN_VALUE), ("over", HOLDS)
#: Types that the labels tell apart, and the heads do not.
_SAME_TYPE = {
    **dict.fromkeys(("child", "parent", "sibling"), "family"),
    "hobby": "habit",
    "mail": "email",
    "setting": "open",
    "other": "open",
}
_SPEAKER = frozenset({"i", "we", "me", "my", "our", "us"})

#: What is added to the scores of labels, so that more values are found. With less for "O" instead,
#: they would be too long.
_ADDED = {"O": -0.5, "B-value": 1.5}
#: The number of folds for cross-fitting: the values in each fold are found by a chain trained on
#: the other folds, so that the heads see as many false positives as in use.
_FOLDS = 3


class LabelledValue(NamedTuple):
    """A value: its span, what it is of, whether it is the sender's (None: unknown), its sign."""

    span: Span
    type: str
    own: bool | None
    sign: Sign


class ValueText(NamedTuple):
    """A text and its values; `is_whole`: all of them are labelled, whatever they are of."""

    text: str
    values: list[LabelledValue]
    is_whole: bool = True

    def labelled(self) -> LabelledText:
        """Return its words with the labels of the chain."""
        return labelled_text(self.text, ((each.span, "value") for each in self.values))


def value_texts(corpus: Iterable[LabelledMessage]) -> list[ValueText]:
    """Return the texts that the heads of values are trained on."""
    return [
        *(_of_message(message) for message in corpus),
        *_of_sentences(ATTRIBUTES),
        *_of_lives(LIVES, is_whole=False),
        *_of_lives(UPDATES, is_whole=True),
    ]


def _of_message(message: LabelledMessage) -> ValueText:
    return ValueText(
        message.text,
        [
            LabelledValue(
                fact.value,
                value_type(fact.type),
                is_speaker(fact.subject, message.sender),
                fact.sign,
            )
            for fact in message.facts
            if fact.value is not None and fact.type not in SLOTLESS
        ],
    )


def _of_sentences(path: Path) -> Iterable[ValueText]:
    for row in lines(path):
        values = [
            LabelledValue((start, end), value_type(name), None, row.get("sign", "+"))
            for start, end, name in row["values"]
        ]
        yield ValueText(row["text"], values)


def _of_lives(path: Path, *, is_whole: bool) -> Iterable[ValueText]:
    for life in lives(path):
        for message in life.messages:
            values = [
                LabelledValue(
                    fact.value,
                    value_type(fact.type),
                    is_speaker(fact.subject),
                    fact.sign,
                )
                for fact in message.facts
                if fact.value is not None
            ]
            yield ValueText(message.text, values, is_whole)


def is_speaker(subject: str, sender: str = "") -> bool:
    """Return whether the subject of a labelled fact is who says it: "I", or the sender by name."""
    words = set(subject.casefold().split())
    return subject.casefold() in _SPEAKER or (
        bool(words) and words <= set(sender.casefold().split())
    )


def value_type(name: str) -> str:
    """Return the type of values to which a labelled type corresponds.

    Raises:
        ValueError: it corresponds to none.
    """
    same = _SAME_TYPE.get(name, name)
    if same not in VALUE_TYPES:
        raise ValueError(
            f"{name} is not a type of value: add it to ValueType, or name the same one"
        )
    return same


def value_heads(
    encoder: OnnxEncoder, texts: Sequence[ValueText], measures: Measures
) -> dict[str, Head]:
    """Return the chain that finds values, and the heads that judge them."""
    labelled = [each.labelled() for each in texts]
    states = states_of(encoder, labelled, *measures)
    whole = [number for number, each in enumerate(texts) if each.is_whole]
    found = _found_across(labelled, states, whole)
    return {
        "values": _chain(labelled, states, whole),
        **_judges(texts, labelled, states, found),
    }


def _bounds(states: States) -> list[tuple[int, int]]:
    return list(pairwise([0, *states.ends]))


def _chain(labelled: Sequence[LabelledText], states: States, chosen: Iterable[int]) -> Head:
    """Return a chain that is trained on some of the texts."""
    bounds = _bounds(states)
    chosen = list(chosen)
    words = np.concatenate([np.arange(*bounds[number]) for number in chosen])
    places = {label: place for place, label in enumerate(LABELS)}
    right = np.eye(len(LABELS), dtype=bool)[
        [places[label or "O"] for number in chosen for label in labelled[number].labels]
    ]
    ends = np.cumsum([len(labelled[number].places) for number in chosen]).tolist()
    return chain_head(
        rows_of(states, LAYERS)[words], ends, right, np.ones_like(right), LAYERS, LABELS, _ADDED
    )


def _found_across(
    labelled: Sequence[LabelledText], states: States, whole: Sequence[int]
) -> list[list[Span]]:
    """Return the word spans of the values found in each text by cross-fitting.

    The chain of a fold is trained on the texts of the other folds among `whole`: those with all
    their values labelled.
    """
    found: list[list[Span]] = [[] for _ in labelled]
    bounds = _bounds(states)
    for fold in range(_FOLDS):
        head = _chain(labelled, states, (each for each in whole if each % _FOLDS != fold))
        assert head.steps is not None
        chain, scoring = NameChain(head.labels, head.steps.array()), ScoringHead(head)
        for number in range(fold, len(labelled), _FOLDS):
            begin, end = bounds[number]
            if begin == end:
                continue
            parts = [states.layers[layer][begin:end] for layer in LAYERS]
            scores = scoring.scores([*parts, states.shapes[begin:end] * np.int8(UNITS)])
            best = [head.labels[each] for each in chain.best(scores, [end - begin])]
            for word, label in enumerate(best):
                if label[0] == "B":
                    found[number].append((word, word + 1))
                elif label[0] == "I":
                    found[number][-1] = (found[number][-1][0], word + 1)
    return found


def _judges(
    texts: Sequence[ValueText],
    labelled: Sequence[LabelledText],
    states: States,
    found: Sequence[Sequence[Span]],
) -> dict[str, Head]:
    """Return the heads that judge values: labelled ones, and those that were found."""
    firsts = [0, *states.ends]
    places: list[tuple[int, int]] = []
    of: list[LabelledValue | None] = []
    for number, text in enumerate(texts):
        words = labelled[number].places
        inside = [
            (
                each,
                [n for n, (left, right) in enumerate(words) if _overlap((left, right), each.span)],
            )
            for each in text.values
        ]
        known = [(each, (numbers[0], numbers[-1] + 1)) for each, numbers in inside if numbers]
        for span in found[number]:
            value = next((each for each, place in known if _overlap(place, span)), None)
            places.append((firsts[number] + span[0], firsts[number] + span[1]))
            of.append(value)
        for value, place in known:
            places.append((firsts[number] + place[0], firsts[number] + place[1]))
            of.append(value)
    seen = [np.concatenate([states.layers[layer] for layer in LAYERS], axis=1)]
    rows = np.concatenate(surroundings(seen[0], places, firsts), axis=1).astype(np.float32)
    rows /= np.float32(UNITS)
    types = [NO_VALUE if each is None else each.type for each in of]
    owners = [None if each is None or each.own is None else OWNER_LABELS[each.own] for each in of]
    signs = [None if each is None else SIGN_LABELS[each.sign == "+"] for each in of]
    return {
        "value_types": _judge(rows, types, TYPE_LABELS),
        "value_owners": _judge(rows, owners, OWNER_LABELS),
        "value_signs": _judge(rows, signs, SIGN_LABELS),
    }


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _judge(rows: Floats, known: Sequence[str | None], labels: tuple[str, ...]) -> Head:
    """Return a head that is fitted to those rows whose label is known."""
    chosen = [number for number, label in enumerate(known) if label is not None]
    right: Mask = np.array([[label == known[number] for label in labels] for number in chosen])
    weights = np.ones(len(chosen), np.float32)
    network = fit_labels(rows[chosen], right, weights, epochs=12, decay=0.3, drop=0.4)
    return Head(LAYERS, network.in_whole_numbers(UNITS), labels)
