"""The rule-based writer: extracts facts from sentences and entities from names (A3 to A7, A21)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from recollect.schemas.changes import (
    DecidedPart,
    Turn,
)
from recollect.schemas.events import CloseTurn, Content, Deletion, Event, TurnCompleted
from recollect.schemas.ids import turn_row_id
from recollect.streams.agents.agent import AnnotatingAgent, Conversation, Extract, TextToAnnotate
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import State
from recollect.streams.agents.vectors import turn_rows
from recollect.streams.agents.writer.message_analysis import (
    AnalysedMessage,
    analyse_message,
    antecedent_events,
    indexed_text,
    user_text,
)
from recollect.streams.agents.writer.message_decision import MessageDecision, end_deleted
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.enrichment import ALL, STEPS, Without


class RuleWriter(AnnotatingAgent):
    """Extracts facts from messages, edits, completed turns and requests to remember something.

    Only the newest version of a message counts, in whatever order they arrive; none counts if the
    message was deleted.
    """

    kinds = frozenset({"message", "turn_completed", "close_turn", "remember", "edit", "deletion"})
    steps = frozenset(STEPS)

    def __init__(self, without: Without = ALL) -> None:
        """`without`: the disabled steps."""
        self._without = without

    def texts_to_annotate(self, event: Event, conversation: Conversation) -> list[TextToAnnotate]:
        messages = [event] if isinstance(event.payload, Content) else []
        if turn := _completed_turn(event):
            messages += conversation.turn(event, *turn)
        texts: dict[int, str] = {}
        for one in messages:
            if isinstance(one.payload, Content):
                texts[one.number] = user_text(one)
                for before in antecedent_events(texts[one.number], one, conversation):
                    texts.setdefault(before.number, user_text(before))
        return [TextToAnnotate(number, text) for number, text in texts.items() if text.strip()]

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = event.payload
        messages = []
        if isinstance(content, Content):
            messages.append(self._analyse(event, conversation, event.number))
        if turn := _completed_turn(event):
            events = conversation.turn(event, *turn)
            of_turn = [self._analyse(one, conversation, event.number) for one in events]
            messages = [*of_turn, *messages]
        sources = {message.event.number for message in messages} - {event.number}
        sources |= {number for message in messages for number in message.source_numbers}
        sources |= {one.event.number for message in messages for one in message.retractions}
        retracted = (
            retraction for message in messages for retraction in _retracted_statements(message)
        )
        sources |= {number for retraction in retracted for number in retraction.told_with}
        sources |= {number for message in messages for number in message.date_sources}
        sources |= {number for message in messages for number, _ in message.versions.values()}
        turn_text = indexed_text(content) if isinstance(content, Content) else ""
        return Extract(
            content=messages,
            sources=tuple(sorted(sources)),
            texts=tuple(
                statement.sentence
                for message in messages
                for statement in (*message.analysis.statements, *_retracted_statements(message))
                if statement.sentence
            ),
            token_texts=(turn_text,) if turn_text else (),
        )

    def _analyse(self, event: Event, conversation: Conversation, below: int) -> AnalysedMessage:
        message = analyse_message(event, conversation, below, self._without)
        if "entities" in self._without:
            message = msgspec.structs.replace(message, skip_mentions=True)
        if "temporal" in self._without:
            message = msgspec.structs.replace(message, skip_dates=True)
        if "evolution" in self._without:
            message = msgspec.structs.replace(message, skip_relations=True)
        return message

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        content = event.payload
        own = DecidedPart((event.number,))
        if isinstance(content, Content) and (text := indexed_text(content)):
            own.puts += turn_rows(state, event.ingested_at, event.id, text)
        messages: list[AnalysedMessage] = extract.content
        resolver = EntityResolver(state, event)
        if isinstance(content, Deletion):
            own.puts += end_deleted(messages[0], resolver, state)
            return [own]
        if turn := _completed_turn(event):
            row_id = turn_row_id(*turn)
            if isinstance(content, CloseTurn) and state.is_completed(row_id):
                return []
            own.puts.append(Turn(row_id, *turn, event.id, event.occurred_at))
        elif (
            isinstance(content, Content)
            and content.turn_id
            and not state.is_completed(turn_row_id(event.platform, content.turn_id))
        ):
            # The sender becomes an entity at once; facts are extracted when the turn ends.
            resolver.resolve_sender(event, content)
            own.puts += resolver.rows
            return [own]
        pending = PendingRows()
        parts = [own]
        for message in messages:
            if not state.is_processed(message.event.id):
                parts += MessageDecision(message, event, state, resolver, pending).parts()
        return parts


def _completed_turn(event: Event) -> tuple[str, str] | None:
    """Return the (platform, turn id) of the turn that an event completes, or None."""
    payload = event.payload
    if isinstance(payload, CloseTurn):
        return payload.platform, payload.turn_id
    if isinstance(payload, TurnCompleted) and payload.turn_id is not None:
        return event.platform, payload.turn_id
    return None


def _retracted_statements(message: AnalysedMessage) -> Iterable[Statement]:
    return (one.statement for one in message.retractions if one.statement is not None)
