"""The agent that keeps trajectories, reflects on them, and curates playbooks (C14).

Everything it writes follows from the events and the state: outcomes are compared by counting, and a
language model's recorded answers are checked against the steps that it was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import msgspec

from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    PlaybookUse,
    Reflection,
    ReflectionItem,
    Trajectory,
    TrajectoryCompletion,
    TrajectoryFeedback,
    TrajectoryStep,
)
from recollect.schemas.events import (
    RESERVED_PLATFORM,
    CompleteTrajectory,
    CreatePlaybook,
    CuratePlaybook,
    Draft,
    Event,
    GiveFeedback,
    LogStep,
    RecordPlaybookUse,
    Reflect,
    StartTrajectory,
    UpdatePlaybook,
)
from recollect.schemas.memory_terms import learning_reader
from recollect.streams.agents.agent import Agent, Conversation, Extract, ModelCalls
from recollect.streams.agents.learning.playbook_versions import (
    created_playbook,
    curated_playbook,
    learned_playbooks,
    updated_playbook,
)
from recollect.streams.agents.state import State
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.learning.feedback_scores import combined_score, needs_relearning
from recollect.streams.learning.model_reflection import check_reflection
from recollect.streams.learning.outcome_comparison import Run, Step, compare_outcomes
from recollect.streams.learning.strategies import FoundItem, StepRef

#: The number of runs of a task type that a reflection compares.
COMPARED_RUNS = 50

_json = msgspec.json.Encoder()


class LearningHandler(Agent):
    """Keeps trajectories, feedback, reflections and playbooks."""

    kinds = frozenset(
        {
            *("start_trajectory", "log_step", "complete_trajectory", "give_feedback", "reflect"),
            *("create_playbook", "update_playbook", "curate_playbook", "playbook_used"),
        }
    )

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        match event.payload:
            case StartTrajectory(task=task):
                return Extract(texts=(task,) if task.strip() else ())
            case CreatePlaybook(strategies=added) | UpdatePlaybook(add=added):
                return Extract(
                    texts=tuple(strategy.text for strategy in added if strategy.text.strip())
                )
            case Reflect(answers=answers) as reflect if answers:
                if any(not 0 < number < event.number for number in reflect.sources):
                    return Extract()
                return Extract(conversation.command_calls(reflect), tuple(reflect.sources))
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        match event.payload:
            case StartTrajectory() as start:
                return _start(event, start, state)
            case LogStep() as step:
                return _log(event, step, state)
            case CompleteTrajectory() as completion:
                return _complete(event, completion, state)
            case GiveFeedback() as feedback:
                return _give_feedback(event, feedback, state)
            case Reflect() as reflect:
                return _reflect(event, reflect, extract.content, state)
            case CreatePlaybook() as creation:
                return created_playbook(event, creation, state)
            case UpdatePlaybook() as update:
                return updated_playbook(event, update, state)
            case CuratePlaybook() as curation:
                return curated_playbook(event, curation, state)
            case RecordPlaybookUse(playbook_id=playbook_id, success=success):
                playbook = state.playbook(playbook_id)
                if playbook is None:
                    return []
                row = PlaybookUse(event.number, playbook_id, int(success), event.occurred_at)
                return [_part(event, [row], playbook.number)]
        return []


def _part(event: Event, rows: list[AnyRow], *sources: int) -> DecidedPart:
    return DecidedPart(tuple(sorted({event.number, *sources})), rows)


def _is_score(value: float) -> bool:
    return isfinite(value) and 0 <= value <= 1


def _start(event: Event, start: StartTrajectory, state: State) -> list[DecidedPart]:
    reader = learning_reader(start.scope, start.visibility, start.user_id, start.agent_id)
    row = Trajectory(
        id=event.id,
        task=start.task,
        task_type=start.task_type,
        agent_id=start.agent_id,
        playbook_id=start.playbook_id,
        metadata=_json.encode(start.metadata).decode(),
        number=event.number,
        started_at=event.occurred_at,
        user_id=start.user_id,
        scope=start.scope,
        visibility=start.visibility,
        reader_user=reader.user_id,
        reader_agent=reader.agent_id,
    )
    vectors: list[AnyRow] = []
    if start.task.strip():
        vectors += embedding_rows(state, event.occurred_at, ("trajectory", row.id, start.task))
    return [_part(event, [row, *vectors])]


def _log(event: Event, step: LogStep, state: State) -> list[DecidedPart]:
    trajectory = state.trajectory(step.trajectory_id)
    if trajectory is None or state.trajectory_completion(trajectory.id) is not None:
        return []
    row = TrajectoryStep(
        id=event.id,
        trajectory_id=trajectory.id,
        kind=step.step,
        content=step.content,
        tool=step.tool,
        number=event.number,
        at=event.occurred_at,
    )
    return [_part(event, [row], trajectory.number)]


def _complete(event: Event, completion: CompleteTrajectory, state: State) -> list[DecidedPart]:
    trajectory = state.trajectory(completion.trajectory_id)
    if (
        trajectory is None
        or not _is_score(completion.success_score)
        or state.trajectory_completion(trajectory.id) is not None
    ):
        return []
    row = TrajectoryCompletion(
        trajectory_id=trajectory.id,
        task_type=trajectory.task_type,
        status=completion.status,
        success_score=completion.success_score,
        error_message=completion.error_message,
        metrics=_json.encode(completion.metrics).decode(),
        number=event.number,
        completed_at=event.occurred_at,
        reader_user=trajectory.reader_user,
        reader_agent=trajectory.reader_agent,
    )
    return [_part(event, [row], trajectory.number)]


def _give_feedback(event: Event, feedback: GiveFeedback, state: State) -> list[DecidedPart]:
    """Return the feedback, and commands to learn again if it changes the score much."""
    trajectory = state.trajectory(feedback.trajectory_id)
    if trajectory is None or not _is_score(feedback.score):
        return []
    row = TrajectoryFeedback(
        id=event.id,
        trajectory_id=trajectory.id,
        score=feedback.score,
        source=feedback.source,
        comment=feedback.comment,
        number=event.number,
        given_at=event.occurred_at,
    )
    part = _part(event, [row], trajectory.number)
    completion = state.trajectory_completion(trajectory.id)
    if completion is not None:
        scores = [judgement.score for judgement in state.trajectory_feedback(trajectory.id)]
        if needs_relearning(completion.success_score, [*scores, feedback.score]):
            part.outbox += _relearning(event, trajectory.id, state)
    return [part]


def _relearning(event: Event, trajectory_id: str, state: State) -> list[Draft]:
    """Return the commands to reflect again, and to curate the playbooks that learned from it."""
    name = f"relearn:{event.id}"
    payloads: list[Reflect | CuratePlaybook] = [
        Reflect(source_id=name, trajectory_id=trajectory_id),
        *(
            CuratePlaybook(
                source_id=f"{name}:{playbook_id}",
                playbook_id=playbook_id,
                trajectory_id=trajectory_id,
            )
            for playbook_id in learned_playbooks(trajectory_id, state)
        ),
    ]
    return [
        Draft(
            platform=RESERVED_PLATFORM,
            occurred_at=event.occurred_at,
            ingested_at=event.ingested_at,
            payload=payload,
        )
        for payload in payloads
    ]


# Reflection


def _reflect(
    event: Event, reflect: Reflect, calls: ModelCalls | None, state: State
) -> list[DecidedPart]:
    """Return a reflection, unless it finds nothing; earlier ones stay."""
    trajectory = state.trajectory(reflect.trajectory_id)
    if trajectory is None or state.trajectory_completion(trajectory.id) is None:
        return []
    runs = compared_runs(trajectory, state)
    if reflect.answers:
        return _reflect_with_model(event, reflect, calls, trajectory, runs, state)
    items = compare_outcomes(runs)
    confidence = max((item.confidence for item in items if item.kind != "observation"), default=0.0)
    if not items:
        return []
    head = _reflection(event, trajectory, runs, confidence, None)
    rows = _item_rows(event, items)
    return [
        _part(event, [head], trajectory.number),
        *(_part(event, [row], *item.sources) for row, item in zip(rows, items, strict=True)),
    ]


def _reflect_with_model(
    event: Event,
    reflect: Reflect,
    calls: ModelCalls | None,
    trajectory: Trajectory,
    runs: Sequence[Run],
    state: State,
) -> list[DecidedPart]:
    """Return what a model found, unless it saw anything that is not about these runs."""
    sources = set(reflect.sources)
    if calls is None or not sources <= numbers_of_runs(runs, state):
        return []
    shown = {
        step.number: StepRef(run.trajectory_id, step.id)
        for run in runs
        for step in run.steps
        if step.number in sources
    }
    reflection = check_reflection(calls.calls, shown, tuple(sorted(sources)))
    if not reflection.items:
        return []
    head = _reflection(event, trajectory, runs, reflection.confidence, reflect.model)
    return [_part(event, [head, *_item_rows(event, reflection.items)], trajectory.number, *sources)]


def compared_runs(trajectory: Trajectory, state: State) -> list[Run]:
    """Return the last runs of a completed trajectory's task type and the trajectory, in order.

    All its readers may read these runs, so that a reflection says nothing of hidden ones.
    """
    completions = state.comparable_completions(trajectory, COMPARED_RUNS)
    own = state.trajectory_completion(trajectory.id)
    if own is not None and own not in completions:
        completions.insert(0, own)
    return [_run(completion, state) for completion in completions]


def _run(completion: TrajectoryCompletion, state: State) -> Run:
    id_ = completion.trajectory_id
    score = combined_score([judgement.score for judgement in state.trajectory_feedback(id_)])
    steps = [
        Step(step.id, step.number, step.kind, step.content, step.tool)
        for step in state.trajectory_steps(id_)
    ]
    return Run(
        id_,
        completion.number,
        completion.success_score if score is None else score,
        completion.error_message,
        steps,
    )


def numbers_of_runs(runs: Sequence[Run], state: State) -> set[int]:
    """Return the numbers of all events of these runs."""
    numbers: set[int] = set()
    for run in runs:
        trajectory = state.trajectory(run.trajectory_id)
        assert trajectory is not None
        numbers |= {trajectory.number, run.number, *(step.number for step in run.steps)}
        numbers |= {each.number for each in state.trajectory_feedback(run.trajectory_id)}
    return numbers


def _reflection(
    event: Event,
    trajectory: Trajectory,
    runs: Sequence[Run],
    confidence: float,
    model: str | None,
) -> Reflection:
    successes = sum(run.succeeded for run in runs)
    return Reflection(
        id=event.id,
        trajectory_id=trajectory.id,
        confidence=confidence,
        model=model,
        successes=successes,
        failures=len(runs) - successes,
        number=event.number,
        created_at=event.occurred_at,
    )


def _item_rows(event: Event, items: Sequence[FoundItem]) -> list[ReflectionItem]:
    return [
        ReflectionItem(
            reflection_id=event.id,
            position=position,
            kind=item.kind,
            text=item.text,
            impact=item.impact,
            confidence=item.confidence,
            in_successes=item.in_successes,
            in_failures=item.in_failures,
            evidence=_json.encode(item.evidence).decode(),
            sources=_json.encode(item.sources).decode(),
        )
        for position, item in enumerate(items)
    ]
