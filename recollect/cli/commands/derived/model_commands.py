"""Commands for mental models and directives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import note, print_json, print_line, quiet, strong, warning
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Directive, MentalModel

_INDENT = "    "
_MODEL_ACTIONS = {
    "list": "List the mental models.",
    "show ID": "Print the version with this ID.",
    "history ID": "Print how each version differs from the one before it.",
    "refresh ID": "Regenerate the generated part of a mental model that was created with "
    "--refresh.",
    "create NAME [TEXT]": "Create a mental model. TEXT is optional with --refresh.",
    "update ID TEXT": "Save TEXT as a new version.",
}
_DIRECTIVE_ACTIONS = {
    "list": "List the instructions.",
    "add TEXT": "Add an instruction.",
    "remove ID": "Remove an instruction.",
}


@click.command(
    cls=CommandWithActions, actions=_MODEL_ACTIONS, epilog="Example: recollect models list"
)
@common_options
@click.argument("id_", metavar="[ID|NAME]", required=False)
@click.argument("text", metavar="[TEXT]", required=False)
@click.option("--dry-run", is_flag=True, help="With refresh: show the difference, change nothing.")
@click.option("--entity", help="With create: name or id of the entity that it is about.")
@click.option(
    "--subtype",
    help="With create: its kind: structural (how things are set up), emergent (an observed "
    "pattern), pinned (never rewritten automatically), or one of your own.",
)
@click.option("--tag", "tags", multiple=True, help="With create or update: a label. Repeatable.")
@click.option(
    "--refresh",
    type=click.Choice(["after_changes", "schedule", "by_hand"]),
    help="With create: add, after TEXT, a part generated from the facts about the --entity, and "
    "regenerate it after changes, on a schedule, or only by hand (recollect models refresh).",
)
@click.option(
    "--every-hours",
    type=float,
    help="With --refresh schedule: hours between regenerations [default: 24].",
)
def models(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    text: str | None,
    dry_run: bool,
    entity: str | None,
    subtype: str | None,
    tags: tuple[str, ...],
    refresh: Literal["after_changes", "schedule", "by_hand"] | None,
    every_hours: float | None,
) -> int:
    """List, show, refresh or change mental models: saved reports on a subject.

    Each version of a mental model has its own ID.
    """
    if action == "list":
        if id_ is not None:
            raise click.UsageError("`list` takes no ID; did you mean `show`?")
        _list_models(home, zone, as_json=as_json)
        return 0
    if id_ is None:
        needed = "a NAME" if action == "create" else "the ID of a mental model"
        raise click.UsageError(f"`{action}` needs {needed}")
    if text is not None and action not in ("create", "update"):
        raise click.UsageError(f"`{action}` takes no TEXT")
    if text is None and (action == "update" or (action == "create" and refresh is None)):
        raise click.UsageError(f"`{action}` needs a TEXT")
    with open_zone(home, zone) as memory:
        if action == "history":
            model_history = memory.mental_model_history(id_)
            if as_json:
                print_json(model_history)
                return 0
            for version in model_history.versions:
                print_line(strong(version.id), "  ", quiet(version.updated_at))
                _print_diff(version.diff)
            return 0
        if action == "refresh":
            done = memory.refresh_mental_model(id_, dry_run=dry_run)
            if as_json:
                print_json(done)
                return 0
            _print_diff(done.diff)
            if not done.changed:
                note("nothing changed")
            return 0
        if action == "create":
            model = memory.create_mental_model(
                id_,
                text or "",
                subtype=subtype,
                entity_id=None if entity is None else memory.get_entity(entity).id,
                tags=tags,
                refresh=refresh,
                every_hours=every_hours,
            )
        elif action == "update":
            model = memory.update_mental_model(id_, text or "", tags=tags or None)
        else:
            model = memory.mental_model(id_)
    if as_json:
        print_json(model)
    else:
        _show_model(model)
        for line in model.description.splitlines():
            print_line(_INDENT, line)
    return 0


def _list_models(home: str | None, zone: str | None, *, as_json: bool) -> None:
    with open_zone(home, zone) as memory:
        found = list(memory.mental_models()) if memory.exists() else []
    for model in found:
        if as_json:
            print_json(model)
        else:
            _show_model(model)
    if not found and not as_json:
        print_line("no mental models")


def _show_model(model: MentalModel) -> None:
    marks = [model.subtype or "", model.refresh or "", "stale" if model.is_stale else ""]
    style = warning if model.is_stale else quiet
    print_line(strong(collapse_whitespace(model.name)), "  ", style(", ".join(filter(None, marks))))
    size = pluralise(len(model.description.split()), "word")
    print_line(_INDENT, quiet(f"{model.id}  {size}, refreshed {model.last_refreshed}"))


def _print_diff(lines: list[str]) -> None:
    for line in lines:
        if not line.startswith(("---", "+++")):
            print_line(_INDENT, line)


@click.command(
    cls=CommandWithActions,
    actions=_DIRECTIVE_ACTIONS,
    epilog="Example: recollect directives add 'Always answer in French.'",
)
@common_options
@click.argument("text", metavar="[TEXT|ID]", required=False)
@click.option("--all", "all_", is_flag=True, help="Include superseded and retracted directives.")
def directives(
    home: str | None, zone: str | None, as_json: bool, action: str, text: str | None, all_: bool
) -> int:
    """List, add or remove the user's standing instructions.

    These instructions come first in the output of 'recollect context'.
    """
    if action == "list":
        if text is not None:
            raise click.UsageError("`list` takes no argument; did you mean `add` or `remove`?")
        with open_zone(home, zone) as memory:
            instructions = list(memory.directives(superseded=all_)) if memory.exists() else []
    else:
        if text is None:
            raise click.UsageError(f"`{action}` needs {'a TEXT' if action == 'add' else 'an ID'}")
        with open_zone(home, zone) as memory:
            change = memory.add_directive if action == "add" else memory.remove_directive
            instructions = [change(text)]
    for directive in instructions:
        if as_json:
            print_json(directive)
        else:
            _show_directive(directive)
    if not instructions and not as_json:
        print_line("no directives")
    return 0


def _show_directive(directive: Directive) -> None:
    style = strong if directive.obeyed else quiet
    ended = "" if directive.obeyed else ", no longer obeyed"
    print_line(style(collapse_whitespace(directive.text)))
    print_line(_INDENT, quiet(f"{directive.id}  said {directive.said_at[:10]}{ended}"))


COMMANDS = (models, directives)
