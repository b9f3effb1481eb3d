"""Backfill: a home's model reads a span of the past, by platform, in episodes, in order of time.

Progress is derived from the ledger: a message that a model has read has a recorded answer. So a
backfill may be killed at any moment, and the next one continues where it ended. The zone's
directory only keeps the span that was asked for, and whether it is paused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec

from recollect.home.name_suggestions import unknown_platform
from recollect.home.open_zone import OpenZone
from recollect.operations.writing.model_backlog import ModelBacklog
from recollect.operations.writing.prompt_proposals import accept_pending
from recollect.operations.writing.writing import LOCK_FILE, WriterRun, open_client
from recollect.projections.events import event_queries as events
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import replace_file
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.changes import ProcessedEvent
from recollect.schemas.errors import Busy, InvalidInput
from recollect.schemas.times import format_time, parse_query_time
from recollect.schemas.wire import BackfillReport, PlatformBackfill, Time
from recollect.streams.agents.writer.message_analysis import user_text
from recollect.streams.deciding.decider import LedgerConversation
from recollect.streams.models.chat import estimated_tokens
from recollect.streams.models.model_client import ModelClient
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.system.locks import exclusive, is_locked
from recollect.streams.writing.backfill_episodes import (
    BackfillEpisode,
    SizedMessage,
    episodes_by_platform,
)
from recollect.streams.writing.model_loop import WriteTask, write_task_for

_LOCK, _PAUSE, _STATE = "backfill.lock", "backfill.paused", "backfill.json"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DAY_MS = 86_400_000
#: Larger than every event number.
_AFTER_ALL = 2**62

Plan = Mapping[str, Sequence[BackfillEpisode]]


class _Span(NamedTuple):
    """A platform (None: all) and a time span, both ends included, in unix ms (None: no limit)."""

    platform: str | None
    first: int | None
    last: int | None


def backfill(
    zone: OpenZone,
    *,
    platform: str | None = None,
    first: Time | None = None,
    last: Time | None = None,
    resume: bool = False,
    dry_run: bool = False,
    progress: OnProgress | None = None,
) -> BackfillReport:
    """Let the home's model read the messages of a span that it has not read, episode by episode.

    In each round, the next episode of each platform is read, and the answers are committed together
    before the next round begins. `resume`: continue the last backfill, paused or not, with its
    platform and span unless others are given. Without a model, only pending events are decided,
    since the rules read each message when it was ingested.

    Raises:
        InvalidInput: the platform is unknown, a time is invalid, no model account is configured, or
            the backfill is paused.
        Busy: a backfill of the zone is running.
    """
    home = zone.open_home.home
    zone.must_exist()
    has_model = home.writer == "model"
    with ExitStack() as stack:
        if not dry_run:
            stack.enter_context(_running(zone))
            if resume:
                _pause_file(zone).unlink(missing_ok=True)
            elif _pause_file(zone).exists():
                raise InvalidInput(
                    f"the backfill of zone {zone.name} is paused; give `resume` to continue it"
                )
        span = _span(zone, platform, first, last, resume=resume)
        client = None
        if has_model:
            client = stack.enter_context(closing(open_client(home.configuration, home.directory)))
            if not dry_run:
                stack.enter_context(exclusive(home.directory / LOCK_FILE))
        zone.decide()
        _check_platform(zone, span.platform)
        plan = _plan(zone, span, skip_answered=has_model)
        report = _report(span, plan, client)
        if client is None:
            return _without_model(report, dry_run=dry_run)
        run = WriterRun(
            zone, client, ModelBacklog(zone.node.ledger, zone.name), again=False, skipped={}
        )
        if dry_run:
            written = run.estimate(_all_tasks(zone, plan, client.settings.context))
            return msgspec.structs.replace(report, state="estimate", written=written)
        return _Backfill(zone, client, run, plan, report).run(progress)


def pause(zone: OpenZone) -> BackfillReport:
    """Pause the zone's backfill, until it is resumed; a running one stops soon."""
    zone.must_exist()
    zone.node.must_be_writable()
    _pause_file(zone).touch()
    return status(zone)


