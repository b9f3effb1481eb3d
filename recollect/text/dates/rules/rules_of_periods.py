"""Weeks, months, seasons, quarters and years, and parts of them: "next week", "mid March"."""

from __future__ import annotations

from datetime import date

from recollect.text.dates.calendar_days import (
    Days,
    calendar_unit,
    days,
    month,
    month_index,
    season_of,
    week_of,
    year_days,
)
from recollect.text.dates.found_dates import DAY_MINUTES
from recollect.text.dates.rules.rules_of_numbers import SMALL
from recollect.text.dates.time_values import LASTING, NOTHING, Now, When, Yearly, one_day
from recollect.text.declared_rules import rule
from recollect.text.lexicon import SEASONS, word_set

_SHIFTS = {
    **dict.fromkeys(("last", "past", "previous"), -1),
    **dict.fromkeys(("this", "current"), 0),
    **dict.fromkeys(("next", "nxt", "coming", "upcoming"), 1),
}
_PARTS = {
    **dict.fromkeys(("early", "beginning", "start"), "early"),
    **dict.fromkeys(("mid", "middle"), "mid"),
    **dict.fromkeys(("late", "end", "close"), "late"),
    "first": "first half",
    "second": "second half",
}
#: The weekday on which a unit begins, and its number of further days.
_BEGINS = {"day": (0, 0), "week": (0, 6), "weekend": (5, 1)}
#: EOD, EOW, EOM, EOY; BOM, BOY.
_LAST_LETTERS = {"d": "day", "w": "week", "m": "month", "y": "year"}
CLASSES = {
    "shift": frozenset(_SHIFTS),
    "season": frozenset(SEASONS),
    "yearin": word_set("in since until till til during of by from before after around circa early "
                       "late mid year for to"),
}  # fmt: skip


def _unit(now: Now, unit: str, step: int = 0, the: str | None = None) -> When | None:
    """Return the unit `step` units from today's; "the past year" may be one that ends today."""
    if unit in SMALL or unit in ("day", "fortnight"):
        return None
    if unit == "weekend":
        return _weekend(now, step)
    span = calendar_unit(unit, step, now.today)
    return When((span,), unit, certain=the is None) if span else None


def _weekend(now: Now, step: int) -> When:
    """Return the weekend at an offset; on a Sunday, the current weekend is not "last weekend"."""
    saturday = week_of(now.today)[1] - 1
    if step:
        return When((days(saturday + 7 * step, saturday + 7 * step + 1),), "weekend")
    spans = (days(saturday - 7, saturday - 6), days(saturday, saturday + 1))
    return When(spans if now.today < saturday else spans[1:], "weekend", pick="weekend")


def _two_on(now: Now, said: str | int, way: str) -> When | None:
    step = 1 if way == "after" else -1
    if isinstance(said, str):
        return _unit(now, said, 2 * step)
    found = _every_year(said).shifted(now, step)
    return found and found.map(lambda span: month(month_index(span[0]) + 12 * step))


def _several(now: Now, step: int, count: int, unit: str) -> When | None:
    """Return the next or the last `count` units: those after or before today's."""
    if not step or not 0 < count < 1_000 or unit in ("weekend", "fortnight"):
        return None
    near, far = calendar_unit(unit, step, now.today), calendar_unit(unit, step * count, now.today)
    if near is None or far is None:
        return None
    return When((days(min(near[0], far[0]), max(near[1], far[1])),), unit)


def _nth_coming(now: Now, count: int, unit: str) -> When | None:
    span = calendar_unit(unit, count, now.today)
    return When((span,), unit) if span else None


def _moment(now: Now, step: int, count: int | None, unit: str) -> When | None:
    """Return when the next or the last hours, minutes or seconds end or begin."""
    if unit not in SMALL:
        return one_day(now.today) if unit == "day" and step == 0 and count is None else None
    after = max(step, 0) * (count or 1) * SMALL[unit] // 60
    day, minute = divmod(now.minute + after, DAY_MINUTES)
    return one_day(now.today + day)._replace(kind="time", clock=minute, certain=False)


