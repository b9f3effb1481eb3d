"""What an import would bring: people, the span of time, counts, some lines, and what is refused."""

from __future__ import annotations

import msgspec

from recollect.schemas.wire.reports import Rejection, Skipped


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who wrote in an export: the platform's id, the last name, and how many records."""

    id: str
    name: str | None
    events: int


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an export: when (ISO 8601 in UTC), who, what kind of record, and its words."""

    at: str
    who: str
    kind: str
    text: str


class ExportPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What was understood of one export.

    `people`: those who wrote most, of `people_count`. `first` and `last`: when its earliest and its
    latest record happened. `kinds`: how many records of each kind. `samples`: its first lines and
    its last, ten together.
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
    """What an import would read; nothing of it was published."""

    exports: list[ExportPreview]
    read: int
    rejected: int
    rejections: list[Rejection]
    skipped: list[Skipped]