def status(zone: OpenZone) -> BackfillReport:
    """Return the progress of the zone's last backfill."""
    zone.must_exist()
    saved = _saved(zone)
    if is_locked(_directory(zone) / _LOCK):
        return msgspec.structs.replace(saved, state="running")
    if _pause_file(zone).exists():
        return msgspec.structs.replace(saved, state="paused")
    if saved.state in ("running", "paused"):
        # The process was killed, or the mark of the pause was removed.
        return msgspec.structs.replace(saved, state="stopped")
    return saved


class _Backfill:
    """A running backfill."""

    def __init__(
        self,
        zone: OpenZone,
        client: ModelClient,
        run: WriterRun,
        plan: Plan,
        report: BackfillReport,
    ) -> None:
        self._zone = zone
        self._client = client
        self._run = run
        self._plan = plan
        self._report = report
        self._started = time.monotonic()

    def run(self, progress: OnProgress | None) -> BackfillReport:
        """Read the episodes until the end, a pause, or a reason to stop; return the report."""
        self._save()
        written = self._run.write(
            self._rounds(),
            self._report.messages,
            progress and self._closing_client(progress),
            lambda: not _pause_file(self._zone).exists(),
            whole_batches=True,
        )
        if self._client.settings.accept_proposals:
            accept_pending(self._zone)
        left = self._report.episodes_done < self._report.episodes
        self._report = msgspec.structs.replace(
            self._report,
            state="stopped" if written.stopped else "paused" if left else "done",
            written=written,
        )
        if self._report.state == "done":
            # A pause that came too late does not hold up the next backfill.
            _pause_file(self._zone).unlink(missing_ok=True)
        self._save()
        return self._report

    def _rounds(self) -> Iterator[list[WriteTask]]:
        """Yield the messages of the next episodes, one of each platform, in turn.

        When the next ones are taken, the previous ones are committed.
        """
        for episodes in _rounds(self._plan):
            with self._zone.files() as files:
                tasks = list(_tasks(files, episodes, self._client.settings.context))
            yield tasks
            self._advance(episodes)

    def _advance(self, episodes: Sequence[BackfillEpisode]) -> None:
        report, seconds = self._report, time.monotonic() - self._started
        done = report.messages_done + sum(len(episode.messages) for episode in episodes)
        rate = done / seconds if seconds else None
        self._report = msgspec.structs.replace(
            report,
            episodes_done=report.episodes_done + len(episodes),
            messages_done=done,
            seconds=round(seconds, 3),
            rate=rate and round(rate, 3),
            seconds_left=rate and round((report.messages - done) / rate, 1),
        )
        self._save()

    def _save(self) -> None:
        replace_file(_directory(self._zone) / _STATE, msgspec.json.encode(self._report) + b"\n")

    def _closing_client(self, progress: OnProgress) -> Callable[[int], None]:
        """Return `progress`; if it raises, calls of the model are interrupted."""

        def advance(count: int) -> None:
            try:
                progress(count)
            except BaseException:
                self._client.close()
                raise

        return advance


def _span(
    zone: OpenZone, platform: str | None, first: Time | None, last: Time | None, *, resume: bool
) -> _Span:
    if resume and platform is first is last is None:
        saved = _saved(zone)
        platform, first, last = saved.platform, saved.first, saved.last
    return _Span(
        platform,
        None if first is None else parse_query_time(first, "first"),
        None if last is None else _end_of(last),
    )


def _end_of(last: Time) -> int:
    """Return the last millisecond of a span; a date alone includes that day (UTC)."""
    whole_day = isinstance(last, str) and _DAY.fullmatch(last.strip()) is not None
    return parse_query_time(last, "last") + (_DAY_MS - 1 if whole_day else 0)


def _check_platform(zone: OpenZone, platform: str | None) -> None:
    if platform is None:
        return
    with zone.files() as files:
        known = events.platforms(files.events.connection)
    if platform not in known:
        raise InvalidInput(unknown_platform(platform, known))


