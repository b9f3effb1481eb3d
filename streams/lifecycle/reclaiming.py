"""Reclaim the space of old chains of change records in the embedded ledger.

Each of their records is replaced by a short record that belongs to no chain, so no offset changes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence, Set
from pathlib import Path

from recollect.projections.content import content_hash
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.projections.readmodel import Watermark
from recollect.schemas.errors import IntegrityError, InvalidInput
from recollect.schemas.ledger.fragments import Assembler, record_hash_of
from recollect.schemas.ledger.records import NO_CHAIN, chain_of, reclaimed_change
from recollect.schemas.wire import ReclaimReport
from recollect.streams.engine.node import Node
from recollect.streams.ledger import CHANGES, Ledger, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.projecting.projector import project_changes, project_events
from recollect.streams.system.locks import exclusive

_BATCH_SIZE = 1_000


def reclaim(node: Node, zone: str, *, dry_run: bool = False) -> ReclaimReport:
    """Remove the change records of chains that no generation of a zone needs.

    The remaining records are replayed before and after, inside one write transaction of the ledger.
    If the replays differ, nothing is removed.

    Raises:
        InvalidInput: the ledger is not the embedded one.
        IntegrityError: the replay differs without those records.
    """
    ledger = node.ledger
    if not isinstance(ledger, EmbeddedLedger):
        raise InvalidInput(
            "`reclaim` works on the embedded ledger only: records of a Kafka topic are never "
            "changed"
        )
    directory = node.zone(zone)
    if not dry_run:
        # First recreate lost files, and let files follow a switch of chain that they have missed.
        node.drive(zone)
    with exclusive(directory.path / "rebuild.lock"), node.driving(zone):
        generations = [item for item in directory.generations() if item.complete]
        needed = {generation.chain for generation in directory.generations()}
        needed.add(node.chain_in_use(zone))
        offsets, chains, size = _reclaimable(ledger, zone, needed)
        empty = reclaimed_change(zone)
        freed = max(size - len(offsets) * len(empty), 0)
        if not dry_run:
            directory.clear_leftovers()
            freed = ledger.reclaim(
                zone, offsets, empty, lambda: _replay_state(node, zone, generations)
            )
    return ReclaimReport(sorted(chains), sorted(needed), len(offsets), freed, dry_run)


def _reclaimable(ledger: Ledger, zone: str, needed: Set[str]) -> tuple[list[int], set[str], int]:
    """Return the offsets of the records of unneeded chains, these chains, and the size in bytes.

    Records of which a fragment is missing are kept, since their chain is unknown.
    """
    offsets: list[int] = []
    chains: set[str] = set()
    size = 0
    assembler = Assembler()
    fragments: dict[bytes, list[tuple[int, int]]] = {}
    offset = 0
    while records := ledger.read(CHANGES, partition_of(zone), offset, _BATCH_SIZE, zone):
        for offset, _, value in records:
            try:
                complete, fragment_of = assembler.add(value), record_hash_of(value)
                chain = None if complete is None else chain_of(complete)
            except IntegrityError:
                # The record is damaged and belongs to no chain; verify reports it.
                continue
            locations = [(offset, len(value))]
            if fragment_of is not None:
                locations = fragments.setdefault(fragment_of, [])
                locations.append((offset, len(value)))
            if chain is not None and chain not in needed and chain != NO_CHAIN:
                chains.add(chain)
                offsets += [location for location, _ in locations]
                size += sum(length for _, length in locations)
            if complete is not None and fragment_of is not None:
                del fragments[fragment_of]
        offset = records[-1].offset + 1
    return sorted(offsets), chains, size


def _replay_state(
    node: Node, zone: str, generations: Sequence[Generation]
) -> dict[str, list[tuple[str, Watermark]]]:
    """Replay each generation's chain; return the content hash and watermark of each file."""
    states: dict[str, list[tuple[str, Watermark]]] = {}
    for generation in generations:
        if generation.chain not in states:
            directory = Path(tempfile.mkdtemp(prefix="scratch-", dir=node.zone(zone).path))
            try:
                with ZoneFiles(directory, generation.encoder, generation.dimension) as files:
                    project_events(node.ledger, zone, files)
                    project_changes(
                        node.ledger, zone, generation.chain, files, destroy_erased_keys=False
                    )
                    states[generation.chain] = [
                        (content_hash(one), one.watermark()) for one in files.all
                    ]
            finally:
                shutil.rmtree(directory, ignore_errors=True)
    return states
