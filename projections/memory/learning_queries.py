"""Queries of memory.db by agents about trajectories and playbooks."""

from __future__ import annotations

from typing import TypeVar

import apsw

from recollect.projections.sqlite import rows, scalar
from recollect.schemas.changes import (
    Playbook,
    PlaybookStrategy,
    Reflection,
    ReflectionItem,
    Row,
    Trajectory,
    TrajectoryCompletion,
    TrajectoryFeedback,
    TrajectoryStep,
)

RowType = TypeVar("RowType", bound=Row)


def _select(
    connection: apsw.Connection, kind: type[RowType], rest: str, *bindings: object
) -> list[RowType]:
    """Return the rows of a table; `rest` is the query after FROM and the table's name."""
    columns = ", ".join(kind.__struct_fields__)
    found = rows(connection, f"SELECT {columns} FROM {kind.TABLE} {rest}", bindings)
    return [kind(*row) for row in found]


def trajectory(connection: apsw.Connection, trajectory_id: str) -> Trajectory | None:
    """Return a trajectory."""
    return next(iter(_select(connection, Trajectory, "WHERE id = ?", trajectory_id)), None)


def completion(connection: apsw.Connection, trajectory_id: str) -> TrajectoryCompletion | None:
    """Return the end of a trajectory; None while it runs."""
    found = _select(connection, TrajectoryCompletion, "WHERE trajectory_id = ?", trajectory_id)
    return next(iter(found), None)


def comparable_completions(
    connection: apsw.Connection, trajectory: Trajectory, limit: int
) -> list[TrajectoryCompletion]:
    """Return the ends of the last `limit` trajectories of its task type, in order of the ledger.

    All readers of `trajectory` may read these.
    """
    completions = _select(
        connection,
        TrajectoryCompletion,
        """
         WHERE task_type = ?
           AND ((reader_user IS NULL AND reader_agent IS NULL)
                OR (reader_user IS ? AND (reader_agent IS NULL OR reader_agent IS ?)))
         ORDER BY number DESC LIMIT ?
        """,
        trajectory.task_type,
        trajectory.reader_user,
        trajectory.reader_agent,
        limit,
    )
    return completions[::-1]


def steps(connection: apsw.Connection, trajectory_id: str) -> list[TrajectoryStep]:
    """Return the steps of a trajectory, in order."""
    return _select(
        connection, TrajectoryStep, "WHERE trajectory_id = ? ORDER BY number", trajectory_id
    )


def feedback(connection: apsw.Connection, trajectory_id: str) -> list[TrajectoryFeedback]:
    """Return the feedback on a trajectory, in order."""
    return _select(
        connection, TrajectoryFeedback, "WHERE trajectory_id = ? ORDER BY number", trajectory_id
    )


def reflections(connection: apsw.Connection, trajectory_id: str) -> list[Reflection]:
    """Return the reflections on a trajectory, in order."""
    return _select(connection, Reflection, "WHERE trajectory_id = ? ORDER BY number", trajectory_id)


def reflection_items(connection: apsw.Connection, reflection_id: str) -> list[ReflectionItem]:
    """Return the items of a reflection, in order."""
    return _select(
        connection, ReflectionItem, "WHERE reflection_id = ? ORDER BY position", reflection_id
    )


def playbook(connection: apsw.Connection, playbook_id: str) -> Playbook | None:
    """Return a playbook."""
    return next(iter(_select(connection, Playbook, "WHERE id = ?", playbook_id)), None)


def playbooks(connection: apsw.Connection) -> list[Playbook]:
    """Return all playbooks, in order of their creation."""
    return _select(connection, Playbook, "ORDER BY number")


def last_version(connection: apsw.Connection, playbook_id: str) -> int:
    """Return the number of versions of a playbook."""
    found = scalar(
        connection,
        "SELECT max(version) FROM playbook_versions WHERE playbook_id = ?",
        (playbook_id,),
    )
    return int(found or 0)


def playbooks_learned_from(connection: apsw.Connection, trajectory_id: str) -> list[str]:
    """Return the ids of the playbooks with a version that was learned from a trajectory, sorted."""
    found = rows(
        connection,
        "SELECT DISTINCT playbook_id FROM playbook_versions WHERE trajectory_id = ? ORDER BY 1",
        (trajectory_id,),
    )
    return [str(playbook_id) for (playbook_id,) in found]


def current_strategies(connection: apsw.Connection, playbook_id: str) -> list[PlaybookStrategy]:
    """Return the strategies of a playbook's newest version, in order of ids."""
    columns = ", ".join(PlaybookStrategy.__struct_fields__)
    found = rows(
        connection,
        f"SELECT {columns} FROM current_strategies WHERE playbook_id = ? ORDER BY strategy_id",
        (playbook_id,),
    )
    return [PlaybookStrategy(*row) for row in found]


def all_strategies(connection: apsw.Connection, playbook_id: str) -> list[PlaybookStrategy]:
    """Return the strategies of all versions of a playbook, in order of the ledger."""
    order = "WHERE playbook_id = ? ORDER BY number, strategy_id"
    return _select(connection, PlaybookStrategy, order, playbook_id)


def evidence(connection: apsw.Connection, strategy_id: str) -> set[tuple[str, str]]:
    """Return (trajectory id, step id) of the steps that a strategy rests on."""
    found = rows(
        connection,
        "SELECT trajectory_id, step_id FROM strategy_evidence WHERE strategy_id = ?",
        (strategy_id,),
    )
    return {(str(trajectory_id), str(step_id)) for trajectory_id, step_id in found}
