"""The things and noun phrases that a clause names."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.text_reading import ReadWord
from recollect.text.lexicon import DAY_WORDS, MONTHS, RELATIONS, WEEKDAYS, word_set

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_OF_PHRASES = NOUNS | {"JJ"}
#: Nouns of a time or a place, which are no things that could have one: "Location: the old pier".
_NO_THINGS = (
    word_set("location place venue time date morning afternoon evening night noon tonight")
    | word_set("week weekend month year")
    | DAY_WORDS.keys()
    | MONTHS.keys()
    | WEEKDAYS.keys()
)


def named_things(
    words: Sequence[ReadWord], lowers: Sequence[str], people: Sequence[Mention]
) -> list[str]:
    """Return the last noun of each name of a thing, in order: "launch" for "the launch date".

    A relative who has the thing is none: "my wife's flight" is a flight.

    `lowers`: the words in lower case; `people`: mentions of persons, which do not count as things.
    """
    found: list[str] = []
    names = False
    for place, (word, lower) in enumerate(zip(words, lowers, strict=True)):
        is_noun = word.tag in NOUNS and not any(
            each.start <= word.start < each.end for each in people
        )
        if (
            is_noun
            and lower in RELATIONS
            and any(each.tag == "POS" for each in words[place + 1 : place + 2])
        ):
            continue
        if is_noun and lower in _NO_THINGS:
            continue
        if is_noun and names:
            found[-1] = lower
        elif is_noun:
            found.append(lower)
        names = is_noun
    return list(dict.fromkeys(found))


def named_phrases(words: Sequence[ReadWord], lowers: Sequence[str]) -> list[str]:
    """Return the noun phrases without articles and possessives, as open attributes are named."""
    found: list[str] = []
    phrase: list[str] = []
    is_noun = False
    for word, lower in zip(words, lowers, strict=True):
        if word.tag in _OF_PHRASES:
            phrase.append(lower)
            is_noun = word.tag in NOUNS
        else:
            if is_noun:
                found.append(" ".join(phrase))
            phrase, is_noun = [], False
    if is_noun:
        found.append(" ".join(phrase))
    return list(dict.fromkeys(found))
