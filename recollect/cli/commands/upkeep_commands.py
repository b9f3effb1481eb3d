"""Maintenance commands: status, doctor, verify, rebuild, dead letters, promote."""

from __future__ import annotations

import shlex
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from recollect.cli.command_actions import CommandWithActions
from recollect.cli.commands.certificate_command import read_certificate_file
from recollect.cli.commands.write_commands import (
    print_estimate,
    print_written,
    read_role_file,
)
from recollect.cli.options import FilePath, common_options, configured, home_and_zone, open_zone
from recollect.cli.output import bad, good, note, print_json, print_line, progress, size
from recollect.schemas.choices import RebuildLevel
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import GenerationDiff


@click.command(epilog="Example: recollect rebuild --level project")
@common_options
@click.option(
    "--level",
    type=click.Choice(get_args(RebuildLevel)),
    default="project",
    show_default=True,
    help="How much to rebuild; each level includes the previous ones.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be rebuilt.")
@click.option(
    "--diff",
    is_flag=True,
    help="Build a new generation (a complete set of the zone's files), and report how it differs "
    "from the one in use, without switching to it.",
)
@click.option(
    "--encoder",
    metavar="NAME",
    help="With --level fresh: the encoder to use, one that the home has; recollect init "
    "--add-encoder adds one [default: the zone's current encoder].",
)
@click.option(
    "--consolidation",
    type=click.Choice(["on", "off"]),
    help="With --level derive or fresh: whether to consolidate facts [default: the zone's "
    "current setting].",
)
@click.option(
    "--writer-role",
    metavar="FILE",
    type=FilePath(),
    help="With --level derive or fresh: let the language model read all messages again, under the "
    "role prompt in FILE; an empty file is the default prompt.",
)
def rebuild(
    home: str | None,
    zone: str | None,
    as_json: bool,
    level: RebuildLevel,
    dry_run: bool,
    diff: bool,
    encoder: str | None,
    consolidation: str | None,
    writer_role: Path | None,
) -> int:
    """Rebuild derived data from the ledger.

    \b
    The levels:
    index    rebuild the search indexes
    project  rebuild all database files, from the stored results of processing the events
    derive   also process all events again, with the stored embeddings
    fresh    also compute the embeddings again
    """
    role = None if writer_role is None else read_role_file("--writer-role", writer_role)
    other: dict[str, Any] = {
        "encoder": encoder,
        "consolidation": None if consolidation is None else consolidation == "on",
    }
    with open_zone(home, zone) as memory:
        done = memory.rebuild(level, dry_run=True, writer_role=role if dry_run else None, **other)
        if not dry_run:
            with progress(f"rebuilding ({level})", done.records) as advance:
                done = memory.rebuild(
                    level, compare=diff, writer_role=role, progress=advance, **other
                )
    if as_json:
        print_json(done)
        return 1 if done.stopped else 0
    if done.written is not None and done.written.pending and not dry_run:
        print_written(done.written)
    if dry_run:
        embedded = f" and embed {pluralise(done.encoded, 'text')}" if done.encoded else ""
        read = pluralise(done.records, "ledger record")
        print_line(f"rebuild --level {level} would read {read}{embedded}")
        if done.written is not None:
            print_estimate(done.written)
        return 0
    if done.difference is not None:
        print_difference(done.difference)
    again = " ".join(
        f"{name} {shlex.quote(str(value))}"
        for name, value in (
            ("--level", level),
            ("--encoder", encoder),
            ("--consolidation", consolidation),
            ("--writer-role", writer_role),
        )
        if value is not None
    )
    if done.written is not None and done.written.stopped:
        left = pluralise(done.written.pending - done.written.processed, "event")
        note(f"{left} left: {done.written.stopped}")
    if done.stopped is not None:
        print_line(
            f"generation {done.generation} is not finished, and the one in use is unchanged; to "
            f"continue: recollect rebuild {again}"
        )
    elif done.difference is not None:
        print_line(
            f"built generation {done.generation} without activating it; "
            f"to rebuild and activate: recollect rebuild {again}"
        )
    else:
        embedded = f"; {pluralise(done.encoded, 'text')} embedded" if done.encoded else ""
        print_line(
            f"rebuilt {pluralise(done.records, 'record')} at level {done.level} "
            f"in {done.seconds} s; generation {done.generation} is active{embedded}"
        )
    return 1 if done.stopped else 0


