"""What all commands share: home, zone, JSON, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
import msgspec

from recollect.home import Home, home_directory
from recollect.library import Recollect
from recollect.library_zone import Zone
from schemas.display import shown, shown_json
from schemas.zones import DEFAULT_ZONE, check_zone

Command = TypeVar("Command", bound=Callable[..., Any])


def common(function: Command) -> Command:
    """Give a command --home, --zone and --json; the first two may stand before its name too."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout."),
        click.option("--zone", metavar="NAME", help="Zone [default]."),
        click.option("--home", metavar="DIR", help="Home [RECOLLECT_HOME, ~/.recollect]."),
    ):
        function = option(function)
    return function


def chosen(home: str | None, zone: str | None) -> tuple[Home, str]:
    """Return the home and the zone that a command was given, in either place."""
    outer = click.get_current_context().obj or {}
    given = zone if zone is not None else outer.get("zone")
    name = check_zone(DEFAULT_ZONE if given is None else given)
    return Home(home_directory(home or outer.get("home"))), name


@contextmanager
def open_zone(home: str | None, zone: str | None) -> Iterator[Zone]:
    """Open the zone that a command was given."""
    made, name = chosen(home, zone)
    with Recollect(made) as opened:
        yield opened.zone(name)


def emit(value: object) -> None:
    """Write one JSON document on stdout."""
    sys.stdout.write(shown_json(msgspec.json.encode(value).decode()) + "\n")


def say(line: str, *, err: bool = False) -> None:
    """Write one line for a reader on stdout, or stderr; whatever it quotes, a terminal is safe.

    All that a command says to people goes through here.
    """
    click.echo(shown(line), err=err)


def show_step(what: str, done: int, total: int | None) -> None:
    """Say on stderr what is being brought: once, or on a terminal how far it is, in one line."""
    if not sys.stderr.isatty():
        if done == 0:
            say(what, err=True)
        return
    share = f" {done / total:4.0%}" if total else ""
    click.echo(f"\r{shown(what)}{share}\x1b[K", err=True, nl=bool(total and done >= total))


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr, on a terminal only."""
    with click.progressbar(
        length=total or 0,
        label=label,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_pos=True,
    ) as bar:

        def advance(count: int) -> None:
            if total is None and bar.length is not None and bar.pos + count > bar.length:
                bar.length = bar.pos + count
            bar.update(count)

        yield advance
