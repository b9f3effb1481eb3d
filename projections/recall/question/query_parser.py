"""Parse a query into one parsed question for each question in its text."""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall
from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index.zone_index import Index, State
from recollect.projections.recall.question import filters
from recollect.projections.recall.question.answer_type import (
    asks_for_all,
    asks_for_detail,
    asks_for_list,
    expected_answer_type,
)
from recollect.projections.recall.question.encoding import (
    TextEncoder,
    is_encoded,
    question_vectors,
    text_to_embed,
)
from recollect.projections.recall.question.entity_names import Names, ids_of_name
from recollect.projections.recall.question.named_sources import source_mask
from recollect.projections.recall.question.owner import in_first_person
from recollect.projections.recall.question.parsed_question import ParsedQuestion, Topic
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH, RecallQuery
from recollect.projections.recall.question.slots.multi_hop import find_chain
from recollect.projections.recall.question.slots.slot_questions import slot_values
from recollect.projections.recall.question.speakers import speakers_asked_for
from recollect.projections.recall.question.sub_questions import resolve_references, sub_questions
from recollect.projections.recall.question.times.asked_order import asked_order
from recollect.projections.recall.question.times.closeness import closeness
from recollect.projections.recall.question.times.event_times import find_anchor
from recollect.projections.recall.question.times.past import asks_what_was
from recollect.projections.recall.question.times.time_spans import Times, times_in
from recollect.projections.recall.question.times.validity import ended_at
from recollect.text.lexicon import word_set
from recollect.text.prompts import first_person, orders, refers_back
from recollect.text.sentences import sentences
from recollect.text.stopwords import STOP_WORDS

#: The number of first sentences of a query that are encoded separately. A text with more was
#: probably pasted.
MAX_SENTENCES = 10
# The number of texts that are kept as read: a query and its sentences are read several times.
_MAX_CACHED_TEXTS = 16
# The minimum score of the turn about the event to which a time is relative. With a lower score, the
# turn may be about another event.
_MIN_ANCHOR_SCORE = 0.5

# Words of a question about all that happened, or, if it names nobody, about all that is planned.
_HAPPENING = frozenset({"happen", "happened", "happens", "happening"})
_PLANNED = word_set(
    """ahead agenda arranged calendar coming diary going lined plan planned plans schedule scheduled
    upcoming"""
)
_WORD = re.compile(r"[\w']+")

Floats = npt.NDArray[np.float32]


class _Reading(NamedTuple):
    """A text as read: its times, what is searched for, and when it is asked.

    `at`: in unix ms; `utc_offset`: in minutes.
    """

    times: Times
    at: int
    utc_offset: int
    topic: Topic


