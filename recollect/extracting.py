"""Extracting: what the writer would decide from events, in order, in memory only."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Self

import msgspec

from projections.events import EventsModel
from projections.events.events_file import conversation_of
from projections.identity import IdentityModel
from projections.identity.entity_queries import canonical
from projections.memory import MemoryModel
from projections.text.dates import date_references
from projections.text.stability import stability
from schemas.changes import (
    MODEL_OF,
    AnyRow,
    CausalLink,
    Fact,
    FactClaim,
    FactEntity,
    FactSupersession,
    Section,
)
from schemas.changes import Mention as MentionRow
from schemas.events import Content, Deletion, Draft, Edit, Event, Message
from schemas.ids import event_id, fact_id, text_hash
from schemas.times import format_time
from schemas.wire import Cause, Days, Extraction, Mention
from schemas.wire import Fact as ListedFact
from streams.agents import State, Surroundings
from streams.agents.message_reading import Reading, own_words
from streams.agents.writer import RuleWriter
from streams.encoder.gateway import EncoderGateway, Readings
from streams.language.analysis import Statement
from streams.language.corrections import LOOKED_THROUGH
from streams.language.mentions import mentions
from streams.language.text_reading import TextReading
from streams.language.who_is_meant import IN_MIND, Heard, Reference, who_is_meant
from streams.reader.packed_reading import unpacked

# How many events of a conversation are kept: as many as anything looks through.
_KEPT = max(IN_MIND, LOOKED_THROUGH)


class Extractor:
    """Reads events in order, with earlier ones as context; nothing is stored."""

    def __init__(self, zone: str, gateway: EncoderGateway | None = None) -> None:
        """`gateway`: to the reader of a home; None, or one without a reader: rules alone."""
        self._zone = zone
        self._gateway = gateway
        self._writer = RuleWriter()
        self._thread = _Thread()
        self._events = EventsModel(None)
        self._memory = MemoryModel(None)
        self._identity = IdentityModel(None)
        self._number = 0

    def extract(self, draft: Draft) -> Extraction:
        """Return what the writer would decide from an event, as if its turn were over."""
        event = self._event(draft)
        content = event.payload
        assert isinstance(content, Content)
        if event.kind not in self._writer.kinds:
            self._thread.add(event)
            return Extraction(id=content.source_id, facts=[], mentions=[], causes=[])
        state = State(
            self._events.connection, self._memory.connection, self._identity.connection, None, 0
        )
        if self._gateway is not None:
            wanted = self._writer.to_read(event, self._thread)
            self._thread.readings = self._gateway.readings(wanted)
        extract = self._writer.extract(event, self._thread)
        puts = [row for part in self._writer.resolve(event, extract, state) for row in part.puts]
        for model in (self._memory, self._identity):
            rows = tuple(row for row in puts if MODEL_OF[type(row)] == model.name)
            model.project([Section((), rows)])
        references = self._references(event, content)
        self._thread.add(event)
        readings: list[Reading] = extract.content
        facts = [row for row in puts if isinstance(row, Fact)]
        places = {fact.id: place for place, fact in enumerate(facts)}
        return Extraction(
            id=content.source_id,
            facts=self._facts(event, facts, puts, readings),
            mentions=self._mentions(event, content, puts, readings, references),
            causes=[
                Cause(
                    cause=places[row.from_fact_id],
                    effect=places[row.to_fact_id],
                    strength=row.strength,
                )
                for row in puts
                if isinstance(row, CausalLink)
                and row.from_fact_id in places
                and row.to_fact_id in places
            ],
        )

    def _event(self, draft: Draft) -> Event:
        self._number += 1
        payload = draft.payload
        if isinstance(payload, Message) and payload.turn_id is not None:
            # A message of a turn waits for the turn's end, which may be in no file.
            payload = msgspec.structs.replace(payload, turn_id=None)
        return Event(
            zone=self._zone,
            number=self._number,
            id=event_id(self._zone, draft.platform, payload.source_id, draft.occurred_at),
            platform=draft.platform,
            occurred_at=draft.occurred_at,
            ingested_at=draft.ingested_at or draft.occurred_at,
            payload=payload,
        )

    def _facts(
        self, event: Event, facts: list[Fact], puts: list[AnyRow], readings: Sequence[Reading]
    ) -> list[ListedFact]:
        claims = {row.fact_id: row for row in puts if isinstance(row, FactClaim)}
        over = {row.fact_id for row in puts if isinstance(row, FactSupersession)}
        about: dict[str, set[str]] = defaultdict(set)
        for row in puts:
            if isinstance(row, FactEntity):
                about[row.fact_id].add(self._name(row.entity_id))
        said = {
            fact_id(event.id, statement.signature, reading.said_at): statement
            for reading in readings
            for statement in reading.analysis.statements
        }
        # What a correction takes back is told as what was so before: of the message that said it.
        said |= {
            fact_id(one.event.id, one.statement.signature, one.event.occurred_at): one.statement
            for reading in readings
            for one in reading.corrects
            if one.statement is not None
        }
        told = [event, *(one.event for reading in readings for one in reading.corrects)]
        sources = {
            each.id: each.payload.source_id for each in told if isinstance(each.payload, Content)
        }
        return [
            ListedFact(
                id=fact.id,
                text=fact.text,
                as_of=format_time(fact.as_of),
                when=_days(said[fact.id]),
                subject=self._name(claim.subject) if claim else None,
                attribute=claim.attribute if claim else None,
                value=claim.value if claim else None,
                current=fact.id not in over,
                stability=holds.kind,
                entities=sorted(about[fact.id]),
                source_event_ids=[sources[fact.source_event_id]],
                stability_confidence=holds.confidence,
                ttl_days=holds.ttl_days,
            )
            for fact in facts
            for claim in (claims.get(fact.id),)
            for holds in (stability(fact.text, claim.attribute if claim else None),)
        ]

    def _mentions(
        self,
        event: Event,
        content: Content,
        puts: list[AnyRow],
        readings: Sequence[Reading],
        references: Sequence[Reference],
    ) -> list[Mention]:
        read = next((each.read for each in readings if each.event.id == event.id), None)
        meant = {
            (row.char_offset_start, row.char_offset_end): self._name(row.entity_id)
            for row in puts
            if isinstance(row, MentionRow) and row.char_offset_start >= 0
        }
        dates = date_references(
            content.content,
            at_ms=event.occurred_at,
            utc_offset_minutes=content.utc_offset,
            every=True,
        )
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
            for date in dates
        ]
        for mention in mentions(content.content, read):
            if any(mention.start < date.end and date.start < mention.end for date in dates):
                continue
            found.append(
                Mention(
                    text=mention.text,
                    start=mention.start,
                    end=mention.end,
                    type=mention.type,
                    entity=meant.get((mention.start, mention.end)),
                )
            )
        found = _with_references(found, content.content, references)
        return sorted(found, key=lambda mention: mention.start)

    def _references(self, event: Event, content: Content) -> list[Reference]:
        """Return who is meant in an event, of those who were named or spoke before it."""
        before = [
            Heard(said.sender_name or said.sender_id, own_words(said))
            for each in self._thread.before(event, IN_MIND)
            if isinstance(said := each.payload, Content)
        ]
        speaker = content.sender_name or content.sender_id
        return who_is_meant(content.content, speaker, before)

    def _name(self, id_or_name: str) -> str:
        """Return the name of the entity at the end of an id's merges; any other text is a name."""
        entity = canonical(self._identity.connection, id_or_name)
        return id_or_name if entity is None else entity.name

    def close(self) -> None:
        """Forget everything."""
        for model in (self._events, self._memory, self._identity):
            model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _days(statement: Statement) -> Days | None:
    """Return the days that a statement names, from the first to the last; None if it names none."""
    if not statement.dates:
        return None
    return Days(
        first=min(date.first for date in statement.dates),
        last=max(date.last for date in statement.dates),
    )


