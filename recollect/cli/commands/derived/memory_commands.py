"""The command that lists stored memories, their versions and differences, and sets their states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, cast, get_args

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.derived.browse_commands import (
    INDENT,
    entries,
    is_empty,
    paging_options,
    print_page_footer,
)
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import paragraph, print_json, print_line, quiet, strong
from recollect.schemas.memory_terms import TIERS, MemoryTier, StoredMemoryType
from recollect.schemas.text_sanitising import pluralise

if TYPE_CHECKING:
    from recollect import MemoryDiff, StoredMemory, Zone

_STATES: dict[str, Literal["active", "inactive", "deleted"]] = {
    "approve": "active",
    "deactivate": "inactive",
    "delete": "deleted",
}
#: What is done with a path or a pattern.
_PATH_ACTIONS = ("ls", "glob", "cat")
_ACTIONS = {
    "list": "List the memories, newest first.",
    "show ID": "Print a memory.",
    "versions ID": "List all versions of a memory.",
    "diff ID ID": "Compare two memories, or two versions of one.",
    "rollback ID": "Restore the version that --version names, as a new version.",
    "approve ID...": "Make inactive memories active again.",
    "deactivate ID...": "Make memories inactive: they are no longer recalled or listed.",
    "delete ID...": "Delete memories; this cannot be undone. Their text stays in the ledger; to "
    "erase it too, use 'recollect forget'.",
    "ls [PATH]": "List a directory of virtual paths, such as /memory/by-user/ada/.",
    "glob PATTERN": "Find the memories whose paths match a pattern with *, ? and **.",
    "cat PATH": "Print the memory at a path.",
}
_TYPES = get_args(StoredMemoryType)


@click.command(
    cls=CommandWithActions,
    actions=_ACTIONS,
    epilog="Example: recollect memories list --prefix /people/",
)
@common_options
@click.argument("ids", metavar="[ID|PATH]...", nargs=-1)
@click.option("--type", "memory_type", type=click.Choice(_TYPES), help="Only this type of memory.")
@click.option("--namespace", metavar="N", help="Only namespace N, without those below it.")
@click.option("--prefix", metavar="N", help="Only in namespaces that begin with N.")
@click.option("--person", metavar="P", help="Only memories that mention person P.")
@click.option(
    "--state",
    type=click.Choice(["active", "inactive", "deleted", "any"]),
    default="active",
    help="Only in this state [default: active].",
)
@click.option("--tier", type=click.Choice(TIERS), help="Only in this tier.")
@click.option(
    "--all", "all_", is_flag=True, help="Include superseded versions, and memories no longer true."
)
@click.option("--version", type=int, metavar="V", help="With rollback: the version to restore.")
@paging_options
def memories(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    ids: tuple[str, ...],
    memory_type: str | None,
    namespace: str | None,
    prefix: str | None,
    person: str | None,
    state: str,
    tier: MemoryTier | None,
    all_: bool,
    version: int | None,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List stored memories: texts that were saved on request."""
    _check_ids(action, ids, version)
    with open_zone(home, zone) as memory:
        if action in ("ls", "glob"):
            _list_paths(memory, action, ids, limit, cursor, as_json=as_json)
            return
        if action == "versions":
            items, more = entries(memory.memory_versions, limit, cursor, as_json=as_json, id=ids[0])
            for item in items:
                print_json(item) if as_json else show_memory(item, listed=True)
            print_page_footer(more)
            return
        if action != "list":
            _act(memory, action, ids, version, as_json=as_json)
            return
        if is_empty(memory):
            return
        items, more = entries(
            memory.query_memories,
            limit,
            cursor,
            as_json=as_json,
            memory_type=memory_type,
            namespace=namespace,
            namespace_prefix=prefix,
            person=person,
            state=state,
            tier=tier,
            superseded=all_,
        )
        count = 0
        for item in items:
            count += 1
            print_json(item) if as_json else show_memory(item, listed=True)
    if not count and not as_json:
        print_line("no stored memories; remember stores one")
    print_page_footer(more)


