"""Importing: drafts of a source go to the ledger in order, and every record is accounted for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from recollect.schemas.events import Draft
from recollect.schemas.wire import Receipt, Rejection, Skipped
from recollect.streams.adapters.adapter import Place, Source, drafts

#: The first rejections are told, and all are counted: a broken export has millions.
MAX_REJECTIONS = 1_000
# A reason quotes what was sent.
_MAX_REASON_LENGTH = 500
# Drafts per append: a commit of the ledger costs a disk flush, whatever it holds.
_BATCH = 1_000


class Import(msgspec.Struct):
    """What became of an import's records.

    `clamped`: so many of the new ones gave an `ingested_at` after the ledger's clock, which was
    taken instead. `rejections` are the first of those that were rejected; `skipped` are the files
    that were passed over.
    """

    read: int = 0
    new: int = 0
    duplicate: int = 0
    clamped: int = 0
    rejected: int = 0
    rejections: list[Rejection] = []
    skipped: list[Skipped] = []


class Importer:
    """Publishes drafts in batches, and adds up in `counts` what became of them."""

    def __init__(self, publish: Callable[[Sequence[Draft]], list[Receipt]], counts: Import) -> None:
        self._publish = publish
        self._counts = counts
        self._batch: list[tuple[Place, Draft]] = []

    def add(self, place: Place, item: Draft | Rejection) -> None:
        """Take a draft or a refusal, as `drafts` yields them."""
        self._counts.read += 1
        if isinstance(item, Rejection):
            reject(self._counts, item)
            return
        self._batch.append((place, item))
        if len(self._batch) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Publish what was taken."""
        if not self._batch:
            return
        counts = self._counts
        receipts = self._publish([draft for _, draft in self._batch])
        for (place, draft), receipt in zip(self._batch, receipts, strict=True):
            if receipt.status == "new":
                counts.new += 1
                counts.clamped += receipt.clamped
            elif receipt.status == "duplicate":
                counts.duplicate += 1
            else:
                reject(
                    counts,
                    Rejection(
                        *place,
                        f"conflict: id {draft.payload.source_id!r} of platform "
                        f"{draft.platform!r} is in the ledger with other content; that stays",
                    ),
                )
        self._batch.clear()


def import_source(
    source: Source,
    publish: Callable[[Sequence[Draft]], list[Receipt]],
    counts: Import,
    same: Counter[str] | None = None,
) -> None:
    """Publish a source's drafts and add up in `counts` what became of them.

    `same` is that of `drafts`, where an import has several sources.
    """
    importer = Importer(publish, counts)
    for place, item in drafts(source, same):
        importer.add(place, item)
    importer.flush()


def reject(counts: Import, rejection: Rejection) -> None:
    """Count a rejection, and tell it where it is one of the first."""
    counts.rejected += 1
    if len(counts.rejections) >= MAX_REJECTIONS:
        return
    reason = rejection.reason
    if len(reason) > _MAX_REASON_LENGTH:
        reason = reason[:_MAX_REASON_LENGTH] + "…"
    # A file's name may hold bytes that are no text; the report is text.
    path = os.fsencode(rejection.path).decode(errors="replace")
    counts.rejections.append(msgspec.structs.replace(rejection, path=path, reason=reason))
