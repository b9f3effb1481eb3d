"""Times of a day: "3pm", "half past two", "between 9 and 11:30", "tomorrow in the morning".

A bare time is on the day of the message; midnight is the day after's.
"""

from __future__ import annotations

from recollect.text.dates.calendar_days import days
from recollect.text.dates.date_lexemes import RANGE_WORDS, TENS, DateLexemes, Part
from recollect.text.lexicon import NUMBER_WORDS, word_set

DAYTIMES = word_set("morning afternoon evening night lunch lunchtime noon midday dinner breakfast")
_ZONES = word_set("utc gmt est edt cst cdt mst mdt pst pdt cet cest bst ist")
_HEDGES = word_set("about around approximately approx roughly exactly sharp ish almost")


class TimesOfDay(DateLexemes):
    """The rules for times of a day."""

    def _clock(self, place: int) -> Part | None:
        """Read a time: 3pm, 15:30, half past two, noon; midnight is the day after's."""
        at = self._skip(
            place, "at", "@", "by", "for", "around", "about", "approximately", "exactly"
        )
        opened = at > place
        at = self._skip(at, "a", "the") if self._is(at + 1, "quarter", "half") else at
        found = self._clock_time(at, opened)
        if found is None:
            return None
        right, sure, midnight = found
        right = self._after_clock(right)
        day = self._today + midnight
        return Part(right, days(day, day), "time", sure=sure or (opened and right > at + 1))

    def _after_clock(self, right: int) -> int:
        """Return the place after what may follow a time: approximately, CET, in the morning."""
        while True:
            past = right
            if self._lower(right) in _HEDGES or self._lower(right) in _ZONES:
                past = right + 1
            elif self._is(right, "(") and self._lower(right + 1) in _ZONES:
                past = right + 2 + self._is(right + 2, ")")
            elif self._is(right, "in", "this", "at", "during") or self._lower(right) in DAYTIMES:
                part = self._skip(right, "in", "at", "during")
                part = self._skip(part, "the")
                if self._lower(part) in DAYTIMES:
                    past = part + 1
            elif self._is(right, "today"):
                past = right + 1
            if past == right:
                return right
            right = past

    def _clock_time(self, at: int, opened: bool) -> tuple[int, bool, int] | None:
        """Return (right, whether it is sure, days after today)."""
        lower = self._lower(at)
        if lower in ("noon", "midday"):
            return at + 1, True, 0
        if lower == "mid" and self._is(at + 1, "day"):
            return at + 2, True, 0
        if lower == "midnight":
            return at + 1, True, 1
        if (
            lower in ("half", "quarter")
            or (
                lower.isdecimal()
                and self._is(at + 1, "past", "to", "till", "before", "after", "minutes", "min")
            )
            or lower in NUMBER_WORDS
            or lower in TENS
        ):
            relative = self._relative_clock(at)
            if relative is not None:
                # "5 to 10" alone may count apples.
                sure = opened or not lower.isdecimal() or self._is(at + 1, "minutes", "min")
                return relative, sure, 0
        if lower in NUMBER_WORDS and NUMBER_WORDS[lower] <= 12:
            minutes = at + 1
            if self._lower(at + 1) in TENS or 10 <= NUMBER_WORDS.get(self._lower(at + 1), 0) < 60:
                minutes = (self._number(at + 1) or (at + 2, 0))[0]
            right = self._half_of_day(minutes)
            if right is not None:
                return right, True, 0
            if self._is(at + 1, "o'clock", "oclock"):
                return self._half_of_day(at + 2) or at + 2, True, 0
            return (at + 1, False, 0) if opened else None
        if not lower.isdecimal() or len(lower) > 4:
            return None
        if len(lower) > 2:
            hour, minute = int(lower[:-2]), int(lower[-2:])
            right = self._half_of_day(at + 1)
            if hour < 24 and minute < 60 and right is not None:
                return right, True, 0
            evening = self._skip(at + 1, "in", "the")
            if opened and hour < 24 and minute < 60 and self._lower(evening) in DAYTIMES:
                return at + 1, True, 0
            military = opened and hour < 24 and minute < 60 and len(lower) == 4
            return (at + 1, True, 0) if military and not 1900 <= int(lower) < 2100 else None
        if int(lower) > 24:
            return None
        right, exact = at + 1, False
        for mark in (":", ".", "h"):
            two = self._lower(right + 1)
            tight = not (
                self._lexemes[right + 1].spaced if right + 1 < len(self._lexemes) else True
            )
            if (
                self._is(right, mark)
                and two.isdecimal()
                and len(two) == 2
                and int(two) < 60
                and tight
            ):
                if mark == "." and not opened and self._half_of_day(right + 2) is None:
                    return None
                right, exact = right + 2, mark != "."
                break
        if exact and self._is(right, ":") and len(self._lower(right + 1)) == 2:
            right += 2
            if self._is(right, ".", ":") and self._lower(right + 1).isdecimal():
                right += 2
        if not exact and self._is(right, "h") and not self._lexemes[right].spaced:
            right, exact = right + 1, True
        half = self._half_of_day(self._skip(right, "ish"))
        if half is not None:
            # "4a" is a flat or a footnote, "at 4a" a time.
            letter = half == right + 1 and self._lower(right) in ("a", "p")
            return (half, True, 0) if not letter or exact or opened else None
        if self._is(right, "o'clock", "oclock"):
            return self._half_of_day(right + 1) or right + 1, True, 0
        if exact:
            # "14:30" is a time; "5:14" alone may be a verse or a score.
            return right, opened or len(lower) == 2 or int(lower) == 0, 0
        following = self._skip(right, "in", "this", "at")
        following = self._skip(following, "the")
        if (
            self._lower(following) in DAYTIMES - {"lunch", "dinner", "breakfast"}
            and following > right
        ):
            return right, True, 0
        return (right, False, 0) if opened else None

    def _half_of_day(self, place: int) -> int | None:
        """Return the place after am, p.m., p or in the AM."""
        lower = self._lower(place)
        if lower == "in" and self._is(place + 1, "the") and self._is(place + 2, "am", "pm"):
            return place + 3
        if lower in ("am", "pm"):
            return place + 1
        if lower in ("a", "p"):
            dot = self._skip(place + 1, ".")
            if self._is(dot, "m") and dot - place <= 2:
                return dot + 1 + (self._is(dot + 1, ".") and dot > place + 1)
            if not self._lexemes[place].spaced:
                return place + 1
        return None

    def _relative_clock(self, at: int) -> int | None:
        """Read half past two, 20 to noon, 15 minutes past 3pm."""
        lower = self._lower(at)
        if lower in ("half", "quarter"):
            right = at + 1
        else:
            count = self._number(at)
            if count is None or count[1] > 59:
                return None
            right = self._skip(count[0], "minutes", "minute", "min", "mins")
            if right == count[0] and (count[1] % 5 or self._is(at - 1, "from", "between")):
                # "From 9 to 10" counts no minutes.
                return None
        if not self._is(right, "past", "to", "till", "before", "after", "of"):
            return None
        hour = self._clock_time(right + 1, True)
        if hour is None or (lower.isdecimal() and self._is(right, "of")):
            return None
        return hour[0]

    def _time_range(self, place: int) -> Part | None:
        """Read 9:30 - 11:00, from 3 to 5pm, between 9 and 11:30."""
        at = self._skip(place, "from", "between")
        opened = at > place
        first = self._clock_time(at, True)
        if first is None:
            return None
        right = self._after_clock(first[0])
        if not (self._lower(right) in RANGE_WORDS or (opened and self._is(right, "and"))):
            return None
        last = self._clock_time(self._skip(right + 1, "about", "around"), True)
        if last is None:
            return None
        end = self._half_of_day(last[0]) or last[0]
        plainly = self._text[self._lexemes[at].start : self._lexemes[last[0] - 1].end]
        sure = first[1] or last[1] or ":" in plainly
        if not sure and not opened:
            return None
        return Part(self._after_clock(end), days(self._today, self._today), "time", sure=sure)

    def _daytime(self, place: int) -> Part | None:
        """Read this morning, tonight, in the evening, late last night, after lunch."""
        if self._is(place, "after") and self._is(place + 1, "lunch", "work", "school", "dinner"):
            return Part(place + 2, days(self._today, self._today), "time")
        at = self._skip(place, "in", "during", "early", "late", "the")
        moved = 0
        if self._is(at, "this"):
            at += 1
        elif self._is(at, "last") and self._is(at + 1, "night", "evening"):
            at, moved = at + 1, -1
        elif self._is(at, "tonight"):
            return Part(at + 1, days(self._today, self._today), "day", kind="plain")
        elif (at == place or not self._is(at - 1, "the")) and not self._is(at + 1, "of"):
            return None  # "in the morning", "morning of 4 May"
        if self._lower(at) not in DAYTIMES:
            return None
        day = self._today + moved
        said = self._is(at - 1, "this", "last")
        clock = self._clock(at + 1) if self._is(at + 1, "at", "@") else None
        right, sure = (at + 1, said) if clock is None else (clock.right, True)
        return Part(right, days(day, day), "day" if said else "time", sure=sure, kind="plain")

    def _times(self, place: int) -> Part | None:
        return self._longest(place, self._time_range, self._clock, self._daytime)
