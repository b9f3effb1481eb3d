"""Values of attributes in the words of a fact: "Ada's bakery" if the message has "my bakery"."""

from __future__ import annotations

import re

from recollect.streams.consolidation.repeated_names import value_without_name
from recollect.streams.language.grammar.verbs import BASES, NOUNS_TOO, is_past
from recollect.text.lexicon import BE_PRESENT, FILLERS, FUNCTION_WORDS, PREPOSITIONS, word_set
from recollect.text.tokenizer import tokenise

_OWN = re.compile(r"\b(?:my|our|me|us|myself|ourselves)\b", re.IGNORECASE)
#: Words of clauses and of quoted speech, which are not in the name of anything.
_NOT_IN_VALUES = BE_PRESENT | word_set(
    """i i've i'd i'll me my we we've us our you your yours that it it'll he she they them these
    those has have had does did was
    were don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't couldn't won't
    wouldn't could would should went felt got said came"""
)
_OPENING, _CLOSING = (
    re.compile(r"(?<!\w)['\u2018](?=\w)"),
    re.compile(r"(?<=[\w.,!?])['\u2019](?!\w)"),
)
#: A longer value is a clause.
MAX_WORDS = 12
#: Attributes whose values may be something that is done.
_DOINGS = ("activity", "likes", "dislikes", "plan", "skill", "")
_PAIRS = (("(", ")"), ("“", "”"), ("[", "]"))


def told_value(value: str, text: str, name: str) -> str:
    """Return a value in the words of a fact about `name`, if the value says "my" or "our".

    Its owner is the heading's: "their" takes the place of the name.

    >>> told_value("my bakery", "Ada runs Ada's bakery.", "Ada")
    'their bakery'
    """
    parts = _OWN.split(value)
    if len(parts) == 1:
        return value
    names = "|".join(map(re.escape, {name, *name.split()[:1]}))
    owner = rf"(?:(?:{names})(?:['’]s?)?|their|them|themselves|his|her|him)"
    found = re.search(owner.join(map(re.escape, parts)), text)
    return value_without_name(found[0], name) if found else value


def is_named(value: str, attribute: str = "") -> bool:
    """Return whether a value names something: it is no clause, and no part of a quotation.

    `attribute`: that of the value. Only some have values that begin with a verb.
    """
    tokens = tokenise(value)
    first = tokens.lowers[0] if tokens.words else ""
    if len(tokens.words) > MAX_WORDS or (first in FILLERS and len(tokens.words) > 1):
        return False
    if (
        attribute not in _DOINGS
        and first.endswith("ing")
        and FUNCTION_WORDS & {*tokens.lowers[1:2]}
    ):
        return False
    if attribute not in ("plan", "skill", "") and first in BASES - NOUNS_TOO:
        return False
    if is_past(first) and PREPOSITIONS & {*tokens.lowers[1:2]}:
        return False
    # Not "IT" and "US".
    words = (
        low for word, low in zip(tokens.words, tokens.lowers, strict=True) if not word.isupper()
    )
    if not _NOT_IN_VALUES.isdisjoint(words):
        return False
    if len(_OPENING.findall(value)) > len(_CLOSING.findall(value)):
        return False
    begun = _OPENING.search(value)
    if begun and _CLOSING.search(value, 0, begun.start()):
        return False
    return all(value.count(opening) == value.count(closing) for opening, closing in _PAIRS)
