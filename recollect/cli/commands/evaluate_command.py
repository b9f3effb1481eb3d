"""The command `evaluate`: how well recall finds the known sources of questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import FilePath, common_options, open_zone
from recollect.cli.output import paragraph, print_json, print_line, quiet, warning
from recollect.schemas.text_sanitising import collapse_whitespace, first_few, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Evaluation, JudgedAnswer

_INDENT = "    "


@click.command(epilog="Example: recollect evaluate questions.jsonl -k 20")
@common_options
@click.argument("file", type=FilePath(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "-k", "k", type=int, default=10, show_default=True, help="Number of results per question."
)
@click.option("--full", is_flag=True, help="Do not truncate texts on a terminal.")
def evaluate(
    home: str | None, zone: str | None, as_json: bool, file: Path, k: int, full: bool
) -> None:
    """Score recall on questions with known sources.

    FILE has one {"query": ..., "sources": [ID, ...]} on each line, with the ids of events; - is
    standard input. A line may also set options of recall, such as "budget" or "entity". Leave
    sources empty for a question that the memory cannot answer.

    Prints recall@k (the share of the sources that the first k results cite), the same for each
    search method alone, and the sources that were missed.
    """
    from recollect.cli.batch_queries import read_judged_questions

    questions = read_judged_questions(file)
    with open_zone(home, zone) as memory:
        report = memory.evaluate(questions, max_results=k)
    if as_json:
        print_json(report)
    else:
        _show(report, full=full)


def _show(report: Evaluation, *, full: bool) -> None:
    print_line(
        f"{pluralise(report.questions, 'question')} with {pluralise(report.sources, 'source')}, "
        f"{pluralise(report.max_results, 'result')} each"
    )
    if report.questions:
        print_line("  sources cited in the first results")
        for cutoff, share in report.recall_at.items():
            print_line(f"{_INDENT}{cutoff:>4}  {share:.1%}")
        print_line(f"  mean reciprocal rank {report.mean_reciprocal_rank:.3f}")
        print_line(f"  sources in the first {report.max_results} of one search method alone")
        for arm, share in report.arms.items():
            print_line(f"{_INDENT}{arm:<12} {share:.1%}")
    if report.unanswerable:
        told_apart = (
            ""
            if report.relevance_auroc is None
            else f"; relevance tells them apart with AUROC {report.relevance_auroc:.2f}"
        )
        print_line(f"  {pluralise(report.unanswerable, 'question')} without sources{told_apart}")
    for answer in report.answers:
        if answer.missed:
            _show_missed(answer, full=full)
    if report.unknown_sources:
        print_line(
            warning("not in this zone, and not counted: "), first_few(report.unknown_sources)
        )


def _show_missed(answer: JudgedAnswer, *, full: bool) -> None:
    for line in paragraph(collapse_whitespace(answer.query), 2, full=full):
        print_line("  ", line)
    for missed in answer.missed:
        step = f"dropped by {missed.dropped_by}: " if missed.dropped_by else ""
        for line in paragraph(f"missed {missed.source}: {step}{missed.reason}", 4, full=full):
            print_line(_INDENT, quiet(line))


COMMANDS = (evaluate,)
