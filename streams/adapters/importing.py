"""Import a source: publish its drafts in order, and account for every record."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from recollect.schemas.events import Draft
from recollect.schemas.wire import Receipt, Rejection, Skipped
from recollect.streams.adapters.adapter import ExportSource, SourceLocation, drafts

#: How many rejections are listed; all are counted, and a broken export has millions.
MAX_REJECTIONS = 1_000
# Reasons are cut to this length, because they quote the record.
_MAX_REASON_LENGTH = 500
# Drafts per append: each commit of the ledger costs a disk flush.
_BATCH_SIZE = 1_000


class ImportCounts(msgspec.Struct):
    """The counts of an import's records by outcome.

    `clamped`: new records whose `ingested_at` was in the future; the ledger's time was used
    instead. `rejections` lists the first rejected records. `skipped`: files that were not read.
    """

    read: int = 0
    new: int = 0
    duplicate: int = 0
    clamped: int = 0
    rejected: int = 0
    rejections: list[Rejection] = []
    skipped: list[Skipped] = []


class Importer:
    """Publishes drafts in batches, and counts their outcomes in `counts`."""

    def __init__(
        self, publish: Callable[[Sequence[Draft]], list[Receipt]], counts: ImportCounts
    ) -> None:
        self._publish = publish
        self._counts = counts
        self._batch: list[tuple[SourceLocation, Draft]] = []

    def add(self, location: SourceLocation, item: Draft | Rejection) -> None:
        """Add a draft or a rejection, as `drafts` yields them."""
        self._counts.read += 1
        if isinstance(item, Rejection):
            reject(self._counts, item)
            return
        self._batch.append((location, item))
        if len(self._batch) >= _BATCH_SIZE:
            self.flush()

    def flush(self) -> None:
        """Publish the added drafts."""
        if not self._batch:
            return
        counts = self._counts
        receipts = self._publish([draft for _, draft in self._batch])
        for (location, draft), receipt in zip(self._batch, receipts, strict=True):
            if receipt.status == "new":
                counts.new += 1
                counts.clamped += receipt.clamped
            elif receipt.status == "duplicate":
                counts.duplicate += 1
            else:
                reject(
                    counts,
                    Rejection(
                        *location,
                        f"conflict: id {draft.payload.source_id!r} of platform "
                        f"{draft.platform!r} is already in the ledger with different content, "
                        "which is kept",
                    ),
                )
        self._batch.clear()


def import_source(
    source: ExportSource,
    publish: Callable[[Sequence[Draft]], list[Receipt]],
    counts: ImportCounts,
    duplicate_counts: Counter[str] | None = None,
) -> None:
    """Publish a source's drafts, and count their outcomes in `counts`.

    `duplicate_counts`: as for `drafts`, if an import has several sources.
    """
    importer = Importer(publish, counts)
    for location, item in drafts(source, duplicate_counts):
        importer.add(location, item)
    importer.flush()


def reject(counts: ImportCounts, rejection: Rejection) -> None:
    """Count a rejection, and list it if it is among the first."""
    counts.rejected += 1
    if len(counts.rejections) >= MAX_REJECTIONS:
        return
    reason = rejection.reason
    if len(reason) > _MAX_REASON_LENGTH:
        reason = reason[:_MAX_REASON_LENGTH] + "…"
    # A file's name may have bytes that are not text; the report is text.
    path = os.fsencode(rejection.path).decode(errors="replace")
    counts.rejections.append(msgspec.structs.replace(rejection, path=path, reason=reason))
