"""The results of the classifier heads for one text; every offset counts characters of that text.

Rules work without them, but clearly less well: in a home without a reader, a text has no
`TextReading`.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import Literal, TypeVar

from msgspec import Struct

#: The kind of a sentence, by its form.
SentenceKind = Literal["statement", "question", "command", "fragment"]


#: The type of a value; "open" is any other attribute. Recordings store indices, so a new type goes
#: to the end.
ValueType = Literal[
    "open",
    "home",
    "address",
    "employer",
    "job",
    "school",
    "partner",
    "family",
    "relation",
    "pet",
    "diet",
    "allergy",
    "health",
    "birthday",
    "age",
    "phone",
    "email",
    "language",
    "like",
    "dislike",
    "possession",
    "habit",
    "skill",
    "membership",
    "appointment",
    "deadline",
    "price",
    "place",
    "status",
    "name",
]


#: In percent.
LEAST_ENDING = 1


class ReadWord(Struct, frozen=True):
    """A word with its part of speech and its salience.

    The part of speech is a Penn Treebank tag ("VBZ", "NNP", "PRP$"), "" if none. The salience is
    the probability, in percent, that the word is part of something worth remembering.
    """

    start: int
    end: int
    tag: str
    salience: int = 0


class ReadName(Struct, frozen=True):
    """A name; pronouns and descriptions ("she", "my boss") are not names.

    `sure`: the probability of the type, in percent, in its least certain word; None in readings of
    earlier versions. `rival`: the second likeliest type.
    """

    start: int
    end: int
    type: Literal["PERSON", "ORG", "LOCATION", "OTHER"]
    sure: int | None = None
    rival: Literal["PERSON", "ORG", "LOCATION", "OTHER"] | None = None


class ReadSentence(Struct, frozen=True):
    """A sentence, with the bounds that `recollect.text.sentences` gives.

    `own`: the probability, in percent, that the sender means it as their own words, rather than
    quoting, pasting, drafting or acting.
    `ends`: the types of earlier facts that it may end, each with its probability in percent, the
    likeliest first; those below `LEAST_ENDING` are left out.
    `occurs`: the probability, in percent, that what it states happens once, at a time that it does
    not name.
    """

    start: int
    end: int
    kind: SentenceKind
    own: int = 100
    ends: tuple[tuple[ValueType, int], ...] = ()
    occurs: int = 0


class ReadValue(Struct, frozen=True):
    """The value of an attribute; all numbers are probabilities in percent.

    `sure`: its words are a value, for the least certain word. `type_sure`: it has the type `type`;
    0 in readings of earlier versions. `own`: it is about the sender. `holds`: it is stated to hold,
    rather than to be over or denied.
    """

    start: int
    end: int
    sure: int
    type: ValueType = "open"
    type_sure: int = 0
    own: int = 100
    holds: int = 100


_start = attrgetter("start")
Part = TypeVar("Part", ReadWord, ReadSentence)


class TextReading(Struct, frozen=True):
    """Words, names, sentences and values of one text, each in the text's order."""

    words: tuple[ReadWord, ...]
    names: tuple[ReadName, ...]
    sentences: tuple[ReadSentence, ...]
    values: tuple[ReadValue, ...] = ()

    def words_in(self, start: int, end: int) -> tuple[ReadWord, ...]:
        """Return the words that begin within a span."""
        first, last = (bisect_left(self.words, place, key=_start) for place in (start, end))
        return self.words[first:last]

    def words_over(self, start: int, end: int) -> tuple[ReadWord, ...]:
        """Return the words that have a character within a span."""
        return _overlapping(self.words, start, end)

    def sentences_over(self, start: int, end: int) -> tuple[ReadSentence, ...]:
        """Return the sentences that have a character within a span."""
        return _overlapping(self.sentences, start, end)

    def sentence_at(self, place: int) -> ReadSentence | None:
        """Return the sentence that a character is in, if any."""
        return next(iter(self.sentences_over(place, place + 1)), None)

    def values_in(self, start: int, end: int) -> list[ReadValue]:
        """Return the values within a span."""
        first, last = (bisect_left(self.values, place, key=_start) for place in (start, end))
        return [each for each in self.values[first:last] if each.end <= end]


def _overlapping(parts: tuple[Part, ...], start: int, end: int) -> tuple[Part, ...]:
    """Return the parts that overlap a span; they are in the text's order and do not overlap."""
    last = bisect_left(parts, end, key=_start)
    first = min(bisect_left(parts, start, key=_start), last)
    if first and parts[first - 1].end > start:
        first -= 1
    return parts[first:last]
