"""Commands that keep memory in order, from status and verify to rebuild and promote."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, get_args

import click

from recollect.cli.options import chosen, common, configured, open_zone
from recollect.cli.output import bad, emit, good, note, progress, say, size
from recollect.schemas.text_sanitising import pluralise
from recollect.schemas.wire import GenerationDiff, RebuildLevel


@click.command(epilog="Example: recollect rebuild --level project")
@common
@click.option(
    "--level",
    type=click.Choice(get_args(RebuildLevel)),
    default="project",
    show_default=True,
    help="How much is thrown away; each more than the one before.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--diff",
    is_flag=True,
    help="Make it beside what is in use, and say how they differ; without it, it is put into use.",
)
def rebuild(
    home: str | None,
    zone: str | None,
    as_json: bool,
    level: RebuildLevel,
    dry_run: bool,
    diff: bool,
) -> None:
    """Make a derived layer again from the ledger.

    index: search indexes from the rows. project: every file from the change records. derive:
    decide again, with recorded vectors. fresh: decide again, and embed again.
    """
    with open_zone(home, zone) as memory:
        done = memory.rebuild(level, dry_run=True)
        if not dry_run:
            with progress(f"rebuilding ({level})", done.records) as advance:
                done = memory.rebuild(level, compare=diff, progress=advance)
    if as_json:
        emit(done)
    elif dry_run:
        say(f"rebuild --level {level} would read {pluralise(done.records, 'ledger record')}")
    elif done.difference is not None:
        _say_difference(done.difference)
        say(
            f"generation {done.generation} is made and not in use; "
            f"recollect rebuild --level {level} puts it into use"
        )
    else:
        anew = f"; {pluralise(done.encoded, 'text')} embedded anew" if done.encoded else ""
        say(
            f"rebuilt {pluralise(done.records, 'record')} at level {done.level} "
            f"in {done.seconds} s; generation {done.generation} is in use{anew}"
        )


def _say_difference(found: GenerationDiff) -> None:
    say(
        f"facts     {found.facts_same} the same, {found.facts_gained} gained, "
        f"{found.facts_lost} lost, {found.facts_changed} changed"
    )
    say(f"entities  {found.entities_split} split, {found.entities_joined} joined")
    for fact in found.gained:
        say(f"  + {fact.text}")
    for fact in found.lost:
        say(f"  - {fact.text}")
    for changed in found.changed:
        say(f"  ~ {changed.after}  ({', '.join(changed.changed_fields)}; before: {changed.before})")
    for entity in found.split:
        say(f"  {entity.name} is split: {', '.join(entity.names)}")
    for entity in found.joined:
        say(f"  {', '.join(entity.names)} are joined: {entity.name}")


@click.command(epilog="Example: recollect rollback")
@common
def rollback(home: str | None, zone: str | None, as_json: bool) -> None:
    """Go back to the generation before."""
    with open_zone(home, zone) as memory:
        found = memory.rollback()
    if as_json:
        emit(found)
    else:
        say(f"generation {found.generation} is in use again")


@click.command(epilog="Example: recollect verify")
@common
@click.option("--expect", metavar="HEAD", help="A head of an earlier moment: is it still there?")
def verify(home: str | None, zone: str | None, as_json: bool, expect: str | None) -> int:
    """Replay the ledger, and compare what comes out.

    Every read model must be as the replay gives it. Nothing is changed.
    """
    with open_zone(home, zone) as memory, progress("verifying") as advance:
        found = memory.verify(expect=expect, progress=advance)
    if as_json:
        emit(found)
    else:
        say("ledger      ", good("whole") if found.ledger_ok else bad("DAMAGED"))
        say(f"head        {found.head}")
        if found.lag:
            say(f"lag         {pluralise(found.lag, 'record')} not decided yet")
        for model in found.models:
            differs = bad(f"DIFFERS (replayed {model.replayed[:16]})")
            verdict = good("same") if model.ok else differs
            say(f"{model.model:11} {model.hash[:16]}  ", verdict)
        for problem in found.problems:
            say(f"  {problem}", err=True)
    return 0 if found.ok else 1


@click.command(epilog="Example: recollect reclaim --dry-run")
@common
@click.option("--dry-run", is_flag=True, help="Only say what would be taken.")
def reclaim(home: str | None, zone: str | None, as_json: bool, dry_run: bool) -> None:
    """Take what nothing needs any more out of the ledger.

    That is change records of former chains, in the embedded ledger. Each rebuild at level derive or
    fresh writes a chain of its own. Those of the generation in use and of the one that is kept for
    rollback stay. What stays is replayed before and after.
    """
    with open_zone(home, zone) as memory:
        found = memory.reclaim(dry_run=dry_run)
    if as_json:
        emit(found)
        return
    records = pluralise(found.records, "change record")
    what = f"{records} of {pluralise(len(found.chains), 'chain')}"
    if dry_run:
        say(f"would take {what}, {size(found.bytes)}")
    else:
        say(f"took {what}; the ledger is {size(found.bytes)} smaller, and replays as before")


@click.command(epilog="Example: recollect status --json")
@common
def status(home: str | None, zone: str | None, as_json: bool) -> None:
    """Show what the zone holds and how far each file is."""
    from recollect.projections.generations import OWN_AGENTS

    with open_zone(home, zone) as memory:
        found = memory.status()
        hints = memory.hints()
    for line in hints:
        note(line)
    if as_json:
        emit(found)
        return
    for name in ("zone", "generation", "encoder", "events", "facts", "entities", "observations"):
        value = getattr(found, name)
        counted = f"{value:,}" if isinstance(value, int) else value
        say(f"{name:13} {'none' if value in (None, '') else counted}")
    if found.agents != OWN_AGENTS:
        say(f"{'agents':13} {', '.join(found.agents)}")
    if found.model_usage:
        by = found.model_usage
        say(
            f"{'model':13} read {pluralise(by.events, 'event')}: "
            f"{pluralise(by.accepted, 'fact')} kept, {by.duplicates:,} repeated, "
            f"{by.rejected:,} refused; {pluralise(by.calls, 'call')}, "
            f"{by.tokens_in + by.tokens_out:,} tokens, cost {by.cost:.4f}"
        )
    say(f"{'dead letters':13} {found.dead_letters}")
    waiting = f", the first for {found.lag_seconds:.0f} s" if found.lag_seconds else ""
    say(f"{'lag':13} {pluralise(found.lag, 'record')}{waiting}")
    if found.stalled:
        say(
            bad(f"{'STALLED':13} "),
            f"nothing has moved for {found.seconds_since_progress:.0f} s; see that a worker runs",
        )
    for model in found.models:
        say(f"{model.model:13} at record {model.watermark}")
    say(f"{'head':13} {found.head}")


@click.command(epilog="Example: recollect doctor")
@common
def doctor(home: str | None, zone: str | None, as_json: bool) -> int:
    """Check the installation and the home, and say what to do."""
    from recollect.operations.upkeep.doctor import examine

    checks = examine(configured(home))
    ok = all(check.ok for check in checks)
    if as_json:
        emit({"ok": ok, "checks": checks})
    else:
        for check in checks:
            verdict = good("ok  ") if check.ok else bad("FAIL")
            say(verdict, f"  {check.check}: {check.detail}")
            if not check.ok:
                say(f"      {check.fix}")
    return 0 if ok else 1


class _RecordNumber(click.ParamType):
    """The number of a record, as it is shown: with a # before it, or without."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(str(value).removeprefix("#"))
        except ValueError:
            self.fail(f"{value!r} is no number of a record", param, ctx)


