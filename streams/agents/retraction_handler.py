"""Agent that handles retractions of facts, and their restoration."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import msgspec

from recollect.schemas.changes import DecidedPart, MemoryRetraction, RetractedFact
from recollect.schemas.events import Content, Edit, Event, Remember, Retract
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.retracted_statements import (
    covering,
    retracted_fact,
    retracted_statement,
)

RetractionRow = TypeVar("RetractionRow", MemoryRetraction, RetractedFact)


class StatingEvent(NamedTuple):
    """An event that states a memory in text[start:end]; `names` are its sender's.

    `at`: when it happened (unix ms). `replaces`: it may replace other versions of its text.
    """

    id: str
    at: int
    start: int
    end: int
    text: str
    names: tuple[str, ...]
    replaces: bool


class RetractionHandler(Agent):
    """On a command, retracts every fact that says the same as the memory that the command names.

    Rows hold ids and offsets, never words. Facts that are derived later from the same events are
    retracted by the agent that writes them (`retracted_statements`).
    """

    kinds = frozenset({"retract"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        command = event.payload
        assert isinstance(command, Retract)
        statements: list[StatingEvent] = []
        sources: list[int] = []
        for number, start, end in ((at.number, at.start, at.end) for at in command.stated_at):
            stating = conversation.event(number) if number < event.number else None
            if stating is not None and isinstance(content := stating.payload, Content):
                names = (content.sender_id, content.sender_name or "")
                said = (stating.id, stating.occurred_at, start, end, content.content)
                replaces = isinstance(content, Edit | Remember)
                statements.append(StatingEvent(*said, names, replaces))
                sources.append(number)
        return Extract(content=statements, sources=tuple(sorted(sources)))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        command = event.payload
        assert isinstance(command, Retract)
        part = DecidedPart((event.number,))
        if command.restore:
            part.puts += map(_restored, state.retractions_of(command.target))
            part.puts += map(_restored, state.facts_covered(command.target))
            return [part]
        stating: list[StatingEvent] = extract.content
        by = command.replaced_by or event.id
        newer = [] if command.replaced_by is None else state.current_facts(command.replaced_by)
        replaced_at = None if command.replaced_by is None else event.occurred_at
        rows = []
        for statement in stating:
            start, end = _with_directives(statement, state)
            rows.append(
                MemoryRetraction(
                    target_id=command.target,
                    event_id=statement.id,
                    char_start=start,
                    char_end=end,
                    retracted_by=by,
                    replaced_at=replaced_at,
                    is_standing=1,
                )
            )
        part.puts += rows
        for statement, row in zip(stating, rows, strict=True):
            if (
                statement.id == command.target
                and command.replaced_by is None
                and not statement.replaces
            ):
                # What the event ended without a fact of its own is valid again, unless those were
                # the facts of a former version.
                part.puts.append(retracted_fact(statement.id, statement.at, row))
            texts = {statement.id: statement.text}
            part.puts += [
                retracted_fact(fact_id, as_of, cover, next(iter(newer), by))
                for fact_id, text, as_of in state.dated_facts_of(statement.id)
                for cover in covering(fact_id, text, [row], texts, statement.names)
            ]
        return [part]


def _with_directives(statement: StatingEvent, state: State) -> tuple[int, int]:
    """Return the span of a retracted statement, extended over the directives that say the same."""
    start, end = statement.start, statement.end
    retracted = retracted_statement(statement.text, start, end, statement.names)
    for directive in state.directives_of([statement.id]):
        if retracted.is_said_by(directive.text):
            start, end = min(start, directive.char_start), max(end, directive.char_end)
    return start, end


def _restored(row: RetractionRow) -> RetractionRow:
    return msgspec.structs.replace(row, is_standing=0)
