"""Playbooks: creating, changing and listing them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from recollect.home.open_zone import OpenZone
from recollect.operations.erasure import forgetting
from recollect.operations.learning.trajectories import (
    MAX_NAME,
    check_playbook,
    check_score,
    check_text,
    checked_owner,
    publish,
    trajectory_and_end,
    unknown_playbook,
)
from recollect.operations.memories.page_cursors import after_cursor, check_limit
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import learning_queries
from recollect.projections.memory.listing import learning_list
from recollect.schemas.changes import Playbook as PlaybookRow
from recollect.schemas.changes import PlaybookStrategy as StrategyRow
from recollect.schemas.changes import Trajectory
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    CreatePlaybook,
    CuratePlaybook,
    MemoryScope,
    MemoryVisibility,
    PlaybookStrategy,
    RecordPlaybookUse,
    UpdatePlaybook,
)
from recollect.schemas.memory_terms import EVERYONE, learning_writer
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    EvidenceStep,
    ForgetReport,
    ForgetTargets,
    Playbook,
    PlaybookChange,
    PlaybookHistory,
    PlaybookPage,
    Strategy,
)
from recollect.streams.learning.feedback_scores import success_rate
from recollect.streams.publishing.commands import random_id

#: The maximum number of strategies of one command, and of characters of one.
MAX_STRATEGIES = 200
MAX_STRATEGY = 2_000


def create(
    zone: OpenZone,
    name: str,
    *,
    description: str = "",
    agent_id: str | None = None,
    user_id: str | None = None,
    scope: MemoryScope = "zone",
    visibility: MemoryVisibility = "shared",
    strategies: Sequence[PlaybookStrategy] = (),
) -> Playbook:
    """Create a playbook; one that is not for everyone is the caller's own.

    Raises:
        InvalidInput: a text is empty or too long, a confidence is not between 0 and 1, or nobody
            or somebody else is named as its owner.
    """
    check_text("name", name, MAX_NAME)
    user_id, agent_id = checked_owner(zone, scope, visibility, user_id, agent_id)
    if description:
        check_text("description", description, MAX_STRATEGY)
    _check_strategies(strategies)
    receipt = publish(
        zone,
        CreatePlaybook(
            source_id=random_id("playbook"),
            name=name,
            description=description,
            agent_id=agent_id,
            user_id=user_id,
            scope=scope,
            visibility=visibility,
            strategies=tuple(strategies),
        ),
    )
    return playbook(zone, receipt.event_id)


def update(
    zone: OpenZone,
    playbook_id: str,
    *,
    add: Sequence[PlaybookStrategy] = (),
    remove: Sequence[str] = (),
) -> Playbook:
    """Write a new version of a playbook, with strategies added and removed.

    A strategy that duplicates one of the playbook is merged with it.

    Raises:
        InvalidInput: nothing is added or removed, or a strategy is invalid.
        UnknownId: there is no such playbook.
    """
    if not add and not remove:
        raise InvalidInput("give strategies to add, or ids of strategies to remove")
    _check_strategies(add)
    check_playbook(zone, playbook_id, to_change=True)
    publish(
        zone,
        UpdatePlaybook(
            source_id=random_id("playbook"),
            playbook_id=playbook_id,
            add=tuple(add),
            remove=tuple(remove),
        ),
    )
    return playbook(zone, playbook_id)


def curate(zone: OpenZone, playbook_id: str, trajectory_id: str) -> Playbook:
    """Merge what the newest reflection on a trajectory found into a playbook.

    Raises:
        UnknownId: there is no such playbook or trajectory, or the caller may not change the
            playbook.
        InvalidInput: not every reader of the playbook may read the trajectory.
    """
    check_curation(zone, playbook_id, trajectory_id)
    publish(
        zone,
        CuratePlaybook(
            source_id=random_id("curation"), playbook_id=playbook_id, trajectory_id=trajectory_id
        ),
    )
    return playbook(zone, playbook_id)


def check_curation(zone: OpenZone, playbook_id: str, trajectory_id: str) -> None:
    """Raise an error if a playbook cannot learn from a trajectory."""
    # Imported here: it loads the agents, which a query does not need.
    from recollect.streams.agents.learning.playbook_versions import may_learn_from

    book = check_playbook(zone, playbook_id, to_change=True)
    trajectory, _ = trajectory_and_end(zone, trajectory_id)
    if not may_learn_from(book, trajectory):
        raise InvalidInput(
            f"playbook {playbook_id} has readers who may not read trajectory {trajectory_id}; "
            "choose a playbook with the same scope and visibility"
        )


def create_like(zone: OpenZone, trajectory: Trajectory) -> str:
    """Create a playbook named after a trajectory's task type, with its owner; return its id."""
    given = trajectory.scope, trajectory.visibility, trajectory.user_id, trajectory.agent_id
    has_owner = learning_writer(*given) != EVERYONE
    receipt = publish(
        zone,
        CreatePlaybook(
            source_id=random_id("playbook"),
            name=trajectory.task_type,
            description="",
            agent_id=trajectory.agent_id if has_owner else None,
            user_id=trajectory.user_id if has_owner else None,
            scope=trajectory.scope,
            visibility=trajectory.visibility,
        ),
    )
    return playbook(zone, receipt.event_id).id


