"""Commands that ask: recall, why."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from recollect.cli import questions
from recollect.cli.common import common, emit, open_zone, say
from schemas.display import folded
from schemas.errors import InvalidInput
from schemas.wire import Chain, Explanation, Result


@click.command(epilog="Example: recollect recall 'When did Ada move?' -k 5 --explain")
@common
@click.argument("query", required=False)
@questions.options
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
    explain_: bool,
    wait_for: str | None,
    timeout: float,
    batch: Path | None,
    **given: Any,
) -> None:
    """Answer a question with memories and their sources."""
    if (query is None) == (batch is None):
        raise click.UsageError("give either a QUERY or --batch FILE")
    asked = questions.question(query or "", given, explain=explain_)
    lines = list(questions.batch(batch, asked)) if batch is not None else []
    with open_zone(home, zone) as memory:
        if wait_for is not None:
            memory.wait_for(wait_for, timeout)
        if batch is not None:
            for id_, one in lines:
                answer = memory.recall(one)
                emit({"id": id_, "results": answer.results, "ms": answer.ms})
            return
        answer = memory.recall(asked)
    if as_json:
        emit(answer)
        return
    if not answer.results:
        say("nothing found")
    for place, result in enumerate(answer.results, 1):
        _show(place, result)


@click.command(epilog="Example: recollect why 01HQ... --query 'When did Ada move?'")
@common
@click.argument("id_", metavar="ID")
@click.option("--query", help="Also what became of it in the answer to a question.")
@questions.options
def why(
    home: str | None,
    zone: str | None,
    as_json: bool,
    id_: str,
    query: str | None,
    **given: Any,
) -> None:
    """Show the chain from a result down to its events and model calls; or why it is no result."""
    asked = questions.question(query or "", given)
    with open_zone(home, zone) as memory:
        chain = memory.why(id_)
        if query is not None:
            became = memory.explain(asked, chain.id)
            if became is None:
                raise InvalidInput(f"nothing was known of {id_!r} then")
            chain = msgspec.structs.replace(chain, recall=became)
    if as_json:
        emit(chain)
        return
    _show_chain(chain)
    if chain.recall is not None:
        _show_course(chain.recall)
    sys.stdout.flush()


def _show(place: int, result: Result) -> None:
    stale = " (no longer current)" if result.is_stale else ""
    say(f"{place:2}. {folded(result.text)}{stale}")
    for change in result.superseded_by[:1]:
        say(f'    now: "{folded(change.text)}", changed {_month(change.at)}')
    for change in result.supersedes[:1]:
        say(f'    previously: "{folded(change.text)}", changed {_month(change.at)}')
    for fact in result.facts:
        say(f"    - {folded(fact.text)}")
    sources = ", ".join(result.source_event_ids)
    say(
        f"    {result.type} {result.id}  {result.as_of[:10]}  score {result.score:.2f}  "
        f"source {result.platform or '-'}: {sources}"
    )
    if result.part is not None:
        say(f"    answers {folded(result.part)!r}")
    if result.arms is not None:
        say(f"    ranks: {_ranks(result.arms)}")


def _show_chain(chain: Chain) -> None:
    say(f"{chain.type} {chain.id}: {folded(chain.text)}")
    for step in chain.steps:
        say(f"  {step.what}")
        for line in step.details:
            say(f"    {folded(line)}")


def _show_course(became: Explanation) -> None:
    say(f"  asked {(became.part or became.query)!r}")
    if became.rank is not None:
        say(f"    result {became.rank}, score {became.score:.2f}")
    else:
        say(f"    not recalled, dropped by {became.dropped_by}: {became.because}")
    say(f"    ranks: {_ranks(became.arms)}")


def _ranks(arms: dict[str, int]) -> str:
    return ", ".join(f"{name} {rank}" for name, rank in arms.items()) or "none"


def _month(time: str) -> str:
    return f"{datetime.fromisoformat(time):%b %Y}"


COMMANDS = (recall, why)
