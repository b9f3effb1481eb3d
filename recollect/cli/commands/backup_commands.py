"""Commands that back up and restore a home."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.cli.options import FilePath, configured, home_options, open_home
from recollect.cli.output import note, print_json, print_line, progress, size, warning
from recollect.schemas.text_sanitising import pluralise


@click.command(epilog="Example: recollect backup backups/2026-11-22")
@home_options
@click.argument("path", type=FilePath())
def backup(home: str | None, as_json: bool, path: Path) -> None:
    """Copy the ledger and its keys while the home is in use.

    PATH is a new directory. The backup contains the keys: protect it like the home.
    """
    with open_home(home) as opened:
        done = opened.backup(path)
    if as_json:
        print_json(done)
        return
    print_line(
        f"backed up {pluralise(done.events, 'record')} of {pluralise(done.zones, 'zone')} and "
        f"{pluralise(done.keys, 'key')} as of {done.made_at} to {done.path} ({size(done.bytes)})"
    )


@click.command(epilog="Example: recollect restore backups/2026-11-22 --lose-newer")
@home_options
@click.argument("path", type=FilePath())
@click.option(
    "--erasures-from",
    metavar="PATH",
    multiple=True,
    type=FilePath(),
    help="Newer backup or home to read later erasures from. Repeatable.",
)
@click.option("--lose-newer", is_flag=True, help="Discard what was written after the backup.")
@click.option(
    "--forgotten-may-return",
    is_flag=True,
    help="Restore even if erasures since the backup cannot be determined; erased data may then "
    "return.",
)
def restore(
    home: str | None,
    as_json: bool,
    path: Path,
    erasures_from: tuple[Path, ...],
    lose_newer: bool,
    forgotten_may_return: bool,
) -> None:
    """Replace the home with a backup.

    Data erased after the backup stays erased if its erasure is recorded in the current home, or
    in a backup or home given with --erasures-from. First stop every process that uses the home.
    If interrupted, rerun the command to resume.
    """
    from recollect.operations.upkeep.restoring import restore as restore_

    with progress("restoring") as advance:
        done = restore_(
            configured(home),
            path,
            erasures_from=erasures_from,
            lose_newer=lose_newer,
            forgotten_may_return=forgotten_may_return,
            progress=advance,
        )
    if not done.erasures_known:
        note(
            f"the backup was made at {done.made_at} and does not know of later erasures, so data "
            "forgotten since then has been restored. Restore again with --erasures-from, or forget "
            "that data again"
        )
    if as_json:
        print_json(done)
        return
    if done.resumed:
        print_line("completed an interrupted restore")
    print_line(
        f"restored {pluralise(done.events, 'record')} of {pluralise(done.zones, 'zone')} "
        f"as of {done.made_at} to {done.home}, verified"
    )
    if done.forgotten:
        print_line(f"erased again: {pluralise(done.forgotten, 'event')}")
    if done.events_lost != 0:
        lost = (
            "newer events"
            if done.events_lost is None
            else pluralise(done.events_lost, "newer event")
        )
        print_line(warning(f"discarded: {lost}"))
    if done.tokens or done.tokens_revoked:
        print_line(f"access tokens restored: {done.tokens}")
    if done.tokens_revoked:
        print_line(f"access tokens of the backup that stay revoked: {done.tokens_revoked}")


COMMANDS = (backup, restore)