def print_difference(found: GenerationDiff) -> None:
    """Print what a generation or a branch gained, lost and changed."""
    print_line(
        f"facts         {found.facts_same} the same, {found.facts_gained} gained, "
        f"{found.facts_lost} lost, {found.facts_changed} changed"
    )
    print_line(f"entities      {found.entities_split} split, {found.entities_joined} joined")
    for title, counts in (("observations", found.observations), ("models", found.mental_models)):
        print_line(
            f"{title:<13} {counts.same} the same, {counts.gained} gained, {counts.lost} lost, "
            f"{counts.changed} changed"
        )
    for fact in found.gained:
        print_line(f"  + {fact.text}")
    for fact in found.lost:
        print_line(f"  - {fact.text}")
    for changed in found.changed:
        print_line(
            f"  ~ {changed.after}  ({', '.join(changed.changed_fields)}; before: {changed.before})"
        )
    for text in found.texts:
        for sign, words in (("-", text.before), ("+", text.after)):
            if words is not None:
                print_line(f"  {sign} {collapse_whitespace(words)}")
    for entity in found.split:
        print_line(f"  {entity.name} is split into {', '.join(entity.names)}")
    for entity in found.joined:
        print_line(f"  {', '.join(entity.names)} are joined as {entity.name}")


@click.command(epilog="Example: recollect rollback")
@common_options
def rollback(home: str | None, zone: str | None, as_json: bool) -> None:
    """Undo the last rebuild: return to the previous generation.

    A generation is one complete set of a zone's files. The previous generation is first brought up
    to date, so that it includes what was ingested after the rebuild.
    """
    with open_zone(home, zone) as memory:
        found = memory.rollback()
    if as_json:
        print_json(found)
    else:
        print_line(f"generation {found.generation} is active again")


@click.command(epilog="Example: recollect verify")
@common_options
@click.option(
    "--expect",
    metavar="HEAD",
    help="Check that the ledger still contains, unchanged, the record HEAD: a value that verify or "
    "status printed earlier as 'head'.",
)
@click.option(
    "--certificate",
    type=FilePath(),
    metavar="FILE",
    help="Check this erasure certificate too.",
)
def verify(
    home: str | None, zone: str | None, as_json: bool, expect: str | None, certificate: Path | None
) -> int:
    """Replay the ledger, and compare the result with the zone's files.

    Fails if a file differs from the replay, or if the ledger is damaged. Changes nothing.
    """
    checked = None if certificate is None else read_certificate_file(certificate)
    with open_zone(home, zone) as memory, progress("verifying") as advance:
        found = memory.verify(expect=expect, certificate=checked, progress=advance)
    if as_json:
        print_json(found)
    else:
        print_line("ledger      ", good("intact") if found.ledger_ok else bad("DAMAGED"))
        print_line(f"head        {found.head}")
        if found.lag:
            print_line(f"lag         {pluralise(found.lag, 'record')} not processed yet")
        for model in found.models:
            differs = bad(f"DIFFERS (replayed {model.replayed[:16]})")
            verdict = good("same") if model.ok else differs
            print_line(f"{model.model:11} {model.hash[:16]}  ", verdict)
        for problem in found.problems:
            print_line(f"  {problem}", err=True)
        if found.certificate is not None:
            verdict = good("holds") if found.certificate.ok else bad("DOES NOT HOLD")
            print_line("certificate ", verdict)
            for problem in found.certificate.problems:
                print_line(f"  {problem}", err=True)
    return 0 if found.ok else 1


