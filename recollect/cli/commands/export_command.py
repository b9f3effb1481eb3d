"""The command that exports a zone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import FilePath, common_options, open_zone
from recollect.cli.output import print_json, print_line, progress
from recollect.schemas.text_sanitising import escape_invisible_json, pluralise

if TYPE_CHECKING:
    from recollect.operations.exporting.zone_export import ExportFormat

#: A copy of the formats, so that --help need not load them; a test compares the lists.
EXPORT_FORMATS = ("jsonl", "markdown", "okf")
_STANDARD_OUTPUT = Path("-")


@click.command(epilog="Example: recollect export --as jsonl memory.jsonl")
@common_options
@click.argument("path", type=FilePath(allow_dash=True))
@click.option(
    "--as",
    "as_",
    type=click.Choice(EXPORT_FORMATS),
    default="jsonl",
    show_default=True,
    help="jsonl: a file of all events; markdown: a folder of pages to read; okf: the same pages "
    "as a bundle in the Open Knowledge Format.",
)
@click.option("--force", is_flag=True, help="Replace an earlier export.")
def export(
    home: str | None,
    zone: str | None,
    as_json: bool,
    path: Path,
    as_: ExportFormat,
    force: bool,
) -> None:
    """Export a zone, as its events or as Markdown pages to read.

    PATH is a new file (for pages, a new folder). It does not appear until the export is complete.
    If PATH is -, the events go to standard output. Ingesting the events into a zone of the same
    name in a new home reproduces the memory. Forgotten events are not exported.
    """
    if path == _STANDARD_OUTPUT:
        if as_ != "jsonl" or as_json or force:
            raise click.UsageError(
                "standard output (-) takes only --as jsonl, without --json and --force"
            )
        with open_zone(home, zone) as memory:
            for line in memory.export_lines():
                # Equivalent JSON, without characters that act on a terminal.
                shown = escape_invisible_json(line.decode().rstrip("\n"))
                sys.stdout.buffer.write(f"{shown}\n".encode())
        sys.stdout.buffer.flush()
        return
    with open_zone(home, zone) as memory:
        report = memory.export(path, as_=as_, force=force, show=progress)
    if as_json:
        print_json(report)
        return
    if as_ != "jsonl":
        print_line(f"wrote {pluralise(report.pages, 'page')} to {report.path}")
        return
    print_line(f"exported {pluralise(report.events, 'record')} to {report.path}")
    if report.left_out:
        listed = ", ".join(f"{kind} {count}" for kind, count in report.left_out.items())
        print_line(f"left out: {listed}")


COMMANDS = (export,)
