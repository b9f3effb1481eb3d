"""What is counted from a day: "two weeks ago", "in five days", "3 days before May 4"."""

from __future__ import annotations

from recollect.text.dates.calendar_days import calendar_unit, days, shifted, week_of
from recollect.text.dates.date_lexemes import Kind, Part
from recollect.text.dates.periods import UNITS
from recollect.text.dates.single_days import DaysOfMonths
from recollect.text.lexicon import WEEKDAYS


class CountedDays(DaysOfMonths):
    """The rules for what is counted from a day."""

    def _ago(self, place: int) -> Part | None:
        """Read two weeks ago, 3 Thursdays ago, in five days, 2 days before May 4."""
        inside = self._is(place, "in", "within") and not self._is(place + 1, "the")
        at = self._skip(place + inside, "about", "around", "approximately", "exactly", "just")
        at = self._skip(at, "a", "three", "-") if self._quarters(at) else at
        half = self._is(at, "half", "quarter", "quarters") or (
            self._lower(at).isdecimal() and self._is(at + 1, "/")
        )
        if half:
            return self._part_of_hour(at, inside)
        counted = self._number(at)
        if counted is None and inside and self._is(at, "few"):
            counted = at, 1
        few = counted is not None and self._is(counted[0], "few")
        if counted is None:
            return None
        right, count = counted
        if self._is(right, ".") and self._lower(right + 1).isdecimal():
            right += 2
        right = self._skip(right, "more")
        if (
            self._is(right, "and")
            and self._is(right + 1, "a", "an")
            and self._is(right + 2, "half")
        ):
            right += 3
        if few:
            right += 1
        weekday = WEEKDAYS.get(self._lower(right).removesuffix("s"))
        if weekday is not None and not few:
            return self._weekdays_away(right + 1, weekday, count)
        unit = UNITS.get(self._lower(right))
        if unit is None:
            return None
        if few and unit != "time":
            return None
        named = right
        right += 1
        added = self._skip(right, "and", "a", "an", "half")
        if added == right + 3:
            right = added
        more = self._more_units(right) if unit == "time" else right
        hours = unit == "time" and self._lower(named).startswith("h")
        late = hours and count >= 24
        right = more
        direction, right, start = self._towards(right, inside)
        if not direction:
            return None
        if unit == "time":
            day = start + direction * (count // 24 if late else 0)
            return Part(
                right, days(day, day), "time" if start == self._today and not late else "day"
            )
        if count > 5_000:
            return None
        base, many = ("week", 2 * count) if unit == "fortnight" else (unit, count)
        if base == "weekend":
            ahead = direction > 0 and start < week_of(start)[1] - 1
            found = calendar_unit("weekend", direction * many - ahead, start)
            return None if found is None else Part(right, found, "weekend")
        day = shifted(start, base, direction * many)
        kind: Kind = "counted" if start == self._today else "composed"
        if inside and kind == "counted":
            # "I finished it in two days" tells how long it took.
            kind = "guarded"
        return Part(right, days(day, day), kind=kind)

    def _quarters(self, at: int) -> bool:
        """Whether a quarter, or three-quarters, of an hour stands there."""
        at = self._skip(at, "a", "three", "-")
        return self._is(at, "quarter", "quarters") and self._is(at + 1, "of")

    def _more_units(self, right: int) -> int:
        """Return the place after "and 20 minutes"."""
        at = self._skip(right, "and", ",")
        more = self._number(at)
        if more is not None and UNITS.get(self._lower(more[0])) == "time":
            return more[0] + 1
        return right

    def _part_of_hour(self, at: int, inside: bool) -> Part | None:
        """Read in half an hour, in 3/4h, 1/2 hour from now."""
        right = at + 3 if self._lower(at).isdecimal() else at + 1
        right = self._skip(right, "of", "a", "an")
        if UNITS.get(self._lower(right)) != "time":
            return None
        direction, right, start = self._towards(right + 1, inside)
        return Part(right, days(start, start), "time") if direction else None

    def _towards(self, right: int, inside: bool) -> tuple[int, int, int]:
        """Return -1 or 1, the place after, and the day from which is counted; 0: neither."""
        if self._is(right, "ago", "back"):
            start = self._longest(right + 1, self._near_day, self._weekday)
            if self._is(right, "ago") and start is not None and start.sure:
                return -1, start.right, start.days[0]
            return -1, right + 1, self._today
        if self._is(right, "hence"):
            return 1, right + 1, self._today
        if self._is(right, "from", "after", "before"):
            direction = -1 if self._is(right, "before") else 1
            if self._is(right + 1, "now") or (
                self._is(right + 1, "this", "that") and UNITS.get(self._lower(right + 2))
            ):
                after = right + 2 if self._is(right + 1, "now") else right + 3
                return direction, after, self._today
            start = self._longest(
                right + 1,
                self._near_day,
                self._clock,
                self._weekday,
                self._month_and_day,
                self._day_and_month,
                self._whole_date,
                self._holiday,
            )
            if start is not None and start.days[0] == start.days[1]:
                return direction, start.right, start.days[0]
            return 0, right, self._today
        return (1, right, self._today) if inside else (0, right, self._today)

    def _weekdays_away(self, right: int, weekday: int, count: int) -> Part | None:
        if self._is(right, "ago", "back"):
            day = self._today - ((self._today - 1 - weekday) % 7 or 7) - 7 * (count - 1)
            return Part(right + 1, days(day, day))
        if self._is(right, "from") and self._is(right + 1, "now"):
            day = self._ahead(weekday) + 7 * (count - 1)
            return Part(right + 2, days(day, day))
        return None