def _check_ids(action: str, ids: tuple[str, ...], version: int | None) -> None:
    if action == "list":
        if ids:
            raise click.UsageError("`list` takes no ID; did you mean `show`?")
    elif action == "diff":
        if len(ids) != 2:
            raise click.UsageError("`diff` needs the IDs of two memories")
    elif action in _PATH_ACTIONS:
        if len(ids) != 1 and (ids or action != "ls"):
            raise click.UsageError(f"`{action}` takes one path; `ls /` prints the directories")
    elif not ids:
        raise click.UsageError(f"`{action}` needs the ID of a memory; `list` prints the ids")
    elif action not in _STATES and len(ids) > 1:
        raise click.UsageError(f"`{action}` takes one ID")
    if (action == "rollback") != (version is not None):
        raise click.UsageError("`rollback` needs --version V; no other action takes it")


def _act(
    memory: Zone, action: str, ids: tuple[str, ...], version: int | None, *, as_json: bool
) -> None:
    if action in _STATES:
        report = memory.set_memory_state(ids, _STATES[action])
        if as_json:
            print_json(report)
        else:
            print_line(f"{pluralise(len(report.changed), 'memory', 'memories')} {report.state}")
        if report.unknown:
            raise click.ClickException(
                f"unknown ids: {', '.join(report.unknown)}; run recollect memories list to see the "
                "ids"
            )
        return
    shown: dict[str, Callable[[], object]] = {
        "show": lambda: memory.stored_memory(ids[0]),
        "cat": lambda: memory.read_path(ids[0]),
        "diff": lambda: memory.diff_memories(ids[0], ids[1]),
        "rollback": lambda: memory.roll_back_memory(ids[0], version or 0),
    }
    answer = shown[action]()
    if as_json:
        print_json(answer)
    elif action == "cat":
        for line in paragraph(cast("StoredMemory", answer).content, full=True):
            print_line(line)
    elif action == "show":
        show_memory(cast("StoredMemory", answer))
    elif action == "diff":
        for line in cast("MemoryDiff", answer).diff.splitlines():
            print_line(line)
    else:
        print_line("stored as a new version")


def _list_paths(
    memory: Zone,
    action: str,
    paths: tuple[str, ...],
    limit: int | None,
    cursor: str | None,
    *,
    as_json: bool,
) -> None:
    if is_empty(memory):
        return
    path = paths[0] if paths else "/"
    items, more = (
        entries(memory.list_paths, limit, cursor, as_json=as_json, path=path)
        if action == "ls"
        else entries(memory.glob_paths, limit, cursor, as_json=as_json, pattern=path)
    )
    count = 0
    for item in items:
        count += 1
        print_json(item) if as_json else print_line(item.path)
    if not count and not as_json:
        print_line(f"no memory is at {path}")
    print_page_footer(more)


def show_memory(item: StoredMemory, *, listed: bool = False) -> None:
    """Print a stored memory; in a list, without what was found in its text."""
    for line in paragraph(item.content, full=not listed):
        print_line(line)
    details = [
        item.memory_id,
        item.memory_type,
        f"version {item.version}",
        item.state if item.tier in (None, "main") else f"{item.state} ({item.tier})",
        item.scope,
        item.visibility,
        f"importance {item.effective_importance:.2f}",
        *([item.namespace] if item.namespace else []),
        *(["replaced"] if item.superseded_by_id else []),
    ]
    print_line(INDENT, quiet(", ".join(details)))
    if listed:
        return
    if item.resolved_content is not None:
        print_line(INDENT, "resolved: ", item.resolved_content)
    for date in item.temporal_refs:
        print_line(INDENT, strong(date.text), quiet(f"  {date.first} to {date.last}"))
    for mention in item.entities:
        print_line(INDENT, strong(mention.text), quiet(f"  {mention.type}"))


COMMANDS = (memories,)
