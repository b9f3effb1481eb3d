"""Times of the day: "3pm", "half past two", "9:30 to 11", "tomorrow at noon"."""

from __future__ import annotations

from typing import NamedTuple

from recollect.text.dates.found_dates import DAY_MINUTES
from recollect.text.dates.time_values import (
    Clock,
    Now,
    When,
    guessed,
    moved,
    one_day,
)
from recollect.text.declared_rules import rule
from recollect.text.lexicon import NUMBER_WORDS, word_set

CLASSES = {
    "hour": frozenset(word for word, number in NUMBER_WORDS.items() if number <= 12),
    "at": word_set("at by @ until till til from before after around about to"),
    "zone": word_set("utc gmt est edt cst cdt mst mdt pst pdt cet cest bst ist aest aedt sgt wat"),
    "hedge": word_set("sharp ish approximately approx exactly"),
    "partofday": word_set("morning afternoon evening night"),
    "dash": word_set("- – — to until till til and"),
    "verses": word_set(
        "chapter verse verses psalm score ratio version step john matthew luke genesis"
    ),
    "measures": frozenset("-/%€$£°"),
}


class Range(NamedTuple):
    """A range of times."""

    first: Clock
    last: Clock


def _of(hour: int, minute: int = 0, *, sure: bool = True) -> Clock | None:
    """Return a time, or None if there is none; hours from 1 to 12 may be a.m. or p.m."""
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        return None
    return Clock(60 * hour + minute, sure, half=hour > 12 or hour == 0)


def _digits(_: Now, hour: str, minute: str, *__: str) -> Clock | None:
    found = _of(int(hour), int(minute), sure=len(hour) == 2 or int(hour) == 0)
    if found is not None and len(hour) == 2 and hour < "10":
        return found._replace(half=True)
    return found


def _halved(_: Now, clock: Clock, half: str) -> Clock | None:
    hour, minute = divmod(clock.minute, 60)
    if hour > 12:
        return None if clock.bare else Clock(clock.minute)
    return Clock(60 * (hour % 12 + 12 * (half == "p")) + minute) if hour else None


def _in_24_hours(_: Now, hour: str, minute: str | None) -> Clock | None:
    found = _of(int(hour), int(minute or 0))
    return found and found._replace(half=True)


def _four_digits(_: Now, digits: str) -> Clock | None:
    return _of(int(digits[:-2]), int(digits[-2:]))


def _military(now: Now, digits: str) -> Clock | None:
    return None if 1900 <= int(digits) < 2100 else _four_digits(now, digits)


def _hour(_: Now, said: str) -> Clock | None:
    number = int(said) if said.isdecimal() else NUMBER_WORDS[said]
    found = _of(number) if number else None
    return found and found._replace(sure=False, bare=True)


def _past(_: Now, said: int | str, way: str, hour: Clock) -> Clock | None:
    minutes = {"half": 30, "quarter": 15}[said] if isinstance(said, str) else said
    sign = 1 if way in ("past", "after") else -1
    if hour.minute % 60 or not 0 < minutes < 60:
        return None
    minute = (hour.minute + sign * minutes) % DAY_MINUTES
    return hour._replace(minute=minute, sure=True, bare=False)


def _past_bare(now: Now, minutes: int, way: str, hour: Clock) -> Clock | None:
    """Return a time such as "5 to 10", which may also be a count."""
    found = _past(now, minutes, way, hour) if minutes % 5 == 0 else None
    return found and found._replace(sure=found.half)


def _half_six(now: Now, hour: Clock) -> Clock | None:
    return _past(now, 30, "past", hour) if hour.minute <= 720 else None


def _in_part(_: Now, clock: Clock, part: str) -> Clock | None:
    return clock.within({"morning": "am", "night": "night"}.get(part, "pm"))._replace(sure=True)


def _time(now: Now, clock: Clock, last: Clock | None = None) -> When:
    guess = clock if clock.half else guessed(clock)
    if last is not None and not clock.half and last.half:
        # In "from 3 to 5pm" both are p.m., in "9 to 5pm" only the second.
        half = 720 * (last.minute >= 720)
        near = clock.minute % 720 + half
        guess = Clock(near if near <= last.minute else near - 720 * (half > 0))
    elif last is not None and not clock.half:
        # "From 7 to 9" is before noon, "from 2 to 4" after it.
        guess = clock if 420 <= clock.minute < last.minute else guess
    day, minute = divmod(guess.minute, DAY_MINUTES)
    return one_day(now.today + day)._replace(kind="time", clock=minute, certain=False)


def _range(_: Now, first: Clock, last: Clock) -> Range | None:
    """Return a range of times; at least one of the two must be more than a bare number."""
    return None if first.bare and last.bare else Range(first, last)


