"""The conditions that `unless` of a time rule can name: contexts in which it does not apply."""

from __future__ import annotations

from recollect.text.dates.clause_tense import direction_of, is_rescheduled
from recollect.text.dates.date_tokens import tokens_of
from recollect.text.dates.named_days import in_name
from recollect.text.declared_rules import Condition, Reading
from recollect.text.lexicon import FUNCTION_WORDS, MONTHS, NUMBER_WORDS, WEEKDAYS, word_set

_AFTER_SHORT = word_set("morning afternoon evening night nite eve or & / ?")
_SHORT_WEEKDAYS = word_set("sat sun mon wed weds")
_OPENERS = word_set("on by until till since this last next from to before after for of")
_SLASH_OPENERS = _OPENERS | word_set("due is: date ,") | WEEKDAYS.keys()
_SURE_OPENERS = word_set("on by until till til since due before after") | WEEKDAYS.keys()
_BEFORE_MAY = word_set("on by until till since this last next from to but for")
_AFTER_MAY = word_set(
    "at and with for but so we i because when if to or as then in from now it he she they will was"
)
_UNSURE_MONTHS = word_set("may march april june august jan mar sep dec")
_AND = frozenset({",", "-", "–", "/", "and", "or"})
_MONTH_OPENERS = word_set(
    "in since until till during through around early late mid last this next of by before after "
    "til from to for between throughout every each and or - – / , ("
)
#: If one of these follows, the number counts nothing.
_GOES_ON = FUNCTION_WORDS | WEEKDAYS.keys() | MONTHS.keys() | word_set(
    "instead please thanks thank works suits sharp ish morning afternoon evening night tonight "
    "tomorrow today am pm meeting call next this last that's it's i'm i'll we'll we're he's she's "
    "they're you're let's don't doesn't can't won't isn't is was bring see come get"
)  # fmt: skip
_FEAST_GOES_ON = FUNCTION_WORDS | WEEKDAYS.keys() | word_set(
    """morning afternoon evening night eve last next falls starts begins ends came comes went works
    please today tomorrow yesterday early late sounds got gets makes off is was went"""
)  # fmt: skip
_NUMBERED = word_set(
    "room flat no number nr order code pin version model bus route door box ext "
    "about around at over under only than nearly almost total id po"
)
#: What an amount per day, week, month or year counts, without a number before it.
_COUNTED = word_set("times hours minutes days nights euros dollars pounds quid bucks cents k")
#: In years: a year further back may be that of a thing.
_LONG_AGO = 15
_RANGE_GOES_ON = word_set("to until till til through - – on onwards onward")
_GOES_ON_ALONE = word_set("and or but then instead too as if so because is works please i we you")
_MEASURES = frozenset("-/%€$£°")
_TO_ANY = word_set("to is of for from after before")


def token_span(reading: Reading, left: int, right: int) -> tuple[int, int]:
    """Return the tokens of an expression: the first, and the one after the last."""
    words = reading.words
    return tokens_of(reading.state.tokens, words[left].start, words[right - 1].end)


def _short_weekday(reading: Reading, left: int, right: int) -> bool:
    """Whether "sat", "sun" or the like is probably another word."""
    lower, before, after = (reading.lower(at) for at in (left, left - 1, right))
    if lower not in _SHORT_WEEKDAYS or before in _OPENERS or _alone(reading, left, right):
        return False
    if lower in ("mon", "wed", "weds"):
        loose = reading.written(left).islower() and after.isalpha() and after not in _GOES_ON
        return loose or before in ("to", "newly", "they", "we", "he", "she")
    if before in WEEKDAYS or reading.lower(left - 2) in WEEKDAYS or after in _AFTER_SHORT:
        return False
    if reading.starting("clock", right + (after in ("at", "@"))):
        return False
    return reading.written(left).islower() or not _is_inside_sentence(reading, left)


def _is_inside_sentence(reading: Reading, left: int) -> bool:
    """Whether a word or a comma, for example, precedes a lexeme in its sentence."""
    return reading.lower(left - 1).isalnum() or reading.lower(left - 1) in (",", "(", "-", ":")


def _counts_something(reading: Reading, left: int, right: int) -> bool:
    """Whether a number counts the word that follows it: "the 3rd floor"."""
    after = reading.lower(right)
    return after[:1].isalpha() and (after not in _GOES_ON or after in ("one", "ones"))


def _is_rate(reading: Reading, left: int, right: int) -> bool:
    """Whether an amount of time is that of a rate: "900 a month", "30 euros a week"."""
    # "900 a month", "150,000 naira a month"
    is_counted = any(
        before[:1].isdigit() or before in NUMBER_WORDS
        for before in (reading.lower(left - 1), reading.lower(left - 2))
    )
    is_counted = is_counted or reading.lower(left - 1) in _COUNTED
    return reading.lower(left) in ("a", "an", "per", "each", "every") and is_counted


