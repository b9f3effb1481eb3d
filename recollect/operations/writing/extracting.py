"""A dry run of the writer: it processes events in order, in memory, and stores nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec

from recollect.operations.ingestion.file_conversation import FileConversation
from recollect.operations.memories.listing import without_stability
from recollect.operations.memories.relations import Relations
from recollect.projections.events import EventsModel
from recollect.projections.identity import IdentityModel
from recollect.projections.identity.entity_queries import canonical
from recollect.projections.memory import MemoryModel
from recollect.schemas.changes import (
    READ_MODEL_OF_ROW,
    AnyRow,
    CausalLink,
    Fact,
    FactClaim,
    FactDays,
    FactEntity,
    FactSupersession,
    Section,
)
from recollect.schemas.changes import Mention as MentionRow
from recollect.schemas.events import Content, Draft, Event
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    CausalPair,
    DateRange,
    DateTrace,
    Extraction,
    Mention,
    StatementCount,
    Writer,
)
from recollect.schemas.wire import Fact as ListedFact
from recollect.streams.agents import State
from recollect.streams.agents.identity.mention_rows import DATED_TYPES
from recollect.streams.agents.writer.message_analysis import AnalysedMessage, user_text
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.language.grammar.enrichment import ALL, Without
from recollect.streams.language.references.person_references import (
    IN_MIND,
    Heard,
    Reference,
    person_references,
)
from recollect.text.dates.dates_in_text import date_references
from recollect.text.stability import stability

if TYPE_CHECKING:
    from recollect.operations.writing.model_extracting import DryRunResult, ModelExtractor


class Extractor:
    """Extracts facts and mentions from events in order, with earlier ones as context."""

    def __init__(
        self,
        zone: str,
        gateway: EncoderGateway | None = None,
        model: ModelExtractor | None = None,
        disabled_steps: Without = ALL,
        *,
        trace: bool = False,
    ) -> None:
        """`gateway`: gives access to a home's reader; without one, only the rules are used.

        `model`: processes every event in addition to the rules. `trace`: say of each date which
        rules read it.
        """
        self.gateway = gateway
        self._model = model
        self._disabled_steps = disabled_steps
        self._trace = trace
        self._writer = RuleWriter(disabled_steps)
        self._thread = FileConversation(zone, model.context if model else 0)
        self._events = EventsModel(None)
        self._memory = MemoryModel(None)
        self._identity = IdentityModel(None)

    def extract(self, draft: Draft) -> Extraction:
        """Return what the writer would extract from an event if its turn were complete.

        Raises:
            ModelUnavailable: no account of the model answers.
            SpendingLimitExceeded: a spending limit is reached.
        """
        event = self._thread.next_event(draft)
        content = event.payload
        assert isinstance(content, Content)
        writer: Writer = "rules" if self._model is None else "model"
        if event.kind not in self._writer.kinds:
            self._thread.add(event)
            return Extraction(id=content.source_id, facts=[], mentions=[], causes=[], writer=writer)
        if self.gateway is not None:
            texts = self._writer.texts_to_annotate(event, self._thread)
            self._thread.readings = self.gateway.annotations(texts)
        extract = self._writer.extract(event, self._thread)
        decided = self._writer.resolve(event, extract, self._state())
        puts = [row for part in decided for row in part.puts]
        self._project(puts)
        model_result = self._run_model(event, puts)
        added = [] if model_result is None else model_result.rows
        references = self._references(event, content)
        self._thread.add(event)
        messages: list[AnalysedMessage] = extract.content
        # The model's mentions come first: they take precedence over the rules' for the same span.
        mentions = self._mentions(event, content, [*added, *puts], messages, references)
        puts += added
        facts = [row for row in puts if isinstance(row, Fact)]
        indexes = {fact.id: index for index, fact in enumerate(facts)}
        return Extraction(
            id=content.source_id,
            facts=self._facts(event, facts, puts, messages),
            mentions=mentions,
            causes=[
                CausalPair(
                    cause=indexes[row.from_fact_id],
                    effect=indexes[row.to_fact_id],
                    strength=row.strength,
                )
                for row in puts
                if isinstance(row, CausalLink)
                and row.from_fact_id in indexes
                and row.to_fact_id in indexes
            ],
            writer=writer,
            model_usage=msgspec.UNSET if model_result is None else model_result.usage,
            trace=date_traces(event, content) if self._trace else msgspec.UNSET,
        )

    def _run_model(self, event: Event, puts: Sequence[AnyRow]) -> DryRunResult | None:
        """Return what the model adds to `puts`, the rows of the rules; None without a model."""
        if self._model is None:
            return None
        self._model.add_memories(event, puts)
        model_result = self._model.extract(
            event, self._thread, self._state(), self._identity.connection
        )
        if model_result is not None:
            self._project(model_result.rows)
            self._model.add_memories(event, model_result.rows)
        return model_result

    def _state(self) -> State:
        return State(
            self._events.connection, self._memory.connection, self._identity.connection, None, 0
        )

    def _project(self, puts: Sequence[AnyRow]) -> None:
        for model in (self._memory, self._identity):
            rows = tuple(row for row in puts if READ_MODEL_OF_ROW[type(row)] == model.name)
            model.project([Section((), rows)])

    def _facts(
        self,
        event: Event,
        facts: list[Fact],
        puts: list[AnyRow],
        messages: Sequence[AnalysedMessage],
    ) -> list[ListedFact]:
        claims = {row.fact_id: row for row in puts if isinstance(row, FactClaim)}
        superseded = {row.fact_id for row in puts if isinstance(row, FactSupersession)}
        about: dict[str, set[str]] = defaultdict(set)
        for row in puts:
            if isinstance(row, FactEntity):
                about[row.fact_id].add(self._name(row.entity_id))
        days = {row.fact_id: row for row in puts if isinstance(row, FactDays)}
        source_events = [event, *(one.event for message in messages for one in message.retractions)]
        sources = {
            event.id: event.payload.source_id
            for event in source_events
            if isinstance(event.payload, Content)
        }
        stored = Relations(self._memory.connection, self._identity.connection)
        relations = stored.outgoing([fact.id for fact in facts])
        listed = [
            ListedFact(
                id=fact.id,
                text=fact.text,
                context=fact.context,
                as_of=format_time(fact.as_of),
                when=DateRange(days[fact.id].first_day, days[fact.id].last_day)
                if fact.id in days
                else None,
                subject=self._name(claim.subject) if claim else None,
                attribute=claim.attribute if claim else None,
                value=claim.value if claim else None,
                current=fact.id not in superseded,
                stability=lifetime.kind,
                said=StatementCount(1, format_time(fact.as_of), format_time(fact.as_of)),
                entities=sorted(about[fact.id]),
                source_event_ids=[sources[fact.source_event_id]],
                stability_confidence=lifetime.confidence,
                ttl_days=lifetime.ttl_days,
                relations=relations.get(fact.id, []),
            )
            for fact in facts
            for claim in (claims.get(fact.id),)
            for lifetime in (stability(fact.text, claim.attribute if claim else None),)
        ]
        return (
            [without_stability(fact) for fact in listed]
            if "stability" in self._disabled_steps
            else listed
        )

    def _mentions(
        self,
        event: Event,
        content: Content,
        puts: list[AnyRow],
        messages: Sequence[AnalysedMessage],
        references: Sequence[Reference],
    ) -> list[Mention]:
        # The rules and the model may record the same span; the first row wins.
        recorded = {
            (row.char_offset_start, row.char_offset_end, row.mention_type in DATED_TYPES): row
            for row in reversed(puts)
            if isinstance(row, MentionRow)
            and row.event_id == event.id
            and row.char_offset_start >= 0
        }
        pronouns = {
            (one.whom.start, one.whom.end)
            for message in messages
            for one in message.analysis.statements
            if one.whom is not None and message.event.id == event.id
        }
        resolved = {
            (reference.start, reference.end) for reference in references if reference.pronoun
        }
        mentions = [
            Mention(
                text=row.mention_text,
                start=row.char_offset_start,
                end=row.char_offset_end,
                type=row.mention_type,
                entity=self._name(row.entity_id) if row.entity_id else None,
                confidence=row.confidence,
                first=row.first,
                last=row.last,
                time=row.time,
                pronoun=(*span,) in pronouns,
            )
            for (*span, _), row in recorded.items()
            if (*span,) not in resolved
        ]
        mentions = _with_references(mentions, content.content, references)
        return sorted(mentions, key=lambda mention: mention.start)

    def _references(self, event: Event, content: Content) -> list[Reference]:
        """Resolve an event's references to people who were named or spoke before it."""
        before = [
            Heard(said.sender_name or said.sender_id, text, self._thread.annotation(text))
            for each in self._thread.preceding(event, IN_MIND)
            if isinstance(said := each.payload, Content)
            for text in (user_text(each),)
        ]
        speaker = content.sender_name or content.sender_id
        reading = self._thread.annotation(content.content)
        return person_references(content.content, speaker, before, reading)

    def _name(self, id_or_name: str) -> str:
        """Return the name of the entity with this id, after merges; return a name unchanged."""
        entity = canonical(self._identity.connection, id_or_name)
        return id_or_name if entity is None else entity.name

    def close(self) -> None:
        """Close the files in memory."""
        for model in (self._events, self._memory, self._identity):
            model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def date_traces(event: Event, content: Content) -> list[DateTrace]:
    """Return which rules read each date and time of an event."""
    dates = date_references(
        content.content, at_ms=event.occurred_at, utc_offset_minutes=content.utc_offset, every=True
    )
    return [
        DateTrace(text=one.text, start=one.start, end=one.end, rules=one.rules) for one in dates
    ]


def _with_references(
    mentions: Sequence[Mention], text: str, references: Sequence[Reference]
) -> list[Mention]:
    """Add references to people: resolved pronouns, and names that the context resolves."""
    resolved = list(mentions)
    for reference in references:
        start, end = reference.start, reference.end
        overlapping = [
            mention for mention in mentions if mention.start < end and start < mention.end
        ]
        if not overlapping:
            resolved.append(
                Mention(
                    text=text[start:end],
                    start=start,
                    end=end,
                    type="PERSON",
                    entity=reference.who,
                    pronoun=reference.pronoun,
                )
            )
        elif not reference.pronoun:
            resolved = [
                msgspec.structs.replace(mention, entity=reference.who)
                if mention in overlapping
                and mention.type in ("PERSON", "OTHER")
                and (mention.entity is None or reference.spoke)
                else mention
                for mention in resolved
            ]
    return resolved
