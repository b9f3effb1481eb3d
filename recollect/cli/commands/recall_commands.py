"""Commands that ask: recall, context, why."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.cli import query_options as question_options
from recollect.cli.options import common, open_zone
from recollect.cli.output import (
    emit,
    note,
    paragraph,
    quiet,
    say,
    say_parts,
    strong,
    warning,
    width,
    wrapped,
)
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible

if TYPE_CHECKING:
    from recollect.schemas.wire import Explanation, Provenance, RecallAnswer, Result

#: The number of answers for people, who look at the first few, and for programs.
FOR_READERS, FOR_PROGRAMS = 5, 20

# Below this an answer is more likely irrelevant (docs/reference/recall.md, on scores).
_WEAK = 0.3
# From this on it is more likely than not that the memory has something to say on a question.
_LIKELY = 0.5
# How many source ids are printed; --json has all.
_MAX_SOURCES = 5
_INDENT = "    "


@click.command(epilog="Example: recollect recall 'When did Ada move?' --after 2026-05-01 --explain")
@common
@click.argument("query", required=False)
@click.option(
    "-k",
    "k",
    type=int,
    help=f"Most results  [{FOR_READERS}; {FOR_PROGRAMS} with --json and --batch].",
)
@question_options.options
@click.option("--explain", "explain_", is_flag=True, help="Each result's rank in every arm.")
@click.option("--full", is_flag=True, help="Whole texts on a terminal, not their beginnings.")
@click.option("--wait-for", metavar="TOKEN", help="First wait for what an ingest published.")
@click.option("--timeout", default=30.0, show_default=True, help="Most seconds to wait for it.")
@click.option(
    "--batch",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help='{"id", "query", ...} a line, - for standard input; answers one JSON a line, in order.',
)
def recall(
    home: str | None,
    zone: str | None,
    as_json: bool,
    query: str | None,
    k: int | None,
    explain_: bool,
    full: bool,
    wait_for: str | None,
    timeout: float,
    batch: Path | None,
    **given: Any,
) -> None:
    """Answer a question with memories and their sources."""
    if (query is None) == (batch is None):
        raise click.UsageError("give either a QUERY or --batch FILE")
    from recollect.cli import batch_queries as batch_lines

    if k is None:
        k = FOR_PROGRAMS if as_json or batch is not None else FOR_READERS
    asked = batch_lines.question(query or "", {"k": k, **given}, explain=explain_)
    lines = [] if batch is None else list(batch_lines.batch(batch, asked))
    found = False
    with open_zone(home, zone) as memory:
        if wait_for is not None:
            memory.wait_for(wait_for, timeout)
        if batch is None:
            answer = memory.recall(asked)
            found = bool(answer.results)
        for id_, one in lines:
            each = memory.recall(one)
            found = found or bool(each.results)
            emit({"id": id_, "results": each.results, "ms": each.ms, "relevance": each.relevance})
        hints = [] if found else memory.hints(asked)
    if batch is None and as_json:
        emit(answer)
    elif batch is None:
        _show_results(answer, full=full)
    for line in hints:
        note(line)


@click.command(epilog="Example: recollect context 'Plan my next trip to Turin' --max-tokens 300")
@common
@click.argument("task")
@click.option("--max-tokens", type=int, help="What the block takes at most  [500].")
def context(
    home: str | None, zone: str | None, as_json: bool, task: str, max_tokens: int | None
) -> None:
    """Print what an agent should know for a task, or nothing.

    One block of remembered lines, framed as data; it is empty where nothing is relevant.
    """
    with open_zone(home, zone) as memory:
        given = {} if max_tokens is None else {"max_tokens": max_tokens}
        found = memory.context(task, **given)
    if as_json:
        emit(found)
        return
    for line in found.block.splitlines():
        say(line)


@click.command(epilog="Example: recollect why em-0010 --query 'When did Ada move?'")
@common
@click.argument("id_", metavar="ID")
@click.option("--query", metavar="TEXT", help="Also what became of it in the answer to a question.")
@click.option(
    "-k", "k", type=int, default=FOR_PROGRAMS, show_default=True, help="Results of that answer."
)
@question_options.options
def why(
    home: str | None,
    zone: str | None,
    as_json: bool,
    id_: str,
    query: str | None,
    **given: Any,
) -> None:
    """Show what a result rests on, or why it is none.

    That is the chain from it down to its events and model calls; with --query, also what became
    of it in the answer to that question.
    """
    from recollect.cli import batch_queries as batch_lines

    asked = batch_lines.question(query or "", given)
    with open_zone(home, zone) as memory:
        chain = memory.why(id_)
        became = None
        if query is not None:
            became = memory.explain(asked, chain.id)
            if became is None:
                raise InvalidInput(f"nothing was known of {id_!r} then")
    if as_json:
        import msgspec

        emit(msgspec.structs.replace(chain, recall=became))
        return
    _show_chain(chain)
    if became is not None:
        _show_course(became)
    sys.stdout.flush()


def _show_results(answer: RecallAnswer, *, full: bool) -> None:
    results = answer.results
    if not results:
        say("nothing found")
    # Where something is likely to be relevant, it is the best that is low, not weak.
    least = min(_WEAK, results[0].score) if results and answer.relevance >= _LIKELY else _WEAK
    for place, result in enumerate(results, 1):
        _show(place, result, weak=result.score < least, full=full)
    if results and all(result.score < least for result in results):
        note("all of these are weak: perhaps nothing was said of it")


def _show(place: int, result: Result, *, weak: bool, full: bool) -> None:
    first, *rest = paragraph(result.text, len(_INDENT), full=full)
    say(quiet(f"{place:2}. "), first if weak else strong(first))
    for line in rest:
        say(_INDENT, line if weak else strong(line))
    if result.is_stale:
        say(_INDENT, warning("no longer current"))
    for change in result.superseded_by[:1]:
        _tell(f'now: "{collapse_whitespace(change.text)}", changed {_month(change.at)}', full=full)
    for change in result.supersedes[:1]:
        _tell(
            f'previously: "{collapse_whitespace(change.text)}", changed {_month(change.at)}',
            full=full,
        )
    for fact in result.facts:
        _tell(f"- {collapse_whitespace(fact.text)}", full=full)
    _whence(result, weak=weak)
    if result.sub_question is not None:
        _tell(f"answers {collapse_whitespace(result.sub_question)!r}", full=full)
    if result.arms is not None:
        say(_INDENT, quiet(f"ranks: {_ranks(result.arms)}"))
    for fact in result.hop_path:
        _tell(f"led by: {collapse_whitespace(fact.text)}", full=full)


def _whence(result: Result, *, weak: bool) -> None:
    """Say who said it, when and where, how good an answer it is, and by which ids to ask on."""
    moment = f"{datetime.fromisoformat(result.as_of):%Y-%m-%d %H:%M} UTC"
    said = " · ".join(filter(None, (result.sender_name, moment, result.platform)))
    score = quiet(f"score {result.score:.2f}")
    if weak:
        score = warning(f"score {result.score:.2f}, weak")
    say_parts(_INDENT, quiet(collapse_whitespace(said)), score)
    sources = ", ".join(map(collapse_whitespace, result.source_event_ids[:_MAX_SOURCES]))
    more = len(result.source_event_ids) - _MAX_SOURCES
    whence = f"{' from' if sources else ''} {sources}{f' and {more} more' if more > 0 else ''}"
    for line in _fitted(f"{result.type} {result.id} {whence.strip()}"):
        say(_INDENT, quiet(line))


def _fitted(line: str) -> list[str]:
    """Return a line of ids in as many as the terminal needs."""
    room = width()
    return (
        [escape_invisible(line)]
        if room is None
        else wrapped(escape_invisible(line), room - len(_INDENT))
    )


def _tell(text: str, *, full: bool) -> None:
    for line in paragraph(text, len(_INDENT), full=full):
        say(_INDENT, line)


def _show_chain(chain: Provenance) -> None:
    _lines("", strong, f"{chain.type} {chain.id}: {collapse_whitespace(chain.text)}")
    for step in chain.steps:
        _lines("  ", None, step.description)
        for line in step.details:
            _lines("    ", quiet, collapse_whitespace(line))


def _lines(indent: str, style: Any, text: str) -> None:
    for line in paragraph(text, len(indent), full=True):
        say(indent, style(line) if style else line)


def _show_course(became: Explanation) -> None:
    say(f"  asked {(became.sub_question or became.query)!r}")
    if became.rank is not None:
        say(f"    result {became.rank}, score {became.score:.2f}")
    else:
        say(f"    not recalled, dropped by {became.dropped_by}: {became.reason}")
    say(f"    ranks: {_ranks(became.arms)}")


def _ranks(arms: dict[str, int]) -> str:
    return ", ".join(f"{name} {rank}" for name, rank in arms.items()) or "none"


def _month(time: str) -> str:
    return f"{datetime.fromisoformat(time):%b %Y}"


COMMANDS = (recall, context, why)