@click.command(epilog="Example: recollect reclaim --dry-run")
@common_options
@click.option("--dry-run", is_flag=True, help="Show what would be removed.")
def reclaim(home: str | None, zone: str | None, as_json: bool, dry_run: bool) -> None:
    """Free disk space: remove results of earlier rebuilds from the ledger.

    Each rebuild at level derive or fresh adds change records to the ledger: the results of
    processing all events again. This command removes the change records that are not needed for
    the data in use or for a rollback. Events are never removed. The ledger is replayed with and
    without the records to be removed; if the outcomes differ, nothing is removed. A ledger on Kafka
    cannot be reclaimed.
    """
    with open_zone(home, zone) as memory:
        found = memory.reclaim(dry_run=dry_run)
    if as_json:
        print_json(found)
        return
    records = pluralise(found.records, "change record")
    what = f"{records} of {pluralise(len(found.chains), 'chain')}"
    if dry_run:
        print_line(f"would remove {what}, {size(found.bytes)}")
    else:
        print_line(f"removed {what}, {size(found.bytes)}; the ledger replays as before")


@click.command(epilog="Example: recollect status --json")
@common_options
def status(home: str | None, zone: str | None, as_json: bool) -> None:
    """Show what a zone contains, and its processing lag."""
    from recollect.projections.generations import DEFAULT_AGENTS

    with open_zone(home, zone) as memory:
        found = memory.status()
        hints = memory.hints()
    for line in hints:
        note(line)
    if as_json:
        print_json(found)
        return
    for name in (
        "zone",
        "generation",
        "encoder",
        "events",
        "facts",
        "entities",
        "episodes",
        "observations",
    ):
        value = getattr(found, name)
        counted = f"{value:,}" if isinstance(value, int) else value
        print_line(f"{name:13} {'none' if value in (None, '') else counted}")
    if found.agents != DEFAULT_AGENTS:
        print_line(f"{'agents':13} {', '.join(found.agents)}")
    if found.model_usage:
        by = found.model_usage
        print_line(
            f"{'model':13} read {pluralise(by.events, 'event')}: "
            f"{pluralise(by.accepted, 'fact')} kept, {by.duplicates:,} repeated, "
            f"{by.rejected:,} rejected; {pluralise(by.calls, 'call')}, "
            f"{by.tokens_in + by.tokens_out:,} tokens, cost {by.cost:.4f}"
        )
    print_line(f"{'dead letters':13} {found.dead_letters}")
    waiting = f", the oldest waiting {found.lag_seconds:.0f} s" if found.lag_seconds else ""
    print_line(f"{'lag':13} {pluralise(found.lag, 'record')}{waiting}")
    if found.stalled:
        idle = found.seconds_since_progress
        since = "nothing was ever processed" if idle is None else f"no progress for {idle:.0f} s"
        print_line(bad(f"{'STALLED':13} "), f"{since}; check that a worker is running")
    if found.problem:
        print_line(bad(f"{'problem':13} "), found.problem)
    for model in found.models:
        print_line(f"{f'{model.model}.db':13} at record {model.watermark}")
    print_line(f"{'head':13} {found.head}")


@click.command(epilog="Example: recollect doctor")
@common_options
def doctor(home: str | None, zone: str | None, as_json: bool) -> int:
    """Check the installation and the home, and suggest fixes."""
    from recollect.operations.upkeep.doctor import examine

    checks = examine(configured(home))
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": checks})
    else:
        for check in checks:
            verdict = good("ok  ") if check.ok else bad("FAIL")
            print_line(verdict, f"  {check.check}: {check.detail}")
            if not check.ok:
                print_line(f"      {check.fix}")
    return 0 if ok else 1


