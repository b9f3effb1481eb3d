"""Commands that write: init, ingest, forget, remember."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import click

from recollect.cli.common import common, emit, open_zone, progress, say, show_step
from recollect.home import Home, home_directory
from schemas.display import shown
from schemas.wire import ForgetReport
from streams.adapters import FORMATS
from streams.encoder.catalog import Precision, Source

# Rejections in print; --json has more of them.
_MOST_SHOWN = 20


@click.command(epilog="Example: recollect --home ~/memory init")
@common
@click.option("--encoder", metavar="NAME", help="Encoder, or 'none' [the best within reach].")
@click.option("--encoder-directory", type=click.Path(path_type=Path), help="Local model files.")
@click.option(
    "--encoder-source", type=click.Choice(get_args(Source)), help="Where to bring it from."
)
@click.option(
    "--reranker",
    metavar="MODEL",
    help="A cross-encoder that judges answers: a hub repository, a directory, or 'none'.",
)
@click.option(
    "--precision", type=click.Choice(get_args(Precision)), default="int8", show_default=True
)
def init(
    home: str | None,
    zone: str | None,
    as_json: bool,
    encoder: str | None,
    encoder_directory: Path | None,
    encoder_source: Source | None,
    reranker: str | None,
    precision: Precision,
) -> None:
    """Make a home and pin its encoder."""
    outer = click.get_current_context().obj or {}
    directory = home_directory(home or outer.get("home"))
    made = Home.make(
        directory,
        encoder=None if encoder == "none" else encoder,
        precision=precision,
        source=encoder_source,
        model_directory=encoder_directory,
        without_encoder=encoder == "none",
        progress=show_step,
    )
    if reranker is None:
        made.reinstall_reranker(show_step)
    else:
        chosen = None if reranker == "none" else reranker
        made.rerank_with(chosen, precision=precision, progress=show_step)
    pin, judge = made.settings.encoder, made.settings.reranker
    if as_json:
        emit(
            {
                "home": str(directory),
                "encoder": pin.model if pin else None,
                "pin": pin,
                "reranker": judge.model if judge else None,
            }
        )
        return
    say(f"home      {directory}")
    if pin is None:
        say("encoder   none: recall works by keywords and entities only")
    else:
        say(f"encoder   {pin.model}, {pin.dimension} dimensions, from the {pin.source}")
        say(f"weights   sha256 {pin.sha256}")
    if judge is not None:
        say(f"reranker  {judge.model}, from the {judge.source}")


@click.command(epilog="Example: recollect ingest chats.jsonl mail.jsonl")
@common
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "format_", type=click.Choice(FORMATS), default="auto")
@click.option("--no-wait", is_flag=True, help="Return after publishing; conclude later.")
def ingest(
    home: str | None,
    zone: str | None,
    as_json: bool,
    paths: tuple[Path, ...],
    format_: str,
    no_wait: bool,
) -> int:
    """Publish events from files and wait until they are recallable."""
    with open_zone(home, zone) as memory:
        report = memory.ingest_files(paths, format=format_, wait=not no_wait, show=progress)
    if as_json:
        emit(report)
    else:
        say(
            f"read {report.read}, new {report.new}, duplicate {report.duplicate}, "
            f"rejected {report.rejected}, in {report.seconds} s"
        )
        shown = report.rejections[:_MOST_SHOWN]
        for rejection in shown:
            say(f"  {rejection.path}:{rejection.line}: {rejection.reason}", err=True)
        if report.rejected > len(shown):
            say(f"  … and {report.rejected - len(shown)} more", err=True)
    if report.clamped:
        say(
            f"recollect: {report.clamped} events gave an ingested_at in the future; the time of "
            "the ledger was taken instead",
            err=True,
        )
    return 1 if report.read and report.rejected == report.read else 0


@click.command(epilog="Example: recollect forget m-17 --platform slack")
@common
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--platform", metavar="P", help="Of this platform alone.")
@click.option("--entity", metavar="E", help="All that somebody wrote, and all that speaks of them.")
@click.option("--sender", metavar="ID", help="All that a sender wrote, by the platform's own id.")
@click.option("--thread", metavar="ID", help="All that was said in a thread.")
@click.option("--before", metavar="T", help="What happened before a time (ISO 8601, or unix ms).")
@click.option("--after", metavar="T", help="What happened after a time.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask, on a terminal either.")
def forget(
    home: str | None,
    zone: str | None,
    as_json: bool,
    ids: tuple[str, ...],
    platform: str | None,
    entity: str | None,
    sender: str | None,
    thread: str | None,
    before: str | None,
    after: str | None,
    dry_run: bool,
    yes: bool,
) -> int:
    """Erase what people wrote, and everything that was concluded from it, everywhere.

    An ID is any that is shown: a source's own; that of an event; that of a fact or an
    observation, for the events that it comes from or that repeat it; that of a mental model, for
    all its versions; #17 for the parked record 17. What is given together must apply together.
    """
    with open_zone(home, zone) as memory:
        chosen = memory.choose(
            *ids,
            platform=platform,
            entity=entity,
            sender=sender,
            thread=thread,
            before=before,
            after=after,
        )
        if dry_run:
            gone = memory.erase(chosen, dry_run=True)
        else:
            if chosen.numbers and sys.stdin.isatty() and not yes:
                what = f"{len(chosen.numbers)} records ({_some(chosen.ids)})"
                question = f"Erase {what} and all that was concluded from them, for ever?"
                if not click.confirm(shown(question), err=True):
                    say("nothing was forgotten", err=True)
                    return 1
            gone = memory.erase(chosen)
    if as_json:
        emit(gone)
    else:
        for line in _told(gone):
            say(line)
    return 0


def _told(gone: ForgetReport) -> Iterator[str]:
    if gone.finished:
        yield f"finished forgetting {_some(gone.finished)}, which was interrupted"
    if gone.already:
        yield f"already forgotten: {_some(gone.already)}"
    counts = (
        f"{gone.events} records, {gone.facts} facts, {gone.entities} entities, "
        f"{gone.vectors} vectors"
    )
    if gone.events and gone.dry_run:
        yield f"would forget {_some(gone.forgotten)}: {counts}"
    elif gone.events:
        yield (
            f"forgot {_some(gone.forgotten)}: {counts} are gone, and the keys of what the ledger "
            "holds"
        )
    elif not (gone.finished or gone.already):
        yield "nothing is there to forget"


def _some(ids: Sequence[str]) -> str:
    """Return the first of some ids."""
    more = f" and {len(ids) - _MOST_SHOWN} more" if len(ids) > _MOST_SHOWN else ""
    return ", ".join(ids[:_MOST_SHOWN]) + more


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
