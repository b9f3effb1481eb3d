"""What the heads on the encoder read in one text; every offset counts characters of that text.

Rules work without it, plainly worse: where a home has no reader, a text has no `TextReading`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

#: What a sentence does, by its form.
SentenceKind = Literal["statement", "question", "command", "fragment"]


class ReadWord(Struct, frozen=True):
    """A word, and its part of speech as a tag of the Penn Treebank ("VBZ", "NNP", "PRP$")."""

    start: int
    end: int
    tag: str


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

    `durable` is how likely it says something that lasts about somebody, in percent. `attribute` is
    the class of what it says of somebody ("home", "work", ...), with `sure` in percent; None:
    nothing.
    """

    start: int
    end: int
    kind: SentenceKind
    durable: int
    attribute: str | None
    sure: int


class TextReading(Struct, frozen=True):
    """Words, names and sentences of one text, each in the text's order."""

    words: tuple[ReadWord, ...]
    names: tuple[ReadName, ...]
    sentences: tuple[ReadSentence, ...]
