"""Commands that query memory: recall, context, why."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.options import FilePath, common_options, open_zone
from recollect.cli.output import (
    note,
    paragraph,
    print_json,
    print_line,
    print_parts,
    quiet,
    strong,
    warning,
    width,
    wrapped,
)
from recollect.cli.query_options import query_options
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import (
    collapse_whitespace,
    escape_invisible,
    first_few,
    pluralise,
)

if TYPE_CHECKING:
    from recollect.library.library_zone import Zone
    from recollect.schemas.wire import Explanation, Provenance, RecallAnswer, Result

#: The default number of results, as text and as JSON.
TEXT_RESULTS, JSON_RESULTS = 5, 20

# Results with a lower score are probably irrelevant (docs/reference/recall.md, on scores).
_WEAK_SCORE = 0.3
# Minimum relevance at which the memory probably has an answer.
_MIN_RELEVANCE = 0.5
_INDENT = "    "


@click.command(epilog="Example: recollect recall 'When did Ada move?' --after 2026-05-01 --explain")
@common_options
@click.argument("query", required=False)
@click.option(
    "-k",
    "k",
    type=int,
    help=f"Maximum number of results [default: {TEXT_RESULTS}; with --json or --batch, "
    f"{JSON_RESULTS}].",
)
@query_options
@click.option(
    "--explain", "explain_", is_flag=True, help="Show each result's rank in every search method."
)
@click.option("--full", is_flag=True, help="Do not truncate texts on a terminal.")
@click.option(
    "--wait-for",
    metavar="TOKEN",
    help="Wait until the events of an earlier ingest can be recalled. TOKEN is the consistency "
    "token in the output of ingest --json.",
)
@click.option(
    "--timeout", default=30.0, show_default=True, help="Timeout of --wait-for, in seconds."
)
@click.option(
    "--batch",
    metavar="FILE",
    type=FilePath(exists=True, dir_okay=False, allow_dash=True),
    help='Answer the questions in FILE, one {"id": ..., "query": ...} on each line (- is standard '
    'input); print a JSON line for each. A line may also set options, such as "k" or "entity".',
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
    from recollect.cli.batch_queries import query_from_options, read_batch

    if k is None:
        k = JSON_RESULTS if as_json or batch is not None else TEXT_RESULTS
    request = query_from_options(query or "", {"k": k, **given}, explain=explain_)
    lines = [] if batch is None else list(read_batch(batch, request))
    has_results = False
    with open_zone(home, zone) as memory:
        if wait_for is not None:
            memory.wait_for(wait_for, timeout)
        if batch is None:
            answer = memory.recall(request)
            has_results = bool(answer.results)
        for id_, batch_request in lines:
            batch_answer = memory.recall(batch_request)
            has_results = has_results or bool(batch_answer.results)
            print_json(
                {
                    "id": id_,
                    "results": batch_answer.results,
                    "ms": batch_answer.ms,
                    "relevant": batch_answer.relevant,
                }
            )
        hints = [] if has_results else memory.hints(request)
        if not has_results or (batch is None and _is_weak(answer)):
            hints += _pending_note(memory)
    if batch is None and as_json:
        print_json(answer)
    elif batch is None:
        _show_results(answer, full=full)
    for line in hints:
        note(line)


@click.command(epilog="Example: recollect context 'Plan my next trip to Turin' --max-tokens 300")
@common_options
@click.argument("task")
@click.option("--max-tokens", type=int, help="Maximum size of the block in tokens [default: 500].")
def context(
    home: str | None, zone: str | None, as_json: bool, task: str, max_tokens: int | None
) -> None:
    """Print the memories that are relevant to a task, if any.

    Prints one block for an AI agent's prompt, with the memories marked as data rather than
    instructions. Prints nothing if no memory is relevant and the user has given no standing
    instructions (see recollect directives).
    """
    with open_zone(home, zone) as memory:
        given = {} if max_tokens is None else {"max_tokens": max_tokens}
        block = memory.context(task, **given)
    if as_json:
        print_json(block)
        return
    for line in block.block.splitlines():
        print_line(line)


@click.command(epilog="Example: recollect why em-0010 --query 'When did Ada move?'")
@common_options
@click.argument("id_", metavar="ID")
@click.option(
    "--query",
    metavar="TEXT",
    help="Also explain how the memory ranked in the answer to this query.",
)
@click.option(
    "-k",
    "k",
    type=int,
    default=JSON_RESULTS,
    show_default=True,
    help="Number of results in that answer.",
)
@query_options
def why(
    home: str | None,
    zone: str | None,
    as_json: bool,
    id_: str,
    query: str | None,
    **given: Any,
) -> None:
    """Show a memory's sources, or why a query did not return it.

    Prints the chain from the memory down to its events and model calls. With --query, also its
    rank in the answer to that query, or the step that dropped it.
    """
    from recollect.cli.batch_queries import query_from_options

    request = query_from_options(query or "", given)
    with open_zone(home, zone) as memory:
        chain = memory.why(id_)
        explanation = None
        if query is not None:
            explanation = memory.explain(request, chain.id)
            if explanation is None:
                raise InvalidInput(f"{id_!r} was not known at that time")
    if as_json:
        import msgspec

        print_json(msgspec.structs.replace(chain, recall=explanation))
        return
    _show_chain(chain)
    if explanation is not None:
        _print_explanation(explanation)
    sys.stdout.flush()


def _show_results(answer: RecallAnswer, *, full: bool) -> None:
    results = answer.results
    if not results:
        print_line("nothing found")
    threshold = _weak_score(answer)
    for rank, result in enumerate(results, 1):
        _show(rank, result, weak=result.score < threshold, full=full)
    if results and _is_weak(answer):
        note("low confidence: the memory may have no answer")


def _weak_score(answer: RecallAnswer) -> float:
    """Return the score below which a result is marked as weak.

    If the memory probably has an answer, the best result is not marked.
    """
    if answer.results and answer.relevant >= _MIN_RELEVANCE:
        return min(_WEAK_SCORE, answer.results[0].score)
    return _WEAK_SCORE


def _is_weak(answer: RecallAnswer) -> bool:
    """Return whether every result is weak."""
    threshold = _weak_score(answer)
    return all(result.score < threshold for result in answer.results)


def _pending_note(memory: Zone) -> list[str]:
    """Return a note if records of the zone are not processed yet, and so cannot be recalled."""
    lag = memory.status().lag if memory.exists() else 0
    if not lag:
        return []
    return [
        f"{pluralise(lag, 'record')} of zone {memory.name} cannot be recalled yet: unless a worker "
        "is processing, run recollect worker --once"
    ]


def _show(rank: int, result: Result, *, weak: bool, full: bool) -> None:
    first, *rest = paragraph(result.text, len(_INDENT), full=full)
    print_line(quiet(f"{rank:2}. "), first if weak else strong(first))
    for line in rest:
        print_line(_INDENT, line if weak else strong(line))
    if result.context is not None:
        _print_text(collapse_whitespace(result.context), full=full)
    if result.is_stale:
        print_line(_INDENT, warning("no longer current"))
    if result.uncertain is not None:
        print_line(_INDENT, warning(collapse_whitespace(str(result.uncertain))))
    for change in result.superseded_by[:1]:
        _print_text(
            f'now: "{collapse_whitespace(change.text)}", changed {_month(change.at)}', full=full
        )
    for change in result.supersedes[:1]:
        _print_text(
            f'previously: "{collapse_whitespace(change.text)}", changed {_month(change.at)}',
            full=full,
        )
    for fact in result.facts:
        _print_text(f"- {collapse_whitespace(fact.text)}", full=full)
    _print_attribution(result, weak=weak)
    if result.sub_question is not None:
        _print_text(f"answers {collapse_whitespace(result.sub_question)!r}", full=full)
    if result.arms is not None:
        print_line(_INDENT, quiet(f"ranks: {_ranks(result.arms)}"))
    for fact in result.hop_path:
        _print_text(f"via: {collapse_whitespace(fact.text)}", full=full)


def _print_attribution(result: Result, *, weak: bool) -> None:
    """Print a result's sender, time, platform, score and ids."""
    moment = f"{datetime.fromisoformat(result.as_of):%Y-%m-%d %H:%M} UTC"
    attribution = " · ".join(filter(None, (result.sender_name, moment, result.platform)))
    score = quiet(f"score {result.score:.2f}")
    if weak:
        score = warning(f"score {result.score:.2f}, weak")
    details = [] if result.when is None else [quiet(f"refers to {result.when}")]
    if result.said is not None and result.said.count > 1:
        details.append(quiet(f"said {result.said.count:,} times"))
    print_parts(_INDENT, quiet(collapse_whitespace(attribution)), *details, score)
    sources = first_few(result.source_event_ids)
    origin = f"{' from' if sources else ''} {sources}"
    for line in _wrap_ids(f"{result.type} {result.id} {origin.strip()}"):
        print_line(_INDENT, quiet(line))


