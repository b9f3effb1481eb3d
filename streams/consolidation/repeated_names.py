"""Texts under a heading that names an entity, without that name."""

from __future__ import annotations

import re

from recollect.streams.consolidation.nouns import is_noun, singular
from recollect.text.lexicon import word_set
from recollect.text.tokenizer import tokenise

_BRACKETS = re.compile(r"\([^()]*\)")
#: Besides names and plural nouns, "their" may mean these.
_OTHERS = word_set(
    "everyone everybody someone somebody others people both he him she her we us they them who"
)


def without_name(text: str, name: str) -> str:
    """Return a text without the name, if it begins with the name as its subject.

    Further on, "their" takes the place of the name's possessive unless that could mean somebody
    else, and a clause with the same subject goes without it.

    >>> without_name("Ada likes to ride Ada's horse, but Ada is afraid of dogs", "Ada")
    'likes to ride their horse, but is afraid of dogs'
    >>> without_name("Ada told Bob about Ada's horse", "Ada")
    "told Bob about Ada's horse"
    >>> without_name("In the evening, Ada fed Ada's horse", "Ada")
    'In the evening, Ada fed their horse'
    """
    if not name:
        return text
    own = "|".join(map(re.escape, (name, name.split()[0])))
    subject = re.match(rf"(?P<before>(?:[^,;:]*, )?)(?:{own}) (?!and\b)(?=[a-z])", text)
    if subject is None:
        return text
    before, rest = subject["before"], text[subject.end() :]
    if not before:
        return _without_repeated_name(rest, own)
    if re.search(own, before) or _names_others(before):
        return text
    return text[: subject.end()] + _without_repeated_name(rest, own)


def _without_repeated_name(text: str, own: str) -> str:
    """Return a text whose subject has one of these names, a regular expression, without them."""
    possessive = re.compile(rf"\b(?:{own})['’]s (?=\w)")
    while (found := possessive.search(text)) and not _names_others(text[: found.start()]):
        text = f"{text[: found.start()]}their {text[found.end() :]}"
    clause = re.match(rf"([^,;:]*), (and|but) (?:{own}) (?!and\b)(?=[a-z])", text)
    if clause and not _names_others(clause[1]):
        text = f"{clause[1]}, {clause[2]} {text[clause.end() :]}"
    return text


def _names_others(text: str) -> bool:
    """Return whether a text, apart from its first word, names what "they" could mean."""
    tokens = tokenise(_BRACKETS.sub("", text))
    return any(
        word[0].isupper()
        or lower in _OTHERS
        or (singular(lower) != lower and is_noun(singular(lower)))
        for word, lower in zip(tokens.words[1:], tokens.lowers[1:], strict=True)
    )
