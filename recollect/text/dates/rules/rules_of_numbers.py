"""Numbers, ordinals, units and amounts of time, for use in other rules."""

from __future__ import annotations

from typing import NamedTuple

from recollect.text.dates.time_values import Now
from recollect.text.declared_rules import rule
from recollect.text.lexicon import NUMBER_WORDS, ORDINALS, word_set

_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_DIGIT_WORDS = {word: number for word, number in NUMBER_WORDS.items() if number < 10}
_UNITS = {
    word: unit
    for unit, words in {
        "second": "second seconds sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "week": "week weeks wk wks",
        "fortnight": "fortnight fortnights",
        "weekend": "weekend weekends wkend wknd",
        "month": "month months mth mths",
        "quarter": "quarter quarters qtr qtrs",
        "year": "year years yr yrs",
    }.items()
    for word in words.split()
}
#: Units whose offsets are moments, not days; in seconds.
SMALL = {"second": 1, "minute": 60, "hour": 3_600}
_HALVES = {"day": (720, "minute"), "year": (6, "month"), "hour": (30, "minute")}
_COUNTS = {"a": 1, "an": 1, "couple": 2, "pair": 2}

CLASSES = {
    "number": frozenset(NUMBER_WORDS),
    "tens": frozenset(_TENS),
    "digit": frozenset(_DIGIT_WORDS),
    "ordinal": frozenset(word for word in ORDINALS if "-" not in word),
    "unit": frozenset(_UNITS),
    "hours": word_set("hour hours hr hrs"),
    "minutes": word_set("minutes minute mins min"),
}


class Amount(NamedTuple):
    """A number of units; for a small unit, the number is in minutes."""

    number: int
    unit: str


def _number(_: Now, said: str, one: str | None = None) -> int:
    if said.isdecimal():
        return int(said)
    return (_TENS.get(said) or NUMBER_WORDS[said]) + (_DIGIT_WORDS[one] if one else 0)


def _ordinal(_: Now, said: str, one: str | None = None) -> int | None:
    if said.isdecimal():
        return int(said) if 1 <= int(said) <= 99 else None
    if one is None:
        return ORDINALS[said]
    return _TENS[said] + ORDINALS[one] if ORDINALS[one] < 10 else None


def _amount(_: Now, said: int | str, unit: str) -> Amount | None:
    count = _COUNTS[said] if isinstance(said, str) else said
    if unit in SMALL:
        return Amount(count * SMALL[unit] // 60, "minute")
    if unit == "fortnight":
        return Amount(14 * count, "day")
    return Amount(count, unit) if count <= 9_999 else None


def _half(_: Now, unit: str) -> Amount | None:
    return Amount(*_HALVES[unit]) if unit in _HALVES else None


def _and_a_half(now: Now, count: int | str, unit: str) -> Amount | None:
    whole, half = _amount(now, count, unit), _half(now, unit)
    if whole is None or half is None or unit == "day":
        return None
    return Amount(whole.number * (12 if unit == "year" else 1) + half.number, half.unit)


def _fraction(_: Now, one: str, other: str = "4") -> Amount | None:
    part = {"a": 1, "three": 3}.get(one) or int(one)
    return Amount(60 * part // int(other), "minute") if part < int(other) else None


def _sum(_: Now, one: Amount, other: Amount) -> Amount | None:
    small = one.unit == other.unit == "minute"
    return Amount(one.number + other.number, "minute") if small else None


RULES = (
    rule("number", "int", "#1|#2|#3|#4 | {@number} | {@tens} (-? {@digit})?", _number,
         "3 days ago -> 2026-05-05\ntwenty-one days ago -> 2026-04-17"),
    rule("ordinal", "ord", "#1|#2 ~st|nd|rd|th | {@ordinal} | {twenty|thirty} -? {@ordinal}",
         _ordinal, "on the 15th -> 2026-05-15\nthe twenty-first of March 2027 -> 2027-03-21"),
    rule("unit", "unit", "{@unit}", lambda _, it: _UNITS[it],
         "last week -> 2026-04-27..2026-05-03"),
    rule("amount", "amount",
         "(<int> -? more? | {a|an} | a? {couple} of? | a? {pair} of) <unit>", _amount,
         "two weeks ago -> 2026-04-24\na couple of days ago -> 2026-05-06"),
    rule("amount/half", "amount", "(half a|an? | a|an half | half of a|an) <unit>", _half,
         "in half an hour -> 2026-05-08 14:26 ?"),
    rule("amount/part-of-an-hour", "amount",
         "({a}? quarter of an | {three} -? quarters of an | {1|3} ~/ ~{2|4} of? a|an?) @hours|h",
         lambda now, one, *other: _fraction(now, one or "a", *filter(None, other)),
         "in a quarter of an hour -> 2026-05-08 14:11 ?\nin 3/4 hour -> 2026-05-08 14:41 ?"),
    rule("amount/and-a-half", "amount",
         "(<int> and a|an half <unit> | ({a|an} | <int>) <unit> and a half | <int> ~. ~5 <unit>)",
         _and_a_half, "in two and a half hours -> 2026-05-08 16:26 ?\n"
         "in an hour and a half -> 2026-05-08 15:26 ?\nin 2.5 hours -> 2026-05-08 16:26 ?"),
    rule("amount/hours-and-minutes", "amount", "<amount> ,|and? <amount>", _sum,
         "in 2 hours and 10 minutes -> 2026-05-08 16:06 ?"),
)  # fmt: skip
