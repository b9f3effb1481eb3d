"""What was read in a text, in few bytes: a row of the ledger's changes has it for each message.

The text itself gives its words (`word_cutter`), so a reading names them by their numbers:

    form                            a byte, raised with this form or with the cut of words: 2
                                    (1: as 2, but a name ends with its type)
    a part of speech for each word  a byte each, a place in TAGS; marks have none
    how many names there are        then for each: words since the one before, words, a byte of its
                                    type (and 4 times its rival), how sure in percent
    sentences to the end            for each: characters since the one before, characters, a byte of
                                    kind (and 4 if there is an attribute), how durable in percent,
                                    and where there is one, the attribute's place and how sure

Numbers without a size are as in LEB128, seven bits a byte, the lowest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from recollect.schemas.errors import IntegrityError
from recollect.streams.language.grammar.text_reading import (
    ReadName,
    ReadSentence,
    ReadWord,
    SentenceKind,
    TextReading,
)
from recollect.streams.reader.word_cutter import CUT, is_told, words_of

_FORM = CUT + 1
# Readings without the rival types and percentages of names.
_FORM_WITHOUT_SCORES = CUT

#: The tags of the Penn Treebank, as OntoNotes has them. Places are recorded: a new one comes last.
TAGS = (
    *("", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"),
    *("JJ", "JJR", "JJS", "RB", "RBR", "RBS", "RP", "IN", "DT", "PDT", "WDT", "WP", "WP$", "WRB"),
    *("CC", "CD", "EX", "FW", "LS", "POS", "TO", "UH", "SYM", "AFX", "ADD", "GW", "NFP", "HYPH"),
    *("XX",),
)
_TAG = {tag: number for number, tag in enumerate(TAGS)}
#: Parts of speech as their places in TAGS.
TagPlaces = npt.NDArray[np.uint8]

NameType = Literal["PERSON", "ORG", "LOCATION", "OTHER"]
NAME_TYPES: tuple[NameType, ...] = get_args(NameType)
_KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)
_HAS_ATTRIBUTE = 4

#: What a sentence may say of somebody; places are recorded, so a new one comes last.
ATTRIBUTES = (
    *("home", "work", "school", "family", "partner", "pets", "likes", "dislikes", "possessions"),
    *("health", "age", "origin", "looks", "diet", "skills", "plans", "beliefs", "name"),
)


class PackedName(NamedTuple):
    """A name by the numbers of its first word and of the one after its last, marks counted.

    `sure`: percent; `rival`: the likeliest other type.
    """

    begin: int
    end: int
    type: NameType
    sure: int
    rival: NameType


def packed(text: str, reading: TextReading) -> bytes:
    """Return a reading of a text in few bytes.

    Its words and names are where `words_of` puts them.
    """
    places = words_of(text)
    tags = {word.start: word.tag for word in reading.words}
    first = {start: number for number, (start, _) in enumerate(places)}
    last = {end: number for number, (_, end) in enumerate(places)}
    return packed_parts(
        tag_places([tags.get(start, "") for start, _ in told(text, places)]),
        [
            PackedName(
                first[name.start],
                last[name.end] + 1,
                name.type,
                100 if name.sure is None else name.sure,
                name.rival or name.type,
            )
            for name in reading.names
        ],
        reading.sentences,
    )


def tag_places(tags: Iterable[str]) -> TagPlaces:
    """Return the places of parts of speech; one that is not among TAGS is none."""
    return np.array([_TAG.get(tag, 0) for tag in tags], np.uint8)


def packed_parts(
    tags: TagPlaces,
    names: Iterable[PackedName],
    sentences: Iterable[ReadSentence],
) -> bytes:
    """Return a reading in few bytes.

    `tags`: of the words that are no marks.
    """
    out = bytearray([_FORM])
    out += tags.tobytes()
    found = list(names)
    _write(out, len(found))
    at = 0
    for name in found:
        _write(out, name.begin - at)
        _write(out, name.end - name.begin)
        out.append(NAME_TYPES.index(name.type) | NAME_TYPES.index(name.rival) << 2)
        out.append(name.sure)
        at = name.end
    at = 0
    for sentence in sentences:
        _write(out, sentence.start - at)
        _write(out, sentence.end - sentence.start)
        form = _KINDS.index(sentence.kind)
        out.append(form | (_HAS_ATTRIBUTE if sentence.attribute else 0))
        out.append(sentence.durable)
        if sentence.attribute:
            out.append(ATTRIBUTES.index(sentence.attribute))
            out.append(sentence.sure)
        at = sentence.end
    return bytes(out)


def unpacked(text: str, content: bytes) -> TextReading:
    """Return what was read in a text.

    Raises:
        IntegrityError: these bytes are no reading of this text, or a newer recollect packed them.
    """
    if not content or content[0] not in (_FORM, _FORM_WITHOUT_SCORES):
        raise IntegrityError("a recorded reading has a form that this recollect does not know")
    places = words_of(text)
    words = told(text, places)
    try:
        tagged = tuple(
            ReadWord(start, end, TAGS[tag])
            for (start, end), tag in zip(words, content[1 : 1 + len(words)], strict=True)
            if tag
        )
        numbers = iter(content[1 + len(words) :])
        names = tuple(_names(places, numbers, scored=content[0] == _FORM))
        sentences = tuple(_sentences(text, numbers))
    except (ValueError, IndexError, StopIteration, RuntimeError) as error:
        raise IntegrityError(f"a recorded reading is not one of its text: {error}") from None
    return TextReading(tagged, names, sentences)


def told(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where the words are, without the marks."""
    return [(start, end) for start, end in places if is_told(text[start:end])]


def _names(
    places: list[tuple[int, int]], numbers: Iterator[int], *, scored: bool
) -> Iterator[ReadName]:
    at = 0
    for _ in range(_read(numbers)):
        begin = at + _read(numbers)
        at = begin + _read(numbers)
        start, end, types = places[begin][0], places[at - 1][1], next(numbers)
        if scored:
            yield ReadName(
                start, end, NAME_TYPES[types & 3], next(numbers), NAME_TYPES[types >> 2 & 3]
            )
        else:
            yield ReadName(start, end, NAME_TYPES[types])


def _sentences(text: str, numbers: Iterator[int]) -> Iterator[ReadSentence]:
    at = 0
    for first in numbers:
        start = at + _read(numbers, first)
        at = start + _read(numbers)
        kind, durable = next(numbers), next(numbers)
        attribute, sure = None, 0
        if kind & _HAS_ATTRIBUTE:
            attribute, sure = ATTRIBUTES[next(numbers)], next(numbers)
        if at > len(text):
            raise ValueError("a sentence ends after it")
        yield ReadSentence(start, at, _KINDS[kind & 3], durable, attribute, sure)


def _write(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _read(numbers: Iterator[int], first: int | None = None) -> int:
    found = shift = 0
    while True:
        part = next(numbers) if first is None else first
        first = None
        found |= (part & 0x7F) << shift
        shift += 7
        if part < 0x80:
            return found
