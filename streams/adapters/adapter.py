"""What an adapter is: it recognises exports of one program, and reads them as inbound events.

It yields what it understood and refuses the rest by name. Ids, checks and counts are made of that
for all adapters alike (`drafts`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Draft
from recollect.schemas.inbound import MAX_RECORD_BYTES, InboundEvent, draft_of
from recollect.schemas.wire import Rejection
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import Damaged, Member

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: How an array of objects begins; or one of anything, on a line of its own.
OPENS_ARRAY = re.compile(rb"\[\s*(?:\{|\Z)")

Found = InboundEvent | InvalidInput
Record = TypeVar("Record")


class Part(NamedTuple):
    """A file of an export, as reports name it, and what it holds.

    `found` yields (line or record number from 1, event or why there is none) in the file's order,
    and raises Damaged where it cannot go on.
    """

    path: str
    found: Iterator[tuple[int, Found]]


class Source(Protocol):
    """An export that is open for reading.

    `in_time`: it is in the order of time, so records that are alike stand near each other.
    """

    in_time: bool = False

    def parts(self) -> Iterator[Part]:
        """Yield the files of the export in the order in which they are read, each once."""
        ...


class Adapter(NamedTuple):
    """A format that can be imported: from one file, from a folder of several, or both.

    `recognises` is asked of a file's beginning (up to 64 kB; of standard input a line or more) and
    its name. `recognises_folder` is asked of a folder before its files are looked at one by one.
    Whoever reads may raise InvalidInput before anything is read: an option is missing.
    """

    name: str
    recognises: Callable[[bytes, str], bool]
    read: Callable[[Member, Options], Source]
    recognises_folder: Callable[[Folder], bool] | None = None
    read_folder: Callable[[Folder, Options], Source] | None = None
    #: Whether a file can be read as it grows: line by line, in one pass, with nothing kept back.
    follows: bool = False


class OneFile(Source):
    """The source of a format whose exports are single files: `found` reads one."""

    def __init__(
        self, member: Member, found: Callable[[Member], Iterator[tuple[int, Found]]]
    ) -> None:
        self._member = member
        self._found = found

    def parts(self) -> Iterator[Part]:
        yield Part(self._member.path, self._found(self._member))


class Place(NamedTuple):
    """Where a record stands: its file, and the line or its number there, from 1."""

    path: str
    line: int


# Of an export in the order of time so many records are counted, the latest.
_MAX_TRACKED = 100_000

#: What a record that is not as expected makes whoever reads it raise.
_NOT_AS_EXPECTED = (
    *(KeyError, IndexError, TypeError, AttributeError, ValueError),
    *(OverflowError, RecursionError),
)


def converted(
    records: Iterable[tuple[int, Record]],
    events: Callable[[Record], Iterable[InboundEvent]],
) -> Iterator[tuple[int, Found]]:
    """Yield the events of numbered records; one that is not as expected is refused, by itself."""
    for number, record in records:
        found: list[Found]
        try:
            found = list(events(record))
        except InvalidInput as error:
            found = [error]
        except msgspec.ValidationError as error:
            found = [InvalidInput(f"the record is not as expected: {error}")]
        except _NOT_AS_EXPECTED as error:
            reason = f"{type(error).__name__}: {error}"
            found = [InvalidInput(f"the record is not as expected ({reason})")]
        for event in found:
            yield number, event


def drafts(
    source: Source, same: Counter[str] | None = None
) -> Iterator[tuple[Place, Draft | Rejection]]:
    """Yield the drafts of a source, and its refusals, in order.

    Records without an id that are otherwise alike are counted within the source: the second is a
    second event, and in another import the same one; `same` has counted them so far, where the
    import has other sources before. A part that is damaged ends there; the
    others are read.
    """
    same = Counter() if same is None else same
    for place, event in records(source):
        try:
            if isinstance(event, InvalidInput):
                raise event
            yield place, _draft(event, same)
        except InvalidInput as error:
            yield place, Rejection(*place, str(error))
        if source.in_time and len(same) > _MAX_TRACKED:
            for counted in list(islice(same, _MAX_TRACKED // 2)):
                del same[counted]


def records(source: Source) -> Iterator[tuple[Place, Found]]:
    """Yield the events of a source and its refusals, in order; a part that is damaged ends there,
    and the others are read.
    """
    for part in source.parts():
        number = 1
        try:
            for number, event in part.found:
                yield Place(part.path, number), event
        except Damaged as error:
            yield Place(part.path, number), InvalidInput(str(error))


def _draft(event: InboundEvent, same: Counter[str]) -> Draft:
    draft = draft_of(event)
    beside = (event.metadata, event.attachments)
    if any(beside) and len(msgspec.msgpack.encode(beside)) > MAX_RECORD_BYTES:
        raise InvalidInput(f"what stands beside the words has more than {MAX_RECORD_BYTES} bytes")
    if event.id is None:
        first = draft.payload.source_id
        ordinal = same[first]
        same[first] += 1
        if ordinal:
            draft = draft_of(event, ordinal)
    return draft
