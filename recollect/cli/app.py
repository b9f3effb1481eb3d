"""The `recollect` command: its subcommands, and the mapping of errors to exit codes."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import click

from recollect.cli.command_table import COMMAND_TABLE
from recollect.cli.output import print_line
from recollect.schemas.errors import RecollectError
from recollect.schemas.text_sanitising import collapse_whitespace

OK, FAILED, USAGE_ERROR, INTERRUPTED = 0, 1, 2, 130

# Net allocations that start a garbage collection; Python's default is 700.
_GC_THRESHOLD = 20_000

# Minimum similarity (0 to 1) at which a command is suggested for a mistyped one.
_MIN_SIMILARITY = 0.6


class _LazyCommands(MutableMapping[str, click.Command]):
    """The commands by name. A command's module is imported when the command is first looked up."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            module = import_module(f"recollect.cli.commands.{COMMAND_TABLE[name].module}")
            self._loaded.update((command.name, command) for command in module.COMMANDS)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMAND_TABLE)

    def __len__(self) -> int:
        return len(COMMAND_TABLE)


class _Commands(click.Group):
    """Lists the commands without importing them, and suggests names for mistyped ones."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _LazyCommands()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMAND_TABLE)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMAND_TABLE.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name.casefold(), self.commands, 2, _MIN_SIMILARITY)
            hint = f"Did you mean {' or '.join(near)}?" if near else "See recollect --help."
            ctx.fail(f"No such command {name!r}. {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; name its options, not the library's parameters, in its errors."""
        try:
            return super().invoke(ctx)
        except RecollectError as error:
            from recollect.cli.option_names import with_option_names

            command = self.commands[str(ctx.invoked_subcommand)]
            error.args = (with_option_names(str(error), command),)
            raise


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: recollect ingest chats.jsonl && recollect recall 'When did Ada move?'",
)
@click.option(
    "--home",
    metavar="DIR",
    help="Data directory, called the home [env: RECOLLECT_HOME; default: ~/.recollect].",
)
@click.option(
    "--config",
    metavar="FILE",
    help="Configuration file [env: RECOLLECT_CONFIG; default: recollect.toml in the home].",
)
@click.option(
    "--zone",
    metavar="NAME",
    help="Zone (one tenant's memory) to use [default: default].",
)
@click.version_option(package_name="recollect")
@click.pass_context
def cli(context: click.Context, home: str | None, config: str | None, zone: str | None) -> None:
    """Long-term memory for AI agents, stored in an append-only, verifiable event log."""
    from recollect.cli.escaped_log import escape_log

    escape_log()
    context.obj = {"home": home, "config": config, "zone": zone}


def main() -> None:
    """Run the command line and exit: 0 success, 1 failed check, 2 usage error."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A locale without UTF-8 lacks characters of many messages.
        sys.stdout.reconfigure(errors="backslashreplace")
    # At the default, garbage collection takes 5% of a short command's time and frees little.
    gc.set_threshold(_GC_THRESHOLD)
    sys.exit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Open the null device as each standard stream that the caller has closed.

    Otherwise the next file that is opened, such as one of the home, would get the descriptor of the
    stream, and everything that libraries write to it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8")
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    for argument in arguments:
        # File names may be any bytes; everything else must be UTF-8.
        if not _is_text(argument) and not os.path.lexists(argument):
            return _print_error(f"the argument {argument!r} is not UTF-8", USAGE_ERROR)
    try:
        status = cli.main(arguments, prog_name="recollect", standalone_mode=False)
        return status if isinstance(status, int) else OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _print_usage_error(error)
    except (click.Abort, KeyboardInterrupt):
        return _print_error("interrupted; committed work is kept", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except Exception as error:
        from recollect.library.failures import failure

        known = failure(error)
        if known is None:
            raise
        return _print_error(known.message, USAGE_ERROR if known.is_usage_error else FAILED)


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _print_error(message: str, status: int) -> int:
    print_line(f"recollect: {message}", err=True)
    return status


def _print_usage_error(error: click.ClickException) -> int:
    """Print a usage error in click's format, with quoted input escaped."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        for line in error.format_message().splitlines():
            print_line(line, err=True)
        return USAGE_ERROR
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        for line in (*context.get_usage().splitlines(), f"Try '{context.command_path} --help'."):
            print_line(line, err=True)
    print_line(f"Error: {collapse_whitespace(error.format_message())}", err=True)
    return USAGE_ERROR
