"""What the heads on the encoder read in one text; every offset counts characters of that text.

Rules work without it, plainly worse: where a home has no reader, a text has no `TextReading`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

#: What a sentence does, by its form.
SentenceKind = Literal["statement", "question", "command", "fragment"]


#: What a value is of: "open" is any other attribute. Readings store places in this order, so a new
#: type comes last.
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


class ReadWord(Struct, frozen=True):
    """A word, its part of speech as a tag of the Penn Treebank ("VBZ", "NNP", "PRP$"; "" if none),
    and how likely it is part of something worth remembering, in percent.
    """

    start: int
    end: int
    tag: str
    salience: int = 0


class ReadName(Struct, frozen=True):
    """A name; words that only stand for somebody ("she", "my boss") are none.

    `sure`: probability of the type, in percent, that of its least sure word; None in readings of
    earlier versions. `rival`: the likeliest other type.
    """

    start: int
    end: int
    type: Literal["PERSON", "ORG", "LOCATION", "OTHER"]
    sure: int | None = None
    rival: Literal["PERSON", "ORG", "LOCATION", "OTHER"] | None = None


class ReadSentence(Struct, frozen=True):
    """A sentence, as `recollect.text.sentences` cuts the text.

    `own` is how likely the sender means it as their own words, in percent, and does not quote,
    paste, draft or play them.
    """

    start: int
    end: int
    kind: SentenceKind
    own: int = 100


class ReadValue(Struct, frozen=True):
    """The value of an attribute; all figures are probabilities in percent.

    `sure`: that its words are a value, of the least sure one. `type_sure`: that it is of `type`;
    0 in readings of earlier versions. `own`: that it is said of the sender. `holds`: that it is
    said to hold, and not to be over or denied.
    """

    start: int
    end: int
    sure: int
    type: ValueType = "open"
    type_sure: int = 0
    own: int = 100
    holds: int = 100


class TextReading(Struct, frozen=True):
    """Words, names, sentences and values of one text, each in the text's order."""

    words: tuple[ReadWord, ...]
    names: tuple[ReadName, ...]
    sentences: tuple[ReadSentence, ...]
    values: tuple[ReadValue, ...] = ()
