"""Directives: the standing instructions of the user to the agent."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command, remember
from recollect.operations.memories.page_cursors import after_cursor, check_limit
from recollect.projections.events import event_queries
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import mental_model_queries as queries
from recollect.schemas.errors import DecisionTimeout, InvalidInput, UnknownId
from recollect.schemas.events import Retract, StatedAt
from recollect.schemas.times import format_time
from recollect.schemas.wire import Directive, DirectivePage
from recollect.streams.publishing.commands import random_id

#: The type of a remembered text that is a directive.
DIRECTIVE = "directive"
#: The maximum length of a directive, since every context block repeats it.
MAX_LENGTH = 500


def page(zone: OpenZone, *, superseded: bool, cursor: str | None, limit: int) -> DirectivePage:
    """Return a page of the directives that are obeyed, or of all, in the order of statement.

    Raises:
        InvalidInput: no directive has the cursor's id, or the limit is invalid.
    """
    check_limit(limit)
    found, more = after_cursor(_directives(zone, superseded=superseded), cursor, limit)
    return DirectivePage(directives=found, cursor=more)


def add(zone: OpenZone, text: str) -> Directive:
    """Give the agent a standing instruction by hand.

    Raises:
        InvalidInput: the text is empty or too long.
    """
    if not text.strip():
        raise InvalidInput("text is empty; give the instruction")
    if len(text) > MAX_LENGTH:
        raise InvalidInput(f"text has {len(text)} characters; give at most {MAX_LENGTH}")
    receipt = remember(zone, text.strip(), memory_type=DIRECTIVE)
    for directive in _directives(zone, superseded=True, event_id=receipt.event_id):
        return directive
    raise DecisionTimeout(
        f"zone {zone.name}: record {receipt.number}, which stores the directive, has not been "
        "processed yet; see `status` and `dead_letters`"
    )


def remove(zone: OpenZone, id_: str) -> Directive:
    """Retract a directive; its message stays. Removing one that is not obeyed changes nothing.

    Raises:
        UnknownId: the zone has no directive with this id.
    """
    directive = _directive(zone, id_)
    if directive.obeyed:
        with zone.files() as files:
            ((row, _),) = queries.directives(files.memory.connection, include_ended=True, ids=[id_])
        at = StatedAt(row.number, row.char_start, row.char_end)
        command(zone, Retract(source_id=random_id(f"retract:{id_}"), target=id_, stated_at=(at,)))
    return _directive(zone, id_)


def _directive(zone: OpenZone, id_: str) -> Directive:
    for found in _directives(zone, superseded=True, ids=[id_]):
        return found
    raise UnknownId(f"zone {zone.name} has no directive {id_[:200]!r}; `directives` lists them")


def _directives(
    zone: OpenZone,
    *,
    superseded: bool,
    ids: Sequence[str] | None = None,
    event_id: str | None = None,
) -> list[Directive]:
    if not zone.exists():
        return []
    with zone.files() as files:
        directives = queries.directives(files.memory.connection, include_ended=superseded, ids=ids)
        return [
            _listed(files, directive)
            for directive in directives
            if event_id is None or directive.directive.event_id == event_id
        ]


def _listed(files: ZoneFiles, listed: queries.ListedDirective) -> Directive:
    row = listed.directive
    event = event_queries.citation_of(files.events.connection, row.event_id)
    return Directive(
        id=row.id,
        text=row.text,
        form=row.form,
        obeyed=listed.is_obeyed,
        said_at=format_time(row.said_at),
        source_event_ids=[] if event is None else [event.source_id],
    )
