"""Commands that list what is held: zones, facts, entities, merges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.options import common, open_home, open_zone
from recollect.cli.output import (
    columns_of,
    cut,
    emit,
    good,
    note,
    padded,
    paragraph,
    quiet,
    say,
    say_parts,
    strong,
    warning,
    width,
)
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible, pluralise

if TYPE_CHECKING:
    from recollect.library.library_zone import Zone
    from recollect.schemas.wire import Comparison, Entity, Fact, Merge, MergeDecision, Page

Item = TypeVar("Item")
Command = TypeVar("Command", bound=Any)

#: Entries of a page on a terminal, and at most; programs get all.
PAGE, MAX_PAGE_SIZE = 20, 1_000
_INDENT = "    "
# Where there is no terminal: wide enough for what is listed.
_ROOMY = 160
_MAX_HANDLES = 3
# A narrower terminal gets lines instead of columns.
_ROOM_FOR_TABLE = 72
# Columns of both counts, and what it takes at least to say more.
_COUNTS, _LEAST = 24, 8
_DECISIONS: dict[str, MergeDecision] = {
    "approve": "merged",
    "reject": "rejected",
    "undo": "undone",
}
_STATUS_STYLES = {"pending": warning, "merged": good, "rejected": quiet, "undone": quiet}


def _paged(function: Command) -> Command:
    """Give a command --limit and --cursor."""
    for option in (
        click.option(
            "--cursor", metavar="C", help="Start after the previous page, which printed it."
        ),
        click.option(
            "--limit",
            metavar="N",
            type=click.IntRange(1, MAX_PAGE_SIZE),
            help=f"Maximum entries  [{PAGE}; all with --json].",
        ),
    ):
        function = option(function)
    return function


def _entries(
    method: Callable[..., Page[Item]],
    limit: int | None,
    cursor: str | None,
    *,
    as_json: bool,
    **filters: Any,
) -> tuple[Iterator[Item], str | None]:
    """Return a page's entries and the next cursor; programs get all that follow."""
    if limit is None and as_json:
        from recollect.library.pagination import paginate

        return paginate(method, cursor=cursor, **filters), None
    page = method(limit=limit or PAGE, cursor=cursor, **filters)
    return iter(page), page.cursor


def _say_next(cursor: str | None) -> None:
    """Say how to see the next page."""
    if cursor is not None:
        say(quiet(f"for the next page: --cursor '{cursor}'"), err=True)


@click.command(epilog="Example: recollect zones")
@common
def zones(home: str | None, zone: str | None, as_json: bool) -> None:
    """List the zones of the home."""
    with open_home(home) as opened:
        found = opened.zone_summaries()
    longest = max((columns_of(item.zone) for item in found), default=0)
    for item in found:
        if as_json:
            emit(item)
        else:
            say(strong(padded(item.zone, longest)), f"  {pluralise(item.events, 'record')}")
    if not as_json and not found:
        say("there is no zone yet; recollect ingest makes one")


@click.command(epilog="Example: recollect facts --entity Ada --all")
@common
@click.option("--entity", metavar="E", help="Only what is about E, by name or id.")
@click.option("--all", "all_", is_flag=True, help="Also what has been superseded.")
@_paged
@click.option("--full", is_flag=True, help="Whole texts on a terminal, not their beginnings.")
def facts(
    home: str | None,
    zone: str | None,
    as_json: bool,
    entity: str | None,
    all_: bool,
    limit: int | None,
    cursor: str | None,
    full: bool,
) -> None:
    """List the facts that a zone holds, the newest first."""
    with open_zone(home, zone) as memory:
        if _is_empty(memory):
            return
        items, more = _entries(
            memory.facts, limit, cursor, as_json=as_json, entity=entity, superseded=all_
        )
        count = 0
        for item in items:
            count += 1
            if as_json:
                emit(item)
            else:
                _show_fact(item, full=full)
    if not count and not as_json:
        say("no facts" if entity is None else f"no facts about {entity}")
    _say_next(more)


def _show_fact(fact: Fact, *, full: bool) -> None:
    first, *rest = paragraph(fact.text, 2, full=full)
    say(strong(first) if fact.current else first)
    for line in rest:
        say("  ", strong(line) if fact.current else line)
    moment = f"{datetime.fromisoformat(fact.as_of):%Y-%m-%d %H:%M} UTC"
    parts = [quiet(moment)]
    if fact.attribute is not None:
        parts.append(quiet(collapse_whitespace(f"{fact.subject}: {fact.attribute} = {fact.value}")))
    if not fact.current:
        parts.append(warning("superseded"))
    say_parts(_INDENT, *parts)
    sources = ", ".join(map(collapse_whitespace, fact.source_event_ids))
    say(_INDENT, quiet(f"fact {fact.id} from {sources}"))
    if fact.relations:
        told = (f"{one.verb} fact {one.fact_id} ({one.confidence})" for one in fact.relations)
        say_parts(_INDENT, *map(quiet, told))