def _with_references(
    found: Sequence[Mention], text: str, references: Sequence[Reference]
) -> list[Mention]:
    """Return mentions with those of persons whom a pronoun or the conversation tells."""
    made = list(found)
    for reference in references:
        start, end = reference.start, reference.end
        over = [each for each in found if each.start < end and start < each.end]
        if not over:
            made.append(
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
            made = [
                msgspec.structs.replace(each, entity=reference.who)
                if each in over
                and each.type in ("PERSON", "OTHER")
                and (each.entity is None or reference.spoke)
                else each
                for each in made
            ]
    return made


class _Thread(Surroundings):
    """The surroundings of an event: the events that were read before it."""

    def __init__(self) -> None:
        self._said: dict[str, deque[Event]] = defaultdict(lambda: deque(maxlen=_KEPT))
        self._versions: dict[tuple[str, str], list[Event]] = defaultdict(list)
        #: What was read in the texts of the event at hand.
        self.readings: Readings = {}

    def add(self, event: Event) -> None:
        if not isinstance(event.payload, Deletion):
            self._said[_conversation(event)].append(event)
        self._versions[_message(event)].append(event)

    def before(self, event: Event, limit: int) -> Sequence[Event]:
        return list(reversed(self._said[_conversation(event)]))[:limit]

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return ()

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        return self._versions[_message(event)]

    def reading(self, text: str) -> TextReading | None:
        content = self.readings.get(text_hash(text))
        return None if content is None else unpacked(text, content)


def _message(event: Event) -> tuple[str, str]:
    """Return the platform and the id of the message that an event is, or is a version of."""
    payload = event.payload
    if isinstance(payload, Edit | Deletion):
        return event.platform, payload.target
    return event.platform, payload.source_id


def _conversation(event: Event) -> str:
    assert isinstance(event.payload, Content)
    return conversation_of(event.payload, event.platform)
