"""The options that all commands share, and what they choose: a home and a zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from schemas.zones import DEFAULT_ZONE, check_zone

if TYPE_CHECKING:
    from recollect.home import Home
    from recollect.library import Recollect
    from recollect.library_zone import Zone

Command = TypeVar("Command", bound=Callable[..., Any])

#: What may be chosen; a test holds them to what the adapters know.
FORMATS = (
    "auto",
    "slack",
    "chatgpt",
    "claude",
    "maildir",
    "mbox",
    "email",
    "claude_code",
    "matrix",
    "telegram",
    "discord",
    "imessage",
    "irc",
    "signal",
    "instagram",
    "whatsapp",
    "jsonl",
)
DATE_ORDERS = ("dmy", "mdy", "ymd")


def common(function: Command) -> Command:
    """Give a command --home, --zone and --json; the first two may stand before its name too."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="JSON on stdout, for programs."),
        click.option("--zone", metavar="NAME", help="Zone [default]."),
        click.option("--home", metavar="DIR", help="Home [RECOLLECT_HOME, ~/.recollect]."),
    ):
        function = option(function)
    return function


def event_files(function: Command) -> Command:
    """Give a command exports: its PATHS, --format, and what formats do not say themselves."""
    for option in (
        click.option(
            "--date-order",
            type=click.Choice(DATE_ORDERS),
            help="Day, month, year: their order, where the files do not decide it.",
        ),
        click.option(
            "--timezone",
            metavar="ZONE",
            help="As in Europe/Berlin: where clocks stood, for files that do not say.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            help="What the files are; auto looks at how they begin.",
        ),
    ):
        function = option(function)
    paths = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
    return paths(function)


def given_home(home: str | None) -> str | None:
    """Return the home directory that a command was given, in either place."""
    outer: dict[str, str | None] = click.get_current_context().obj or {}
    return home or outer.get("home")


def given_zone(zone: str | None) -> str:
    """Return the zone that a command was given, in either place.

    Raises:
        InvalidInput: no zone may be called so.
    """
    outer: dict[str, str | None] = click.get_current_context().obj or {}
    given = zone if zone is not None else outer.get("zone")
    return check_zone(DEFAULT_ZONE if given is None else given)


def chosen(home: str | None, zone: str | None) -> tuple[Home, str]:
    """Return the home and the zone that a command was given, in either place."""
    from recollect.home import Home, home_directory

    name = given_zone(zone)
    return Home(home_directory(given_home(home))), name


@contextmanager
def open_home(home: str | None) -> Iterator[Recollect]:
    """Open the home that a command was given."""
    from recollect.library import Recollect

    with Recollect(chosen(home, None)[0]) as opened:
        yield opened


@contextmanager
def open_zone(home: str | None, zone: str | None) -> Iterator[Zone]:
    """Open the zone that a command was given."""
    from recollect.library import Recollect

    made, name = chosen(home, zone)
    with Recollect(made) as opened:
        yield opened.zone(name)
