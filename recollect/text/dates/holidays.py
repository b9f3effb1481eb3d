"""Holidays that follow simple rules: those on a fixed date, and those relative to Easter.

Names of the same day are separated by bars; what is in square brackets may be left out.
`holiday_names` says which spellings count as one.
"""

from __future__ import annotations

from recollect.text.dates.calendar_days import day_of, nth_weekday
from recollect.text.dates.rules.holiday_rules import (
    Rule,
    advent,
    by_easter,
    by_orthodox_easter,
    earth_hour,
    fixed,
    nearest_workday,
    not_on_sunday,
    nth,
    one_day,
    weekday_of,
)

_MON, _TUE, _WED, _THU, _FRI, _SAT, _SUN = range(7)


def _election_day(year: int) -> int | None:
    """The Tuesday after the first Monday of November."""
    monday = nth_weekday(year, 11, _MON, 1)
    return None if monday is None else monday + 1


def _victoria_day(year: int) -> int | None:
    """The Monday before 25 May."""
    day = day_of(year, 5, 24)
    return None if day is None else day - weekday_of(day)


CIVIL: dict[str, Rule] = {
    "christmas [day]|xmas [day]|christmas holiday": fixed(12, 25),
    "christmas eve|xmas eve": fixed(12, 24),
    "boxing day|(st|saint) stephens day": fixed(12, 26),
    "new years eve|new year eve|hogmanay": fixed(12, 31),
    "new years day|new year day|new years": fixed(1, 1),
    "epiphany|three kings day": fixed(1, 6),
    "orthodox christmas [day]|coptic christmas [day]": fixed(1, 7),
    "orthodox new year|old new year": fixed(1, 14),
    "burns night": fixed(1, 25),
    "australia day": fixed(1, 26),
    "international holocaust remembrance day": fixed(1, 27),
    "groundhog day": fixed(2, 2),
    "candlemas": fixed(2, 2),
    "waitangi day": fixed(2, 6),
    "lincolns birthday": fixed(2, 12),
    "valentines day|valentine day": fixed(2, 14),
    "(st|saint) davids day": fixed(3, 1),
    "[international] womens day": fixed(3, 8),
    "pi day": fixed(3, 14),
    "(st|saint) pat[rick]s day|(st|saint) paddys day|paddys day": fixed(3, 17),
    "world water day": fixed(3, 22),
    "annunciation [day]|lady day": fixed(3, 25),
    "april fools [day]|april fool day": fixed(4, 1),
    "world health day": fixed(4, 7),
    "siblings day": fixed(4, 10),
    "songkran": fixed(4, 13, 2),
    "ambedkar jayanti": fixed(4, 14),
    "pohela boishakh|bengali new year": fixed(4, 14),
    "earth day": fixed(4, 22),
    "(st|saint) georges day": fixed(4, 23),
    "anzac day": fixed(4, 25),
    "kings day|koningsdag": not_on_sunday(4, 27, since=2014),
    "walpurgis night": fixed(4, 30),
    "may day": fixed(5, 1),
    "star wars day": fixed(5, 4),
    "cinco de mayo": fixed(5, 5),
    "world environment day": fixed(6, 5),
    "flag day": fixed(6, 14),
    "juneteenth": fixed(6, 19),
    "canada day": fixed(7, 1),
    "independence day|4th of july": fixed(7, 4),
    "bastille day": fixed(7, 14),
    "assumption [day]|feast of [the] assumption|assumption of mary": fixed(8, 15),
    "patriot day": fixed(9, 11),
    "michaelmas": fixed(9, 29),
    "world vegetarian day": fixed(10, 1),
    "gandhi jayanti": fixed(10, 2),
    "world teachers day": fixed(10, 5),
    "world mental health day": fixed(10, 10),
    "boss[es] day|bosss day|national boss[es] day|national bosss day": nearest_workday(10, 16),
    "halloween [day]|all hallows eve": fixed(10, 31),
    "all saints [day]": fixed(11, 1),
    "world vegan day": fixed(11, 1),
    "all souls [day]|day of [the] dead|dia de [los] muertos": fixed(11, 2),
    "guy fawkes [day]|guy fawkes night|bonfire night": fixed(11, 5),
    "veterans day|veteran day|armistice day|singles day": fixed(11, 11),
    "[international] mens day": fixed(11, 19),
    "(universal|international|world) childrens day": fixed(11, 20),
    "(st|saint) andrews day": fixed(11, 30),
    "world aids day": fixed(12, 1),
    "sinterklaas|(st|saint) nicholas eve": fixed(12, 5),
    "(st|saint) nicholas day": fixed(12, 6),
    "pearl harbor [remembrance] day": fixed(12, 7),
    "bodhi day": fixed(12, 8),
    "immaculate conception [day]": fixed(12, 8),
    "human rights day": fixed(12, 10),
    "(st|saint) lucias day|(st|saint) lucys day": fixed(12, 13),
    "kwanzaa": fixed(12, 26, 6),
    "mlk day|mlk jr day|martin luther king[s] [jr] day|civil rights day": nth(1, _MON, 3),
    "presidents day|washingtons birthday": nth(2, _MON, 3),
    "earth hour": earth_hour,
    "patriots day": nth(4, _MON, 3),
    "arbor day": nth(4, _FRI, -1),
    "mothers day|mother day": nth(5, _SUN, 2),
    "victoria day": one_day(_victoria_day),
    "memorial day": nth(5, _MON, -1),
    "fathers day|father day": nth(6, _SUN, 3),
    "labor day": nth(9, _MON, 1),
    "grandparents day": nth(9, _MON, 1, 6),
    "columbus day|indigenous peoples day|canadian thanksgiving [day]": nth(10, _MON, 2),
    "election day": one_day(_election_day),
    "remembrance sunday": nth(11, _SUN, 2),
    "thanksgiving [day]": nth(11, _THU, 4),
    "black friday": nth(11, _THU, 4, 1),
    "small business saturday": nth(11, _THU, 4, 2),
    "cyber monday": nth(11, _THU, 4, 4),
    "giving tuesday": nth(11, _THU, 4, 5),
}

