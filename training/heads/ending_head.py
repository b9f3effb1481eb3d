"""Train the head of endings: what earlier facts a sentence ends, by the types of their attributes.

Trained on the messages of lives and of the labelled corpus (train). Most sentences end nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from recollect.streams.reader.head_file import Head
from recollect.streams.reader.packed_reading import VALUE_TYPES
from recollect.streams.reader.text_reader import ENDS_NOTHING, UNITS, TextReader
from recollect.text.sentences import sentences
from training.heads.head_fitting import Floats, fit_labels
from training.heads.head_sentences import sentences_of
from training.heads.value_heads import value_type
from training.labelled_corpus import (
    LIVES,
    SLOTLESS,
    UPDATES,
    LabelledMessage,
    Life,
    Span,
    lives,
)

LAYERS = (3, 4)
LABELS = (*VALUE_TYPES, ENDS_NOTHING)


class EndingText(NamedTuple):
    """A text and the ends that it states: the span of each, and the type of the ended fact."""

    text: str
    ends: list[tuple[Span, str]]


def ending_texts(corpus: Iterable[LabelledMessage]) -> list[EndingText]:
    """Return the texts that the head is trained on."""
    found = [text for path in (LIVES, UPDATES) for life in lives(path) for text in of_life(life)]
    for message in corpus:
        ends = [
            (each.quote, value_type(each.type))
            for each in message.facts
            if each.ends is not None and each.type not in SLOTLESS
        ]
        found.append(EndingText(message.text, ends))
    return found


def of_life(life: Life) -> Iterable[EndingText]:
    """Yield the messages of a life; an end without a value may be in any of its sentences."""
    for message in life.messages:
        ends = [
            (each.value or (0, len(message.text)), value_type(each.type))
            for each in message.facts
            if each.ends
        ]
        yield EndingText(message.text, ends)


def ending_head(reader: TextReader, texts: Sequence[EndingText]) -> Head:
    """Return the head; where a sentence ends facts of several types, each of them is right."""
    rows: list[Floats] = []
    ended: list[set[str]] = []
    read = sentences_of(reader, [each.text for each in texts])
    for text, of_text in zip(texts, read, strict=True):
        for (start, end), sentence in zip(sentences(text.text), of_text, strict=True):
            rows.append(sentence.row(LAYERS))
            ended.append(
                {kind for (left, right), kind in text.ends if left < end and start < right}
            )
    right = np.array([[label in (kinds or {ENDS_NOTHING}) for label in LABELS] for kinds in ended])
    weights = np.ones(len(rows), np.float32)
    network = fit_labels(np.array(rows), right, weights, inner=64, epochs=40, decay=0.1, drop=0.5)
    return Head(LAYERS, network.in_whole_numbers(UNITS), LABELS)
