"""The command on the hierarchy of stored memories: consolidate, expand, collapse, search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.derived.browse_commands import is_empty
from recollect.cli.commands.derived.memory_commands import show_memory
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import print_json, print_line, quiet, strong
from recollect.schemas.memory_terms import CONSOLIDATION_LEVELS, MAX_CONSOLIDATION_LEVELS
from recollect.schemas.text_sanitising import pluralise

if TYPE_CHECKING:
    from recollect import MemoryConsolidationReport, MemoryHit, StoredMemory, Zone

_ACTIONS = {
    "list": "List the consolidated memories, newest first within each level.",
    "consolidate": "Combine stored memories into groups, write a consolidated memory for each "
    "group, and archive the originals.",
    "children ID...": "List the memories that a consolidated memory was written from.",
    "ancestors ID...": "List the consolidated memories above a memory.",
    "search QUERY": "Find memories by meaning, and print the topmost consolidated memory above "
    "each.",
}
#: What is printed if nothing is found.
_NOTHING = {
    "list": "nothing is consolidated; hierarchy consolidate does that",
    "children": "that consolidates nothing",
    "ancestors": "nothing consolidates that",
    "search": "no stored memory answers that",
}


@click.command(
    cls=CommandWithActions,
    actions=_ACTIONS,
    epilog="Example: recollect hierarchy consolidate --levels 2",
)
@common_options
@click.argument("words", metavar="[ID|QUERY]...", nargs=-1)
@click.option(
    "--method",
    type=click.Choice(["affinity", "criteria"]),
    default="affinity",
    help="With consolidate: what goes into a group. affinity: memories that are similar and close "
    "in time; criteria: all memories that --namespace and --importance-max select [default: "
    "affinity].",
)
@click.option("--namespace", metavar="N", help="With consolidate: only in namespace N itself.")
@click.option(
    "--importance-max",
    type=float,
    metavar="I",
    help="With consolidate: only memories of at most this importance.",
)
@click.option(
    "--threshold",
    type=float,
    default=0.85,
    metavar="A",
    help="With consolidate: the minimum affinity, 0 to 1 [default: 0.85].",
)
@click.option(
    "--levels",
    type=int,
    default=CONSOLIDATION_LEVELS,
    metavar="N",
    help=f"With consolidate: the maximum number of levels [default: {CONSOLIDATION_LEVELS}].",
)
@click.option(
    "-k",
    "k",
    type=int,
    default=10,
    metavar="N",
    help="At most N memories; with list, N of each level [default: 10].",
)
def hierarchy(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    words: tuple[str, ...],
    method: str,
    namespace: str | None,
    importance_max: float | None,
    threshold: float,
    levels: int,
    k: int,
) -> None:
    """List consolidated memories, highest level first.

    A level-1 memory stands for a group of stored texts, a level-2 memory for a group of level-1
    memories, and so on. To undo a consolidation, delete the consolidated memory: recollect memories
    delete.
    """
    if (action in ("children", "ancestors", "search")) != bool(words):
        needed = (
            "a QUERY" if action == "search" else "the ID of a memory; `memories` prints the ids"
        )
        raise click.UsageError(
            f"`{action}` " + ("takes no argument" if words else f"needs {needed}")
        )
    with open_zone(home, zone) as memory:
        if action == "consolidate":
            report = memory.consolidate_memories(
                method=cast(Literal["affinity", "criteria"], method),
                namespace=namespace,
                importance_max=importance_max,
                affinity_threshold=threshold,
                max_levels=levels,
            )
            print_json(report) if as_json else _print_report(report)
        elif not is_empty(memory):
            _print(memory, action, words, k, as_json=as_json)


def _print_report(report: MemoryConsolidationReport) -> None:
    if not report.levels:
        print_line("nothing belongs together")
    for each in report.levels:
        made = pluralise(len(each.memory_ids), "memory", "memories")
        print_line(strong(f"level {each.level}"), f"  {made} of {each.archived}")


def _print(memory: Zone, action: str, words: tuple[str, ...], k: int, *, as_json: bool) -> None:
    hits: list[MemoryHit] = []
    memories: list[StoredMemory] = []
    if action == "search":
        hits = [*memory.search_memories(" ".join(words), max_results=k)]
    elif action == "list":
        memories = [
            memory_
            for level in range(MAX_CONSOLIDATION_LEVELS, 0, -1)
            for memory_ in memory.query_memories(abstraction_level=level, limit=k)
        ]
    else:
        of = memory.memory_children if action == "children" else memory.memory_ancestors
        memories = [memory_ for id_ in words for memory_ in of(id_)]
    if as_json:
        for document in (*hits, *memories):
            print_json(document)
        return
    for hit in hits:
        show_memory(hit.memory)
        print_line(quiet(f"  {hit.score:.2f}, {len(hit.matches)} found in it"))
    for memory_ in memories:
        show_memory(memory_)
    if not (hits or memories):
        print_line(_NOTHING[action])


COMMANDS = (hierarchy,)
