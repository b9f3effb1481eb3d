"""The units of a fact: its sentences, and their parts between dashes and semicolons."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from recollect.text.sentences import sentences

#: A fact has at most this many units; the rest of its text belongs to none.
MAX_UNITS = 8
#: A part with fewer words is not a unit of its own.
MIN_WORDS = 3
_BREAK = re.compile(r"\s+(?:-{1,2}|[–—])\s*(?=\S)|(?<=\w)--\s*(?=\S)|;\s+")
#: Words that link a sentence to the one before it.
_LINK = re.compile(
    r"\A(?:(?:(?:and|but|so|then|also|however|moreover|furthermore|additionally|besides|"
    r"in addition|at the same time|meanwhile|in the meantime|on (?:another note|the other hand)|"
    r"by the way|anyway|of course|for (?:example|instance)|in particular|in fact|as a result|"
    r"therefore|thus|actually|honestly|basically|finally|(?:after|before|besides) that),|and|but|"
    r"(?:then|now),?(?= (?-i:[A-Z]))|"
    r"(?:especially|particularly)(?= (?:since|because|when|after|if)\b))\s+)+(?=\w)",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"([^:\n]{1,60}):\s+")


class Unit(NamedTuple):
    """A unit's text; `speaker`: who said it in these words, "" if it is in the third person."""

    text: str
    speaker: str


def units_of(text: str, speakers: Collection[str]) -> list[Unit]:
    """Return the units of a fact's text.

    A text in the speaker's own words begins with the speaker's name and a colon; `speakers` are the
    names that count as such.
    """
    speaker = ""
    if (prefix := _SPEAKER.match(text)) and prefix[1] in speakers:
        speaker, text = prefix[1], text[prefix.end() :]
    parts: list[str] = []
    for start, end in sentences(text):
        of_sentence: list[str] = []
        for part in _parts(text[start:end]):
            if of_sentence and min(_words(part), _words(of_sentence[-1][1:])) < MIN_WORDS:
                of_sentence[-1] += part
            else:
                of_sentence.append(part)
        parts += of_sentence
    return [Unit(text, speaker) for part in parts if (text := _trimmed(part))][:MAX_UNITS]


def without_link(text: str) -> str:
    """Return a text without the words that link it to the sentence before.

    >>> without_link("However, Ada swims.")
    'Ada swims.'
    """
    return _LINK.sub("", text)


def _parts(sentence: str) -> list[str]:
    """Split a sentence; each part but the first begins with the break before it."""
    begins = [0, *(found.start() for found in _BREAK.finditer(sentence))]
    return [sentence[a:b] for a, b in zip(begins, [*begins[1:], len(sentence)], strict=True)]


def _words(part: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in part.split())


def _trimmed(part: str) -> str:
    """Return a part without the break before it, and without blanks around it."""
    trimmed = _BREAK.sub("", part, count=1) if _BREAK.match(part) else part
    return " ".join(trimmed.strip(" \t\r\n-–—;,").split())