@click.command(epilog="Example: recollect entities compare 'Ada Moreau' Ada")
@common
@click.argument(
    "action",
    metavar="[list|compare]",
    type=click.Choice(["list", "compare"]),
    default="list",
)
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option(
    "--batch",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help='To compare: {"a": {"name", "type", "email"}, "b": {...}} a line, - for standard input.',
)
@_paged
def entities(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    a: str | None,
    b: str | None,
    batch: Path | None,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List whom and what a zone knows, or compare two.

    The most mentioned come first.
    compare A B says whether the two, by name or id, are or would be taken for the same, and why.
    """
    if action == "compare":
        if (batch is None) == (a is None or b is None):
            raise click.UsageError("compare needs A and B, or --batch FILE")
        if batch is not None:
            _compare_batch(batch, as_json=as_json)
            return
        assert a is not None and b is not None
        with open_zone(home, zone) as memory:
            if hints := memory.hints():
                raise InvalidInput(hints[0])
            _show_comparison(memory.compare(a, b), as_json=as_json)
        return
    if a is not None or batch is not None:
        raise click.UsageError("list takes no names; did you mean entities compare?")
    with open_zone(home, zone) as memory:
        if _is_empty(memory):
            return
        items, more = _entries(memory.entities, limit, cursor, as_json=as_json)
        if as_json:
            for item in items:
                emit(item)
        else:
            chosen = list(items)
            _show_entities(chosen)
            if not chosen:
                say("no entities yet")
    _say_next(more)


def _show_entities(chosen: list[Entity]) -> None:
    room = width() or _ROOMY
    longest = min(
        max((columns_of(escape_invisible(item.name)) for item in chosen), default=0), room // 3
    )
    for item in chosen:
        counts = f"{pluralise(item.mentions, 'mention')}, {pluralise(item.facts, 'fact')}"
        also = escape_invisible(collapse_whitespace(_also(item)))
        name = escape_invisible(collapse_whitespace(item.name))
        if room < _ROOM_FOR_TABLE:
            say(strong(cut(name, room)))
            say(_INDENT, cut(f"{item.type}, {counts}", room - len(_INDENT)))
            if also:
                say(_INDENT, quiet(cut(also, room - len(_INDENT))))
            continue
        row = f"  {padded(item.type, 14)}  {padded(counts, _COUNTS)}"
        left = room - longest - len(row) - 2
        rest = f"  {cut(also, left)}" if also and left > _LEAST else ""
        say(
            strong(padded(cut(name, longest), longest)),
            row.rstrip() if not rest else row,
            quiet(rest),
        )


def _also(item: Entity) -> str:
    """Return under which accounts and names one is known besides."""
    known_as = [f"{handle.platform} {handle.handle}" for handle in item.handles]
    handles = {handle.handle for handle in item.handles}
    known_as += [alias for alias in item.aliases if alias not in handles]
    more = len(known_as) - _MAX_HANDLES
    return ", ".join(known_as[:_MAX_HANDLES]) + (f" and {more} more" if more > 0 else "")


def _compare_batch(batch: Path, *, as_json: bool) -> None:
    from recollect.cli.json_lines_reader import read_lines
    from recollect.operations.memories.compare_entities import compare_descriptions
    from recollect.schemas.wire import EntityPair

    for found in read_lines(batch, EntityPair, lambda pair: compare_descriptions(pair.a, pair.b)):
        _show_comparison(found, as_json=as_json)


def _show_comparison(found: Comparison, *, as_json: bool) -> None:
    if as_json:
        emit(found)
        return
    style = {"same": good, "propose": warning}.get(found.decision, strong)
    say(
        style(found.decision),
        f" (confidence {found.confidence:.2f}): {collapse_whitespace('; '.join(found.reasons))}",
    )


@click.command(epilog="Example: recollect merges list")
@common
@click.argument(
    "action",
    metavar="[list|approve|reject|undo]",
    type=click.Choice(["list", "approve", "reject", "undo"]),
    default="list",
)
@click.argument("id_", metavar="[ID]", required=False)
@_paged
def merges(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    limit: int | None,
    cursor: str | None,
) -> int:
    """List what was merged or may be; decide about it.

    Two that may be one stay apart until somebody says so: approve makes them one, reject leaves
    them apart, undo takes a merge back.
    """
    if action == "list":
        if id_ is not None:
            raise click.UsageError("list takes no ID; did you mean approve, reject or undo?")
        _list_merges(home, zone, limit, cursor, as_json=as_json)
        return 0
    if id_ is None:
        raise click.UsageError(f"{action} needs the ID of a merge")
    with open_zone(home, zone) as memory:
        merge = memory.decide_merge(id_, _DECISIONS[action])
    done = merge.status == _DECISIONS[action]
    if as_json:
        emit(merge)
    else:
        _show_merge(merge)
    if not done:
        note("nothing came of it: what stands for the two is the same, or is there no more")
    return 0 if done else 1


def _list_merges(
    home: str | None, zone: str | None, limit: int | None, cursor: str | None, *, as_json: bool
) -> None:
    with open_zone(home, zone) as memory:
        if _is_empty(memory):
            return
        items, more = _entries(memory.merges, limit, cursor, as_json=as_json)
        chosen = list(items)
    for item in chosen:
        if as_json:
            emit(item)
        else:
            _show_merge(item)
    if not chosen and not as_json:
        say("no merges, and none pending")
    _say_next(more)


def _show_merge(merge: Merge) -> None:
    style = _STATUS_STYLES[merge.status]
    pair = f"{collapse_whitespace(merge.a)} and {collapse_whitespace(merge.b)}"
    say(style(padded(merge.status, 8)), "  ", strong(pair))
    if merge.status == "pending":
        for name, handles in ((merge.a, merge.a_handles), (merge.b, merge.b_handles)):
            where = ", ".join(f"{handle.platform} {handle.handle}" for handle in handles)
            say(_INDENT, f"{collapse_whitespace(name)}: {where or 'only named by others'}")
    reasons = collapse_whitespace("; ".join(merge.reasons))
    say(_INDENT, quiet(f"{merge.id}  confidence {merge.confidence:.2f}: {reasons}"))


def _is_empty(memory: Zone) -> bool:
    """Return whether a zone holds nothing; say so, and where its agents are others."""
    for line in memory.hints():
        note(line)
    return not memory.exists()


COMMANDS = (zones, facts, entities, merges)
