"""Recurring times: "every Friday", "on Tuesdays", "twice a week". They have a rule and no day."""

from __future__ import annotations

from recollect.text.dates.found_dates import DAY_MINUTES
from recollect.text.dates.rules.rules_of_days import MonthDay
from recollect.text.dates.rules.rules_of_feasts import Feast
from recollect.text.dates.rules.rules_of_weekdays import weekday_named
from recollect.text.dates.time_values import Clock, Now, When
from recollect.text.declared_rules import rule
from recollect.text.lexicon import word_set

_FREQUENCY = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY",
              "hour": "HOURLY", "minute": "MINUTELY"}  # fmt: skip
_TIMES = {"weekend": "FREQ=WEEKLY;BYDAY=SA,SU", "quarter": "FREQ=MONTHLY;INTERVAL=3",
          "fortnight": "FREQ=WEEKLY;INTERVAL=2"}  # fmt: skip
_ADVERBS = {
    "daily": "FREQ=DAILY", "nightly": "FREQ=DAILY", "weekly": "FREQ=WEEKLY",
    "hourly": "FREQ=HOURLY",
    "fortnightly": "FREQ=WEEKLY;INTERVAL=2", "biweekly": "FREQ=WEEKLY;INTERVAL=2",
    "monthly": "FREQ=MONTHLY", "quarterly": "FREQ=MONTHLY;INTERVAL=3", "yearly": "FREQ=YEARLY",
    "annually": "FREQ=YEARLY", "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekends": "FREQ=WEEKLY;BYDAY=SA,SU", "weeknights": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "mornings": "FREQ=DAILY", "evenings": "FREQ=DAILY", "nights": "FREQ=DAILY",
    "afternoons": "FREQ=DAILY",
}  # fmt: skip
_SHORT = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
CLASSES = {
    "adverb": frozenset(_ADVERBS) - {"mornings", "evenings", "nights", "afternoons"},
    "times": word_set("mornings evenings nights afternoons"),
    "repeat": word_set("every each"),
    "halfday": word_set("morning afternoon evening night nite lunchtime"),
}


def _again(rule_of: str) -> When:
    return When(kind="recurrence", rule=rule_of)


def _every(_: Now, said: int | str | None, unit: str | Feast) -> When | None:
    count = 2 if isinstance(said, str) else said
    if not isinstance(unit, str):
        return _again("FREQ=YEARLY")
    if unit in _TIMES:
        return _again(_TIMES[unit])
    if unit not in _FREQUENCY:
        return None
    interval = f";INTERVAL={count}" if count and count > 1 else ""
    return _again(f"FREQ={_FREQUENCY[unit]}{interval}")


def _weekday(_: Now, weekday: int, interval: int = 1) -> When:
    step = f";INTERVAL={interval}" if interval > 1 else ""
    return _again(f"FREQ=WEEKLY{step};BYDAY={_SHORT[weekday]}")


def _weekdays(_: Now, first: int, last: int) -> When:
    days = [_SHORT[(first + step) % 7] for step in range((last - first) % 7 + 1)]
    return _again(f"FREQ=WEEKLY;BYDAY={','.join(days)}")


def _list(_: Now, said: MonthDay | tuple[int, ...] | int) -> When:
    if isinstance(said, MonthDay):
        return _again(f"FREQ=YEARLY;BYMONTH={said.month};BYMONTHDAY={said.first}")
    weekdays = dict.fromkeys(said if isinstance(said, tuple) else (said,))
    return _again(f"FREQ=WEEKLY;BYDAY={','.join(_SHORT[each] for each in weekdays)}")


def _at(_: Now, one: When | Clock, other: When | Clock) -> When:
    again, clock = (one, other) if isinstance(one, When) else (other, one)
    assert isinstance(again, When) and isinstance(clock, Clock)
    return again._replace(clock=clock.within(None).minute % DAY_MINUTES)


def _of_month(_: Now, nth: int | str, weekday: int | None) -> When:
    count = -1 if isinstance(nth, str) else nth
    by = f"BYMONTHDAY={count}" if weekday is None else f"BYDAY={count}{_SHORT[weekday]}"
    return _again(f"FREQ=MONTHLY;{by}")


def _other(now: Now, said: int | str) -> When:
    return _weekday(now, weekday_named(said) if isinstance(said, str) else said, 2)


def _join(_: Now, one: int, more: int | tuple[int, ...]) -> tuple[int, ...]:
    return (one, *(more if isinstance(more, tuple) else (more,)))


