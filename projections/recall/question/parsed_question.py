"""A question as it was read: everything that the arms and the ranking need to know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.index_terms import Tokeniser
from recollect.projections.recall.question.answer_type import AnswerType
from recollect.projections.recall.question.encoding import QuestionVectors
from recollect.projections.recall.question.entity_names import NamedEntity
from recollect.projections.recall.question.query import RecallQuery
from recollect.projections.recall.question.speakers import Sender
from recollect.projections.recall.question.times.event_times import Anchor
from recollect.projections.recall.question.times.time_spans import Span
from recollect.projections.recall.question.times.validity import Ended

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class ParsedQuestion(NamedTuple):
    """One question, as `QuestionReader` read it.

    `query`: what was asked; of several questions in one text, with the text of this one.
    `wording`: how it was put, where it is one of several. `asked_at`: when (unix ms), or None.

    By its words: `text` is what is searched for, `terms` are its index terms, `vectors` its
    vectors, `named` the entities that it names, and `speakers` the senders whose turns it asks
    for. `answer_type`: what it wants to know, `wants_list`: several things. `spans`: the times
    that it speaks of. `event`: the event by which it tells a time, which must be looked up, with
    `utc_offset`, the minutes by which clocks are ahead there.

    By its filters: `entity_ids` are the ids of the entity that is asked for, None: any. `ended`:
    what was no longer true, `masks`: which turns each filter that is set lets through, `allowed`:
    which all of them do, and `eligible`: which of those may be answered. `chain`: the facts that
    lead from a name in it to its answer, where none says it alone. `slot_values`: the facts that
    fill the one slot that it asks for, the newest first.
    """

    query: RecallQuery
    wording: str | None
    asked_at: int | None
    text: str
    terms: list[str]
    vectors: QuestionVectors
    named: Sequence[NamedEntity]
    speakers: set[Sender]
    answer_type: AnswerType | None
    wants_list: bool
    spans: Sequence[Span]
    event: Anchor | None
    utc_offset: int
    entity_ids: set[str] | None
    ended: Ended
    masks: Mapping[str, Mask]
    allowed: Mask
    eligible: Mask
    chain: tuple[str, ...]
    slot_values: tuple[str, ...]

    @property
    def vector(self) -> Floats | None:
        """The unit vector of the text."""
        return self.vectors.whole

    @property
    def restricted_to(self) -> Mask | None:
        """The turns that all filters let through; None: no filter is set."""
        return self.allowed if self.masks else None

    @property
    def entity_turns(self) -> Mask | None:
        """Which turns are about the entity that is asked for; None: any may be."""
        return self.masks.get("entity")

    def content_terms(self, tokeniser: Tokeniser) -> list[str]:
        """Return its index terms without names of participants, who rarely use their own names."""
        names = {
            term
            for name in self.named
            if name.senders
            for term in tokeniser.terms(self.text[name.start : name.end])
        }
        return [term for term in self.terms if term not in names]

    def masked(self, scores: Floats, places: Ints | None = None) -> Floats:
        """Return the scores, of some places or of all, 0 where a turn may not be answered."""
        # Most questions leave nothing out.
        if not self.masks:
            return scores
        return scores * (self.allowed if places is None else self.allowed[places])
