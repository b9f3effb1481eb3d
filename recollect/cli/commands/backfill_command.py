"""The command `backfill`: a language model reads a span of the past."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from recollect.cli.commands.write_commands import print_estimate, print_written
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import note, print_json, print_line, quiet, strong
from recollect.cli.query_options import TIMES
from recollect.schemas.text_sanitising import pluralise

if TYPE_CHECKING:
    from recollect.library.library_zone import Zone
    from recollect.schemas.wire import BackfillReport


@click.command(epilog="Example: recollect backfill --from 2024-01-01 --dry-run")
@common_options
@click.option("--platform", metavar="P", help="Only messages of platform P.")
@click.option("--from", "first", metavar="T", help=f"Only messages from time T on. {TIMES}")
@click.option(
    "--to", "last", metavar="T", help="Only messages up to time T; a bare date is inclusive."
)
@click.option("--dry-run", is_flag=True, help="Count the episodes and estimate the cost.")
@click.option("--pause", is_flag=True, help="Pause the backfill; it stays paused across restarts.")
@click.option(
    "--resume", is_flag=True, help="Resume the last backfill, with its platform and period."
)
@click.option("--status", is_flag=True, help="Show the progress of the last backfill.")
def backfill(
    home: str | None,
    zone: str | None,
    as_json: bool,
    platform: str | None,
    first: str | None,
    last: str | None,
    dry_run: bool,
    pause: bool,
    resume: bool,
    status: bool,
) -> int:
    """Extract more facts with a language model, from old messages; can be paused.

    A backfill reads messages in chronological order, and can be limited to a period or a platform;
    'recollect write' reads events in the order of their arrival. A backfill reads stretches of
    consecutive messages (episodes), and several platforms in parallel. If a backfill is stopped or
    killed, the next one continues it; after --pause, use --resume. No answer is paid for twice.
    """
    if pause + resume + status > 1 or (dry_run and (pause or status)):
        raise click.UsageError(
            "give only one of --pause, --resume and --status; --dry-run goes only with --resume"
        )
    with open_zone(home, zone) as memory:
        if pause:
            report = memory.pause_backfill()
        elif status:
            report = memory.backfill_status()
        else:
            report = memory.backfill(
                platform=platform,
                first=first,
                last=last,
                resume=resume,
                dry_run=dry_run,
                progress=_noting_progress(memory),
            )
    if as_json:
        print_json(report)
    elif report.model is None and report.state in ("done", "estimate"):
        _print_without_model(report)
    elif report.state == "estimate":
        _print_plan(report)
    else:
        _print_progress(report)
    return 1 if report.state == "stopped" and not status else 0


def _noting_progress(memory: Zone) -> Callable[[int], None]:
    """Return a callback that prints a line on stderr after each round of episodes."""
    printed = 0

    def advance(_: int) -> None:
        nonlocal printed
        found = memory.backfill_status()
        if found.episodes_done > printed:
            printed = found.episodes_done
            note(_progress_text(found))

    return advance


def _progress_text(found: BackfillReport) -> str:
    text = f"{found.episodes_done:,} of {pluralise(found.episodes, 'episode')}"
    if found.rate and found.seconds_left is not None:
        left = _duration(found.seconds_left)
        text += f", {60 * found.rate:,.0f} messages a minute, about {left} left"
    return text


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _print_plan(report: BackfillReport) -> None:
    """Print what there is to read, by platform, and the estimated cost."""
    for platform in report.platforms:
        print_line(
            strong(platform.platform),
            f"  {pluralise(platform.episodes, 'episode')}, "
            f"{pluralise(platform.messages, 'message')}, about {platform.tokens:,} tokens",
            quiet(f"  {platform.first} to {platform.last}"),
        )
    if report.written is not None:
        print_estimate(report.written)


def _print_without_model(found: BackfillReport) -> None:
    _print_plan(found)
    print_line(
        f"the rules have read all {pluralise(found.messages, 'message')} of this span; the home "
        "has no language model that could read them too (to add one, run recollect init --writer "
        "model)"
    )


def _print_progress(report: BackfillReport) -> None:
    if report.state == "none":
        print_line("there was no backfill in this zone")
        return
    print_line(strong(report.state), f"  {_progress_text(report)}")
    written = report.written
    if written is not None:
        print_written(written)
    if report.state == "paused":
        note("to continue, run recollect backfill --resume")
    elif report.state == "stopped":
        why = f" ({written.stopped})" if written is not None and written.stopped else ""
        note(f"the backfill stopped early{why}; to continue, run recollect backfill --resume")


COMMANDS = (backfill,)
