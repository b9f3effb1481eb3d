"""Commands that list the contents of a zone: zones, facts, entities, merges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.options import FilePath, OptionWithoutRange, common_options, open_home, open_zone
from recollect.cli.output import (
    bad,
    display_width,
    good,
    note,
    padded,
    paragraph,
    print_json,
    print_line,
    print_parts,
    quiet,
    strong,
    truncate,
    warning,
    width,
)
from recollect.cli.query_options import known_at_option
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import (
    collapse_whitespace,
    escape_invisible,
    first_few,
    pluralise,
)

if TYPE_CHECKING:
    from recollect.library.library_zone import Zone
    from recollect.schemas.wire import (
        Comparison,
        Entity,
        Fact,
        Merge,
        MergeDecision,
        Page,
        RelatedEntities,
    )

Item = TypeVar("Item")
Command = TypeVar("Command", bound=Any)

#: Entries per page: the default and the maximum. With --json the default is all entries.
PAGE, MAX_PAGE_SIZE = 20, 1_000
INDENT = "    "
#: Shown in place of the text of messages without words, such as pictures.
NO_WORDS = "(no words)"
# Line width in columns if stdout is not a terminal.
_DEFAULT_WIDTH = 160
_MAX_HANDLES = 3
_RELATED = 20
# Narrower terminals get lines instead of a table.
_MIN_TABLE_WIDTH = 72
# Minimum width of the types, width of the counts, and minimum width of the aliases after them.
_MIN_TYPE_COLUMNS, _COUNT_COLUMNS, _MIN_DETAIL_COLUMNS = 14, 24, 8
_ENTITY_ACTIONS = {
    "list": "List the entities, the most mentioned first.",
    "compare A B": "Say whether A and B are merged already, may be the same, or differ, and why.",
    "related A": "List the entities that share the most facts with A.",
}
_MERGE_ACTIONS = {
    "list": "List the merges with their status: pending, merged, rejected or undone.",
    "approve ID": "Merge the two entities.",
    "reject ID": "Keep the two entities separate.",
    "undo ID": "Separate two merged entities, or two merged facts, again.",
}
_DECISIONS: dict[str, MergeDecision] = {
    "approve": "merged",
    "reject": "rejected",
    "undo": "undone",
}
_STATUS_STYLES = {"pending": warning, "merged": good, "rejected": quiet, "undone": quiet}


def paging_options(function: Command) -> Command:
    """Add --limit and --cursor to a command."""
    for option in (
        click.option(
            "--cursor", metavar="C", help="Continue after the page that printed this cursor."
        ),
        click.option(
            "--limit",
            cls=OptionWithoutRange,
            metavar="N",
            type=click.IntRange(1, MAX_PAGE_SIZE),
            help=f"Maximum entries per page, 1 to {MAX_PAGE_SIZE} [default: {PAGE}; with --json, "
            "all entries].",
        ),
    ):
        function = option(function)
    return function


def entries(
    method: Callable[..., Page[Item]],
    limit: int | None,
    cursor: str | None,
    *,
    as_json: bool,
    **filters: Any,
) -> tuple[Iterator[Item], str | None]:
    """Return a page's entries and the next cursor; with --json and no limit, all entries."""
    if limit is None and as_json:
        from recollect.library.pagination import paginate

        return paginate(method, cursor=cursor, **filters), None
    page = method(limit=limit or PAGE, cursor=cursor, **filters)
    return iter(page), page.cursor


def print_page_footer(cursor: str | None) -> None:
    """Print how to see the next page."""
    if cursor is not None:
        print_line(quiet(f"for the next page: --cursor '{cursor}'"), err=True)


@click.command(epilog="Example: recollect zones")
@common_options
def zones(home: str | None, zone: str | None, as_json: bool) -> None:
    """List the zones of the home."""
    with open_home(home) as opened:
        summaries = opened.zone_summaries()
    longest = max((display_width(item.zone) for item in summaries), default=0)
    for item in summaries:
        if as_json:
            print_json(item)
        else:
            why = item.problem or "recollect status says for how long"
            mark = bad(f"  STALLED; {why}") if item.stalled else ""
            records = pluralise(item.events, "record")
            print_line(strong(padded(item.zone, longest)), f"  {records}", mark)
    if not as_json and not summaries:
        print_line("no zones yet; run recollect ingest to create one")


