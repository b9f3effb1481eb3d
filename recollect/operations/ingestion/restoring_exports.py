"""Ingesting a zone's export: its records are appended as they were, commands included.

In a zone without other records each record gets the number that it had, so that everything derived
from the records is the same as in the zone that was exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.schemas.events import Content, Draft
from recollect.schemas.exported_events import (
    ExportedDraft,
    record_references,
    with_references,
)
from recollect.schemas.ids import event_id
from recollect.schemas.wire import Receipt
from recollect.streams.adapters import RefusedExport


class ExportPublisher:
    """Appends the records of an export to a zone, in order.

    The numbers by which commands refer to records are replaced by those that the records have here.
    """

    def __init__(self, zone: OpenZone) -> None:
        self._zone = zone
        # The number in the export -> the number here.
        self._numbers: dict[int, int] = {}

    def __call__(self, drafts: Sequence[Draft]) -> list[Receipt]:
        """Append drafts and return a receipt for each.

        Raises:
            RefusedExport: they are of another zone, so that the ids in commands would be wrong.
        """
        exported = [draft for draft in drafts if isinstance(draft, ExportedDraft)]
        for draft in exported:
            if draft.origin.zone != self._zone.name:
                raise RefusedExport(
                    f"the export is of the zone {draft.origin.zone}, whose name is part of every "
                    "id; ingest it into a zone of that name"
                )
        receipts: list[Receipt] = []
        for is_gap, run in groupby(exported, key=lambda draft: draft.is_gap):
            if is_gap:
                receipts += self._fill(list(run))
            else:
                for batch in self._resolvable(run):
                    receipts += self._append(batch)
        return receipts

    def _resolvable(self, drafts: Iterable[ExportedDraft]) -> Iterator[list[ExportedDraft]]:
        """Yield the drafts in batches, none of which refers to a record of its own batch."""
        batch: list[ExportedDraft] = []
        for draft in drafts:
            named = record_references(draft.payload)
            if batch and any(number >= batch[0].origin.number for number in named):
                yield batch
                batch = []
            batch.append(draft)
        if batch:
            yield batch

    def _append(self, drafts: Sequence[ExportedDraft]) -> list[Receipt]:
        payloads = [with_references(draft.payload, self._numbers.get) for draft in drafts]
        resolved = [
            msgspec.structs.replace(draft, payload=payload)
            for draft, payload in zip(drafts, payloads, strict=True)
            if payload is not None
        ]
        receipts = iter(self._zone.node.ledger.publish(self._zone.name, resolved))
        answers: list[Receipt] = []
        for draft, payload in zip(drafts, payloads, strict=True):
            receipt = self._known(draft) if payload is None else next(receipts)
            if receipt.status == "conflict" and not isinstance(payload, Content):
                # The same command, with the numbers that it had when it was received.
                receipt = msgspec.structs.replace(receipt, status="duplicate")
            if payload is not None and receipt.status != "conflict":
                self._numbers[draft.origin.number] = receipt.number
                self._zone.note_published(receipt.number)
            answers.append(receipt)
        return answers

    def _fill(self, gaps: Sequence[ExportedDraft]) -> list[Receipt]:
        """Append records without effect where records were not exported.

        This is done only while the numbers of both zones agree; else it would serve no purpose.
        """
        receipts: list[Receipt] = []
        for _, consecutive in groupby(
            enumerate(gaps), key=lambda item: item[1].origin.number - item[0]
        ):
            run = [gap for _, gap in consecutive]
            head = self._zone.node.ledger.head(self._zone.name).number
            if run[0].origin.number == head + 1:
                receipts += self._append(run)
            else:
                receipts += [self._known(gap) for gap in run]
        return receipts

    def _known(self, gap: ExportedDraft) -> Receipt:
        """Return the receipt of a record that adds nothing to the zone."""
        source_id = gap.payload.source_id
        id_ = event_id(self._zone.name, gap.platform, source_id, gap.occurred_at)
        return Receipt("duplicate", gap.origin.number, id_)
