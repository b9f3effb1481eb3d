"""Which names, places, dates, numbers and addresses a text mentions, and of what type."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import cast

from msgspec.structs import replace

from recollect.schemas.names import same_length_marks
from recollect.streams.language.grammar.analysis import Mention, MentionType
from recollect.streams.language.grammar.text_reading import ReadName, TextReading
from recollect.streams.language.names.formatting import unformatted
from recollect.streams.language.names.gazetteer import (
    CAPITAL_ONLY,
    EVENT_ENDINGS,
    EVENTS,
    FIRST_OF_KNOWN,
    GIVEN_NAMES,
    KNOWN,
    LONGEST_KNOWN,
    LOWER_KNOWN,
    NUMBERED,
    ORGANISATION_ENDINGS,
    ORGANISATION_OPENINGS,
    PLACE_ENDINGS,
    PLACE_OPENINGS,
    PLACES,
    STREET_WORDS,
    SURE_PLACE_ENDINGS,
    SURNAME_ENDINGS,
    UNSURE_PLACES,
    WORD_NAMES,
)
from recollect.streams.language.names.name_structure import LOCATIVE, with_structure
from recollect.text.addresses import AddressSpan, addresses
from recollect.text.dates.dates_in_text import find_dates
from recollect.text.dates.found_dates import Found, as_reference, local_day, local_minute
from recollect.text.lexicon import (
    ABBREVIATIONS,
    ANIMATE_VERBS,
    FUNCTION_WORDS,
    GERMAN,
    HONORIFICS,
    MONTHS,
    PERSONAL_VERBS,
    PHATIC,
    RELATIONS,
    ROLES,
    STARTERS,
    WEEKDAYS,
    word_set,
)
from recollect.text.tokenizer import Tokens, bare, tokenise

#: The confidence of rule-based mentions by type: roughly their precision on public corpora.
_BY_RULE: dict[MentionType, float] = {
    "PERSON": 0.8,
    "ORG": 0.7,
    "LOCATION": 0.8,
    "PRODUCT": 0.8,
    "TECHNOLOGY": 0.8,
    "EVENT": 0.7,
    "CONCEPT": 0.7,
    "OTHER": 0.5,
}
CERTAIN_DATE = 0.95
DATE = 0.75
#: The types of names for which the reader, if there is one, takes precedence.
_READ_TYPES = frozenset({"PERSON", "ORG", "LOCATION"})
# The confidence of a reader's name without a percentage: roughly its precision.
_SURE = 0.75
# The confidence at 0 percent: the heads underestimate their types, as public corpora show.
_LEAST_SURE = 0.25
# Below this percentage, a person is doubtful.
_DOUBTFUL = 60
#: When a text was written if that is unknown: only the positions of its dates are needed.
_SOME_DAY_MS = 936_316_800_000
#: A longer sequence of capitalised words is a heading or shouting, and is cut.
_LONGEST_NAME = 6

_INITIAL_GAP = frozenset('.!?…\n:;"“„«(*•。\uff01\uff1f–—>|')
_CONNECTORS = word_set("of the de da di do del della la le van von der den du des dos y e")
_PLACE_PREPOSITIONS = frozenset({"in", "near", "around", "across", "outside", "throughout"})
#: Prepositions of place; the others may precede persons as well as places.
_WITHIN = _PLACE_PREPOSITIONS | {"at", "inside", "into", "within", "via", "along"}
_TOWARDS = frozenset({"on", "to", "from", "by", "past", "beyond", "behind", "off", "through"})
_MOVEMENT = word_set(
    """move moved moving moves go goes going went gone fly flies flew flying travel travels
    travelled traveled travelling traveling trip trips drive drove driving relocate
    relocated relocating return returned returning back been visit visits ticket tickets
    flight flights train arrive arrived emigrated immigrated immigrate way come came coming
    here"""
)
_ORIGIN = word_set(
    """moved moving move come comes came coming is am are was were i'm he's she's they're
    we're originally back flew drove arrived flight all far"""
)
_VISITING = word_set(
    "visit visited visiting visits explore explored exploring reach reached tour toured"
)
_COMPANY_FORMS = frozenset({"inc", "ltd", "llc", "corp", "gmbh", "plc"})
_INTRODUCED = frozenset({"named", "called", "meet", "dear", "hey", "hi", "hello", "thanks"})
_UNITS = word_set(
    """km kg g mg cm mm m lb lbs oz mile miles meter meters metre metres feet ft inch inches
    gb mb kb tb mhz ghz hz kwh percent dollars dollar euros euro pounds pound bucks usd eur
    gbp chf yen million billion thousand hundred degrees hours hour minutes minute seconds
    days weeks months years"""
)
_MERIDIEM = frozenset({"am", "pm", "a.m", "p.m", "uhr", "o'clock"})
#: "Searching helped": not a person, although a verb for persons follows.
_ABSTRACT = ("ing", "tion", "ness", "ment", "ity", "ism", "ers", "cks")
# "Noble.com", "README.md", "C:\\", "Inter@ctive": parts of words that are not names.
_DOTTED = re.compile(r"[./@\\_:=]\w|\(\)|:\\")
_CURRENCY = "$€£¥₹"
#: Codes of currencies (ISO 4217), which may stand before the amount or after it.
_CURRENCY_CODES = frozenset(
    code.upper()
    for code in word_set(
        """aed ars aud bdt bgn brl cad chf clp cny cop czk dkk egp eur gbp ghs hkd huf idr ils inr
        isk jpy kes krw lkr mad mxn myr ngn nok npr nzd pen php pkr pln ron rsd sar sek sgd thb try
        twd tzs uah ugx usd vnd xaf xof zar"""
    )
)
#: A telephone number in its usual groups: with a country code, brackets, or a leading 0.
_PHONE = re.compile(
    r"(?:\+\d{1,3}[ -]?(?:\(\d{1,5}\) ?)?\d{2,12}"
    r"|\((?:0\d{1,4}|\d{3})\) ?\d{3,8}|0\d{2,4}[ -]\d{3,8})"
    r"(?:[ -]\d{2,8}){0,4}(?!\w)"
)
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 7, 15
#: Month names that, alone, are more often persons or ordinary words.
_DOUBTFUL_DATES = frozenset(
    {
        "may",
        "march",
        "april",
        "june",
        "august",
        "jan",
        "mar",
        "sun",
        "sat",
        "dec",
        "sep",
        "mon",
        "wed",
        "fri",
        "tue",
        "thu",
    }
)