class QueryParser:
    """Parses queries about one zone. Names and texts are cached until the files change."""

    def __init__(self, files: ZoneFiles) -> None:
        self._files = files
        self._names = Names(files.identity.connection)
        # The watermarks of identity.db and events.db, and the state of the index, for which names
        # and texts are cached.
        self._state: tuple[int, int, State | None] | None = None
        self._readings: dict[tuple[object, ...], _Reading] = {}

    def parse(
        self, query: RecallQuery, index: Index, encoder: TextEncoder | None, now: int | None
    ) -> list[ParsedQuestion]:
        """Return the questions in a query's text, in order.

        `now` (unix ms) is the time of asking if the query has none.
        """
        self._follow(index)
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

    def sentence_vectors(
        self, query: RecallQuery, index: Index, encoder: TextEncoder | None
    ) -> list[Floats]:
        """Return the unit vectors of a query's first sentences; none without an encoder.

        A text without a sentence counts as one.
        """
        self._follow(index)
        vectors = (
            question_vectors(
                *self._read(one, query, index).topic, encoder, self._files.embeddings
            ).pooled
            for one in _sentences(query)
        )
        return [vector for vector in vectors if vector is not None]

    def embedded_sentences(
        self, query: RecallQuery, index: Index | None, encoder: TextEncoder
    ) -> list[str]:
        """Return the texts whose vectors `sentence_vectors` will need.

        If the files change between the two calls, it may need other texts.
        """
        if not is_encoded(encoder, self._files.embeddings):
            return []
        self._follow_files(index)
        return [
            text_to_embed(*self._read(one, query, index).topic)
            for one in _sentences(query)
            if one.strip()
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
        text, asked = query.text[:MAX_QUERY_LENGTH], original_text or query.text
        times, at, utc_offset, topic = self._read(text, query, index)
        # First, because this raises EncodingRequired if the text is not encoded yet; the caller
        # encodes it and starts again.
        vectors = question_vectors(*topic, encoder, self._files.embeddings)
        named = self._names.find(text)
        identity = self._files.identity.connection
        entity_ids = None if query.entity is None else ids_of_name(identity, query.entity)
        ended = ended_at(query, index, self._files)
        asks_for_anything = bool(times.spans) and self._asks_for_anything(times.topic, index)
        has_passed = bool(times.spans) and all(last < at for _, last in times.spans)
        # What held at the end of the only period that a question about the past names.
        asks_past = has_passed and len(times.spans) == 1 and asks_what_was(text)
        was_at = times.spans[0][1] if asks_past and query.valid_at is None else None
        asked_slot = Topic(text, named) if was_at is None else topic
        ended = ended._replace(facts=ended.facts | index.retracted.facts)
        masks = filters.filter_masks(query, entity_ids, ended, index)
        is_time_only = False
        if asks_for_anything:
            inside = closeness(times.spans, utc_offset, index, self._files) == 1
            is_time_only = bool((inside & filters.combined_mask(masks, index)).any())
            if is_time_only:
                masks[filters.TIME] = inside
        allowed = filters.combined_mask(masks, index)
        eligible = filters.eligible_mask(query, allowed, index)
        return ParsedQuestion(
            query=query,
            original_text=original_text,
            asked_at=now if query.asked_at is None else query.asked_at,
            text=text,
            named=named,
            topic=topic,
            terms=index.tokeniser.query_terms(topic.text),
            vectors=vectors,
            speakers=speakers_asked_for(*topic, index.turns.senders),
            answer_type=expected_answer_type(asked),
            wants_list=asks_for_list(asked),
            wants_all=asks_for_all(asked),
            wants_detail=asks_for_detail(asked),
            order=asked_order(asked),
            spans=times.spans,
            asks_for_anything=asks_for_anything,
            is_time_only=is_time_only,
            is_time_certain=asks_for_anything or (has_passed and asks_what_was(text)),
            event=None if times.spans else find_anchor(text),
            utc_offset=utc_offset,
            sources=source_mask(text, index.turns),
            entity_ids=entity_ids,
            ended=ended,
            masks=masks,
            allowed=allowed,
            eligible=eligible,
            chain=find_chain(
                text,
                named,
                self._names,
                encoder,
                index,
                self._files,
                valid_at=query.until,
                allowed=eligible,
            ),
            slot_values=slot_values(
                asked_slot.text,
                asked_slot.named,
                index,
                self._files,
                valid_at=query.until if was_at is None else was_at,
                allowed=eligible,
                is_past=was_at is not None,
            ),
        )

    def _follow(self, index: Index) -> None:
        """Drop what was cached before the files changed; `index` has just followed them."""
        marks = index.state.watermarks
        self._keep_if(marks["identity"], marks["events"], index.state)

    def _follow_files(self, index: Index | None) -> None:
        """Drop what was cached before the files changed, or before `index` followed them."""
        identity, events = (
            model.watermark().number for model in (self._files.identity, self._files.events)
        )
        self._keep_if(identity, events, None if index is None else index.state)

    def _keep_if(self, identity: int, events: int, index: State | None) -> None:
        state = (identity, events, index)
        if state != self._state:
            self._state = state
            self._names.clear()
            self._readings.clear()

    def _read(self, text: str, query: RecallQuery, index: Index | None) -> _Reading:
        """Return the times of a text and what is searched for; cached.

        Without an index, the zone's owner is not known. A text that contains only a time is
        searched for as it is.
        """
        key = (text, query.asked_at, query.spans)
        if key not in self._readings:
            if len(self._readings) >= _MAX_CACHED_TEXTS:
                self._readings.clear()
            times, at, utc_offset = self._times(text, query)
            topic = self._in_first_person(times.topic, index)
            if topic != text and not _has_content(topic):
                topic = self._in_first_person(text, index)
            named = self._names.find(topic)
            self._readings[key] = _Reading(times, at, utc_offset, Topic(topic, named))
        return self._readings[key]

    def _asks_for_anything(self, topic: str, index: Index) -> bool:
        """Return whether a question without its times asks for all, or all of a participant."""
        read = self._in_first_person(topic, index)
        named = self._names.find(read)
        general = _HAPPENING if named else _HAPPENING | _PLANNED
        return not _has_content(text_to_embed(read, named), general)

    def _in_first_person(self, text: str, index: Index | None) -> str:
        named = self._names.find(text)
        return text if index is None else in_first_person(text, named, index.turns)

    def _times(self, text: str, query: RecallQuery) -> tuple[Times, int, int]:
        """Return the times of a text, or else those of the query, and when it is asked.

        The time of asking is in unix ms, with the UTC offset in minutes. Relative times count from
        it if the query has one. Otherwise they count from the zone's last event, in the time zone
        of its sender, so that an old memory can be queried as of that time.
        """
        latest = turns_for_recall.latest_event_time(self._files.events.connection)
        at, utc_offset = latest or (0, 0)
        if query.asked_at is not None:
            at = query.asked_at
        if query.spans or latest is None:
            return Times(query.spans, text), at, utc_offset
        return times_in(text, at, utc_offset), at, utc_offset


def _has_content(text: str, empty: Set[str] = frozenset()) -> bool:
    """Return whether a text has a word that finds anything, apart from `empty` words."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    return not STOP_WORDS.issuperset(set(words) - empty)


def _sentences(query: RecallQuery) -> list[str]:
    """Return the first sentences of a query, or its whole text if it has none."""
    text = query.encodable().text[:MAX_QUERY_LENGTH]
    return [text[start:end] for start, end in islice(sentences(text), MAX_SENTENCES)] or [text]