def _beside(now: Now, way: str, unit: str) -> When | None:
    """Return the unit after or before a named one; relative to today's if none is named."""
    step = -1 if way == "before" else 1
    span = calendar_unit("day" if unit in ("night", "morning") else unit, step, now.today)
    return When((span,), unit, pick="beside", certain=way == "following") if span else None


def _every_year(number: int) -> Yearly:
    return Yearly(lambda year: (month(year * 12 + number - 1),), "month")


def _season(season: str) -> Yearly:
    return Yearly(
        lambda year: (season_of(SEASONS[season], year),), "season", certain=False, reach=3
    )


def _quarter(_: Now, number: str | int) -> Yearly | None:
    first = 3 * int(number) - 3
    if not 0 <= first < 12:
        return None
    sure = isinstance(number, str)
    return Yearly(lambda year: (month(year * 12 + first, 3),), "quarter", certain=sure, reach=0)


def _month_in_numbers(_: Now, one: str, other: str) -> When | None:
    year, number = (one, other) if len(one) == 4 else (other, one)
    fits = 1 <= int(number) <= 12 and 1000 <= int(year) < 2200
    return _every_year(int(number)).in_year(int(year), stated=True) if fits else None


def _year(_: Now, year: int) -> When | None:
    return When((year_days(year),), "year", stated=True) if 1600 <= year < 2150 else None


def _bare_year(now: Now, year: int) -> When | None:
    near = abs(year - now.here.year) <= 40
    return When((year_days(year),), "year", stated=True, certain=False) if near else None


def _decade(_: Now, digits: str) -> When | None:
    year = int(digits) + (0 if len(digits) == 4 else 1900)
    if year % 10:
        return None
    span = days(year_days(year)[0], year_days(year + 9)[1])
    return When((span,), "decade", stated=True, certain=False)


def _week_of(_: Now, day: When) -> When | None:
    short = day.kind == "day" and day.grain in ("day", "feast")
    return day._replace(grain="week").map(lambda span: week_of(span[0])) if short else None


def _unit_beside(_: Now, unit: str, way: str, day: When) -> When | None:
    step = -1 if way == "before" else 1
    return day._replace(grain=unit, clock=None, half=None, exact=None).map(
        lambda span: calendar_unit(unit, step, span[step > 0])
    )


def _numbered_week(_: Now, sure: str | None, digits: str) -> Yearly | None:
    """Return a week of the year; a low number may be a week of a course or a season."""

    def weeks(year: int) -> tuple[Days, ...]:
        try:
            return (week_of(date.fromisocalendar(year, int(digits), 1).toordinal()),)
        except ValueError:
            return ()

    if sure is None and int(digits) <= 18:
        return None
    return Yearly(weeks, "week", "near", certain=sure is not None, reach=1)


def _part_span(span: Days, which: str, grain: str) -> Days | None:
    """Return the beginning, the middle, the end or a half of a period."""
    first, last = span
    if which in ("first half", "second half"):
        middle = month(month_index(first) + 6)[0] if grain == "year" else (first + last + 1) // 2
        middle = first + 15 if grain == "month" else middle
        return (first, middle - 1) if which == "first half" else (middle, last)
    if grain == "year":
        start, count = {"early": (0, 3), "mid": (4, 4), "late": (8, 4)}[which]
        return month(month_index(first) + start, count)
    if grain == "month":
        bounds = {"early": (0, 9), "mid": (10, 19), "late": (20, last - first)}
    elif grain in ("week", "weekend"):
        bounds = {"early": (0, 2), "mid": (2, 4), "late": (4, last - first)}
    elif grain in ("season", "quarter", "decade"):
        length = last - first + 1
        third = length // 3
        bounds = {"early": (0, third - 1), "mid": (third, length - third - 1),
                  "late": (length - third, length - 1)}  # fmt: skip
    else:
        return None
    return first + bounds[which][0], first + bounds[which][1]


def _part(_: Now, which: str, period: When) -> When | None:
    return period.map(lambda span: _part_span(span, which, period.grain))


def _last_day(_: Now, period: When) -> When | None:
    return period._replace(grain="day").map(lambda span: (span[1], span[1]))


