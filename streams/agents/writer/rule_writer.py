"""The writer that needs no model: sentences become facts, names become entities (A3 to A7, A21)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from recollect.schemas.changes import (
    DecidedPart,
    Turn,
)
from recollect.schemas.events import CloseTurn, Content, Deletion, Event, TurnCompleted, message_of
from recollect.schemas.ids import turn_row_id
from recollect.streams.agents.agent import Conversation, Extract, ReadingAgent, ToRead
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import State
from recollect.streams.agents.vectors import turn_rows
from recollect.streams.agents.writer.decided_so_far import DecidedSoFar
from recollect.streams.agents.writer.message_decision import MessageDecision, ends_of_deleted
from recollect.streams.agents.writer.message_reading import (
    Reading,
    event_text,
    named_before,
    own_words,
    read_message,
)
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.enrichment import ALL, STEPS, Without


class RuleWriter(ReadingAgent):
    """Reads messages and their edits, finished turns and requests to remember something.

    Of a message with several versions the newest counts, in whatever order they come; of one that
    was deleted none does.
    """

    kinds = frozenset({"message", "turn_completed", "close_turn", "remember", "edit", "deletion"})
    steps = frozenset(STEPS)

    def __init__(self, without: Without = ALL) -> None:
        """`without`: the steps that are left out."""
        self._without = without

    def to_read(self, event: Event, conversation: Conversation) -> list[ToRead]:
        said = [event] if isinstance(event.payload, Content) else []
        if ended := _ended(event):
            said += conversation.turn(event, *ended)
        texts: dict[int, str] = {}
        for one in said:
            if isinstance(one.payload, Content):
                texts[one.number] = own_words(one.payload)
                for before in named_before(texts[one.number], one, conversation):
                    texts.setdefault(before.number, own_words(message_of(before)))
        return [ToRead(number, text) for number, text in texts.items() if text.strip()]

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = event.payload
        readings = []
        if isinstance(content, Content):
            readings.append(self._read(event, conversation, event.number))
        if ended := _ended(event):
            said = conversation.turn(event, *ended)
            turn = [self._read(one, conversation, event.number) for one in said]
            readings = [*turn, *readings]
        reads = {reading.event.number for reading in readings} - {event.number}
        reads |= {number for reading in readings for number in reading.rests_on}
        reads |= {one.event.number for reading in readings for one in reading.retractions}
        turn_text = event_text(content) if isinstance(content, Content) else ""
        return Extract(
            content=readings,
            reads=tuple(sorted(reads)),
            texts=tuple(
                statement.sentence
                for reading in readings
                for statement in (*reading.analysis.statements, *_former(reading))
                if statement.sentence
            ),
            turns=(turn_text,) if turn_text else (),
        )

    def _read(self, event: Event, conversation: Conversation, below: int) -> Reading:
        reading = read_message(event, conversation, below, self._without)
        if "entities" in self._without:
            reading = msgspec.structs.replace(reading, unnamed=True)
        if "evolution" in self._without:
            reading = msgspec.structs.replace(reading, unrelated=True)
        return reading

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        content = event.payload
        own = DecidedPart((event.number,))
        if isinstance(content, Content) and (text := event_text(content)):
            own.puts += turn_rows(state, event.ingested_at, event.id, text)
        readings: list[Reading] = extract.content
        if isinstance(content, Deletion):
            own.puts += ends_of_deleted(readings[0], state)
            return [own]
        if ended := _ended(event):
            turn = turn_row_id(*ended)
            if isinstance(content, CloseTurn) and state.is_completed(turn):
                return []
            own.puts.append(Turn(turn, *ended, event.id, event.occurred_at))
        elif (
            isinstance(content, Content)
            and content.turn_id
            and not state.is_completed(turn_row_id(event.platform, content.turn_id))
        ):
            # Whoever wrote is known at once; what he wrote is understood when the turn ends.
            resolver = EntityResolver(state, event)
            resolver.sender(event, content)
            own.puts += resolver.rows
            return [own]
        resolver = EntityResolver(state, event)
        new = DecidedSoFar()
        parts = [own]
        for reading in readings:
            if not state.is_processed(reading.event.id):
                parts += MessageDecision(reading, event, state, resolver, new).parts()
        return parts


def _ended(event: Event) -> tuple[str, str] | None:
    """Return the turn that an event ends: its platform, and the platform's own id of it."""
    payload = event.payload
    if isinstance(payload, CloseTurn):
        return payload.platform, payload.turn_id
    if isinstance(payload, TurnCompleted) and payload.turn_id is not None:
        return event.platform, payload.turn_id
    return None


def _former(reading: Reading) -> Iterable[Statement]:
    return (one.statement for one in reading.retractions if one.statement is not None)
