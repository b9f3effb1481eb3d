"""Operations on trajectories: runs of tasks, feedback on them, and what is learned from them."""

from __future__ import annotations

from typing import Annotated, Any

from recollect.home.open_zone import OpenZone
from recollect.operations.learning import trajectories as runs
from recollect.operations.learning import trajectory_reflection as reflections
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import PAGE, Cursor, Limit, described
from recollect.schemas.events import (
    FeedbackSource,
    MemoryScope,
    MemoryVisibility,
    StepKind,
    TrajectoryStatus,
)
from recollect.schemas.wire import (
    FeedbackReport,
    LearningReport,
    TrajectoryDetails,
    TrajectoryPage,
    TrajectoryReflection,
    TrajectoryState,
    TrajectoryStep,
)

_TAG = "learning"
_ID, _STEP = "01KR3XZBC05QJ9PD1ZV0R2M8CT", "01KR3XZBC0FF4V1S7N9T2XQB6K"
_BOOK = "01KR3XZBC0A7W3KZ5D8E2PH9RM"
_AT = "2026-05-08T13:56:00.000Z"
_TASK = "Release version 2.1"
_RUN: dict[str, Any] = {
    "id": _ID,
    "task": _TASK,
    "task_type": "release",
    "agent_id": None,
    "user_id": None,
    "scope": "zone",
    "visibility": "shared",
    "playbook_id": None,
    "status": "success",
    "success_score": 1.0,
    "feedback_score": None,
    "error_message": None,
    "step_count": 1,
    "started_at": _AT,
    "completed_at": _AT,
}
_STEP_ENTRY: dict[str, Any] = {
    "id": _STEP,
    "kind": "tool_call",
    "content": "Run all tests.",
    "tool": "pytest",
    "at": _AT,
}
_DETAILS: dict[str, Any] = {
    **_RUN,
    "metadata": {},
    "metrics": {},
    "steps": [_STEP_ENTRY],
    "feedback": [],
    "reflections": [],
}
_REFLECTION: dict[str, Any] = {
    "id": "01KR3XZBC0MTPV7D6B8F2Q9JXE",
    "trajectory_id": _ID,
    "memory_type": "reflection",
    "importance": 0.8333,
    "confidence": 0.8333,
    "model": None,
    "successes": 2,
    "failures": 2,
    "helpful_strategies": [
        {
            "text": "Run all tests.",
            "impact": None,
            "confidence": 0.8333,
            "in_successes": 2,
            "in_failures": 0,
            "evidence": [{"trajectory_id": _ID, "step_id": _STEP}],
        }
    ],
    "harmful_patterns": [],
    "observations": [],
    "created_at": _AT,
}

TrajectoryId = Annotated[
    str, described(minLength=1, maxLength=200, description="Id of a trajectory.")
]
TaskType = Annotated[
    str,
    described(
        minLength=1,
        maxLength=runs.MAX_NAME,
        description="Kind of task, such as release. Only runs of one kind are compared.",
    ),
]
AgentId = Annotated[
    str | None,
    described(maxLength=runs.MAX_NAME, description="Id of the agent; null: the caller's, if any."),
]
UserId = Annotated[str | None, described(maxLength=runs.MAX_NAME, description="Id of the user.")]
Scope = Annotated[MemoryScope, described(description="Who it is for.")]
Visibility = Annotated[MemoryVisibility, described(description="Who may see it.")]
OfAgent = Annotated[str | None, described(description="Only entries of the agent with this id.")]
WithModel = Annotated[
    bool | None,
    described(
        description="Reflect with the home's language model; null: if its writer is a model."
    ),
]
Score = Annotated[
    float, described(minimum=0, maximum=1, description="From 0 (failed) to 1 (succeeded).")
]


@operation(
    "POST /trajectories",
    right="write",
    status=201,
    creates_zone=True,
    title="Start a trajectory",
    tag=_TAG,
    tool=Tool(
        title="Start a task",
        description="Record that you begin a task, so that later runs can learn from it. Returns "
        "the id for log_step and complete_trajectory. Use one task_type for tasks of one kind.",
        hidden=frozenset({"metadata", "playbook_id", "user_id"}),
    ),
    example=(
        {"task": _TASK, "task_type": "release"},
        {
            **_DETAILS,
            "status": "running",
            "success_score": None,
            "completed_at": None,
            "steps": [],
            "step_count": 0,
        },
    ),
)
def start_trajectory(
    zone: OpenZone,
    task: Annotated[
        str, described(minLength=1, maxLength=runs.MAX_TEXT, description="What is to be done.")
    ],
    *,
    task_type: TaskType = runs.DEFAULT_TASK_TYPE,
    agent_id: AgentId = None,
    user_id: UserId = None,
    scope: Scope = "zone",
    visibility: Visibility = "shared",
    playbook_id: Annotated[str | None, described(description="Id of the playbook in use.")] = None,
    metadata: Annotated[
        dict[str, Any] | None, described(description="Any JSON values, kept as given.")
    ] = None,
) -> TrajectoryDetails:
    """Start a trajectory: one run of a task.

    Raises:
        InvalidInput: a text is empty or too long, the metadata are too large, or nobody or somebody
            else is named as its owner.
        UnknownId: there is no such playbook.

    >>> zone.start_trajectory("Release version 2.1", task_type="release").status
    'running'
    """
    return runs.start(
        zone,
        task,
        task_type=task_type,
        agent_id=agent_id,
        user_id=user_id,
        scope=scope,
        visibility=visibility,
        playbook_id=playbook_id,
        metadata=metadata,
    )


