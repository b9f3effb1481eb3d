"""The command that shows what would be extracted, without storing it: extract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.commands.write_commands import print_estimate
from recollect.cli.options import common_options, configured, given_zone, import_options
from recollect.cli.output import bad, note, paragraph, print_json, print_line, quiet, strong
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.operations.writing.extracting import Extractor
    from recollect.schemas.events import Draft
    from recollect.schemas.wire import Extraction, Fact, Rejection, WriteReport

# Marks of a fact with --writer both: found by both writers, by the model only, by the rules only.
# All facts of a single writer have the last one.
_MARK_BOTH, _MARK_MODEL, _MARK_RULES = "=", "+", "-"


@click.command(epilog="Example: recollect extract chats.jsonl")
@common_options
@import_options
@click.option(
    "--writer",
    type=click.Choice(["rules", "model", "both"]),
    default="rules",
    show_default=True,
    help="rules: use the rules only; model: the rules and a language model; both: run each, and "
    "compare the results.",
)
@click.option("--trace", is_flag=True, help="Show which rules matched each date and time.")
@click.option("--dry-run", is_flag=True, help="Estimate the cost of the model without calling it.")
def extract(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
    writer: str,
    trace: bool,
    dry_run: bool,
) -> int:
    """Show what would be extracted, without storing it.

    Earlier events of the same files serve as context. PATH may be - for standard input. No home
    is needed; if there is one, its settings and the zone's instructions for the language model are
    used. With --writer both, '=' marks facts found either way, '+' those found only with the model,
    and '-' those found only without it.
    """
    from recollect.home.home_directory import Home
    from recollect.home.ledgers import gateway_of
    from recollect.operations.ingestion.ingesting import open_inputs
    from recollect.operations.writing.extracting import Extractor
    from recollect.schemas.events import Content
    from recollect.schemas.wire import Rejection
    from recollect.streams.adapters import ByteCounter, Options, drafts, exports_of

    if dry_run and writer == "rules":
        raise InvalidInput(
            "--dry-run estimates what a language model would cost, but the rule-based writer is "
            "free; to estimate a model, add --writer model"
        )
    name = given_zone(zone)
    configuration = configured(home)
    configuration.apply_disabled_rules()
    exists = Home.exists_at(configuration.home)
    opened = Home(configuration.home, configuration) if exists else None
    with ExitStack() as stack:
        model = None
        if writer != "rules":
            from recollect.operations.writing.model_extracting import open_model

            model = stack.enter_context(open_model(configuration, opened, name))
        inputs = open_inputs(paths, format_, Options.of(timezone, date_order), ByteCounter())
        rejections = [rejection for one in inputs for rejection in one.rejections]
        found_drafts = (
            draft
            for export in exports_of(inputs)
            for _, draft in drafts(export.source)
            if isinstance(draft, Rejection) or isinstance(draft.payload, Content)
        )
        items: Iterable[Draft | Rejection] = chain(rejections, found_drafts)
        if model is not None:
            items = list(items)
            estimate = model.estimate(_drafts(items))
            if dry_run:
                _print_estimate(estimate, as_json)
                return 0
            note(_one_line(estimate))
        gateway = gateway_of(opened) if opened else None
        without = frozenset(opened.disabled_steps if opened else ())
        extractors = [
            stack.enter_context(Extractor(name, gateway, one, without, trace=trace))
            for one in ([None] if writer != "model" else []) + ([model] if model else [])
        ]
        return _show_all(items, extractors, as_json)


def _drafts(items: Iterable[Draft | Rejection]) -> list[Draft]:
    from recollect.schemas.wire import Rejection

    return [item for item in items if not isinstance(item, Rejection)]


def _show_all(
    items: Iterable[Draft | Rejection], extractors: Sequence[Extractor], as_json: bool
) -> int:
    """Print what each extractor finds in each event; return the exit status."""
    from recollect.schemas.wire import Rejection

    read = rejected = 0
    for item in items:
        read += 1
        if isinstance(item, Rejection):
            rejected += 1
            print_line(bad("rejected "), f"{item.path}:{item.line}: {item.reason}", err=True)
            continue
        extractions = []
        for extractor in extractors:
            extractions.append(extractor.extract(item))
            if as_json:
                print_json(extractions[-1])
        if not as_json:
            _show(extractions)
    return 1 if read and read == rejected else 0


def _print_estimate(estimate: WriteReport, as_json: bool) -> None:
    if as_json:
        print_json(estimate)
    else:
        print_estimate(estimate)


def _one_line(estimate: WriteReport) -> str:
    """Return an estimate in one line."""
    return (
        f"{estimate.model} will read {pluralise(estimate.pending, 'event')}: "
        f"{estimate.min_calls:,} to {estimate.calls:,} calls, "
        f"about {estimate.min_tokens:,} to {estimate.tokens:,} tokens, "
        f"cost {estimate.min_cost:.4f} to {estimate.cost:.4f}"
    )


def _show(extractions: Sequence[Extraction]) -> None:
    """Print what one writer finds in an event, or two side by side."""
    first, last = extractions[0], extractions[-1]
    title = pluralise(len(first.facts), "fact")
    first_ids = {fact.id for fact in first.facts}
    if first is not last:
        title = f"{len(first.facts):,} by the rules, {len(last.facts):,} with the model"
    print_line(strong(collapse_whitespace(first.id)), quiet(f"  {title}"))
    texts = {fact.id: collapse_whitespace(fact.text) for fact in last.facts}
    for index, fact in enumerate(last.facts):
        mark = _MARK_RULES if first is last else _MARK_BOTH if fact.id in first_ids else _MARK_MODEL
        _show_fact(fact, mark)
        for cause in last.causes:
            if cause.effect == index:
                why = collapse_whitespace(last.facts[cause.cause].text)
                print_line("      ", quiet(f"because: {why} (strength {cause.strength})"))
        for one in fact.relations:
            text = texts.get(one.fact_id, f"fact {one.fact_id}")
            print_line("      ", quiet(f"{one.verb}: {text} (confidence {one.confidence})"))
    last_ids = {fact.id for fact in last.facts}
    for fact in first.facts:
        if fact.id not in last_ids:
            _show_fact(fact, _MARK_RULES)
    if last.mentions:
        named = ", ".join(
            f"{collapse_whitespace(mention.text)} ({mention.type.lower()})"
            for mention in last.mentions
        )
        for line in paragraph(f"mentions {named}", 4):
            print_line("    ", quiet(line))
    for date in first.trace or ():
        print_line(f"    {collapse_whitespace(date.text)}", quiet(f"  {', '.join(date.rules)}"))
    if last.model_usage:
        usage = last.model_usage
        summary = (
            f"{usage.model}: {pluralise(usage.calls, 'call')}, {usage.accepted:,} kept, "
            f"{usage.duplicates:,} repeated, {usage.rejected:,} rejected"
        )
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in usage.reasons.items())
        failed = f"; it failed: {collapse_whitespace(usage.failed)}" if usage.failed else ""
        print_line(
            "    ", quiet(f"{summary} ({reasons}){failed}" if reasons else f"{summary}{failed}")
        )


def _show_fact(fact: Fact, mark: str) -> None:
    first, *rest = paragraph(fact.text, 6)
    print_line(f"  {mark} ", first)
    for line in rest:
        print_line("    ", line)
    if fact.context is not None:
        print_line("      ", quiet(collapse_whitespace(fact.context)))
    if fact.when is not None:
        print_line("      ", quiet(f"refers to {fact.when}"))
    if fact.attribute is not None:
        slot = f"{fact.subject}: {fact.attribute} = {fact.value}"
        print_line("      ", quiet(collapse_whitespace(slot)))


COMMANDS = (extract,)
