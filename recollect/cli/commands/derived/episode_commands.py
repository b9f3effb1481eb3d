"""The command `episodes`: messages that belong together."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, get_args

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.derived.browse_commands import (
    INDENT,
    NO_WORDS,
    entries,
    is_empty,
    paging_options,
    print_page_footer,
)
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import paragraph, print_json, print_line, print_parts, quiet, strong
from recollect.schemas.choices import EpisodeStrategy
from recollect.schemas.text_sanitising import collapse_whitespace, first_few, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Episode, EpisodeMessage


_ACTIONS = {
    "list": "List the episodes, newest first.",
    "show ID": "Print the messages of an episode.",
    "history ID": "List the versions of an episode.",
}


@click.command(
    cls=CommandWithActions,
    actions=_ACTIONS,
    epilog="Example: recollect episodes list --strategy day --entity Ada",
)
@common_options
@click.argument("id_", metavar="[ID]", required=False)
@click.option(
    "--strategy",
    metavar="S",
    type=click.Choice(get_args(EpisodeStrategy)),
    help=f"Only episodes grouped by this strategy: {', '.join(get_args(EpisodeStrategy))} (the "
    "messages behind an observation or a mental model).",
)
@click.option("--query", metavar="Q", help="Only episodes that match Q, the best ones first.")
@click.option("--entity", metavar="E", help="Only episodes with entity E (name or id).")
@click.option("--platform", metavar="P", help="Only episodes of platform P.")
@click.option(
    "--from", "first", metavar="T", help="Only episodes that end at T (a date or a time) or later."
)
@click.option("--to", "last", metavar="T", help="Only episodes that begin at T or earlier.")
@paging_options
@click.option("--full", is_flag=True, help="Do not truncate texts on a terminal.")
def episodes(
    home: str | None,
    zone: str | None,
    as_json: bool,
    action: str,
    id_: str | None,
    limit: int | None,
    cursor: str | None,
    full: bool,
    **filters: str | None,
) -> None:
    """List episodes; show the messages of one, or its versions.

    An episode is a group of messages that belong together: from one thread, session, day or topic,
    or without a long pause between them.
    """
    if action == "list":
        if id_ is not None:
            raise click.UsageError("`list` takes no ID; did you mean `show` or `history`?")
        _list(home, zone, limit, cursor, filters, as_json=as_json)
        return
    if id_ is None:
        raise click.UsageError(f"`{action}` needs the ID of an episode")
    if given := [name for name, value in filters.items() if value is not None]:
        raise click.UsageError(f"`{action}` takes no filters, but got {', '.join(given)}")
    with open_zone(home, zone) as memory:
        if action == "history":
            for version in memory.episode_history(id_):
                _print(version, as_json=as_json)
            return
        if not as_json:
            _print(memory.episode(id_, limit=1).episode, as_json=False)
        items, more = entries(
            lambda **page: memory.episode(id_, **page), limit, cursor, as_json=as_json
        )
        for message in items:
            if as_json:
                print_json(message)
            else:
                _print_message(message, full=full)
    print_page_footer(more)


def _list(
    home: str | None,
    zone: str | None,
    limit: int | None,
    cursor: str | None,
    filters: dict[str, str | None],
    *,
    as_json: bool,
) -> None:
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return
        items, more = entries(memory.episodes, limit, cursor, as_json=as_json, **filters)
        count = 0
        for item in items:
            count += 1
            _print(item, as_json=as_json)
    if not count and not as_json:
        print_line("no episodes")
    print_page_footer(more)


def _print(episode: Episode, *, as_json: bool) -> None:
    if as_json:
        print_json(episode)
        return
    start, end = (datetime.fromisoformat(time) for time in (episode.start, episode.end))
    span = f"{start:%Y-%m-%d %H:%M} to {end:%H:%M}"
    if start.date() != end.date():
        span = f"{start:%Y-%m-%d} to {end:%Y-%m-%d}"
    print_line(strong(collapse_whitespace(episode.title) or NO_WORDS))
    print_parts(
        INDENT,
        quiet(episode.strategy.replace("_", " ")),
        quiet(span),
        quiet(pluralise(episode.message_count, "message")),
        quiet(first_few([collapse_whitespace(name) for name in episode.participants])),
    )
    version = "" if episode.current else ", an earlier version"
    print_line(INDENT, quiet(f"episode {episode.id}{version}"))


def _print_message(message: EpisodeMessage, *, full: bool) -> None:
    at = datetime.fromisoformat(message.at)
    print_line(quiet(f"{at:%Y-%m-%d %H:%M}"), "  ", strong(collapse_whitespace(message.sender)))
    for line in paragraph(message.text or NO_WORDS, len(INDENT), full=full):
        print_line(INDENT, line)


COMMANDS = (episodes,)
