"""Previewing: what an import would read, before any of it is published."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from os import PathLike

import msgspec

from recollect.operations.ingestion.ingesting import Show, begun, open_inputs, show_nothing
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

#: Of the people of an export so many are named, of its lines so many shown, each so long.
MAX_PEOPLE = 20
_HALF = 5
_MAX_TEXT_LENGTH = 200


def preview(
    paths: Sequence[str | PathLike[str]],
    *,
    format: str = "auto",
    timezone: str | None = None,
    date_order: str | None = None,
    show: Show = show_nothing,
) -> Preview:
    """Return what an import of files, folders and archives would read.

    Raises:
        InvalidInput: as `ingest_files`.
    """
    meter = ByteCounter()
    inputs = open_inputs(paths, format, Options.of(timezone, date_order), meter)
    counts = begun(inputs)
    with show("reading", total_size(inputs), "bytes") as meter.on_bytes_read:
        exports = [_previewed(export, counts) for export in exports_of(inputs)]
    return Preview(
        exports=exports,
        read=counts.read,
        rejected=counts.rejected,
        rejections=counts.rejections,
        skipped=counts.skipped,
    )


class _Seen(msgspec.Struct):
    """What was seen of an export so far; of its lines only the first and the last are kept."""

    platforms: set[str] = set()
    people: Counter[str] = msgspec.field(default_factory=Counter)
    names: dict[str, str] = {}
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    first: int | None = None
    last: int | None = None
    begins: list[Sample] = []
    ends: deque[Sample] = msgspec.field(default_factory=lambda: deque(maxlen=_HALF))

    def add(self, draft: Draft) -> None:
        content = draft.payload
        assert isinstance(content, Content)
        at = draft.occurred_at
        self.platforms.add(draft.platform)
        self.kinds[kind_of(content)] += 1
        self.people[content.sender_id] += 1
        if content.sender_name:
            self.names[content.sender_id] = content.sender_name
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
        (self.ends if len(self.begins) >= _HALF else self.begins).append(_sample(draft, content))


def _previewed(export: Export, counts: ImportCounts) -> ExportPreview:
    seen = _Seen()
    for _, draft in drafts(export.source):
        counts.read += 1
        if isinstance(draft, Rejection):
            reject(counts, draft)
        else:
            seen.add(draft)
    return ExportPreview(
        path=export.path,
        format=export.format,
        platforms=sorted(seen.platforms),
        people=[
            Person(id=id_, name=seen.names.get(id_), events=count)
            for id_, count in seen.people.most_common(MAX_PEOPLE)
        ],
        people_count=len(seen.people),
        first=None if seen.first is None else format_time(seen.first),
        last=None if seen.last is None else format_time(seen.last),
        kinds=dict(sorted(seen.kinds.items())),
        samples=[*seen.begins, *seen.ends],
    )


def _sample(draft: Draft, content: Content) -> Sample:
    named = [f"[{item.type}: {item.name or item.caption or '?'}]" for item in content.attachments]
    text = " ".join([*content.content.split(), *named])
    return Sample(
        at=format_time(draft.occurred_at),
        who=content.sender_name or content.sender_id,
        kind=kind_of(content),
        text=text if len(text) <= _MAX_TEXT_LENGTH else text[:_MAX_TEXT_LENGTH] + "…",
    )
