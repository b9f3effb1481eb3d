"""Commands of the language-model writer: write, writer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import common_options, open_zone
from recollect.cli.output import note, print_json, print_line, progress, quiet, strong
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import escape_invisible, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import WriteReport


@click.command(epilog="Example: recollect write --dry-run")
@common_options
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Process at most N events.")
@click.option(
    "--again", is_flag=True, help="Also process events that another model or prompt has processed."
)
@click.option("--dry-run", is_flag=True, help="Estimate the cost without calling the model.")
def write(
    home: str | None,
    zone: str | None,
    as_json: bool,
    limit: int | None,
    again: bool,
    dry_run: bool,
) -> int:
    """Run the language model on events that it has not read yet.

    The rules have processed them already. The model can only add facts, and each is validated.
    Its answers are recorded, so no event is paid for twice, not even by a rebuild.
    """
    with open_zone(home, zone) as memory, progress("writing", unit="events") as advance:
        found = memory.write(limit=limit, again=again, dry_run=dry_run, progress=advance)
    if as_json:
        print_json(found)
    elif dry_run:
        print_estimate(found)
    else:
        print_line(
            f"{found.model} read {pluralise(found.processed, 'event')}", f" of {found.pending:,}"
        )
        print_line(
            f"{pluralise(found.accepted, 'fact')} kept, {found.duplicates:,} repeated, "
            f"{found.rejected:,} rejected"
        )
        for reason, count in found.reasons.items():
            print_line(quiet(f"  {reason} {count:,}"))
        calls = pluralise(found.calls, "call")
        print_line(f"{calls}, {pluralise(found.tokens, 'token')}, cost {found.cost:.4f}")
        if found.stopped:
            left = pluralise(found.pending - found.processed, "event")
            note(f"{left} left: {found.stopped}")
    return 1 if found.stopped else 0


def print_estimate(found: WriteReport) -> None:
    """Print how much a model would read, and the estimated cost."""
    waiting = pluralise(found.pending, "event")
    print_line(f"{found.model} with prompt {found.role} would read {waiting}")
    if found.recorded:
        print_line(f"{found.recorded:,} of these already have a recorded answer")
    print_line(f"calls     {found.min_calls:,} to {found.calls:,}")
    print_line(f"tokens    about {found.min_tokens:,} to {found.tokens:,}")
    print_line(f"cost      about {found.min_cost:.4f} to {found.cost:.4f}")


@click.command(epilog="Example: recollect writer --note names 'Mel is Melanie, not Melissa.'")
@common_options
@click.option(
    "--role",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Set the prompt from FILE; an empty file restores the default.",
)
@click.option(
    "--note",
    "note_",
    metavar="NAME TEXT",
    nargs=2,
    help="Set a named note; an empty TEXT removes it.",
)
def writer(
    home: str | None,
    zone: str | None,
    as_json: bool,
    role: Path | None,
    note_: tuple[str, str] | None,
) -> None:
    """Show or set a zone's instructions for the language model.

    The model extracts facts; recollect write runs it. Its instructions are a role prompt and named
    notes. Each version of a text is an event in the ledger.
    """
    with open_zone(home, zone) as memory:
        if role is not None:
            try:
                text = role.read_text()
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInput(f"--role: cannot read {role}: {error}") from None
            memory.set_writer_text("role", text)
        if note_ is not None:
            memory.set_writer_text(*note_)
        found = memory.writer_texts()
    for each in found:
        if as_json:
            print_json(each)
        else:
            since = f", since record {each.number}" if each.number else ", the default"
            print_line(strong(each.name), quiet(since))
            for line in each.text.splitlines():
                print_line(f"  {escape_invisible(line)}")


COMMANDS = (write, writer)
