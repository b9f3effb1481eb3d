"""Which names, places, dates, numbers and addresses a text mentions, and of what type."""

from __future__ import annotations

import re
from typing import cast

from streams.language.dates import Found, as_reference, find_dates
from streams.language.gazetteer import (
    CAPITAL_ONLY,
    EVENT_ENDINGS,
    EVENTS,
    GIVEN_NAMES,
    KNOWN,
    LOWER_KNOWN,
    NUMBERED,
    ORGANISATION_ENDINGS,
    ORGANISATION_OPENINGS,
    PLACE_ENDINGS,
    PLACE_OPENINGS,
    PLACES,
    UNSURE_PLACES,
)
from streams.language.model import Mention, MentionType
from streams.language.tokens import Tokens, bare, tokenise
from streams.language.words import (
    ABBREVIATIONS,
    ANIMATE_VERBS,
    FUNCTION_WORDS,
    GERMAN,
    HONORIFICS,
    MONTHS,
    PERSONAL_VERBS,
    PHATIC,
    RELATIONS,
    STARTERS,
    WEEKDAYS,
    word_set,
)

#: Any day does: only the places of the dates are wanted here, not the days.
_ANY_DAY = 730_000
#: Names of more words are headings or shouting; they are cut.
_LONGEST_NAME = 6

# Bounded on both sides of the @, so that a long run of letters costs a constant for each.
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
URL = re.compile(r"(?<!\w)(?:[a-z][a-z0-9+]{1,9}://|www\.)[^\s<>\"']{1,2000}", re.IGNORECASE)
_URL_TAIL = ".,;:!?)]}*_…”’"

_INITIAL_GAP = frozenset('.!?…\n:;"“„«(*•。\uff01\uff1f–—>|')
_CONNECTORS = word_set("of the de da di do del della la le van von der den du des dos y e")
_PLACE_PREPOSITIONS = frozenset({"in", "near", "around", "across", "outside", "throughout"})
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
    "visit visited visiting visits explore explored exploring leave left leaving reach reached "
    "tour toured"
)
_INTRODUCED = frozenset({"named", "called", "meet", "dear", "hey", "hi", "hello", "thanks"})
_UNITS = word_set(
    """km kg g mg cm mm m lb lbs oz mile miles meter meters metre metres feet ft inch inches
    gb mb kb tb mhz ghz hz kwh percent dollars dollar euros euro pounds pound bucks usd eur
    gbp chf yen million billion thousand hundred degrees hours hour minutes minute seconds
    days weeks months years"""
)
_MERIDIEM = frozenset({"am", "pm", "a.m", "p.m", "uhr", "o'clock"})
#: "Searching helped": no person, though a verb of persons follows.
_ABSTRACT = ("ing", "tion", "ness", "ment", "ity", "ism", "ers", "cks")
_CURRENCY = "$€£¥₹"
#: Months that are more often persons or plain words when they stand alone.
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


def mentions(text: str) -> list[Mention]:
    """Return what `text` mentions, in order and without overlap."""
    tokens = tokenise(text)
    return find_mentions(tokens, find_dates(tokens, _ANY_DAY))


def addresses(text: str) -> list[tuple[int, int, MentionType]]:
    """The spans of e-mail addresses and URLs, in order and without overlap."""
    spans: list[tuple[int, int, MentionType]] = []
    if "://" in text or "www." in text.lower():
        for match in URL.finditer(text):
            end = match.end()
            while text[end - 1] in _URL_TAIL:
                end -= 1
            spans.append((match.start(), end, "URL"))
    if "@" in text:
        covered = list(spans)
        position = 0
        for match in EMAIL.finditer(text):
            while position < len(covered) and covered[position][1] <= match.start():
                position += 1
            if position == len(covered) or covered[position][0] >= match.end():
                spans.append((match.start(), match.end(), "EMAIL"))
        spans.sort()
    return spans


def find_mentions(tokens: Tokens, dates: list[Found]) -> list[Mention]:
    text = tokens.text
    found: list[Mention] = []
    # What other readers took: token index after it, for each first token.
    taken: dict[int, int] = {}
    for start, end, kind in addresses(text):
        found.append(Mention(start, end, text[start:end], kind))
    if found:
        _take_addresses(tokens, found, taken)
    for item in dates:
        if item.left not in taken:
            reference = as_reference(tokens, item)
            found.append(Mention(reference.start, reference.end, reference.text, "DATE"))
            taken[item.left] = item.right
    names = _names_and_numbers(tokens, taken)
    if not found:
        return names
    found.extend(names)
    found.sort(key=lambda mention: mention.start)
    return found


def _take_addresses(tokens: Tokens, found: list[Mention], taken: dict[int, int]) -> None:
    index = 0
    count = len(tokens.words)
    for mention in found:
        while index < count and tokens.ends[index] <= mention.start:
            index += 1
        first = index
        while index < count and tokens.starts[index] < mention.end:
            index += 1
        if index > first:
            taken[first] = index


