"""Weekdays: "Friday", "next Tuesday", "a week on Tuesday", "the first Monday in June"."""

from __future__ import annotations

from recollect.text.dates.calendar_days import Days, clip, week_of
from recollect.text.dates.time_values import Now, When, moved, one_day
from recollect.text.declared_rules import rule
from recollect.text.lexicon import ORDINALS, WEEKDAYS, word_set

CLASSES = {
    "weekday": frozenset(WEEKDAYS),
    "weekdays": frozenset(name + "s" for name in WEEKDAYS if name.endswith("day")),
    "each": word_set("every each most some any all many alternate"),
    "the": frozenset({"a", "an", "the", "that", "these", "those", *ORDINALS}),
    "dayparts": word_set("mornings afternoons evenings nights"),
}
_WAYS = {"ago": -1, "back": -1, "hence": 1, "now": 1}


def ahead(now: Now, weekday: int) -> int:
    """Return the number of days until a weekday; 0 if it is today."""
    return (weekday - (now.today - 1)) % 7


def weekday_named(word: str) -> int:
    """Return the weekday that a word names, in the singular or plural."""
    return WEEKDAYS[word] if word in WEEKDAYS else WEEKDAYS[word.removesuffix("s")]


def _bare(now: Now, weekday: int) -> When:
    step = ahead(now, weekday)
    spans = tuple(moved(now.today, each) for each in (step - 7, step, step + 7))
    return When(spans, pick="weekday")


def _shifted(now: Now, step: int, weekday: int) -> When:
    if step < 0:
        return one_day(clip(now.today - (7 - ahead(now, weekday))))
    if step > 0:
        return one_day(clip(week_of(now.today)[0] + 7 + weekday))
    step = ahead(now, weekday)
    return When((moved(now.today, step - 7), moved(now.today, step)), pick="this")


def _coming(now: Now, weekday: int, more: int = 0) -> When:
    return one_day(clip(now.today + (ahead(now, weekday) or 7) + more))


def _of_week(_: Now, weekday: int, week: When) -> When | None:
    if week.grain != "week":
        return None
    return week._replace(grain="day", exact=None).map(lambda span: moved(span[0], weekday))


def _beside(_: Now, nth: int | None, weekday: int, way: str, day: When) -> When | None:
    """Return the next or last weekday relative to a day, or the one `more` weeks further on."""
    step = 7 * ((nth or 1) - 1)

    def found(span: Days) -> Days:
        if way == "after":
            return moved(span[1], ((weekday - span[1] + 1) % 7 or 7) + step)
        return moved(span[0], -((span[0] - 1 - weekday) % 7 or 7) - step)

    return day.map(found)


def _weekdays_ago(now: Now, count: int, weekday: str, way: str) -> When | None:
    first = ahead(now, weekday_named(weekday)) or 7
    step = first + 7 * (count - 1) if _WAYS[way] > 0 else first - 7 * count
    return one_day(clip(now.today + step)) if count < 999 else None


RULES = (
    rule("weekday", "weekday", "{@weekday} ~.?", lambda _, it: WEEKDAYS[it],
         "see you on Sunday -> 2026-05-10"),
    rule("weekday/bare", "day", "<weekday>", _bare,
         "We will meet on Tuesday -> 2026-05-12\nI saw her on Tuesday -> 2026-05-05",
         unless=("before @each", "before @the", "after @dayparts", "after (in|of) <month>",
                 "short_weekday", "weekday_in_name"),
         counters=("every Friday", "on a Monday", "the Monday physio", "that Friday in the park",
                   "We love Focus Friday.", "we sat down", "on a Friday in March")),
    rule("weekday/shifted", "day", "<shift> <weekday>", _shifted,
         "last Friday -> 2026-05-01\nnext Friday -> 2026-05-15\nthis Sunday -> 2026-05-10",
         unless=("weekday_in_name", "past_bare")),
    rule("weekday/coming", "day", "this|the? coming <weekday>", _coming,
         "this coming Friday -> 2026-05-15", priority=1),
    rule("weekday/a-week-on", "day",
         "<weekday> after next | (a|one week | 1 week) on|from <weekday>",
         lambda now, it: _coming(now, it, 7),
         "Wednesday after next -> 2026-05-20\na week on Tuesday -> 2026-05-19",
         unless=("is_rate",)),
    rule("weekday/week", "day", "<weekday> week", lambda now, it: _coming(now, it, 7),
         "The hearing is Tuesday week. -> 2026-05-19",
         unless=("before @each|the|last|next|this|a", "after #|'", "counts_something")),
    rule("weekday/before-last", "day", "the <weekday> before last",
         lambda now, it: one_day(clip(now.today - 14 + ahead(now, it))),
         "She rang the Monday before last. -> 2026-04-27"),
    rule("weekday/of-a-week", "day", "<weekday> ,|of|in|on|from? <day>", _of_week,
         "Monday of next week -> 2026-05-11"),
    rule("weekday/in-a-week", "day", "<day> (, | on | ' s)? <weekday>",
         lambda now, period, it: _of_week(now, it, period), "next week Tuesday -> 2026-05-12"),
    rule("weekday/beside", "day", "the? <ord>? <weekday> {before|after} <day>", _beside,
         "the Sunday after 4 May 2026 -> 2026-05-10\n"
         "the third Tuesday after Christmas 2026 -> 2027-01-12"),
    rule("weekdays-ago", "day", "<int> {@weekday|@weekdays} ({ago|back|hence} | from {now})",
         _weekdays_ago, "two Thursdays ago -> 2026-04-30\ntwo Thursdays from now -> 2026-05-21"),
)  # fmt: skip
