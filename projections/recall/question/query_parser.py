"""Parse a query into one parsed question for each question in its text."""

from __future__ import annotations

from itertools import islice

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall
from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question import filters
from recollect.projections.recall.question.answer_type import asks_for_list, expected_answer_type
from recollect.projections.recall.question.encoding import (
    TextEncoder,
    is_encoded,
    question_vectors,
    text_to_embed,
)
from recollect.projections.recall.question.entity_names import Names, ids_of_name
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH, RecallQuery
from recollect.projections.recall.question.slots.multi_hop import find_chain
from recollect.projections.recall.question.slots.slot_questions import slot_values
from recollect.projections.recall.question.speakers import speakers_asked_for
from recollect.projections.recall.question.sub_questions import resolve_references, sub_questions
from recollect.projections.recall.question.times.event_times import Anchor, find_anchor
from recollect.projections.recall.question.times.time_spans import Span, spans_in
from recollect.projections.recall.question.times.validity import ended_at
from recollect.text.prompts import first_person, orders, refers_back
from recollect.text.sentences import sentences

#: The number of first sentences of a query that are encoded separately. A text with more was
#: probably pasted.
MAX_SENTENCES = 10
# The minimum score of the turn about the event to which a time is relative. With a lower score, the
# turn may be about another event.
_MIN_ANCHOR_SCORE = 0.5

Floats = npt.NDArray[np.float32]


class QueryParser:
    """Parses queries about one zone. Names are cached until identity.db changes."""

    def __init__(self, files: ZoneFiles) -> None:
        self._files = files
        self._names = Names(files.identity)

    def parse(
        self, query: RecallQuery, index: Index, encoder: TextEncoder | None, now: int | None
    ) -> list[ParsedQuestion]:
        """Return the questions in a query's text, in order.

        `now` (unix ms) is the time of asking if the query has none.
        """
        query = query.encodable()
        texts = sub_questions(query.text, query.budget)
        if len(texts) == 1:
            return [self._parse(query, None, index, encoder, now)]
        return [
            self._parse(
                msgspec.structs.replace(query, text=text), original_text, index, encoder, now
            )
            for original_text, text in zip(
                texts, resolve_references(texts, self._names.surface_forms), strict=True
            )
        ]

    def sentence_vectors(self, query: RecallQuery, encoder: TextEncoder | None) -> list[Floats]:
        """Return the unit vectors of a query's first sentences; none without an encoder.

        A text without a sentence counts as one.
        """
        vectors = (
            question_vectors(one, self._names.find(one), encoder, self._files.embeddings).pooled
            for one in _sentences(query)
        )
        return [vector for vector in vectors if vector is not None]

    def embedded_sentences(self, query: RecallQuery, encoder: TextEncoder) -> list[str]:
        """Return the texts whose vectors `sentence_vectors` will need.

        If the files change between the two calls, it may need other texts.
        """
        if not is_encoded(encoder, self._files.embeddings):
            return []
        return [
            text_to_embed(one, self._names.find(one)) for one in _sentences(query) if one.strip()
        ]

    def prompt_cues(self, query: RecallQuery) -> dict[str, bool]:
        """Return which of the cues in `prompt_relevance.CUES` a query has."""
        text = query.encodable().text[:MAX_QUERY_LENGTH]
        return {
            "named": any(name.senders for name in self._names.find(text)),
            "refers_back": refers_back(text),
            "first_person": first_person(text),
            "order": orders(text),
        }

    def anchor_question(
        self, question: ParsedQuestion, index: Index, encoder: TextEncoder | None
    ) -> ParsedQuestion:
        """Return a question that finds the event on which the time in another question depends.

        For a question about "the week before the move", it finds the turn about the move.
        """
        assert question.event is not None
        text, event = question.query.text, question.event
        # For "the wedding", the rest of the question may say whose wedding it is.
        without_event = text[: event.start] + text[event.end :]
        names_in = self._names.surface_forms
        names = [] if names_in(event.event) else names_in(without_event)
        query = msgspec.structs.replace(
            question.query,
            text=" ".join((*names, event.event)),
            scope=("events",),
            max_results=1,
            min_score=_MIN_ANCHOR_SCORE,
            entity=None,
            time_after=None,
            time_before=None,
            explain=False,
        )
        parsed = self._parse(query, None, index, encoder, question.asked_at)
        return parsed._replace(spans=(), event=None)

    def _parse(
        self,
        query: RecallQuery,
        original_text: str | None,
        index: Index,
        encoder: TextEncoder | None,
        now: int | None,
    ) -> ParsedQuestion:
        text = query.text[:MAX_QUERY_LENGTH]
        named = self._names.find(text)
        # First, because this raises EncodingRequired if the text is not encoded yet; the caller
        # encodes it and starts again.
        vectors = question_vectors(text, named, encoder, self._files.embeddings)
        spans, event, utc_offset = self._times(query)
        identity = self._files.identity.connection
        entity_ids = None if query.entity is None else ids_of_name(identity, query.entity)
        ended = ended_at(query, index, self._files)
        ended = ended._replace(facts=ended.facts | index.retracted.facts)
        masks = filters.filter_masks(query, entity_ids, ended, index)
        allowed = filters.combined_mask(masks, index)
        eligible = filters.eligible_mask(query, allowed, index)
        return ParsedQuestion(
            query=query,
            original_text=original_text,
            asked_at=now if query.asked_at is None else query.asked_at,
            text=text,
            terms=index.tokeniser.query_terms(text),
            vectors=vectors,
            named=named,
            speakers=speakers_asked_for(text, named, index.turns.senders),
            answer_type=expected_answer_type(original_text or query.text),
            wants_list=asks_for_list(original_text or query.text),
            spans=spans,
            event=event,
            utc_offset=utc_offset,
            entity_ids=entity_ids,
            ended=ended,
            masks=masks,
            allowed=allowed,
            eligible=eligible,
            chain=find_chain(
                text, named, encoder, index, self._files, valid_at=query.until, allowed=eligible
            ),
            slot_values=slot_values(
                text, named, index, self._files, valid_at=query.until, allowed=eligible
            ),
        )

    def _times(self, query: RecallQuery) -> tuple[tuple[Span, ...], Anchor | None, int]:
        """Return (time spans, event that a relative time depends on, UTC offset in minutes).

        Relative times count from the time of asking if the query has one. Otherwise they count from
        the zone's last event, in the time zone of its sender, so that an old memory can be
        queried as of that time.
        """
        latest = turns_for_recall.latest_event_time(self._files.events.connection)
        if query.spans or latest is None:
            return query.spans, None, 0
        at, utc_offset = latest
        if query.asked_at is not None:
            at = query.asked_at
        spans = spans_in(query.text, at, utc_offset)
        return spans, None if spans else find_anchor(query.text), utc_offset


def _sentences(query: RecallQuery) -> list[str]:
    """Return the first sentences of a query, or its whole text if it has none."""
    text = query.encodable().text[:MAX_QUERY_LENGTH]
    return [text[start:end] for start, end in islice(sentences(text), MAX_SENTENCES)] or [text]
