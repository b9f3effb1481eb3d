"""Trajectories, reflections and playbooks, as every interface gives them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.events import (
    FeedbackSource,
    MemoryScope,
    MemoryVisibility,
    StepKind,
    StrategyKind,
    TrajectoryStatus,
)
from recollect.schemas.events import PlaybookStrategy as RecordedStrategy
from recollect.schemas.wire.entries.list_entries import Page

#: The states of a trajectory in a list.
TrajectoryState = Literal["running", "success", "failure", "partial"]

__all__ = ["FeedbackSource", "StepKind", "StrategyKind", "TrajectoryStatus"]

_Id = Annotated[str, Meta(description="Id of the trajectory.")]
_Confidence = Annotated[float, Meta(description="Confidence, from 0 to 1.")]


class PlaybookStrategy(
    RecordedStrategy, frozen=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A strategy to write into a playbook: what helps, or what to avoid."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a task."""

    id: _Id
    task: Annotated[str, Meta(description="What was to be done.")]
    task_type: Annotated[str, Meta(description="Only runs of one type are compared.")]
    agent_id: Annotated[str | None, Meta(description="The agent that ran it.")]
    user_id: Annotated[str | None, Meta(description="The user for whom it was run.")]
    scope: Annotated[
        MemoryScope, Meta(description="Whose it is: an agent's, a user's, everyone's.")
    ]
    visibility: Annotated[MemoryVisibility, Meta(description="private, shared or public.")]
    playbook_id: Annotated[str | None, Meta(description="Id of the playbook in use.")]
    status: Annotated[
        TrajectoryState, Meta(description="running, or how it ended: success, failure or partial.")
    ]
    success_score: Annotated[
        float | None, Meta(description="Its own score, from 0 to 1; null while it runs.")
    ]
    feedback_score: Annotated[
        float | None, Meta(description="Score of the latest feedback; null without feedback.")
    ]
    error_message: Annotated[str | None, Meta(description="The error that it ended with.")]
    step_count: Annotated[int, Meta(description="Number of steps.")]
    started_at: Annotated[str, Meta(description="When it started.")]
    completed_at: Annotated[str | None, Meta(description="When it ended.")]


class TrajectoryPage(Page[Trajectory], frozen=True, kw_only=True):
    """A page of trajectories, the newest first."""

    trajectories: Annotated[list[Trajectory], Meta(description="Trajectories, newest first.")]


class TrajectoryStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a trajectory."""

    id: Annotated[str, Meta(description="Id of the step.")]
    kind: Annotated[StepKind, Meta(description="action, decision, observation or tool_call.")]
    content: Annotated[str, Meta(description="What was done, decided or seen.")]
    tool: Annotated[str | None, Meta(description="Name of the tool of a tool call.")]
    at: Annotated[str, Meta(description="When it was logged.")]


class Feedback(msgspec.Struct, frozen=True, kw_only=True):
    """A later judgement of a trajectory."""

    id: Annotated[str, Meta(description="Id of the feedback.")]
    score: Annotated[float, Meta(description="From 0 (failed) to 1 (succeeded).")]
    source: Annotated[FeedbackSource, Meta(description="human, monitoring, ab_test or production.")]
    comment: Annotated[str | None, Meta(description="Reason for the score.")]
    at: Annotated[str, Meta(description="When it was given.")]


class TrajectoryDetails(Trajectory, frozen=True, kw_only=True):
    """A trajectory with its steps, its feedback and its reflections."""

    metadata: Annotated[dict[str, Any], Meta(description="As given at the start.")]
    metrics: Annotated[dict[str, float], Meta(description="As given at the end.")]
    steps: Annotated[list[TrajectoryStep], Meta(description="Steps, in order.")]
    feedback: Annotated[list[Feedback], Meta(description="Feedback, oldest first.")]
    reflections: Annotated[
        list[str], Meta(description="Ids of the reflections on it, oldest first.")
    ]


class FeedbackReport(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of a trajectory after new feedback."""

    trajectory_id: _Id
    success_score: Annotated[float | None, Meta(description="Its own score; null while it runs.")]
    feedback: Annotated[int, Meta(description="Number of judgements.")]
    latest: Annotated[float, Meta(description="Score of the latest one.")]
    average: Annotated[float, Meta(description="Mean of all scores.")]
    weighted: Annotated[float, Meta(description="Mean in which the nth score counts n times.")]
    relearning: Annotated[
        bool,
        Meta(
            description="The latest score differs from the trajectory's own by more than 0.3, so "
            "it was reflected on again."
        ),
    ]


class EvidenceStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step on which a strategy, a pattern or an observation rests."""

    trajectory_id: _Id
    step_id: Annotated[
        str | None, Meta(description="Id of the step; null: how the trajectory ended.")
    ]


class LearnedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A strategy, a pattern or an observation of a reflection."""

    text: Annotated[str, Meta(description="What helps, what harms, or what was seen.")]
    impact: Annotated[str | None, Meta(description="What a harmful pattern led to.")]
    confidence: _Confidence
    in_successes: Annotated[
        int | None, Meta(description="Successful runs that have it; null if a model found it.")
    ]
    in_failures: Annotated[
        int | None, Meta(description="Failed runs that have it; null if a model found it.")
    ]
    evidence: Annotated[list[EvidenceStep], Meta(description="The steps that it rests on.")]


