"""The command that lists and runs analyses of episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.derived.browse_commands import (
    entries,
    is_empty,
    paging_options,
    print_page_footer,
)
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import (
    good,
    print_json,
    print_line,
    print_parts,
    quiet,
    strong,
    warning,
)
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Analysis, AnalysisReport, AnalysisType, Facet

Item = TypeVar("Item")

_INDENT = "    "
#: Episodes of one run.
_MOST_EPISODES = 1_000
_STYLES = {"completed": good, "blocked": warning, "failed": warning}


_ACTIONS = {
    "list": "List the analyses with their texts, such as summaries and reports on conversations.",
    "facets": "List single findings, such as topics, decisions and personal data.",
    "types": "List the types of analysis, and how many analyses of each type there are.",
    "run": "Analyse the episodes that have ended and have no analysis yet; retry analyses that "
    "failed, or were blocked because the home could not run them (for example, without a language "
    "model). If the home has a language model, also make the analyses that need one.",
}


@click.command(
    cls=CommandWithActions,
    actions=_ACTIONS,
    epilog="Example: recollect analyses facets --type 'pii_*'",
)
@common_options
@click.option(
    "--type",
    "types",
    metavar="T",
    multiple=True,
    help="Only this type of analysis; with facets, this type of facet, such as pii_email or pii_*. "
    "Repeatable with run.",
)
@click.option("--value", metavar="V", help="With facets: only those with this value.")
@click.option("--episode", metavar="ID", help="Only this episode.")
@click.option(
    "--status",
    type=click.Choice(["completed", "blocked", "failed"]),
    help="With list: only analyses with this status.",
)
@click.option(
    "--strategy",
    metavar="S",
    default="time_window",
    show_default=True,
    help="With run: the episode strategy: time_window, thread, session, day or topic.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="With run: estimate the cost of the home's language model, and analyse nothing.",
)
@paging_options
def analyses(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    types: tuple[str, ...],
    value: str | None,
    episode: str | None,
    status: str | None,
    strategy: str,
    dry_run: bool,
    limit: int | None,
    cursor: str | None,
) -> int:
    """List analyses of episodes, or analyse episodes.

    An episode is a group of messages that belong together (recollect episodes lists them).
    """
    if len(types) > 1 and action != "run":
        raise click.UsageError(f"`{action}` takes one --type")
    type_ = types[0] if types else None
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return 0
        if action == "run":
            report = memory.analyse(
                types=types or None,
                episode_id=episode,
                strategy=strategy,
                limit=_MOST_EPISODES if limit is None else limit,
                dry_run=dry_run,
            )
            print_json(report) if as_json else _show_report(report)
            return 1 if report.blocked or report.failed or report.stopped else 0
        if action == "types":
            for kind in memory.analysis_types().types:
                if as_json:
                    print_json(kind)
                else:
                    _show_type(kind)
            return 0
        if action == "facets":
            facets, more = entries(
                memory.facets,
                limit,
                cursor,
                as_json=as_json,
                type=type_,
                value=value,
                episode_id=episode,
            )
            count = _print(facets, _show_facet, as_json=as_json)
        else:
            analyses_, more = entries(
                memory.analyses,
                limit,
                cursor,
                as_json=as_json,
                type=type_,
                status=status,
                episode_id=episode,
            )
            count = _print(analyses_, _show_analysis, as_json=as_json)
    if not count and not as_json:
        print_line(f"no {'facets' if action == 'facets' else 'analyses'}; see analyses run")
    print_page_footer(more)
    return 0


def _print(items: Iterable[Item], show: Callable[[Item], None], *, as_json: bool) -> int:
    """Print entries; return how many there were."""
    count = 0
    for item in items:
        count += 1
        if as_json:
            print_json(item)
        else:
            show(item)
    return count


def _show_report(report: AnalysisReport) -> None:
    due = pluralise(report.requested, "analysis", "analyses")
    if report.dry_run:
        print_line(f"{due} would be made")
        if report.calls:
            calls = pluralise(report.calls, "call")
            print_line(
                f"at most {calls} of the model, about {report.tokens:,} tokens, cost "
                f"{report.cost:.4f}"
            )
        return
    parts = [f"{report.completed:,} of {due} completed"]
    parts += [f"{report.blocked:,} blocked"] if report.blocked else []
    parts += [f"{report.failed:,} failed"] if report.failed else []
    parts += [f"{report.remaining:,} remain: run it again"] if report.remaining else []
    print_line(", ".join(parts))
    if report.calls:
        calls = pluralise(report.calls, "call")
        print_line(f"{calls}, {report.tokens:,} tokens, cost {report.cost:.4f}")
    if report.stopped is not None:
        print_line(warning(f"stopped: {collapse_whitespace(report.stopped)}"))


def _show_type(kind: AnalysisType) -> None:
    print_line(strong(kind.id), "  ", kind.output_type)
    print_parts(
        _INDENT,
        quiet(f"{kind.completed:,} completed"),
        quiet(f"{kind.blocked:,} blocked"),
        quiet(f"{kind.failed:,} failed"),
    )


def _show_analysis(analysis: Analysis) -> None:
    style = _STYLES.get(analysis.status, quiet)
    print_line(strong(analysis.type), "  ", style(analysis.status))
    for line in (analysis.text or "").splitlines():
        print_line(_INDENT, collapse_whitespace(line))
    for problem in (analysis.blocked_reason, analysis.error):
        if problem is not None:
            print_line(_INDENT, warning(collapse_whitespace(problem)))
    print_parts(
        _INDENT,
        quiet(f"episode {analysis.episode_id}"),
        quiet(f"{analysis.episode_start} to {analysis.episode_end}"),
        quiet(pluralise(analysis.episode_events, "event")),
        quiet(pluralise(analysis.facets, "facet")),
    )


def _show_facet(facet: Facet) -> None:
    print_line(strong(facet.type), "  ", collapse_whitespace(facet.value))
    parts = [quiet(f"event {facet.event_id}, characters {facet.start} to {facet.end}")]
    if facet.rule is not None:
        parts.append(quiet(facet.rule))
    if facet.count is not None:
        parts.append(quiet(f"in {pluralise(facet.count, 'message')}"))
    print_parts(_INDENT, *parts)


COMMANDS = (analyses,)
