"""The tool loop: a model reads one event and calls tools until it is done."""

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
from recollect.streams.agents.writer.message_analysis import resolve_version, user_text
from recollect.streams.agents.writer.model.model_writer import evidence_of
from recollect.streams.agents.writer.model.proposals import (
    CURRENT_RULES,
    RECALL,
    Proposals,
    Proposed,
)
from recollect.streams.agents.writer.model.proposed_slots import earlier_messages
from recollect.streams.agents.writer.model.refusals import Refused
from recollect.streams.models.chat import ChatRequest
from recollect.streams.records.recorded_answers import OpenedRecording
from recollect.streams.writing.writer_prompt import WriterPrompt, escape_frame, first_messages
from recollect.streams.writing.writer_tools import TOOLS

#: The maximum number of events whose text is shown to the model for one message.
_MAX_SOURCES = 100
#: Repair attempts after rejected tool calls.
_MAX_REPAIRS = 1


class RecalledMemory(NamedTuple):
    """A memory found for the model, and the numbers of the events that it quotes."""

    shown: Mapping[str, Any]
    numbers: frozenset[int]


class MemoryLookup(Protocol):
    """Read access of the tools to a zone."""

    def recall(self, query: str, parameters: Mapping[str, Any]) -> Sequence[RecalledMemory]:
        """Return memories, best first; raise ValueError for invalid parameters."""
        ...

    def knows_entity(self, entity_id: str) -> bool:
        """Return whether there is an entity with this id."""
        ...

    def knows_fact(self, fact_id: str) -> bool:
        """Return whether there is a fact with this id."""
        ...


class AnswerSource(Protocol):
    """A source of model answers."""

    def ask(
        self, request: ChatRequest, numbers: frozenset[int], prompt_version: str
    ) -> tuple[OpenedRecording, RecordingRef]:
        """Return the answer to a request that quotes these events, and the answer's reference.

        Raises:
            ModelUnavailable: no model answered.
        """
        ...


class WriteResult(NamedTuple):
    """The command that records a model's answers about an event, and the last answer's time.

    `proposed`: the valid proposals in them, before they are decided.
    """

    command: ModelAnswered
    asked_at: int
    proposed: Proposed


class WriteTask(NamedTuple):
    """An event to write about, its time (unix ms), and the preceding events, oldest first."""

    event: Event
    said_at: int
    thread: tuple[Event, ...]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the event and of the preceding events."""
        return frozenset({self.event.number, *(one.number for one in self.thread)})


def has_text(event: Event) -> bool:
    """Return whether an event has a user's text for a model to read."""
    content = event.payload
    return isinstance(content, Message | TurnCompleted | Edit) and bool(user_text(event).strip())


def write_task_for(
    event: Event, conversation: Conversation, below: int, context: int
) -> WriteTask | None:
    """Return the task for an event, with up to `context` preceding events.

    Versions recorded at or after the record number `below` are ignored. None if the event has no
    text or was replaced by another version.
    """
    if not has_text(event):
        return None
    said_at, _, is_current = resolve_version(event, conversation.revisions(event, below))
    if not is_current:
        return None
    preceding = conversation.preceding(event, context)
    return WriteTask(event, said_at, tuple(reversed(preceding)))


def first_request(prompt: WriterPrompt, task: WriteTask) -> ChatRequest:
    """Return the first request about an event."""
    return ChatRequest(tuple(first_messages(prompt, task.event, task.thread)), TOOLS)


def write_event(
    task: WriteTask,
    prompt: WriterPrompt,
    answers: AnswerSource,
    memory: MemoryLookup,
    rounds: int,
) -> WriteResult:
    """Run the tool loop for an event; return a command that refers to the recorded answers.

    Tool calls are checked here only to report errors to the model. What becomes memory is decided
    later, from the recordings.

    Raises:
        ErasedDuringCall: an event that was shown to the model has been erased.
        ModelUnavailable: no model answered; earlier answers are recorded and will be reused.
    """
    evidence = evidence_of(task.event, task.said_at, task.thread)
    proposals = Proposals(
        task.event.id,
        evidence,
        CURRENT_RULES,
        earlier_messages(task.event, task.thread),
        memory.knows_entity,
        memory.knows_fact,
    )
    messages = list(first_request(prompt, task).messages)
    shown = set(task.numbers)
    refs: list[RecordingRef] = []
    refusals = 0
    for _ in range(rounds):
        request = ChatRequest(tuple(messages), TOOLS)
        (header, answer), ref = answers.ask(request, frozenset(shown), prompt.version)
        refs.append(ref)
        if not answer.calls:
            break
        messages.append(_assistant_message(answer))
        refused = False
        for call in answer.calls:
            result = _run(call.name, call.arguments, proposals, memory, shown)
            refused = refused or "error" in result
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": escape_frame(result)}
            )
        refusals += refused
        if refusals > _MAX_REPAIRS:
            break
    command = ModelAnswered(
        source_id="model_wrote:" + derive_ulid(0, *(ref.hash.hex() for ref in refs)),
        about=task.event.number,
        answers=tuple(refs),
        thread=tuple(one.number for one in task.thread),
        sources=tuple(sorted(shown)),
        model=header.model,
        role=prompt.version,
        rules=CURRENT_RULES,
    )
    return WriteResult(command, header.asked_at, proposals.all())


def _assistant_message(answer: RecordedAnswer) -> dict[str, Any]:
    # Always send the text, even if it is empty: along with tool calls, some services reject a null
    # content, and others a missing one.
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
    name: str, arguments: str, proposals: Proposals, memory: MemoryLookup, shown: set[int]
) -> dict[str, Any]:
    """Return a tool's result; add the events that it quotes to `shown`."""
    if name != RECALL:
        try:
            return proposals.accept(name, arguments)
        except Refused as refused:
            return {"error": str(refused)}
    try:
        decoded = msgspec.json.decode(arguments)
        query, parameters = decoded["query"], decoded.get("params") or {}
        # Some models pass the parameters next to the query.
        top_level = {name: decoded[name] for name in decoded if name not in ("query", "params")}
        parameters = {**top_level, **parameters}
        memories = memory.recall(str(query), parameters)
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, AttributeError):
        return {"error": "recall takes a query, and params"}
    except ValueError as error:
        return {"error": str(error)}
    results = []
    for recalled in memories:
        if len(shown | recalled.numbers) > _MAX_SOURCES:
            break
        shown |= recalled.numbers
        results.append(dict(recalled.shown))
    return {"results": results}
