"""Which line says what the items of a list are: "Here are my debts:" above "- Access Bank: 750"."""

from __future__ import annotations

import re
from bisect import bisect_right

from recollect.streams.language.grammar.clauses import Span

_LINE = re.compile(r"^(?P<indent>[ \t]*)(?P<bullet>(?:[-*•+]|\d{1,2}[.)])[ \t]+)?(?=\S)", re.M)
#: "Address: 35, Lake Street", with or without marks of formatting.
LABEL = re.compile(r"[*_]{0,2}[A-Z][^\n:.!?]{1,48}:[*_]{0,2}[ \t]+(?=\S)")
_SENTENCE = re.compile(r"[.!?][*_]{0,2}[ \t]+")
#: A longer line is no heading.
_LONGEST = 160


class ListHeadings:
    """The items of the lists of a text, each with the line that says what it is an item of."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._items: list[tuple[int, Span]] = []  # where the item ends, and its heading
        if "\n" in text and ":" in text:
            self._read(text)

    def above(self, place: int) -> Span | None:
        """Return the heading of the item that a place stands in; None where that is no item."""
        at = bisect_right(self._starts, place) - 1
        if at < 0 or self._items[at][0] <= place:
            return None
        return self._items[at][1]

    def is_alone(self, heading: Span) -> bool:
        """Whether a heading has one item and no other."""
        return sum(1 for _, above in self._items if above == heading) < 2

    def _read(self, text: str) -> None:
        heading: Span | None = None
        item: tuple[int, Span] | None = None  # how far the last one is set in, and its words
        for line in _LINE.finditer(text):
            start, depth = line.end(), len(line["indent"].expandtabs(4))
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            if line["bullet"]:
                above = heading
                item = (depth, (start, end))
            elif item is not None and depth > item[0]:
                above = item[1]
            elif LABEL.match(text, start, end) and heading is not None:
                above, item = heading, None
            else:
                heading, item, above = _heading(text, start, end), None, None
            if above is not None:
                self._starts.append(start)
                self._items.append((end, above))


def _heading(text: str, start: int, end: int) -> Span | None:
    """Return the last sentence of a line that ends with a colon."""
    if end - start > _LONGEST or not text[start:end].rstrip(" \t\r*_").endswith(":"):
        return None
    for found in _SENTENCE.finditer(text, start, end):
        start = found.end()
    return start, end
