"""Pack lines into a token budget: the best turns in full, facts of others, then single sentences.

On LoCoMo's dev questions, the best turns in full and the facts of the others contain a larger share
of the answers' words than full turns alone, most of all for answers spread over several turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

import msgspec

from recollect.projections.recall.context.framing import label
from recollect.schemas.wire import Result
from recollect.text.dates.resolved_dates import day_in_words

#: The share of the budget for turns in full, best first, since they mostly have the answer.
FULL_TURN_SHARE = 0.2
#: The share of the budget for turns and facts; the rest is for single sentences.
TURN_AND_FACT_SHARE = 0.9

Count = Callable[[str], int]


class Line(msgspec.Struct, frozen=True):
    """The texts of a result that a block may show: in full, its facts, or its best sentence.

    The label is not part of the texts; it is made from `day` (an ordinal) and `speaker`. `at` is in
    unix ms. A line without a day has its label in the text, and comes before all days. `facts` is
    empty if there are none, or if they cannot replace the full text.
    """

    result: Result
    full: str
    facts: str = ""
    best_sentence: str = ""
    day: int | None = None
    speaker: str = ""
    at: int = 0

    def labelled(self, text: str, *, with_day: bool = True) -> str:
        """Return one of its texts with its label, without the day if a line above names it."""
        if self.day is None:
            return text
        day = day_in_words(date.fromordinal(self.day))
        if not self.speaker:
            return f"{label(day)} {text}"
        return f"{label(f'{day} {self.speaker}' if with_day else self.speaker)} {text}"


class PackedLine(msgspec.Struct, frozen=True):
    """A line in the block, and the one of its texts that is shown."""

    line: Line
    text: str


def pack(
    pinned: Sequence[Line], lines: Sequence[Line], max_tokens: int, count: Count
) -> list[PackedLine]:
    """Return the lines that fit into `max_tokens`: the pinned ones, then the others by day.

    `pinned` and `lines` are best first. A line that does not fit is skipped, and the next is tried.
    In the result, the newest day comes first, and lines of a day are in order of time. Only the
    first line of a day names it.
    """
    left = max_tokens
    packed: list[PackedLine] = []
    for line in pinned:
        cost = count(line.full)
        if cost <= left:
            packed.append(PackedLine(line, line.full))
            left -= cost
    texts: dict[int, str] = {}
    days: set[int | None] = set()

    def take(index: int, text: str, limit: float) -> int:
        """Choose a text of line `index` if it costs at most `limit`; return its cost, or 0."""
        line = lines[index]
        cost = count(line.labelled(text, with_day=line.day not in days))
        if cost > limit:
            return 0
        texts[index] = text
        days.add(line.day)
        return cost

    reserved = left - int(left * TURN_AND_FACT_SHARE)
    full_turns_until = left * (1 - FULL_TURN_SHARE)
    for index, line in enumerate(lines):
        text = line.full if left > full_turns_until else line.facts or line.full
        left -= take(index, text, left - reserved)
    for index, line in enumerate(lines):
        if index in texts:
            # If tokens are left, show in full those turns of which only the facts were taken.
            extra = count(line.full) - count(texts[index])
            if 0 < extra <= left:
                texts[index] = line.full
                left -= extra
            continue
        for text in dict.fromkeys((line.facts, line.best_sentence, line.full)):
            if text and (cost := take(index, text, left)):
                left -= cost
                break
    return [*packed, *_by_day(lines, texts)]


def _by_day(lines: Sequence[Line], texts: Mapping[int, str]) -> Iterator[PackedLine]:
    """Yield the lines with a text, newest day first; only the first line of a day names it."""
    day: int | None = None
    for index in sorted(texts, key=lambda index: (-(lines[index].day or 0), lines[index].at)):
        line = lines[index]
        yield PackedLine(line, line.labelled(texts[index], with_day=line.day != day))
        day = line.day
