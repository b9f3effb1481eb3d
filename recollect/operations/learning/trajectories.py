"""Trajectories: recording runs of tasks, feedback on them, and listing them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command, unknown_or_undecided
from recollect.operations.memories.page_cursors import check_limit
from recollect.projections.memory import learning_queries
from recollect.projections.memory.listing import learning_list
from recollect.schemas.changes import Playbook, TrajectoryCompletion
from recollect.schemas.changes import Trajectory as TrajectoryRow
from recollect.schemas.changes import TrajectoryStep as StepRow
from recollect.schemas.errors import DecisionTimeout, InvalidInput, UnknownId
from recollect.schemas.events import (
    AnyPayload,
    CompleteTrajectory,
    FeedbackSource,
    GiveFeedback,
    LogStep,
    MemoryScope,
    MemoryVisibility,
    StartTrajectory,
    StepKind,
    TrajectoryStatus,
)
from recollect.schemas.inbound import check_value
from recollect.schemas.memory_terms import learning_writer
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    Feedback,
    FeedbackReport,
    Receipt,
    Trajectory,
    TrajectoryDetails,
    TrajectoryPage,
    TrajectoryState,
    TrajectoryStep,
)
from recollect.streams.learning.feedback_scores import combined_score, needs_relearning
from recollect.streams.publishing.commands import random_id

#: The task type of a trajectory that is given none.
DEFAULT_TASK_TYPE = "task"
#: The maximum number of characters of a task or a step.
MAX_TEXT = 20_000
#: The maximum number of characters of a name: a task type, an agent, a tool.
MAX_NAME = 200
_MAX_ENTRIES = 100
_MAX_METADATA = 20_000
_DEFAULT_SCORES: Mapping[TrajectoryStatus, float] = {"success": 1.0, "failure": 0.0}


def publish(zone: OpenZone, payload: AnyPayload, at: int | None = None) -> Receipt:
    """Append a command about learning to the ledger and decide it; `at`: unix ms, None: now.

    Raises:
        InvalidInput: the home has no agent for learning.
    """
    # Imported here: it loads the agents, which a query does not need.
    from recollect.streams.agents.learning.learning_handler import LearningHandler

    if not any(isinstance(agent, LearningHandler) for agent in zone.node.agents):
        raise InvalidInput(
            "this home has no agent for learning; add learning to its agents (recollect init "
            "--agents)"
        )
    return command(zone, payload, at)


def start(
    zone: OpenZone,
    task: str,
    *,
    task_type: str = DEFAULT_TASK_TYPE,
    agent_id: str | None = None,
    user_id: str | None = None,
    scope: MemoryScope = "zone",
    visibility: MemoryVisibility = "shared",
    playbook_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> TrajectoryDetails:
    """Start a trajectory; one that is not for everyone is the caller's own.

    The agent of another one is the caller's unless it names one.

    Raises:
        InvalidInput: a text is empty or too long, the metadata are too large, or nobody or somebody
            else is named as its owner.
        UnknownId: there is no such playbook.
    """
    check_text("task", task, MAX_TEXT)
    check_text("task_type", task_type, MAX_NAME)
    user_id, agent_id = checked_owner(zone, scope, visibility, user_id, agent_id)
    if agent_id is None and zone.reader is not None:
        agent_id = zone.reader.agent_id
    given = dict(metadata or {})
    check_value("metadata", given)
    try:
        size = len(msgspec.json.encode(given))
    except (TypeError, msgspec.MsgspecError) as error:
        raise InvalidInput(f"metadata: {error}; give JSON values") from None
    if size > _MAX_METADATA:
        raise InvalidInput(f"metadata has {size:,} bytes of JSON; give at most {_MAX_METADATA:,}")
    if playbook_id is not None:
        check_playbook(zone, playbook_id)
    receipt = publish(
        zone,
        StartTrajectory(
            source_id=random_id("trajectory"),
            task=task,
            task_type=task_type,
            agent_id=agent_id,
            playbook_id=playbook_id,
            metadata=given,
            user_id=user_id,
            scope=scope,
            visibility=visibility,
        ),
    )
    return details(zone, receipt.event_id)


def log_step(
    zone: OpenZone, trajectory_id: str, kind: StepKind, content: str, *, tool: str | None = None
) -> TrajectoryStep:
    """Log a step of a running trajectory.

    Raises:
        InvalidInput: a text is empty or too long, a tool call names no tool, or the trajectory is
            complete.
        UnknownId: there is no such trajectory, or the caller may not change it.
    """
    check_text("content", content, MAX_TEXT)
    if kind == "tool_call" and tool is None:
        raise InvalidInput("tool: a tool call needs the name of the tool")
    if tool is not None:
        check_text("tool", tool, MAX_NAME)
    _check_running(zone, trajectory_id)
    receipt = publish(
        zone,
        LogStep(
            source_id=random_id("step"),
            trajectory_id=trajectory_id,
            step=kind,
            content=content,
            tool=tool,
        ),
    )
    with zone.files() as files:
        row = files.memory.row(StepRow, (receipt.event_id,))
    if row is None:
        raise DecisionTimeout(
            f"zone {zone.name}: record {receipt.number}, which stores the step, has not been "
            "processed yet; see `status` and `dead_letters`"
        )
    return _step(row)


def complete(
    zone: OpenZone,
    trajectory_id: str,
    status: TrajectoryStatus,
    *,
    success_score: float | None = None,
    error_message: str | None = None,
    metrics: Mapping[str, float] | None = None,
) -> TrajectoryDetails:
    """End a trajectory; `success_score` None: 1 for a success, 0 for a failure, else 0.5.

    Raises:
        InvalidInput: a value is out of range, or the trajectory is complete.
        UnknownId: there is no such trajectory, or the caller may not change it.
    """
    score = _DEFAULT_SCORES.get(status, 0.5) if success_score is None else success_score
    check_score("success_score", score)
    if error_message is not None:
        check_text("error_message", error_message, MAX_TEXT)
    try:
        given = {name: float(value) for name, value in (metrics or {}).items()}
        is_valid = len(given) <= _MAX_ENTRIES and all(map(isfinite, given.values()))
    except (TypeError, ValueError, OverflowError):
        is_valid = False
    if not is_valid:
        raise InvalidInput(f"metrics: give at most {_MAX_ENTRIES} values, all finite numbers")
    _check_running(zone, trajectory_id)
    publish(
        zone,
        CompleteTrajectory(
            source_id=random_id("completion"),
            trajectory_id=trajectory_id,
            status=status,
            success_score=float(score),
            error_message=error_message,
            metrics=given,
        ),
    )
    return details(zone, trajectory_id)


def give_feedback(
    zone: OpenZone,
    trajectory_id: str,
    score: float,
    *,
    source: FeedbackSource = "human",
    comment: str | None = None,
) -> FeedbackReport:
    """Judge a trajectory; a large change of its score repeats the reflection on it.

    Raises:
        InvalidInput: a value is out of range.
        UnknownId: there is no such trajectory, or the caller may not change it.
    """
    check_score("score", score)
    if comment is not None:
        check_text("comment", comment, MAX_TEXT)
    trajectory_and_end(zone, trajectory_id, to_change=True)
    publish(
        zone,
        GiveFeedback(
            source_id=random_id("feedback"),
            trajectory_id=trajectory_id,
            score=float(score),
            source=source,
            comment=comment,
        ),
    )
    trajectory = details(zone, trajectory_id)
    scores = [judgement.score for judgement in trajectory.feedback]
    own = trajectory.success_score
    return FeedbackReport(
        trajectory_id=trajectory_id,
        success_score=own,
        feedback=len(scores),
        latest=combined_score(scores, "latest") or 0.0,
        average=combined_score(scores, "average") or 0.0,
        weighted=combined_score(scores, "weighted") or 0.0,
        relearning=own is not None and needs_relearning(own, scores),
    )


def page(
    zone: OpenZone,
    *,
    agent_id: str | None = None,
    scope: MemoryScope | None = None,
    task_type: str | None = None,
    status: TrajectoryState | None = None,
    cursor: str | None = None,
    limit: int,
) -> TrajectoryPage:
    """Return a page of trajectories, the newest first; a cursor is the id of the last one.

    Raises:
        InvalidInput: no trajectory has the cursor's id, or the limit is invalid.
    """
    check_limit(limit)
    if not zone.exists():
        return TrajectoryPage(trajectories=[])
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        before = None
        if cursor is not None:
            last = learning_queries.trajectory(connection, cursor)
            if last is None:
                raise InvalidInput(
                    f"cursor {cursor[:60]!r} is not from this list; start with the first page"
                )
            before = last.number
        listed = learning_list.trajectories(
            connection,
            agent_id=agent_id,
            scope=scope,
            task_type=task_type,
            status=status,
            before=before,
            limit=limit + 1,
        )
    shown = [Trajectory(**_fields(trajectory)) for trajectory in listed[:limit]]
    return TrajectoryPage(trajectories=shown, cursor=shown[-1].id if len(listed) > limit else None)


def details(zone: OpenZone, trajectory_id: str) -> TrajectoryDetails:
    """Return a trajectory with its steps and feedback.

    Raises:
        UnknownId: there is no such trajectory.
    """
    if zone.exists():
        with zone.files() as files, files.read_transaction():
            connection = files.memory.connection
            for trajectory in learning_list.trajectories(connection, id_=trajectory_id):
                feedback = learning_queries.feedback(connection, trajectory.id)
                reflections = learning_queries.reflections(connection, trajectory.id)
                return TrajectoryDetails(
                    **_fields(trajectory),
                    metadata=msgspec.json.decode(trajectory.metadata),
                    metrics=msgspec.json.decode(trajectory.metrics or "{}"),
                    steps=[_step(row) for row in learning_queries.steps(connection, trajectory.id)],
                    feedback=[
                        Feedback(
                            id=judgement.id,
                            score=judgement.score,
                            source=judgement.source,
                            comment=judgement.comment,
                            at=format_time(judgement.given_at),
                        )
                        for judgement in feedback
                    ],
                    reflections=[reflection.id for reflection in reflections],
                )
    raise _unknown(zone, trajectory_id)


def _fields(listed: learning_list.ListedTrajectory) -> dict[str, Any]:
    return {
        "id": listed.id,
        "task": listed.task,
        "task_type": listed.task_type,
        "agent_id": listed.agent_id,
        "user_id": listed.user_id,
        "scope": listed.scope,
        "visibility": listed.visibility,
        "playbook_id": listed.playbook_id,
        "status": listed.status or "running",
        "success_score": listed.success_score,
        "feedback_score": listed.feedback_score,
        "error_message": listed.error_message,
        "step_count": listed.step_count,
        "started_at": format_time(listed.started_at),
        "completed_at": None if listed.completed_at is None else format_time(listed.completed_at),
    }


def _step(row: StepRow) -> TrajectoryStep:
    return TrajectoryStep(
        id=row.id, kind=row.kind, content=row.content, tool=row.tool, at=format_time(row.at)
    )


def _unknown(zone: OpenZone, trajectory_id: str) -> UnknownId | DecisionTimeout:
    unknown = (
        f"zone {zone.name} has no trajectory {trajectory_id[:60]!r}; `trajectories` lists them"
    )
    return unknown_or_undecided(zone, UnknownId(unknown))


def trajectory_and_end(
    zone: OpenZone, trajectory_id: str, *, to_change: bool = False
) -> tuple[TrajectoryRow, TrajectoryCompletion | None]:
    """Return a trajectory without its steps, and its end; None while it runs.

    Raises:
        UnknownId: there is no such trajectory; `to_change`: or the caller may not change it.
    """
    if zone.exists():
        with zone.files() as files, files.read_transaction():
            connection = files.memory.connection
            trajectory = learning_queries.trajectory(connection, trajectory_id)
            if trajectory is not None and (not to_change or may_change(zone, trajectory)):
                return trajectory, learning_queries.completion(connection, trajectory_id)
    raise _unknown(zone, trajectory_id)


def _check_running(zone: OpenZone, trajectory_id: str) -> None:
    """Raise an error if a trajectory is unknown, complete, or not for the caller to change."""
    _, end = trajectory_and_end(zone, trajectory_id, to_change=True)
    if end is not None:
        raise InvalidInput(
            f"trajectory {trajectory_id} is complete ({end.status}); start another trajectory, or "
            "give feedback on this one"
        )


def check_playbook(zone: OpenZone, playbook_id: str, *, to_change: bool = False) -> Playbook:
    """Return a playbook; raise UnknownId if there is no such playbook.

    `to_change`: also if the caller may not change it.
    """
    if zone.exists():
        with zone.files() as files:
            found = learning_queries.playbook(files.memory.connection, playbook_id)
            if found is not None and (not to_change or may_change(zone, found)):
                return found
    raise unknown_playbook(zone, playbook_id)


def may_change(zone: OpenZone, item: TrajectoryRow | Playbook) -> bool:
    """Whether the caller may change a trajectory or a playbook."""
    owner = (item.scope, item.visibility, item.user_id, item.agent_id)
    return zone.reader is None or learning_writer(*owner).includes(*zone.reader)


def checked_owner(
    zone: OpenZone,
    scope: MemoryScope,
    visibility: MemoryVisibility,
    user_id: str | None,
    agent_id: str | None,
) -> tuple[str | None, str | None]:
    """Return the user and the agent of a new trajectory or playbook.

    They are the caller's own if it is private, or of the scope `user` or `agent`.

    Raises:
        InvalidInput: an id is empty or too long, or nobody or somebody else is named as its owner.
    """
    for field, value in (("agent_id", agent_id), ("user_id", user_id)):
        if value is not None:
            check_text(field, value, MAX_NAME)
    if visibility == "private" or scope in ("agent", "user"):
        user_id, agent_id = zone.owner(user_id, agent_id)
    owner = agent_id if scope == "agent" else user_id
    if scope in ("agent", "user") and owner is None:
        raise InvalidInput(f"scope is {scope}: give {scope}_id too, or nobody could use it")
    return user_id, agent_id


def unknown_playbook(zone: OpenZone, playbook_id: str) -> UnknownId | DecisionTimeout:
    """Return the error for a playbook that does not exist, or that is not decided yet."""
    unknown = f"zone {zone.name} has no playbook {playbook_id[:60]!r}; `playbooks` lists them"
    return unknown_or_undecided(zone, UnknownId(unknown))


def check_text(field: str, text: str, limit: int) -> None:
    """Raise InvalidInput if a text is empty or too long."""
    if not text.strip():
        raise InvalidInput(f"{field} is empty; give a non-empty string")
    if len(text) > limit:
        raise InvalidInput(f"{field} has {len(text):,} characters; give at most {limit:,}")


def check_score(field: str, score: float) -> None:
    """Raise InvalidInput if a score is not between 0 and 1."""
    if not 0 <= score <= 1:
        raise InvalidInput(f"{field} is {score!r}; give 0 to 1")
