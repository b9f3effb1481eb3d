"""Operations on the branches of a zone: fork, compare, promote, drop."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.projections.memory.memory_queries import writer_prompt_times
from recollect.schemas.errors import InvalidInput
from recollect.schemas.times import format_time
from recollect.schemas.wire import Branch, BranchPromotion, GenerationDiff
from recollect.streams.ledger.ledger import Head
from recollect.streams.records.chain_readers import event_at
from recollect.streams.records.heads import ExpectedHead, head_text


def create_branch(zone: OpenZone, name: str, *, at: str | None = None) -> Branch:
    """Fork a zone at its last record, or at an earlier head as `status` prints it.

    Raises:
        UnknownZone: the zone has no events.
        InvalidInput: the branch exists, a name is invalid, or the ledger does not contain the head.
    """
    zone.must_exist()
    zone.decide()
    last = zone.node.ledger.head(zone.name)
    fork: Head | None = last
    if at is not None:
        expected = ExpectedHead.read(at)
        event = event_at(zone.node.ledger, zone.name, expected.number)
        fork = None if event is None else Head(expected.number, event.hash)
        if problem := expected.mismatch(last.number, fork):
            raise InvalidInput(f"at: {problem}")
    assert fork is not None
    zone.open_home.branches.create(zone.name, name, fork, unix_ms())
    return _branch(zone, name)


def branches(zone: OpenZone) -> list[Branch]:
    """Return the branches of a zone, by name."""
    return [_branch(zone, name) for name in zone.open_home.branches.names(zone.name)]


def _branch(zone: OpenZone, name: str) -> Branch:
    described = zone.open_home.branches.describe(zone.name, name)
    branch = zone.open_home.branch(zone.name, name)
    return Branch(
        name=name,
        forked_at=head_text(Head(described.number, bytes.fromhex(described.hash))),
        created_at=format_time(described.created_at),
        events=branch.node.ledger.head(zone.name).number - described.number,
        zone_events=zone.node.ledger.head(zone.name).number - described.number,
    )


def branch_diff(zone: OpenZone, branch: str) -> GenerationDiff:
    """Return what a branch gained, lost and changed, compared with the current zone.

    Raises:
        InvalidInput: there is no such branch.
    """
    from recollect.streams.lifecycle.generation_difference import difference

    opened = zone.open_home.branch(zone.name, branch)
    zone.decide()
    opened.decide()
    with zone.files() as old, opened.files() as new:
        return difference(old, new)


def promote_branch(zone: OpenZone, branch: str) -> BranchPromotion:
    """Copy a branch's own messages, commands and writer prompts into its zone.

    Nothing is copied twice, and an event whose id the zone already has with other content is not
    copied. Neither is a writer prompt that the zone has set or removed later than the branch. A
    language model's answers about messages of the zone are copied, so that `write` does not ask
    again. The branch stays as it is. Erasures, and records of the branch's own upkeep, are not
    promoted.

    Raises:
        InvalidInput: there is no such branch.
    """
    from recollect.streams.lifecycle.branch_ledger import copy_answers, own_events, promotion_of

    described = zone.open_home.branches.describe(zone.name, branch)
    opened = zone.open_home.branch(zone.name, branch)
    zone.decide()
    with zone.files() as files:
        prompts_set_at = writer_prompt_times(files.memory.connection)
    drafts, outdated, left = promotion_of(
        list(own_events(opened.node.ledger, zone.name, described.number)), prompts_set_at
    )
    answers = copy_answers(opened.node.ledger, zone.name, described.number, zone.node.ledger)
    receipts = zone.node.ledger.publish(zone.name, drafts) if drafts else []
    conflicts = [
        draft.payload.source_id
        for draft, receipt in zip(drafts, receipts, strict=True)
        if receipt.status == "conflict"
    ]
    if receipts:
        zone.note_published(max(receipt.number for receipt in receipts))
        zone.decide()
    return BranchPromotion(
        published=sum(receipt.status == "new" for receipt in receipts),
        duplicates=sum(receipt.status == "duplicate" for receipt in receipts),
        conflicts=conflicts,
        outdated=outdated,
        answers=answers,
        left=dict(sorted(left.items())),
    )


def drop_branch(zone: OpenZone, branch: str) -> Branch:
    """Delete a branch and return its description; the zone is unaffected.

    Raises:
        InvalidInput: there is no such branch.
        Busy: another process has it open.
    """
    found = _branch(zone, branch)
    zone.open_home.drop_branch(zone.name, branch)
    return found