@click.command(epilog="Example: recollect deadletters list")
@common
@click.argument(
    "action",
    metavar="[list|retry|drop]",
    type=click.Choice(["list", "retry", "drop"]),
    default="list",
)
@click.argument("number", type=_RecordNumber(), required=False)
def deadletters(
    home: str | None, zone: str | None, as_json: bool, action: str, number: int | None
) -> int:
    """List parked records; retry or drop one.

    A NUMBER may have its # before it. What was dropped is still in the ledger; to erase it, use
    recollect forget '#17'.
    """
    if action != "list" and number is None:
        raise click.UsageError(f"{action} needs the NUMBER of a parked record")
    with open_zone(home, zone) as memory:
        letters = memory.dead_letters()
        if action == "list":
            if as_json:
                import msgspec

                emit({"dead_letters": [msgspec.structs.asdict(letter) for letter in letters]})
            elif not letters:
                say("nothing is parked")
            else:
                for letter in letters:
                    number_ = f"#{letter.number}"
                    say(f"{number_:>8}  {letter.kind:14}  {letter.reason}")
            return 0
        assert number is not None
        known = number in {letter.number for letter in letters}
        tried = memory.retry if action == "retry" else memory.drop
        done = known and not tried(number).parked
    answer: dict[str, Any] = {"number": number, "action": action, "done": done}
    if as_json:
        emit(answer)
    elif done:
        say(f"record {number}: {action} done")
    else:
        say(f"record {number} is {'still' if known else 'not'} parked")
    return 0 if done else 1


@click.command(epilog="Example: recollect promote --to kafka://localhost:9092")
@common
@click.option(
    "--to",
    "url",
    metavar="URL",
    required=True,
    help="kafka://host:port[,host:port][/prefix], where no other ledger is.",
)
def promote(home: str | None, zone: str | None, as_json: bool, url: str) -> None:
    """Move the home's ledger, with all zones, to Kafka.

    Every offset stays as it is, so nothing is rebuilt. Interrupted, it goes on where it was when
    it is called again. Set RECOLLECT_LEDGER to the URL afterwards.
    """
    from recollect.streams.system.extras import needed

    with needed("kafka"):
        from recollect.operations.upkeep.promoting import promote as move

    made, _ = chosen(home, zone)
    started = time.monotonic()
    moved = move(made, url, partial(progress, "moving"))
    seconds = round(time.monotonic() - started, 3)
    if as_json:
        import msgspec

        emit({**msgspec.structs.asdict(moved), "seconds": seconds})
    else:
        say(
            f"moved {pluralise(moved.events, 'event')}, {pluralise(moved.changes, 'change')}, "
            f"{pluralise(moved.recordings, 'recording')} and {pluralise(moved.keys, 'key')} "
            f"in {seconds} s"
        )
        say(f"from now on set RECOLLECT_LEDGER={moved.to}")


COMMANDS = (status, doctor, verify, rebuild, rollback, reclaim, deadletters, promote)