def mentions(
    text: str,
    reading: TextReading | None = None,
    *,
    at_ms: int = _SOME_DAY_MS,
    utc_offset_minutes: int = 0,
) -> list[Mention]:
    """Return the mentions in `text`, in order and without overlap.

    `reading`: the reader's result for it, whose people, organisations and places replace those that
    rules find. `at_ms`: when it was written (unix ms), which decides whether a weekday belongs to
    the date beside it.
    """
    tokens = tokenise(text)
    places = addresses(text)
    today = local_day(at_ms, utc_offset_minutes)
    minute = local_minute(at_ms, utc_offset_minutes)
    dates = find_dates(tokens, today, places, minute=minute)
    return find_mentions(tokens, dates, places, [(0, len(text))], reading)


def stands_as_place(text: str, start: int) -> bool:
    """Return whether the words before a name at `start` make it a place: "moved to Iran"."""
    before = tokenise(text[max(0, start - 60) : start]).lowers[-4:]
    if not before:
        return False
    last, earlier = before[-1], set(before[:-1])
    if last in _WITHIN or last in _VISITING:
        return True
    moves = _MOVEMENT | _ORIGIN | _VISITING
    return last in ("to", "from", "for", "through", "towards") and not earlier.isdisjoint(moves)


def find_mentions(
    tokens: Tokens,
    dates: list[Found],
    places: list[AddressSpan],
    sentences: list[tuple[int, int]],
    reading: TextReading | None = None,
) -> list[Mention]:
    """Return the mentions in these sentences, given the dates and addresses of the whole text.

    `reading`: as in `mentions`.
    """
    said, text = tokens, tokens.text
    if (plain := unformatted(text)) != text:
        tokens = tokenise(plain)
    # Spans that are already taken: first token -> the index after the last.
    taken: dict[int, int] = {}
    found: list[Mention] = []
    for start, end, kind in places:
        found.append(Mention(start, end, text[start:end], kind))
        first = bisect_left(tokens.starts, start)
        taken[first] = max(first, bisect_left(tokens.starts, end))
    for item in dates:
        if item.said == "feast":
            continue  # a holiday is also an event
        reference = as_reference(said, item)
        found.append(Mention(reference.start, reference.end, reference.text, "DATE", CERTAIN_DATE))
        first = bisect_left(tokens.starts, reference.start)
        taken[first] = max(first + 1, bisect_left(tokens.starts, reference.end))
    names: list[Mention] = []
    german = len(GERMAN.intersection(tokens.lowers)) >= 2
    for start, end in sentences:
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        _names_and_numbers(tokens, left, right, taken, german, names)
    names = _agree(names) if len(names) > 1 else names
    if tokens is not said:
        names = [replace(it, text=text[it.start : it.end]) for it in names]
    if reading is not None:
        names = _with_read(names, reading, tokens, text, sentences)
    names = with_structure(tokens, names)
    if not found:
        return names
    merged: list[Mention] = []
    found.sort(key=lambda mention: mention.start)
    starts = [mention.start for mention in found]
    for name in names:
        # A name that overlaps an address or a date is part of it.
        before = bisect_left(starts, name.end) - 1
        if before < 0 or found[before].end <= name.start:
            merged.append(name)
    merged += found
    merged.sort(key=lambda mention: mention.start)
    return merged