def _end(now: Now, period: When) -> When | None:
    """Return the day of the end of a period: the end of a month is its last day."""
    return None if period.grain in ("day", "week", "weekend") else _last_day(now, period)


def _stretch(now: Now, said: When | int | str) -> When | None:
    if isinstance(said, When):
        return None if said.grain == "day" or said.kind != "day" else said
    if isinstance(said, str):
        return one_day(now.today) if said == "day" else _unit(now, said)
    return _year(now, said) if said > 12 else _every_year(said).near(now)


def _letters(now: Now, word: str) -> When | None:
    period = _stretch(now, _LAST_LETTERS[word[2]])
    if period is None or period.grain == "day":
        return period
    return _part(now, "late" if word[0] == "e" else "early", period)


def _nth_of(
    _: Now, nth: int | None, last: str | None, unit: int | str, period: When
) -> When | None:
    """Return the nth part of a period: the second day of June, its first Monday or last week."""
    within = period.grain in ("month", "season", "quarter", "year")
    if (nth is None and last is None) or not (within or (unit == "day" and period.grain != "day")):
        return None
    back = (nth or 1) - 1
    start, more = (unit, 0) if isinstance(unit, int) else _BEGINS[unit]

    def span_of(span: Days) -> Days | None:
        if unit == "day":
            first = span[1] - back if last else span[0] + back
        elif last:
            first = span[1] - more - (span[1] - more - 1 - start) % 7 - 7 * back
        else:
            first = span[0] + (start - (span[0] - 1)) % 7 + 7 * back
        return days(first, first + more) if span[0] <= first <= span[1] else None

    return period._replace(grain=unit if isinstance(unit, str) else "day").map(span_of)


def _rest(now: Now, unit: str) -> When | None:
    found = calendar_unit(unit, 0, now.today)
    return When(((now.today, found[1]),), unit) if found else None