def _wrap_ids(line: str) -> list[str]:
    """Return a line of ids wrapped to the terminal."""
    columns = width()
    return (
        [escape_invisible(line)]
        if columns is None
        else wrapped(escape_invisible(line), columns - len(_INDENT))
    )


def _print_text(text: str, *, full: bool) -> None:
    for line in paragraph(text, len(_INDENT), full=full):
        print_line(_INDENT, line)


def _show_chain(chain: Provenance) -> None:
    _print_wrapped("", strong, f"{chain.type} {chain.id}: {collapse_whitespace(chain.text)}")
    for step in chain.steps:
        _print_wrapped("  ", None, step.description)
        for line in step.details:
            _print_wrapped("    ", quiet, collapse_whitespace(line))


def _print_wrapped(indent: str, style: Any, text: str) -> None:
    for line in paragraph(text, len(indent), full=True):
        print_line(indent, style(line) if style else line)


def _print_explanation(explanation: Explanation) -> None:
    print_line(f"  query {(explanation.sub_question or explanation.query)!r}")
    if explanation.rank is not None:
        print_line(f"    result {explanation.rank}, score {explanation.score:.2f}")
    else:
        print_line(f"    not recalled, dropped by {explanation.dropped_by}: {explanation.reason}")
    print_line(f"    ranks: {_ranks(explanation.arms)}")


def _ranks(arms: dict[str, int]) -> str:
    return ", ".join(f"{name} {rank}" for name, rank in arms.items()) or "none"


def _month(time: str) -> str:
    return f"{datetime.fromisoformat(time):%b %Y}"


COMMANDS = (recall, context, why)
