"""Write a zone to a file of events, or to a folder of pages."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

from recollect.home.open_zone import OpenZone
from recollect.operations.exporting.memory_pages import FOLDER_MARK, INDEX
from recollect.operations.exporting.page_folder import write_pages
from recollect.operations.ingestion.ingesting import Show, show_nothing
from recollect.projections.file_permissions import opener
from recollect.projections.generations import sync_directory
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import ExportReport
from recollect.streams.lifecycle.zone_exporting import exported_lines
from recollect.streams.system.paths import given_path

ExportFormat = Literal["jsonl", "markdown", "okf"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)

_BATCH_SIZE = 500


class ExportedLines:
    """The lines of a zone's export.

    `exported`: the number of records so far; `left_out`: the number of omitted records, by kind.
    """

    def __init__(self, zone: OpenZone) -> None:
        """Open the export of the records that the zone has now.

        Raises:
            UnknownZone: the zone has no events.
            InvalidInput: it is opened on behalf of a user or an agent.
        """
        zone.must_exist()
        zone.must_be_unrestricted()
        if zone.node.ledger.shared:
            zone.node.follow(zone.name)
        self._zone = zone
        self.last = zone.node.ledger.head(zone.name).number
        self.exported = 0
        self.left_out: Counter[str] = Counter()

    def __iter__(self) -> Iterator[bytes]:
        zone = self._zone
        writer_role = zone.node.current(zone.name).writer_role
        lines = exported_lines(zone.node.ledger, zone.name, self.last, writer_role)
        while True:
            # Not held while the caller works: it may read slowly, or on other threads.
            with zone.open_home.call_guard():
                batch = list(islice(lines, _BATCH_SIZE))
            if not batch:
                return
            for left_out, line in batch:
                if left_out is None:
                    self.exported += 1
                else:
                    self.left_out[left_out] += 1
                yield line


def export_zone(
    zone: OpenZone,
    path: str | PathLike[str],
    *,
    as_: ExportFormat = "jsonl",
    force: bool = False,
    show: Show = show_nothing,
) -> ExportReport:
    """Write a zone to a new file or folder, which appears when it is complete.

    `force`: replace what is there, if it is a file or a folder of an earlier export.

    Raises:
        InvalidInput: the format is unknown, or something is there already.
        UnknownZone: the zone has no events.
    """
    started = time.monotonic()
    if as_ not in EXPORT_FORMATS:
        raise InvalidInput(f"export format {as_!r}: choose from {', '.join(EXPORT_FORMATS)}")
    target = given_path("path", path)
    _check_target(target, is_folder=as_ != "jsonl", force=force)
    part = target.with_name(f".{target.name}.part")
    _remove(part)
    try:
        if as_ == "jsonl":
            lines = ExportedLines(zone)
            with (
                show("exporting", lines.last) as advance,
                open(part, "wb", opener=opener) as file,
            ):
                for line in lines:
                    file.write(line)
                    advance(1)
                file.flush()
                os.fsync(file.fileno())
            events, pages = lines.exported, 0
            left_out = dict(sorted(lines.left_out.items()))
        else:
            zone.must_exist()
            pages = write_pages(zone, part, as_okf=as_ == "okf", show=show)
            events, left_out = 0, {}
        _check_target(target, is_folder=as_ != "jsonl", force=force)
        if part.is_dir():
            # A folder cannot be replaced in one step.
            _remove(target)
        os.replace(part, target)
    except BaseException:
        _remove(part)
        raise
    sync_directory(target.parent)
    return ExportReport(
        path=str(target),
        format=as_,
        events=events,
        left_out=left_out,
        pages=pages,
        seconds=round(time.monotonic() - started, 3),
    )


def _check_target(target: Path, *, is_folder: bool, force: bool) -> None:
    """Raise InvalidInput if a file or folder must not be written there."""
    if not target.parent.is_dir():
        raise InvalidInput(f"{target.parent} is not a folder; create it first")
    if not os.path.lexists(target):
        return
    if not force:
        raise InvalidInput(f"{target} exists; choose a new path, or replace it with `force`")
    if is_folder != target.is_dir() or target.is_symlink():
        kind = "a folder" if is_folder else "a file"
        raise InvalidInput(f"{target} is not {kind}, so it was not replaced; choose another path")
    if is_folder and not _is_export(target):
        raise InvalidInput(
            f"{target} is not an earlier export, so it was not replaced; choose another path"
        )


def _is_export(folder: Path) -> bool:
    if not any(folder.iterdir()):
        return True
    try:
        return FOLDER_MARK in (folder / INDEX).read_text("utf-8", "replace")
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
