"""The command `timeline`: what happened, by day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import click

from recollect.cli.commands.derived.browse_commands import (
    INDENT,
    NO_WORDS,
    entries,
    is_empty,
    paging_options,
    print_page_footer,
)
from recollect.cli.options import common_options, open_zone
from recollect.cli.output import (
    paragraph,
    print_json,
    print_line,
    print_parts,
    quiet,
    strong,
    warning,
)
from recollect.cli.query_options import known_at_option
from recollect.schemas.text_sanitising import collapse_whitespace, first_few, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Episode, TimelineDay, TimelineItem


@click.command(epilog="Example: recollect timeline --entity Ada --from 2026-05-01 --to 2026-05-31")
@common_options
@click.option("--entity", metavar="E", help="Only entries about entity E (name or id).")
@click.option("--from", "first", metavar="T", help="First day: a date or a time.")
@click.option("--to", "last", metavar="T", help="Last day, inclusive: a date or a time.")
@known_at_option
@click.option("--valid-at", metavar="T", help="Only facts that were true at T.")
@paging_options
@click.option("--full", is_flag=True, help="Do not truncate texts on a terminal.")
def timeline(
    home: str | None,
    zone: str | None,
    as_json: bool,
    entity: str | None,
    first: str | None,
    last: str | None,
    known_at: str | None,
    valid_at: str | None,
    limit: int | None,
    cursor: str | None,
    full: bool,
) -> None:
    """List what happened, by day, earliest first.

    A fact is listed on the day it is about or, if it names no day, on the day it was said.
    """
    with open_zone(home, zone) as memory:
        if is_empty(memory):
            return
        days, more = entries(
            memory.timeline,
            limit,
            cursor,
            as_json=as_json,
            entity=entity,
            first=first,
            last=last,
            known_at=known_at,
            valid_at=valid_at,
        )
        count = 0
        for day in _joined(days):
            if as_json:
                print_json(day)
            else:
                if count:
                    print_line()
                _show_day(day, full=full)
            count += 1
    if not count and not as_json:
        print_line("nothing listed" if entity is None else f"nothing listed about {entity}")
    print_page_footer(more)


def _joined(days: Iterable[TimelineDay]) -> Iterator[TimelineDay]:
    """Yield days, each once: a day that continues on the next page is joined."""
    from recollect.schemas.wire import TimelineDay

    for day, group in groupby(days, key=lambda each: each.day):
        parts = list(group)
        items = [item for part in parts for item in part.items]
        yield TimelineDay(day=day, items=items, episodes=parts[0].episodes)


def _show_day(day: TimelineDay, *, full: bool) -> None:
    print_line(strong(f"{date.fromisoformat(day.day):%A}, {day.day}"))
    for item in day.items:
        _show_item(item, day.day, full=full)
    for episode in day.episodes:
        _show_episode(episode, full=full)


def _show_episode(episode: Episode, *, full: bool) -> None:
    for number, line in enumerate(paragraph(f"Talk: {episode.title or NO_WORDS}", 4, full=full)):
        print_line("  " if number == 0 else INDENT, line)
    start, end = (f"{datetime.fromisoformat(at):%H:%M}" for at in (episode.start, episode.end))
    span = f"{start} to {end} UTC, {pluralise(episode.message_count, 'message')}"
    who = ", ".join(map(collapse_whitespace, episode.participants))
    print_parts(INDENT, quiet(span), quiet(who), quiet(f"episode {episode.id}"))


def _show_item(item: TimelineItem, day: str, *, full: bool) -> None:
    for number, line in enumerate(paragraph(item.text, 4, full=full)):
        print_line("  " if number == 0 else INDENT, line)
    if item.context is not None:
        for line in paragraph(item.context, len(INDENT), full=full):
            print_line(INDENT, quiet(line))
    parts = [quiet(_origin(item, day))]
    if item.when is not None and item.when.first != item.when.last:
        parts.insert(0, quiet(str(item.when)))
    print_parts(INDENT, *parts)
    if not item.current:
        after = item.superseded_by
        ended = "no longer so" if after is None else f"no longer so: {after.text}"
        for line in paragraph(ended, len(INDENT), full=full):
            print_line(INDENT, warning(line))


def _origin(item: TimelineItem, day: str) -> str:
    """Return who said it and when, and the events that it comes from."""
    who = "said" if item.said_by is None else f"said by {collapse_whitespace(item.said_by)}"
    on = " that day" if item.dated_by == "said" or item.said_on == day else f" on {item.said_on}"
    times = f", {item.said.count:,} times" if item.said.count > 1 else ""
    return f"{who}{on}{times} ({first_few(item.source_event_ids)})"


COMMANDS = (timeline,)
