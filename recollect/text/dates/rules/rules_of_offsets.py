"""Days relative to another: "yesterday", "two weeks ago", "the day after Easter"."""

from __future__ import annotations

from recollect.text.dates.calendar_days import calendar_unit, shifted
from recollect.text.dates.found_dates import DAY_MINUTES
from recollect.text.dates.rules.rules_of_numbers import SMALL, Amount
from recollect.text.dates.time_values import LASTING, NOTHING, Now, When, moved, one_day
from recollect.text.declared_rules import rule
from recollect.text.lexicon import DAY_WORDS, word_set

#: Alternative spellings of words for a near day.
_NEAR = DAY_WORDS | {
    "tdy": 0, "tonite": 0, "tnite": 0, "todays": 0, "tmrrw": 1, "tmw": 1, "tmrow": 1,
    "tomo": 1, "tomoro": 1, "tomorro": 1, "tommorow": 1, "tommorrow": 1, "tomorrows": 1,
    "yday": -1, "yest": -1, "yesterdays": -1,
}  # fmt: skip
_HALVES = {"morning": "am", "am": "am", "afternoon": "pm", "evening": "pm", "pm": "pm",
           "night": "night", "nite": "night", "lunchtime": "pm", "arvo": "pm"}  # fmt: skip
_AGO = word_set("ago back before prior earlier")
CLASSES = {
    "near": frozenset(_NEAR),
    "daypart": frozenset(_HALVES),
    "few": word_set("few several some couple many"),
    "about": word_set("about around roughly just exactly some approximately another like"),
    "now": word_set("now today"),
    "seems": word_set("feels feel felt seems seem seemed is was it's"),
}


def _near(now: Now, word: str) -> When:
    half = "night" if word.startswith("toni") else None
    return one_day(now.today + _NEAR[word])._replace(half=half)


def _near_weekday(now: Now, word: str, weekday: int) -> When | None:
    """Return a day that is given twice: "today, Friday"."""
    day = _near(now, word)
    return day if (day.spans[0][0] - 1) % 7 == weekday else None


def _right_now(now: Now) -> When:
    return one_day(now.today)._replace(kind="time", clock=now.minute, certain=False)


def _counted(now: Now, amount: Amount, sign: int = 1) -> When | None:
    """Return the calendar unit at an offset from now, and the exact day."""
    count, unit = sign * amount.number, amount.unit
    if unit == "minute":
        day, minute = divmod(now.minute + count, DAY_MINUTES)
        return one_day(now.today + day)._replace(kind="time", clock=minute, certain=False)
    if unit == "weekend" and count > 0 and (now.today - 1) % 7 < 5:
        count -= 1  # on a weekday, the next weekend is in the current week
    span = calendar_unit(unit, count, now.today)
    if span is None or unit == "weekend":
        return span and When((span,), unit)
    exact = shifted(now.today, unit, count)
    return When((span,), unit, exact=(exact, exact))


def _from(_: Now, amount: Amount, way: str, day: When) -> When | None:
    if amount.unit in ("minute", "weekend") or day.kind != "day":
        return None
    sign = -1 if way in _AGO else 1
    return day._replace(grain="day", exact=None).map(
        lambda span: moved(shifted(span[sign > 0], amount.unit, sign * amount.number), 0)
    )


def _this(now: Now, step: int, part: str) -> When | None:
    if step > 0 or (step < 0 and _HALVES[part] != "night" and part != "evening"):
        return None
    return one_day(now.today + step)._replace(half=_HALVES[part])


def _in_part(_: Now, day: When, part: str) -> When | None:
    whole = day.kind == "day" and day.grain in ("day", "feast")
    return day._replace(half=_HALVES[part]) if whole else None


