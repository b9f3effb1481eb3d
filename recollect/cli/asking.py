"""Commands that ask: recall, why."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from projections.recall import DEFAULT_SCOPE, SCOPES, Query, Result
from projections.recall.types import Budget
from recollect.cli.common import common, emit, open_memory
from recollect.client import Token
from recollect.why import why as explain
from schemas.errors import InvalidInput
from schemas.times import parse_time

# Keys of a result that stand in its JSON only where there is something to say.
_WHERE_THERE = frozenset({"arms", "supersedes", "superseded_by"})


class BatchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a batch: an id, a query, and what `recall` takes as options."""

    id: str | int
    query: str
    scope: list[str] | None = None
    entity: str | None = None
    after: str | int | None = None
    before: str | int | None = None
    platform: str | None = None
    known_at: str | int | None = None
    valid_at: str | int | None = None
    k: int | None = None
    budget: Budget | None = None


@click.command(epilog="Example: recollect recall 'When did Ada move?' -k 5 --explain")
@common
@click.argument("query", required=False)
@click.option("-k", "count", type=int, default=20, show_default=True, help="Most results.")
@click.option("--budget", type=click.Choice(get_args(Budget)), default="mid", show_default=True)
@click.option("--scope", help=f"Kinds, with commas: {', '.join(SCOPES)}.")
@click.option("--entity", help="Only what is about an entity, by name or id.")
@click.option("--after", help="Only what is later: ISO 8601 with zone, or unix ms.")
@click.option("--before", help="Only what is earlier.")
@click.option("--platform", help="Only from a platform.")
@click.option("--known-at", metavar="T", help="Answer as then: a time, or the token of an ingest.")
@click.option("--valid-at", metavar="T", help="Only what was true at a time.")
@click.option("--explain", "explain_", is_flag=True, help="Each result's rank in every arm.")
@click.option("--wait-for", metavar="TOKEN", help="First wait for what an ingest published.")
@click.option("--timeout", default=30.0, show_default=True, help="Most seconds to wait for it.")
@click.option(
    "--batch",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='A file of {"id", "query", ...} a line; answers one JSON a line, in order.',
)
def recall(
    home: str | None,
    zone: str | None,
    as_json: bool,
    query: str | None,
    count: int,
    budget: Budget,
    scope: str | None,
    entity: str | None,
    after: str | None,
    before: str | None,
    platform: str | None,
    known_at: str | None,
    valid_at: str | None,
    explain_: bool,
    wait_for: str | None,
    timeout: float,
    batch: Path | None,
) -> None:
    """Answer a question with memories and their sources."""
    if (query is None) == (batch is None):
        raise click.UsageError("give either a QUERY or --batch FILE")
    asked = Query(
        text=query or "",
        scope=_scope(scope.split(",")) if scope else DEFAULT_SCOPE,
        entity=entity,
        time_after=_time(after, "--after"),
        time_before=_time(before, "--before"),
        valid_at=_time(valid_at, "--valid-at"),
        platform=platform,
        max_results=count,
        budget=budget,
        explain=explain_,
    )
    asked.check()
    at = _moment(known_at, "--known-at")
    lines = list(_batch_queries(batch, asked, at)) if batch is not None else []
    with open_memory(home, zone) as memory:
        if wait_for is not None:
            memory.wait_for(wait_for, timeout)
        if batch is not None:
            for id_, one, then in lines:
                answer = memory.recall(one, known_at=then, resident=True)
                emit({"id": id_, "results": _results(answer.results), "ms": answer.ms})
            return
        answer = memory.recall(asked, known_at=at)
    if as_json:
        emit({"query": answer.query, "results": _results(answer.results), "ms": answer.ms})
        return
    if not answer.results:
        click.echo("nothing found")
    for place, result in enumerate(answer.results, 1):
        stale = " (no longer current)" if result.is_stale else ""
        click.echo(f"{place:2}. {_line(result.text)}{stale}")
        for change in result.superseded_by[:1]:
            click.echo(f'    now: "{_line(change.text)}", changed {_month(change.at)}')
        for change in result.supersedes[:1]:
            click.echo(f'    previously: "{_line(change.text)}", changed {_month(change.at)}')
        sources = ", ".join(result.source_event_ids)
        click.echo(
            f"    {result.type} {result.id}  {result.as_of[:10]}  score {result.score:.2f}  "
            f"source {result.platform or '-'}: {sources}"
        )
        if result.arms is not None:
            ranks = ", ".join(f"{name} {rank}" for name, rank in result.arms.items())
            click.echo(f"    ranks: {ranks or 'none'}")


def _results(results: list[Result]) -> list[dict[str, Any]]:
    """Return results as JSON has them: without keys that say nothing of this one."""
    return [
        {
            key: value
            for key, value in msgspec.structs.asdict(result).items()
            if key not in _WHERE_THERE or value not in (None, [])
        }
        for result in results
    ]


def _line(text: str) -> str:
    return " ".join(text.split())


def _month(time: str) -> str:
    return f"{datetime.fromisoformat(time):%b %Y}"


def _scope(names: list[str]) -> tuple[Any, ...]:
    chosen = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    unknown = [name for name in chosen if name not in SCOPES]
    if unknown:
        raise InvalidInput(f"scope {unknown[0]!r}: choose from {', '.join(SCOPES)}")
    return chosen


def _time(value: str | int | None, field: str) -> int | None:
    return None if value is None else parse_time(value, field)[0]


def _moment(value: str | int | None, field: str) -> int | Token | None:
    """Return a time, or the place in the ledger that a token stands for."""
    if isinstance(value, str) and Token.looks(value):
        return Token.read(value)
    return _time(value, field)


def _batch_queries(
    path: Path, defaults: Query, known_at: int | Token | None
) -> Iterator[tuple[str | int, Query, int | Token | None]]:
    decoder = msgspec.json.Decoder(BatchQuery)
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                item = decoder.decode(line)
                query = msgspec.structs.replace(
                    defaults,
                    text=item.query,
                    scope=_scope(item.scope) if item.scope else defaults.scope,
                    entity=defaults.entity if item.entity is None else item.entity,
                    time_after=(
                        defaults.time_after if item.after is None else _time(item.after, "after")
                    ),
                    time_before=(
                        defaults.time_before
                        if item.before is None
                        else _time(item.before, "before")
                    ),
                    valid_at=(
                        defaults.valid_at
                        if item.valid_at is None
                        else _time(item.valid_at, "valid_at")
                    ),
                    platform=defaults.platform if item.platform is None else item.platform,
                    max_results=defaults.max_results if item.k is None else item.k,
                    budget=item.budget or defaults.budget,
                )
                query.check()
                then = known_at if item.known_at is None else _moment(item.known_at, "known_at")
            except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
                raise InvalidInput(f"{path}:{number}: {error}") from None
            yield item.id, query, then


@click.command(epilog="Example: recollect why 01HQ...")
@common
@click.argument("id_", metavar="ID")
def why(home: str | None, zone: str | None, as_json: bool, id_: str) -> None:
    """Show the chain from a result down to its events and model calls."""
    with open_memory(home, zone) as memory:
        chain = explain(memory, id_)
    if as_json:
        emit(chain)
        return
    click.echo(f"{chain.type} {chain.id}: {_line(chain.text)}")
    for step in chain.steps:
        click.echo(f"  {step.what}")
        for line in step.details:
            click.echo(f"    {line}")
    sys.stdout.flush()


COMMANDS = (recall, why)
