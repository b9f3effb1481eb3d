"""Commands of the language-model writer: write, writer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import FilePath, OptionWithoutRange, common_options, open_zone
from recollect.cli.output import note, print_json, print_line, progress, quiet, strong
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import (
        WriteReport,
        WriterPromptComparison,
        WriterPromptProposal,
        WriterPromptVersion,
    )


@click.command(epilog="Example: recollect write --dry-run")
@common_options
@click.option(
    "--limit",
    cls=OptionWithoutRange,
    metavar="N",
    type=click.IntRange(1),
    help="Process at most N events.",
)
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
    """Extract more facts with a language model, from events that it has not read yet.

    The built-in extraction rules have already processed these events. The model (section [model] of
    recollect.toml) adds facts, values and dates that the rules missed, and marks facts that no
    longer hold. Each addition is validated. The model's answers are recorded, so no event is paid
    for twice, not even by a rebuild.
    """
    with open_zone(home, zone) as memory, progress("writing", unit="events") as advance:
        report = memory.write(limit=limit, again=again, dry_run=dry_run, progress=advance)
        proposed = memory.writer_proposals(status="pending")
    if as_json:
        print_json(report)
    elif dry_run:
        print_estimate(report)
    else:
        print_written(report)
        if proposed:
            texts = pluralise(len(proposed), "proposed text")
            note(f"{texts} to decide; run recollect writer --proposals to see them")
        if report.stopped:
            left = pluralise(report.pending - report.processed, "event")
            note(f"{left} left: {report.stopped}")
    return 1 if report.stopped else 0


def print_written(found: WriteReport) -> None:
    """Print what a model read and added, and the cost."""
    print_line(
        f"{found.model} read {pluralise(found.processed, 'event')}", f" of {found.pending:,}"
    )
    print_line(
        f"{pluralise(found.accepted, 'fact')} kept, {found.duplicates:,} repeated, "
        f"{found.rejected:,} rejected"
    )
    for reason, count in found.reasons.items():
        print_line(quiet(f"  {reason} {count:,}"))
    print_usage(found)


def print_usage(found: WriteReport) -> None:
    """Print what a model's answers cost."""
    calls = pluralise(found.calls, "call")
    print_line(f"{calls}, {pluralise(found.tokens, 'token')}, cost {found.cost:.4f}")


def print_estimate(found: WriteReport, of: str = "event") -> None:
    """Print how much a model would read, and the estimated cost."""
    waiting = pluralise(found.pending, of)
    print_line(f"{found.model} with prompt {found.role} would read {waiting}")
    if found.recorded:
        print_line(f"{found.recorded:,} of these already have a recorded answer")
    print_line(f"calls     {found.min_calls:,} to {found.calls:,}")
    print_line(f"tokens    about {found.min_tokens:,} to {found.tokens:,}")
    print_line(f"cost      about {found.min_cost:.4f} to {found.cost:.4f}")


@click.command(epilog="Example: recollect writer --note names 'Jo is Josefina, not Joanna.'")
@common_options
@click.option(
    "--role",
    metavar="FILE",
    type=FilePath(),
    help="Set the role prompt from FILE; an empty file restores the default.",
)
@click.option(
    "--note",
    "note_",
    metavar="NAME TEXT",
    nargs=2,
    help="Set a named note; an empty TEXT removes it.",
)
@click.option("--proposals", is_flag=True, help="Show the texts that the model proposes, as diffs.")
@click.option("--accept", metavar="ID", help="Accept a proposed text.")
@click.option("--reject", metavar="ID", help="Reject a proposed text.")
@click.option(
    "--compare",
    metavar="ID",
    help="Show how a proposed text would change the facts extracted from the latest messages; "
    "calls the model.",
)
@click.option(
    "--limit",
    cls=OptionWithoutRange,
    metavar="N",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="With --compare: the maximum number of messages.",
)
def writer(
    home: str | None,
    zone: str | None,
    as_json: bool,
    role: Path | None,
    note_: tuple[str, str] | None,
    proposals: bool,
    accept: str | None,
    reject: str | None,
    compare: str | None,
    limit: int,
) -> int:
    """Show or set a zone's instructions for the language model.

    The model extracts facts; recollect write runs it. Its instructions are a role prompt and named
    notes. Each version of the role prompt or of a note is an event in the ledger. The model may
    propose new versions, which have no effect until they are accepted.
    """
    with open_zone(home, zone) as memory:
        if role is not None:
            memory.set_writer_text("role", read_role_file("--role", role))
        if note_ is not None:
            memory.set_writer_text(*note_)
        if accept is not None:
            memory.decide_proposal(accept, "accepted")
        if reject is not None:
            memory.decide_proposal(reject, "rejected")
        if compare is not None:
            compared = memory.compare_writer_proposal(compare, limit=limit)
            (print_json if as_json else _print_comparison)(compared)
            return 1 if compared.stopped else 0
        if proposals:
            for proposal in memory.writer_proposals():
                (print_json if as_json else _print_proposal)(proposal)
            return 0
        for version in memory.writer_texts():
            (print_json if as_json else _print_text)(version)
    return 0


def read_role_file(option: str, path: Path) -> str:
    """Return the role prompt in a file that an option names.

    Raises:
        InvalidInput: it cannot be read.
    """
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{option}: cannot read {path}: {error}") from None


def _print_text(version: WriterPromptVersion) -> None:
    since = f", since record {version.number}" if version.number else ", the default"
    print_line(strong(version.name), quiet(since))
    for line in version.text.splitlines():
        print_line(f"  {line}")


def _print_proposal(proposal: WriterPromptProposal) -> None:
    print_line(strong(proposal.name), quiet(f" {proposal.status}  {proposal.id}"))
    print_line(quiet(f"  {proposal.model} says: {proposal.reason}"))
    for line in proposal.diff:
        print_line(f"  {line}")


def _print_comparison(compared: WriterPromptComparison) -> None:
    """Print the facts of each message: "=" kept, "+" added, "-" no longer written."""
    for message in compared.messages:
        print_line(strong(message.event_id), quiet(f" {message.content}"))
        for sign, texts in (("=", message.same), ("+", message.added), ("-", message.dropped)):
            for text in texts:
                print_line(f"  {sign} {text}")
        for reason, count in message.rejected.items():
            print_line(quiet(f"  rejected: {reason} {count:,}"))
    calls = pluralise(compared.calls, "call")
    print_line(f"{calls}, {pluralise(compared.tokens, 'token')}, cost {compared.cost:.4f}")
    if compared.stopped:
        note(compared.stopped)


COMMANDS = (write, writer)
