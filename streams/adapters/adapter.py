"""The adapter interface: recognise exports of one program, and read them as inbound events.

An adapter yields events and, for malformed records, errors. Ids, validation and counting are shared
by all adapters (`drafts`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import tzinfo
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Draft
from recollect.schemas.inbound import MAX_RECORD_BYTES, InboundEvent, Revisable, draft_of
from recollect.schemas.times import parse_time
from recollect.schemas.wire import Rejection
from recollect.streams.adapters.import_options import Options, localised
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.long_messages import split_message

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: The start of an array of objects, or of any array whose bracket is on a line of its own.
OPENS_ARRAY = re.compile(rb"\[\s*(?:\{|\Z)")

#: An event of an export, a record of a zone of recollect as it was, or an error.
ParseResult = InboundEvent | Draft | InvalidInput
RecordT = TypeVar("RecordT")
ResultT = TypeVar("ResultT")


class RefusedExport(InvalidInput):
    """An export that is not read: it is ambiguous, or needs an option that was not given."""


class ExportFile(NamedTuple):
    """A file of an export: its path in reports, and its events.

    `results` yields (line or record number from 1, event or error) in the file's order, and raises
    DamagedInput where it cannot continue.
    """

    path: str
    results: Iterator[tuple[int, ParseResult]]


class ExportSource(Protocol):
    """An export that is open for reading.

    `is_chronological`: in order of time, so duplicates are close to each other. `revisable`:
    how the texts of its events may change in their source.
    `splits_long_messages`: split a message that is too long for one event into several; otherwise
    reject it.
    """

    is_chronological: bool = False
    revisable: Revisable | None = None
    splits_long_messages: bool = True

    def parts(self) -> Iterator[ExportFile]:
        """Yield the files of the export in reading order, each once."""
        ...


class Adapter(NamedTuple):
    """An import format: single files, folders of several files, or both.

    `recognises` gets a file's beginning (up to 64 kB; of standard input a line or more) and its
    name. `recognises_folder` gets a folder before its files are probed one by one. `read` and
    `read_folder` may raise InvalidInput before anything is read, if an option is missing.
    """

    name: str
    recognises: Callable[[bytes, str], bool]
    read: Callable[[InputEntry, Options], ExportSource]
    recognises_folder: Callable[[Folder], bool] | None = None
    read_folder: Callable[[Folder, Options], ExportSource] | None = None
    #: Whether a file can be read as it grows: line by line, in one pass.
    supports_follow: bool = False


class SingleFileSource(ExportSource):
    """An export of a single file; the function `results` reads it."""

    def __init__(
        self,
        entry: InputEntry,
        results: Callable[[InputEntry], Iterator[tuple[int, ParseResult]]],
        *,
        revisable: Revisable | None = None,
    ) -> None:
        self._entry = entry
        self._parse_entry = results
        self.revisable = revisable

    def parts(self) -> Iterator[ExportFile]:
        yield ExportFile(self._entry.path, self._parse_entry(self._entry))


class LocalisedSource(ExportSource):
    """A source with times converted to local time, so that "today" means the local day.

    Only unix times and times ending in Z are converted. A time with any other offset is left as it
    is.
    """

    def __init__(self, source: ExportSource, timezone: tzinfo) -> None:
        self._source = source
        self._timezone = timezone
        self.is_chronological = source.is_chronological
        self.revisable = source.revisable
        self.splits_long_messages = source.splits_long_messages

    def parts(self) -> Iterator[ExportFile]:
        for part in self._source.parts():
            yield part._replace(results=self._localised(part.results))

    def _localised(
        self, results: Iterator[tuple[int, ParseResult]]
    ) -> Iterator[tuple[int, ParseResult]]:
        for number, event in results:
            if isinstance(event, InboundEvent) and _is_utc_or_unix(event.occurred_at):
                try:
                    at = localised(parse_time(event.occurred_at, "occurred_at")[0], self._timezone)
                except InvalidInput as error:
                    yield number, error
                    continue
                event = msgspec.structs.replace(event, occurred_at=at)
            yield number, event


class HistoricalSource(ExportSource):
    """A source whose events count as known from their own time, unless they say otherwise."""

    def __init__(self, source: ExportSource) -> None:
        self._source = source
        self.is_chronological = source.is_chronological
        self.revisable = source.revisable
        self.splits_long_messages = source.splits_long_messages

    def parts(self) -> Iterator[ExportFile]:
        for part in self._source.parts():
            yield part._replace(
                results=((number, _known_when_said(event)) for number, event in part.results)
            )


def _known_when_said(event: ParseResult) -> ParseResult:
    if isinstance(event, InvalidInput) or event.ingested_at is not None:
        return event
    return msgspec.structs.replace(event, ingested_at=event.occurred_at)


def _is_utc_or_unix(at: str | int) -> bool:
    return isinstance(at, int) or at.strip().isdecimal() or at.strip().endswith(("Z", "z"))


class SourceLocation(NamedTuple):
    """The location of a record: its file, and its line or number there, from 1."""

    path: str
    line: int


# How many recent records of a chronological export are tracked for duplicates.
_MAX_TRACKED = 100_000

#: Exceptions raised by malformed records.
_MALFORMED = (
    *(KeyError, IndexError, TypeError, AttributeError, ValueError),
    *(OverflowError, RecursionError),
)
# The type of a value in the texts of such exceptions, and its name in JSON.
_PYTHON_TYPE = re.compile(r"'(\w+)' object|\A(list|string) indices")
_JSON_TYPES = {
    "str": "a text",
    "string": "a text",
    "dict": "an object",
    "list": "an array",
    "NoneType": "null",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
}


def convert(
    records: Iterable[tuple[int, RecordT]],
    events: Callable[[RecordT], Iterable[InboundEvent]],
) -> Iterator[tuple[int, ParseResult]]:
    """Yield the events of numbered records; a malformed record becomes an error."""
    for number, record in records:
        results = read_all(events, record)
        if isinstance(results, InvalidInput):
            yield number, results
            continue
        for event in results:
            yield number, _checked(event)


def _checked(event: InboundEvent) -> ParseResult:
    """Return an event, or an error if one of its values has the wrong type."""
    try:
        msgspec.convert(msgspec.to_builtins(event), InboundEvent)
    except msgspec.ValidationError as error:
        return InvalidInput(f"the record is not as expected: {error}")
    except RecursionError:
        return InvalidInput("the record is nested too deeply")
    return event


def read_all(
    read: Callable[[RecordT], Iterable[ResultT]], record: RecordT
) -> list[ResultT] | InvalidInput:
    """Return the events of a record, or the error if it is malformed."""
    try:
        return list(read(record))
    except InvalidInput as error:
        return error
    except msgspec.ValidationError as error:
        return InvalidInput(f"the record is not as expected: {error}")
    except _MALFORMED as error:
        return InvalidInput(f"the record is not as expected: {_problem(error)}")


def _problem(error: Exception) -> str:
    """Return what is wrong with a malformed record."""
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, AttributeError | TypeError | IndexError | RecursionError):
        found = _PYTHON_TYPE.search(str(error))
        what = _JSON_TYPES.get(found[1] or found[2]) if found else None
        return f"one of its values has an unexpected type{f': {what}' if what else ''}"
    return str(error)


def drafts(
    source: ExportSource, duplicate_counts: Counter[str] | None = None
) -> Iterator[tuple[SourceLocation, Draft | Rejection]]:
    """Yield the drafts of a source, and its rejections, in order.

    Equal records without an id are numbered within the import, so that repetitions become separate
    events, each with the same id in every later import. `duplicate_counts`: the counts from the
    import's earlier sources. A damaged file is read up to the damage; other files are still read.
    """
    duplicate_counts = Counter() if duplicate_counts is None else duplicate_counts
    for location, event in records(source):
        try:
            if isinstance(event, InvalidInput):
                raise event
            if isinstance(event, Draft):
                yield location, event
                continue
            yield location, _draft(event, duplicate_counts)
        except InvalidInput as error:
            yield location, Rejection(*location, str(error))
        if source.is_chronological and len(duplicate_counts) > _MAX_TRACKED:
            for counted in list(islice(duplicate_counts, _MAX_TRACKED // 2)):
                del duplicate_counts[counted]


def records(source: ExportSource) -> Iterator[tuple[SourceLocation, ParseResult]]:
    """Yield the events and errors of a source, in order.

    Reading a damaged file stops at the damage; the other files are still read.
    """
    for part in _parts(source):
        number = 1
        try:
            for number, event in part.results:
                location = SourceLocation(part.path, number)
                if isinstance(event, InboundEvent) and source.revisable is not None:
                    event = msgspec.structs.replace(event, revisable=source.revisable)
                if isinstance(event, InboundEvent) and source.splits_long_messages:
                    for piece in split_message(event):
                        yield location, piece
                else:
                    yield location, event
        except DamagedInput as error:
            yield SourceLocation(part.path, number), InvalidInput(str(error))


def _parts(source: ExportSource) -> Iterator[ExportFile]:
    """Yield the files of an export; if the export itself is damaged, a file with the error."""
    try:
        yield from source.parts()
    except DamagedInput as error:
        yield ExportFile("", iter([(1, error)]))


def _draft(event: InboundEvent, duplicate_counts: Counter[str]) -> Draft:
    draft = draft_of(event)
    extra = (event.metadata, event.attachments)
    if any(extra) and len(msgspec.msgpack.encode(extra)) > MAX_RECORD_BYTES:
        raise InvalidInput(f"metadata and attachments have more than {MAX_RECORD_BYTES} bytes")
    if event.id is None:
        first = draft.payload.source_id
        ordinal = duplicate_counts[first]
        duplicate_counts[first] += 1
        if ordinal:
            draft = draft_of(event, ordinal)
    return draft
