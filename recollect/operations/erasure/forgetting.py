"""Forgetting: plan which records to erase, then erase them everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from recollect.home.open_zone import OpenZone, row_counts
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
from recollect.schemas.times import parse_query_time
from recollect.schemas.wire import ForgetReport, ForgetTargets
from recollect.streams.publishing.commands import random_id
from recollect.streams.records.chain_readers import EventReader

_BATCH_SIZE = 1_000
_COUNTED_ROWS = ("facts", "entities", "vectors")


class ErasurePlan(msgspec.Struct, frozen=True):
    """The records that an erasure will remove.

    `numbers`: of the records. `ids`: the requested ids that have records; for a request by
    criteria, the sources' own ids, or `#` and the number of a record without one.
    `already_forgotten`: requested ids that were forgotten before. `resumed`: requested ids whose
    interrupted erasure was completed while planning. `request_hashes`: keyed hashes of the
    requested ids.
    """

    numbers: tuple[int, ...]
    ids: list[str]
    already_forgotten: list[str]
    resumed: list[str]
    request_hashes: tuple[bytes, ...]


def forget(zone: OpenZone, targets: ForgetTargets, *, dry_run: bool = False) -> ForgetReport:
    """Erase records and everything derived from them, everywhere.

    Erasing many events in one call costs as much as erasing one. `dry_run`: change nothing. An id
    that was forgotten before is not an error; an unknown id is.

    Raises:
        InvalidInput: no target was given, or an id or a name is unknown or ambiguous; nothing is
            erased then.
        ErasureFailed: the erasure was recorded, but could not be completed; it is completed before
            anything else is decided.
    """
    plan = plan_erasure(zone, targets)
    return preview_erasure(zone, plan) if dry_run else erase(zone, plan)


def plan_erasure(zone: OpenZone, targets: ForgetTargets) -> ErasurePlan:
    """Find the records that `forget` would erase, after completing earlier erasures.

    Parked events that conflict with an erased event's id are erased with it. A zone that is stopped
    at an event with a lost key can continue once that event is forgotten by its number (`#17`): the
    erasure then explains the missing key.

    Raises:
        InvalidInput, ErasureFailed: as `forget`.
    """
    ids, after, before = targets.ids, targets.time_after, targets.time_before
    criteria = Criteria(
        entity=targets.entity,
        sender=targets.sender,
        thread=targets.thread,
        platform=targets.platform,
        after=None if after is None else parse_query_time(after, "time_after"),
        before=None if before is None else parse_query_time(before, "time_before"),
    )
    if not ids and not criteria.has_criterion:
        raise InvalidInput(
            "say what to forget: ids, entity, sender, thread, time_before or time_after"
        )
    zone.must_exist()
    if lost := records_without_keys(zone.node.ledger, zone.name, ids):
        # Nothing can be decided before these are erased, so they must be erased alone.
        if criteria.has_criterion or lost.keys() < set(ids):
            raise InvalidInput(
                f"the keys of {', '.join(lost)} are lost, and zone {zone.name} has stopped: "
                "forget these records first, in a call of their own"
            )
        return ErasurePlan(
            numbers=tuple(sorted(set(lost.values()))),
            ids=list(lost),
            already_forgotten=[],
            resumed=[],
            request_hashes=(),
        )
    pending = _pending_erasures(zone)
    # Residue of an earlier erasure in the files does not prevent planning.
    with suppress(DeletionFailed):
        zone.decide()
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        finder = TargetFinder(zone.node.ledger, zone.name, files)
        return _plan(zone, finder, list(dict.fromkeys(ids)), criteria, pending)


def _plan(
    zone: OpenZone,
    finder: TargetFinder,
    ids: Sequence[str],
    criteria: Criteria,
    pending: Sequence[Forget],
) -> ErasurePlan:
    already_forgotten, resumed = [], []
    numbers: set[int] = set()
    by_id: dict[str, set[int]] = {}
    for id_ in ids:
        found = finder.by_id(id_, criteria.platform)
        if found.numbers:
            by_id[id_] = found.numbers
            numbers |= found.numbers
        elif any(
            request_hash(zone.node.ledger, zone.name, id_) in erasure.names
            or not found.erased.isdisjoint(erasure.targets)
            for erasure in pending
        ):
            resumed.append(id_)
        else:
            already_forgotten.append(id_)
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
        by_id = {id_: found for id_, found in by_id.items() if found & numbers}
    displayed = list(by_id) if ids else finder.display_ids(numbers)
    numbers = finder.with_dependents(numbers)
    # A repeated request may use another id of the same event, so all its ids are recorded.
    requested = [*by_id, *finder.event_ids(numbers)] if ids else []
    if criteria.entity is not None:
        requested.append(criteria.entity)
    return ErasurePlan(
        numbers=tuple(sorted(numbers)),
        ids=displayed,
        already_forgotten=already_forgotten,
        resumed=resumed,
        request_hashes=tuple(
            request_hash(zone.node.ledger, zone.name, id_) for id_ in dict.fromkeys(requested)
        ),
    )


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


def erase(zone: OpenZone, plan: ErasurePlan) -> ForgetReport:
    """Erase the planned records by one command in the ledger.

    Raises:
        ErasureFailed: as `forget`.
    """
    removed = dict.fromkeys(_COUNTED_ROWS, 0)
    if plan.numbers:
        before = _row_counts(zone)
        command(
            zone,
            Forget(source_id=random_id("forget"), targets=plan.numbers, names=plan.request_hashes),
        )
        _check_keys_destroyed(zone, plan.numbers)
        after = _row_counts(zone)
        # Never negative: other processes may have written meanwhile.
        removed = {name: max(before[name] - after[name], 0) for name in _COUNTED_ROWS}
        # Update the index in memory now rather than at the next query.
        zone.open_home.recallers.follow(zone.name)
    else:
        # An earlier erasure may have left residue in the files.
        zone.node.finish_purge(zone.name)
    return _report(plan, removed)


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
    found = []
    while records := reader.read(_BATCH_SIZE):
        found += [
            record.event.payload
            for record in records
            if record.event is not None and isinstance(record.event.payload, Forget)
        ]
    return found


def _report(plan: ErasurePlan, removed: dict[str, int], *, dry_run: bool = False) -> ForgetReport:
    return ForgetReport(
        forgotten=plan.ids,
        already_forgotten=plan.already_forgotten,
        resumed=plan.resumed,
        events=len(plan.numbers),
        facts=removed["facts"],
        entities=removed["entities"],
        vectors=removed["vectors"],
        dry_run=dry_run,
    )
