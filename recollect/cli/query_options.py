"""The options of a question, of commands that ask one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from recollect.schemas.wire import SCOPES, Budget

Command = TypeVar("Command", bound=Callable[..., Any])

#: What may be chosen; a test holds it to what recall knows, which takes long to load.
PROFILES = ("default", "seed", "recent")

#: Said where a time may be given.
TIMES = "A time is ISO 8601 with a zone, or unix ms; a date alone is its first moment in UTC."


def options(function: Command) -> Command:
    """Give a command the options of a question; `batch_lines.question` reads them.

    -k is the command's own: how many are wanted depends on who reads.
    """
    for option in reversed(
        (
            click.option(
                "--budget",
                type=click.Choice(get_args(Budget)),
                default="mid",
                show_default=True,
                help="How much work the answer may be.",
            ),
            click.option(
                "--profile",
                type=click.Choice(PROFILES),
                default="default",
                show_default=True,
                help="How answers are ranked.",
            ),
            click.option("--scope", help=f"Kinds, with commas: {', '.join(SCOPES)}."),
            click.option("--entity", metavar="E", help="Only what is about E, by name or id."),
            click.option("--after", metavar="T", help=f"Only what is later than T. {TIMES}"),
            click.option("--before", metavar="T", help="Only what is earlier than T."),
            click.option("--platform", metavar="P", help="Only from a platform."),
            click.option(
                "--known-at",
                metavar="T",
                help="Answer as at time T, or as at the token of an ingest.",
            ),
            click.option("--valid-at", metavar="T", help="Only what was true at T."),
            click.option(
                "--min-score", type=float, help="Only what scores as much; 0.5: as likely as not."
            ),
        )
    ):
        function = option(function)
    return function
