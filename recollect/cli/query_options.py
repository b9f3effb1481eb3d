"""Options of the commands that run a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from recollect.schemas.choices import SCOPES, Budget, GraphMode

Command = TypeVar("Command", bound=Callable[..., Any])

#: A copy of recall's list, so that --help need not load recall; a test compares them.
PROFILES = ("default", "rrf", "recent", "graph")

#: The forms of a time, for help texts.
TIMES = "Times are ISO 8601 with a UTC offset, or Unix milliseconds; a bare date is 00:00 UTC."

known_at_option = click.option(
    "--known-at",
    metavar="T",
    help="Answer only from events ingested by T: a time, or a consistency token printed by ingest "
    "--json.",
)


def query_options(function: Command) -> Command:
    """Add the options of a query to a command; `query_from_options` reads them.

    Each command defines its own -k, since the defaults differ.
    """
    for option in reversed(
        (
            click.option(
                "--budget",
                type=click.Choice(get_args(Budget)),
                default="mid",
                show_default=True,
                help="Search effort.",
            ),
            click.option(
                "--profile",
                type=click.Choice(PROFILES),
                default="default",
                show_default=True,
                help="How the search methods are combined. default: by weighted score; rrf: by "
                "rank (reciprocal rank fusion); recent: like default, but favours recent memories; "
                "graph: by weighted score, but only search by meaning, search by words, and the "
                "graph search that --graph-mode selects.",
            ),
            click.option(
                "--graph-mode",
                type=click.Choice(get_args(GraphMode)),
                default="none",
                show_default=True,
                help="Also find messages through relationships between entities (low), through "
                "observations (high), or through both (dual). An observation summarises several "
                "facts.",
            ),
            click.option(
                "--scope",
                help=f"Comma-separated result types: {', '.join(SCOPES)} [default: all but "
                "entities].",
            ),
            click.option(
                "--entity", metavar="E", help="Only results about or by entity E (name or id)."
            ),
            click.option("--after", metavar="T", help=f"Only results after time T. {TIMES}"),
            click.option("--before", metavar="T", help="Only results before time T."),
            click.option("--platform", metavar="P", help="Only results from platform P."),
            known_at_option,
            click.option("--valid-at", metavar="T", help="Only facts that were true at time T."),
            click.option(
                "--min-score",
                type=float,
                help="Minimum score; a score of 0.5 means even odds of relevance.",
            ),
        )
    ):
        function = option(function)
    return function
