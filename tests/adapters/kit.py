"""Test kit for adapters: the events of an export, and the content of a home after its import."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Content, Draft, kind_of
from recollect.schemas.wire import Rejection
from recollect.streams.adapters import Input, Options, drafts, exports_of, open_input

#: Real exports of other programs, where they are at hand; they are no part of the repository.
EXPORTS = Path(
    os.environ.get("RECOLLECT_TEST_EXPORTS")
    or Path(__file__).resolve().parents[3] / "shared" / "data" / "exports"
)


class Opened(NamedTuple):
    """What an input gave: drafts and rejections, in order."""

    input: Input
    drafts: list[Draft]
    rejections: list[Rejection]

    @property
    def contents(self) -> list[Content]:
        found = [draft.payload for draft in self.drafts]
        assert all(isinstance(payload, Content) for payload in found)
        return found  # type: ignore[return-value]

    @property
    def texts(self) -> list[str]:
        return [payload.content for payload in self.contents]

    @property
    def kinds(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for payload in self.contents:
            found[kind_of(payload)] = found.get(kind_of(payload), 0) + 1
        return found

    @property
    def formats(self) -> list[str]:
        return [export.format for export in self.input.exports]


def opened(
    path: Path,
    format_: str = "auto",
    *,
    timezone: str | None = None,
    date_order: str | None = None,
) -> Opened:
    """Return the drafts and rejections of an input."""
    found = open_input(path, format_, Options.of(timezone, date_order))
    items = [item for export in exports_of([found]) for _, item in drafts(export.source)]
    return Opened(
        found,
        [item for item in items if isinstance(item, Draft)],
        [*found.rejections, *(item for item in items if isinstance(item, Rejection))],
    )


def saved(file: Path, content: str | bytes) -> Path:
    """Write a file, and return it."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def import_counts(
    home: Path, exports: Iterable[Path], *, timezone: str | None = None
) -> list[tuple[int, int, int]]:
    """Import exports into a new home, and return how many events were new, duplicate, rejected.

    Each export is made only when the one before it has been imported.
    """
    with Recollect(Home.create_or_open(home, without_encoder=True)) as recollect:
        zone = recollect.zone("me")
        reports = [zone.ingest_files([export], timezone=timezone) for export in exports]
    return [(report.new, report.duplicate, report.rejected) for report in reports]


def zipped(members: Mapping[str, bytes], **how: Any) -> bytes:
    """Return a zip archive of members, in order."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()
