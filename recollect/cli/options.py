"""Options shared by the commands, and opening the home and zone that they select."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.schemas.zones import DEFAULT_ZONE, split_zone

if TYPE_CHECKING:
    from recollect.home.home_directory import Home
    from recollect.home.settings.configuration import Configuration
    from recollect.library.library_home import Recollect
    from recollect.library.library_zone import Zone

Command = TypeVar("Command", bound=Callable[..., Any])

#: Copies of the adapters' lists, so that --help need not load them; a test compares the lists.
MEMORY_SYSTEMS = ("mem0", "zep", "letta", "hindsight", "mcp-memory")
FORMATS = (
    "auto",
    "recollect",
    "slack",
    "chatgpt",
    "claude",
    "gemini",
    "grok",
    *MEMORY_SYSTEMS,
    "maildir",
    "mbox",
    "email",
    "icalendar",
    "claude_code",
    "codex",
    "gemini_cli",
    "cursor",
    "opencode",
    "aider",
    "matrix",
    "telegram",
    "discord",
    "googlechat",
    "hangouts",
    "imessage",
    "sms",
    "skype",
    "teams",
    "twitter",
    "linkedin",
    "irc",
    "signal",
    "instagram",
    "whatsapp",
    "keep",
    "evernote",
    "notes",
    "jsonl",
)
DATE_ORDERS = ("dmy", "mdy", "ymd")


class FilePath(click.Path):
    """A path; an empty one, as of an unset variable in a script, is not the current directory."""

    def __init__(
        self, *, exists: bool = False, dir_okay: bool = True, allow_dash: bool = False
    ) -> None:
        super().__init__(exists=exists, dir_okay=dir_okay, allow_dash=allow_dash, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a value as a Path."""
        if value == "":
            self.fail("it is empty; give a path, such as . for this directory", param, ctx)
        return super().convert(value, param, ctx)


class OptionWithoutRange(click.Option):
    """An option whose help text states the range of its value itself."""

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what click appends to the help text, without the range."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def _remember_config(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Remember --config, given before or after the command name."""
    given = context.ensure_object(dict)
    given[option.name] = given.get(option.name) if value is None else value


_HOME = click.option(
    "--home",
    metavar="DIR",
    help="Data directory, called the home [env: RECOLLECT_HOME; default: ~/.recollect].",
)
_CONFIGURATION = click.option(
    "--config",
    metavar="FILE",
    callback=_remember_config,
    expose_value=False,
    help="Configuration file [env: RECOLLECT_CONFIG; default: recollect.toml in the home].",
)
_ZONE = click.option(
    "--zone",
    metavar="NAME",
    help="Zone (one tenant's memory) to use [default: default].",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def common_options(function: Command) -> Command:
    """Add --home, --config, --zone and --json to a command.

    The first three may also be given before the command name.
    """
    return _HOME(_CONFIGURATION(_ZONE(_JSON(function))))


def home_options(function: Command) -> Command:
    """Add --home, --config and --json to a command."""
    return _HOME(_CONFIGURATION(_JSON(function)))


PATHS = click.argument("paths", nargs=-1, required=True, type=FilePath())


def import_options(function: Command) -> Command:
    """Add PATHS, --format, --timezone and --date-order to a command that reads events."""
    for option in (
        click.option(
            "--date-order",
            type=click.Choice(DATE_ORDERS),
            help="Order of day, month and year in ambiguous dates.",
        ),
        click.option(
            "--timezone",
            metavar="TZ",
            help="Time zone of timestamps that have none. For timestamps in UTC, it is used only "
            "to resolve words such as 'today'.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            help="Input format; auto detects it from the content.",
        ),
    ):
        function = option(function)
    return PATHS(function)


def configured(home: str | None) -> Configuration:
    """Return the configuration for a command's --home and --config.

    Raises:
        InvalidInput: the configuration file has an unknown or invalid setting.
    """
    from recollect.home.settings.configuration import Configuration

    outer: dict[str, str | None] = click.get_current_context().obj or {}
    return Configuration(outer.get("home") if home is None else home, file=outer.get("config"))


def given_zone(zone: str | None) -> str:
    """Return the zone named before or after the command name.

    Raises:
        InvalidInput: the name is not a valid zone name.
    """
    outer: dict[str, str | None] = click.get_current_context().obj or {}
    given = zone if zone is not None else outer.get("zone")
    name = DEFAULT_ZONE if given is None else given
    split_zone(name)
    return name


def home_and_zone(home: str | None, zone: str | None) -> tuple[Home, str]:
    """Return the home and the zone selected before or after the command name."""
    from recollect.home.home_directory import Home

    name = given_zone(zone)
    configuration = configured(home)
    return Home(configuration.home, configuration), name


@contextmanager
def open_home(home: str | None) -> Iterator[Recollect]:
    """Open the home that a command selects."""
    from recollect.library.library_home import Recollect

    with Recollect(home_and_zone(home, None)[0]) as opened:
        yield opened


@contextmanager
def open_zone(home: str | None, zone: str | None) -> Iterator[Zone]:
    """Open the zone that a command selects."""
    from recollect.library.library_home import Recollect

    selected, name = home_and_zone(home, zone)
    with Recollect(selected) as opened:
        yield opened.zone(name)
