"""Iteration over all pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from recollect.schemas.wire import Page

Entry = TypeVar("Entry")

_PAGE_SIZE = 500


def paginate(
    method: Callable[..., Page[Entry]],
    *args: Any,
    cursor: str | None = None,
    limit: int | None = None,
    **kwargs: Any,
) -> Iterator[Entry]:
    """Yield the entries of a list, page by page.

    `cursor`: the cursor to start from (None: the first page); `limit`: maximum number of entries.

    >>> [fact.text for fact in paginate(zone.facts, entity="Ada")]
    ['Ada lives in Turin.']
    """
    remaining = limit
    while remaining is None or remaining > 0:
        size = _PAGE_SIZE if remaining is None else min(remaining, _PAGE_SIZE)
        page = method(*args, cursor=cursor, limit=size, **kwargs)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return
        if remaining is not None:
            remaining -= size