@operation(
    "POST /trajectories/{id}/steps",
    right="write",
    status=201,
    title="Log a step",
    tag=_TAG,
    tool=Tool(
        title="Log a step",
        description="Record one step of a running task: an action, a decision, an observation or a "
        "tool_call (with the tool's name). Write one plain sentence, and use the same words "
        "whenever the same step recurs.",
    ),
    example=(
        {"kind": "tool_call", "content": "Run all tests.", "tool": "pytest"},
        _STEP_ENTRY,
    ),
)
def log_step(
    zone: OpenZone,
    id: TrajectoryId,
    kind: Annotated[StepKind, described(description="The kind of step.")],
    content: Annotated[
        str,
        described(
            minLength=1, maxLength=runs.MAX_TEXT, description="What was done, decided or seen."
        ),
    ],
    *,
    tool: Annotated[
        str | None,
        described(maxLength=runs.MAX_NAME, description="Name of the tool of a tool call."),
    ] = None,
) -> TrajectoryStep:
    """Log a step of a running trajectory.

    Raises:
        InvalidInput: a text is empty or too long, a tool call names no tool, or the trajectory is
            complete.
        UnknownId: there is no such trajectory.

    >>> run = zone.start_trajectory("Release version 2.1", task_type="release")
    >>> zone.log_step(run.id, "tool_call", "Run all tests.", tool="pytest").tool
    'pytest'
    """
    return runs.log_step(zone, id, kind, content, tool=tool)


@operation(
    "POST /trajectories/{id}/complete",
    right="write",
    title="Complete a trajectory",
    tag=_TAG,
    tool=Tool(
        title="Complete a task",
        description="Record how a task ended. Successful and failed runs of its kind are then "
        "compared, and the differences are stored for get_relevant_strategies.",
        defaults={"learn": True},
        hidden=frozenset({"metrics"}),
    ),
    example=({"status": "success"}, _DETAILS),
)
def complete_trajectory(
    zone: OpenZone,
    id: TrajectoryId,
    status: Annotated[TrajectoryStatus, described(description="How it ended.")],
    *,
    success_score: Annotated[
        float | None,
        described(
            minimum=0,
            maximum=1,
            description="How good it was; by default 1 for a success, 0 for a failure, else 0.5.",
        ),
    ] = None,
    error_message: Annotated[
        str | None,
        described(maxLength=runs.MAX_TEXT, description="The error that it ended with."),
    ] = None,
    metrics: Annotated[
        dict[str, float] | None, described(description="Numbers, such as seconds or tokens.")
    ] = None,
    learn: Annotated[
        bool, described(description="Also reflect, and update the playbook of the task type.")
    ] = False,
) -> TrajectoryDetails:
    """Complete a trajectory; with `learn`, also learn from it (a failure to learn is only logged).

    Raises:
        InvalidInput: a value is out of range, or the trajectory is complete.
        UnknownId: there is no such trajectory.

    >>> run = zone.start_trajectory("Release version 2.1", task_type="release")
    >>> zone.complete_trajectory(run.id, "failure", error_message="tests failed").success_score
    0.0
    """
    trajectory = runs.complete(
        zone,
        id,
        status,
        success_score=success_score,
        error_message=error_message,
        metrics=metrics,
    )
    return reflections.learned_after(zone, trajectory) if learn else trajectory


