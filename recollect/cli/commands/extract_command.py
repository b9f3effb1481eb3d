"""The command that shows what would be decided, and stores nothing: extract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.commands.write_commands import say_price
from recollect.cli.options import common, configured, event_files, given_zone
from recollect.cli.output import bad, emit, note, paragraph, quiet, say, strong
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.operations.writing.extracting import Extractor
    from recollect.schemas.events import Draft
    from recollect.schemas.wire import Extraction, Fact, Rejection, WriteReport

#: How a fact of two writers is marked: both say it, the model alone, the rules alone.
_BOTH, _MODEL, _RULES = "=", "+", "-"


@click.command(epilog="Example: recollect extract chats.jsonl")
@common
@event_files
@click.option(
    "--writer",
    type=click.Choice(["rules", "model", "both"]),
    default="rules",
    show_default=True,
    help="Who reads: the rules, a language model beside them, or one beside the other.",
)
@click.option("--dry-run", is_flag=True, help="Only say what asking a model would take.")
def extract(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
    writer: str,
    dry_run: bool,
) -> int:
    """Show what would be decided from events; store nothing.

    The earlier events of the same files are its context. A PATH of - is standard input. It needs no
    home; where there is one, its reader, its steps and the role of the zone are used. Of two
    writers, = marks what both say, + what the model adds.
    """
    from recollect.home.home_directory import Home
    from recollect.home.ledgers import gateway_of
    from recollect.operations.ingestion.ingesting import open_inputs
    from recollect.operations.writing.extracting import Extractor
    from recollect.streams.adapters import ByteCounter, Options, drafts, exports_of

    if dry_run and writer == "rules":
        raise InvalidInput(
            "--dry-run says what asking a model takes, and the rules ask none: give --writer model"
        )
    name = given_zone(zone)
    configuration = configured(home)
    there = Home.is_at(configuration.home)
    made = Home(configuration.home, configuration) if there else None
    with ExitStack() as held:
        model = None
        if writer != "rules":
            from recollect.operations.writing.model_extracting import open_model

            model = held.enter_context(open_model(configuration, made, name))
        inputs = open_inputs(paths, format_, Options.of(timezone, date_order), ByteCounter())
        refused = [rejection for one in inputs for rejection in one.rejections]
        found_in = (draft for export in exports_of(inputs) for _, draft in drafts(export.source))
        items: Iterable[Draft | Rejection] = chain(refused, found_in)
        if model is not None:
            items = list(items)
            price = model.priced(_drafts(items))
            if dry_run:
                _say_price(price, as_json)
                return 0
            note(_in_words(price))
        gateway = gateway_of(made) if made else None
        without = frozenset(made.without if made else ())
        extractors = [
            held.enter_context(Extractor(name, gateway, one, without))
            for one in ([None] if writer != "model" else []) + ([model] if model else [])
        ]
        return _show_all(items, extractors, as_json)


def _drafts(items: Iterable[Draft | Rejection]) -> list[Draft]:
    from recollect.schemas.wire import Rejection

    return [item for item in items if not isinstance(item, Rejection)]


def _show_all(
    items: Iterable[Draft | Rejection], extractors: Sequence[Extractor], as_json: bool
) -> int:
    """Show what each would decide from each event; return the exit status."""
    from recollect.schemas.wire import Rejection

    read = rejected = 0
    for item in items:
        read += 1
        if isinstance(item, Rejection):
            rejected += 1
            say(bad("rejected "), f"{item.path}:{item.line}: {item.reason}", err=True)
            continue
        found = []
        for extractor in extractors:
            found.append(extractor.extract(item))
            if as_json:
                emit(found[-1])
        if not as_json:
            _show(found)
    return 1 if read and read == rejected else 0


def _say_price(price: WriteReport, as_json: bool) -> None:
    if as_json:
        emit(price)
    else:
        say_price(price)


def _in_words(price: WriteReport) -> str:
    """Return what a model would take in one line."""
    return (
        f"{price.model} is asked about {pluralise(price.pending, 'event')}: "
        f"{price.min_calls:,} to {price.calls:,} calls, "
        f"about {price.min_tokens:,} to {price.tokens:,} tokens, "
        f"cost {price.min_cost:.4f} to {price.cost:.4f}"
    )


def _show(found: Sequence[Extraction]) -> None:
    """Show what one writer would decide from an event, or two."""
    first, last = found[0], found[-1]
    title = pluralise(len(first.facts), "fact")
    ours = {fact.id for fact in first.facts}
    if first is not last:
        title = f"{len(first.facts):,} by the rules, {len(last.facts):,} with the model"
    say(strong(collapse_whitespace(first.id)), quiet(f"  {title}"))
    texts = {fact.id: collapse_whitespace(fact.text) for fact in last.facts}
    for place, fact in enumerate(last.facts):
        mark = _RULES if first is last else _BOTH if fact.id in ours else _MODEL
        _show_fact(fact, mark)
        for cause in last.causes:
            if cause.effect == place:
                why = collapse_whitespace(last.facts[cause.cause].text)
                say("      ", quiet(f"because: {why} (strength {cause.strength})"))
        for one in fact.relations:
            said = texts.get(one.fact_id, f"fact {one.fact_id}")
            say("      ", quiet(f"{one.verb}: {said} (confidence {one.confidence})"))
    told = {fact.id for fact in last.facts}
    for fact in first.facts:
        if fact.id not in told:
            _show_fact(fact, _RULES)
    if last.mentions:
        named = ", ".join(
            f"{collapse_whitespace(mention.text)} ({mention.type.lower()})"
            for mention in last.mentions
        )
        for line in paragraph(f"mentions {named}", 4):
            say("    ", quiet(line))
    if last.model_usage:
        written = last.model_usage
        said = (
            f"{written.model}: {pluralise(written.calls, 'call')}, {written.accepted:,} kept, "
            f"{written.duplicates:,} repeated, {written.rejected:,} refused"
        )
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in written.reasons.items())
        failed = f"; it failed: {collapse_whitespace(written.failed)}" if written.failed else ""
        say("    ", quiet(f"{said} ({reasons}){failed}" if reasons else f"{said}{failed}"))


def _show_fact(fact: Fact, mark: str) -> None:
    first, *rest = paragraph(fact.text, 6)
    say(f"  {mark} ", first)
    for line in rest:
        say("    ", line)
    if fact.attribute is not None:
        slot = f"{fact.subject}: {fact.attribute} = {fact.value}"
        say("      ", quiet(collapse_whitespace(slot)))


COMMANDS = (extract,)
