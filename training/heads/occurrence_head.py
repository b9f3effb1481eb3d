"""Train the occurrence head: whether a sentence reports something that happens once, undated.

"I just finished my exam" happens on the day of the message, or on one that the message named
before; "I live in Ghent" lasts. Trained on sentences with labelled facts: facts with days that
their clause does not name, and facts without days. Facts with a value that lasts are left out if
they have days: the labels disagree on whether a state is dated by the day on which it is told.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.streams.reader.head_file import Head
from recollect.streams.reader.text_reader import OCCURS, UNITS, TextReader
from recollect.text.sentences import sentences
from training.heads.head_fitting import Floats, fit_labels
from training.heads.head_sentences import sentences_of
from training.labelled_corpus import SLOTLESS, LabelledFact, LabelledMessage

LAYERS = (3, 4)
LABELS = ("lasts", OCCURS)
#: Types of facts that may happen once; a fact of another type lasts.
_ONCE = SLOTLESS | {"appointment", "health", "status", "price"}


def occurrence_head(reader: TextReader, messages: Sequence[LabelledMessage]) -> Head:
    """Return the head."""
    rows: list[Floats] = []
    occurring: list[int] = []
    read = sentences_of(reader, [each.text for each in messages])
    for message, of_message in zip(messages, read, strict=True):
        spans = sentences(message.text)
        for (start, end), sentence in zip(spans, of_message, strict=True):
            facts = [
                each for each in message.facts if each.quote[0] < end and start < each.quote[1]
            ]
            known = [answer for each in facts if (answer := occurs(each, message)) is not None]
            if known:
                rows.append(sentence.row(LAYERS))
                occurring.append(int(any(known)))
    labels = np.array(occurring)
    network = fit_labels(
        np.array(rows),
        np.eye(2, dtype=bool)[labels],
        np.ones(len(rows), np.float32),
        inner=64,
        epochs=25,
        decay=0.1,
        drop=0.5,
    )
    return Head(LAYERS, network.in_whole_numbers(UNITS), LABELS)


def occurs(fact: LabelledFact, message: LabelledMessage) -> bool | None:
    """Return whether a fact happens once at a time that its clause lacks, or None if unknown."""
    if fact.first is None:
        return False
    if fact.type not in _ONCE:
        return None
    start, end = fact.quote
    if any(each.first and start <= each.start and each.end <= end for each in message.dates):
        return None
    if (fact.first, fact.last) == (message.at[:10], message.at[:10]):
        return True
    days = {(each.first, each.last) for each in message.dates}
    return True if (fact.first, fact.last) in days else None
