"""Operations on branches: independent copies of a zone's memory, to try something out."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import described
from recollect.operations.upkeep import branching
from recollect.schemas.wire import Branch, BranchPromotion, GenerationDiff

_TAG = "branches"
_BRANCH = {
    "name": "trial",
    "forked_at": "2:9463884db74ae79f5dbbfc5455274810",
    "created_at": "2026-05-08T13:56:00.000Z",
    "events": 1,
    "zone_events": 0,
}
_DIFFERENCE = {
    "facts_same": 2,
    "facts_gained": 1,
    "facts_lost": 0,
    "facts_changed": 0,
    "entities_split": 0,
    "entities_joined": 0,
    "observations": {"same": 1, "gained": 0, "lost": 0, "changed": 0},
    "mental_models": {"same": 0, "gained": 0, "lost": 0, "changed": 0},
    "texts": [],
    "gained": [
        {
            "id": "01KR3XZBC0XA17DCC8S1SSNK43",
            "text": "Ada moved to Turin.",
            "source_event_id": "m-3",
        }
    ],
    "lost": [],
    "changed": [],
    "split": [],
    "joined": [],
}

BranchName = Annotated[
    str,
    described(minLength=1, maxLength=64, description="Name of a branch, by the rules for zones."),
]


@operation(
    "GET /branches",
    right="read",
    title="List branches",
    tag=_TAG,
    response_field="branches",
    example=(None, {"branches": [_BRANCH]}),
)
def branches(zone: OpenZone) -> list[Branch]:
    """Return the zone's branches, by name.

    >>> zone.branches()
    []
    """
    return branching.branches(zone)


@operation(
    "POST /branches",
    right="admin",
    status=201,
    title="Create a branch",
    tag=_TAG,
    example=({"name": "trial"}, {**_BRANCH, "events": 0}),
)
def create_branch(
    zone: OpenZone,
    name: BranchName,
    *,
    at: Annotated[
        str | None,
        described(
            maxLength=1_000,
            description="An earlier head, as printed by status; by default the current one.",
        ),
    ] = None,
) -> Branch:
    """Fork the zone: copy its memory, up to an event, into an independent branch.

    The branch `trial` of the zone `ada` is the zone `ada@trial`. All operations on zones work there
    and leave the zone `ada` unchanged. Whatever is forgotten in the zone later is forgotten in its
    branches too.

    Raises:
        UnknownZone: the zone has no events.
        InvalidInput: the branch exists, the name is invalid, or the ledger does not contain `at`.

    >>> zone.create_branch("trial").events
    0
    >>> zone.drop_branch("trial").name
    'trial'
    """
    return branching.create_branch(zone, name, at=at)


@operation(
    "GET /branches/{branch}/diff",
    right="read",
    title="Compare a branch",
    tag=_TAG,
    example=(None, _DIFFERENCE),
)
def branch_diff(zone: OpenZone, branch: BranchName) -> GenerationDiff:
    """Return what a branch gained, lost and changed, compared with the current zone.

    Raises:
        InvalidInput: there is no such branch.

    >>> zone.create_branch("trial").name
    'trial'
    >>> zone.branch_diff("trial").facts_gained
    0
    >>> zone.drop_branch("trial").name
    'trial'
    """
    return branching.branch_diff(zone, branch)


@operation(
    "POST /branches/{branch}/promote",
    right="admin",
    title="Promote a branch",
    tag=_TAG,
    example=(
        {},
        {
            "published": 1,
            "duplicates": 0,
            "conflicts": [],
            "outdated": [],
            "answers": 0,
            "left": {},
        },
    ),
)
def promote_branch(zone: OpenZone, branch: BranchName) -> BranchPromotion:
    """Copy a branch's own messages, commands and writer prompts into its zone.

    Nothing is copied twice, and an event whose id the zone already has with other content is not
    copied. Neither is a writer prompt that the zone has set or removed later than the branch. A
    language model's answers about messages of the zone are copied, so that `write` does not ask
    again. The branch stays as it is. Erasures, and records of the branch's own upkeep, are not
    promoted.

    Raises:
        InvalidInput: there is no such branch.

    >>> zone.create_branch("trial").name
    'trial'
    >>> zone.promote_branch("trial").published
    0
    >>> zone.drop_branch("trial").name
    'trial'
    """
    return branching.promote_branch(zone, branch)


@operation(
    "DELETE /branches/{branch}",
    right="admin",
    erases=True,
    title="Drop a branch",
    tag=_TAG,
    example=(None, _BRANCH),
)
def drop_branch(zone: OpenZone, branch: BranchName) -> Branch:
    """Delete a branch and everything in it; the zone is unaffected.

    Raises:
        InvalidInput: there is no such branch.
        Busy: another process has it open.

    >>> zone.create_branch("trial").name
    'trial'
    >>> zone.drop_branch("trial").name
    'trial'
    """
    return branching.drop_branch(zone, branch)


class BranchOperations:
    """Operations on branches."""

    branches = branches
    create_branch = create_branch
    branch_diff = branch_diff
    promote_branch = promote_branch
    drop_branch = drop_branch