def _on(now: Now, one: When | Clock | Range, other: When | Clock | Range) -> When | None:
    """Return a day with a time of day; None if weekday and date disagree."""
    day, time = (one, other) if isinstance(one, When) else (other, one)
    assert isinstance(day, When) and not isinstance(time, When)
    if day.kind == "none":
        return day
    if day.grain not in ("day", "feast") or day.kind != "day" or day.clock is not None:
        return None
    if any(first != last for first, last in day.spans):
        return None
    clock = time if isinstance(time, Clock) else time.first
    if isinstance(time, Range) and not clock.half and day.half is None:
        return day._replace(clock=_time(now, *time).clock)
    over, minute = divmod(clock.within(day.half).minute, DAY_MINUTES)
    timed = day._replace(clock=minute)
    # Midnight is the end of a day.
    return timed.map(lambda span: moved(span[0], over)) if over else timed


def _hour_on(now: Now, clock: Clock, day: When) -> When | None:
    """Return a day with a bare hour: "at three this morning", "at 9 on Friday"."""
    known = day.half is not None or day.pick in ("weekday", "number")
    return _on(now, day, clock) if known else None


RULES = (
    rule("half", "half", "{am|pm} | {a|p} ~. ~m ~.? | {a|p} m | in the {am|pm}",
         lambda _, it: it[0], "I woke at 9am -> 2026-05-08 09:00 ?\n"
         "at 9 p.m. -> 2026-05-08 21:00 ?\n3 in the AM -> 2026-05-08 03:00 ?"),
    rule("half/letter", "half", "~{a|p}", lambda _, it: it, "at 3:18p -> 2026-05-08 15:18 ?",
         unless=("only before :|at|@|by #",), priority=-1),
    rule("clock/colon", "clock", "#1|#2 ~: ~#2 (~: ~#2 (~. ~#1|#2|#3)?)?", _digits,
         "from 14:30 -> 2026-05-08 14:30 ?", unless=("after ~:|/", "before # :")),
    rule("clock/dot", "dotted", "#1|#2 ~. ~#2",
         lambda _, hour, minute: _of(int(hour), int(minute), sure=False),
         "at 6.50 -> 2026-05-08 18:50 ?",
         unless=("after ~.|%|-|/ #", "before $|£|€|v|.", "counts_something", "after @measures")),
    rule("clock/two-words", "dotted", "{@hour} <int>",
         lambda _, it, rest: _of(NUMBER_WORDS[it], rest, sure=False) if 10 <= rest < 60 else None,
         "at three twenty -> 2026-05-08 15:20 ?"),
    rule("clock/joined", "joined", "#3|#4", _four_digits, "it is 315 pm -> 2026-05-08 15:15 ?"),
    rule("clock/dotted", "clock", "<dotted>", lambda _, it: it,
         "from 8.15 we are in -> 2026-05-08 08:15 ?", unless=(
             "only before @at|between|from|betw", "counts_something", "after <unit>")),
    rule("clock/halved", "clock", "<clock|dotted|hour|joined> (~-? ~ish)? <half>", _halved,
         "9:01 AM -> 2026-05-08 09:01 ?\nwe eat at 3pm -> 2026-05-08 15:00 ?\n"
         "at nine fifty pm -> 2026-05-08 21:50 ?\ncome 3ish pm -> 2026-05-08 15:00 ?"),
    rule("clock/in-part", "clock",
         "<clock|hour|dotted|joined> ish? in|at the? early? {@partofday}", _in_part,
         "I woke at 6.50 in the morning -> 2026-05-08 06:50 ?"),
    rule("clock/h", "clock", "#1|#2 ~h (~#2)?", _in_24_hours, "it was 13h -> 2026-05-08 13:00 ?"),
    rule("clock/military", "clock", "#4", _military, "at 1530 -> 2026-05-08 15:30 ?",
         unless=("only before at|by|@|approximately|@near", "after <unit>", "counts_something")),
    rule("clock/hours", "clock", "#4 h|hrs|hours", _four_digits,
         "the 0830 hrs train -> 2026-05-08 08:30 ?"),
    rule("clock/o-clock", "clock", "<int> o'clock|oclock", lambda _, hour: _of(hour),
         "it is nine o'clock -> 2026-05-08 09:00 ?"),
    rule("clock/noon", "clock", "noon | midday | mid -? day | 12 noon", lambda _: Clock(720),
         "we met at noon -> 2026-05-08 12:00 ?", unless=("after <clock>",)),
    rule("clock/midnight", "clock", "12? midnight", lambda _: Clock(1440),
         "it ends at midnight -> 2026-05-09 00:00 ?", unless=("counts_something",)),
    rule("clock/past", "clock", "{half} {past} <clock|hour> | "
         "a? {quarter} {past|to|till|before|after|of} <clock|hour> | "
         "<int> @minutes {past|to|till|before|after} <clock|hour>", _past,
         "at half past seven -> 2026-05-08 19:30 ?\na quarter past noon -> 2026-05-08 12:15 ?\n"
         "10 minutes to four -> 2026-05-08 15:50 ?"),
    rule("clock/past-bare", "clock", "<int> {past|to|till|after} <clock|hour>", _past_bare,
         "at 20 past 3pm -> 2026-05-08 15:20 ?", unless=("before from|between",)),
    rule("clock/past-in-words", "clock", "{five|ten|twenty} {past|to} <hour>",
         lambda now, it, way, hour: _past(now, NUMBER_WORDS[it], way, hour),
         "at ten past three -> 2026-05-08 15:10 ?", unless=("before from|between", "after #")),
    rule("clock/half-hour", "clock", "half <hour>", _half_six, "at half six -> 2026-05-08 18:30 ?",
         unless=("only before @at|for|since|@daypart", "counts_something")),
    rule("hour", "hour", "{@hour} | #1|#2", _hour,
         "at half past seven -> 2026-05-08 19:30 ?\nhalf past 3 -> 2026-05-08 15:30 ?"),
    rule("clock/zone", "clock", "<clock> (@zone | \\( @zone \\) | @hedge | ~- ~ish)",
         lambda _, it: it, "we met at 9:00 CET -> 2026-05-08 09:00 ?"),
    rule("clock/part-then-clock", "clock", "this|early? {@partofday} at|@ <clock|hour>",
         lambda now, part, it: _in_part(now, it, part), "early morning @ 3 -> 2026-05-08 03:00 ?"),
    rule("time/alone", "day", "<clock>",
         lambda now, it: _time(now, it) if it.sure else None, "15:30 -> 2026-05-08 15:30 ?",
         unless=("before @verses",), counters=("Chapter 5:14 is short.",)),
    rule("time/all-there-is", "day", "<clock>", _time, "3:30 -> 2026-05-08 15:30 ?",
         unless=("only alone",)),
    rule("time/opened", "day", "<clock>", _time, "until 3:30 -> 2026-05-08 15:30 ?",
         unless=("only before @at|for|is", "before @verses"), priority=1),
    rule("time/hour", "day", "<hour>", _time, "come at 7 -> 2026-05-08 19:00 ?",
         unless=("only before at|@|by|until|till|til", "counts_something", "after #",
                 "after ~.|: #", "after -|/|%|:|, #", "after <unit>", "after @dash #",
                 "before off|one by", "after %"), counters=("by 3 points", "at 5 pounds")),
    rule("range", "range", "<clock|hour> -|–|—|to|until|untill|till|til <clock|hour>", _range,
         "9:30 - 11:00 -> 2026-05-08 09:30 ?"),
    rule("range/between", "range", "between|betw <clock|hour> and|- <clock|hour>",
         lambda _, *both: Range(*both), "between 7 and 9 -> 2026-05-08 07:00 ?",
         unless=("counts_something", "after <unit>")),
    rule("time/range", "day", "<range>", lambda now, it: _time(now, *it),
         "3 to 5pm -> 2026-05-08 15:00 ?"),
    rule("day/clock", "day",
         "<day> (, | at | @ | by | around | about | from | for | until | till | after | before | "
         "- | , at)? (around | about)? <clock> | <clock> ,|on|this? <day>", _on,
         "tomorrow at 2pm -> 2026-05-09 14:00\n5pm on May 28 -> 2026-05-28 17:00"),
    rule("day/range", "day", "<day> ,|from|at? <range> | from? <range> ,|on? <day>", _on,
         "tomorrow from 9:30 to 11:00 -> 2026-05-09 09:30\n"
         "9:30 to 11:00 tomorrow -> 2026-05-09 09:30"),
    rule("day/hour", "day", "<day> (at | @ | , at | by | from | around) (around | about)? <hour>",
         _on, "tomorrow at 7 -> 2026-05-09 19:00",
         unless=("counts_something", "after ~.|:|/ #", "after <unit>")),
    rule("hour/day", "day", "<hour> on|,|this? <day>", _hour_on,
         "at three this morning -> 2026-05-08 03:00", unless=("only before @at|about", )),
    rule("day/hours", "day", "<day> ,|from? <hour> -|–|to <hour>",
         lambda now, day, one, other: (
             _on(now, day, Range(one, other)) if day.pick in ("weekday", "near") else None),
         "see you Sunday 11-12 -> 2026-05-10 11:00",
         unless=("counts_something", "after ~.|:|/|- #", "after <unit>")),
)  # fmt: skip