def _plan(zone: OpenZone, span: _Span, *, skip_answered: bool) -> Plan:
    """Return the episodes of each platform, of messages that a model can read.

    `skip_answered`: leave out those that a model has read.
    """
    with zone.files() as files:
        answered = (
            memory.events_with_model_answers(files.memory.connection) if skip_answered else set()
        )
        thread = LedgerConversation(files.events.connection)
        return episodes_by_platform(
            (
                event.platform,
                SizedMessage(
                    event.occurred_at,
                    event.number,
                    estimated_tokens(len(user_text(event).encode("utf-8", "replace"))),
                ),
            )
            for event in events.messages_between(files.events.connection, *span)
            if event.number not in answered
            and files.memory.row(ProcessedEvent, (event.id,)) is not None
            and write_task_for(event, thread, _AFTER_ALL, 0) is not None
        )


def _rounds(plan: Plan) -> Iterator[list[BackfillEpisode]]:
    """Yield the first episode of each platform, then the second, and so on."""
    for episodes in zip_longest(*plan.values()):
        yield [episode for episode in episodes if episode is not None]


def _tasks(
    files: ZoneFiles, episodes: Iterable[BackfillEpisode], context: int
) -> Iterator[WriteTask]:
    """Yield a task for each message of some episodes, in turn; skip those erased meanwhile."""
    thread = LedgerConversation(files.events.connection)
    for messages in zip_longest(*(episode.messages for episode in episodes)):
        for message in messages:
            if message is None:
                continue
            event = events.event_by_number(files.events.connection, message.number)
            task = event and write_task_for(event, thread, _AFTER_ALL, context)
            if task:
                yield task


def _all_tasks(zone: OpenZone, plan: Plan, context: int) -> Iterator[WriteTask]:
    for episodes in _rounds(plan):
        with zone.files() as files:
            yield from _tasks(files, episodes, context)


def _report(span: _Span, plan: Plan, client: ModelClient | None) -> BackfillReport:
    platforms = [
        PlatformBackfill(
            platform,
            len(episodes),
            sum(len(episode.messages) for episode in episodes),
            sum(episode.tokens for episode in episodes),
            format_time(episodes[0].messages[0].occurred_at),
            format_time(episodes[-1].messages[-1].occurred_at),
        )
        for platform, episodes in plan.items()
    ]
    return BackfillReport(
        state="running",
        model=None if client is None else client.model,
        platform=span.platform,
        first=None if span.first is None else format_time(span.first),
        last=None if span.last is None else format_time(span.last),
        platforms=platforms,
        episodes=sum(platform.episodes for platform in platforms),
        messages=sum(platform.messages for platform in platforms),
    )


def _without_model(report: BackfillReport, *, dry_run: bool) -> BackfillReport:
    """Return the report for a home whose rules have read everything already."""
    return msgspec.structs.replace(
        report,
        state="estimate" if dry_run else "done",
        episodes_done=report.episodes,
        messages_done=report.messages,
    )


@contextmanager
def _running(zone: OpenZone) -> Iterator[None]:
    """Hold the lock of the zone's backfill.

    Raises:
        Busy: another backfill holds it.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive(_directory(zone) / _LOCK, wait=False))
        except Busy:
            raise Busy(
                f"a backfill of zone {zone.name} is running; backfill_status shows its progress, "
                "and pause_backfill pauses it"
            ) from None
        yield


def _saved(zone: OpenZone) -> BackfillReport:
    try:
        saved = (_directory(zone) / _STATE).read_bytes()
        return msgspec.json.decode(saved, type=BackfillReport)
    except (OSError, msgspec.DecodeError):
        # Without the file only the span is lost: what was read is known from the ledger.
        return BackfillReport(state="none")


def _pause_file(zone: OpenZone) -> Path:
    return _directory(zone) / _PAUSE


def _directory(zone: OpenZone) -> Path:
    return zone.node.zone(zone.name).path
