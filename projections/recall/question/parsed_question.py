"""A parsed question: everything that the arms and the ranking need."""

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
from recollect.projections.recall.question.times.asked_order import Order
from recollect.projections.recall.question.times.event_times import Anchor
from recollect.projections.recall.question.times.time_spans import Span
from recollect.projections.recall.question.times.validity import EndedFacts

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Topic(NamedTuple):
    """What is searched for: a question without its times, and with "I" for the zone's owner.

    `named`: the entities that it names.
    """

    text: str
    named: Sequence[NamedEntity]


class ParsedQuestion(NamedTuple):
    """One question, as parsed by `QueryParser`.

    `query`: the query, with the text of this question if there are several. `original_text`: its
    original wording if it is one of several. `asked_at`: the time of asking (unix ms), or None.

    From its text: `text` as it was asked, and `named` the entities that it names. `topic` is
    searched for: `terms` are its index terms, `vectors` its vectors, and `speakers` the senders
    whose turns it asks for. `answer_type`: the expected type of answer; `wants_list`: it expects
    several answers; `wants_all`: it counts or lists what answers it; `wants_detail`: it asks for a
    person, a place, a time or a number; `order`: it asks for the first or the last occasion.
    `spans`: the times that it refers to, with `utc_offset` in minutes; `asks_for_anything`: it asks
    for whatever there is at these times; `is_time_only`: so it does, and as there is something,
    turns of other times fail its filters; `is_time_certain`: it asks for nothing of other times,
    even if they have something similar. `event`: the event whose time must be
    looked up, if it gives a time relative to an event ("the week before the move"). `sources`: the
    mask of turns from the sources that it names ("in my notes"), None for any.

    From its filters: `entity_ids` are the ids of the entity to filter by, None for any. `ended`:
    the facts that had ended at `valid_at`. `masks`: a mask of turns for each filter. `allowed`: all
    masks combined. `eligible`: the turns that may be results.

    From its slots: `chain` are the facts that lead from a name in it to its answer, if no single
    fact does. `slot_values`: the facts that state the values of the slot that it asks for, newest
    first.
    """

    query: RecallQuery
    original_text: str | None
    asked_at: int | None
    text: str
    named: Sequence[NamedEntity]
    topic: Topic
    terms: list[str]
    vectors: QuestionVectors
    speakers: set[Sender]
    answer_type: AnswerType | None
    wants_list: bool
    wants_all: bool
    wants_detail: bool
    order: Order | None
    spans: Sequence[Span]
    asks_for_anything: bool
    is_time_only: bool
    is_time_certain: bool
    event: Anchor | None
    utc_offset: int
    sources: Mask | None
    entity_ids: set[str] | None
    ended: EndedFacts
    masks: Mapping[str, Mask]
    allowed: Mask
    eligible: Mask
    chain: tuple[str, ...]
    slot_values: tuple[str, ...]

    @property
    def vector(self) -> Floats | None:
        """The unit vector of the text."""
        return self.vectors.pooled

    @property
    def is_wide(self) -> bool:
        """Whether more candidates are searched, since all that answers the question is wanted."""
        return self.wants_all or self.query.budget == "high"

    @property
    def restricted_to(self) -> Mask | None:
        """The mask of turns that pass all filters; None if no filter is set."""
        return self.allowed if self.masks else None

    @property
    def entity_turns(self) -> Mask | None:
        """The mask of turns about the entity to filter by; None without this filter."""
        return self.masks.get("entity")

    def content_terms(self, tokeniser: Tokeniser) -> list[str]:
        """Return its index terms without participants' names, which they rarely use themselves."""
        names = {
            term
            for name in self.topic.named
            if name.senders
            for term in tokeniser.query_terms(self.topic.text[name.start : name.end])
        }
        return [term for term in self.terms if term not in names]

    def masked(self, scores: Floats, places: Ints | None = None) -> Floats:
        """Return the scores of these places, or of all, with 0 for turns that fail the filters."""
        # Most questions have no filters.
        if not self.masks:
            return scores
        return scores * (self.allowed if places is None else self.allowed[places])
