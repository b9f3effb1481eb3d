"""Every entry of a paged list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from recollect.schemas.wire import Page

Entry = TypeVar("Entry")

_LIMIT = 500


def paginate(
    method: Callable[..., Page[Entry]],
    *args: Any,
    cursor: str | None = None,
    limit: int | None = None,
    **kwargs: Any,
) -> Iterator[Entry]:
    """Yield the entries of a list, page by page.

    `cursor`: begin after the page that gave it; `limit`: the maximum number of entries.

    >>> [fact.text for fact in paginate(zone.facts, entity="Ada")]
    ['Ada lives in Turin.']
    """
    left = limit
    while left is None or left > 0:
        size = _LIMIT if left is None else min(left, _LIMIT)
        page = method(*args, cursor=cursor, limit=size, **kwargs)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return
        if left is not None:
            left -= size
