"""The loop: a model reads one event, calls tools, and is answered, until it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from recollect.schemas.events import (
    Edit,
    Event,
    Message,
    ModelAnswered,
    RecordingRef,
    TurnCompleted,
)
from recollect.schemas.ids import derive_ulid
from recollect.schemas.ledger.recordings import RecordedAnswer
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.writer.message_reading import among_versions, own_words
from recollect.streams.agents.writer.model_writer import said_of
from recollect.streams.agents.writer.proposals import RECALL, Proposals, Refused
from recollect.streams.models.chat import ChatQuestion
from recollect.streams.records.recorded_answers import OpenedRecording
from recollect.streams.writing.role_prompt import Role, as_data, first_messages
from recollect.streams.writing.writer_tools import TOOLS

#: A model is shown the words of no more events than this for one message.
_MAX_SOURCES = 100
#: How often it may mend what was refused.
_MAX_REPAIRS = 1


class Recalled(NamedTuple):
    """A memory that the model's recall found, and the events whose words it repeats."""

    shown: Mapping[str, Any]
    numbers: frozenset[int]


class Memory(Protocol):
    """What the tools of the loop may ask of a zone; nothing in it writes."""

    def recall(self, query: str, parameters: Mapping[str, Any]) -> Sequence[Recalled]:
        """Return memories, best first; ValueError says what is wrong with the question."""
        ...

    def knows_entity(self, entity_id: str) -> bool:
        """Whether there is an entity with this id."""
        ...

    def knows_fact(self, fact_id: str) -> bool:
        """Whether there is a fact with this id."""
        ...


class Answers(Protocol):
    """Who gives a model's answers."""

    def ask(
        self, question: ChatQuestion, numbers: frozenset[int], role: str
    ) -> tuple[OpenedRecording, RecordingRef]:
        """Return the answer to a question that rests on the words of these events, and its place.

        Raises:
            DoorClosed: nobody answered.
        """
        ...


class Wrote(NamedTuple):
    """What a model wrote of an event: the command that says so, and when it was asked last."""

    command: ModelAnswered
    asked_at: int


class ToWrite(NamedTuple):
    """An event to write about: when it was said (unix ms), and the events before it, in order."""

    event: Event
    said_at: int
    thread: tuple[Event, ...]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of all of them."""
        return frozenset({self.event.number, *(one.number for one in self.thread)})


def has_words(event: Event) -> bool:
    """Whether somebody says something in an event that a model may read; an assistant does not."""
    content = event.payload
    return isinstance(content, Message | TurnCompleted | Edit) and bool(own_words(content).strip())


def to_write(event: Event, conversation: Conversation, below: int, context: int) -> ToWrite | None:
    """Return an event with up to `context` events before it, as it stands below a record's number.

    None where there is nothing to write about: it has no words, or another version took its place.
    """
    if not has_words(event):
        return None
    said_at, _, stands = among_versions(event, conversation.revisions(event, below))
    if not stands:
        return None
    before = conversation.before(event, context)
    return ToWrite(event, said_at, tuple(reversed(before)))


def first_question(role: Role, about: ToWrite) -> ChatQuestion:
    """Return what is asked first about an event."""
    return ChatQuestion(tuple(first_messages(role, about.event, about.thread)), TOOLS)


def write_about(
    about: ToWrite,
    role: Role,
    answers: Answers,
    memory: Memory,
    rounds: int,
) -> Wrote:
    """Let a model write about an event; return the command that says where its answers are.

    What it says is checked here only to tell it what was refused. What counts is decided from the
    recordings.

    Raises:
        ErasedMeanwhile: an event that it was shown was erased.
        DoorClosed: nobody answered; nothing is lost, and what was answered is recorded.
    """
    said = said_of(about.event, about.said_at, about.thread)
    proposals = Proposals(about.event.id, said, memory.knows_entity, memory.knows_fact)
    messages = list(first_question(role, about).messages)
    shown = set(about.numbers)
    places: list[RecordingRef] = []
    refusals = 0
    for _ in range(rounds):
        question = ChatQuestion(tuple(messages), TOOLS)
        (header, answer), place = answers.ask(question, frozenset(shown), role.version)
        places.append(place)
        if not answer.calls:
            break
        messages.append(_as_said(answer))
        refused = False
        for call in answer.calls:
            result = _run(call.name, call.arguments, proposals, memory, shown)
            refused = refused or "error" in result
            messages.append({"role": "tool", "tool_call_id": call.id, "content": as_data(result)})
        refusals += refused
        if refusals > _MAX_REPAIRS:
            break
    command = ModelAnswered(
        source_id="model_wrote:" + derive_ulid(0, *(place.hash.hex() for place in places)),
        about=about.event.number,
        answers=tuple(places),
        thread=tuple(one.number for one in about.thread),
        sources=tuple(sorted(shown)),
        model=header.model,
        role=role.version,
    )
    return Wrote(command, header.asked_at)


def _as_said(answer: RecordedAnswer) -> dict[str, Any]:
    # Beside calls some services refuse a content of null, and some one that is missing.
    return {
        "role": "assistant",
        "content": answer.text,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answer.calls
        ],
    }


def _run(
    name: str, arguments: str, proposals: Proposals, memory: Memory, shown: set[int]
) -> dict[str, Any]:
    """Return what a tool answers; `shown` grows by the events whose words that repeats."""
    if name != RECALL:
        try:
            return proposals.take(name, arguments)
        except Refused as refused:
            return {"error": str(refused)}
    try:
        given = msgspec.json.decode(arguments)
        query, parameters = given["query"], given.get("params") or {}
        # Some give the parameters beside the question.
        beside = {name: given[name] for name in given if name not in ("query", "params")}
        parameters = {**beside, **parameters}
        found = memory.recall(str(query), parameters)
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, AttributeError):
        return {"error": "recall takes a query, and params"}
    except ValueError as error:
        return {"error": str(error)}
    results = []
    for each in found:
        if len(shown | each.numbers) > _MAX_SOURCES:
            break
        shown |= each.numbers
        results.append(dict(each.shown))
    return {"results": results}
