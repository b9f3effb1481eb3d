"""Holidays of which everybody can reckon the day: those on a fixed day, and those by Easter."""

from __future__ import annotations

from collections.abc import Callable

from projections.text.dates.calendar_days import day_of, easter, nth_weekday, orthodox_easter

#: The day of a holiday in a year, as an ordinal; None: it has none.
Rule = Callable[[int], int | None]


def _fixed(month_number: int, day: int) -> Rule:
    return lambda year: day_of(year, month_number, day)


def _nth_rule(month_number: int, weekday: int, nth: int, after: int = 0) -> Rule:
    def rule(year: int) -> int | None:
        day = nth_weekday(year, month_number, weekday, nth)
        return None if day is None else day + after

    return rule


def _from_easter(count: int) -> Rule:
    return lambda year: easter(year) + count if 1583 <= year < 9_999 else None


def _from_orthodox_easter(count: int) -> Rule:
    return lambda year: orthodox_easter(year) + count if 1583 <= year < 9_999 else None


#: Holidays whose days everybody can reckon.
HOLIDAYS: dict[str, Rule] = {
    name: rule
    for names, rule in {
        "christmas|xmas|christmas day|xmas day": _fixed(12, 25),
        "christmas eve|xmas eve": _fixed(12, 24),
        "boxing day": _fixed(12, 26),
        "new years eve|new year eve": _fixed(12, 31),
        "new years day|new year day|new years": _fixed(1, 1),
        "valentines day|valentine day": _fixed(2, 14),
        "st patricks day|saint patricks day|st . patricks day": _fixed(3, 17),
        "april fools day|april fools": _fixed(4, 1),
        "halloween|halloween day": _fixed(10, 31),
        "independence day|4th of july": _fixed(7, 4),
        "veterans day": _fixed(11, 11),
        "bastille day": _fixed(7, 14),
        "earth day": _fixed(4, 22),
        "juneteenth": _fixed(6, 19),
        "all saints day": _fixed(11, 1),
        "thanksgiving|thanksgiving day": _nth_rule(11, 3, 4),
        "black friday": _nth_rule(11, 3, 4, 1),
        "cyber monday": _nth_rule(11, 3, 4, 4),
        "labor day": _nth_rule(9, 0, 1),
        "memorial day": _nth_rule(5, 0, -1),
        "mothers day|mother day": _nth_rule(5, 6, 2),
        "fathers day|father day": _nth_rule(6, 6, 3),
        "mlk day|mlk jr day|martin luther king day|martin luther kings day": _nth_rule(1, 0, 3),
        "presidents day": _nth_rule(2, 0, 3),
        "columbus day": _nth_rule(10, 0, 2),
        "easter|easter sunday": _from_easter(0),
        "easter monday|easter mon": _from_easter(1),
        "good friday": _from_easter(-2),
        "maundy thursday": _from_easter(-3),
        "palm sunday": _from_easter(-7),
        "ash wednesday": _from_easter(-46),
        "shrove tuesday|mardi gras|pancake day": _from_easter(-47),
        "ascension day": _from_easter(39),
        "pentecost|whit sunday": _from_easter(49),
        "whit monday|pentecost monday": _from_easter(50),
        "trinity sunday": _from_easter(56),
        "corpus christi": _from_easter(60),
        "orthodox easter|orthodox easter sunday": _from_orthodox_easter(0),
        "orthodox good friday": _from_orthodox_easter(-2),
    }.items()
    for name in names.split("|")
}
