"""The command `records`: the records of a zone's ledger, and the decision on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.commands.derived.browse_commands import (
    INDENT,
    entries,
    is_empty,
    paging_options,
    print_page_footer,
)
from recollect.cli.options import OptionWithoutRange, common_options, open_zone
from recollect.cli.output import (
    paragraph,
    print_json,
    print_line,
    print_parts,
    quiet,
    strong,
    warning,
)
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import LedgerRecord, LedgerRecordDetails


@click.command(epilog="Example: recollect records --kind message --kind forget --newest")
@common_options
@click.argument("number", required=False, type=click.IntRange(1))
@click.option(
    "--from",
    "first",
    cls=OptionWithoutRange,
    metavar="N",
    type=click.IntRange(1),
    help="Start at record N.",
)
@click.option(
    "--at",
    metavar="T",
    help="Start at the first record ingested after T. With --newest, start at the last one "
    "ingested at or before T.",
)
@click.option(
    "--kind", "kinds", metavar="KIND", multiple=True, help="Only records of this kind. Repeatable."
)
@click.option(
    "--about",
    metavar="ID",
    multiple=True,
    help="Only records of commands (forget, retract, ...) that concern this fact, message, merge, "
    "entity or mental model. Repeatable.",
)
@click.option(
    "--newest",
    is_flag=True,
    help="List newest first. Starts at the last record, unless --from or --at is given.",
)
@paging_options
def records(
    home: str | None,
    zone: str | None,
    as_json: bool,
    number: int | None,
    first: int | None,
    at: str | None,
    kinds: tuple[str, ...],
    about: tuple[str, ...],
    newest: bool,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List the records of the ledger, or show one and its effects.

    Records are numbered from 1. Forgotten records are listed without their content.
    """
    with open_zone(home, zone) as memory:
        if number is not None:
            details = memory.record(number)
            if as_json:
                print_json(details)
            else:
                _show_details(details)
            return
        if is_empty(memory):
            return
        listed, more = entries(
            memory.records,
            limit,
            cursor,
            as_json=as_json,
            first=first,
            at=at,
            kinds=kinds or None,
            about=about or None,
            newest_first=newest,
        )
        for record in listed:
            if as_json:
                print_json(record)
            else:
                _show(record)
    print_page_footer(more)


def _show(record: LedgerRecord) -> None:
    parts = [strong(f"#{record.number} {record.kind}"), quiet(record.ingested_at)]
    if record.sender is not None:
        parts.append(quiet(collapse_whitespace(record.sender)))
    if record.given_by is not None:
        parts.append(quiet(f"given by {collapse_whitespace(record.given_by)}"))
    if not record.readable:
        parts.append(warning("cannot be read"))
    print_parts("", *parts)
    for line in paragraph(record.text or "", len(INDENT)):
        print_line(INDENT, line)


def _show_details(details: LedgerRecordDetails) -> None:
    _show(details.record)
    print_line(INDENT, quiet(f"sha256 {details.hash}"))
    print_line(INDENT, quiet(f"previous {details.previous}"))
    decision = details.decision
    if decision is None:
        print_line(INDENT, warning("not processed yet"))
        return
    agents = ", ".join(decision.agents) or "none"
    print_line(INDENT, f"{'parked' if decision.parked else 'processed'}; agents: {agents}")
    for rows in decision.rows:
        deleted = f", {rows.deleted:,} deleted" if rows.deleted else ""
        written = pluralise(rows.written, "row")
        print_line(INDENT, f"{rows.model}.{rows.table}: ", written, quiet(deleted))
    for command in decision.commands:
        print_line(INDENT, f"asked for: {command}")
    if decision.erased:
        print_line(
            INDENT, "erased: ", ", ".join(f"#{erased_number}" for erased_number in decision.erased)
        )


COMMANDS = (records,)