def _names_and_numbers(tokens: Tokens, taken: dict[int, int]) -> list[Mention]:
    words, lowers = tokens.words, tokens.lowers
    capitals = _capitals(tokens)
    shouting, crowded = capitals
    found: list[Mention] = []
    index = 0
    count = len(words)
    while index < count:
        if index in taken:
            index = taken[index]
            continue
        first = words[index][0]
        if first.isupper() and not shouting:
            index = _name(tokens, index, crowded, taken, found)
        elif "0" <= first <= "9":
            index = _number(tokens, index, found)
        else:
            lower = bare(lowers[index])
            if lower in LOWER_KNOWN or lower in NUMBERED or (first.isupper() and lower in KNOWN):
                _lower_known(tokens, index, lower, found)
            index += 1
    return _agree(found) if len(found) > 1 else found


def _capitals(tokens: Tokens) -> tuple[bool, bool]:
    """(whether the text is shouted, whether so many words are capitalised that it means little)."""
    long_words = [word for word in tokens.words if len(word) > 1]
    if len(long_words) < 3:
        return False, False
    capitalised = [word for word in long_words if word[0].isupper()]
    if len(capitalised) < 2:
        return False, False
    shouted = sum(1 for word in capitalised if word.isupper())
    german = len(GERMAN.intersection(tokens.lowers)) >= 2
    return (
        2 * shouted > len(long_words),
        german or (len(long_words) > 4 and 5 * len(capitalised) > 2 * len(long_words)),
    )


def _initial(tokens: Tokens, index: int) -> bool:
    """Whether the word opens a sentence, so that its capital means nothing."""
    if index == 0:
        return True
    gap = tokens.text[tokens.ends[index - 1] : tokens.starts[index]]
    if gap == " ":
        return False
    if gap[0] == "." and len(gap) == 2:
        before = tokens.lowers[index - 1]
        return not (before in ABBREVIATIONS or len(before) == 1)
    return not _INITIAL_GAP.isdisjoint(gap)


def _name(
    tokens: Tokens, index: int, crowded: bool, taken: dict[int, int], found: list[Mention]
) -> int:
    """Read the name that begins at `index`, if one does; return the index after what was read."""
    words, lowers = tokens.words, tokens.lowers
    lower = bare(lowers[index])
    initial = _initial(tokens, index)
    if lower in EVENTS and lower not in GIVEN_NAMES:
        _add(tokens, index, index + 1, "EVENT", found)
        return index + 1
    if lower in HONORIFICS and _joined(tokens, index, "."):
        following = words[index + 1]
        if following[0].isupper() and lowers[index + 1] not in FUNCTION_WORDS:
            right = _run(tokens, index + 1, taken)
            _add(tokens, index + 1, right, "PERSON", found)
            return right
    if not _can_open(tokens, index, lower, initial):
        return index + 1
    right = _run(tokens, index, taken)
    left = index
    if initial and right - left > 1 and _is_plain_opener(lower) and not _known(tokens, left, right):
        # "Visited Tigran": the verb opens the sentence, the name is the rest.
        left += 1
    if right - left == 1:
        lower = bare(lowers[left])
        if lower in NUMBERED and _number_follows(tokens, left):
            kind = cast(MentionType, NUMBERED[lower])
            _add(tokens, left, left + 2, kind, found)
            return left + 2
        single = _single(tokens, left, lower, initial and left == index, crowded)
        if single is not None:
            _add(tokens, left, right, single, found)
        return right
    if lower in NUMBERED and _number_follows(tokens, right - 1):
        right += 1
    _add(tokens, left, right, _type_of_run(tokens, left, right), found)
    return right


def _can_open(tokens: Tokens, index: int, lower: str, initial: bool) -> bool:
    """Whether a name can begin with this capitalised word."""
    if lower in MONTHS or lower in WEEKDAYS:
        # "May I" is no name; "June said" and "April Smith" are.
        if lower not in _DOUBTFUL_DATES or lower not in GIVEN_NAMES | {"april", "june", "may"}:
            return False
        following = tokens.lowers[index + 1] if index + 1 < len(tokens.lowers) else ""
        return following in ANIMATE_VERBS
    if lower in KNOWN or lower in GIVEN_NAMES:
        return len(lower) > 2 or tokens.words[index].isupper()
    if lower in FUNCTION_WORDS or tokens.lowers[index] in STARTERS:
        # "The" and "I" begin no name; "Apple"-like words were let through above.
        return False
    return not (len(lower) == 1 and not _initials_follow(tokens, index))


def _initials_follow(tokens: Tokens, index: int) -> bool:
    """J. R. Smith."""
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
    """Whether the next word follows on the same line after one space (and `allowed`)."""
    if index + 1 >= len(tokens.words):
        return False
    gap = tokens.gap(index)
    return gap == " " or (len(gap) < 4 and "\n" not in gap and not gap.strip(" " + allowed))


