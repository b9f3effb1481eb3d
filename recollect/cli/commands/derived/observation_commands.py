"""The command that lists observations, with the facts that they cite and their history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.derived.browse_commands import (
    INDENT,
    entries,
    is_empty,
    paging_options,
    print_page_footer,
)
from recollect.cli.commands.write_commands import print_estimate, print_usage
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import (
    good,
    note,
    paragraph,
    print_json,
    print_line,
    quiet,
    strong,
    warning,
)
from recollect.cli.query_options import known_at_option
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import (
        DreamReport,
        Observation,
        ObservationHistory,
        WriteReport,
    )


_OBSERVATION_ACTIONS = {
    "list": "List the observations, newest first.",
    "show ID": "Print an observation with the facts that it cites.",
    "history ID": "Print what each version of an observation added and removed.",
    "consolidate": "Update all observations now, and run the daily jobs: find patterns over time, "
    "and merge duplicate observations and facts.",
    "write": "Let the home's language model write observations that are new or changed, at most "
    "--limit (without --limit, all); every text is validated.",
}
_DREAM_ACTIONS = {
    "list": "List the dreams, newest first.",
    "find": "Update the observations (like 'recollect observations consolidate'), then ask the "
    "home's language model for new dreams.",
}


@click.command(
    cls=CommandWithActions,
    actions=_OBSERVATION_ACTIONS,
    epilog="Example: recollect observations list --entity Ada",
)
@common_options
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--entity", metavar="E", help="Only observations about entity E (name or id).")
@click.option("--all", "all_", is_flag=True, help="Include superseded observations.")
@known_at_option
@click.option(
    "--dry-run", is_flag=True, help="With write: estimate the cost without calling the model."
)
@paging_options
def observations(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    entity: str | None,
    all_: bool,
    known_at: str | None,
    dry_run: bool,
    limit: int | None,
    cursor: str | None,
) -> int:
    """List observations: what several facts say about one topic."""
    takes_id = action in ("show", "history")
    if takes_id and id_ is None:
        raise click.UsageError(f"`{action}` needs the ID of an observation; `list` prints the ids")
    if not takes_id and id_ is not None:
        raise click.UsageError(f"`{action}` takes no ID; did you mean `show` or `history`?")
    with open_zone(home, zone) as memory:
        if action == "consolidate":
            report = memory.consolidate()
            written = pluralise(report.written, "version")
            done = f"wrote {written}, ended {pluralise(report.ended, 'observation')}"
            if not report.consolidates:
                done = (
                    "nothing to do: the zone does not consolidate; recollect rebuild --level "
                    "derive --consolidation on changes that"
                )
            print_json(report) if as_json else print_line(done)
            return 0
        if action == "write":
            return _write(memory.write_observations(limit=limit, dry_run=dry_run), as_json)
        if id_ is not None and action == "show":
            observation = memory.observation(id_)
            print_json(observation) if as_json else _show_observation(observation)
            return 0
        if id_ is not None:
            history = memory.observation_history(id_)
            print_json(history) if as_json else _show_history(history)
            return 0
        if is_empty(memory):
            return 0
        filters = {"entity": entity, "superseded": all_, "known_at": known_at}
        items, more = entries(memory.observations, limit, cursor, as_json=as_json, **filters)
        count = 0
        for item in items:
            count += 1
            if as_json:
                print_json(item)
            else:
                _show_observation(item, listed=True)
    if not count and not as_json:
        print_line("no observations; docs/observations.md says how facts become some")
    print_page_footer(more)
    return 0


def _write(report: WriteReport, as_json: bool) -> int:
    """Print what a model wrote, or would; return the exit status."""
    if as_json:
        print_json(report)
    elif report.dry_run:
        print_estimate(report, "observation")
    else:
        print_line(
            f"{report.model} was asked about {pluralise(report.processed, 'observation')} of "
            f"{report.pending:,}"
        )
        print_line(
            f"{pluralise(report.accepted, 'version')} written, {report.duplicates:,} with nothing "
            f"new, {report.rejected:,} refused"
        )
        print_usage(report)
        if report.stopped:
            note(
                f"{pluralise(report.pending - report.processed, 'observation')} left: "
                f"{report.stopped}"
            )
    return 1 if report.stopped else 0


@click.command(
    cls=CommandWithActions,
    actions=_DREAM_ACTIONS,
    epilog="Example: recollect dreams find --dry-run",
)
@common_options
@click.option(
    "--dry-run", is_flag=True, help="With find: estimate the cost without calling the model."
)
@paging_options
def dreams(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    dry_run: bool,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List dreams: conjectured links between distant topics.

    Dreams are conjectures: recall never returns them, and no fact is derived from them.
    """
    if dry_run and action == "list":
        raise click.UsageError("--dry-run works only with `find`")
    with open_zone(home, zone) as memory:
        if action == "find":
            report = memory.dream(dry_run=dry_run)
            print_json(report) if as_json else print_line(_told(report, dry_run=dry_run))
            return
        if is_empty(memory):
            return
        items, more = entries(memory.dreams, limit, cursor, as_json=as_json)
        count = 0
        for item in items:
            count += 1
            if as_json:
                print_json(item)
            else:
                print_line(f"conjecture: {collapse_whitespace(item.insight)}")
                print_line(INDENT, f"because {collapse_whitespace(item.bridge)}")
                facts = ", ".join(item.fact_ids)
                print_line(INDENT, quiet(f"{item.id}, surprise {item.surprise:.2f}, of {facts}"))
    if not count and not as_json:
        print_line("no dreams; dreams find says whether a model can look for some")
    print_page_footer(more)


def _told(report: DreamReport, *, dry_run: bool) -> str:
    if report.reason is not None:
        return f"no dreams: {report.reason}"
    pairs = pluralise(report.pairs, "pair")
    if dry_run:
        return f"{pairs} of topics: at most {report.max_calls} calls, cost {report.max_cost:.4f}"
    return (
        f"{pluralise(report.found, 'dream')} of {report.candidates} candidates, {pairs} of topics"
    )


def _show_observation(item: Observation, *, listed: bool = False) -> None:
    for line in paragraph(item.text, full=not listed):
        print_line(line)
    details = [
        item.id,
        item.kind,
        f"{pluralise(item.sources, 'source')} on {pluralise(item.days, 'day')}",
        f"confidence {item.confidence}",
        item.trend,
        *(["outdated"] if item.is_stale else []),
        *([f"written by {item.model}"] if item.model else []),
    ]
    print_line(INDENT, quiet(", ".join(details)))
    if item.blocked_reason and not listed:
        print_line(INDENT, warning(f"a model's text was refused: {item.blocked_reason}"))
    for part in () if listed else item.items:
        print_line(INDENT, collapse_whitespace(part.text), "  ", quiet(part.fact_id))


def _show_history(history: ObservationHistory) -> None:
    for version in history.versions:
        ending = f"  ended: {version.reason}" if version.text is None else ""
        print_line(strong(version.at), f"  {version.id}", warning(ending))
        for sign, style, parts in (("- ", warning, version.removed), ("+ ", good, version.added)):
            for part in parts:
                print_line(INDENT, style(sign + collapse_whitespace(part)))


COMMANDS = (observations, dreams)
