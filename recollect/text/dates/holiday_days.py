"""The days of holidays, read from the lexemes of a text: "next Diwali", "Easter 2010"."""

from __future__ import annotations

from recollect.text.dates.calendar_days import Days, days
from recollect.text.dates.date_lexemes import Part
from recollect.text.dates.holiday_names import (
    CLASS,
    OPENS_HOLIDAY,
    Holiday,
    holiday_named,
    may_be_longer,
)
from recollect.text.dates.periods import Periods
from recollect.text.lexicon import WEEKDAYS

_OPENERS = ("on", "by", "before", "after", "until", "till", "since", "at", "for", "from")
_OPENERS_OF_SEVERAL = ("in", "during", "over", "throughout")
_ARTICLES = ("a", "an", "the", "our", "my", "your", "their")
_MOST_LEXEMES = 9
#: Words of other meanings: without a capital they are no holidays by themselves.
_WORDS_TOO = frozenset({"lent", "advent", "epiphany", "assumption"})
_OPENERS_OF_WORDS = ("for", "during", "since", "until", "before", "after", "throughout")


class Holidays(Periods):
    """The rules for holidays."""

    def _holiday(self, place: int) -> Part | None:
        """Read Christmas, next Thanksgiving, Easter 2010, the eve of Eid al-Fitr."""
        at, step = self._qualifier(place)
        if step is None:
            at += self._is(place, "the")
        named = self._named_holiday(at) if OPENS_HOLIDAY[self._lower(at)] else None
        if named is None:
            return None
        right, holiday, eve = named
        if step is None and at > place and holiday.eve is None:
            return None  # "the boss's day off"
        a_word = self._written(at) in _WORDS_TOO and right == at + 1
        year = self._year_of_holiday(right)
        if a_word and year is not None and (year[0] > right + 1 or self._lower(year[0]).isalpha()):
            year = None  # "he lent in 2018", "I lent 2000 euros"
        if year is not None:
            found = _meant(holiday.rule(year[1]), eve)
            return self._holiday_part(year[0], found[0]) if found else None
        near = [
            span
            for each in (-1, 0, 1, 2)
            for span in _meant(holiday.rule(self._here.year + each), eve)
        ]
        if step == -1:
            past = [span for span in near if span[1] < self._today]
            return self._holiday_part(right, past[-1]) if past else None
        if self._lexemes[right - 1].end in self._behind:
            ahead = [span for span in near if span[0] <= self._today][-1:]
        else:
            ahead = [span for span in near if span[1] >= self._today]
        if not ahead:
            return None
        # Easter eggs and Christmas crackers are of no day; "Good Friday" is, by itself.
        several = ahead[0][0] < ahead[0][1]
        sure = (
            step is not None
            or self._is(place - 1, *_OPENERS)
            or (several and self._is(place - 1, *_OPENERS_OF_SEVERAL))
            or self._is_named_weekday(at, right)
        )
        if a_word and not self._is(place - 1, *_OPENERS_OF_WORDS):
            return None
        part = self._holiday_part(right, ahead[0])
        return part._replace(open=True, sure=sure, kind="guarded")

    def _holiday_part(self, right: int, span: Days) -> Part:
        return Part(right, days(*span), "day" if span[0] == span[1] else "feast")

    def _named_holiday(self, place: int) -> tuple[int, Holiday, int | None] | None:
        """Return the place after a holiday, what it is, and how its eve lies if that is meant."""
        best: tuple[int, Holiday] | None = None
        if OPENS_HOLIDAY[self._lower(place)]:
            words, quoted = "", False
            for at in range(place, min(place + _MOST_LEXEMES, len(self._lexemes))):
                words += self._lower(at)
                if not self._lower(at)[0].isalnum():
                    if self._lower(at) not in "-.'":
                        break
                    quoted = quoted or self._is(at, "'")  # "Isra' and Mi'raj", no "King' day"
                    continue
                if not may_be_longer(words):
                    break
                holiday = holiday_named(words)
                if holiday is not None and not (quoted and holiday.eve is None):
                    best = at + 1, holiday
        if best is not None:
            return self._with_eve(*best)
        after = place + 1 + self._is(place + 1, "of")
        of_class = self._lower(place) in CLASS and after == place + 2
        eve = self._is(place, "erev") or (of_class and self._is(place, "eve"))
        if not (of_class or eve):
            return None
        named = self._named_holiday(self._skip(after, "the"))
        if named is None or not eve:
            return named
        return named[0], named[1], -1 if named[1].eve is None else named[1].eve

    def _with_eve(self, right: int, holiday: Holiday) -> tuple[int, Holiday, int | None]:
        """Return a holiday with what may follow its name: Diwali day, Diwali eve."""
        if holiday.eve is None:
            return right, holiday, None
        if self._is(right, "eve"):
            return right + 1, holiday, holiday.eve
        return self._skip(right, "day", "festival"), holiday, None

    def _is_named_weekday(self, place: int, right: int) -> bool:
        """Whether a holiday is called after its weekday, and nothing else is after it: no "Good
        Friday Mass".
        """
        if right - place < 2 or self._lower(right - 1) not in WEEKDAYS:
            return False
        following = self._lexemes[right : right + 1]
        goes_on = any(each.spaced and self._text[each.start].isupper() for each in following)
        return not goes_on and not self._is(place - 1, *_ARTICLES)

    def _year_of_holiday(self, place: int) -> tuple[int, int] | None:
        """Read 2010, two thousand ten, of last year, in five years, six years ago."""
        joined = self._skip(place, "of", "in", ",")
        at, step = self._qualifier(joined)
        if step is not None and self._is(at, "year"):
            return at + 1, self._here.year + step
        stated = self._year_number(joined) or self._year_in_words(joined)
        if stated is not None:
            return stated
        return self._counted_year(place)

    def _year_in_words(self, place: int) -> tuple[int, int] | None:
        """Read two thousand (and) nineteen, twenty eighteen, nineteen eighty-four."""
        lower = self._lower(place)
        if lower == "two" and self._is(place + 1, "thousand"):
            rest = self._number_word(self._skip(place + 2, "and"))
            return (place + 2, 2000) if rest is None else (rest[0], 2000 + rest[1])
        if lower in ("nineteen", "twenty"):
            rest = self._number_word(self._skip(place + 1, "-"))
            if rest is not None and rest[1] >= 10:
                return rest[0], (1900 if lower == "nineteen" else 2000) + rest[1]
        return None

    def _number_word(self, place: int) -> tuple[int, int] | None:
        """Return the place after a number in words from 1 to 99, and the number."""
        return None if self._lower(place) in ("a", "an", "the") else self._number(place)


def _meant(spans: tuple[Days, ...], eve: int | None) -> tuple[Days, ...]:
    """Return some holidays, or their eves, which lie so many days off their first days."""
    return spans if eve is None else tuple((span[0] + eve, span[0] + eve) for span in spans)