def _with_read(
    found: list[Mention],
    reading: TextReading,
    tokens: Tokens,
    text: str,
    sentences: list[tuple[int, int]],
) -> list[Mention]:
    """Return the reader's names, with other mentions that rules found.

    The reader recognises people, organisations and places better than rules do. For other types it
    is silent; a rule's name of these three types is dropped if the reader has none there. `tokens`:
    the tokens of `text` without formatting marks.
    """
    ends = [end for _, end in sentences]
    plain = tokens.text
    read = []
    for name in reading.names:
        at = bisect_left(ends, name.end)
        if plain[name.start : name.end] in _CURRENCY_CODES:
            continue
        if name.type == "OTHER" or at == len(ends) or sentences[at][0] > name.start:
            continue
        start, end = _without_marks(plain, name.start, name.end)
        if start < end:
            kind = _placed(tokens, start, name)
            read.append(Mention(start, end, text[start:end], kind, _confidence(name)))
    starts = [name.start for name in read]
    kept = list(read)
    for mention in found:
        before = bisect_left(starts, mention.end) - 1
        beside = before < 0 or read[before].end <= mention.start
        if beside and (mention.type not in _READ_TYPES or _is_numbered(mention)):
            kept.append(mention)
    kept.sort(key=lambda mention: mention.start)
    return kept


def _is_numbered(mention: Mention) -> bool:
    """Whether a name is a word with its number, which needs no reader: Room 101."""
    word, _, number = mention.text.partition(" ")
    return word.lower() in NUMBERED and number[:1].isdigit()


def _confidence(name: ReadName) -> float:
    """Return the probability that a reader's name is exactly this one, of this type."""
    if name.sure is None:
        return _SURE
    return round(_LEAST_SURE + (1 - _LEAST_SURE) * name.sure / 100, 2)


