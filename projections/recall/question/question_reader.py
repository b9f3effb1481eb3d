"""Reads questions: a query goes in, and parsed questions come out, one for each in its text."""

from __future__ import annotations

from itertools import islice

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall
from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question import answer_type, filters
from recollect.projections.recall.question.encoding import (
    TextEncoder,
    is_encoded,
    question_vectors,
    text_to_embed,
)
from recollect.projections.recall.question.entity_names import Names, ids_of
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH, RecallQuery
from recollect.projections.recall.question.slots.asked_slot import slot_values
from recollect.projections.recall.question.slots.chains import chain
from recollect.projections.recall.question.speakers import speakers_asked_for
from recollect.projections.recall.question.sub_questions import completed, sub_questions
from recollect.projections.recall.question.times.event_times import Anchor, anchor
from recollect.projections.recall.question.times.time_spans import Span, spans_in
from recollect.projections.recall.question.times.validity import ended
from recollect.text.prompts import first_person, orders, refers_back
from recollect.text.sentences import sentences

#: Sentences of a query that are looked for by themselves; a longer one is something pasted.
MAX_SENTENCES = 10
#: A turn that scores less may tell of another event, or of none.
_SURE = 0.5

Floats = npt.NDArray[np.float32]


class QuestionReader:
    """Reads the questions about one zone. Names are cached until identity.db changes."""

    def __init__(self, files: ZoneFiles) -> None:
        self._files = files
        self._names = Names(files.identity)

    def read(
        self, query: RecallQuery, index: Index, encoder: TextEncoder | None, now: int | None
    ) -> list[ParsedQuestion]:
        """Return the questions that a query's text consists of, in order.

        `now`: when it is asked (unix ms), where the query does not say.
        """
        query = query.readable()
        texts = sub_questions(query.text, query.budget)
        if len(texts) == 1:
            return [self._parsed(query, None, index, encoder, now)]
        return [
            self._parsed(msgspec.structs.replace(query, text=whole), wording, index, encoder, now)
            for wording, whole in zip(texts, completed(texts, self._names.written), strict=True)
        ]

    def sentence_vectors(self, query: RecallQuery, encoder: TextEncoder | None) -> list[Floats]:
        """Return the unit vectors of a query's first sentences; without an encoder none.

        Where the text has no sentence, the whole of it is one.
        """
        vectors = (
            question_vectors(one, self._names.of(one), encoder, self._files.embeddings).whole
            for one in _sentences(query)
        )
        return [vector for vector in vectors if vector is not None]

    def embedded_sentences(self, query: RecallQuery, encoder: TextEncoder) -> list[str]:
        """Return the texts that `sentence_vectors` has encoded, as the files are now.

        Where the files change before that, these may be others than are needed.
        """
        if not is_encoded(encoder, self._files.embeddings):
            return []
        return [text_to_embed(one, self._names.of(one)) for one in _sentences(query) if one.strip()]

    def about(self, query: RecallQuery) -> dict[str, bool]:
        """Return whether a query is about somebody whom the memory can know, by kind."""
        text = query.readable().text[:MAX_QUERY_LENGTH]
        return {
            "named": any(name.senders for name in self._names.of(text)),
            "refers_back": refers_back(text),
            "first_person": first_person(text),
            "order": orders(text),
        }

    def event_of(
        self, question: ParsedQuestion, index: Index, encoder: TextEncoder | None
    ) -> ParsedQuestion:
        """Return the question that finds the event by which another gives a time.

        "The week before the move": where was the move told?
        """
        assert question.event is not None
        text, event = question.query.text, question.event
        # Whose wedding "the wedding" is, the question says elsewhere.
        rest = text[: event.start] + text[event.end :]
        names = [] if self._names.written(event.event) else self._names.written(rest)
        query = msgspec.structs.replace(
            question.query,
            text=" ".join((*names, event.event)),
            scope=("events",),
            max_results=1,
            min_score=_SURE,
            entity=None,
            time_after=None,
            time_before=None,
            explain=False,
        )
        parsed = self._parsed(query, None, index, encoder, question.asked_at)
        return parsed._replace(spans=(), event=None)

    def _parsed(
        self,
        query: RecallQuery,
        wording: str | None,
        index: Index,
        encoder: TextEncoder | None,
        now: int | None,
    ) -> ParsedQuestion:
        text = query.text[:MAX_QUERY_LENGTH]
        named = self._names.of(text)
        # First: where a text has yet to be encoded, all of this is done again.
        vectors = question_vectors(text, named, encoder, self._files.embeddings)
        spans, event, utc_offset = self._times(query)
        identity = self._files.identity.connection
        entity_ids = None if query.entity is None else ids_of(identity, query.entity)
        over = ended(query, index, self._files)
        masks = filters.masks(query, entity_ids, over, index)
        allowed = filters.allowed(masks, index)
        eligible = filters.eligible(query, allowed, index)
        return ParsedQuestion(
            query=query,
            wording=wording,
            asked_at=now if query.asked_at is None else query.asked_at,
            text=text,
            terms=index.tokeniser.terms(text),
            vectors=vectors,
            named=named,
            speakers=speakers_asked_for(text, named, index.turns.senders),
            answer_type=answer_type.wanted(wording or query.text),
            wants_list=answer_type.asks_for_list(wording or query.text),
            spans=spans,
            event=event,
            utc_offset=utc_offset,
            entity_ids=entity_ids,
            ended=over,
            masks=masks,
            allowed=allowed,
            eligible=eligible,
            chain=chain(
                text, named, encoder, index, self._files, upto=query.until, allowed=eligible
            ),
            slot_values=slot_values(
                text, named, index, self._files, upto=query.until, allowed=eligible
            ),
        )

    def _times(self, query: RecallQuery) -> tuple[tuple[Span, ...], Anchor | None, int]:
        """Return the times that a question gives, or the event by which it gives one.

        The third is how many minutes clocks are ahead of UTC. Times in words count from when the
        question is asked, where it says so, else from the zone's last event, in the time zone of
        its sender: a memory of last year is asked about as it was then.
        """
        latest = turns_for_recall.latest_event_time(self._files.events.connection)
        if query.spans or latest is None:
            return query.spans, None, 0
        at, utc_offset = latest
        if query.asked_at is not None:
            at = query.asked_at
        spans = spans_in(query.text, at, utc_offset)
        return spans, None if spans else anchor(query.text), utc_offset


def _sentences(query: RecallQuery) -> list[str]:
    """Return the first sentences of a query; the whole of it, where it has none."""
    text = query.readable().text[:MAX_QUERY_LENGTH]
    return [text[start:end] for start, end in islice(sentences(text), MAX_SENTENCES)] or [text]