def _year_of_thing(reading: Reading, left: int, right: int) -> bool:
    """Whether a year long ago is that of a thing: "we bought a desk from 1890"."""
    if reading.lower(left - 1) != "from" or reading.lower(right) in _RANGE_GOES_ON:
        return False
    named = {reading.lower(at) for at in range(max(left - 5, 0), left - 1)}
    year = int(reading.lower(left))
    return year + _LONG_AGO < reading.state.here.year and not {"a", "an"}.isdisjoint(named)


def _small_ordinal(reading: Reading, left: int, right: int) -> bool:
    return not any(reading.lower(at).isdecimal() for at in range(left, right))


def _no_slash_opener(reading: Reading, left: int, right: int) -> bool:
    one, other = int(reading.lower(left)), int(reading.lower(right - 1))
    # 12/13 is a season; 24/7 means always.
    clear = max(one, other) > 12 and other - one != 1 and (one, other) != (24, 7)
    return not (clear or reading.lower(left - 1) in _SLASH_OPENERS)


def _clear_slash(reading: Reading, left: int, right: int) -> bool:
    """Whether "30/09" or "on 22/9" is surely a day: only one of the numbers can be a month."""
    one, other = reading.lower(left), reading.lower(right - 1)
    if (int(one) > 12) == (int(other) > 12) or _counts_something(reading, left, right):
        return False
    return "0" in (one[0], other[0]) or reading.lower(left - 1) in _SURE_OPENERS


def _may_is_verb(reading: Reading, left: int, right: int) -> bool:
    """Whether lower-case "may" or "march" is a verb: "5 may come", "the second may come"."""
    if reading.written(right - 1) not in ("may", "march", "mar"):
        return False
    if reading.lower(right - 2) in ("of", "-", "st", "nd", "rd", "th"):
        return False
    if not _small_ordinal(reading, left, right):
        before, after = reading.lower(left - 1), reading.lower(right)
        opened = before in _BEFORE_MAY or before in WEEKDAYS
        return not opened or (after.isalpha() and after not in _AFTER_MAY)
    return True


def _month_is_name(reading: Reading, left: int, right: int) -> bool:
    """Whether a bare month name may be a person's name or another word."""
    lower, before = reading.lower(left), reading.lower(left - 1)
    if _is_sentence(reading, left, right) and reading.written(left)[0].isupper():
        return False
    if lower not in _UNSURE_MONTHS:
        return before in ("miss", "mrs", "ms", "mr")
    following = reading.lower(right + 1)
    if reading.lower(right) in _AND and following in MONTHS and following not in _UNSURE_MONTHS:
        return False
    if reading.written(left) in ("may", "march", "mar", "sep", "dec", "jan") and lower in (
        "may", "march", "mar",
    ):  # fmt: skip
        return before not in ("in", "since", "until", "of", "til", "till", "early", "late", "mid")
    if before in (",", "-", "–", "/", "and", "or", "("):
        # "In April, May and June": another month is next to it.
        beside = reading.lower(left - 2) in MONTHS
        return not beside or _month_is_name(reading, left - 2, left - 1)
    return before not in _MONTH_OPENERS or (
        before in ("by", "before", "after", "of", "from", "to", "for", "around", "this")
        and lower in ("april", "june", "august")
        and reading.written(left + 1)[:1].isupper()
    )


def _number_of(reading: Reading, left: int, right: int) -> bool:
    """Whether four digits are a room number or an amount of money rather than a year."""
    before, after = reading.lower(left - 1), reading.lower(right)
    if not before or before in _NUMBERED or reading.written(left - 1).isupper():
        return True
    if after in _MEASURES:
        return True
    if before == "(" and (after == ")" or not reading.words[left - 1].spaced):
        return True  # sleep(2000); Weber (2016)
    return not before.isalpha() and before not in (",", "(", ":", "\n")


def _compound(reading: Reading, left: int, right: int) -> bool:
    """Whether the holiday's name only qualifies the word after it: "Easter eggs"."""
    after = reading.lower(right)
    if not after[:1].isalpha() or not reading.words[right].spaced:
        return after == "-"
    if reading.lower(right - 1) in WEEKDAYS and (
        not reading.written(right)[0].isupper() or reading.lower(left - 1) in _OPENERS
    ):
        return False
    return after not in _FEAST_GOES_ON


def _the_civil(reading: Reading, left: int, right: int) -> bool:
    """Whether an article precedes a holiday that takes none: "the boss's day off"."""
    at = left if reading.lower(left) == "the" else left - 1
    return reading.lower(at) == "the" and any(
        match.value.holiday.eve is None for match in reading.starting("feast", at + 1)
    )


def _is_first(reading: Reading, at: int) -> bool:
    """Whether a word begins a sentence."""
    return reading.lower(at - 1) in ("", ".", "!", "?", "\n")