def _placed(tokens: Tokens, start: int, name: ReadName) -> MentionType:
    """Return the type of a name that the reader found; an unsure person after "in" is a place."""
    if name.type == "PERSON" and name.rival == "LOCATION" and (name.sure or 100) < _DOUBTFUL:
        before = bisect_left(tokens.starts, start) - 1
        if before >= 0 and tokens.lowers[before] in LOCATIVE:
            return "LOCATION"
    return name.type


def _without_marks(plain: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of a name up to a vertical bar, without surrounding spaces."""
    plain = plain[start:end].partition("|")[0]
    return start + len(plain) - len(plain.lstrip()), start + len(plain.rstrip())


def _names_and_numbers(
    tokens: Tokens,
    left: int,
    right: int,
    taken: dict[int, int],
    german: bool,
    found: list[Mention],
) -> None:
    """Add the names and numbers of one sentence."""
    words, lowers = tokens.words, tokens.lowers
    shouting, crowded = _capitals(words[left:right])
    crowded = crowded or german
    index = left
    while index < right:
        if index in taken:
            index = max(taken[index], index + 1)
            continue
        first = words[index][0]
        if lowers[index] in FIRST_OF_KNOWN and (after := _known_phrase(tokens, index, right)):
            kind = cast(MentionType, KNOWN[_phrase(tokens, index, after)])
            _add(tokens, index, after, kind, found)
            index = after
        elif words[index] in _CURRENCY_CODES and _number_follows(tokens, index, right):
            start, amount = tokens.starts[index], list[Mention]()
            index = _number(tokens, index + 1, right, amount)
            found += [_from(start, each, tokens.text) for each in amount]
        elif first.isupper() and not shouting:
            index = _name(tokens, index, right, crowded, taken, found)
        elif "0" <= first <= "9":
            index = _number(tokens, index, right, found)
        else:
            lower = lowers[index]
            if "'" in lower:
                lower = bare(lower)
            if lower in LOWER_KNOWN or lower in NUMBERED:
                _lower_known(tokens, index, right, lower, found)
            index += 1


def _from(start: int, mention: Mention, text: str) -> Mention:
    """Return a mention that begins earlier."""
    return replace(mention, start=start, text=text[start : mention.end])


def _capitals(words: list[str]) -> tuple[bool, bool]:
    """Return (whether the words are in capitals, whether too many are capitalised to mean much)."""
    long_words = [word for word in words if len(word) > 1]
    total = len(long_words)
    capitalised = [word for word in long_words if word[0].isupper()]
    if total < 3 or len(capitalised) < 2:
        return False, False
    shouted = sum(1 for word in capitalised if word.isupper())
    # In a short sentence half of the words may be names; a long one is a heading, a list or German.
    crowded = len(capitalised) > (0.4 if total > 9 else 0.7) * total and total > 3
    return 2 * shouted > total, crowded


def _initial(tokens: Tokens, index: int) -> bool:
    """Whether a word begins a sentence, so that its capital has no meaning."""
    if index == 0:
        return True
    gap = tokens.text[tokens.ends[index - 1] : tokens.starts[index]]
    if gap == " ":
        return False
    if gap[0] == "." and len(gap) == 2:
        before = tokens.lowers[index - 1]
        return not (before in ABBREVIATIONS or len(before) == 1)
    # An emoji or another symbol ends a sentence as a full stop does.
    return (
        not _INITIAL_GAP.isdisjoint(gap)
        or any("\u2190" <= sign < "\u3000" for sign in gap)
        or (any(sign >= "\U0001f000" for sign in gap))
    )


def _name(
    tokens: Tokens,
    index: int,
    end: int,
    crowded: bool,
    taken: dict[int, int],
    found: list[Mention],
) -> int:
    """Parse the name that begins at `index`, if there is one; return the index after it."""
    words, lowers = tokens.words, tokens.lowers
    lower = bare(lowers[index])
    initial = _initial(tokens, index)
    if lower in EVENTS and lower not in GIVEN_NAMES:
        _add(tokens, index, index + 1, "EVENT", found)
        return index + 1
    if lowers[index] in HONORIFICS and index + 1 < end and _joined(tokens, index, "."):
        following = words[index + 1]
        if following[0].isupper() and lowers[index + 1] not in FUNCTION_WORDS:
            right = _run(tokens, index + 1, end, taken)
            _add(tokens, index + 1, right, "PERSON", found)
            return right
    if not _can_open(tokens, index, lower, initial):
        return index + 1
    right = _run(tokens, index, end, taken)
    left = index
    if initial and right - left > 1 and _is_plain_opener(lower) and not _known(tokens, left, right):
        # "Visited Tigran": the verb begins the sentence, and only the rest is a name.
        left += 1
    if right - left == 1:
        lower = bare(lowers[left])
        if lower in NUMBERED and _number_follows(tokens, left, end):
            kind = cast(MentionType, NUMBERED[lower])
            _add(tokens, left, left + 2, kind, found)
            return left + 2
        # "Cake moved to Thursday": one cannot move to a date as to a place.
        dated = right + 2 in taken and lowers[right + 1] in ("to", "until", "till")
        single = _single(tokens, left, lower, initial and left == index, crowded, dated)
        if single is not None:
            _add(tokens, left, right, single, found)
        return right
    if lower in NUMBERED and _number_follows(tokens, right - 1, end):
        right += 1
    _add(tokens, left, right, _type_of_run(tokens, left, right), found)
    return right


def _can_open(tokens: Tokens, index: int, lower: str, initial: bool) -> bool:
    """Whether this capitalised word can begin a name."""
    if lower[-1] == "s" and lower[:-1] in WEEKDAYS:
        return False
    if lower in MONTHS or lower in WEEKDAYS:
        # "May I" is not a name; "June said" and "April Smith" contain one.
        if lower not in _DOUBTFUL_DATES or lower not in GIVEN_NAMES | {"april", "june", "may"}:
            return False
        following = tokens.lowers[index + 1] if index + 1 < len(tokens.lowers) else ""
        return following in ANIMATE_VERBS
    if lower in KNOWN or lower in GIVEN_NAMES:
        return len(lower) > 2 or tokens.words[index].isupper()
    if lower in FUNCTION_WORDS or tokens.lowers[index] in STARTERS:
        # "The" and "I" begin no name; other names, such as Apple, were accepted above.
        return False
    return len(lower) > 1 or _initials_follow(tokens, index)


def _known_phrase(tokens: Tokens, index: int, end: int) -> int:
    """Return the index after a known name of several words ("new york city") at `index`, or 0."""
    right = index + 1
    limit = min(end, index + LONGEST_KNOWN)
    while right < limit and _joined(tokens, right - 1):
        right += 1
    while right - index > 1:
        if _phrase(tokens, index, right) in KNOWN:
            # "New York Marathon" and "Paris Hilton" are names of their own.
            longer = (
                right < end
                and tokens.words[right][0].isupper()
                and tokens.words[index][0].isupper()
                and tokens.lowers[right] not in FUNCTION_WORDS
                and _joined(tokens, right - 1)
            )
            return 0 if longer else right
        right -= 1
    return 0


def _initials_follow(tokens: Tokens, index: int) -> bool:
    """Whether initials and a family name follow: "J. R. Smith"."""
    return (
        index + 1 < len(tokens.words)
        and tokens.gap(index) in (". ", ".")
        and tokens.words[index + 1][0].isupper()
    )


def _is_plain_opener(lower: str) -> bool:
    return lower in STARTERS or lower.endswith(("ing", "ed", "n't"))


def _known(tokens: Tokens, left: int, right: int) -> bool:
    return _phrase(tokens, left, right) in KNOWN


def _phrase(tokens: Tokens, left: int, right: int) -> str:
    return bare(" ".join(tokens.lowers[left:right]))


def _joined(tokens: Tokens, index: int, allowed: str = "") -> bool:
    """Whether the next word follows on the same line, after one space (and `allowed`)."""
    if index + 1 >= len(tokens.words):
        return False
    gap = tokens.gap(index)
    return gap == " " or (len(gap) < 4 and "\n" not in gap and not gap.strip(" " + allowed))


def _run(tokens: Tokens, index: int, end: int, taken: dict[int, int]) -> int:
    """Return the index after the capitalised words, and connecting "of the", from `index` on."""
    words, lowers = tokens.words, tokens.lowers
    right = index + 1
    limit = min(end, index + _LONGEST_NAME)
    while right < limit and not lowers[right - 1].endswith("'s"):
        short = len(words[right - 1]) == 1 or lowers[right - 1] in ("st", "jr", "sr", "mt", "ft")
        if not _joined(tokens, right - 1, "." if short else "") and not _is_and(tokens, right - 1):
            if lowers[right] in _COMPANY_FORMS and tokens.gap(right - 1) == ", ":
                right += 1  # "Intelligent Sports, Inc."
            break
        ahead = right
        while (
            ahead < limit - 1
            and ahead - right < 2
            and lowers[ahead] in _CONNECTORS
            and words[ahead][0].islower()
            and _joined(tokens, ahead)
        ):
            ahead += 1
        word = words[ahead]
        if ahead in taken or not word[0].isupper() or lowers[ahead] in FUNCTION_WORDS:
            break
        lower = bare(lowers[ahead])
        if lower in MONTHS or lower in WEEKDAYS:
            break
        if ahead > right and lowers[right] in ("the", "e", "y", "do"):
            break
        right = ahead + 1
    return right


def _is_and(tokens: Tokens, index: int) -> bool:
    """Whether "&" joins two capitalised words: Fisher & Sons."""
    gap = tokens.gap(index)
    return gap.strip(" ") == "&" and len(gap) < 9


def _single(
    tokens: Tokens, index: int, lower: str, initial: bool, crowded: bool, dated: bool
) -> MentionType | None:
    """Return the type of a one-word name, or None if it is not a name."""
    word = tokens.words[index]
    if _DOTTED.match(tokens.text, tokens.ends[index]) or tokens.text.endswith(
        "<@", 0, tokens.starts[index]
    ):
        return None  # "<@U0BMYT2FL>" is an id of Slack
    lowers = tokens.lowers
    before = lowers[index - 1] if index and not initial else ""
    before2 = lowers[index - 2] if index > 1 else ""
    following = lowers[index + 1] if index + 1 < len(lowers) else ""
    person = lower in GIVEN_NAMES
    placed = not initial and (
        before in _PLACE_PREPOSITIONS
        or (before in ("to", "for") and (before2 in _MOVEMENT or before2 == "off"))
        or (before == "from" and before2 in _ORIGIN)
        or before in _VISITING
    )
    if lower in PLACES and (placed or lower not in UNSURE_PLACES):
        if person and not placed and following in ANIMATE_VERBS:
            return "PERSON"
        return "LOCATION"
    if before in STREET_WORDS:
        return "LOCATION"
    if person:
        return "PERSON"
    known = KNOWN.get(lower)
    if known == "LOCATION" and (word.isupper() or not initial):
        return "LOCATION"
    if known is not None and known != "LOCATION":
        if initial and lower in CAPITAL_ONLY:
            # "Stripe works" may contain a name or a word; without further evidence it is a word.
            return cast(MentionType, known) if following in ANIMATE_VERBS else None
        return cast(MentionType, known)
    if initial and crowded:
        return None
    verbs = PERSONAL_VERBS if initial else ANIMATE_VERBS
    if (following in verbs and not dated and not lower.endswith(_ABSTRACT)) or (
        following == "and" and lowers[index + 2 : index + 3] == ["i"]
    ):
        return "PERSON"
    if before in RELATIONS or before in _INTRODUCED:
        return "PERSON" if lower not in PHATIC else None
    odd = any(letter.isupper() or letter.isdigit() for letter in word[1:])
    if initial and not odd:
        # The sentence explains the capital; "Tigran's sister" still shows a name.
        return "PERSON" if lowers[index].endswith("'s") and following in RELATIONS else None
    if lower in STARTERS:
        return None
    if crowded:
        return None
    if placed and before != "for" and not word.isupper():
        return "LOCATION"
    return "OTHER"


def _type_of_run(tokens: Tokens, left: int, right: int) -> MentionType:
    """The type of a name of several words."""
    lowers = tokens.lowers
    phrase = _phrase(tokens, left, right)
    known = KNOWN.get(phrase)
    if known is not None:
        return cast(MentionType, known)
    first, last = lowers[left], bare(lowers[right - 1])
    before = lowers[left - 1] if left else ""
    following = lowers[right] if right < len(lowers) else ""
    if (
        right - left == 2
        and last in SURNAME_ENDINGS
        and first in GIVEN_NAMES
        and (following in ANIMATE_VERBS or _has_role(tokens, left))
    ):
        return "PERSON"
    if first in NUMBERED and last[0].isdigit():
        return cast(MentionType, NUMBERED[first])
    if last in EVENT_ENDINGS:
        return "EVENT"
    if last in ORGANISATION_ENDINGS or first in ORGANISATION_OPENINGS:
        return "ORG"
    if last in PLACE_ENDINGS:
        return _place_or_person(tokens, left, right, last)
    if first in PLACE_OPENINGS and first not in GIVEN_NAMES:
        return "LOCATION"
    if first in GIVEN_NAMES:
        return "PERSON"
    if before in STREET_WORDS:
        return "LOCATION"
    if before in RELATIONS or before in HONORIFICS or following in ANIMATE_VERBS:
        return "PERSON"
    if before in _PLACE_PREPOSITIONS:
        return "LOCATION"
    return "OTHER"


def _place_or_person(tokens: Tokens, left: int, right: int, last: str) -> MentionType:
    """ "Mark Lane" and "Grace Park" are a street and a park only if the context says so."""
    lowers = tokens.lowers
    first = lowers[left]
    before = lowers[left - 1] if left and tokens.gap(left - 1) == " " else ""
    if before == "the" and left > 1 and lowers[left - 2] in _WITHIN:
        before = lowers[left - 2]
    personal = right - left == 2 and (first in GIVEN_NAMES or first in WORD_NAMES)
    following = lowers[right] if right < len(lowers) and _joined(tokens, right - 1) else ""
    if before[:1].isdigit() or before in STREET_WORDS:
        return "LOCATION"
    if right - left == 2 and _has_role(tokens, left):
        return "PERSON"
    if before in _WITHIN:
        return "LOCATION"
    if following in ANIMATE_VERBS:
        return "PERSON" if right - left == 2 and last not in SURE_PLACE_ENDINGS else "OTHER"
    if last in SURE_PLACE_ENDINGS or before == "the":
        return "LOCATION"
    if before in _TOWARDS:
        moved = left > 1 and lowers[left - 2] in _MOVEMENT
        street = before == "on" and last in ("street", "st", "lane")
        return "LOCATION" if moved or street or not personal else "PERSON"
    if before in _VISITING and not personal:
        return "LOCATION"
    return "PERSON" if first in GIVEN_NAMES else "OTHER"


def _has_role(tokens: Tokens, left: int) -> bool:
    """Whether a role or title precedes: "Our CEO, Mark Lane", "my boss Mark Lane", "Dr. Lane"."""
    if not left:
        return False
    before = tokens.lowers[left - 1]
    gap = tokens.gap(left - 1)
    return (before in ROLES or before in RELATIONS or before in HONORIFICS) and gap in (
        " ",
        ", ",
        ": ",
        ". ",
    )


def _number_follows(tokens: Tokens, index: int, end: int) -> bool:
    return (
        index + 1 < end
        and _joined(tokens, index)
        and "0" <= tokens.words[index + 1][0] <= "9"
        and len(tokens.words[index + 1]) <= 12
    )


def _lower_known(tokens: Tokens, index: int, end: int, lower: str, found: list[Mention]) -> None:
    """A known name written in lower case, or "room 101"."""
    known = LOWER_KNOWN.get(lower)
    numbered = NUMBERED.get(lower)
    # "iphone 15" and "room 101" are names; a lower-case "line 5" may be any line.
    if (known or numbered == "LOCATION") and numbered and _number_follows(tokens, index, end):
        _add(tokens, index, index + 2, cast(MentionType, numbered), found)
    elif known is not None:
        _add(tokens, index, index + 1, cast(MentionType, known), found)


def _number(tokens: Tokens, index: int, limit: int, found: list[Mention]) -> int:
    """A clock time, a telephone number, or a number with its sign, currency or unit."""
    word, lower = tokens.words[index], tokens.lowers[index]
    text = tokens.text
    start, end = tokens.starts[index], tokens.ends[index]
    if found and found[-1].end >= end:
        return index + 1  # the number of "room 101", or a group of a telephone number
    if (phone := _phone_at(text, start)) is not None:
        found.append(phone)
        return index + 1
    following = tokens.lowers[index + 1] if index + 1 < limit and _joined(tokens, index) else ""
    right = index + 1
    digits = word.rstrip("apmAPM")
    meridiem = digits != word and lower[-2:] in ("am", "pm")
    if following in _MERIDIEM and len(digits) <= 5:
        right += 1
        meridiem = True
        end = tokens.ends[index + 1]
    if meridiem or _is_clock(word):
        found.append(Mention(start, end, text[start:end], "TIME"))
        return right
    if word[-2:].lower() in ("st", "nd", "rd", "th") and word[:-2].isdecimal():
        return right
    if start and text[start - 1] in _CURRENCY and not (found and found[-1].end == start):
        start -= 1
    if start and text[start - 1] in "-−" and text[: start - 1][-1:] in ("", " ", "\n", "("):
        start -= 1
    if end < len(text) and text[end] in _CURRENCY + "%":
        end += 1
    elif following in _UNITS or following.upper() in _CURRENCY_CODES:
        end = tokens.ends[index + 1]
        right += 1
    found.append(Mention(start, end, text[start:end], "NUMBER"))
    return right


def _phone_at(text: str, start: int) -> Mention | None:
    """Return the telephone number whose first digits begin at `start`, or None."""
    first = start - 1 if start and text[start - 1] in "+(" else start
    match = _PHONE.match(text, first)
    if match is None:
        return None
    digits = sum(character.isdecimal() for character in match.group())
    if not _MIN_PHONE_DIGITS <= digits <= _MAX_PHONE_DIGITS:
        return None
    return Mention(first, match.end(), match.group(), "NUMBER")


def _is_clock(word: str) -> bool:
    hours, colon, minutes = word.partition(":")
    return (
        colon == ":"
        and len(hours) <= 2
        and hours.isdecimal()
        and int(hours) < 25
        and len(minutes) in (2, 5)
        and minutes[:2].isdecimal()
        and int(minutes[:2]) < 60
    )


def _add(tokens: Tokens, left: int, right: int, kind: MentionType, found: list[Mention]) -> None:
    start, end = tokens.starts[left], tokens.ends[right - 1]
    if tokens.lowers[right - 1].endswith("'s"):
        end -= 2
    found.append(Mention(start, end, tokens.text[start:end], kind, _BY_RULE.get(kind, 1.0)))


def _agree(found: list[Mention]) -> list[Mention]:
    """Give all occurrences of a name in the text the type that one of them has."""
    types: dict[str, MentionType] = {}
    for mention in found:
        if mention.type in ("PERSON", "LOCATION", "ORG"):
            types.setdefault(_one_writing(mention.text), mention.type)
    return [
        replace(mention, type=types[_one_writing(mention.text)])
        if mention.type == "OTHER" and _one_writing(mention.text) in types
        else mention
        for mention in found
    ]


def _one_writing(name: str) -> str:
    return same_length_marks(name).replace("-", " ")
