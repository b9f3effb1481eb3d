"""Reflection on trajectories: by their outcomes, or with a language model; and learning from it."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import Any

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import decided_up_to, unknown_or_undecided
from recollect.operations.learning import playbook_listing
from recollect.operations.learning.trajectories import (
    details,
    may_change,
    publish,
    trajectory_and_end,
)
from recollect.projections.memory import learning_queries
from recollect.schemas.changes import Reflection, ReflectionItem
from recollect.schemas.errors import DecisionTimeout, InvalidInput, Unavailable, UnknownId
from recollect.schemas.events import Reflect
from recollect.schemas.ids import derive_ulid
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    EvidenceStep,
    LearnedItem,
    LearningReport,
    TrajectoryDetails,
    TrajectoryReflection,
)
from recollect.streams.learning.strategies import StepRef
from recollect.streams.publishing.commands import random_id

#: The maximum number of other runs in a prompt, of steps per run, and of characters per step.
_SHOWN_RUNS = 5
_SHOWN_STEPS = 40
_SHOWN_CHARACTERS = 1_000

_log = logging.getLogger("recollect.learning")
_refs = msgspec.json.Decoder(list[StepRef])


def reflect_on(
    zone: OpenZone, trajectory_id: str, *, model: bool | None = None
) -> TrajectoryReflection:
    """Reflect on a completed trajectory.

    `model`: whether to ask the home's language model; None: ask it if the home's writer is one.
    Without a model, the outcomes of the trajectories of its task type are compared. If there is too
    little evidence, or the model's answer is invalid, the result has no id and nothing is stored.

    Raises:
        UnknownId: there is no such trajectory, or the caller may not change it.
        InvalidInput: it is still running, or the home has no model.
        Unavailable: no model answered, or a spending limit is reached.
    """
    _, end = trajectory_and_end(zone, trajectory_id, to_change=True)
    if end is None:
        raise InvalidInput(f"trajectory {trajectory_id} is running; complete it first")
    home = zone.open_home.home
    if model:
        home.must_have_model()
    if home.writer == "model" if model is None else model:
        receipt = publish(zone, *_ask_model(zone, trajectory_id))
    else:
        command = Reflect(source_id=random_id("reflection"), trajectory_id=trajectory_id)
        receipt = publish(zone, command)
    stored = reflection(zone, receipt.event_id)
    if stored is None and decided_up_to(zone) < receipt.number:
        raise DecisionTimeout(
            f"zone {zone.name}: record {receipt.number}, the request to reflect, has not been "
            "processed yet; see `status` and `dead_letters`"
        )
    return stored or TrajectoryReflection(id=None, trajectory_id=trajectory_id)


def reflection(zone: OpenZone, reflection_id: str) -> TrajectoryReflection | None:
    """Return a reflection; None if there is none with this id."""
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        row = files.memory.row(Reflection, (reflection_id,))
        if row is None:
            return None
        items = learning_queries.reflection_items(connection, row.id)

    def of_kind(kind: str) -> list[LearnedItem]:
        return [_learned(item) for item in items if item.kind == kind]

    return TrajectoryReflection(
        id=row.id,
        trajectory_id=row.trajectory_id,
        importance=row.confidence,
        confidence=row.confidence,
        model=row.model,
        successes=row.successes,
        failures=row.failures,
        helpful_strategies=of_kind("helpful"),
        harmful_patterns=of_kind("harmful"),
        observations=of_kind("observation"),
        created_at=format_time(row.created_at),
    )


def required_reflection(zone: OpenZone, reflection_id: str) -> TrajectoryReflection:
    """Return a reflection.

    Raises:
        UnknownId: there is none with this id.
    """
    stored = reflection(zone, reflection_id) if zone.exists() else None
    if stored is None:
        raise unknown_or_undecided(
            zone, UnknownId(f"zone {zone.name} has no reflection {reflection_id[:60]!r}")
        )
    return stored


def learn_from(
    zone: OpenZone,
    trajectory_id: str,
    *,
    playbook_id: str | None = None,
    model: bool | None = None,
) -> LearningReport:
    """Reflect on a trajectory, and merge what was found into a playbook.

    `playbook_id` None: the playbook in use, or else the one named after the task type, which is
    created when there is something to store. Every reader of it may read the trajectory.

    Raises:
        UnknownId: there is no such trajectory or playbook, or the caller may not change it.
        InvalidInput: not every reader of the playbook may read the trajectory; or as `reflect_on`.
        Unavailable: as `reflect_on`.
    """
    # Imported here: it loads the agents, which a query does not need.
    from recollect.streams.agents.learning.playbook_versions import may_learn_from

    if playbook_id is not None:
        playbook_listing.check_curation(zone, playbook_id, trajectory_id)
    reflection_ = reflect_on(zone, trajectory_id, model=model)
    trajectory, _ = trajectory_and_end(zone, trajectory_id)
    with zone.files() as files:
        connection = files.memory.connection
        used = learning_queries.playbook(connection, playbook_id or trajectory.playbook_id or "")
        named = [
            playbook
            for playbook in learning_queries.playbooks(connection)
            if playbook.name == trajectory.task_type
        ]
        possible = [used, *named] if used is not None else named
        fitting = (
            each.id
            for each in possible
            if may_change(zone, each) and may_learn_from(each, trajectory)
        )
        target = next(fitting, None)
    if reflection_.helpful_strategies or reflection_.harmful_patterns:
        if target is None:
            target = playbook_listing.create_like(zone, trajectory)
        version = playbook_listing.curate(zone, target, trajectory_id).version
        return LearningReport(reflection=reflection_, playbook_id=target, version=version)
    version_now = None if target is None else playbook_listing.playbook(zone, target).version
    return LearningReport(reflection=reflection_, playbook_id=target, version=version_now)


def learned_after(zone: OpenZone, completed: TrajectoryDetails) -> TrajectoryDetails:
    """Learn from a completed trajectory, and return it; an unavailable model is only logged."""
    try:
        learn_from(zone, completed.id)
    except Unavailable as error:
        _log.warning("could not reflect on trajectory %s: %s", completed.id, error)
        return completed
    return details(zone, completed.id)


def _learned(item: ReflectionItem) -> LearnedItem:
    return LearnedItem(
        text=item.text,
        impact=item.impact or None,
        confidence=item.confidence,
        in_successes=item.in_successes,
        in_failures=item.in_failures,
        evidence=[
            EvidenceStep(trajectory_id=ref.trajectory_id, step_id=ref.step_id or None)
            for ref in _refs.decode(item.evidence)
        ],
    )


# With a model


def _ask_model(zone: OpenZone, trajectory_id: str) -> tuple[Reflect, int]:
    """Ask the home's model about a trajectory; return the command, and the answer's time.

    The answer is recorded before it is used. The same answer gives the same command.
    """
    # Imported here: only a reflection with a model needs them.
    from recollect.operations.writing.writing import open_client, recorder_of
    from recollect.streams.writing.recorder import ErasedDuringCall
    from recollect.streams.writing.reflection_prompt import REFLECTION_ROLE, reflection_request

    runs, numbers = _shown_runs(zone, trajectory_id)
    home = zone.open_home.home
    with closing(open_client(home.configuration, home.directory)) as client:
        recorder = recorder_of(zone, client)
        request = reflection_request(runs)
        try:
            recording, ref = recorder.ask(request, frozenset(numbers), REFLECTION_ROLE)
        except ErasedDuringCall:
            raise InvalidInput(
                f"a step of trajectory {trajectory_id} was erased meanwhile; reflect again"
            ) from None
    command = Reflect(
        source_id=f"reflect:{trajectory_id}:{derive_ulid(0, ref.hash.hex())}",
        trajectory_id=trajectory_id,
        answers=(ref,),
        sources=tuple(sorted(numbers)),
        model=recording.header.model,
        role=REFLECTION_ROLE,
    )
    return command, recording.header.asked_at


def _shown_runs(zone: OpenZone, trajectory_id: str) -> tuple[list[dict[str, Any]], set[int]]:
    """Return the runs as a model sees them, the trajectory first, and the numbers of its events."""
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        own = learning_queries.completion(connection, trajectory_id)
        reflected_on = learning_queries.trajectory(connection, trajectory_id)
        assert own is not None and reflected_on is not None
        others = learning_queries.comparable_completions(connection, reflected_on, _SHOWN_RUNS + 1)
        newest = [other for other in reversed(others) if other.trajectory_id != trajectory_id]
        runs, numbers = [], set[int]()
        for completion in [own, *newest[:_SHOWN_RUNS]]:
            trajectory = learning_queries.trajectory(connection, completion.trajectory_id)
            assert trajectory is not None
            steps = learning_queries.steps(connection, trajectory.id)
            # The last steps, since they decide how a run ends.
            steps = steps[-_SHOWN_STEPS:]
            feedback = learning_queries.feedback(connection, trajectory.id)
            runs.append(
                {
                    "task": trajectory.task[:_SHOWN_CHARACTERS],
                    "steps": [
                        {
                            "step": step.number,
                            "kind": step.kind,
                            "tool": step.tool,
                            "content": step.content[:_SHOWN_CHARACTERS],
                        }
                        for step in steps
                    ],
                    "status": completion.status,
                    "success_score": completion.success_score,
                    "error": (completion.error_message or "")[:_SHOWN_CHARACTERS],
                    "feedback": [
                        {
                            "score": judgement.score,
                            "source": judgement.source,
                            "comment": (judgement.comment or "")[:_SHOWN_CHARACTERS],
                        }
                        for judgement in feedback
                    ],
                }
            )
            numbers |= {trajectory.number, completion.number}
            numbers |= {step.number for step in steps} | {
                judgement.number for judgement in feedback
            }
    return runs, numbers