@operation(
    "GET /trajectories",
    right="read",
    title="List trajectories",
    tag=_TAG,
    example=(None, {"trajectories": [_RUN], "cursor": None}),
)
def trajectories(
    zone: OpenZone,
    *,
    agent_id: OfAgent = None,
    scope: Annotated[
        MemoryScope | None, described(description="Only trajectories of this scope.")
    ] = None,
    task_type: Annotated[
        str | None, described(description="Only trajectories of this kind of task.")
    ] = None,
    status: Annotated[
        TrajectoryState | None, described(description="Only trajectories in this state.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> TrajectoryPage:
    """Return a page of trajectories, the newest first.

    Raises:
        InvalidInput: no trajectory has the cursor's id, or the limit is invalid.

    >>> [run.task for run in zone.trajectories(task_type="holidays")]
    []
    """
    return runs.page(
        zone,
        agent_id=agent_id,
        scope=scope,
        task_type=task_type,
        status=status,
        cursor=cursor,
        limit=limit,
    )


@operation(
    "GET /trajectories/{id}",
    right="read",
    title="Get a trajectory",
    tag=_TAG,
    example=(None, _DETAILS),
)
def trajectory(zone: OpenZone, id: TrajectoryId) -> TrajectoryDetails:
    """Return a trajectory with its steps and feedback.

    Raises:
        UnknownId: there is no such trajectory.

    >>> run = zone.start_trajectory("Release version 2.1", task_type="release")
    >>> zone.trajectory(run.id).steps
    []
    """
    return runs.details(zone, id)


@operation(
    "POST /trajectories/{id}/feedback",
    right="write",
    status=201,
    title="Give feedback on a trajectory",
    tag=_TAG,
    tool=Tool(
        title="Give feedback on a task",
        description="Record a later judgement of a completed task, for example the user's. If it "
        "changes the score by more than 0.3, the reflection on the task is repeated.",
    ),
    example=(
        {"score": 0.2, "comment": "It broke the login."},
        {
            "trajectory_id": _ID,
            "success_score": 1.0,
            "feedback": 1,
            "latest": 0.2,
            "average": 0.2,
            "weighted": 0.2,
            "relearning": True,
        },
    ),
)
def give_feedback(
    zone: OpenZone,
    id: TrajectoryId,
    score: Score,
    *,
    source: Annotated[FeedbackSource, described(description="Source of the score.")] = "human",
    comment: Annotated[
        str | None, described(maxLength=runs.MAX_TEXT, description="Reason for the score.")
    ] = None,
) -> FeedbackReport:
    """Judge a trajectory; if its score changes by more than 0.3, the reflection is repeated.

    Raises:
        InvalidInput: a value is out of range.
        UnknownId: there is no such trajectory.

    >>> run = zone.start_trajectory("Release version 2.1", task_type="release")
    >>> done = zone.complete_trajectory(run.id, "success")
    >>> zone.give_feedback(run.id, 0.2, comment="It broke the login.").relearning
    True
    """
    return runs.give_feedback(zone, id, score, source=source, comment=comment)


@operation(
    "POST /trajectories/{id}/reflect",
    right="write",
    title="Reflect on a trajectory",
    tag=_TAG,
    example=({}, _REFLECTION),
)
def reflect_on(
    zone: OpenZone, id: TrajectoryId, *, model: WithModel = None
) -> TrajectoryReflection:
    """Reflect on a completed trajectory, and store what was learned.

    Without a model, the successful and the failed runs of its task type are compared. With too
    little evidence nothing is stored, and the result has no id.

    Raises:
        UnknownId: there is no such trajectory.
        InvalidInput: it is still running, or the home has no model.
        Unavailable: no model answered, or a spending limit is reached.

    >>> run = zone.start_trajectory("Release version 2.1", task_type="release")
    >>> done = zone.complete_trajectory(run.id, "success")
    >>> zone.reflect_on(run.id).helpful_strategies
    []
    """
    return reflections.reflect_on(zone, id, model=model)


@operation(
    "GET /reflections/{id}",
    right="read",
    title="Get a reflection",
    tag=_TAG,
    example=(None, _REFLECTION),
)
def reflection(
    zone: OpenZone,
    id: Annotated[str, described(minLength=1, maxLength=200, description="Id of a reflection.")],
) -> TrajectoryReflection:
    """Return a reflection on a trajectory.

    Raises:
        UnknownId: there is no such reflection.

    >>> for run in zone.trajectories(task_type="release"):
    ...     for id in zone.trajectory(run.id).reflections:
    ...         print(zone.reflection(id).confidence)
    """
    return reflections.required_reflection(zone, id)


@operation(
    "POST /trajectories/{id}/learn",
    right="write",
    title="Learn from a trajectory",
    tag=_TAG,
    example=({}, {"reflection": _REFLECTION, "playbook_id": _BOOK, "version": 2}),
)
def learn_from(
    zone: OpenZone,
    id: TrajectoryId,
    *,
    playbook_id: Annotated[
        str | None,
        described(
            description="Id of a playbook; by default the one in use, or else the one named after "
            "the task type, which is created when there is something to store."
        ),
    ] = None,
    model: WithModel = None,
) -> LearningReport:
    """Reflect on a completed trajectory, and merge what was learned into a playbook.

    Raises:
        UnknownId: there is no such trajectory or playbook.
        InvalidInput: not every reader of the playbook may read the trajectory; or as `reflect_on`.
        Unavailable: as `reflect_on`.

    >>> run = zone.start_trajectory("Release version 2.1", task_type="release")
    >>> done = zone.complete_trajectory(run.id, "success")
    >>> print(zone.learn_from(run.id).playbook_id)
    None
    """
    return reflections.learn_from(zone, id, playbook_id=playbook_id, model=model)


class TrajectoryOperations:
    """Trajectories of a zone, and what is learned from them."""

    start_trajectory = start_trajectory
    log_step = log_step
    complete_trajectory = complete_trajectory
    trajectories = trajectories
    trajectory = trajectory
    give_feedback = give_feedback
    reflect_on = reflect_on
    reflection = reflection
    learn_from = learn_from