@click.command(epilog="Example: recollect facts --entity Ada --all")
@common_options
@click.option("--entity", metavar="E", help="Only facts about entity E (name or id).")
@click.option("--all", "all_", is_flag=True, help="Include superseded and retracted facts.")
@known_at_option
@paging_options
@click.option("--full", is_flag=True, help="Do not truncate texts on a terminal.")
def facts(
    home: str | None,
    zone: str | None,
    as_json: bool,
    entity: str | None,
    all_: bool,
    known_at: str | None,
    limit: int | None,
    cursor: str | None,
    full: bool,
) -> None:
    """List the facts of a zone, newest first."""
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return
        filters = {"entity": entity, "superseded": all_, "known_at": known_at}
        items, more = entries(memory.facts, limit, cursor, as_json=as_json, **filters)
        count = 0
        for item in items:
            count += 1
            if as_json:
                print_json(item)
            else:
                _show_fact(item, full=full)
    if not count and not as_json:
        print_line("no facts" if entity is None else f"no facts about {entity}")
    print_page_footer(more)


def _show_fact(fact: Fact, *, full: bool) -> None:
    first, *rest = paragraph(fact.text, 2, full=full)
    print_line(strong(first) if fact.current else first)
    for line in rest:
        print_line("  ", strong(line) if fact.current else line)
    if fact.context is not None:
        print_line(INDENT, quiet(collapse_whitespace(fact.context)))
    moment = f"{datetime.fromisoformat(fact.as_of):%Y-%m-%d %H:%M} UTC"
    parts = [quiet(moment)]
    if fact.when is not None:
        parts.append(quiet(f"refers to {fact.when}"))
    if fact.attribute is not None:
        parts.append(quiet(collapse_whitespace(f"{fact.subject}: {fact.attribute} = {fact.value}")))
    if fact.said.count > 1:
        last = datetime.fromisoformat(fact.said.last)
        parts.append(quiet(f"said {fact.said.count:,} times, last on {last:%Y-%m-%d}"))
    if not fact.current:
        parts.append(warning("retracted" if fact.retracted else "superseded"))
    print_parts(INDENT, *parts)
    sources = first_few(fact.source_event_ids)
    print_line(INDENT, quiet(f"fact {fact.id} from {sources}"))
    if fact.uncertain is not None:
        print_line(INDENT, warning(collapse_whitespace(str(fact.uncertain))))
    if fact.relations:
        relations = (
            f"{one.verb} fact {one.fact_id} (confidence {one.confidence})" for one in fact.relations
        )
        print_parts(INDENT, *map(quiet, relations))


