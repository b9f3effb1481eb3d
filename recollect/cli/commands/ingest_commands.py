"""Commands that write: init, ingest, remember, forget."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import common, configured, event_files, open_zone
from recollect.cli.output import (
    bad,
    emit,
    note,
    paragraph,
    progress,
    quiet,
    say,
    show_step,
    strong,
)
from recollect.cli.query_options import TIMES
from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import (
        ExportPreview,
        ForgetReport,
        IngestReport,
        Rejection,
        Skipped,
        Writer,
    )
    from recollect.streams.encoder.catalog import Precision, Source

#: What may be chosen; a test holds them to what the encoder knows.
ENCODER_SOURCES = ("hub", "wheel", "directory")
PRECISIONS = ("int8", "float")

# Rejections in print; --json has more of them.
_MAX_SHOWN = 20
_STANDARD_INPUT = Path("-")


@click.command(epilog="Example: recollect --home ~/memory init")
@common
@click.option("--encoder", metavar="NAME", help="Encoder, or 'none' [the best within reach].")
@click.option("--encoder-directory", type=click.Path(path_type=Path), help="Local model files.")
@click.option(
    "--encoder-source", type=click.Choice(ENCODER_SOURCES), help="Where to bring it from."
)
@click.option(
    "--reranker",
    metavar="MODEL",
    help="A cross-encoder that judges answers: a hub repository, a directory, or 'none'.",
)
@click.option(
    "--reader",
    metavar="HEADS",
    help="What reads names and more in texts: 'own' heads, a file of others, or 'none' [own].",
)
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help="How exactly the encoder reckons; int8 is faster and smaller [int8].",
)
@click.option(
    "--agents",
    metavar="NAMES",
    help="Which agents decide, with commas between: 'own' are recollect's, package.module:NAME "
    "is another's [own].",
)
@click.option(
    "--writer",
    type=click.Choice(["rules", "model"]),
    help="Who writes facts: rules alone, or a language model beside them [rules].",
)
@click.option(
    "--without",
    metavar="STEPS",
    help="Leave steps of enrichment out, with commas between: entities, temporal, coreference, "
    "temporal_resolution, evolution, causes, stability; 'none': leave none out [none].",
)
def init(
    home: str | None,
    zone: str | None,
    as_json: bool,
    encoder: str | None,
    encoder_directory: Path | None,
    encoder_source: Source | None,
    reranker: str | None,
    reader: str | None,
    precision: Precision | None,
    agents: str | None,
    writer: Writer | None,
    without: str | None,
) -> None:
    """Make a home, and bring its encoder."""
    from recollect.home.home_directory import Home
    from recollect.projections.generations import OWN_AGENTS

    configuration = configured(home)
    directory = configuration.home
    # Where an encoder is pinned already, or there is to be none, it is that of the reranker.
    of_the_reranker = reranker is not None and (Home.is_at(directory) or encoder == "none")
    made = Home.make(
        directory,
        configuration,
        encoder=None if encoder == "none" else encoder,
        precision=None if of_the_reranker else precision,
        source=encoder_source,
        model_directory=encoder_directory,
        without_encoder=encoder == "none",
        reader=reader,
        agents=None if agents is None else [name.strip() for name in agents.split(",")],
        writer=writer,
        without=None if without is None else _steps(without),
        progress=show_step,
    )
    if reranker is None:
        made.reinstall_reranker(show_step)
    else:
        chosen = None if reranker == "none" else reranker
        made.rerank_with(chosen, precision=precision or "int8", progress=show_step)
    pin, judge, heads = made.settings.encoder, made.settings.reranker, made.settings.reader
    if as_json:
        emit(
            {
                "home": str(directory),
                "encoder": pin.model if pin else None,
                "pin": pin,
                "reader": heads.heads if heads else None,
                "reranker": judge.model if judge else None,
                "agents": made.settings.agents,
                "writer": made.writer,
                "without": made.without,
            }
        )
        return
    say("home      ", strong(str(directory)))
    if pin is None:
        say("encoder   none: recall works by keywords and entities only")
    else:
        say(f"encoder   {pin.model}, {pin.dimension} dimensions, from the {pin.source}")
        say(f"weights   sha256 {pin.sha256}")
    if heads is None:
        bring = "" if pin is None else "; recollect init --reader own brings one"
        say(f"reader    none: rules alone find names{bring}")
    else:
        say(f"reader    heads sha256 {heads.heads[:16]} on {heads.encoder.model}")
    if judge is not None:
        say(f"reranker  {judge.model}, from the {judge.source}")
    if made.writer == "model":
        say("writer    a language model beside the rules; recollect write asks it")
    if made.settings.agents != OWN_AGENTS:
        say(f"agents    {', '.join(made.settings.agents)}")
    if made.without:
        say(f"without   {', '.join(made.without)}")


def _steps(given: str) -> list[str]:
    """Return the steps that are named with commas between; `none` names none."""
    return [] if given.strip() == "none" else [step.strip() for step in given.split(",")]


@click.command(epilog="Example: recollect ingest chats.jsonl mail.jsonl.gz")
@common
@event_files
@click.option("--dry-run", is_flag=True, help="Only show what would be read.")
@click.option("--follow", is_flag=True, help="Read one file of lines on as it grows.")
@click.option("--no-wait", is_flag=True, help="Return after publishing; decide later.")
def ingest(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
    dry_run: bool,
    follow: bool,
    no_wait: bool,
) -> int:
    """Take in events from files.

    They are published, and recallable when the command ends. A PATH is a file, a folder or an
    archive as another program exports it, or a file of events, one JSON object a line, packed by
    gzip or not; - is standard input.

    \b
    An event has at least
      {"platform": "slack", "sender_id": "U1", "content": "I moved to Lisbon.",
       "occurred_at": "2026-05-08T13:56:00Z"}
    """
    if _STANDARD_INPUT in paths and sys.stdin.isatty():
        note("reading events from the terminal; end with Ctrl-D on a line of its own")
    if follow:
        if dry_run or len(paths) != 1:
            raise click.UsageError("--follow takes one PATH, and publishes what comes")
        return _follow(home, zone, as_json, paths[0], format_, timezone, not no_wait)
    if dry_run:
        return _preview(as_json, paths, format_, timezone, date_order)
    with open_zone(home, zone) as memory:
        report = memory.ingest_files(
            paths,
            format=format_,
            timezone=timezone,
            date_order=date_order,
            wait=not no_wait,
            show=progress,
        )
    if as_json:
        emit(report)
    else:
        _show_report(report)
    if report.clamped:
        note(
            f"{pluralise(report.clamped, 'event')} gave an ingested_at in the future; the time of "
            "the ledger was taken instead"
        )
    return 1 if report.read and report.rejected == report.read else 0


def _follow(
    home: str | None,
    zone: str | None,
    as_json: bool,
    path: Path,
    format_: str,
    timezone: str | None,
    wait: bool,
) -> int:
    """Put what is written into a file into the ledger until somebody ends it."""
    told = 0

    def each(report: IngestReport) -> bool:
        nonlocal told
        if as_json:
            emit(report)
        else:
            for rejection in report.rejections[told:]:
                _show_rejection(rejection)
            say(f"read {report.read}, new {report.new}, rejected {report.rejected}")
        told = len(report.rejections)
        return False

    with open_zone(home, zone) as memory:
        note(f"following {path}; end with Ctrl-C")
        try:
            memory.follow_file(path, format=format_, timezone=timezone, wait=wait, each=each)
        except KeyboardInterrupt:
            note("ended")
    return 0


def _preview(
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
) -> int:
    """Show what would be read; it needs no home."""
    from recollect.operations.ingestion.previewing import preview

    found = preview(paths, format=format_, timezone=timezone, date_order=date_order, show=progress)
    if as_json:
        emit(found)
    else:
        for export in found.exports:
            _show_export(export)
        _show_refused(found.rejections, found.rejected, found.skipped)
        say(f"would read {found.read}, {found.rejected} of them rejected; nothing was published")
    return 1 if found.read and found.rejected == found.read else 0


def _show_export(export: ExportPreview) -> None:
    say(strong(collapse_whitespace(export.path)), quiet(f"  {export.format}"))
    if export.first is not None and export.last is not None:
        say(f"  from {export.first} to {export.last}")
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in export.kinds.items())
    say(f"  {kinds or 'nothing'}")
    people = ", ".join(
        f"{collapse_whitespace(person.name or person.id)} ({person.events:,})"
        for person in export.people
    )
    more = export.people_count - len(export.people)
    if people:
        for line in paragraph(f"{people}{f' and {more:,} more' if more else ''}", 2):
            say("  ", line)
    for sample in export.samples:
        kind = "" if sample.kind == "message" else f" [{sample.kind}]"
        first, *rest = paragraph(f"{sample.at[:16]} {sample.who}{kind}: {sample.text}", 6)
        say("    ", first)
        for line in rest:
            say("      ", line)


def _show_report(counts: IngestReport) -> None:
    say(
        f"read {counts.read}, new {counts.new}, duplicate {counts.duplicate}, "
        f"rejected {counts.rejected}, in {counts.seconds} s"
    )
    _show_refused(counts.rejections, counts.rejected, counts.skipped)
    if not counts.read:
        note("there was no event in it")
    elif counts.rejected == counts.read:
        note("recollect ingest --help shows what an event looks like")


def _show_refused(rejections: Sequence[Rejection], count: int, skipped: Sequence[Skipped]) -> None:
    shown = rejections[:_MAX_SHOWN]
    for rejection in shown:
        _show_rejection(rejection)
    if count > len(shown):
        say(f"  … and {count - len(shown):,} more", err=True)
    for some in skipped:
        names = ", ".join(some.names) + (", …" if some.files > len(some.names) else "")
        what = pluralise(some.files, "file")
        note(f"{some.path}: passed over {what} in no known format: {names}")


def _show_rejection(rejection: Rejection) -> None:
    say(bad("  rejected "), f"{rejection.path}:{rejection.line}: {rejection.reason}", err=True)


@click.command(epilog="Example: recollect forget m-17 --platform slack")
@common
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--platform", metavar="P", help="Of this platform alone.")
@click.option("--entity", metavar="E", help="All that somebody wrote, and all that speaks of them.")
@click.option("--sender", metavar="ID", help="All that a sender wrote, by the platform's own id.")
@click.option("--thread", metavar="ID", help="All that was said in a thread.")
@click.option("--before", metavar="T", help=f"What happened before T. {TIMES}")
@click.option("--after", metavar="T", help="What happened after T.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask, on a terminal either.")
def forget(
    home: str | None,
    zone: str | None,
    as_json: bool,
    ids: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    before: str | None,
    after: str | None,
    **criteria: str | None,
) -> int:
    """Erase what people wrote, everywhere.

    Everything that was decided from it goes as well. An ID is any that is shown: a source's own;
    that of an event; that of a fact or an observation, for the events that it comes from or that
    repeat it; that of a mental model, for all its versions; #17 for the parked record 17. What is
    given together must apply together.
    """
    from recollect.schemas.wire import ForgetTargets

    with open_zone(home, zone) as memory:
        chosen = memory.choose(
            ForgetTargets(ids=ids, time_before=before, time_after=after, **criteria)
        )
        if dry_run:
            gone = memory.erase(chosen, dry_run=True)
        else:
            if chosen.numbers and sys.stdin.isatty() and not yes:
                what = f"{pluralise(len(chosen.numbers), 'record')} ({_some(chosen.ids)})"
                question = f"Erase {what} and all that was decided from it, for ever?"
                if not click.confirm(escape_invisible(question), err=True):
                    say("nothing was forgotten", err=True)
                    return 1
            gone = memory.erase(chosen)
    if as_json:
        emit(gone)
    else:
        for line in _what_went(gone):
            say(line)
    return 0


def _what_went(gone: ForgetReport) -> Iterator[str]:
    if gone.resumed:
        yield f"finished forgetting {_some(gone.resumed)}, which was interrupted"
    if gone.already_forgotten:
        yield f"already forgotten: {_some(gone.already_forgotten)}"
    counts = ", ".join(
        (
            pluralise(gone.events, "record"),
            pluralise(gone.facts, "fact"),
            pluralise(gone.entities, "entity", "entities"),
            pluralise(gone.vectors, "vector"),
        )
    )
    if gone.events and gone.dry_run:
        yield f"would forget {_some(gone.forgotten)}: {counts}"
    elif gone.events:
        yield (
            f"forgot {_some(gone.forgotten)}: gone are {counts}, and the keys of what the ledger "
            "holds"
        )
    elif not (gone.resumed or gone.already_forgotten):
        yield "nothing is there to forget"


def _some(ids: Sequence[str]) -> str:
    """Return the first of some ids."""
    more = f" and {len(ids) - _MAX_SHOWN} more" if len(ids) > _MAX_SHOWN else ""
    return ", ".join(ids[:_MAX_SHOWN]) + more


@click.command(epilog="Example: recollect remember 'The deploy key is in the blue safe.'")
@common
@click.argument("text")
@click.option("--sender", default="user", show_default=True, help="Who says so.")
def remember(home: str | None, zone: str | None, as_json: bool, text: str, sender: str) -> None:
    """Remember a text as it stands."""
    with open_zone(home, zone) as memory:
        receipt = memory.remember(text, sender_id=sender)
    if as_json:
        emit(receipt)
    else:
        say(f"remembered as event {receipt.number} ({receipt.event_id})")


COMMANDS = (init, ingest, forget, remember)
