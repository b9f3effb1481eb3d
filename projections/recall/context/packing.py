"""Packing: as many lines as a room takes, whole turns first, then a sentence of each other.

Measured on LoCoMo's dev questions, by the share of the answers' words in the block: whole turns
for nine tenths of the room and a sentence each of the next turns hold more than turns alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from schemas.wire import Result

#: The share of the room that whole turns may take.
WHOLE = 0.9

Count = Callable[[str], int]


class Line(msgspec.Struct, frozen=True):
    """What may stand in a block for a result: all of it, and the part that answers best.

    `day`: on which it was said, an ordinal, and `at`, in unix ms; None: it comes before all days.
    """

    result: Result
    whole: str
    best: str = ""
    day: int | None = None
    at: int = 0


class Chosen(msgspec.Struct, frozen=True):
    """A line that was chosen, and how it is written."""

    line: Line
    text: str


def packed(ahead: Sequence[Line], lines: Sequence[Line], room: int, count: Count) -> list[Chosen]:
    """Return the lines that fit into a room of so many tokens: those ahead, then by day.

    Lines come best first; one that does not fit is passed over, and the next is tried. The newest
    day comes first, and within a day what was said first.
    """
    left = room
    chosen: list[Chosen] = []
    for line in ahead:
        cost = count(line.whole)
        if cost <= left:
            chosen.append(Chosen(line, line.whole))
            left -= cost
    of_days: list[Chosen] = []
    for_whole = left * WHOLE
    others: list[Line] = []
    for line in lines:
        cost = count(line.whole)
        if cost <= for_whole:
            of_days.append(Chosen(line, line.whole))
            for_whole -= cost
            left -= cost
        else:
            others.append(line)
    for line in others:
        # What whole turns left over goes to whole ones that are short as well.
        for text in dict.fromkeys((line.best, line.whole)):
            if text and (cost := count(text)) <= left:
                of_days.append(Chosen(line, text))
                left -= cost
                break
    of_days.sort(key=lambda one: (-(one.line.day or 0), one.line.at))
    return [*chosen, *of_days]
