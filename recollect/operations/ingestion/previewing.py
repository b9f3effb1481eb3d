"""Previews of imports: a summary of what would be imported, without publishing anything."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from os import PathLike

import msgspec

from recollect.operations.ingestion.ingesting import (
    Show,
    initial_counts,
    open_inputs,
    show_nothing,
)
from recollect.schemas.events import Content, Draft, kind_of
from recollect.schemas.times import format_time
from recollect.schemas.wire import ExportPreview, Person, Preview, Rejection, Sample
from recollect.streams.adapters import (
    ByteCounter,
    Export,
    ImportCounts,
    Options,
    drafts,
    exports_of,
    reject,
    total_size,
)

#: The maximum number of people listed per export.
MAX_PEOPLE = 20
# The number of samples from the beginning of an export, and from its end.
_SAMPLES_PER_END = 5
_MAX_TEXT_LENGTH = 200


def preview(
    paths: Sequence[str | PathLike[str]],
    *,
    format: str = "auto",
    timezone: str | None = None,
    date_order: str | None = None,
    show: Show = show_nothing,
) -> Preview:
    """Summarise what an import of files, folders and archives would read.

    Raises:
        InvalidInput: as `ingest_files`.
    """
    meter = ByteCounter()
    inputs = open_inputs(paths, format, Options.of(timezone, date_order), meter)
    counts = initial_counts(inputs)
    with show("reading", total_size(inputs), "bytes") as meter.on_bytes_read:
        exports = [_preview_of(export, counts) for export in exports_of(inputs)]
    return Preview(
        exports=exports,
        read=counts.read,
        rejected=counts.rejected,
        rejections=counts.rejections,
        skipped=counts.skipped,
    )


class _Summary(msgspec.Struct):
    """The summary of an export read so far, with samples from its beginning and its end."""

    platforms: set[str] = set()
    people: Counter[str] = msgspec.field(default_factory=Counter)
    names: dict[str, str] = {}
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    first: int | None = None
    last: int | None = None
    first_samples: list[Sample] = []
    last_samples: deque[Sample] = msgspec.field(
        default_factory=lambda: deque(maxlen=_SAMPLES_PER_END)
    )

    def add(self, draft: Draft) -> None:
        content = draft.payload
        at = draft.occurred_at
        self.kinds[kind_of(content)] += 1
        if not isinstance(content, Content):
            # A command in the export of a zone.
            return
        self.platforms.add(draft.platform)
        self.people[content.sender_id] += 1
        if content.sender_name:
            self.names[content.sender_id] = content.sender_name
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
        has_first = len(self.first_samples) >= _SAMPLES_PER_END
        (self.last_samples if has_first else self.first_samples).append(_sample(draft, content))


def _preview_of(export: Export, counts: ImportCounts) -> ExportPreview:
    summary = _Summary()
    for _, draft in drafts(export.source):
        counts.read += 1
        if isinstance(draft, Rejection):
            reject(counts, draft)
        else:
            summary.add(draft)
    return ExportPreview(
        path=export.path,
        format=export.format,
        platforms=sorted(summary.platforms),
        people=[
            Person(id=id_, name=summary.names.get(id_), events=count)
            for id_, count in summary.people.most_common(MAX_PEOPLE)
        ],
        people_count=len(summary.people),
        first=None if summary.first is None else format_time(summary.first),
        last=None if summary.last is None else format_time(summary.last),
        kinds=dict(sorted(summary.kinds.items())),
        samples=[*summary.first_samples, *summary.last_samples],
    )


def _sample(draft: Draft, content: Content) -> Sample:
    attachments = [
        f"[{item.type}: {item.name or item.caption or '?'}]" for item in content.attachments
    ]
    text = " ".join([*content.content.split(), *attachments])
    return Sample(
        at=format_time(draft.occurred_at),
        who=content.sender_name or content.sender_id,
        kind=kind_of(content),
        text=text if len(text) <= _MAX_TEXT_LENGTH else text[:_MAX_TEXT_LENGTH] + "…",
    )
