"""The command `branch`: try something out on a copy of a zone's memory."""

from __future__ import annotations

import click

from recollect.cli.commands.upkeep_commands import print_difference
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import print_json, print_line
from recollect.schemas.text_sanitising import pluralise


@click.group(epilog="Example: recollect branch create trial")
def branch() -> None:
    """Try something out on a copy of a zone's memory.

    To use a branch in other commands, pass --zone ZONE@BRANCH, such as --zone ada@trial.
    """


@branch.command(epilog="Example: recollect branch create trial")
@common_options
@click.argument("name")
@click.option(
    "--at",
    metavar="HEAD",
    help="Fork at an earlier record. HEAD is a value that status printed earlier as 'head'.",
)
def create(home: str | None, zone: str | None, as_json: bool, name: str, at: str | None) -> None:
    """Fork the zone at its last record: copy its memory into a branch."""
    with open_zone(home, zone) as memory:
        made = memory.create_branch(name, at=at)
        if as_json:
            print_json(made)
        else:
            print_line(
                f"forked {memory.name} at {made.forked_at}; use it: --zone {memory.name}@{name}"
            )


@branch.command("list", epilog="Example: recollect branch list")
@common_options
def list_(home: str | None, zone: str | None, as_json: bool) -> None:
    """List the zone's branches."""
    with open_zone(home, zone) as memory:
        branches = memory.branches()
    for branch in branches:
        if as_json:
            print_json(branch)
        else:
            print_line(
                f"{branch.name}  forked after record {branch.forked_at.partition(':')[0]}; since "
                f"then {pluralise(branch.events, 'record')} in the branch, {branch.zone_events} "
                "in the zone"
            )


@branch.command(epilog="Example: recollect branch diff trial")
@common_options
@click.argument("name")
def diff(home: str | None, zone: str | None, as_json: bool, name: str) -> None:
    """Show what the branch gained, lost and changed.

    It is compared with the zone as it is now.
    """
    with open_zone(home, zone) as memory:
        found = memory.branch_diff(name)
    if as_json:
        print_json(found)
    else:
        print_difference(found)


@branch.command(epilog="Example: recollect branch promote trial")
@common_options
@click.argument("name")
def promote(home: str | None, zone: str | None, as_json: bool, name: str) -> None:
    """Copy what was added in the branch to its zone.

    Copies messages, commands, and instructions for the language model (recollect writer). If
    'recollect write' ran in the branch, the language model's answers about the zone's own messages
    are copied too, so that the zone does not pay for them again. The branch stays. Erasures in the
    branch are not copied.
    """
    with open_zone(home, zone) as memory:
        done = memory.promote_branch(name)
    if as_json:
        print_json(done)
        return
    print_line(f"copied {pluralise(done.published, 'event')}; {done.duplicates} were there already")
    for id_ in done.conflicts:
        print_line(f"  {id_} is in the zone with other content, and was not copied")
    for name in done.outdated:
        print_line(f"  writer prompt {name}: the zone has a newer text, which stays in force")
    if done.answers:
        print_line(f"  {pluralise(done.answers, 'answer')} of a language model copied")
    for kind, count in done.left.items():
        print_line(f"  {pluralise(count, 'record')} of kind {kind} not copied")


@branch.command(epilog="Example: recollect branch drop trial")
@common_options
@click.argument("name")
def drop(home: str | None, zone: str | None, as_json: bool, name: str) -> None:
    """Delete the branch and everything in it; the zone is unaffected."""
    with open_zone(home, zone) as memory:
        dropped = memory.drop_branch(name)
    if as_json:
        print_json(dropped)
    else:
        print_line(f"dropped {name}, with {pluralise(dropped.events, 'record')} of its own")


COMMANDS = (branch,)
