"""The `recollect` command: its subcommands, and the mapping of errors to exit codes."""

from __future__ import annotations

import gc
import logging
import os
import sys

import click

from recollect.cli.commands import (
    backfill_command,
    backup_commands,
    branch_commands,
    certificate_command,
    config_command,
    evaluate_command,
    export_command,
    extract_command,
    infer_command,
    ingest_commands,
    recall_commands,
    record_command,
    upkeep_commands,
    write_commands,
)
from recollect.cli.commands.derived import (
    analysis_commands,
    browse_commands,
    episode_commands,
    graph_command,
    learning_commands,
    memory_commands,
    model_commands,
    observation_commands,
    timeline_command,
)
from recollect.cli.commands.servers import mcp_command, process_commands, service_commands
from recollect.cli.output import print_line
from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible

OK, FAILED, USAGE_ERROR, INTERRUPTED = 0, 1, 2, 130

# Net allocations that start a garbage collection; Python's default is 700.
_GC_THRESHOLD = 20_000

# Minimum similarity (0 to 1) at which a command is suggested for a mistyped one.
_MIN_SIMILARITY = 0.6


class _Commands(click.Group):
    """Lists commands in the order of their registration, and suggests names for mistyped ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

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


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: recollect ingest chats.jsonl && recollect recall 'When did Ada move?'",
)
@click.option(
    "--home",
    metavar="DIR",
    help="recollect's data directory, the home [RECOLLECT_HOME, ~/.recollect].",
)
@click.option(
    "--config",
    metavar="FILE",
    help="Configuration file [RECOLLECT_CONFIG, recollect.toml in the home].",
)
@click.option("--zone", metavar="NAME", help="Zone to use, one per tenant [default].")
@click.version_option(package_name="recollect")
@click.pass_context
def cli(context: click.Context, home: str | None, config: str | None, zone: str | None) -> None:
    """Long-term memory for AI agents, stored in an append-only, verifiable event log."""
    context.obj = {"home": home, "config": config, "zone": zone}


for command in (
    *ingest_commands.COMMANDS,
    *recall_commands.COMMANDS,
    *browse_commands.COMMANDS,
    *timeline_command.COMMANDS,
    *evaluate_command.COMMANDS,
    *infer_command.COMMANDS,
    *graph_command.COMMANDS,
    *observation_commands.COMMANDS,
    *memory_commands.COMMANDS,
    *episode_commands.COMMANDS,
    *analysis_commands.COMMANDS,
    *model_commands.COMMANDS,
    *learning_commands.COMMANDS,
    *extract_command.COMMANDS,
    *write_commands.COMMANDS,
    *backfill_command.COMMANDS,
    *upkeep_commands.COMMANDS,
    *export_command.COMMANDS,
    *certificate_command.COMMANDS,
    *record_command.COMMANDS,
    *backup_commands.COMMANDS,
    *branch_commands.COMMANDS,
    *process_commands.COMMANDS,
    *service_commands.COMMANDS,
    *config_command.COMMANDS,
    *mcp_command.COMMANDS,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit: 0 success, 1 failed check, 2 usage error."""
    # At the default, garbage collection takes 5% of a short command's time and frees little.
    gc.set_threshold(_GC_THRESHOLD)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    # The Kafka client logs errors that we print ourselves; workers enable its log again.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_EscapingFormatter())
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


class _EscapingFormatter(logging.Formatter):
    """Escapes control characters in log output."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(escape_invisible, super().format(record).splitlines()))