def record_use(zone: OpenZone, playbook_id: str, *, success: bool) -> Playbook:
    """Count a use of a playbook.

    Raises:
        UnknownId: there is no such playbook.
    """
    check_playbook(zone, playbook_id)
    publish(
        zone,
        RecordPlaybookUse(source_id=random_id("use"), playbook_id=playbook_id, success=success),
    )
    return playbook(zone, playbook_id)


def delete(zone: OpenZone, playbook_id: str, *, dry_run: bool = False) -> ForgetReport:
    """Erase a playbook with all its versions, everywhere.

    Raises:
        UnknownId: there is no such playbook.
    """
    check_playbook(zone, playbook_id, to_change=True)
    return forgetting.forget(zone, ForgetTargets(ids=(playbook_id,)), dry_run=dry_run)


def page(
    zone: OpenZone,
    *,
    agent_id: str | None = None,
    scope: MemoryScope | None = None,
    pattern: str | None = None,
    cursor: str | None = None,
    limit: int,
) -> PlaybookPage:
    """Return a page of playbooks, in order of their creation.

    `pattern`: a part of the name or the description, in any case.

    Raises:
        InvalidInput: no playbook has the cursor's id, or the limit is invalid.
    """
    check_limit(limit)
    if not zone.exists():
        return PlaybookPage(playbooks=[])
    with zone.files() as files, files.read_transaction():
        playbooks = [
            row
            for row in learning_queries.playbooks(files.memory.connection)
            if agent_id in (None, row.agent_id)
            and scope in (None, row.scope)
            and (
                pattern is None or pattern.casefold() in f"{row.name}\n{row.description}".casefold()
            )
        ]
        shown, more = after_cursor(playbooks, cursor, limit)
        return PlaybookPage(playbooks=[_playbook(files, row) for row in shown], cursor=more)


def playbook(zone: OpenZone, playbook_id: str) -> Playbook:
    """Return a playbook with its strategies.

    Raises:
        UnknownId: there is no such playbook.
    """
    if zone.exists():
        with zone.files() as files, files.read_transaction():
            row = learning_queries.playbook(files.memory.connection, playbook_id)
            if row is not None:
                return _playbook(files, row)
    raise unknown_playbook(zone, playbook_id)


def history(zone: OpenZone, playbook_id: str) -> PlaybookHistory:
    """Return the versions of a playbook, each with its changes.

    Raises:
        UnknownId: there is no such playbook.
    """
    check_playbook(zone, playbook_id)
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        rows = learning_queries.all_strategies(connection, playbook_id)
        versions = learning_list.versions(connection, playbook_id)
    written: dict[int, list[StrategyRow]] = defaultdict(list)
    for row in rows:
        written[row.number].append(row)
    known: set[str] = set()
    changes = []
    for version, at, trajectory_id, number in versions:
        new = written[number]
        changes.append(
            PlaybookChange(
                version=version,
                at=format_time(at),
                trajectory_id=trajectory_id,
                added=[row.text for row in new if row.strategy_id not in known],
                changed=[row.text for row in new if row.strategy_id in known and row.is_standing],
                removed=[row.text for row in new if not row.is_standing],
            )
        )
        known |= {row.strategy_id for row in new}
    return PlaybookHistory(id=playbook_id, versions=changes)


def _playbook(files: ZoneFiles, row: PlaybookRow) -> Playbook:
    version, updated_at = learning_list.newest_version(files.memory.connection, row.id)
    uses, outcomes = learning_list.uses(files.memory.connection, row.id)
    rate = success_rate(outcomes)
    return Playbook(
        id=row.id,
        name=row.name,
        description=row.description,
        agent_id=row.agent_id,
        user_id=row.user_id,
        scope=row.scope,
        visibility=row.visibility,
        version=version,
        strategies=_strategies(files, row.id),
        usage_count=uses,
        success_rate=None if rate is None else round(rate, 4),
        created_at=format_time(row.created_at),
        updated_at=format_time(updated_at),
    )


def _strategies(files: ZoneFiles, playbook_id: str) -> list[Strategy]:
    """Return the current strategies of a playbook, the most confident first."""
    connection = files.memory.connection
    rows = learning_queries.current_strategies(connection, playbook_id)
    evidence: dict[str, list[EvidenceStep]] = defaultdict(list)
    ids = [row.strategy_id for row in rows]
    for id_, trajectory, step, _ in learning_list.evidence_of_strategies(connection, ids):
        evidence[id_].append(EvidenceStep(trajectory_id=trajectory, step_id=step or None))
    strategies = [
        Strategy(
            id=row.strategy_id,
            kind=row.kind,
            text=row.text,
            confidence=row.confidence,
            evidence=evidence[row.strategy_id],
        )
        for row in rows
    ]
    return sorted(strategies, key=lambda strategy: (-strategy.confidence, strategy.id))


def _check_strategies(strategies: Sequence[PlaybookStrategy]) -> None:
    if len(strategies) > MAX_STRATEGIES:
        raise InvalidInput(
            f"strategies: {len(strategies)} were given; give at most {MAX_STRATEGIES}"
        )
    for given in strategies:
        check_text("text of a strategy", given.text, MAX_STRATEGY)
        check_score("confidence", given.confidence)