class TrajectoryReflection(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned from a trajectory and the other runs of its task type."""

    id: Annotated[
        str | None, Meta(description="Id of the reflection; null: there was too little to learn.")
    ]
    trajectory_id: _Id
    memory_type: Annotated[Literal["reflection"], Meta(description="Its type as a memory.")] = (
        "reflection"
    )
    importance: Annotated[
        float, Meta(description="Its importance as a memory: its confidence.")
    ] = 0.0
    confidence: _Confidence = 0.0
    model: Annotated[
        str | None, Meta(description="Model that wrote it; null: outcomes were compared.")
    ] = None
    successes: Annotated[int, Meta(description="Successful runs that it is based on.")] = 0
    failures: Annotated[int, Meta(description="Failed runs that it is based on.")] = 0
    helpful_strategies: Annotated[
        list[LearnedItem], Meta(description="What successful runs did.")
    ] = []
    harmful_patterns: Annotated[list[LearnedItem], Meta(description="What failed runs did.")] = []
    observations: Annotated[list[LearnedItem], Meta(description="What else was seen.")] = []
    created_at: Annotated[str | None, Meta(description="When it was written.")] = None


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """A strategy of a playbook."""

    id: Annotated[str, Meta(description="Id of the strategy.")]
    kind: Annotated[StrategyKind, Meta(description="helpful, or harmful: to be avoided.")]
    text: Annotated[str, Meta(description="The strategy.")]
    confidence: _Confidence
    evidence: Annotated[list[EvidenceStep], Meta(description="The steps that it rests on.")]


class Playbook(msgspec.Struct, frozen=True, kw_only=True):
    """A collection of strategies."""

    id: Annotated[str, Meta(description="Id of the playbook.")]
    name: Annotated[str, Meta(description="Its name.")]
    description: Annotated[str, Meta(description="What it is for.")]
    agent_id: Annotated[str | None, Meta(description="The agent that it belongs to.")]
    user_id: Annotated[str | None, Meta(description="The user that it belongs to.")]
    scope: Annotated[MemoryScope, Meta(description="agent, user, zone or global.")]
    visibility: Annotated[MemoryVisibility, Meta(description="private, shared or public.")]
    version: Annotated[int, Meta(description="Its newest version, from 1.")]
    strategies: Annotated[
        list[Strategy], Meta(description="Its strategies, the most confident first.")
    ]
    usage_count: Annotated[int, Meta(description="How often it was used.")]
    success_rate: Annotated[
        float | None,
        Meta(
            description="Exponential moving average of the uses' success, the latest counting 0.3; "
            "null if it was never used."
        ),
    ]
    created_at: Annotated[str, Meta(description="When it was created.")]
    updated_at: Annotated[str, Meta(description="When its newest version was written.")]


class PlaybookPage(Page[Playbook], frozen=True, kw_only=True):
    """A page of playbooks, in order of their creation."""

    playbooks: Annotated[list[Playbook], Meta(description="Playbooks, in order of their creation.")]


class PlaybookChange(msgspec.Struct, frozen=True, kw_only=True):
    """A version in the history of a playbook."""

    version: Annotated[int, Meta(description="Its number, from 1.")]
    at: Annotated[str, Meta(description="When it was written.")]
    trajectory_id: Annotated[
        str | None, Meta(description="Trajectory that it was learned from; null: by hand.")
    ]
    added: Annotated[list[str], Meta(description="Texts of the strategies that it adds.")]
    changed: Annotated[list[str], Meta(description="Texts of those whose confidence it changes.")]
    removed: Annotated[list[str], Meta(description="Texts of those that it removes.")]


class PlaybookHistory(msgspec.Struct, frozen=True, kw_only=True):
    """All versions of a playbook, the oldest first."""

    id: Annotated[str, Meta(description="Id of the playbook.")]
    versions: Annotated[list[PlaybookChange], Meta(description="Versions, the oldest first.")]


class RelevantStrategy(msgspec.Struct, frozen=True, kw_only=True):
    """A strategy that fits a task."""

    id: Annotated[str, Meta(description="Id of the strategy.")]
    playbook_id: Annotated[str, Meta(description="Id of its playbook.")]
    kind: Annotated[StrategyKind, Meta(description="helpful, or harmful: to be avoided.")]
    text: Annotated[str, Meta(description="The strategy.")]
    confidence: _Confidence
    score: Annotated[float, Meta(description="Relevance to the task, times confidence.")]


class RelevantStrategies(msgspec.Struct, frozen=True, kw_only=True):
    """The strategies that fit a task, also as a block of text for a prompt."""

    task: Annotated[str, Meta(description="The task.")]
    strategies: Annotated[list[RelevantStrategy], Meta(description="Strategies, best first.")]
    block: Annotated[
        str, Meta(description="The strategies, framed as data; empty if there are none.")
    ]
    tokens: Annotated[int, Meta(description="Tokens of the block, estimated conservatively.")]


class LearningReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned from a trajectory, and the playbook that has it now."""

    reflection: Annotated[TrajectoryReflection, Meta(description="What was learned.")]
    playbook_id: Annotated[
        str | None, Meta(description="Id of the playbook; null: nothing was learned yet.")
    ]
    version: Annotated[int | None, Meta(description="The playbook's newest version.")]
