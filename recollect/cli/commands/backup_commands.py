"""Commands that keep a copy of a home, and bring it back."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.cli.options import configured, of_the_home, open_home
from recollect.cli.output import emit, note, progress, say, size, warning
from recollect.schemas.text_sanitising import pluralise


@click.command(epilog="Example: recollect backup backups/2026-11-22")
@of_the_home
@click.argument("path", type=click.Path(path_type=Path))
def backup(home: str | None, as_json: bool, path: Path) -> None:
    """Copy the ledger and its keys, while the home is in use.

    PATH is a new directory. Who reads it can read all that was said and is not forgotten.
    """
    with open_home(home) as opened:
        done = opened.backup(path)
    if as_json:
        emit(done)
        return
    say(
        f"{pluralise(done.events, 'record')} of {pluralise(done.zones, 'zone')} and "
        f"{pluralise(done.keys, 'key')} of {done.made_at} are in {done.path} ({size(done.bytes)})"
    )


@click.command(epilog="Example: recollect restore backups/2026-11-22 --lose-newer")
@of_the_home
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--erasures-from",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A later backup, or a home, that knows what was forgotten since; any number.",
)
@click.option("--lose-newer", is_flag=True, help="What came after the backup may be lost.")
@click.option(
    "--forgotten-may-return",
    is_flag=True,
    help="Go on where it cannot be read what was forgotten since.",
)
def restore(
    home: str | None,
    as_json: bool,
    path: Path,
    erasures_from: tuple[Path, ...],
    lose_newer: bool,
    forgotten_may_return: bool,
) -> None:
    """Put a backup in the place of the home.

    What was forgotten since stays forgotten, as far as the home or another place knows it. Stop
    what has the home open. Interrupted, it goes on when it is called again.
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
            f"nothing here knew what was forgotten after {done.made_at}: if anything was, it is "
            "back. Restore again with --erasures-from, or forget it again"
        )
    if as_json:
        emit(done)
        return
    if done.resumed:
        say("a restore that had been interrupted was brought to its end")
    say(
        f"{pluralise(done.events, 'record')} of {pluralise(done.zones, 'zone')} of {done.made_at} "
        f"are in {done.home}, verified"
    )
    if done.forgotten:
        say(f"forgotten since, and so again: {pluralise(done.forgotten, 'event')}")
    if done.events_lost != 0:
        lost = (
            "what was newer"
            if done.events_lost is None
            else pluralise(done.events_lost, "newer event")
        )
        say(warning(f"given up: {lost}"))
    if done.tokens or done.tokens_revoked:
        say(f"tokens for the service: {done.tokens}")
    if done.tokens_revoked:
        say(f"tokens of the backup that stay revoked: {done.tokens_revoked}")


COMMANDS = (backup, restore)