RULES = (
    rule("day/near", "day", "{@near}", _near,
         "It rained today. -> 2026-05-08\nI left yesterday -> 2026-05-07",
         unless=("before @seems like just|only?",), counters=("It seems like only yesterday.",)),
    rule("day/near-with-a-digit", "day", "2 ~{day|nite|moro|morrow|mrw|morow}",
         lambda now, it: one_day(now.today + (it[0] == "m")), "see you 2moro -> 2026-05-09"),
    rule("day/near-weekday", "day", "{@near} (, <weekday> | \\( <weekday> \\))", _near_weekday,
         "we ship it tomorrow, Saturday -> 2026-05-09"),
    rule("day/now", "day", "right|just? now | at the moment | at this time | after lunch|school | "
         "in the @halfday", _right_now, "right now -> 2026-05-08 13:56 ?",
         unless=("only alone",), counters=("I am at the moment too tired.",)),
    rule("day/this-part", "day", "early|late|later? <shift> {@daypart}", _this,
         "this morning -> 2026-05-08\nlate last night -> 2026-05-07"),
    rule("day/later", "day", "early|earlier|late|later <day>",
         lambda _, day: day if day.grain == "day" and not day.stated else None,
         "later today -> 2026-05-08", priority=-1),
    rule("day/in-part", "day", "<day> ,? (in|at|during? the? early|late?)? {@daypart}", _in_part,
         "tomorrow morning -> 2026-05-09", unless=("after ' s",)),
    rule("day/part-of", "day", "(the | in the | early)? {@halfday} (of|on the?)? <day>",
         lambda now, part, day: _in_part(now, day, part),
         "the evening of 4 July 2024 -> 2024-07-04"),
    rule("offset/ago", "day", "@about? <amount> (ago | back | before now)",
         lambda now, amount: _counted(now, amount, -1),
         "two weeks ago -> 2026-04-24\nthree days ago -> 2026-05-05"),
    rule("offset/in", "day", "in @about? <amount> (' s? time)?", _counted,
         "in two weeks -> 2026-05-22\nin a week's time -> 2026-05-15",
         unless=("in_past", "after of|ago|from|before|after", "after ~-", "after '"),
         counters=("I finished it in two days",)),
    rule("offset/minutes", "day", "in <int>",
         lambda now, it: _counted(now, Amount(it, "minute")) if it in (5, 10, 15, 20, 30) else None,
         "back in ten -> 2026-05-08 14:06 ?",
         unless=("counts_something", "after ~.|: #", "after <month>", "after ,")),
    rule("offset/hence", "day",
         "<amount> (hence | from right? @now | from this second|moment | later today)", _counted,
         "3 days from now -> 2026-05-11"),
    rule("offset/from", "day", "<amount> ({from|after|before|ago} | {prior|earlier} to) <day>",
         _from, "two weeks from tomorrow -> 2026-05-23\n"
         "three days before May 4, 2026 -> 2026-05-01", unless=("before in", "is_rate")),
    rule("offset/few", "none", "in|within? (the? next|last|past)? a? @few of? <unit> "
         "(ago|back|from|later)?", lambda now, unit: NOTHING, "a few days ago -> none",
         unless=("before a couple",)),
    rule("offset/few-hours", "day", "in a? few <unit>",
         lambda now, unit: _right_now(now) if unit in SMALL else None,
         "in a few hours -> 2026-05-08 13:56 ?", unless=("only alone",), priority=1),
    rule("offset/next-few", "day", "in? the? next few|couple of? days",
         lambda now: When(((now.today + 1, now.today + 3),), certain=False),
         "in the next few days -> 2026-05-09..2026-05-11 ?", priority=1),
    rule("lasting/amount", "none",
         "(for|over|during|within|in|after|every|about|only|takes|took|lasts)? <amount>",
         lambda *_: LASTING, "for two weeks -> duration\ntwo weeks of work -> duration"),
    rule("lasting/all", "none",
         "(for|over|during)? (all | the? whole | the? entire) "
         "day|week|weekend|month|year|summer|winter|night|morning|afternoon|evening",
         lambda *_: LASTING, "we slept all day -> duration"),
    rule("lasting/since-long", "none", "these|those|the|his|her|our|my days|weeks|months|years",
         lambda *_: LASTING, "these days -> duration"),
)  # fmt: skip
