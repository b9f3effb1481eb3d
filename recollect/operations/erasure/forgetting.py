"""Forgetting: records are chosen first, then erased everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from recollect.home.open_zone import OpenZone, row_counts
from recollect.operations.erasure.erasure_targets import Chooser, hashed, lost_among
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
_COUNTED = ("facts", "entities", "vectors")


class Chosen(msgspec.Struct, frozen=True):
    """The records that an erasure would take: their numbers and ids.

    `ids` are those that were given; if records were chosen otherwise, the sources' own ids, and `#`
    with the number of a record without one. `already_forgotten`: those that were forgotten before;
    `resumed`: those whose erasure was interrupted and has been finished now. `names` are keyed
    hashes of the given ids.
    """

    numbers: tuple[int, ...]
    ids: list[str]
    already: list[str]
    finished: list[str]
    names: tuple[bytes, ...]


def forget(zone: OpenZone, targets: ForgetTargets, *, dry_run: bool = False) -> ForgetReport:
    """Erase what is named, and all that was decided from it, everywhere.

    One call for many events costs as much as for one. With `dry_run` nothing changes. An id that
    was forgotten before is no error; one that was never there is.

    Raises:
        InvalidInput: nothing was said of what is to go, or an id or a name stands for nothing,
            or for several; then nothing is erased.
        ErasureFailed: it could not be carried out; it will be, before anything else.
    """
    chosen = choose(zone, targets)
    return would_erase(zone, chosen) if dry_run else erase(zone, chosen)


def choose(zone: OpenZone, targets: ForgetTargets) -> Chosen:
    """Return what `forget` would erase, and finish what an earlier one began.

    What was parked because it said something else under the id of an event goes with that event.
    An event whose key is lost, which has stopped its zone, is given up by its number: the
    erasure then says why the key is missing, and the zone goes on without the event.

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
    if not ids and not criteria.given:
        raise InvalidInput(
            "say what to forget: ids, entity, sender, thread, time_before or time_after"
        )
    zone.must_exist()
    if lost := lost_among(zone.node.ledger, zone.name, ids):
        # Nothing can be decided before these are erased, so they must be erased alone.
        if criteria.given or lost.keys() < set(ids):
            raise InvalidInput(
                f"the keys of {', '.join(lost)} are lost, and zone {zone.name} has stopped: "
                "forget those by themselves first"
            )
        return Chosen(
            numbers=tuple(sorted(set(lost.values()))),
            ids=list(lost),
            already=[],
            finished=[],
            names=(),
        )
    unfinished = _unfinished(zone)
    # Traces that an earlier erasure left in files do not prevent choosing.
    with suppress(DeletionFailed):
        zone.decide()
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        chooser = Chooser(zone.node.ledger, zone.name, files)
        return _chosen(zone, chooser, list(dict.fromkeys(ids)), criteria, unfinished)


def _chosen(
    zone: OpenZone,
    chooser: Chooser,
    ids: Sequence[str],
    criteria: Criteria,
    unfinished: Sequence[Forget],
) -> Chosen:
    already, finished = [], []
    numbers: set[int] = set()
    by_id: dict[str, set[int]] = {}
    for id_ in ids:
        found = chooser.named(id_, criteria.platform)
        if found.numbers:
            by_id[id_] = found.numbers
            numbers |= found.numbers
        elif any(
            hashed(zone.node.ledger, zone.name, id_) in forgets.names
            or not found.erased.isdisjoint(forgets.targets)
            for forgets in unfinished
        ):
            finished.append(id_)
        else:
            already.append(id_)
    if criteria.given and (numbers or not ids):
        if (
            criteria.entity is not None
            and chooser.was_forgotten(criteria.entity)
            and chooser.meant(criteria.entity) is None
        ):
            already.append(criteria.entity)
            fitting: set[int] = set()
        else:
            fitting = chooser.fitting(criteria)
        numbers = numbers & fitting if ids else fitting
        by_id = {id_: found for id_, found in by_id.items() if found & numbers}
    shown = list(by_id) if ids else chooser.shown(numbers)
    numbers = chooser.with_all(numbers)
    # A repeated request may name another id of the same event.
    asked = [*by_id, *chooser.ids_of(numbers)] if ids else []
    if criteria.entity is not None:
        asked.append(criteria.entity)
    return Chosen(
        numbers=tuple(sorted(numbers)),
        ids=shown,
        already=already,
        finished=finished,
        names=tuple(hashed(zone.node.ledger, zone.name, id_) for id_ in dict.fromkeys(asked)),
    )


def would_erase(zone: OpenZone, chosen: Chosen) -> ForgetReport:
    """Return what erasing would remove; nothing is changed."""
    gone = dict.fromkeys(_COUNTED, 0)
    if chosen.numbers:
        generation = zone.node.current(zone.name)
        with (
            zone.node.driving(zone.name),
            zone.node.open(zone.name, generation) as files,
        ):
            before = row_counts(files)
            with zone.node.driver(zone.name, generation, files).erasure_preview(chosen.numbers):
                after = row_counts(files)
        gone = {name: before[name] - after[name] for name in _COUNTED}
    return _forgotten(chosen, gone, dry_run=True)


def erase(zone: OpenZone, chosen: Chosen) -> ForgetReport:
    """Erase what was chosen, by one command of the ledger.

    Raises:
        ErasureFailed: as `forget`.
    """
    gone = dict.fromkeys(_COUNTED, 0)
    if chosen.numbers:
        before = _counted(zone)
        command(
            zone, Forget(source_id=random_id("forget"), targets=chosen.numbers, names=chosen.names)
        )
        _check_gone(zone, chosen.numbers)
        after = _counted(zone)
        # Other processes may have written meanwhile.
        gone = {name: max(before[name] - after[name], 0) for name in _COUNTED}
        # The index in memory drops it now, so that no question has to wait for that.
        zone.open_home.recallers.follow(zone.name)
    else:
        # The erasure is complete when no trace is left.
        zone.node.finish_purge(zone.name)
    return _forgotten(chosen, gone)


def _counted(zone: OpenZone) -> dict[str, int]:
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        return row_counts(files)


def _check_gone(zone: OpenZone, numbers: Sequence[int]) -> None:
    """Raise ErasureFailed while a key of an erased record still exists."""
    with zone.node.open(zone.name, zone.node.current(zone.name)) as files:
        sealed = sources(files.events.connection, numbers)
    left = zone.node.ledger.keys.get([source.key_id for source in sealed.values()])
    if left:
        raise ErasureFailed(
            f"zone {zone.name}: {len(left)} of {len(numbers)} records can still be read; see "
            "that a worker runs, and run recollect forget again"
        )


def _unfinished(zone: OpenZone) -> list[Forget]:
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


def _forgotten(chosen: Chosen, gone: dict[str, int], *, dry_run: bool = False) -> ForgetReport:
    return ForgetReport(
        forgotten=chosen.ids,
        already_forgotten=chosen.already,
        resumed=chosen.finished,
        events=len(chosen.numbers),
        facts=gone["facts"],
        entities=gone["entities"],
        vectors=gone["vectors"],
        dry_run=dry_run,
    )
