"""Dates in words alone: "yesterday", "two weeks ago", "next Friday", "last summer"."""

from __future__ import annotations

from datetime import date

from recollect.text.dates.calendar_days import (
    LAST_ORDINAL,
    calendar_unit,
    clip,
    season_of,
    week_of,
)
from recollect.text.dates.calendar_days import month as month_days
from recollect.text.dates.clause_tense import direction_of, is_rescheduled
from recollect.text.dates.date_tokens import (
    count_at,
    day_number,
    joined,
    word_after,
    word_at,
    word_before,
    year_number,
)
from recollect.text.dates.dated_weekdays import SHORT_DAYS, weekday_and_day
from recollect.text.dates.days_in_numbers import (
    DAY_OPENERS,
    RANGE_WORDS,
    UNITS,
    month_alone,
)
from recollect.text.dates.found_dates import Found
from recollect.text.lexicon import DAY_WORDS, MONTHS, ORDINALS, SEASONS, WEEKDAYS
from recollect.text.tokenizer import Tokens, bare

_CALENDAR_UNITS = frozenset({"week", "month", "year", "weekend", "quarter"})
_DAYTIMES = frozenset({"morning", "afternoon", "evening", "night"})
_PLURAL_DAYTIMES = frozenset({"mornings", "afternoons", "evenings", "nights"})
_SEEMS = frozenset({"feels", "feel", "felt", "seems", "seem", "seemed", "is", "was", "it's"})
_RECURRING = frozenset({"every", "each", "most", "some", "any", "all", "many", "alternate"})
#: "A Monday lockout", "the Monday physio", "that Friday", "the first Monday": no certain day.
_UNCERTAIN_DAY = frozenset({"a", "an", "the", "that", "these", "those"}) | frozenset(ORDINALS)
_WORD_TRIGGERS = (
    frozenset(DAY_WORDS)
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(SEASONS)
    | {"ago", "now", "last", "next", "this", "in", "day", "week", "month", "year", "weekend"}
    | {"mid-" + month for month in MONTHS}
)
#: A word that can be part of a date reference.
TRIGGERS = _WORD_TRIGGERS | {word + "'s" for word in _WORD_TRIGGERS}


def at_word(tokens: Tokens, index: int, today: int) -> Found | None:
    """Return the date that the word at an index begins, or is the head of, if any."""
    lower = bare(tokens.lowers[index])
    if lower == "yesterday" and _is_likened(tokens, index):
        return Found(index, index + 1, 0, 0, True)
    if lower in DAY_WORDS:
        day = clip(today + DAY_WORDS[lower])
        return Found(index, index + 1, day, day, True)
    if lower == "ago":
        return _ago(tokens, index, today)
    if lower in ("last", "next", "this"):
        return _qualified(tokens, index, today, lower)
    if lower == "in":
        return _in(tokens, index, today)
    if lower == "now":
        return _from_now(tokens, index, today)
    if lower == "weekend":
        return _weekend(tokens, index, today)
    if lower in WEEKDAYS:
        return _weekday(tokens, index, today)
    if lower in SEASONS:
        return _season_with_year(tokens, index)
    if lower in MONTHS or lower.startswith("mid-"):
        return month_alone(tokens, index, today)
    return _unit_before(tokens, index, today, lower)


def _is_likened(tokens: Tokens, index: int) -> bool:
    """Whether something long past only feels near: "It feels like just yesterday"."""
    before = word_before(tokens, index)
    if before in ("just", "only"):
        index -= 1
        before = word_before(tokens, index)
    return before == "like" and word_before(tokens, index - 1) in _SEEMS


def _ago(tokens: Tokens, index: int, today: int) -> Found | None:
    """Two weeks ago, a year ago."""
    unit = UNITS.get(word_before(tokens, index))
    count = count_at(tokens, index - 2) if unit and word_before(tokens, index - 1) else None
    if unit is None or count is None:
        return None
    span = calendar_unit(unit, -count, today)
    return Found(index - 2, index + 1, *span, True) if span else None


