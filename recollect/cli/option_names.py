"""Errors of the library in terms of the command line: its options in place of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from recollect.cli.command_table import COMMAND_TABLE

#: Names of parameters and operations in the library whose options and commands are called
#: otherwise, by the name of the option's variable or of the command.
_NAMES_HERE = {
    "affinity_threshold": "threshold",
    "agent_id": "agent",
    "backfill_status": "status",
    "compare": "diff",
    "dead_letters": "deadletters",
    "entity_id": "entity",
    "episode_id": "episode",
    "max_duration_seconds": "max_seconds",
    "max_levels": "levels",
    "max_results": "k",
    "max_total_tokens": "max_tokens",
    "mental_models": "models",
    "namespace_prefix": "prefix",
    "newest_first": "newest",
    "pause_backfill": "pause",
    "sandbox_provider": "sandbox",
    "superseded": "all",
    "task_type": "type",
    "time_after": "after",
    "time_before": "before",
}

#: What names a parameter in an error: anything in backticks, an unquoted name with an underscore,
#: or the first word, if it is followed by a value, a verb or a colon.
_NAME = re.compile(
    r"`(?P<marked>[a-z_]+)`"
    r"""|(?<![\w'"./-])(?P<compound>[a-z]+(?:_[a-z]+)+)(?![\w'"./-])"""
    r"""|^(?P<first>[a-z]+)(?=: | (?:is|has|needs|cannot)\b| ['"\d])"""
)


def with_option_names(message: str, command: click.Command) -> str:
    """Return an error with the names that a command's options have, and those of commands.

    Names of the library that the command line does not have stay as they are.
    """
    options = dict(_options(command))

    def spelt(match: re.Match[str]) -> str:
        name = match["marked"] or match["compound"] or match["first"]
        here = _NAMES_HERE.get(name, name)
        if (option := options.get(name) or options.get(here)) is not None:
            return option
        return f"recollect {here}" if match["marked"] and here in COMMAND_TABLE else match[0]

    return _NAME.sub(spelt, message)


def _options(command: click.Command) -> Iterator[tuple[str, str]]:
    """Yield the name of each parameter of a command and its subcommands, and how it is typed."""
    for parameter in command.params:
        if parameter.name in (None, "home", "config", "zone"):
            continue
        argument = (parameter.metavar or str(parameter.name).upper()).strip("[].")
        typed = parameter.opts[0] if isinstance(parameter, click.Option) else argument
        yield str(parameter.name).rstrip("_"), typed
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            yield from _options(subcommand)
