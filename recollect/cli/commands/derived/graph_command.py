"""The command `graph`: how people and things are related."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

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
from recollect.cli.output import print_json, print_line, print_parts, quiet, strong, warning
from recollect.cli.query_options import known_at_option
from recollect.schemas.text_sanitising import collapse_whitespace, first_few, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import EntityGraph, Relationship, RelationshipDirection

_MAX_ENTITIES = 100
_ACTIONS = {
    "list ENTITY": "List the relationships of an entity.",
    "neighbors ENTITY": "Show the entities around it, and how they are related.",
    "subgraph ENTITY...": "Show the relationships among several entities.",
    "path ENTITY ENTITY": "Show a shortest path between two entities.",
}


@click.command(
    cls=CommandWithActions,
    actions=_ACTIONS,
    required=True,
    epilog="Example: recollect graph path Ada Turin",
)
@common_options
@click.argument("names", metavar="ENTITY...", nargs=-1, required=True)
@click.option(
    "--type",
    "types",
    metavar="T",
    multiple=True,
    help="Only relationships of this type. Repeatable.",
)
@click.option(
    "--direction",
    type=click.Choice(["out", "in", "both"]),
    default="both",
    help="Relationships that begin at the entity, lead to it, or both [default: both].",
)
@click.option(
    "--hops",
    metavar="N",
    type=int,
    help="Maximum number of hops from the entity (neighbors), along the path (path), or from the "
    "given entities (subgraph; 0: only these entities) [default: neighbors 2, subgraph 0, path 4].",
)
@known_at_option
@click.option("--valid-at", metavar="T", help="Only relationships that held at T.")
@click.option("--all", "all_", is_flag=True, help="With list: include superseded relationships.")
@paging_options
def graph(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    names: tuple[str, ...],
    types: tuple[str, ...],
    direction: RelationshipDirection,
    hops: int | None,
    known_at: str | None,
    valid_at: str | None,
    all_: bool,
    limit: int | None,
    cursor: str | None,
) -> None:
    """Show how people and things are related.

    ENTITY is a name or an id.
    """
    wanted = {"list": 1, "neighbors": 1, "path": 2}.get(action, len(names))
    if len(names) != wanted:
        raise click.UsageError(f"`{action}` takes {pluralise(wanted, 'name')}, not {len(names)}")
    when: dict[str, Any] = {"known_at": known_at, "valid_at": valid_at, "types": types or None}
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return
        if action == "list":
            relationships, more = entries(
                memory.relationships,
                limit,
                cursor,
                as_json=as_json,
                entity=names[0],
                direction=direction,
                superseded=all_,
                **when,
            )
            listed = _show_relationships(relationships, as_json=as_json)
            if not listed and not as_json:
                print_line(f"no relationships of {collapse_whitespace(names[0])}")
            print_page_footer(more)
            return
        count = limit or _MAX_ENTITIES
        if action == "neighbors":
            shown = memory.neighbors(
                names[0],
                hops=2 if hops is None else hops,
                direction=direction,
                max_entities=count,
                **when,
            )
        elif action == "subgraph":
            shown = memory.subgraph(names, hops=hops or 0, max_entities=count, **when)
        else:
            shown = memory.find_path(
                *names, max_hops=4 if hops is None else hops, direction=direction, **when
            )
    _show_graph(shown, as_json=as_json)


def _show_graph(shown: EntityGraph, *, as_json: bool) -> None:
    if as_json:
        print_json(shown)
        return
    for entity in shown.entities:
        distance = pluralise(entity.hops, "hop")
        print_parts(
            "", strong(collapse_whitespace(entity.name)), quiet(entity.type), quiet(distance)
        )
    if not shown.entities:
        print_line("nothing relates them")
    _show_relationships(shown.relationships, as_json=False)
    if shown.truncated:
        print_line(quiet("there are more; raise --limit"), err=True)


def _show_relationships(relationships: Iterable[Relationship], *, as_json: bool) -> int:
    count = 0
    for relationship in relationships:
        count += 1
        if as_json:
            print_json(relationship)
            continue
        source, target = (
            collapse_whitespace(relationship.source),
            collapse_whitespace(relationship.target),
        )
        print_line(strong(f"{source} {relationship.type} {target}"))
        last = f"{datetime.fromisoformat(relationship.last_said):%Y-%m-%d}"
        parts = [quiet(f"said {pluralise(relationship.weight, 'time')}, last on {last}")]
        parts.append(quiet(f"confidence {relationship.confidence:.2f}"))
        if not relationship.current:
            parts.append(warning("no longer so"))
        print_parts(INDENT, *parts)
        facts, events = first_few(relationship.fact_ids), first_few(relationship.source_event_ids)
        print_line(INDENT, quiet(f"facts {facts} from {events}"))
    return count


COMMANDS = (graph,)
