"""Holidays in a text: "Diwali", "the eve of Eid al-Fitr"."""

from __future__ import annotations

from typing import NamedTuple

from recollect.text.dates.calendar_days import Days
from recollect.text.dates.holiday_names import (
    CLASS,
    OPENS_HOLIDAY,
    Holiday,
    holiday_named,
    may_be_longer,
)
from recollect.text.dates.time_values import Now, When, Yearly, in_years, month_days
from recollect.text.declared_rules import Reading, rule
from recollect.text.lexicon import word_set

_MOST = 9
#: Words with another meaning: by themselves they are not holidays.
_WORDS_TOO = frozenset({"lent", "advent", "epiphany", "assumption"})
CLASSES = {"feastopener": word_set("on by before after until till since at for from in during over "
                                   "throughout til this around")}  # fmt: skip


class Feast(NamedTuple):
    """A holiday; `eve`: the offset of its eve, in days, if the eve is meant."""

    holiday: Holiday
    eve: int | None
    common: bool = False  # its name is an ordinary word too
    small: bool = False  # and is not capitalised

    def days(self, year: int) -> tuple[Days, ...]:
        """Return its days in a year."""
        spans = self.holiday.rule(year)
        return spans if self.eve is None else tuple((a + self.eve, a + self.eve) for a, _ in spans)


def feasts_at(reading: Reading, at: int) -> list[tuple[int, Feast]]:
    """Return the holiday whose name begins at a lexeme."""
    lower = reading.lower(at)
    genitive = reading.lower(at + 1) == "'" and reading.lower(at + 2) == "s"
    opens = OPENS_HOLIDAY[lower] or (genitive and OPENS_HOLIDAY[lower + "s"])
    if not (lower[0].isalpha() and opens):
        return []
    named = _named(reading, at)
    if named is not None:
        right, holiday = named
        common = right == at + 1 and lower in _WORDS_TOO
        small = common and at > 0 and reading.written(at).islower()
        if holiday.eve is not None and reading.lower(right) == "eve":
            return [(right + 1, Feast(holiday, holiday.eve))]
        right += holiday.eve is not None and reading.lower(right) in ("day", "festival")
        return [(right, Feast(holiday, None, common, small))]
    of_class = lower in CLASS and reading.lower(at + 1) == "of"
    if not of_class and lower != "erev":
        return []
    after = at + 1 + of_class
    after += reading.lower(after) == "the"
    eve = lower in ("erev", "eve")
    feasts = []
    for match in reading.starting("feast", after):
        feast: Feast = match.value
        before = -1 if feast.holiday.eve is None else feast.holiday.eve
        feasts.append((match.right, feast._replace(eve=before if eve else None)))
    return feasts


def _named(reading: Reading, at: int) -> tuple[int, Holiday] | None:
    best = None
    words, quoted = "", False
    for place in range(at, min(at + _MOST, len(reading.words))):
        lower = reading.lower(place)
        words += lower
        if not lower[0].isalnum():
            if lower not in "-.'":
                break
            # "Isra' and Mi'raj" have an apostrophe; "King' day" does not.
            quoted = quoted or (lower == "'" and reading.lower(place + 1) != "s")
            continue
        if not may_be_longer(words):
            if reading.lower(place + 1) == "'":
                continue
            break
        holiday = holiday_named(words)
        if lower != words and words.startswith("no"):
            continue  # "no rush" sounds like a feast's name
        if holiday is not None and not (quoted and holiday.eve is None):
            best = place + 1, holiday
    return best


def _yearly(_: Now, feast: Feast) -> Yearly:
    return Yearly(feast.days, "feast", "feast")


def _alone(now: Now, feast: Feast) -> When | None:
    return None if feast.common else _opened(now, feast)


def _opened(now: Now, feast: Feast) -> When | None:
    return _yearly(now, feast).near(now)


RULES = (
    rule("yearly/feast", "yearly", "<feast>",
         lambda now, it: None if it.small else _yearly(now, it), "Easter 2010 -> 2010-04-04"),
    rule("feast/alone", "day", "<feast>", _alone, "Christmas is near -> 2026-12-25",
         unless=("compound", "before a|an|my|our|your|their|his|her", "the_civil"),
         counters=("Easter eggs are sweet.",)),
    rule("feast/opened", "day", "the|this? <feast>", _opened,
         "no sweets during lent -> 2027-02-10..2027-03-27",
         unless=("only before @feastopener", "compound", "the_civil")),
    rule("feast/all-there-is", "day", "<feast>", _opened, "Epiphany. -> 2027-01-06",
         unless=("only is_sentence",)),
    rule("feast/new-year", "day", "the? new year",
         lambda now: When(in_years(now, lambda year: month_days(year, 1, 1, 1))),
         "we stay until new year -> 2027-01-01", priority=1,
         unless=("only before at|by|before|after|until|till|til|since|over|around", "compound"),
         counters=("Happy new year!",)),
)  # fmt: skip