def _run(tokens: Tokens, index: int, taken: dict[int, int]) -> int:
    """The index after the capitalised words (and "of the" between them) that begin at `index`."""
    words, lowers = tokens.words, tokens.lowers
    right = index + 1
    limit = min(len(words), index + _LONGEST_NAME)
    while right < limit and not lowers[right - 1].endswith("'s"):
        short = len(words[right - 1]) == 1 or lowers[right - 1] in ("st", "jr", "sr", "mt", "ft")
        if not _joined(tokens, right - 1, "." if short else ""):
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


def _single(
    tokens: Tokens, index: int, lower: str, initial: bool, crowded: bool
) -> MentionType | None:
    """The type of a name of one word, or None if it is none."""
    word = tokens.words[index]
    lowers = tokens.lowers
    before = lowers[index - 1] if index else ""
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
    if person:
        return "PERSON"
    known = KNOWN.get(lower)
    if known == "LOCATION" and (word.isupper() or not initial):
        return "LOCATION"
    if known is not None and known != "LOCATION":
        if initial and lower in CAPITAL_ONLY:
            # "Stripe works" may be a name or a word; without more evidence it is a word.
            return cast(MentionType, known) if following in ANIMATE_VERBS else None
        return cast(MentionType, known)
    if following in ANIMATE_VERBS or (
        following == "and" and lowers[index + 2 : index + 3] == ["i"]
    ):
        return "PERSON" if not crowded or not initial else None
    if before in RELATIONS or before in _INTRODUCED:
        return "PERSON" if lower not in PHATIC else None
    odd = any(letter.isupper() or letter.isdigit() for letter in word[1:])
    if initial and not odd:
        # The capital is the sentence's; "Tigran's sister" still shows a name.
        return "PERSON" if lowers[index].endswith("'s") and following in RELATIONS else None
    if lower in STARTERS:
        return None
    if crowded:
        return None
    if placed and before != "for":
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
    if first in NUMBERED and last[0].isdigit():
        return cast(MentionType, NUMBERED[first])
    if last in EVENT_ENDINGS:
        return "EVENT"
    if last in PLACE_ENDINGS or (first in PLACE_OPENINGS and first not in GIVEN_NAMES):
        return "LOCATION"
    if last in ORGANISATION_ENDINGS or first in ORGANISATION_OPENINGS:
        return "ORG"
    if first in GIVEN_NAMES:
        return "PERSON"
    before = lowers[left - 1] if left else ""
    following = lowers[right] if right < len(lowers) else ""
    if before in RELATIONS or before in HONORIFICS or following in ANIMATE_VERBS:
        return "PERSON"
    if before in _PLACE_PREPOSITIONS:
        return "LOCATION"
    return "OTHER"


def _number_follows(tokens: Tokens, index: int) -> bool:
    return (
        _joined(tokens, index)
        and "0" <= tokens.words[index + 1][0] <= "9"
        and len(tokens.words[index + 1]) <= 12
    )


def _lower_known(tokens: Tokens, index: int, lower: str, found: list[Mention]) -> None:
    """A known name written in lower case, or "room 101"."""
    known = LOWER_KNOWN.get(lower)
    if known is not None:
        _add(tokens, index, index + 1, cast(MentionType, known), found)
    elif lower in NUMBERED and NUMBERED[lower] == "LOCATION" and _number_follows(tokens, index):
        _add(tokens, index, index + 2, "LOCATION", found)


def _number(tokens: Tokens, index: int, found: list[Mention]) -> int:
    """A clock time, or a number with its currency, per cent sign or unit."""
    word, lower = tokens.words[index], tokens.lowers[index]
    text = tokens.text
    start, end = tokens.starts[index], tokens.ends[index]
    if found and found[-1].end >= end:
        return index + 1  # the number of "room 101"
    following = tokens.lowers[index + 1] if _joined(tokens, index) else ""
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
    if start and text[start - 1] in _CURRENCY:
        start -= 1
    if end < len(text) and text[end] in _CURRENCY + "%":
        end += 1
    elif following in _UNITS:
        end = tokens.ends[index + 1]
        right += 1
    found.append(Mention(start, end, text[start:end], "NUMBER"))
    return right


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
    found.append(Mention(start, end, tokens.text[start:end], kind))


def _agree(found: list[Mention]) -> list[Mention]:
    """Give a name that was typed once in the text the same type everywhere in it."""
    types: dict[str, MentionType] = {}
    for mention in found:
        if mention.type in ("PERSON", "LOCATION", "ORG"):
            types.setdefault(mention.text, mention.type)
    return [
        Mention(mention.start, mention.end, mention.text, types[mention.text])
        if mention.type == "OTHER" and mention.text in types
        else mention
        for mention in found
    ]
