"""Retracted facts, and messages without the words that state them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw
import numpy as np
import numpy.typing as npt

from recollect.projections.events.turns_for_recall import EventText
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.index_terms import Tokeniser
from recollect.projections.recall.index.lookup_cache import LookupCache
from recollect.projections.recall.index.turn_index import Turns

Mask = npt.NDArray[np.bool_]

#: (start, end) of a part of a text, in characters; the end is exclusive.
Span = tuple[int, int]

#: Replaces retracted words in the text of a message.
RETRACTED_MARK = "[retracted]"
#: A message with fewer index terms left is not recalled.
_MIN_TERMS_LEFT = 2


class Retracted(NamedTuple):
    """The retractions in force.

    `facts`: the ids of retracted facts. `turns`: a mask of the turns that are retracted entirely.
    For turns that are retracted in part, by event number: `texts`, the remaining text, and `spans`,
    the places of the retracted words.
    """

    facts: frozenset[str]
    turns: Mask
    texts: Mapping[int, str]
    spans: Mapping[int, Sequence[Span]]


def find_retracted(
    connection: apsw.Connection,
    turns: Turns,
    event_texts: LookupCache[int, EventText],
    tokeniser: Tokeniser,
) -> Retracted:
    """Return the retractions in force, from memory.db and the turns of an index."""
    retracted_turns = np.zeros(len(turns), bool)
    spans: dict[int, list[Span]] = {}
    retracted_spans = memory.retracted_spans(connection)
    places = turns.place_of_id.of([event_id for event_id, _, _ in retracted_spans])
    place_of: dict[int, int] = {}
    for (_, start, end), place in zip(retracted_spans, places.tolist(), strict=True):
        if place >= 0:
            number = int(turns.numbers[place])
            place_of[number] = place
            spans.setdefault(number, []).append((start, end))
    full_texts = event_texts.of(spans)
    texts: dict[int, str] = {}
    for number, cuts in spans.items():
        text, left = without_spans(full_texts[number].text, cuts)
        if len(tokeniser.query_terms(left)) >= _MIN_TERMS_LEFT:
            texts[number] = text
        else:
            retracted_turns[place_of[number]] = True
    return Retracted(memory.facts_retracted_as_false(connection), retracted_turns, texts, spans)


def without_spans(text: str, spans: Sequence[Span]) -> tuple[str, str]:
    """Return (text with RETRACTED_MARK in place of each span, text without the spans).

    Spans may overlap.
    """
    marked: list[str] = []
    left: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start > at or not marked:
            marked += (text[at:start], RETRACTED_MARK)
            left.append(text[at:start])
        at = max(at, end)
    left.append(text[at:])
    return "".join((*marked, text[at:])), " ".join(left)


def span_after(start: int, end: int, spans: Sequence[Span]) -> Span | None:
    """Return the position of a part of a text after `without_spans` has replaced these spans.

    None if it touches one of them.
    """
    moved = at = 0
    for index, (first, last) in enumerate(sorted(spans)):
        if first < end and start < last:
            return None
        if last <= start:
            if first > at or not index:
                moved += len(RETRACTED_MARK)
            moved -= max(0, last - max(first, at))
            at = max(at, last)
    return start + moved, end + moved
