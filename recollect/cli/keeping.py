"""Commands that keep memory in order: rebuild, rollback, verify, status, doctor, deadletters."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from recollect.cli.common import chosen, common, emit, open_zone, progress, say
from recollect.doctor import examine
from recollect.home import home_directory
from recollect.worker_processes import follow, work
from schemas.errors import RecollectError
from schemas.wire import Level
from streams.ledger import LedgerUnavailable

_LEVELS = ("index", "project", "derive", "fresh")


@click.command(epilog="Example: recollect rebuild --level project")
@common
@click.option("--level", type=click.Choice(_LEVELS), default="project", show_default=True)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def rebuild(home: str | None, zone: str | None, as_json: bool, level: Level, dry_run: bool) -> None:
    """Throw a derived layer away and make it again from the ledger.

    index: search indexes from the rows. project: every file from the change records. derive:
    decide again, with recorded vectors. fresh: decide again, and embed again.
    """
    with open_zone(home, zone) as memory:
        done = memory.rebuild(level, dry_run=True)
        if not dry_run:
            with progress(f"rebuilding ({level})", done.records) as advance:
                done = memory.rebuild(level, progress=advance)
    if as_json:
        emit(done)
    elif dry_run:
        say(f"rebuild --level {level} would read {done.records} ledger records")
    else:
        say(
            f"rebuilt {done.records} records at level {done.level} in {done.seconds} s; "
            f"generation {done.generation} is in use"
            + (f", {done.encoded} texts were embedded anew" if done.encoded else "")
        )


@click.command(epilog="Example: recollect rollback")
@common
def rollback(home: str | None, zone: str | None, as_json: bool) -> None:
    """Go back to the generation before, brought up to date first."""
    with open_zone(home, zone) as memory:
        found = memory.rollback()
    if as_json:
        emit(found)
    else:
        say(f"generation {found.generation} is in use again")


@click.command(epilog="Example: recollect verify --expect 120:9f86d081884c7d659a2feaa0c55ad015")
@common
@click.option("--expect", metavar="HEAD", help="A head of an earlier moment: is it still there?")
def verify(home: str | None, zone: str | None, as_json: bool, expect: str | None) -> int:
    """Replay the ledger and compare every read model with what comes out; change nothing."""
    with open_zone(home, zone) as memory, progress("verifying") as advance:
        found = memory.verify(expect=expect, progress=advance)
    if as_json:
        emit(found)
    else:
        say(f"ledger      {'whole' if found.ledger_ok else 'DAMAGED'}")
        say(f"head        {found.head}")
        if found.lag:
            say(f"lag         {found.lag} records are not concluded yet")
        for model in found.models:
            verdict = "same" if model.ok else f"DIFFERS (replayed {model.replayed[:16]})"
            say(f"{model.model:11} {model.hash[:16]}  {verdict}")
        for problem in found.problems:
            say(f"  {problem}", err=True)
    return 0 if found.ok else 1


@click.command(epilog="Example: recollect reclaim --dry-run")
@common
@click.option("--dry-run", is_flag=True, help="Only say what would be taken.")
def reclaim(home: str | None, zone: str | None, as_json: bool, dry_run: bool) -> None:
    """Take change records of chains that nothing needs any more out of the embedded ledger.

    Each rebuild at level derive or fresh writes a chain of its own. Those of the generation in use
    and of the one that is kept for rollback stay. What stays is replayed before and after.
    """
    with open_zone(home, zone) as memory:
        found = memory.reclaim(dry_run=dry_run)
    if as_json:
        emit(found)
        return
    what = f"{found.records} change records of {len(found.chains)} chains"
    if dry_run:
        say(f"would take {what}, {found.bytes} bytes")
    else:
        say(f"took {what}; the ledger is {found.bytes} bytes smaller, and replays as before")


@click.command(epilog="Example: recollect status --json")
@common
def status(home: str | None, zone: str | None, as_json: bool) -> None:
    """Show what the zone holds and how far each file is."""
    with open_zone(home, zone) as memory:
        found = memory.status()
    if as_json:
        emit(found)
        return
    for name in ("zone", "generation", "encoder", "events", "facts", "entities", "observations"):
        value = getattr(found, name)
        say(f"{name:13} {'none' if value in (None, '') else value}")
    say(f"{'dead letters':13} {found.dead_letters}")
    waiting = f", the first for {found.lag_seconds:.0f} s" if found.lag_seconds else ""
    say(f"{'lag':13} {found.lag} records{waiting}")
    if found.stalled:
        say(
            f"{'STALLED':13} nothing has moved for {found.moved_seconds_ago:.0f} s; see that a "
            "worker runs"
        )
    for model in found.models:
        say(f"{model.model:13} at record {model.watermark}")
    say(f"{'head':13} {found.head}")


@click.command(epilog="Example: recollect doctor")
@common
def doctor(home: str | None, zone: str | None, as_json: bool) -> int:
    """Check the installation and the home, and say what to do."""
    outer = click.get_current_context().obj or {}
    checks = examine(home_directory(home or outer.get("home")))
    ok = all(check.ok for check in checks)
    if as_json:
        emit({"ok": ok, "checks": checks})
    else:
        for check in checks:
            say(f"{'ok  ' if check.ok else 'FAIL'}  {check.check}: {check.detail}")
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


@click.command(epilog="Example: recollect deadletters retry 17")
@common
@click.argument("action", type=click.Choice(["list", "retry", "drop"]), default="list")
@click.argument("number", type=_RecordNumber(), required=False)
def deadletters(
    home: str | None, zone: str | None, as_json: bool, action: str, number: int | None
) -> int:
    """List parked records; retry or drop one by its NUMBER, with or without its #.

    What was dropped is still in the ledger; to erase it, use recollect forget '#17'.
    """
    if action != "list" and number is None:
        raise click.UsageError(f"{action} needs the NUMBER of a parked record")
    with open_zone(home, zone) as memory:
        letters = memory.dead_letters()
        if action == "list":
            if as_json:
                emit({"dead_letters": letters})
            elif not letters:
                say("nothing is parked")
            else:
                for letter in letters:
                    number_ = f"#{letter.number}"
                    say(f"{number_:>8}  {letter.kind:14}  {letter.reason}")
            return 0
        assert number is not None
        known = number in {letter.number for letter in letters}
        done = known and (memory.retry(number) if action == "retry" else memory.drop(number))
    answer: dict[str, Any] = {"number": number, "action": action, "done": done}
    if as_json:
        emit(answer)
    elif done:
        say(f"record {number}: {action} done")
    else:
        say(f"record {number} is {'still' if known else 'not'} parked")
    return 0 if done else 1


@click.command(epilog="Example: recollect worker --once")
@common
@click.option("--once", is_flag=True, help="Conclude what is there and stop.")
@click.option("--member", metavar="NAME", help="On Kafka: keep the partitions over a restart.")
def worker(
    home: str | None, zone: str | None, as_json: bool, once: bool, member: str | None
) -> int:
    """Conclude what is published, as it comes, in every zone; stop it with Ctrl-C.

    On Kafka any number of workers share the zones, each with a home of its own.
    """
    made, _ = chosen(home, zone)
    told = _Told(as_json, "concluded", goes_on=not once)
    with suppress(KeyboardInterrupt):
        work(made, told, once=once, member=member)
    return 1 if told.failed else 0


@click.command(epilog="Example: recollect --home ~/replica replica")
@common
def replica(home: str | None, zone: str | None, as_json: bool) -> None:
    """Follow what the workers on Kafka conclude, so that this home answers; stop with Ctrl-C."""
    made, _ = chosen(home, zone)
    follow(made, _Told(as_json, "followed"))


class _Told:
    """Says what a long-running process does."""

    def __init__(self, as_json: bool, verb: str, *, goes_on: bool = True) -> None:
        """`goes_on`: what cannot be done now will be tried again."""
        self._goes_on = goes_on
        self._as_json = as_json
        self._verb = verb
        self._still: set[str] = set()

    @property
    def failed(self) -> bool:
        """Whether anything stands still."""
        return bool(self._still)

    def __call__(self, zone: str, moved: int | Exception) -> None:
        if isinstance(moved, Exception):
            if not (self._goes_on and isinstance(moved, LedgerUnavailable)):
                self._still.add(zone)
            where = f"zone {zone} stands still" if zone else "the ledger"
            kind = "" if isinstance(moved, RecollectError) else f"{type(moved).__name__}: "
            say(f"recollect: {where}: {kind}{moved}", err=True)
            return
        self._still.discard(zone)
        if self._as_json:
            emit({"zone": zone, self._verb: moved})
        else:
            say(f"{zone}: {self._verb} {moved} records")


COMMANDS = (rebuild, rollback, verify, reclaim, status, doctor, deadletters, worker, replica)
