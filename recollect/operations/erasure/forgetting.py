"""Forgetting: plan which records to erase, then erase them everywhere."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import suppress

import msgspec

from recollect.home.open_zone import OpenZone, row_counts
from recollect.operations.erasure.certifying import collect_evidence, erasures_of, issue
from recollect.operations.erasure.erasure_targets import (
    TargetFinder,
    records_without_keys,
    request_hash,
)
from recollect.operations.erasure.record_matching import Criteria
from recollect.operations.ingestion.ingesting import command
from recollect.projections.events.event_queries import sources
from recollect.schemas.errors import DeletionFailed, ErasureFailed, InvalidInput
from recollect.schemas.events import Forget
from recollect.schemas.times import check_time_order, parse_query_time
from recollect.schemas.wire import (
    Certificate,
    ErasureRequest,
    ForgetReport,
    ForgetTargets,
    PossibleTarget,
)
from recollect.schemas.wire.proofs import Selector
from recollect.streams.publishing.commands import random_id
from recollect.streams.records.chain_readers import EventReader

_BATCH_SIZE = 1_000
_COUNTED_ROWS = ("facts", "entities", "vectors")


class ErasurePlan(msgspec.Struct, frozen=True):
    """The records that an erasure will remove.

    `numbers`: the records' numbers. `ids`: the requested ids that have records; for a request by
    criteria, the sources' own ids or, for a record without one, `#` and its number.
    `already_forgotten`: requested ids that were forgotten before. `resumed`: requested ids whose
    interrupted erasure was completed while planning. `request_hashes`: keyed hashes of the
    requested ids. `selectors`: the kinds of selectors in the request. `id_count`: the number of ids
    in it. `earlier`: the numbers of the erasures that removed what was forgotten before.
    `also_possible`: what else the entity's name may refer to.
    """

    numbers: tuple[int, ...]
    ids: list[str]
    already_forgotten: list[str]
    resumed: list[str]
    request_hashes: tuple[bytes, ...]
    selectors: tuple[Selector, ...]
    id_count: int
    earlier: tuple[int, ...] = ()
    also_possible: tuple[PossibleTarget, ...] = ()


def forget(
    zone: OpenZone, targets: ForgetTargets, *, dry_run: bool = False, certificate: bool = False
) -> ForgetReport:
    """Erase records and everything derived from them, everywhere.

    Erasing many events in one call costs as much as erasing one. `dry_run`: change nothing. An id
    that was forgotten before is not an error; an unknown id is. `certificate`: verify the erasure,
    and add a certificate to the report.

    Raises:
        InvalidInput: no target was given, an id or a name is unknown or ambiguous, or the
            certificate would not cover exactly one erasure; nothing is erased then.
        ErasureFailed: the erasure was recorded, but could not be completed; it is completed before
            anything else is decided. Or it was completed, but cannot be certified.
    """
    if dry_run and certificate:
        raise InvalidInput("a dry run erases nothing, so there is nothing to certify")
    plan = plan_erasure(zone, targets)
    return preview_erasure(zone, plan) if dry_run else erase(zone, plan, certificate=certificate)


def plan_erasure(zone: OpenZone, targets: ForgetTargets) -> ErasurePlan:
    """Find the records that `forget` would erase, after completing earlier erasures.

    Parked events that conflict with an erased event's id are erased with it. A zone that is stopped
    at an event with a lost key can continue once that event is forgotten by its number (`#17`): the
    erasure then explains the missing key.

    Raises:
        InvalidInput, ErasureFailed: as `forget`.
    """
    for name in ("entity", "sender_id", "thread_id", "platform"):
        if getattr(targets, name) == "":
            raise InvalidInput(f"{name} is empty; leave it out, or say which one to forget")
    ids, after, before = targets.ids, targets.time_after, targets.time_before
    criteria = Criteria(
        entity=targets.entity,
        sender=targets.sender_id,
        thread=targets.thread_id,
        platform=targets.platform,
        after=None if after is None else parse_query_time(after, "time_after"),
        before=None if before is None else parse_query_time(before, "time_before"),
    )
    check_time_order(criteria.after, criteria.before)
    if not ids and not criteria.has_criterion:
        raise InvalidInput(
            "say what to forget: ids, entity, sender_id, thread_id, time_before or time_after"
        )
    zone.must_exist()
    if lost := records_without_keys(zone.node.ledger, zone.name, ids):
        # No event can be decided until these records are erased, so they must be erased alone.
        if criteria.has_criterion or lost.keys() < set(ids):
            raise InvalidInput(
                f"the keys of {', '.join(lost)} are lost, and zone {zone.name} has stopped: "
                "forget these records first, in a separate call"
            )
        return ErasurePlan(
            numbers=tuple(sorted(set(lost.values()))),
            ids=list(lost),
            already_forgotten=[],
            resumed=[],
            request_hashes=(),
            selectors=("ids",),
            id_count=len(set(ids)),
        )
    pending = _pending_erasures(zone)
    # Residue of an earlier erasure in the files does not prevent planning.
    with suppress(DeletionFailed):
        zone.decide()
    with zone.files() as files:
        finder = TargetFinder(
            zone.node.ledger,
            zone.name,
            files,
            withheld=zone.unwritable_records(),
        )
        also = list(dict.fromkeys(targets.also))
        return _plan(zone, finder, list(dict.fromkeys(ids)), also, criteria, pending)


def _plan(
    zone: OpenZone,
    finder: TargetFinder,
    ids: Sequence[str],
    also: Sequence[str],
    criteria: Criteria,
    pending: Sequence[Forget],
) -> ErasurePlan:
    already_forgotten, resumed = [], []
    erased_before = set[int]()
    numbers: set[int] = set()
    by_id: dict[str, set[int]] = {}
    for id_ in ids:
        lookup = finder.by_id(id_, criteria.platform)
        if lookup.numbers:
            by_id[id_] = lookup.numbers
            numbers |= lookup.numbers
        elif any(
            request_hash(zone.node.ledger, zone.name, id_) in erasure.names
            or not lookup.erased.isdisjoint(erasure.targets)
            for erasure in pending
        ):
            resumed.append(id_)
            erased_before |= lookup.erased
        else:
            already_forgotten.append(id_)
            erased_before |= lookup.erased
    if criteria.has_criterion and (numbers or not ids):
        if (
            criteria.entity is not None
            and finder.was_requested(criteria.entity)
            and finder.find_entity(criteria.entity) is None
        ):
            already_forgotten.append(criteria.entity)
            matching: set[int] = set()
        else:
            matching = finder.matching(criteria)
        numbers = numbers & matching if ids else matching
        by_id = {id_: records for id_, records in by_id.items() if records & numbers}
    chosen = numbers.union(*(finder.by_any_id(id_) for id_ in also))
    displayed = list(by_id) if ids else finder.display_ids(chosen)
    numbers = finder.with_dependents(chosen)
    # A repeated request may use another id of the same event, so all its ids are recorded.
    requested = [*by_id, *finder.event_ids(numbers)] if ids else []
    if criteria.entity is not None:
        requested.append(criteria.entity)
    requested += also
    return ErasurePlan(
        numbers=tuple(sorted(numbers)),
        ids=displayed,
        already_forgotten=already_forgotten,
        resumed=resumed,
        request_hashes=tuple(
            request_hash(zone.node.ledger, zone.name, id_) for id_ in dict.fromkeys(requested)
        ),
        selectors=_selectors(ids, also, criteria),
        id_count=len(ids) + len(also),
        also_possible=() if ids else tuple(finder.also_possible(criteria, numbers)),
        earlier=_earlier_erasures(zone, [*already_forgotten, *resumed], erased_before),
    )


def _selectors(ids: Sequence[str], also: Sequence[str], criteria: Criteria) -> tuple[Selector, ...]:
    """Return the kinds of selectors in a request."""
    given: dict[Selector, object] = {
        "ids": ids or None,
        "also": also or None,
        "entity": criteria.entity,
        "sender": criteria.sender,
        "thread": criteria.thread,
        "platform": criteria.platform,
        "time_after": criteria.after,
        "time_before": criteria.before,
    }
    return tuple(name for name, value in given.items() if value is not None)


def _earlier_erasures(
    zone: OpenZone, requested: Sequence[str], erased: Set[int]
) -> tuple[int, ...]:
    """Return the erasures that were requested with these ids, or that removed these records."""
    if not requested:
        return ()
    ledger = zone.node.ledger
    hashes = {request_hash(ledger, zone.name, id_) for id_ in requested}
    return tuple(erasures_of(ledger, zone.name, hashes, erased))


def preview_erasure(zone: OpenZone, plan: ErasurePlan) -> ForgetReport:
    """Return what an erasure would remove; nothing is changed."""
    removed = dict.fromkeys(_COUNTED_ROWS, 0)
    if plan.numbers:
        generation = zone.node.current(zone.name)
        with (
            zone.node.driving(zone.name),
            zone.node.open(zone.name, generation) as files,
        ):
            before = row_counts(files)
            with zone.node.driver(zone.name, generation, files).erasure_preview(plan.numbers):
                after = row_counts(files)
        removed = {name: before[name] - after[name] for name in _COUNTED_ROWS}
    return _report(plan, removed, dry_run=True)


def erase(zone: OpenZone, plan: ErasurePlan, *, certificate: bool = False) -> ForgetReport:
    """Erase the planned records with a single command in the ledger.

    Raises:
        InvalidInput, ErasureFailed: as `forget`.
    """
    removed = dict.fromkeys(_COUNTED_ROWS, 0)
    issued = None
    if certificate and not plan.numbers and len(plan.earlier) != 1:
        count = len(plan.earlier)
        problem = (
            f"{count} separate erasures cover these records"
            if count
            else "there is nothing to erase"
        )
        raise InvalidInput(
            f"{problem}: a certificate covers one erasure; run recollect certificates to see "
            "the existing ones"
        )
    if plan.numbers:
        evidence = collect_evidence(zone, plan.numbers) if certificate else None
        before = _row_counts(zone)
        receipt = command(
            zone,
            Forget(source_id=random_id("forget"), targets=plan.numbers, names=plan.request_hashes),
        )
        _check_keys_destroyed(zone, plan.numbers)
        after = _row_counts(zone)
        # At least 0, since other processes may have added rows meanwhile.
        removed = {name: max(before[name] - after[name], 0) for name in _COUNTED_ROWS}
        # Update the index in memory now rather than at the next query.
        zone.open_home.recallers.follow(zone.name)
        # A certificate says that no file of the home contains a destroyed key.
        zone.open_home.forget_in_branches(zone.name)
        if certificate:
            issued = issue(zone, receipt.number, _request(plan), evidence)
    else:
        # An earlier erasure may have left residue in the files.
        zone.node.finish_purge(zone.name)
        zone.open_home.forget_in_branches(zone.name)
        if certificate:
            issued = issue(zone, plan.earlier[0], _request(plan))
    return _report(plan, removed, certificate=issued)


def _request(plan: ErasurePlan) -> ErasureRequest:
    """Return the kinds and counts of what was requested, without any text."""
    return ErasureRequest(
        selectors=list(plan.selectors),
        ids=plan.id_count,
        hashes=[found.hex() for found in plan.request_hashes],
    )


def _row_counts(zone: OpenZone) -> dict[str, int]:
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        return row_counts(files)


def _check_keys_destroyed(zone: OpenZone, numbers: Sequence[int]) -> None:
    """Raise ErasureFailed if a key of an erased record still exists."""
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        sealed = sources(files.events.connection, numbers)
    remaining = zone.node.ledger.keys.get([source.key_id for source in sealed.values()])
    if remaining:
        raise ErasureFailed(
            f"zone {zone.name}: {len(remaining)} of {len(numbers)} records can still be read; "
            "check that a worker runs, and run recollect forget again"
        )


def _pending_erasures(zone: OpenZone) -> list[Forget]:
    """Return the erasures in the ledger that are not decided yet."""
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        mark = files.memory.watermark()
    reader = EventReader(
        zone.node.ledger, zone.name, mark.number, mark.event_offset, mark.event_hash
    )
    pending = []
    while records := reader.read(_BATCH_SIZE):
        pending += [
            record.event.payload
            for record in records
            if record.event is not None and isinstance(record.event.payload, Forget)
        ]
    return pending


def _report(
    plan: ErasurePlan,
    removed: dict[str, int],
    *,
    dry_run: bool = False,
    certificate: Certificate | None = None,
) -> ForgetReport:
    return ForgetReport(
        forgotten=plan.ids,
        already_forgotten=plan.already_forgotten,
        resumed=plan.resumed,
        events=len(plan.numbers),
        facts=removed["facts"],
        entities=removed["entities"],
        vectors=removed["vectors"],
        also_possible=list(plan.also_possible),
        dry_run=dry_run,
        certificate=certificate,
    )
