"""Import dry-run: people, time range, counts, samples, rejections."""

from __future__ import annotations

import msgspec

from recollect.schemas.wire.reports import Rejection, Skipped


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A sender in an export: platform id, latest name, number of records."""

    id: str
    name: str | None
    events: int


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A record of an export: time (ISO 8601 in UTC), sender, kind, text."""

    at: str
    who: str
    kind: str
    text: str


class ExportPreview(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of one export.

    `people`: the most active of `people_count`. `first` and `last`: times of the earliest and
    latest record. `kinds`: number of records by kind. `samples`: the first and last records,
    ten in total.
    """

    path: str
    format: str
    platforms: list[str]
    people: list[Person]
    people_count: int
    first: str | None
    last: str | None
    kinds: dict[str, int]
    samples: list[Sample]


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What an import would read; nothing was published."""

    exports: list[ExportPreview]
    read: int
    rejected: int
    rejections: list[Rejection]
    skipped: list[Skipped]
