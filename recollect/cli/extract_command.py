"""The command that shows what would be decided, and stores nothing: extract."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import common, configured, event_files, given_zone
from recollect.cli.output import bad, emit, paragraph, quiet, say, strong
from schemas.display import quantity, single_spaced

if TYPE_CHECKING:
    from schemas.wire import Extraction


@click.command(epilog="Example: recollect extract chats.jsonl")
@common
@event_files
def extract(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
) -> int:
    """Show what would be decided from events; store nothing.

    The earlier events of the same files are its context. A PATH of - is standard input. Of a home
    it uses the reader, if there is one; it needs none.
    """
    from recollect.extracting import Extractor
    from recollect.home import Home
    from recollect.ingesting import open_inputs
    from recollect.ledgers import gateway_of
    from schemas.wire import Rejection
    from streams.adapters import Meter, Options, drafts, exports_of

    read = rejected = 0
    inputs = open_inputs(paths, format_, Options.of(timezone, date_order), Meter())
    refused = [rejection for one in inputs for rejection in one.refused]
    configuration = configured(home)
    there = Home.is_at(configuration.home)
    gateway = gateway_of(Home(configuration.home, configuration)) if there else None
    with Extractor(given_zone(zone), gateway) as extractor:
        found_in = (draft for export in exports_of(inputs) for _, draft in drafts(export.source))
        for draft in chain(refused, found_in):
            read += 1
            if isinstance(draft, Rejection):
                rejected += 1
                where = f"{draft.path}:{draft.line}: {draft.reason}"
                say(bad("rejected "), where, err=True)
                continue
            found = extractor.extract(draft)
            if as_json:
                emit(found)
            else:
                _show(found)
    return 1 if read and read == rejected else 0


def _show(found: Extraction) -> None:
    say(strong(single_spaced(found.id)), quiet(f"  {quantity(len(found.facts), 'fact')}"))
    for place, fact in enumerate(found.facts):
        first, *rest = paragraph(fact.text, 6)
        say("  - ", first)
        for line in rest:
            say("    ", line)
        if fact.attribute is not None:
            slot = f"{fact.subject}: {fact.attribute} = {fact.value}"
            say("      ", quiet(single_spaced(slot)))
        for cause in found.causes:
            if cause.effect == place:
                why = single_spaced(found.facts[cause.cause].text)
                say("      ", quiet(f"because: {why} (strength {cause.strength})"))
    if found.mentions:
        named = ", ".join(
            f"{single_spaced(mention.text)} ({mention.type.lower()})" for mention in found.mentions
        )
        for line in paragraph(f"mentions {named}", 4):
            say("    ", quiet(line))


COMMANDS = (extract,)