class _RecordNumber(click.ParamType):
    """A record number, with or without a leading #."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(str(value).removeprefix("#"))
        except ValueError:
            self.fail(f"{value!r} is not a record number", param, ctx)


_DEAD_LETTER_ACTIONS = {
    "list": "List the dead letters.",
    "retry NUMBER": "Process a dead letter again.",
    "drop NUMBER": "Remove a dead letter from the list; its record stays in the ledger.",
}


@click.command(
    cls=CommandWithActions,
    actions=_DEAD_LETTER_ACTIONS,
    epilog="Example: recollect deadletters list",
)
@common_options
@click.argument("number", type=_RecordNumber(), required=False)
def deadletters(
    home: str | None, zone: str | None, as_json: bool, action: str, number: int | None
) -> int:
    """List dead letters; retry or drop one.

    A dead letter is a record that failed processing. NUMBER is its number in the ledger, such as 17
    or '#17'. To erase the record, run recollect forget '#17'.
    """
    if action != "list" and number is None:
        raise click.UsageError(f"`{action}` needs the NUMBER of a dead letter")
    with open_zone(home, zone) as memory:
        letters = memory.dead_letters()
        if action == "list":
            if as_json:
                import msgspec

                print_json({"dead_letters": [msgspec.structs.asdict(letter) for letter in letters]})
            elif not letters:
                print_line("no dead letters")
            else:
                for letter in letters:
                    number_ = f"#{letter.number}"
                    print_line(f"{number_:>8}  {letter.kind:14}  {letter.reason}")
            return 0
        assert number is not None
        known = number in {letter.number for letter in letters}
        tried = memory.retry if action == "retry" else memory.drop
        done = known and not tried(number).parked
    answer: dict[str, Any] = {"number": number, "action": action, "done": done}
    if as_json:
        print_json(answer)
    elif done:
        print_line(f"record {number}: {action} done")
    else:
        print_line(f"record {number} is {'still' if known else 'not'} a dead letter")
    return 0 if done else 1


@click.command("skip", epilog="Example: recollect --zone ada skip events 2")
@common_options
@click.argument("topic", type=click.Choice(["events", "changes"]))
@click.argument("offset", type=int)
def skip_record(home: str | None, zone: str | None, as_json: bool, topic: str, offset: int) -> None:
    """Skip a record on Kafka that another program wrote and that blocks a zone.

    'recollect doctor' prints the topic (events or changes) and OFFSET of such a record. Stores the
    topic, offset and hash in the ledger, so every node and rebuild skips the record too.
    """
    from recollect.home.open_zone import OpenHome
    from recollect.operations.upkeep import unreadable_records

    selected, name = home_and_zone(home, zone)
    with closing(OpenHome(selected)) as opened:
        receipt = unreadable_records.skip_record(opened.zone(name), topic, offset)
    if as_json:
        print_json({"topic": topic, "offset": offset, "number": receipt.number})
    else:
        where = f"offset {offset} of {topic}"
        print_line(f"zone {name} now skips {where} (stored as record #{receipt.number})")


@click.command(epilog="Example: recollect promote --to kafka://localhost:9092")
@common_options
@click.option(
    "--to",
    "url",
    metavar="URL",
    required=True,
    help="Target: kafka://host:port[,host:port][/prefix]; must not contain a ledger yet.",
)
def promote(home: str | None, zone: str | None, as_json: bool, url: str) -> None:
    """Move the home's ledger, with all zones, to Kafka.

    Offsets are preserved, so nothing is rebuilt. If interrupted, rerun the command to resume.
    Afterwards set RECOLLECT_LEDGER to the URL.
    """
    from recollect.streams.system.extras import needed

    with needed("kafka"):
        from recollect.operations.upkeep.promoting import promote as move

    selected, _ = home_and_zone(home, zone)
    started = time.monotonic()
    moved = move(selected, url, partial(progress, "moving"))
    seconds = round(time.monotonic() - started, 3)
    if as_json:
        import msgspec

        print_json({**msgspec.structs.asdict(moved), "seconds": seconds})
    else:
        print_line(
            f"moved {pluralise(moved.events, 'event')}, {pluralise(moved.changes, 'change')}, "
            f"{pluralise(moved.recordings, 'recording')} and {pluralise(moved.keys, 'key')} "
            f"in {seconds} s"
        )
        print_line(f"now set RECOLLECT_LEDGER={moved.to}")


COMMANDS = (status, doctor, verify, rebuild, rollback, reclaim, deadletters, skip_record, promote)
