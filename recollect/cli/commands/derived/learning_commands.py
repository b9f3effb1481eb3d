"""The commands that list trajectories and playbooks."""

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
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import good, paragraph, print_json, print_line, quiet, strong, warning
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import (
        LearnedItem,
        Playbook,
        PlaybookHistory,
        Trajectory,
        TrajectoryDetails,
        TrajectoryReflection,
    )

_STATES = ("running", "success", "failure", "partial")
_TRAJECTORY_ACTIONS = {
    "list": "List the trajectories, newest first.",
    "show ID": "Print a trajectory with its steps, the feedback on it, and what was learned from "
    "it.",
}
_PLAYBOOK_ACTIONS = {
    "list": "List the playbooks.",
    "show ID": "Print a playbook with its strategies and the evidence for them.",
    "history ID": "Print what each version of a playbook changed.",
}


@click.command(
    cls=CommandWithActions,
    actions=_TRAJECTORY_ACTIONS,
    epilog="Example: recollect trajectories list --type release --status failure",
)
@common_options
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--agent", metavar="A", help="Only runs by the AI agent A.")
@click.option("--type", "type_", metavar="T", help="Only runs of task type T.")
@click.option("--status", type=click.Choice(_STATES), help="Only runs in this state.")
@paging_options
def trajectories(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    agent: str | None,
    type_: str | None,
    status: str | None,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List trajectories: recorded runs of tasks by AI agents."""
    _check_id(action, id_, "trajectory")
    with open_zone(home, zone) as memory:
        if id_ is not None:
            trajectory = memory.trajectory(id_)
            if as_json:
                print_json(trajectory)
            else:
                _show_trajectory(trajectory)
                for reflection in trajectory.reflections[-1:]:
                    _show_reflection(memory.reflection(reflection))
            return
        if is_empty(memory):
            return
        items, more = entries(
            memory.trajectories,
            limit,
            cursor,
            as_json=as_json,
            agent_id=agent,
            task_type=type_,
            status=status,
        )
        count = 0
        for item in items:
            count += 1
            print_json(item) if as_json else _list_trajectory(item)
    if not count and not as_json:
        print_line("no trajectories; docs/learning.md says how an agent records some")
    print_page_footer(more)


@click.command(
    cls=CommandWithActions,
    actions=_PLAYBOOK_ACTIONS,
    epilog="Example: recollect playbooks list --json",
)
@common_options
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--agent", metavar="A", help="Only playbooks of the AI agent A.")
@click.option(
    "--pattern", metavar="TEXT", help="Only those whose name or description contains TEXT."
)
@paging_options
def playbooks(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    agent: str | None,
    pattern: str | None,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List playbooks: strategies learned from trajectories."""
    _check_id(action, id_, "playbook")
    with open_zone(home, zone) as memory:
        if id_ is not None and action == "show":
            playbook = memory.playbook(id_)
            print_json(playbook) if as_json else _show_playbook(playbook)
            return
        if id_ is not None:
            history = memory.playbook_history(id_)
            print_json(history) if as_json else _show_history(history)
            return
        if is_empty(memory):
            return
        items, more = entries(
            memory.playbooks, limit, cursor, as_json=as_json, agent_id=agent, pattern=pattern
        )
        count = 0
        for item in items:
            count += 1
            print_json(item) if as_json else _list_playbook(item)
    if not count and not as_json:
        print_line("no playbooks; docs/learning.md says how they are learned")
    print_page_footer(more)


def _check_id(action: str, id_: str | None, what: str) -> None:
    if action != "list" and id_ is None:
        raise click.UsageError(f"`{action}` needs the ID of a {what}; `list` prints the ids")
    if action == "list" and id_ is not None:
        raise click.UsageError("`list` takes no ID; did you mean `show`?")


def _list_trajectory(item: Trajectory) -> None:
    for line in paragraph(item.task, full=False):
        print_line(line)
    style = {"success": good, "failure": warning}.get(item.status, quiet)
    details = [item.id, item.task_type, pluralise(item.step_count, "step"), item.started_at]
    score = "" if item.success_score is None else f" {item.success_score:g}"
    if item.feedback_score is not None:
        score += f", feedback {item.feedback_score:g}"
    print_line(INDENT, style(item.status + score), quiet(", " + ", ".join(details)))


def _show_trajectory(item: TrajectoryDetails) -> None:
    _list_trajectory(item)
    for step in item.steps:
        tool = "" if step.tool is None else f" {collapse_whitespace(step.tool)}"
        print_line(INDENT, quiet(f"{step.kind}{tool}: "), collapse_whitespace(step.content))
    if item.error_message is not None:
        print_line(INDENT, warning("error: "), collapse_whitespace(item.error_message))
    for each in item.feedback:
        comment = "" if each.comment is None else f": {collapse_whitespace(each.comment)}"
        print_line(INDENT, quiet(f"feedback {each.score:g} ({each.source})"), comment)


def _show_reflection(item: TrajectoryReflection) -> None:
    by = "comparing outcomes" if item.model is None else f"by {item.model}"
    runs = f"{item.successes} successful and {item.failures} failed runs"
    print_line(strong("learned"), quiet(f" {by}, from {runs}"))
    for sign, style, strategies in (
        ("+ ", good, item.helpful_strategies),
        ("- ", warning, item.harmful_patterns),
        ("  ", quiet, item.observations),
    ):
        for strategy in strategies:
            print_line(
                INDENT, style(sign + collapse_whitespace(strategy.text)), quiet(_counts(strategy))
            )


def _counts(item: LearnedItem) -> str:
    counts = ""
    if item.in_successes is not None:
        counts = f", in {item.in_successes} successful and {item.in_failures} failed"
    return f"  confidence {item.confidence:.2f}{counts}"


def _list_playbook(item: Playbook) -> None:
    print_line(strong(collapse_whitespace(item.name)))
    rate = "" if item.success_rate is None else f", success rate {item.success_rate:.2f}"
    details = [
        item.id,
        f"version {item.version}",
        pluralise(len(item.strategies), "strategy", "strategies"),
        f"{pluralise(item.usage_count, 'use')}{rate}",
    ]
    print_line(INDENT, quiet(", ".join(details)))


def _show_playbook(item: Playbook) -> None:
    _list_playbook(item)
    for each in item.strategies:
        sign, style = ("+ ", good) if each.kind == "helpful" else ("- ", warning)
        steps = pluralise(len(each.evidence), "step")
        print_line(
            INDENT,
            style(sign + collapse_whitespace(each.text)),
            quiet(f"  confidence {each.confidence:.2f}, {steps}"),
        )


def _show_history(history: PlaybookHistory) -> None:
    for version in history.versions:
        source = "by hand" if version.trajectory_id is None else f"from {version.trajectory_id}"
        print_line(strong(f"version {version.version}"), quiet(f"  {version.at}, {source}"))
        for sign, style, texts in (
            ("- ", warning, version.removed),
            ("+ ", good, version.added),
            ("~ ", quiet, version.changed),
        ):
            for text in texts:
                print_line(INDENT, style(sign + collapse_whitespace(text)))


COMMANDS = (trajectories, playbooks)
