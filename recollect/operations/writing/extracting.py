"""A dry run of the writer over events, in order: in memory only, nothing is stored."""

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
    FactEntity,
    FactSupersession,
    Section,
)
from recollect.schemas.changes import Mention as MentionRow
from recollect.schemas.events import Content, Draft, Event, message_of
from recollect.schemas.ids import fact_id
from recollect.schemas.times import format_time
from recollect.schemas.wire import CausalPair, DateRange, Extraction, Mention, Writer
from recollect.schemas.wire import Fact as ListedFact
from recollect.streams.agents import State
from recollect.streams.agents.writer.message_analysis import AnalysedMessage, user_text
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.language.grammar.enrichment import ALL, Without
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.references.who_is_meant import (
    IN_MIND,
    Heard,
    Reference,
    who_is_meant,
)
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import DateReference
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
    ) -> None:
        """`gateway`: gives access to the reader of a home. None, or without a reader: only rules.

        `model`: processes every event in addition to the rules.
        """
        self.gateway = gateway
        self._model = model
        self._disabled_steps = disabled_steps
        self._writer = RuleWriter(disabled_steps)
        self._thread = FileConversation(zone, model.context if model else 0)
        self._events = EventsModel(None)
        self._memory = MemoryModel(None)
        self._identity = IdentityModel(None)

    def extract(self, draft: Draft) -> Extraction:
        """Return what the writer would extract from an event, as if its turn were over.

        Raises:
            ModelUnavailable: no account of the model answers.
            BudgetExceeded: a budget of the model is used up.
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
        parts = self._writer.resolve(event, extract, self._state())
        puts = [row for part in parts for row in part.puts]
        self._project(puts)
        model_result = self._run_model(event, puts)
        added = [] if model_result is None else model_result.rows
        references = self._references(event, content)
        self._thread.add(event)
        messages: list[AnalysedMessage] = extract.content
        # If both resolve the same mention, that of the rules is used.
        resolved_mentions = self._mentions(event, content, [*added, *puts], messages, references)
        puts += added
        facts = [row for row in puts if isinstance(row, Fact)]
        index_of = {fact.id: index for index, fact in enumerate(facts)}
        return Extraction(
            id=content.source_id,
            facts=self._facts(event, facts, puts, messages),
            mentions=resolved_mentions,
            causes=[
                CausalPair(
                    cause=index_of[row.from_fact_id],
                    effect=index_of[row.to_fact_id],
                    strength=row.strength,
                )
                for row in puts
                if isinstance(row, CausalLink)
                and row.from_fact_id in index_of
                and row.to_fact_id in index_of
            ],
            writer=writer,
            model_usage=msgspec.UNSET if model_result is None else model_result.usage,
        )

    def _run_model(self, event: Event, puts: Sequence[AnyRow]) -> DryRunResult | None:
        """Return what the model adds to `puts`, the rows of the rules; None without a model."""
        if self._model is None:
            return None
        self._model.add_memories(event, puts)
        result = self._model.extract(event, self._thread, self._state(), self._identity.connection)
        if result is not None:
            self._project(result.rows)
            self._model.add_memories(event, result.rows)
        return result

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
        entities_of: dict[str, set[str]] = defaultdict(set)
        for row in puts:
            if isinstance(row, FactEntity):
                entities_of[row.fact_id].add(self._name(row.entity_id))
        statements = {
            fact_id(event.id, statement.signature, message.said_at): statement
            for message in messages
            for statement in message.analysis.statements
        }
        # A retracted statement becomes a former fact of the message that stated it.
        statements |= {
            fact_id(one.event.id, one.statement.signature, one.event.occurred_at): one.statement
            for message in messages
            for one in message.retractions
            if one.statement is not None
        }
        source_events = [event, *(one.event for message in messages for one in message.retractions)]
        source_ids = {
            each.id: each.payload.source_id
            for each in source_events
            if isinstance(each.payload, Content)
        }
        relations = Relations(self._memory.connection, self._identity.connection).outgoing(
            [fact.id for fact in facts]
        )
        listed = [
            ListedFact(
                id=fact.id,
                text=fact.text,
                as_of=format_time(fact.as_of),
                when=_days(
                    statements[fact.id].dates
                    if fact.id in statements
                    else _dates(fact.text, event, fact.as_of)
                )
                if "temporal" not in self._disabled_steps
                else None,
                subject=self._name(claim.subject) if claim else None,
                attribute=claim.attribute if claim else None,
                value=claim.value if claim else None,
                current=fact.id not in superseded,
                stability=stable.kind,
                entities=sorted(entities_of[fact.id]),
                source_event_ids=[source_ids[fact.source_event_id]],
                stability_confidence=stable.confidence,
                ttl_days=stable.ttl_days,
                relations=relations.get(fact.id, []),
            )
            for fact in facts
            for claim in (claims.get(fact.id),)
            for stable in (stability(fact.text, claim.attribute if claim else None),)
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
        annotation = next((each.annotation for each in messages if each.event.id == event.id), None)
        row_of_span = {
            (row.char_offset_start, row.char_offset_end): row
            for row in puts
            if isinstance(row, MentionRow) and row.char_offset_start >= 0
        }
        dates = date_references(
            content.content,
            at_ms=event.occurred_at,
            utc_offset_minutes=content.utc_offset,
            every=True,
        )
        shown = dates if "temporal" not in self._disabled_steps else []
        found = [
            Mention(
                text=date.text,
                start=date.start,
                end=date.end,
                type="DATE",
                entity=None,
                first=date.first,
                last=date.last,
            )
            for date in shown
        ]
        for mention in mentions(content.content, annotation):
            if any(mention.start < date.end and date.start < mention.end for date in dates):
                continue
            row = row_of_span.get((mention.start, mention.end))
            found.append(
                Mention(
                    text=mention.text,
                    start=mention.start,
                    end=mention.end,
                    type=mention.type if row is None else row.mention_type,
                    entity=None if row is None else self._name(row.entity_id),
                )
            )
        found = _with_references(found, content.content, references)
        return sorted(found, key=lambda mention: mention.start)

    def _references(self, event: Event, content: Content) -> list[Reference]:
        """Resolve references to people in an event: to those named or speaking before it."""
        before = [
            Heard(earlier.sender_name or earlier.sender_id, user_text(each))
            for each in self._thread.preceding(event, IN_MIND)
            if isinstance(earlier := each.payload, Content)
        ]
        speaker = content.sender_name or content.sender_id
        return who_is_meant(content.content, speaker, before)

    def _name(self, id_or_name: str) -> str:
        """Return the name of the entity of an id, after merges; return a name unchanged."""
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


def _days(dates: Sequence[DateReference]) -> DateRange | None:
    """Return the range from the first named day to the last; None without dates."""
    if not dates:
        return None
    return DateRange(first=min(date.first for date in dates), last=max(date.last for date in dates))


def _dates(text: str, event: Event, at_ms: int) -> list[DateReference]:
    """Return the dates in a fact that the model extracted from an event."""
    offset = message_of(event).utc_offset
    return date_references(text, at_ms=at_ms, utc_offset_minutes=offset, every=True)


def _with_references(
    found: Sequence[Mention], text: str, references: Sequence[Reference]
) -> list[Mention]:
    """Return mentions with the resolved references to people: pronouns, and names by context."""
    merged = list(found)
    for reference in references:
        start, end = reference.start, reference.end
        overlapping = [each for each in found if each.start < end and start < each.end]
        if not overlapping:
            merged.append(
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
            merged = [
                msgspec.structs.replace(each, entity=reference.who)
                if each in overlapping
                and each.type in ("PERSON", "OTHER")
                and (each.entity is None or reference.spoke)
                else each
                for each in merged
            ]
    return merged
