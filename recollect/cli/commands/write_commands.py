"""Commands of the writer on a language model: write, writer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import common, open_zone
from recollect.cli.output import emit, note, progress, quiet, say, strong
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import escape_invisible, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import WriteReport


@click.command(epilog="Example: recollect write --dry-run")
@common
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Of so many events at most.")
@click.option("--again", is_flag=True, help="Also what another model wrote, or another role.")
@click.option("--dry-run", is_flag=True, help="Only say what it would take.")
def write(
    home: str | None,
    zone: str | None,
    as_json: bool,
    limit: int | None,
    again: bool,
    dry_run: bool,
) -> int:
    """Let the home's language model read what it has not read.

    The rules have decided every event before; what the model says is checked, and can only add. Its
    answers are recorded, so nothing is asked twice, and no rebuild asks again.
    """
    with open_zone(home, zone) as memory, progress("writing", unit="events") as advance:
        found = memory.write(limit=limit, again=again, dry_run=dry_run, progress=advance)
    if as_json:
        emit(found)
    elif dry_run:
        say_price(found)
    else:
        say(f"{found.model} read {pluralise(found.processed, 'event')}", f" of {found.pending:,}")
        say(
            f"{pluralise(found.accepted, 'fact')} kept, {found.duplicates:,} repeated, "
            f"{found.rejected:,} refused"
        )
        for reason, count in found.reasons.items():
            say(quiet(f"  {reason} {count:,}"))
        calls = pluralise(found.calls, "call")
        say(f"{calls}, {pluralise(found.tokens, 'token')}, cost {found.cost:.4f}")
        if found.stopped:
            left = pluralise(found.pending - found.processed, "event")
            note(f"{left} left: {found.stopped}")
    return 1 if found.stopped else 0


def say_price(found: WriteReport) -> None:
    """Write what a model would read, and what that takes."""
    waiting = pluralise(found.pending, "event")
    say(f"{found.model} in the role {found.role} would read {waiting}")
    if found.recorded:
        say(f"{pluralise(found.recorded, 'event')} with an answer that is recorded already")
    say(f"calls     {found.min_calls:,} to {found.calls:,}")
    say(f"tokens    about {found.min_tokens:,} to {found.tokens:,}")
    say(f"cost      about {found.min_cost:.4f} to {found.cost:.4f}")


@click.command(epilog="Example: recollect writer --note names 'Mel is Melanie, not Melissa.'")
@common
@click.option(
    "--role",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Give it the role in a file; an empty one: recollect's own.",
)
@click.option(
    "--note",
    "note_",
    metavar="NAME TEXT",
    nargs=2,
    help="Give it a note of this name; an empty text takes it back.",
)
def writer(
    home: str | None,
    zone: str | None,
    as_json: bool,
    role: Path | None,
    note_: tuple[str, str] | None,
) -> None:
    """Show or change what the writing model is told.

    Its role and its notes belong to the zone. Each version is an event of the ledger.
    """
    with open_zone(home, zone) as memory:
        if role is not None:
            try:
                text = role.read_text()
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInput(f"--role: {role} cannot be read: {error}") from None
            memory.set_writer_text("role", text)
        if note_ is not None:
            memory.set_writer_text(*note_)
        found = memory.writer_texts()
    for each in found:
        if as_json:
            emit(each)
        else:
            since = f", since record {each.number}" if each.number else ", recollect's own"
            say(strong(each.name), quiet(since))
            for line in each.text.splitlines():
                say(f"  {escape_invisible(line)}")


COMMANDS = (write, writer)