@click.command(
    cls=CommandWithActions,
    actions=_ENTITY_ACTIONS,
    epilog="Example: recollect entities compare 'Ada Moreau' Ada",
)
@common_options
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option(
    "--query",
    metavar="Q",
    help="With list: only entities whose name or account contains Q; if none does, those that Q "
    "describes, such as 'the vet'.",
)
@click.option(
    "--batch",
    metavar="FILE",
    type=FilePath(exists=True, dir_okay=False, allow_dash=True),
    help='With compare: compare the pairs in FILE, one {"a": {"name", "type", "email"}, '
    '"b": {...}} on each line; - is standard input.',
)
@paging_options
def entities(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    a: str | None,
    b: str | None,
    query: str | None,
    batch: Path | None,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List entities, list those related to one, or compare two.

    A and B are names or ids.
    """
    if query is not None and action != "list":
        raise click.UsageError("--query works only with `list`")
    if action == "compare":
        if (batch is None) == (a is None or b is None):
            raise click.UsageError("`compare` needs A and B, or --batch FILE")
        if batch is not None:
            _compare_batch(batch, as_json=as_json)
            return
        assert a is not None and b is not None
        with open_zone(home, zone) as memory:
            if hints := memory.hints():
                raise InvalidInput(hints[0])
            _show_comparison(memory.compare(a, b), as_json=as_json)
        return
    if action == "related":
        if a is None or b is not None or batch is not None:
            raise click.UsageError("`related` needs one name or id")
        with open_zone(home, zone) as memory:
            if hints := memory.hints():
                raise InvalidInput(hints[0])
            _show_related(memory.related(a, max_results=limit or _RELATED), as_json=as_json)
        return
    if a is not None or batch is not None:
        raise click.UsageError("`list` takes no names; did you mean `entities compare`?")
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return
        items, more = entries(partial(memory.entities, query=query), limit, cursor, as_json=as_json)
        if as_json:
            for item in items:
                print_json(item)
        else:
            listed = list(items)
            _show_entities(listed)
            if not listed:
                print_line("no entities yet")
    print_page_footer(more)


def _show_entities(entities: list[Entity]) -> None:
    columns = width() or _DEFAULT_WIDTH
    longest = min(
        max((display_width(escape_invisible(item.name)) for item in entities), default=0),
        columns // 3,
    )
    type_columns = max([_MIN_TYPE_COLUMNS, *(display_width(item.type) for item in entities)])
    for item in entities:
        counts = f"{pluralise(item.mentions, 'mention')}, {pluralise(item.facts, 'fact')}"
        also = escape_invisible(collapse_whitespace(_aliases(item)))
        name = escape_invisible(collapse_whitespace(item.name))
        if columns < _MIN_TABLE_WIDTH:
            print_line(strong(truncate(name, columns)))
            print_line(INDENT, truncate(f"{item.type}, {counts}", columns - len(INDENT)))
            if also:
                print_line(INDENT, quiet(truncate(also, columns - len(INDENT))))
            continue
        row = f"  {padded(item.type, type_columns)}  {padded(counts, _COUNT_COLUMNS)}"
        remaining = columns - longest - len(row) - 2
        details = (
            f"  {truncate(also, remaining)}" if also and remaining > _MIN_DETAIL_COLUMNS else ""
        )
        print_line(
            strong(padded(truncate(name, longest), longest)),
            row if details else row.rstrip(),
            quiet(details),
        )


def _show_related(found: RelatedEntities, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for item in found.related:
        name = escape_invisible(collapse_whitespace(item.name))
        print_line(strong(name), quiet(f"  {item.type}, {pluralise(item.facts, 'fact')}"))
    if not found.related:
        print_line("no fact names it together with another")


def _aliases(item: Entity) -> str:
    """Return the first few of an entity's handles and aliases, and how many more there are."""
    known_as = [f"{handle.platform} {handle.handle}" for handle in item.handles]
    handles = {handle.handle for handle in item.handles}
    known_as += [alias for alias in item.aliases if alias not in handles]
    more = len(known_as) - _MAX_HANDLES
    return ", ".join(known_as[:_MAX_HANDLES]) + (f" and {more} more" if more > 0 else "")


def _compare_batch(batch: Path, *, as_json: bool) -> None:
    from recollect.cli.json_lines_reader import read_lines
    from recollect.operations.memories.compare_entities import compare_descriptions
    from recollect.schemas.wire import EntityPair

    for comparison in read_lines(
        batch, EntityPair, lambda pair: compare_descriptions(pair.a, pair.b)
    ):
        _show_comparison(comparison, as_json=as_json)


def _show_comparison(found: Comparison, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    style = {"same": good, "propose": warning}.get(found.decision, strong)
    print_line(
        style(found.decision),
        f" (match confidence {found.confidence:.2f}): "
        f"{collapse_whitespace('; '.join(found.reasons))}",
    )


@click.command(
    cls=CommandWithActions, actions=_MERGE_ACTIONS, epilog="Example: recollect merges list"
)
@common_options
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--entity", metavar="E", help="Only merges of entity E (name or id).")
@paging_options
def merges(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    entity: str | None,
    limit: int | None,
    cursor: str | None,
) -> int:
    """List merges of entities and facts; approve, reject or undo one.

    Two entities that may be the same stay separate until their merge is approved. Duplicate facts
    are merged daily, without approval.
    """
    if action == "list":
        if id_ is not None:
            raise click.UsageError(
                "`list` takes no ID; did you mean `approve`, `reject` or `undo`?"
            )
        _list_merges(home, zone, entity, limit, cursor, as_json=as_json)
        return 0
    if id_ is None:
        raise click.UsageError(f"`{action}` needs the ID of a merge")
    with open_zone(home, zone) as memory:
        merge = memory.decide_merge(id_, _DECISIONS[action])
    done = merge.status == _DECISIONS[action]
    if as_json:
        print_json(merge)
    else:
        _show_merge(merge)
    if not done:
        note("nothing changed: the two are already merged, or one of them was erased")
    return 0 if done else 1


def _list_merges(
    home: str | None,
    zone: str | None,
    entity: str | None,
    limit: int | None,
    cursor: str | None,
    *,
    as_json: bool,
) -> None:
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return
        items, more = entries(memory.merges, limit, cursor, as_json=as_json, entity=entity)
        listed = list(items)
    for item in listed:
        if as_json:
            print_json(item)
        else:
            _show_merge(item)
    if not listed and not as_json:
        print_line("no merges, completed or pending")
    print_page_footer(more)


def _show_merge(merge: Merge) -> None:
    style = _STATUS_STYLES[merge.status]
    pair = f"{collapse_whitespace(merge.a)} and {collapse_whitespace(merge.b)}"
    print_line(style(padded(merge.status, 8)), "  ", strong(pair))
    if merge.status == "pending":
        for name, handles in ((merge.a, merge.a_handles), (merge.b, merge.b_handles)):
            where = ", ".join(f"{handle.platform} {handle.handle}" for handle in handles)
            print_line(
                INDENT, f"{collapse_whitespace(name)}: {where or 'mentioned by others only'}"
            )
    reasons = collapse_whitespace("; ".join(merge.reasons))
    print_line(INDENT, quiet(f"{merge.id}  confidence {merge.confidence:.2f}: {reasons}"))


def is_empty(memory: Zone) -> bool:
    """Print hints about the zone, and return whether it is empty."""
    for line in memory.hints():
        note(line)
    return not memory.exists()


COMMANDS = (zones, facts, entities, merges)
