"""Names that are streets or businesses, by their form or their position in the sentence.

A learned model errs most on such names. The rules here use only forms: a house number, a street
designator, a legal form, a preposition of place.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from msgspec.structs import replace

from recollect.streams.language.grammar.analysis import Mention, MentionType
from recollect.streams.language.names.gazetteer import (
    GIVEN_NAMES,
    ORGANISATION_ENDINGS,
    PLACE_ENDINGS,
    STREET_WORDS,
    SURNAME_ENDINGS,
)
from recollect.text.name_forms import legal_form
from recollect.text.tokenizer import Tokens

#: Prepositions of place; a person follows none of these, except "in" after "believe".
LOCATIVE = frozenset({"at", "in", "near", "around", "inside", "outside", "into", "via", "along"})
_ON_THE_WAY = LOCATIVE | {"on", "to", "from", "past", "towards"}
_ARTICLES = frozenset({"the", "our", "my", "a"})
# "Chez Anna" is a business or a home, as is "at Anna's".
_AT_THE_HOUSE_OF = "chez"
_HOUSE_NUMBER = re.compile(r"\d{1,4}[a-z]?")
# A lower number before a name may be the hour: "at 5 Tom came".
_LAST_HOUR = 24
# A single word with this ending is a street in German or Dutch.
_COMPOUND = re.compile(r".{3,}(?:straße|strasse|gasse|straat)")


def with_structure(tokens: Tokens, names: list[Mention]) -> list[Mention]:
    """Return names in which those with the form of a street or a business are not persons."""
    return [
        replace(name, type=kind)
        if name.type in ("PERSON", "OTHER") and (kind := _type_by_form(tokens, name))
        else name
        for name in names
    ]


def _type_by_form(tokens: Tokens, name: Mention) -> MentionType | None:
    left = bisect_left(tokens.starts, name.start)
    right = bisect_left(tokens.starts, name.end)
    words = tokens.lowers[left:right]
    if not words:
        return None
    if _is_street(tokens, left, right):
        return "LOCATION"
    return "ORG" if name.type == "PERSON" and _is_business(tokens, left, right) else None


def _is_street(tokens: Tokens, left: int, right: int) -> bool:
    """Whether tokens are a street: by a designator, or by a house number after a preposition."""
    lowers = tokens.lowers
    first, last = lowers[left], lowers[right - 1]
    before = _beside(tokens, left - 1, left)
    if (first in STREET_WORDS and right - left > 1) or before in STREET_WORDS:
        return True
    if _COMPOUND.fullmatch(last):
        return True
    placed = _preposition(tokens, left)
    numbered = _HOUSE_NUMBER.fullmatch(before) is not None
    if last in PLACE_ENDINGS and right - left > 1 and (numbered or placed in LOCATIVE):
        return True
    if numbered and _preposition(tokens, left - 1) in _ON_THE_WAY:
        return not before.isdecimal() or int(before) > _LAST_HOUR
    return placed in LOCATIVE | {"on"} and _is_house_number(tokens, right)


def _is_business(tokens: Tokens, left: int, right: int) -> bool:
    """Whether tokens are a business: they end in a legal form or the like, or "&" joins them."""
    words, lowers = tokens.words[left:right], tokens.lowers[left:right]
    if len(words) < 2:
        return False
    text = tokens.text[tokens.starts[left] : tokens.ends[right - 1]]
    if lowers[0] == _AT_THE_HOUSE_OF or legal_form(text):
        return True
    if "&" in text:
        return GIVEN_NAMES.isdisjoint(lowers)
    # "SA" is a form, "Sa" a surname.
    capital = words[-1].isupper() if len(words[-1]) == 2 else words[-1][0].isupper()
    return capital and lowers[-1] in ORGANISATION_ENDINGS - SURNAME_ENDINGS


def _beside(tokens: Tokens, index: int, following: int) -> str:
    """Return the lower-case token at `index` if one space separates it from the next, or ""."""
    if index < 0 or tokens.text[tokens.ends[index] : tokens.starts[following]] != " ":
        return ""
    return tokens.lowers[index]


def _preposition(tokens: Tokens, left: int) -> str:
    """Return the preposition before a name at token `left`, or before its article."""
    before = _beside(tokens, left - 1, left)
    return _beside(tokens, left - 2, left - 1) if before in _ARTICLES else before


def _is_house_number(tokens: Tokens, index: int) -> bool:
    """Whether the number at `index` after a name is a house number, and counts nothing."""
    if index >= len(tokens.words) or tokens.gap(index - 1) != " ":
        return False
    if not _HOUSE_NUMBER.fullmatch(tokens.lowers[index]):
        return False
    after = _beside(tokens, index, index + 1) if index + 1 < len(tokens.words) else ""
    return not after or tokens.lowers[index + 1] in LOCATIVE
