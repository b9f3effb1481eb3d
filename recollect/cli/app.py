"""The command `recollect`: its group, and how errors become messages and exit statuses."""

from __future__ import annotations

import gc
import logging
import os
import sys

import click

from recollect.cli.commands import (
    backup_commands,
    browse_commands,
    config_command,
    extract_command,
    ingest_commands,
    mcp_command,
    process_commands,
    recall_commands,
    service_commands,
    upkeep_commands,
    write_commands,
)
from recollect.cli.output import say
from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible

OK, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130

# New objects before they are looked through for garbage; Python's own 700 are for small programs.
_BEFORE_COLLECTING = 20_000

# How alike a mistyped command and a command are at least, from 0 to 1.
_ALIKE = 0.6


class _Commands(click.Group):
    """The commands, in the order in which a newcomer needs them; it helps with mistyped ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name.casefold(), self.commands, 2, _ALIKE)
            what = f"Did you mean {' or '.join(near)}?" if near else "See recollect --help."
            ctx.fail(f"No such command {name!r}. {what}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: recollect ingest chats.jsonl && recollect recall 'When did Ada move?'",
)
@click.option("--home", metavar="DIR", help="Home directory [RECOLLECT_HOME, ~/.recollect].")
@click.option(
    "--config", metavar="FILE", help="Configuration [RECOLLECT_CONFIG, recollect.toml in the home]."
)
@click.option("--zone", metavar="NAME", help="Zone of one tenant's memory [default].")
@click.version_option(package_name="recollect")
@click.pass_context
def cli(context: click.Context, home: str | None, config: str | None, zone: str | None) -> None:
    """Long-term memory for AI agents, kept the way a bank keeps accounts."""
    context.obj = {"home": home, "config": config, "zone": zone}


for command in (
    *ingest_commands.COMMANDS,
    *recall_commands.COMMANDS,
    *browse_commands.COMMANDS,
    *extract_command.COMMANDS,
    *write_commands.COMMANDS,
    *upkeep_commands.COMMANDS,
    *backup_commands.COMMANDS,
    *process_commands.COMMANDS,
    *service_commands.COMMANDS,
    *config_command.COMMANDS,
    *mcp_command.COMMANDS,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit: 0 success, 1 a failed check, 2 wrong use."""
    # What is loaded stays: looking it through for garbage takes a twentieth of a short command.
    gc.set_threshold(_BEFORE_COLLECTING)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    # What a client of Kafka has to say is in the error that follows; a worker lets it speak.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Shown())
    for argument in arguments:
        # A file may have any name; everything else is text.
        if not _is_text(argument) and not os.path.lexists(argument):
            return _say(f"the argument {argument!r} is not UTF-8", WRONG_USE)
    try:
        status = cli.main(arguments, prog_name="recollect", standalone_mode=False)
        return status if isinstance(status, int) else OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _refuse(error)
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted; what was committed stays", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except Exception as error:
        from recollect.library.failures import failure

        known = failure(error)
        if known is None:
            raise
        return _say(known.message, WRONG_USE if known.wrong_use else FAILED)


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _say(message: str, status: int) -> int:
    say(f"recollect: {message}", err=True)
    return status


def _refuse(error: click.ClickException) -> int:
    """Say what click found wrong, as click does, but that it may quote anything."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        for line in error.format_message().splitlines():
            say(line, err=True)
        return WRONG_USE
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        for line in (*context.get_usage().splitlines(), f"Try '{context.command_path} --help'."):
            say(line, err=True)
    say(f"Error: {collapse_whitespace(error.format_message())}", err=True)
    return WRONG_USE


class _Shown(logging.Formatter):
    """Writes what is logged so that a terminal shows it and does not obey."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(escape_invisible, super().format(record).splitlines()))
