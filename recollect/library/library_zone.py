"""The library's zone: the memory of one tenant, with every operation as a method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from os import PathLike
from typing import Concatenate, ParamSpec, TypeVar

from recollect.home.memory_spans import memory_span
from recollect.home.open_zone import OpenZone
from recollect.operations.answers import recalling
from recollect.operations.erasure import forgetting
from recollect.operations.erasure.forgetting import Chosen
from recollect.operations.ingestion import ingesting
from recollect.operations.ingestion.ingesting import AnyEvent, EventImport, Show, show_nothing
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import ZoneOperations
from recollect.schemas.events import RecallCount
from recollect.schemas.wire import (
    ForgetReport,
    ForgetTargets,
    IngestReport,
    Preview,
    Receipt,
    WriteReport,
)
from recollect.streams.projecting.projector import OnProgress

P = ParamSpec("P")
T = TypeVar("T")


def _guarded(
    method: Callable[Concatenate[Zone, P], T],
) -> Callable[Concatenate[Zone, P], T]:
    """Keep the home open for the time of a call."""

    @wraps(method)
    def call(self: Zone, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._zone.open_home.call_guard():
            return method(self, *args, **kwargs)

    return call


class Zone(ZoneOperations):
    """The memory of one tenant, as `Recollect.zone` returns it.

    Its methods are the operations of the table, and those below, which take files or callbacks.
    Any thread may call any method. Times are ISO 8601 with a zone, unix milliseconds, or
    datetimes with a zone. Errors are `RecollectError`s that name the field or say what to do.

    >>> zone
    Zone('ada')
    """

    def __init__(self, zone: OpenZone) -> None:
        self._zone = zone

    def call(self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out an operation of the table.

        >>> zone.call(Zone.status).events
        2
        """
        with self._zone.open_home.call_guard():
            return operation(self._zone, *args, **kwargs)

    @property
    def name(self) -> str:
        """The zone's name.

        >>> zone.name
        'ada'
        """
        return self._zone.name

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"

    @_guarded
    def ingest(
        self,
        events: AnyEvent | Iterable[AnyEvent],
        *,
        wait: bool = True,
        principal: Mapping[str, str] | None = None,
    ) -> IngestReport:
        """Put events into the ledger and return when they are recallable.

        An event is a dict with at least `platform`, `sender_id`, `occurred_at` and `content`;
        give one, or any number of them. The same event twice is one. What cannot be kept is
        refused by name in the report's `rejections`. `wait` False: return once they are durable;
        they are searchable as raw turns at once, and decided by whoever comes next. `principal`
        says who sends them; each event's metadata will say so, whatever it says itself.

        Raises:
            InvalidInput: what is given holds no events, or none of them can be kept.

        >>> zone.ingest([
        ...     {"platform": "chat", "sender_id": "u1", "sender_name": "Ada", "id": "m1",
        ...      "occurred_at": "2026-05-08T13:56:00Z", "content": "I live in Turin."},
        ...     {"platform": "chat", "sender_id": "u2", "sender_name": "Bob", "id": "m3",
        ...      "occurred_at": "2026-05-08T13:59:00Z", "content": "I bought a boat."},
        ... ]).duplicate
        1
        """
        return ingesting.ingest(self._zone, events, wait=wait, principal=principal)

    def event_import(self, principal: Mapping[str, str] | None = None) -> EventImport:
        """Begin an import whose events come in parts, as over a network.

        `principal` says who sends them; each event's metadata will say so, whatever it says itself.

        >>> begun = zone.event_import({"user": "ada"})
        >>> begun.add([{"platform": "chat", "sender_id": "u2", "sender_name": "Bob", "id": "m3",
        ...             "occurred_at": "2026-05-08T13:59:00Z", "content": "I bought a boat."}])
        >>> begun.report().read
        1
        """
        return EventImport(self._zone, principal)

    @_guarded
    def ingest_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        wait: bool = True,
        show: Show = show_nothing,
    ) -> IngestReport:
        """Put the events of files into the ledger and return when they are recallable.

        A path is a file, a folder, or an archive, as the other program exports it. Importing one
        again adds only what is new. `timezone` (an IANA name) and `date_order` (dmy, mdy or ymd)
        are for formats that do not say them. `show` shows how far it is.

        Raises:
            InvalidInput: a path cannot be read, is in no format that is known, or lacks an option;
                then nothing is.

        >>> zone.ingest_files("chats.jsonl").new
        1
        """
        named = [paths] if isinstance(paths, str | PathLike) else paths
        return ingesting.ingest_files(
            self._zone,
            named,
            format=format,
            timezone=timezone,
            date_order=date_order,
            wait=wait,
            show=show,
        )

    def preview_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        show: Show = show_nothing,
    ) -> Preview:
        """Return what `ingest_files` would read: people, span of time, counts, ten lines each.

        Nothing is published.

        Raises:
            InvalidInput: as `ingest_files`.

        >>> (export,) = zone.preview_files("chats.jsonl").exports
        >>> export.format, export.kinds, export.people[0].name
        ('jsonl', {'message': 1}, 'Ada')
        """
        from recollect.operations.ingestion import previewing

        named = [paths] if isinstance(paths, str | PathLike) else paths
        return previewing.preview(
            named, format=format, timezone=timezone, date_order=date_order, show=show
        )

    @_guarded
    def follow_file(
        self,
        path: str | PathLike[str],
        *,
        format: str = "auto",
        timezone: str | None = None,
        wait: bool = True,
        each: Callable[[IngestReport], bool],
    ) -> IngestReport:
        """Put the events of a growing file of lines into the ledger as they are written.

        Whenever all that is there was read, `each` is told what became of it so far, and ends it
        by returning True. A file that is cut, or replaced by another of its name, is read from its
        beginning; what is known already is not new.

        Raises:
            InvalidInput: as `ingest_files`.

        >>> zone.follow_file("chats.jsonl", each=lambda report: True).read
        1
        """
        from recollect.operations.ingestion import file_tailing

        return file_tailing.follow(
            self._zone, path, format=format, timezone=timezone, wait=wait, each=each
        )

    @_guarded
    def decide(self, progress: OnProgress | None = None) -> int:
        """Decide all waiting events; return how many there were.

        >>> zone.decide()
        0
        """
        return self._zone.decide(progress)

    @_guarded
    def wait_for(self, token: str, timeout: float = 30.0) -> None:
        """Wait until everything up to a token is decided, and can be recalled here.

        Raises:
            InvalidInput: it is no token of this zone.
            DecisionTimeout: it was not within `timeout` seconds.

        >>> zone.wait_for(zone.token())
        """
        ingesting.wait_for(self._zone, token, timeout)

    @_guarded
    def write(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: OnProgress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> WriteReport:
        """Let the home's language model write about the events that it has not read (A19).

        At most `limit` of them; with `again` also those that another model wrote about, or this
        one in another role. `dry_run`: only what that would take, in calls, tokens and cost.
        Between two events it ends once `while_` is False. What a model says is checked, and adds
        to what the rules say; nothing is changed or deleted by it.

        Raises:
            InvalidInput: the home's writer are the rules alone, or no account of a model is set.
            Busy: another process writes for this home.

        >>> zone.write(dry_run=True).model  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        recollect.schemas.errors.InvalidInput: the writer of ... are the rules alone; ...
        """
        from recollect.operations.writing import writing

        return writing.write(
            self._zone,
            limit=limit,
            again=again,
            dry_run=dry_run,
            progress=progress,
            while_=while_,
        )

    @_guarded
    def record_accesses(self, accesses: Iterable[RecallCount]) -> Receipt:
        """Count recalls of memories (B1); a service calls this from time to time, not per recall.

        >>> from recollect.schemas.events import RecallCount
        >>> fact = zone.recall("Where does Ada live?").results[0]
        >>> zone.record_accesses([RecallCount(fact.type, fact.id, 1)]).status
        'new'
        """
        return recalling.record_accesses(self._zone, accesses)

    @_guarded
    def choose(self, targets: ForgetTargets) -> Chosen:
        """Return what `forget` would erase, for `erase`: to be confirmed in between.

        Raises:
            InvalidInput, ErasureFailed: as `forget`.

        >>> from recollect.schemas.wire import ForgetTargets
        >>> zone.choose(ForgetTargets(ids=("m1",))).ids
        ['m1']
        """
        return forgetting.choose(self._zone, targets)

    @_guarded
    def erase(self, chosen: Chosen, *, dry_run: bool = False) -> ForgetReport:
        """Erase what `choose` chose.

        Raises:
            ErasureFailed: as `forget`.

        >>> from recollect.schemas.wire import ForgetTargets
        >>> zone.erase(zone.choose(ForgetTargets(ids=("m1",))), dry_run=True).events
        1
        """
        if dry_run:
            return forgetting.would_erase(self._zone, chosen)
        with memory_span("delete_memory", self.name) as span:
            report = forgetting.erase(self._zone, chosen)
            span.set_records(report.events)
        return report

    @_guarded
    def exists(self) -> bool:
        """Return whether the zone has events.

        >>> zone.exists()
        True
        """
        return self._zone.exists()

    @_guarded
    def head(self) -> str:
        """Return a short text that names the ledger's end, for `verify` to expect later.

        >>> zone.verify(expect=zone.head()).ledger_ok
        True
        """
        return self._zone.head()
