"""Weekdays with a day of the month: "Friday 8 May", "Friday the 8th", "Fri 8th".

The two must agree. Of a day without its year the nearest year in which they do is meant that fits
the tense, up to two years back and one ahead. Where this year's own such day is near and is another
weekday, one of the two is as likely a slip: then, and where they agree in no year, no day is known.
"""

from __future__ import annotations

from datetime import date

from recollect.text.dates.calendar_days import day_of
from recollect.text.dates.clause_tense import choose_or_nearest, direction_of, is_present
from recollect.text.dates.date_tokens import (
    DIGITS,
    day_number,
    day_ordinal,
    joined,
    word_after,
    word_at,
)
from recollect.text.dates.days_in_numbers import (
    AFTER_DAY_OF_MONTH,
    day_and_month,
    days_with_number,
    month_alone,
    whole_date,
)
from recollect.text.dates.found_dates import Found
from recollect.text.lexicon import MONTHS, WEEKDAYS
from recollect.text.tokenizer import Tokens, bare

SHORT_DAYS = frozenset({"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"})
#: In days: so near a day of the month without its month lies, and a day of which a slip is told.
_NEAR = 62
#: In days: so far a day with its month may lie behind and ahead, and so near without a tense before
#: those that lie further are asked.
_BEHIND, _AHEAD, _NEAR_IN_MONTH = 731, 366, 190
#: In days: without a tense a day so near ahead is meant first.
_COMING = 31


def weekday_and_day(tokens: Tokens, index: int, weekday: int, today: int) -> Found | None:
    """Return the date that the weekday at an index begins; None: it stands alone.

    Where weekday and day of the month agree in no day that may be meant, it is one that is not
    known.
    """
    if not joined(tokens, index, ",.(") or index + 1 >= len(tokens.lowers):
        return None
    ahead = index + 1
    if word_at(tokens, ahead) == "the" and joined(tokens, ahead):
        ahead += 1
    following = word_at(tokens, ahead)
    if len(following) >= 8 and following[0] in DIGITS and (whole := whole_date(following)):
        return Found(index, ahead + 1, whole, whole, False)
    dated = day_and_month(tokens, ahead, today)
    if dated is None and bare(word_at(tokens, ahead)) in MONTHS:
        dated = month_alone(tokens, ahead, today)
        if dated is not None and dated.right - dated.left == 1:
            return None  # "Friday May": no day
    if dated is not None:
        if dated.first != dated.last or not dated.known:
            return None
        dated = dated._replace(left=index)
        return _of_a_year(tokens, dated, weekday, today) if dated.relative else dated
    if day_number(following) and bare(word_after(tokens, ahead)) in MONTHS:
        return Found(index, ahead + 2, 0, 0, True)  # "Tuesday 31 February"
    day = day_ordinal(following)
    if not day or (following[0] not in DIGITS and ahead == index + 1):
        return None
    after = word_after(tokens, ahead)
    # "We sat 3rd", "Monday the second shift".
    unsure = following[0] not in DIGITS or tokens.lowers[index] in SHORT_DAYS
    if unsure and after and after not in AFTER_DAY_OF_MONTH and after[0] not in DIGITS:
        return None
    both = Found(index, ahead + 1, 0, 0, True)
    if after == "of":
        # Of a month that has no such day, or of something else.
        return both._replace(right=ahead + 3) if word_at(tokens, ahead + 2) in MONTHS else both
    near = [each for each in days_with_number(today, day) if abs(each - today) <= _NEAR]
    return _meant(tokens, both, _agreeing(near, weekday), today)


def with_weekday_after(tokens: Tokens, day: Found, index: int, today: int) -> Found | None:
    """Return a day as its weekday says it, which stands right after it: "3 March (Tuesday)".

    None: what stands at the index is no weekday of it.
    """
    weekday = WEEKDAYS.get(bare(tokens.lowers[index]))
    if weekday is None or day.right != index or day.first != day.last:
        return None
    if not any(tokens.lowers[at][0] in DIGITS for at in range(day.left, day.right)):
        return None
    end = tokens.ends[index]
    marks = tokens.gap(index - 1).strip() + tokens.text[end : end + 1]
    if marks == "()" or (marks == ",," and _agreeing([day.first], weekday)):
        return _of_a_year(tokens, day, weekday, today) if day.relative else day
    return None


def _of_a_year(tokens: Tokens, item: Found, weekday: int, today: int) -> Found:
    """`item` on its day of the year that is meant."""
    here, year = date.fromordinal(item.first), date.fromordinal(today).year
    years = (day_of(other, here.month, here.day) for other in range(year - 2, year + 2))
    days = [day for day in years if day is not None]
    agreeing = [day for day in _agreeing(days, weekday) if today - _BEHIND <= day <= today + _AHEAD]
    near = [day for day in agreeing if abs(day - today) <= _NEAR_IN_MONTH]
    direction = direction_of(tokens, item.left, item.right)
    if direction == 0 and near:
        return _meant(tokens, item, near, today)
    if any(abs(day - today) <= _NEAR and day not in agreeing for day in days):
        reach = _AHEAD if direction else _NEAR_IN_MONTH
        agreeing = [day for day in agreeing if abs(day - today) <= reach]
    if direction > 0 or (direction == 0 and is_present(tokens, item.left)):
        agreeing = [day for day in agreeing if day >= today] or near
    elif direction < 0:
        agreeing = [day for day in agreeing if day <= today] or near
    return _meant(tokens, item, agreeing, today)


def _agreeing(days: list[int], weekday: int) -> list[int]:
    return [day for day in days if (day - 1) % 7 == weekday]


def _meant(tokens: Tokens, item: Found, days: list[int], today: int) -> Found:
    """`item` as the one of `days` that fits the tense best, in time order; unknown without any."""
    if not days:
        return item._replace(first=0, last=0)
    direction = direction_of(tokens, item.left, item.right)
    coming = [day for day in days if today <= day <= today + _COMING]
    if direction == 0 and coming:
        return item._replace(first=coming[0], last=coming[0])
    day = choose_or_nearest([(day, day) for day in days], today, direction)[0]
    return item._replace(first=day, last=day)