RULES = (
    rule("again/every", "again",
         "@repeat ({other|second|alternate} | <int|ord> | few | couple of | single)? <unit|feast>",
         _every, "every week -> FREQ=WEEKLY\nevery other day -> FREQ=DAILY;INTERVAL=2\n"
         "every three weeks -> FREQ=WEEKLY;INTERVAL=3"),
    rule("again/weekday", "again", "@repeat single? <weekday> | on? <weekday> @times", _weekday,
         "every Friday -> FREQ=WEEKLY;BYDAY=FR\nFriday nights -> FREQ=WEEKLY;BYDAY=FR",
         counters=("on Friday",)),
    rule("again/other-weekday", "again",
         "@repeat other|second <weekday> | alternate <weekday> | alternate {@weekdays}", _other,
         "every other Tuesday -> FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
    rule("again/plural", "again", "on? {@weekdays}",
         lambda now, it: _weekday(now, weekday_named(it)), "on Fridays -> FREQ=WEEKLY;BYDAY=FR"),
    rule("again/to", "again", "<weekday> to|-|through|till|– <weekday>", _weekdays,
         "Monday to Friday -> FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", unless=("rescheduled",)),
    rule("weekdays", "weekdays", "<weekday> ,|/|&|and|+? <weekday|weekdays>", _join,
         "every Monday, Wednesday and Friday -> FREQ=WEEKLY;BYDAY=MO,WE,FR"),
    rule("again/each-of-several", "again", "@repeat <weekdays>", _list,
         "every Monday and Friday -> FREQ=WEEKLY;BYDAY=MO,FR"),
    rule("again/several", "again", "<weekday> /|& <weekday|weekdays>",
         lambda now, *both: _list(now, _join(now, *both)),
         "Mon/Wed/Fri -> FREQ=WEEKLY;BYDAY=MO,WE,FR"),
    rule("again/on", "again", "<again> ,|:|on|- <weekday|weekdays|month-day>",
         lambda now, _, said: _list(now, said), "weekly, Thu and Fri -> FREQ=WEEKLY;BYDAY=TH,FR\n"
         "every year on 4 May -> FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=4"),
    rule("again/on-a", "again", "on a|an <weekday>", _weekday,
         "I always check on a Sunday -> FREQ=WEEKLY;BYDAY=SU",
         unless=("after in|of|afternoon|morning|evening",)),
    rule("again/day-of-month", "again", "on? the? (<ord> <weekday>? | {last} <weekday>) "
         "of|in? each|every month | every <ord> of the month", _of_month,
         "rent is due the 3rd of every month -> FREQ=MONTHLY;BYMONTHDAY=3\n"
         "on the last Friday of each month -> FREQ=MONTHLY;BYDAY=-1FR"),
    rule("again/part", "again", "@repeat single? @halfday", lambda now: _again("FREQ=DAILY"),
         "every morning -> FREQ=DAILY"),
    rule("again/parts", "again", "(in the | at | most | @repeat weekday)? @times",
         lambda now: _again("FREQ=DAILY"), "in the evenings -> FREQ=DAILY",
         unless=("before @number|few|of|two|many|more|sleepless|these|those|the", "before #")),
    rule("again/adverb", "again", "on|at? {@adverb}", lambda now, it: _again(_ADVERBS[it]),
         "we meet weekly -> FREQ=WEEKLY"),
    rule("again/times", "again",
         "(once | twice | #1|#2|@number times|days|nights) a|per|each|every|an <unit>",
         lambda now, *it: _every(now, None, it[-1]), "twice a week -> FREQ=WEEKLY"),
    rule("again/amount-per", "again", "<amount> a|per|each|every <unit>",
         lambda now, _, unit: _every(now, None, unit), "five minutes a day -> FREQ=DAILY"),
    rule("again/at", "again", "<again> (, | at | @ | around | from | by)? <clock|hour> | "
         "<clock|hour> <again>", _at, "every Friday at 3pm -> FREQ=WEEKLY;BYDAY=FR\n"
         "9:00 every Friday -> FREQ=WEEKLY;BYDAY=FR"),
    rule("again/part-of", "again", "<again> in|at? the? @halfday", lambda now, it: it,
         "every Friday evening -> FREQ=WEEKLY;BYDAY=FR"),
    rule("again/time-range", "again", "<again> ,|from? <range>", lambda now, it, *_: it,
         "every Friday, 9:00 to 11:00 -> FREQ=WEEKLY;BYDAY=FR"),
)  # fmt: skip