RULES = (
    rule("shift", "shift", "{@shift} | this {past|coming}", lambda _, word: _SHIFTS[word],
         "last week -> 2026-04-27..2026-05-03\nthis past month -> 2026-04-01..2026-04-30"),
    rule("years", "years",
         "<shift> year | in (<int> | a) year|years | <int> year|years ({ago|hence} | from {now})",
         lambda _, it, way=None: -it if way == "ago" else 1 if it is None else it,
         "March next year -> 2027-03-01..2027-03-31\nMarch in two years -> 2028-03-01..2028-03-31"),
    rule("part", "part",
         "the? ({early|mid|late|end} (of | ~-)? | {beginning|start|middle|close} of | "
         "{first|second} half of)",
         lambda _, it: _PARTS[it], "We moved in mid March -> 2026-03-11..2026-03-20"),
    rule("period/shifted", "day", "{the}? <shift> <unit>",
         lambda now, the, step, unit: _unit(now, unit, step, the),
         "next month -> 2026-06-01..2026-06-30\nthis week -> 2026-05-04..2026-05-10\n"
         "the next year -> 2027-01-01..2027-12-31 ?",
         unless=("before the|a|an|these|those", "after of", "after ' s <unit>", "plural_unit")),
    rule("period/the-weekend", "day", "the|this|at|over weekend", lambda now: _weekend(now, 0),
         "we went out at the weekend -> 2026-05-02..2026-05-03", unless=("after of|before|after",)),
    rule("period/after-next", "day", "the? <unit|month> ({after} next | {before} last)", _two_on,
         "the week after next -> 2026-05-18..2026-05-24\n"
         "the week before last -> 2026-04-20..2026-04-26",
         unless=("after <month>", "after @season", "after <feast>", "after <weekday>",
                 "after <unit>")),
    rule("period/several", "day", "<shift> <int> <unit>", _several,
         "the course takes the next three weeks -> 2026-05-11..2026-05-31",
         unless=("before (over|for|during|within|throughout|in|of) the?", "after ago")),
    rule("period/nth-coming", "day", "upcoming <int> <unit> | <int> coming|upcoming <unit>",
         _nth_coming, "two upcoming weeks -> 2026-05-18..2026-05-24", priority=1,
         unless=("before the|my|our|these",)),
    rule("period/moment", "day", "<shift> <int>? <unit>", _moment, priority=1,
         unless=("only alone",), told="next 20 minutes -> 2026-05-08 14:16 ?\n"
         "this hour -> 2026-05-08 13:56 ?", counters=("We talked for the last 20 minutes.",)),
    rule("period/beside", "day",
         "the|that {following} {day|week|month|quarter|year} | the {next} {day|morning}", _beside,
         "we grow the following quarter -> 2026-07-01..2026-09-30", priority=2),
    rule("period/beside-it", "day", "the? {day|night|week|month|year} {after|before}",
         lambda now, unit, way: _beside(now, way, unit),
         "We fly on 20 May and return the week after. -> 2026-05-25..2026-05-31 ?",
         unless=("clause_follows", "before @number|few|couple|a|#1|#2")),
    rule("yearly/month", "yearly", "<month>", lambda _, it: _every_year(it),
         "in February 2024 -> 2024-02-01..2024-02-29"),
    rule("yearly/season", "yearly", "{@season}", lambda _, it: _season(it),
         "the summer of 2022 -> 2022-06-01..2022-08-31"),
    rule("yearly/quarter", "yearly", "q ~#1 | the? <ord> quarter|qtr", _quarter,
         "Q3 2026 -> 2026-07-01..2026-09-30\nthird quarter of 2018 -> 2018-07-01..2018-09-30"),
    rule("yearly/week", "yearly", "({calendar|iso}? week | {kw}) #1|#2", _numbered_week,
         "calendar week 27 -> 2026-06-29..2026-07-05", unless=("after :|~.|- #",)),
    rule("yearly/year", "day", "<yearly> ,|of|in|-|/? of? <year>",
         lambda _, it, year: it.in_year(year, stated=True) or NOTHING,
         "Jan. 5, 2024 -> 2024-01-05\nEaster 2010 -> 2010-04-04", priority=1),
    rule("yearly/year-first", "day", "<year> ,|-|/? <yearly>",
         lambda _, year, it: it.in_year(year, stated=True) or NOTHING,
         "2009 May 22nd -> 2009-05-22\n2018 Q4 -> 2018-10-01..2018-12-31",
         unless=("after <year>", "after of|,|in|-? <year>")),
    rule("yearly/other-year", "day", "<yearly> ,|of|in? the? <years>",
         lambda now, it, step: it.in_year(now.here.year + step),
         "3 May last year -> 2025-05-03\nEaster three years ago -> 2023-04-09", priority=1,
         unless=("may_opens",), counters=("May this year be good to you.",)),
    rule("yearly/years", "day", "<shift> year (' s | in | ,) <yearly>",
         lambda now, step, it: it.in_year(now.here.year + step),
         "last year's Easter -> 2025-04-20\n"
         "next year in May -> 2027-05-01..2027-05-31"),
    rule("yearly/shifted", "day", "the? <shift> <yearly>",
         lambda now, step, it: it.shifted(now, step) if it.grain not in ("day", "week") else None,
         "last June -> 2025-06-01..2025-06-30\nnext winter -> 2026-12-01..2027-02-28\n"
         "next Thanksgiving -> 2026-11-26", unless=("shifted_may", "past_bare"), priority=1),
    rule("month/alone", "day", "<month>", lambda now, it: _every_year(it).near(now),
         "We fly in June -> 2026-06-01..2026-06-30\nI was there in June -> 2025-06-01..2025-06-30",
         unless=("month_is_name", "before @weekday of|in"),
         counters=("I asked April and June", "You may march on.")),
    rule("month/in-numbers", "day", "#4 ~-|/ ~#2 | #1|#2 ~/ ~#4", _month_in_numbers,
         "the report for 2014-10 -> 2014-10-01..2014-10-31\npaid for 2/2013 -> "
         "2013-02-01..2013-02-28", unless=("after ~-|/|.|: #", "before # /|-")),
    rule("season/alone", "day", "the? {summer|winter|autumn|spring}",
         lambda now, it: _season(it).near(now),
         "we met in the summer -> 2025-06-01..2025-08-31",
         unless=("only before in|by|over|until|till|since|before|after|during|from|last|for",
                 "after of", "counts_something")),
    rule("yearly/alone", "day", "<yearly>",
         lambda now, it: it.near(now) if it.grain in ("quarter", "week") else None,
         "Q3 -> 2026-07-01..2026-09-30\nit ships in week 27 -> 2026-06-29..2026-07-05 ?",
         unless=("after of",)),
    rule("quarter/short-year", "day", "#2 ~q ~#1",
         lambda now, year, it: (q := _quarter(now, it)) and q.in_year(2000 + int(year)),
         "18q4 -> 2018-10-01..2018-12-31"),
    rule("year/opened", "day", "<year>", _year, "in 2016 -> 2016-01-01..2016-12-31",
         unless=("only before @yearin", "counts_something", "after <unit>", "year_of_thing"),
         counters=("Room 2016", "a desk from 1890")),
    rule("year/bare", "day", "<year>", _bare_year,
         "a blessed 2026 to you all -> 2026-01-01..2026-12-31 ?",
         unless=("number_of", "counts_something", "after <unit>"), priority=-1,
         counters=("Room 2016",)),
    rule("decade", "day", "early|mid|late? '? #4|#2 ~s", _decade,
         "in the 1980s -> 1980-01-01..1989-12-31 ?",
         unless=("only before (in|since|during|from|until|to|early|late|mid) the",)),
    rule("week/of", "day", "the? week of|commencing|beginning|starting|from the? <day>",
         _week_of, "the week of May 20 -> 2026-05-18..2026-05-24",
         unless=("before a|per|each|every",)),
    rule("unit/beside", "day", "the? {day|week|month|year} {after|before|following} <day>",
         _unit_beside, "the day after tomorrow -> 2026-05-10\n"
         "the day before yesterday -> 2026-05-06\nthe week after 4 May -> 2026-05-11..2026-05-17",
         unless=("before @number|a|#1|#2",)),
    rule("stretch", "stretch", "<day|month|year> | the|this? {day|week|month|quarter|year}",
         _stretch, "It closed in the middle of the month. -> 2026-05-11..2026-05-20"),
    rule("part/of", "day", "<part> the|this|around? <stretch>", _part,
         "The draft is due in mid March 2027. -> 2027-03-11..2027-03-20\n"
         "We move in the second half of July. -> 2026-07-16..2026-07-31\n"
         "end of June -> 2026-06-21..2026-06-30", priority=1),
    rule("part/end-in-a-sentence", "day", "(end of? | the end of) the|this|around? <stretch>", _end,
         "I stop at the end of August. -> 2026-08-31", unless=("whole", "before by|until|till|til"),
         priority=2),
    rule("part/by-the-end", "day", "by|until|till|til the? end of? <stretch>", _last_day,
         "it is due by the end of June -> 2026-06-30\nby end of day -> 2026-05-08", priority=2),
    rule("part/end-after-it", "day", "{month|quarter|year} (' s)? -? end",
         lambda now, unit: (it := _stretch(now, unit)) and _last_day(now, it),
         "paid by month end -> 2026-05-31",
         unless=("after of|-|point", "only before by|before|until|till|til|the|this")),
    rule("part/letters", "day", "{eod|eow|eom|eoy|bom|boy}", _letters,
         "by EOM -> 2026-05-21..2026-05-31", unless=("bare_letters",),
         counters=("oh boy what a day",)),
    rule("part/rest", "day", "the? rest|remainder of the|this {week|month|quarter|year}", _rest,
         "the rest of the week -> 2026-05-08..2026-05-10"),
    rule("nth-of", "day", "the? <ord>? {last|final}? "
         "({day|week|weekend} of|in | <weekday> of|in?) <stretch>", _nth_of,
         "the third day of June -> 2026-06-03\nthe last weekend in June -> 2026-06-27..2026-06-28\n"
         "the second last week of June -> 2026-06-15..2026-06-21\n"
         "the second Wednesday of October 2026 -> 2026-10-14\n"
         "the last Friday in June -> 2026-06-26"),
    rule("period/lasting", "none",
         "over|for|during|in|within|throughout|of the last|past|next|coming (<int> | few | "
         "couple of)? <unit>", lambda *_: LASTING, "over the last week -> duration", priority=1),
)  # fmt: skip
