"""Pages of lists, the cursors that continue them, and the limits of how much is listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from recollect.schemas.errors import InvalidInput
from recollect.schemas.times import LATEST_MS, format_time, parse_query_time

_MAX_PAGE_SIZE = 1_000
#: The time (unix ms) and the id of an entry; lists are sorted by both, the latest first.
Place = tuple[int, str]
#: Before the first entry.
START: Place = (LATEST_MS, "")


class HasId(Protocol):
    """An entry with an id of its own."""

    @property
    def id(self) -> str:
        """The id."""


Entry = TypeVar("Entry")
Identified = TypeVar("Identified", bound=HasId)


def check_limit(
    limit: int, name: str = "limit", *, least: int = 1, most: int = _MAX_PAGE_SIZE
) -> None:
    """Raise InvalidInput if a number is out of range, by default that of a page's size.

    `name`: the parameter's.
    """
    if not isinstance(limit, int) or isinstance(limit, bool) or not least <= limit <= most:
        raise InvalidInput(f"{name} is {limit!r}; give {least} to {most}")


def place_of(cursor: str | None) -> Place:
    """Return the place after which a page begins.

    A cursor is the place of a page's last entry, so it stays valid if that is forgotten.

    Raises:
        InvalidInput: it is not a cursor of such a list.
    """
    if cursor is None:
        return START
    at, separator, id_ = cursor.partition("/")
    if not separator:
        raise InvalidInput(f"cursor {cursor[:60]!r} is invalid; give one from a page of this list")
    return parse_query_time(at, "cursor"), id_


def page_of(
    found: Sequence[Entry], limit: int, place: Callable[[Entry], Place]
) -> tuple[list[Entry], str | None]:
    """Return a page and the cursor of the next; `found` has one entry more if there is one."""
    page = list(found[:limit])
    if len(found) <= limit:
        return page, None
    at, id_ = place(page[-1])
    return page, f"{format_time(at)}/{id_}"


def after_cursor(
    found: Sequence[Identified], cursor: str | None, limit: int
) -> tuple[list[Identified], str | None]:
    """Return a page of a whole list and the cursor of the next: the id of the last entry.

    Raises:
        InvalidInput: no entry has the cursor's id.
    """
    first = 0
    if cursor is not None:
        ids = [item.id for item in found]
        if cursor not in ids:
            raise InvalidInput(
                f"cursor {cursor[:60]!r} is not from this list; start with the first page"
            )
        first = ids.index(cursor) + 1
    page = list(found[first : first + limit])
    return page, page[-1].id if len(found) > first + limit else None
