"""The command on the tiers of stored memories: their sizes, searches, archiving and restoring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.derived.browse_commands import is_empty
from recollect.cli.commands.derived.memory_commands import show_memory
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import print_json, print_line, quiet, strong
from recollect.schemas.memory_terms import TIERS
from recollect.schemas.text_sanitising import pluralise

if TYPE_CHECKING:
    from recollect import Zone

_ACTIONS = {
    "sizes": "Print how many memories are in each tier.",
    "recent": "List the memories of 'main', the most recently used first, then those of 'recall'.",
    "search QUERY": "Find memories in each tier.",
    "archive ID...": "Move memories to 'archival'.",
    "restore ID...": "Move memories to 'main'.",
}


@click.command(
    cls=CommandWithActions,
    actions=_ACTIONS,
    epilog='Example: recollect tiers search "deploy key"',
)
@common_options
@click.argument("words", metavar="[QUERY|ID]...", nargs=-1)
@click.option(
    "-k",
    "k",
    type=int,
    default=10,
    metavar="N",
    help="At most N memories; with search, N of each tier [default: 10].",
)
@click.option("--cascade", is_flag=True, help="With search: stop once N memories are found.")
def tiers(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    words: tuple[str, ...],
    k: int,
    cascade: bool,
) -> None:
    """Print how many stored memories are in each tier.

    The tier 'main' holds the most recently used memories. 'archival' holds memories that were not
    used for a long time, are no longer true, were consolidated, or were archived on request. The
    tier 'recall' holds all others.
    """
    if action in ("search", "archive", "restore") and not words:
        needed = (
            "a QUERY" if action == "search" else "the ID of a memory; `memories` prints the ids"
        )
        raise click.UsageError(f"`{action}` needs {needed}")
    if action in ("sizes", "recent") and words:
        raise click.UsageError(f"`{action}` takes no argument")
    with open_zone(home, zone) as memory:
        if action in ("archive", "restore"):
            _archive(memory, words, restore=action == "restore", as_json=as_json)
        elif not is_empty(memory):
            _print(memory, action, " ".join(words), k, cascade, as_json=as_json)


def _archive(memory: Zone, ids: tuple[str, ...], *, restore: bool, as_json: bool) -> None:
    report = memory.archive_memories(ids, restore=restore)
    if as_json:
        print_json(report)
    else:
        done = "restored" if restore else "archived"
        print_line(f"{pluralise(len(report.changed), 'memory', 'memories')} {done}")
    if report.unknown:
        raise click.ClickException(
            f"unknown ids: {', '.join(report.unknown)}; run recollect memories list to see the ids"
        )


def _print(memory: Zone, action: str, query: str, k: int, cascade: bool, *, as_json: bool) -> None:
    if action == "recent":
        for item in memory.recent_memories(max_results=k):
            print_json(item) if as_json else show_memory(item, listed=True)
    elif action == "search":
        hits = memory.search_tiers(query, max_results=k, cascade=cascade)
        if as_json:
            print_json(hits)
            return
        for tier in TIERS:
            for hit in getattr(hits, tier):
                print_line(strong(tier), quiet(f"  {hit.score:.2f}"))
                show_memory(hit.memory, listed=True)
    else:
        report = memory.memory_tiers()
        if as_json:
            print_json(report)
            return
        for size in report.tiers:
            of = "" if size.capacity is None else f" of {size.capacity}"
            since = "" if size.oldest is None else f"  from {size.oldest} to {size.newest}"
            print_line(f"{size.tier:<9}", strong(f"{size.memories}{of}"), quiet(since))


COMMANDS = (tiers,)
