"""Spans from one day to another: "June 20 to July 3", "between Monday and Friday"."""

from __future__ import annotations

from recollect.text.dates.calendar_days import shifted, year_days
from recollect.text.dates.rules.rules_of_days import number_of_month
from recollect.text.dates.rules.rules_of_numbers import Amount
from recollect.text.dates.time_values import Now, When, one_day
from recollect.text.declared_rules import rule
from recollect.text.lexicon import word_set

#: In days: the maximum length of a span whose first day has no year.
_LONGEST = 366

CLASSES = {"until": word_set("to through thru till til until - – —")}


def _span(_: Now, first: When, last: When) -> When | None:
    """Return the days from those of one expression to those of another that follow them."""
    if {first.kind, last.kind} != {"day"} or (first.clock, last.clock) != (None, None):
        return None
    if "span" in (first.grain, last.grain):
        return None
    by_end: dict[int, int] = {}
    for begin in first.spans:
        ends = [span for span in last.spans if begin[0] <= span[0]]
        if ends and (ends[0][0] - begin[0] <= _LONGEST or first.stated):
            by_end[ends[0][1]] = begin[0]  # the latest such day before that end
    spans = [(begin, end) for end, begin in by_end.items()]
    if not spans:
        return None
    pick = first.pick if first.grain != "day" or first.pick == "near" else "near"
    if last.stated:
        spans = spans[-1:]
    if "dated" in (first.pick, last.pick):
        return When(tuple(spans), "span", pick="dated", slip=first.slip or last.slip)
    return When(tuple(spans), "span", stated=first.stated or last.stated, pick=pick,
                certain=first.certain or last.certain)  # fmt: skip


def _from_now(now: Now, last: When) -> When | None:
    later = last.map(lambda span: span if span[1] > now.today else None)
    return later and _span(now, one_day(now.today), later)


def _bare(now: Now, first: When, last: When) -> When | None:
    """Return a span of months or years, whose parts are unambiguous by themselves."""
    alike = first.grain == last.grain and first.grain in ("month", "year")
    return _span(now, first, last) if alike else None


def _numbers(now: Now, first: int | str, last: int | str) -> When | None:
    """Return a span of days of one month, or of two consecutive ones: "the 12th to the 14th"."""
    one, other = number_of_month(now, int(first)), number_of_month(now, int(last))
    found = _span(now, one, other) if one and other else None
    return found and found._replace(pick="number", certain=True)


def _short_years(_: Now, first: str, last: str) -> When | None:
    one, other = int(first), int(first[:2] + last)
    if not (1600 <= one < other < 2150):
        return None
    return When(((year_days(one)[0], year_days(other)[1]),), "span", stated=True)


def _moments(_: Now, first: When, last: When) -> When | None:
    """Return the days from one moment to another; a single day if both are on it."""
    if first.clock is None or last.clock is None or not (first.stated and last.stated):
        return None
    one, other = first.spans[0], last.spans[0]
    if one == other:
        return first
    return first._replace(spans=((one[0], other[1]),), clock=None) if one < other else None


def _lasting(_: Now, one: When | Amount, other: When | Amount) -> When | None:
    """Return the days from a day on: "18 December for ten days"."""
    day, amount = (one, other) if isinstance(one, When) else (other, one)
    assert isinstance(day, When) and isinstance(amount, Amount)
    if amount.unit in ("minute", "weekend") or day.clock is not None or day.kind != "day":
        return None
    return day._replace(grain="span", exact=None).map(
        lambda span: (span[0], shifted(span[0], amount.unit, amount.number))
    )


RULES = (
    rule("span", "day", "<day> @until (the | the? end of)? <day|stretch>", _span,
         "The fair runs from June 20 to July 3. -> 2026-06-20..2026-07-03\n"
         "3 May to the end of June -> 2026-05-03..2026-06-30",
         unless=("rescheduled", "both_weekdays", "before @weekday", "after ,? the? <month-day>",
                 "after the <ord>"), counters=("It was moved from Monday to Wednesday",)),
    rule("span/from-now", "day",
         "between now and the? <day|stretch> | from now @until (the | the? end of)? <day|stretch>",
         _from_now,
         "I am on call between now and 20 May -> 2026-05-08..2026-05-20\n"
         "from now until September -> 2026-05-08..2026-09-30"),
    rule("span/between", "day", "<day|stretch> and <day|stretch>", _span,
         "between June 20 and July 3 -> 2026-06-20..2026-07-03", unless=("only before between",)),
    rule("span/bare", "day", "<stretch> @until <day|stretch>", _bare,
         "June to August 2024 -> 2024-06-01..2024-08-31\n"
         "he lived there 1952-1961 -> 1952-01-01..1961-12-31"),
    rule("span/short-years", "day", "#4 -|– #2", _short_years,
         "the war of 1914–18 -> 1914-01-01..1918-12-31", unless=("after -|–|/|~.",)),
    rule("span/lasting", "day", "<day> for <amount> | for <amount> from|starting <day>", _lasting,
         "from 18 May for 10 days -> 2026-05-18..2026-05-28\n"
         "for 10 days from 18 May -> 2026-05-18..2026-05-28"),
    rule("span/numbers", "day", "the? <ord> /|-|–|to|until the? <ord>", _numbers,
         "I can do the 14th/15th -> 2026-05-14..2026-05-15",
         unless=("rescheduled", "counts_something", "after of", "small_ordinal")),
    rule("span/bare-numbers", "day", "#1|#2 ~-|– ~#1|#2", _numbers,
         "The hall is free in June. I take 24–27. -> 2026-06-24..2026-06-27",
         unless=("only month_near", "counts_something", "after <unit>", "after ~.|:|/|- #",
                 "after %|°|h|am|pm", "before ~.|:|/|-|$|£|€|at|@|age|ages")),
    rule("span/moments", "day", "<day> to|-|until|– <day>", _moments,
         "2025-03-16 10:00:00 to 2025-03-16 11:00:00 -> 2025-03-16 10:00\n2025-03-16 10:00:00 to "
         "2025-03-18 11:00:00 -> 2025-03-16..2025-03-18", priority=1),
)  # fmt: skip