def _from_now(tokens: Tokens, index: int, today: int) -> Found | None:
    """Two weeks from now."""
    if word_before(tokens, index) != "from":
        return None
    unit = UNITS.get(word_before(tokens, index - 1))
    count = count_at(tokens, index - 3) if unit and word_before(tokens, index - 2) else None
    span = calendar_unit(unit, count, today) if unit and count is not None else None
    return Found(index - 3, index + 1, *span, True) if span else None


def _in(tokens: Tokens, index: int, today: int) -> Found | None:
    """In two weeks; in May and in 2016 are found at the month and the year."""
    count = count_at(tokens, index + 1) if joined(tokens, index) else None
    unit = UNITS.get(bare(word_after(tokens, index + 1))) if count is not None else None
    if unit is None or count is None or word_after(tokens, index + 2) in ("of", "ago"):
        return None
    # "I read it in two days" says how long, not when.
    if direction_of(tokens, index, index + 3) < 0:
        return None
    span = calendar_unit(unit, count, today)
    return Found(index, index + 3, *span, True) if span else None


def _qualified(tokens: Tokens, index: int, today: int, which: str) -> Found | None:
    """Last Friday, next month, this summer, this past weekend."""
    head = index + 1
    step = {"last": -1, "this": 0, "next": 1}[which]
    word = bare(word_after(tokens, index))
    if word in ("past", "coming") and which == "this":
        step = -1 if word == "past" else 1
        which = word
        word = bare(word_after(tokens, head))
        head += 1
    if not word:
        return None
    before = word_before(tokens, index)
    if word in _DAYTIMES:
        if which == "this" or (which == "last" and word in ("night", "evening")):
            return _day(index, head, today + step)
        return None
    if word in _CALENDAR_UNITS:
        # "Over the last week" is a duration, "the next week" counts from another day.
        if before in ("the", "a", "these") and word != "weekend" and which in ("last", "next"):
            return None
        if word_after(tokens, head) == "of":
            return None
        return _unit(tokens, index, head, today, word, step, which)
    if word in WEEKDAYS:
        dated = weekday_and_day(tokens, head, WEEKDAYS[word], today)
        if dated is not None:
            return dated._replace(left=index)
        return _day(index, head, _weekday_of(WEEKDAYS[word], today, which, tokens, index, head))
    if word in MONTHS and (len(word) > 3 or word == "may") and which != "coming":
        if word in ("may", "march") and tokens.words[head].islower():
            return None
        if day_number(word_after(tokens, head)) is not None:
            return None
        here = date.fromordinal(today)
        year = _qualified_year(here.year, here.month, MONTHS[word], step)
        return Found(index, head + 1, *month_days(year * 12 + MONTHS[word] - 1), True)
    if word in SEASONS:
        return _qualified_season(index, head, today, SEASONS[word], step)
    return None


def _day(left: int, last_token: int, ordinal: int) -> Found:
    day = clip(ordinal)
    return Found(left, last_token + 1, day, day, True)


def _unit(
    tokens: Tokens, left: int, head: int, today: int, unit: str, step: int, which: str
) -> Found | None:
    if unit == "weekend":
        weekday = (today - 1) % 7
        past = direction_of(tokens, left, head + 1) < 0
        if which == "last":
            # On a Sunday the weekend that is not over is not the last one.
            step = -1
        elif which == "past":
            step = -1 if weekday < 5 else 0
        elif which == "this" and weekday < 5 and past:
            step = -1
        elif which == "coming":
            step = 0 if weekday < 5 else 1
    span = calendar_unit(unit, step, today)
    return Found(left, head + 1, *span, True) if span else None


def _weekday_of(weekday: int, today: int, which: str, tokens: Tokens, left: int, head: int) -> int:
    ahead = (weekday - (today - 1)) % 7  # 0 if today is that weekday
    if which in ("last", "past"):
        return today - (7 - ahead)
    if which == "next":
        return week_of(today)[0] + 7 + weekday
    if which == "coming":
        return today + (ahead or 7)
    if ahead and direction_of(tokens, left, head + 1) < 0:
        return today - (7 - ahead)
    return today + ahead


