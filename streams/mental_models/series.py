"""Series of measured values of somebody: a weight, a blood value, a rent that rises or falls.

A value is read from a statement in the entity's own words or about it by name: "Ada's rent is 900
euros", "Weight today: 82 kg", "Ada weighs 80 kg". A bare amount, such as "79.5 kg.", belongs to the
only series with its unit, if it is close to the values of that series.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from recollect.streams.consolidation.days import day_of, names_days
from recollect.streams.consolidation.nouns import is_noun
from recollect.streams.consolidation.repeated_names import name_expression
from recollect.streams.consolidation.units import units_of
from recollect.streams.language.references.named_referents import SOMEBODY
from recollect.streams.mental_models.page import PageFact
from recollect.text.lexicon import FUNCTION_WORDS

#: A series has at least this many values, on as many days.
MIN_VALUES = 3
#: It rises or falls if the pairs of values that do so outnumber the others by this share of all.
MIN_AGREEMENT = 0.5
#: A bare amount may lie this far beyond the values of a series, as a share of them.
_BEYOND = 0.1
_DAYS = r"(?: \([\d\w ,-]+\))?"
_WHEN = rf"(?: (?:now|today|currently|still|this (?:morning|week|month|year)|tonight){_DAYS})?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)"
_UNITS = (
    r"kg|kilos?|kilograms?|lbs?|pounds|stone|st|g|km|kilomet(?:er|re)s|miles|m|cm|mm|inches|%|"
    r"percent|euros?|dollars|quid|kr|mg|ml|l|lit(?:er|re)s|kcal|calories|hours|minutes|bpm|degrees|"
    r"mmol/l|points"
)
#: "1.200" and "1 200" may be thousands.
_AMOUNT = (
    rf"(?P<words>[€$£]?(?![1-9]\d{{0,2}}(?:\.\d{{3}}(?!\d)| \d))"
    rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?)(?! ?:\d)"
    rf"(?: over \d+)?(?: ?(?P<unit>{_UNITS}))?(?: an? (?:day|week|month|year))?)"
    rf"(?![\w/:]|[.,]\d| {_MONTH}| [AaPp]\.?[Mm]\b| o['’]clock)"
)
_LINK = (
    rf"{_WHEN}(?: (?:is|was|are|were)|:|['’]s){_WHEN}"
    r"(?: (?:(?P<near>(?:back )?at|about|around)|only|down to|up to|just|back to|already)){0,2} "
)
_TOPIC = r"(?P<topic>[^\W\d_]+(?: [^\W\d_]+)?)"
_BARE = re.compile(rf"(?:only |now |already )?{_AMOUNT}{_WHEN}(?:\W*|(?:,| and) .*)", re.IGNORECASE)
_MOST_VALUES = 8


class Measured(NamedTuple):
    """A value of a quantity: what is measured ("" for a bare amount), its unit, number and words.

    `day`: YYYY-MM-DD.
    """

    topic: str
    unit: str
    number: float
    words: str
    day: str
    fact: PageFact


class Series(NamedTuple):
    """The values of a quantity in order of time, and whether they rise."""

    topic: str
    unit: str
    rises: bool
    values: tuple[Measured, ...]


def series_in(facts: Sequence[PageFact]) -> Iterator[Series]:
    """Yield the quantities that rise or fall, by their topics."""
    by_quantity: dict[tuple[str, str], list[Measured]] = {}
    bare: list[Measured] = []
    for each in facts:
        value = _measured_in(each)
        if value is not None and value.topic:
            by_quantity.setdefault((value.topic, value.unit), []).append(value)
        elif value is not None and value.unit:
            bare.append(value)
    for (topic, unit), values in sorted(by_quantity.items()):
        own = list(values)
        if unit and [*(of for _, of in by_quantity)].count(unit) == 1:
            own += [value for value in bare if value.unit == unit and _is_near(value, values)]
        # The last value of a day counts.
        by_day = {value.day: value for value in sorted(own, key=_in_time)}
        in_time = [by_day[day] for day in sorted(by_day)]
        rising = _agreement([value.number for value in in_time])
        if len(in_time) >= MIN_VALUES and abs(rising) >= MIN_AGREEMENT:
            yield Series(topic, unit, rising > 0, _some_of(in_time))


def _in_time(value: Measured) -> tuple[int, str]:
    return value.fact.said_at, value.fact.id


def _some_of(values: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return at most `_MOST_VALUES`, evenly spread, with the first and the last one."""
    if len(values) <= _MOST_VALUES:
        return tuple(values)
    last, parts = len(values) - 1, _MOST_VALUES - 1
    return tuple(values[place * last // parts] for place in range(parts + 1))


def _is_near(value: Measured, values: Sequence[Measured]) -> bool:
    numbers = [each.number for each in values]
    return min(numbers) * (1 - _BEYOND) <= value.number <= max(numbers) * (1 + _BEYOND)


def _agreement(numbers: Sequence[float]) -> float:
    """Return Kendall's tau-a of numbers in order of time: 1 if all rise, -1 if all fall."""
    pairs = [(a, b) for place, a in enumerate(numbers) for b in numbers[place + 1 :]]
    return sum((b > a) - (b < a) for a, b in pairs) / max(1, len(pairs))


def _measured_in(each: PageFact) -> Measured | None:
    """Return the value that a fact states of its entity; None if it states none."""
    if not each.name or (each.speaker and each.speaker != each.name):
        return None
    core = each.text.removeprefix(f"{each.speaker}: ") if each.speaker else each.text
    for unit in units_of(core, ()):
        for statement in _statements(each.name):
            found = statement.match(unit.text)
            topic = None if found is None else _topic_of(found, is_quoted=bool(each.speaker))
            if found is not None and topic is not None:
                return _measured(topic, found, each)
        bare = _BARE.fullmatch(unit.text)
        if bare is not None and each.speaker:
            return _measured("", bare, each)
    return None


def _measured(topic: str, found: re.Match[str], each: PageFact) -> Measured:
    is_dated = each.days is not None and each.days[0] == each.days[1] and names_days(found.string)
    day = each.days[0] if each.days and is_dated else day_of(each.said_at)
    number = float(found["number"].replace(",", ""))
    return Measured(topic, _unit_of(found), number, found["words"], day, each)


def _unit_of(found: re.Match[str]) -> str:
    """Return the unit of an amount, in lower case and without "s"; "" if it has none."""
    sign = found["words"][0]
    return sign if sign in "€$£" else (found["unit"] or "").lower().rstrip("s")


@lru_cache(maxsize=256)
def _statements(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the forms in which a value is stated of an entity with this name."""
    own = rf"(?:{name_expression(name)}|I)"
    weighs = rf"{own}(?: now| still)? weigh(?:s|ed)?(?: \w+self| themselves)?{_WHEN},?:? {_AMOUNT}"
    owner = rf"(?:(?P<owner>{name_expression(name)}['’]s?|[Mm]y|[Oo]ur) )?"
    return re.compile(weighs), re.compile(rf"{owner}(?:[Tt]he )?{_TOPIC}{_LINK}{_AMOUNT}")


def _topic_of(found: re.Match[str], *, is_quoted: bool) -> str | None:
    """Return what is measured, in lower case; None if that is unknown, or may be of somebody else.

    A quantity without an owner is the speaker's.
    """
    groups = found.groupdict()
    if "topic" not in groups:
        return "weight"
    words = groups["topic"].lower().split()
    is_named = is_noun(words[-1]) and FUNCTION_WORDS.isdisjoint(words)
    # "The meeting is at 7": a time of day.
    is_named = is_named and (not groups["near"] or _unit_of(found) != "")
    # An age.
    is_named = is_named and SOMEBODY.isdisjoint(words)
    return " ".join(words) if is_named and (groups["owner"] or is_quoted) else None
