"""Rows of memory.db about learning: trajectories, reflections and playbooks."""

from __future__ import annotations

from typing import ClassVar, Literal

from recollect.schemas.changes.row import Row
from recollect.schemas.events import MemoryScope, MemoryVisibility


class Trajectory(Row, frozen=True, array_like=True, tag="trajectory"):
    """One run of a task; `metadata` is JSON, `started_at` unix ms.

    `reader_user`, `reader_agent`: who may read it and all that belongs to it; None: everyone.
    """

    TABLE: ClassVar = "trajectories"
    KEY: ClassVar = ("id",)
    id: str
    task: str
    task_type: str
    agent_id: str | None
    playbook_id: str | None
    metadata: str
    number: int
    started_at: int
    user_id: str | None = None
    scope: MemoryScope = "zone"
    visibility: MemoryVisibility = "shared"
    reader_user: str | None = None
    reader_agent: str | None = None


class TrajectoryStep(Row, frozen=True, array_like=True, tag="trajectory_step"):
    """A step of a trajectory; `at` is unix ms."""

    TABLE: ClassVar = "trajectory_steps"
    KEY: ClassVar = ("id",)
    id: str
    trajectory_id: str
    kind: Literal["action", "decision", "observation", "tool_call"]
    content: str
    tool: str | None
    number: int
    at: int


class TrajectoryCompletion(Row, frozen=True, array_like=True, tag="trajectory_completion"):
    """The end of a trajectory; `metrics` is JSON, `completed_at` unix ms.

    `reader_user`, `reader_agent`: who may read the trajectory; None: everyone.
    """

    TABLE: ClassVar = "trajectory_completions"
    KEY: ClassVar = ("trajectory_id",)
    trajectory_id: str
    task_type: str
    status: Literal["success", "failure", "partial"]
    success_score: float
    error_message: str | None
    metrics: str
    number: int
    completed_at: int
    reader_user: str | None = None
    reader_agent: str | None = None


class TrajectoryFeedback(Row, frozen=True, array_like=True, tag="trajectory_feedback"):
    """A later judgement of a trajectory; `given_at` is unix ms."""

    TABLE: ClassVar = "trajectory_feedback"
    KEY: ClassVar = ("id",)
    id: str
    trajectory_id: str
    score: float
    source: Literal["human", "monitoring", "ab_test", "production"]
    comment: str | None
    number: int
    given_at: int


class Reflection(Row, frozen=True, array_like=True, tag="reflection"):
    """What was learned from a trajectory; its importance as a memory is its confidence.

    `model`: the language model that wrote it; None if it was computed by comparing outcomes.
    `successes`, `failures`: how many runs of the task type it is based on.
    """

    TABLE: ClassVar = "reflections"
    KEY: ClassVar = ("id",)
    id: str
    trajectory_id: str
    confidence: float
    model: str | None
    successes: int
    failures: int
    number: int
    created_at: int


class ReflectionItem(Row, frozen=True, array_like=True, tag="reflection_item"):
    """A strategy, pattern or observation of a reflection.

    Attributes:
        impact: what a harmful pattern led to.
        in_successes, in_failures: how many successful and failed runs have it; None if a model
            found it.
        evidence: (trajectory id, step id) of the steps that it rests on (JSON).
        sources: the numbers of the events whose words it repeats (JSON).
    """

    TABLE: ClassVar = "reflection_items"
    KEY: ClassVar = ("reflection_id", "position")
    reflection_id: str
    position: int
    kind: Literal["helpful", "harmful", "observation"]
    text: str
    impact: str
    confidence: float
    in_successes: int | None
    in_failures: int | None
    evidence: str
    sources: str


class Playbook(Row, frozen=True, array_like=True, tag="playbook"):
    """A collection of strategies, and its owner; `created_at` is unix ms."""

    TABLE: ClassVar = "playbooks"
    KEY: ClassVar = ("id",)
    id: str
    name: str
    description: str
    agent_id: str | None
    user_id: str | None
    scope: MemoryScope
    visibility: MemoryVisibility
    number: int
    created_at: int


class PlaybookVersion(Row, frozen=True, array_like=True, tag="playbook_version"):
    """A version of a playbook, from 1; `trajectory_id`: the one that it was learned from, if any.

    Its strategies are the last `PlaybookStrategy` of each, up to its own `number`.
    """

    TABLE: ClassVar = "playbook_versions"
    KEY: ClassVar = ("id",)
    id: str
    playbook_id: str
    version: int
    trajectory_id: str | None
    number: int
    created_at: int


class PlaybookStrategy(Row, frozen=True, array_like=True, tag="playbook_strategy"):
    """A strategy, in the version of its playbook that the ledger record `number` wrote.

    `is_standing` is 0 once it is removed. `sources`: the numbers of the events whose words it
    repeats (JSON).
    """

    TABLE: ClassVar = "playbook_strategies"
    KEY: ClassVar = ("strategy_id", "number")
    strategy_id: str
    number: int
    playbook_id: str
    kind: Literal["helpful", "harmful"]
    text: str
    confidence: float
    is_standing: int
    sources: str


class StrategyEvidence(Row, frozen=True, array_like=True, tag="strategy_evidence"):
    """A step that a strategy rests on, since the ledger record `number`."""

    TABLE: ClassVar = "strategy_evidence"
    KEY: ClassVar = ("strategy_id", "trajectory_id", "step_id")
    strategy_id: str
    trajectory_id: str
    step_id: str
    number: int


class PlaybookUse(Row, frozen=True, array_like=True, tag="playbook_use"):
    """A use of a playbook, reported by the ledger record `number`; `success` is 0 or 1."""

    TABLE: ClassVar = "playbook_uses"
    KEY: ClassVar = ("number",)
    number: int
    playbook_id: str
    success: int
    used_at: int


#: Every row type about learning.
LearningRow = (
    Trajectory
    | TrajectoryStep
    | TrajectoryCompletion
    | TrajectoryFeedback
    | Reflection
    | ReflectionItem
    | Playbook
    | PlaybookVersion
    | PlaybookStrategy
    | StrategyEvidence
    | PlaybookUse
)
