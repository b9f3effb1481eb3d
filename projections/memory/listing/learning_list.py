"""Queries of memory.db for lists of trajectories and playbooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar

#: More uses than this do not change a moving average.
_LAST_USES = 200


class ListedTrajectory(NamedTuple):
    """A trajectory, and how it ended; times are unix ms. `status` is None while it runs."""

    id: str
    task: str
    task_type: str
    agent_id: str | None
    playbook_id: str | None
    metadata: str
    number: int
    started_at: int
    status: str | None
    success_score: float | None
    error_message: str | None
    metrics: str | None
    completed_at: int | None
    step_count: int
    feedback_score: float | None
    user_id: str | None
    scope: str
    visibility: str


_TRAJECTORIES = """
SELECT trajectory.id, task, trajectory.task_type, agent_id,
       (SELECT id FROM playbooks WHERE id = playbook_id), metadata,
       trajectory.number, started_at, status, success_score, error_message, metrics, completed_at,
       (SELECT count(*) FROM trajectory_steps WHERE trajectory_id = trajectory.id),
       (SELECT score FROM trajectory_feedback WHERE trajectory_id = trajectory.id
         ORDER BY number DESC LIMIT 1),
       user_id, scope, visibility
  FROM trajectories AS trajectory
  LEFT JOIN trajectory_completions ON trajectory_id = trajectory.id
"""


def trajectories(
    connection: apsw.Connection,
    *,
    id_: str | None = None,
    agent_id: str | None = None,
    scope: str | None = None,
    task_type: str | None = None,
    status: str | None = None,
    before: int | None = None,
    limit: int = 1,
) -> list[ListedTrajectory]:
    """Return the matching trajectories, newest first; `before`: only smaller record numbers."""
    conditions: list[tuple[str, object]] = []
    if id_ is not None:
        conditions.append(("trajectory.id = ?", id_))
    if agent_id is not None:
        conditions.append(("agent_id = ?", agent_id))
    if scope is not None:
        conditions.append(("scope = ?", scope))
    if task_type is not None:
        conditions.append(("trajectory.task_type = ?", task_type))
    if status is not None:
        conditions.append(("coalesce(status, 'running') = ?", status))
    if before is not None:
        conditions.append(("trajectory.number < ?", before))
    where = " AND ".join(condition for condition, _ in conditions) or "TRUE"
    trajectory_rows = rows(
        connection,
        f"{_TRAJECTORIES} WHERE {where} ORDER BY trajectory.number DESC LIMIT ?",
        (*(value for _, value in conditions), limit),
    )
    return [ListedTrajectory(*row) for row in trajectory_rows]


def newest_version(connection: apsw.Connection, playbook_id: str) -> tuple[int, int]:
    """Return the number of a playbook's newest version, and its time in unix ms."""
    found = rows(
        connection,
        "SELECT version, created_at FROM playbook_versions "
        "WHERE playbook_id = ? ORDER BY number DESC LIMIT 1",
        (playbook_id,),
    )
    ((version, created_at),) = found
    return version, created_at


def uses(connection: apsw.Connection, playbook_id: str) -> tuple[int, list[bool]]:
    """Return how often a playbook was used, and whether each of the last uses succeeded."""
    count = scalar(
        connection, "SELECT count(*) FROM playbook_uses WHERE playbook_id = ?", (playbook_id,)
    )
    use_rows = rows(
        connection,
        "SELECT success FROM playbook_uses WHERE playbook_id = ? ORDER BY number DESC LIMIT ?",
        (playbook_id, _LAST_USES),
    )
    return count, [bool(success) for (success,) in reversed(use_rows)]


def versions(
    connection: apsw.Connection, playbook_id: str
) -> list[tuple[int, int, str | None, int]]:
    """Return (version, time in unix ms, trajectory id, number) of each version, in order."""
    return rows(
        connection,
        "SELECT version, created_at, trajectory_id, number FROM playbook_versions "
        "WHERE playbook_id = ? ORDER BY number",
        (playbook_id,),
    )


def evidence_of_strategies(
    connection: apsw.Connection, strategy_ids: Sequence[str]
) -> list[tuple[str, str, str, str | None]]:
    """Return (strategy id, trajectory id, step id, task) of all evidence, in order of the ledger.

    The task is the trajectory's.
    """
    return rows(
        connection,
        "SELECT strategy_id, trajectory_id, step_id, task FROM strategy_evidence AS evidence "
        "LEFT JOIN trajectories ON trajectories.id = trajectory_id "
        "WHERE strategy_id IN (SELECT value FROM json_each(?)) "
        "ORDER BY evidence.number, trajectory_id, step_id",
        (json_array(list(strategy_ids)),),
    )


def learning_records(connection: apsw.Connection, ids: Sequence[str]) -> list[int]:
    """Return the numbers of the records behind ids, sorted.

    For a trajectory or a playbook, these are all of its records; for a step, a feedback, a
    reflection or a version of a playbook, its own.
    """
    number_rows = rows(
        connection,
        """
        WITH given AS (SELECT value AS id FROM json_each(?1))
        SELECT number FROM trajectories WHERE id IN given
        UNION SELECT number FROM trajectory_steps WHERE id IN given OR trajectory_id IN given
        UNION SELECT number FROM trajectory_completions WHERE trajectory_id IN given
        UNION SELECT number FROM trajectory_feedback WHERE id IN given OR trajectory_id IN given
        UNION SELECT number FROM reflections WHERE id IN given OR trajectory_id IN given
        UNION SELECT number FROM playbooks WHERE id IN given
        UNION SELECT number FROM playbook_versions WHERE id IN given OR playbook_id IN given
        UNION SELECT number FROM playbook_uses WHERE playbook_id IN given
        ORDER BY 1
        """,
        (json_array(list(ids)),),
    )
    return [int(number) for (number,) in number_rows]


def learning_ids(connection: apsw.Connection, numbers: Sequence[int]) -> list[str]:
    """Return the ids of the trajectories and playbooks that these records start or create."""
    id_rows = rows(
        connection,
        """
        SELECT id FROM trajectories WHERE number IN (SELECT value FROM json_each(?1))
        UNION SELECT id FROM playbooks WHERE number IN (SELECT value FROM json_each(?1))
        ORDER BY 1
        """,
        (json_array(list(numbers)),),
    )
    return [str(id_) for (id_,) in id_rows]