CHRISTIAN: dict[str, Rule] = {
    "easter [sunday]|easter day|resurrection sunday": by_easter(0),
    "easter monday|easter mon": by_easter(1),
    "easter eve|holy saturday|easter vigil": by_easter(-1),
    "good friday|holy friday": by_easter(-2),
    "(maundy|covenant|sheer) thursday|(maundy|covenant|sheer) thu": by_easter(-3),
    "thursday of mysteries|thu of mysteries": by_easter(-3),
    "holy thursday|holy thu": by_easter(-3),
    "holy wednesday|spy wednesday": by_easter(-4),
    "holy week": by_easter(-7, -1),
    "palm sunday|branch sunday|passion sunday": by_easter(-7),
    "mothering sunday": by_easter(-21),
    "lent": by_easter(-46, -1),
    "ash wednesday": by_easter(-46),
    "shrove tuesday|mardi gras|pancake day|pancake tuesday|fat tuesday": by_easter(-47),
    "shrove monday|rose monday|collop monday": by_easter(-48),
    "divine mercy sunday|low sunday": by_easter(7),
    "ascension [day]|ascension thursday|feast of [the] ascension": by_easter(39),
    "pentecost [sunday]|whit sunday|white sunday|whitsun[day]": by_easter(49),
    "whit monday|pentecost monday|monday of the holy spirit": by_easter(50),
    "trinity sunday": by_easter(56),
    "corpus christi|feast of corpus christi": by_easter(60),
    "sacred heart": by_easter(68),
    "christ the king sunday": advent(-7),
    "advent sunday|first sunday of advent": advent(0),
    "advent": advent(0, season=True),
    "(orthodox|greek|russian) easter [sunday]|pascha": by_orthodox_easter(0),
    "orthodox easter monday|bright monday": by_orthodox_easter(1),
    "orthodox (good|great|holy) friday|great friday": by_orthodox_easter(-2),
    "orthodox (great|holy) saturday|great saturday": by_orthodox_easter(-1),
    "orthodox (great|holy) thursday|great thursday": by_orthodox_easter(-3),
    "orthodox palm sunday": by_orthodox_easter(-7),
    "lazarus saturday": by_orthodox_easter(-8),
    "[orthodox] clean monday|[orthodox] ash monday|orthodox shrove monday": by_orthodox_easter(-48),
    "great lent|great fast|orthodox lent": by_orthodox_easter(-48, -9),
    "orthodox ascension [day]": by_orthodox_easter(39),
    "orthodox pentecost": by_orthodox_easter(49),
    "orthodox whit monday|orthodox pentecost monday|orthodox monday of the holy spirit": (
        by_orthodox_easter(50)
    ),
}