def _alone(reading: Reading, left: int, right: int) -> bool:
    return left == 0 and right == len(reading.words)


def _whole(reading: Reading, left: int, right: int) -> bool:
    """Whether it is the whole text, apart from a preceding "at" and trailing punctuation."""
    before = left - (reading.lower(left - 1) == "the")
    opened = before == 0 or (before == 1 and reading.lower(0) in ("at", "in", "on"))
    return opened and all(not word.lower.isalnum() for word in reading.words[right:])


def _loose_year(reading: Reading, left: int, right: int) -> bool:
    """Whether two digits after a day are an amount or a day: "3 May, 10 people", "May 3-10"."""
    year, joined = int(reading.lower(right - 1)), reading.lower(right - 2) in ("-", "/", ".")
    if year > 31 or (joined and reading.lower(left) not in MONTHS):
        return False
    return joined or not _is_sentence(reading, left, right)


def _month_near(reading: Reading, left: int, right: int) -> bool:
    """Whether a month is named earlier in the same sentence or in the previous one."""
    stops = 0
    for at in range(left - 1, max(left - 24, -1), -1):
        if reading.lower(at) in MONTHS and not (
            reading.lower(at) in _UNSURE_MONTHS
            and (reading.written(at).islower() or _is_first(reading, at))
        ):
            return True
        stops += reading.lower(at) in (".", "!", "?", "\n")
        if stops > 1:
            return False
    return False


def _is_sentence(reading: Reading, left: int, right: int) -> bool:
    """Whether an expression is a sentence of its own: "We move. March!"."""
    marks = ("", ".", "!", "?", "\n")
    return reading.lower(left - 1) in marks and reading.lower(right) in marks


CONDITIONS: dict[str, Condition] = {
    "alone": _alone,
    "whole": _whole,
    "is_sentence": _is_sentence,
    "begins": lambda it, left, right: left == 0 and it.words[0].start == 0,
    "word_follows": lambda it, left, right: it.lower(right).isalpha(),
    # The clause after "the week after" says what it follows: "the week after we met".
    "clause_follows": lambda it, left, right: (
        it.lower(right).isalnum() and it.lower(right) not in _GOES_ON_ALONE
    ),
    "month_near": _month_near,
    "in_past": lambda it, left, right: (
        direction_of(it.state.tokens, *token_span(it, left, right)) < 0
    ),
    # Two days are named, and something is moved from one to the other.
    "rescheduled": lambda it, left, right: is_rescheduled(
        it.state.tokens, token_span(it, left, right)[0]
    ),
    "both_weekdays": lambda it, left, right: (
        right - left == 3 and it.lower(left) in WEEKDAYS and it.lower(right - 1) in WEEKDAYS
    ),
    "short_weekday": _short_weekday,
    "weekday_in_name": lambda it, left, right: any(
        it.lower(at) in WEEKDAYS and in_name(it.state.tokens, token_span(it, at, at + 1)[0])
        for at in range(left, right)
    ),
    "counts_something": _counts_something,
    "is_rate": _is_rate,
    "year_of_thing": _year_of_thing,
    "small_ordinal": _small_ordinal,
    # An ordinal in words after a phrase that may refer to anything: "back to the first".
    "loose_ordinal": lambda it, left, right: (
        _small_ordinal(it, left, right) and it.lower(left - 1) in _TO_ANY
    ),
    # "Louis the 14th" is a king.
    "after_name": lambda it, left, right: (
        it.written(left - 1)[:1].isupper() and it.lower(left - 1) not in _GOES_ON
    ),
    "loose_year": _loose_year,
    # Several units are meant: "previous weeks", unlike "last years party".
    "plural_unit": lambda it, left, right: (
        it.lower(right - 1).endswith("s") and it.lower(left) not in ("this", "last", "next")
    ),
    # "BOM" or "BOY" may be another word.
    "bare_letters": lambda it, left, right: (
        it.lower(left)[0] == "b" and not (it.written(left).isupper() and _whole(it, left, right))
    ),
    "no_opener": _no_slash_opener,
    "clear_slash": _clear_slash,
    "may_is_verb": _may_is_verb,
    "month_is_name": _month_is_name,
    # "This may" contains the verb, "last march" the walk.
    "shifted_may": lambda it, left, right: (
        it.written(right - 1) in ("may", "march", "mar")
        and (it.lower(left) == "this" or it.lower(right).isalpha())
    ),
    # A wish begins with "May".
    "may_opens": lambda it, left, right: it.lower(left) == "may" and _is_first(it, left),
    # "It slips past November": a preposition.
    "past_bare": lambda it, left, right: it.lower(left) == "past" and it.lower(left - 1) != "the",
    "number_of": _number_of,
    "compound": _compound,
    "the_civil": _the_civil,
}
