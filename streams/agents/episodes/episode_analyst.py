"""The agent that analyses episodes: a run for each type, and a facet for each result (A10)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import AnalysisRun, AnalysisType, AnyRow, DecidedPart, Facet
from recollect.schemas.events import Analyse, Content, Event, OwnAnalysis, message_of
from recollect.schemas.ids import row_id, time_of
from recollect.schemas.names import normalise_name
from recollect.schemas.senders import is_from_assistant
from recollect.streams.agents.agent import AnnotatingAgent, Conversation, Extract, TextToAnnotate
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.message_analysis import resolve_version
from recollect.streams.analyses.analysis_types import (
    AnalysisBlocked,
    AnalysisFailed,
    AnalysisResult,
    FoundFacet,
    analyse,
)
from recollect.streams.analyses.utterances import Utterance

_json = msgspec.json.Encoder()


class _Outcome(NamedTuple):
    """The outcome of one analysis; `result` is None if it could not run."""

    type_id: str
    own: OwnAnalysis | None
    result: AnalysisResult | None
    error: str | None = None
    blocked: str | None = None


class _Outcomes(NamedTuple):
    """The outcomes of a command, and number -> id of the events that it read."""

    outcomes: tuple[_Outcome, ...]
    event_ids: dict[int, str]


class EpisodeAnalyst(AnnotatingAgent):
    """Runs the analyses that a command names over the events of an episode.

    A command that does not name every event of the episode has no effect: the episode has grown
    since, and the next command will name all events. Neither has one for a completed analysis, or
    from a model about messages that were edited or erased since.
    """

    kinds = frozenset({"analyse"})

    def texts_to_annotate(
        self, event: Event, conversation: Conversation
    ) -> Sequence[TextToAnnotate]:
        assert isinstance(event.payload, Analyse)
        if event.payload.role is not None:
            return []
        return [
            TextToAnnotate(message.number, message_of(message).content)
            for message in _messages(event.payload.events, conversation, event.number)
        ]

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        payload = event.payload
        assert isinstance(payload, Analyse)
        messages = _messages(payload.events, conversation, event.number)
        utterances = [_utterance(message) for message in messages]
        calls = conversation.command_calls(payload) if payload.answers else None
        shown = tuple(utterance.number for utterance in utterances)
        if payload.role is not None and payload.sources != shown:
            return Extract(_Outcomes((), {}))
        if payload.answers and calls is None:
            return Extract(_Outcomes((), {}))
        readings = {
            utterance.number: reading
            for utterance in utterances
            if (reading := conversation.annotation(utterance.text)) is not None
        }
        own = {analysis.id: analysis for analysis in payload.own}
        outcomes: list[_Outcome] = []
        for type_id in payload.types:
            definition = own.get(type_id)
            try:
                if payload.error is not None:
                    raise AnalysisFailed(payload.error)
                result = analyse(type_id, definition, utterances, readings, calls and calls.calls)
                outcomes.append(_Outcome(type_id, definition, result))
            except AnalysisBlocked as error:
                outcomes.append(_Outcome(type_id, definition, None, blocked=str(error)))
            except AnalysisFailed as error:
                outcomes.append(_Outcome(type_id, definition, None, error=str(error)))
            except re.error as error:
                message = f"a pattern is no regular expression: {error}"
                outcomes.append(_Outcome(type_id, definition, None, error=message))
        event_ids = {message.number: message.id for message in messages}
        return Extract(_Outcomes(tuple(outcomes), event_ids))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        payload, results = event.payload, extract.content
        assert isinstance(payload, Analyse)
        assert isinstance(results, _Outcomes)
        members = state.episode_numbers(payload.episode_id)
        if not members or not members <= set(payload.events):
            return []
        rows: dict[tuple[int, ...], list[AnyRow]] = defaultdict(list)
        for outcome in results.outcomes:
            for numbers, row in _rows(event, payload.episode_id, outcome, results.event_ids, state):
                rows[tuple(sorted({event.number, *numbers}))].append(row)
        return [DecidedPart(sources, puts=puts) for sources, puts in rows.items()]


def utterances_of(
    numbers: Sequence[int], conversation: Conversation, below: int
) -> list[Utterance]:
    """Return the messages with these numbers as an analysis sees them, in order of time.

    Versions at or after the record number `below` are ignored.
    """
    return [_utterance(message) for message in _messages(numbers, conversation, below)]


def _messages(numbers: Sequence[int], conversation: Conversation, below: int) -> list[Event]:
    """Return the messages of an episode, without those that were edited or deleted."""
    events = [conversation.event(number) for number in numbers]
    return sorted(
        (
            message
            for message in events
            if message is not None
            and isinstance(message.payload, Content)
            and message.payload.content
            and resolve_version(message, conversation.revisions(message, below))[2]
        ),
        key=lambda message: (message.occurred_at, message.number),
    )


def _utterance(message: Event) -> Utterance:
    content = message_of(message)
    return Utterance(
        message.number,
        message.occurred_at,
        content.sender_name or content.sender_id,
        content.content,
        content.utc_offset,
        is_from_assistant(message),
    )


def _rows(
    event: Event, episode_id: str, outcome: _Outcome, event_ids: dict[int, str], state: State
) -> list[tuple[tuple[int, ...], AnyRow]]:
    """Return the rows of a run, each with the numbers of the messages that it quotes."""
    run_id = analysis_run_id(outcome.type_id, episode_id)
    before = state.analysis_run(run_id)
    if before is not None and before.status == "completed":
        return []
    now, result = event.occurred_at, outcome.result
    parent = state.episode_parent(episode_id)
    parent_run = None if parent is None else analysis_run_id(outcome.type_id, parent)
    if parent_run is not None and state.analysis_run(parent_run) is None:
        parent_run = None
    status = "completed" if result else "blocked" if outcome.blocked else "failed"
    run = AnalysisRun(
        id=run_id,
        analysis_type_id=outcome.type_id,
        episode_id=episode_id,
        parent_id=parent_run,
        status=status,
        started_at=now,
        completed_at=now if result else None,
        output_text=None if result is None else result.output or None,
        error_message=outcome.error,
        blocked_reason=outcome.blocked,
        retry_count=0 if before is None else before.retry_count + 1,
        created_at=now,
    )
    rows: list[tuple[tuple[int, ...], AnyRow]] = []
    if outcome.own is not None:
        rows.append(((), _type_row(outcome.own)))
    rows.append((() if result is None else result.sources, run))
    for facet in () if result is None else result.facets:
        numbers = tuple({facet.number, *facet.seen})
        rows.append((numbers, _facet_row(run, facet, event_ids[facet.number], state)))
    return rows


def analysis_run_id(type_id: str, episode_id: str) -> str:
    """Return the id of the run of a type over an episode."""
    return row_id(0, "analysis_run", type_id, episode_id)


def _type_row(own: OwnAnalysis) -> AnalysisType:
    return AnalysisType(
        id=own.id,
        name=own.name,
        version=own.version,
        output_type=own.output_type,
        prompt_template=own.prompt,
        patterns=_json.encode(own.patterns).decode() if own.patterns else None,
    )


def _facet_row(run: AnalysisRun, facet: FoundFacet, event_id: str, state: State) -> Facet:
    about = {"event_id": event_id, "start": facet.start, "end": facet.end}
    if facet.rule is not None:
        about["rule"] = facet.rule
    if facet.count is not None:
        about["count"] = facet.count
    place = [str(facet.number), str(facet.start)]
    if facet.position is not None:
        place.append(str(facet.position))
    return Facet(
        # The message's time, so that facets are in the order of the messages.
        id=row_id(time_of(event_id), "facet", run.id, facet.type, *place),
        analysis_run_id=run.id,
        episode_id=run.episode_id,
        facet_type=facet.type,
        value=facet.value,
        entity_id=_entity_id(facet, state),
        confidence=facet.confidence,
        metadata_json=_json.encode(about).decode(),
        created_at=run.created_at,
    )


def _entity_id(facet: FoundFacet, state: State) -> str | None:
    """Return the entity of a name, if only one has it."""
    if facet.type != "entity":
        return None
    found = {
        canonical.id
        for each in state.entities_named(normalise_name(facet.value))
        if (canonical := state.canonical(each.id)) is not None
    }
    return found.pop() if len(found) == 1 else None