def _qualified_year(year: int, month: int, wanted: int, step: int) -> int:
    """Last June in July is this year's, in June or before it is the year before's."""
    if step < 0:
        return year if wanted < month else year - 1
    if step > 0:
        return year if wanted > month else year + 1
    return year


def _qualified_season(left: int, head: int, today: int, month: int, step: int) -> Found:
    here = date.fromordinal(today)
    spans = [season_of(month, year) for year in range(here.year - 2, here.year + 3)]
    if step < 0:
        span = [item for item in spans if item[1] < today or item[1] == 1][-1]
    elif step > 0:
        span = next(item for item in spans if item[0] > today or item[1] == LAST_ORDINAL)
    else:
        # January's "this winter" began last year; any other "this" is of the running year.
        began = here.year - 1 if month == 12 and here.month < 3 else here.year
        span = season_of(month, began)
    return Found(left, head + 1, *span, True)


def _weekend(tokens: Tokens, index: int, today: int) -> Found | None:
    """Over the weekend: the one just gone in a past clause, the one to come in a future one."""
    if word_before(tokens, index) != "the":
        return None
    direction = direction_of(tokens, index - 1, index + 1)
    if direction == 0 or word_after(tokens, index) in ("of", "before", "after"):
        return None
    weekday = (today - 1) % 7
    span = calendar_unit("weekend", -1 if direction < 0 and weekday < 5 else 0, today)
    return Found(index - 1, index + 1, *span, True) if span else None


def _weekday(tokens: Tokens, index: int, today: int) -> Found | None:
    """Friday, on Friday, Friday 8 May; not every Friday, Monday to Friday."""
    word = tokens.lowers[index]
    weekday = WEEKDAYS[bare(word)]
    before = word_before(tokens, index)
    dated = weekday_and_day(tokens, index, weekday, today)
    if dated is not None:
        return dated
    if before in _RECURRING or before in _UNCERTAIN_DAY:
        return None
    if word in SHORT_DAYS and before not in DAY_OPENERS:
        return None
    after = word_after(tokens, index)
    if after in _PLURAL_DAYTIMES or (
        after in ("in", "of") and word_at(tokens, index + 2) in MONTHS
    ):
        return None
    ranged = (after in RANGE_WORDS and bare(word_at(tokens, index + 2)) in WEEKDAYS) or (
        before in RANGE_WORDS and bare(word_at(tokens, index - 2)) in WEEKDAYS
    )
    if ranged and not is_rescheduled(tokens, index):
        return None
    ahead_days = (weekday - (today - 1)) % 7
    direction = direction_of(tokens, index, index + 1)
    if direction < 0:
        day = today - (7 - ahead_days)
    elif direction > 0:
        day = today + (ahead_days or 7)
    else:
        day = today + ahead_days
    return _day(index, index, day)


def _season_with_year(tokens: Tokens, index: int) -> Found | None:
    """Summer 2022, the summer of 2022; a season alone says no year."""
    right = index + 1
    if word_after(tokens, index) == "of":
        right += 1
    year = year_number(word_at(tokens, right)) if joined(tokens, right - 1) else None
    if year is None:
        return None
    month = SEASONS.get(tokens.lowers[index], 0)
    return Found(index, right + 1, *season_of(month, year), False) if month else None


def _unit_before(tokens: Tokens, index: int, today: int, unit: str) -> Found | None:
    """The day before yesterday, the day after tomorrow, the week before last."""
    side = word_after(tokens, index)
    anchor = bare(word_after(tokens, index + 1)) if side in ("before", "after") else ""
    left = index - 1 if word_before(tokens, index) == "the" else index
    if unit == "day" and (side, anchor) in (("before", "yesterday"), ("after", "tomorrow")):
        return _day(left, index + 2, today + (2 if side == "after" else -2))
    if unit != "day" and (side, anchor) in (("before", "last"), ("after", "next")):
        span = calendar_unit(unit, 2 if side == "after" else -2, today)
        following = word_after(tokens, index + 2)
        # "The week before last Christmas" is about Christmas.
        if span and (not following or following not in TRIGGERS):
            return Found(left, index + 3, *span, True)
    return None
