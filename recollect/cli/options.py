"""The options that all commands share, and what they choose: a home and a zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.schemas.zones import DEFAULT_ZONE, check_zone

if TYPE_CHECKING:
    from recollect.home.configuration import Configuration
    from recollect.home.home_directory import Home
    from recollect.library.library_home import Recollect
    from recollect.library.library_zone import Zone

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


def _noted(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Note the configuration file that a command was given, in either place."""
    given = context.ensure_object(dict)
    given[option.name] = value or given.get(option.name)


_HOME = click.option("--home", metavar="DIR", help="Home [RECOLLECT_HOME, ~/.recollect].")
_CONFIGURATION = click.option(
    "--config",
    metavar="FILE",
    callback=_noted,
    expose_value=False,
    help="Configuration [RECOLLECT_CONFIG, recollect.toml in the home].",
)
_ZONE = click.option("--zone", metavar="NAME", help="Zone [default].")
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON on stdout, for programs.")


def common(function: Command) -> Command:
    """Give a command --home, --config, --zone and --json; the first three may stand before its
    name too.
    """
    return _HOME(_CONFIGURATION(_ZONE(_JSON(function))))


def of_the_home(function: Command) -> Command:
    """Give a command what `common` does, but for the zone."""
    return _HOME(_CONFIGURATION(_JSON(function)))


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


def configured(home: str | None) -> Configuration:
    """Return the settings, with the home and the configuration file that a command was given.

    Raises:
        InvalidInput: the file has what is no setting.
    """
    from recollect.home.configuration import Configuration

    outer: dict[str, str | None] = click.get_current_context().obj or {}
    return Configuration(home or outer.get("home"), file=outer.get("config"))


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
    from recollect.home.home_directory import Home

    name = given_zone(zone)
    configuration = configured(home)
    return Home(configuration.home, configuration), name


@contextmanager
def open_home(home: str | None) -> Iterator[Recollect]:
    """Open the home that a command was given."""
    from recollect.library.library_home import Recollect

    with Recollect(chosen(home, None)[0]) as opened:
        yield opened


@contextmanager
def open_zone(home: str | None, zone: str | None) -> Iterator[Zone]:
    """Open the zone that a command was given."""
    from recollect.library.library_home import Recollect

    made, name = chosen(home, zone)
    with Recollect(made) as opened:
        yield opened.zone(name)
