"""Packing: the best turns whole, of the others what they say of somebody, then a sentence each.

Measured on LoCoMo's dev questions, by the share of the answers' words in the block: the three best
turns whole and the facts of the others hold more than whole turns alone, most of all where an
answer lies in several turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

import msgspec

from recollect.projections.recall.context.framing import label
from recollect.schemas.wire import Result
from recollect.text.dates.resolved_dates import day_in_words

#: Turns stand in the block in full, the best first, until this share of the room is taken: what is
#: asked for is mostly there.
BEST = 0.2
#: The share of the room that turns and facts may take before single sentences come.
WHOLE = 0.9

Count = Callable[[str], int]


class Line(msgspec.Struct, frozen=True):
    """What may stand in a block for a result: all of it, its facts, and the part that answers best.

    Each is without its label, which says on which `day` (an ordinal) and by whom it was said; `at`
    is in unix ms. Without a day it has a label of its own, and comes before all days. `facts` is
    empty where there are none, or where they do not tell what the turn does.
    """

    result: Result
    whole: str
    facts: str = ""
    best: str = ""
    day: int | None = None
    speaker: str = ""
    at: int = 0

    def labelled(self, text: str, *, with_day: bool = True) -> str:
        """Return one of its texts with its label; without its day under another line of it."""
        if self.day is None:
            return text
        day = day_in_words(date.fromordinal(self.day))
        if not self.speaker:
            return f"{label(day)} {text}"
        return f"{label(f'{day} {self.speaker}' if with_day else self.speaker)} {text}"


class Chosen(msgspec.Struct, frozen=True):
    """A line that was chosen, and how it is written."""

    line: Line
    text: str


def packed(ahead: Sequence[Line], lines: Sequence[Line], room: int, count: Count) -> list[Chosen]:
    """Return the lines that fit into a room of so many tokens: those ahead, then by day.

    Lines come best first; one that does not fit is passed over, and the next is tried. The newest
    day comes first, and within a day what was said first; the first line of a day names it.
    """
    left = room
    chosen: list[Chosen] = []
    for line in ahead:
        cost = count(line.whole)
        if cost <= left:
            chosen.append(Chosen(line, line.whole))
            left -= cost
    texts: dict[int, str] = {}
    named: set[int | None] = set()

    def take(place: int, text: str, most: float) -> int:
        """Take a line in these words where that costs no more; return what it costs."""
        line = lines[place]
        cost = count(line.labelled(text, with_day=line.day not in named))
        if cost > most:
            return 0
        texts[place] = text
        named.add(line.day)
        return cost

    kept = left - int(left * WHOLE)
    for_best = left * (1 - BEST)
    for place, line in enumerate(lines):
        text = line.whole if left > for_best else line.facts or line.whole
        left -= take(place, text, left - kept)
    for place, line in enumerate(lines):
        if place in texts:
            # What is left over goes to turns of which only the facts were taken.
            more = count(line.whole) - count(texts[place])
            if 0 < more <= left:
                texts[place] = line.whole
                left -= more
            continue
        for text in dict.fromkeys((line.facts, line.best, line.whole)):
            if text and (cost := take(place, text, left)):
                left -= cost
                break
    return [*chosen, *_by_day(lines, texts)]


def _by_day(lines: Sequence[Line], texts: Mapping[int, str]) -> Iterator[Chosen]:
    """Yield lines by their places in these words, the newest day first; each day is named once."""
    named: int | None = None
    for place in sorted(texts, key=lambda place: (-(lines[place].day or 0), lines[place].at)):
        line = lines[place]
        yield Chosen(line, line.labelled(texts[place], with_day=line.day != named))
        named = line.day
