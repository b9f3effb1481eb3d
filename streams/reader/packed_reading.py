"""The compact encoding of a message's reading, which each message has in the change records.

The words follow from the text (`words.word_cutter`), so a reading refers to them by number:

    form              one byte; incremented with this format or the splitting of words
    for each word     two bytes: its part of speech, an index in TAGS, and its salience in percent;
                      marks have none
    names             their number, then for each: words since the previous one, words, a byte for
                      its type (plus 4 times its rival), its probability in percent
    values            as names, each with its probability, a byte for its type, and the
                      probabilities of the type, of being the sender's and of holding, in percent
    sentences         to the end, for each: characters since the previous one, characters, a byte
                      for its kind, the probabilities of being the sender's own and of happening
                      once at a time that it does not name, in percent, how many types of facts it
                      may end, and for each a byte and its probability

Numbers without a size are in LEB128, seven bits a byte, the lowest first. Forms of earlier releases
lack fields: up to 6, the probability of happening once; up to 5, the types of facts that a sentence
may end; up to 4, all of a value but its first probability; up to 3, values. Up to 2, a word has no
salience, and a sentence has its salience in place of `own`; in 1, a name ends with its type.
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
    ReadValue,
    ReadWord,
    SentenceKind,
    TextReading,
    ValueType,
)
from recollect.streams.reader.words.word_cutter import CUT, is_word, words_of

#: The formats of earlier releases, and that of this one.
(
    _WITHOUT_SCORES,
    _WITHOUT_SALIENCE,
    _WITHOUT_VALUES,
    _WITHOUT_TYPES,
    _WITHOUT_ENDS,
    _WITHOUT_OCCURRENCES,
    _FORM,
) = range(CUT, CUT + 7)

#: The tags of the Penn Treebank, as in OntoNotes. Recordings hold indices, so new tags go to the
#: end.
TAGS = (
    *("", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"),
    *("JJ", "JJR", "JJS", "RB", "RBR", "RBS", "RP", "IN", "DT", "PDT", "WDT", "WP", "WP$", "WRB"),
    *("CC", "CD", "EX", "FW", "LS", "POS", "TO", "UH", "SYM", "AFX", "ADD", "GW", "NFP", "HYPH"),
    *("XX",),
)
_TAG = {tag: number for number, tag in enumerate(TAGS)}
#: Indices in TAGS of parts of speech.
TagPlaces = npt.NDArray[np.uint8]

NameType = Literal["PERSON", "ORG", "LOCATION", "OTHER"]
NAME_TYPES: tuple[NameType, ...] = get_args(NameType)
VALUE_TYPES: tuple[ValueType, ...] = get_args(ValueType)
_KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)
#: In forms 1 and 2, a sentence may be followed by an attribute of two bytes.
_HAS_ATTRIBUTE = 4


class PackedName(NamedTuple):
    """A name, by the numbers of its first word and of the one after its last, marks included.

    `sure`: percent; `rival`: the second likeliest type.
    """

    begin: int
    end: int
    type: NameType
    sure: int
    rival: NameType


class PackedValue(NamedTuple):
    """A value, by the numbers of its first word and of the one after its last, marks included.

    The other fields are as in `ReadValue`.
    """

    begin: int
    end: int
    sure: int
    type: ValueType = "open"
    type_sure: int = 0
    own: int = 100
    holds: int = 100


def packed(text: str, reading: TextReading) -> bytes:
    """Encode a reading of a text compactly.

    Its words, names and values have the bounds that `words_of` gives.
    """
    places = words_of(text)
    words = {word.start: word for word in reading.words}
    first = {start: number for number, (start, _) in enumerate(places)}
    last = {end: number for number, (_, end) in enumerate(places)}
    read = [words.get(start) for start, _ in word_bounds(text, places)]
    return packed_parts(
        tag_places([word.tag if word else "" for word in read]),
        np.array([word.salience if word else 0 for word in read], np.uint8),
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
        [
            PackedValue(
                first[value.start],
                last[value.end] + 1,
                value.sure,
                value.type,
                value.type_sure,
                value.own,
                value.holds,
            )
            for value in reading.values
        ],
        reading.sentences,
    )


def tag_places(tags: Iterable[str]) -> TagPlaces:
    """Return the indices of parts of speech in TAGS; an unknown one counts as none."""
    return np.array([_TAG.get(tag, 0) for tag in tags], np.uint8)


def packed_parts(
    tags: TagPlaces,
    salience: npt.NDArray[np.uint8],
    names: Iterable[PackedName],
    values: Iterable[PackedValue],
    sentences: Iterable[ReadSentence],
) -> bytes:
    """Encode a reading compactly.

    `tags` and `salience` (percent) have an entry for each word, but none for punctuation.
    """
    out = bytearray([_FORM])
    out += np.stack([tags, salience], axis=1).tobytes()
    _write_spans(
        out,
        [
            (
                name.begin,
                name.end,
                bytes([NAME_TYPES.index(name.type) | NAME_TYPES.index(name.rival) << 2, name.sure]),
            )
            for name in names
        ],
    )
    _write_spans(
        out,
        [
            (
                value.begin,
                value.end,
                bytes(
                    [
                        value.sure,
                        VALUE_TYPES.index(value.type),
                        value.type_sure,
                        value.own,
                        value.holds,
                    ]
                ),
            )
            for value in values
        ],
    )
    at = 0
    for sentence in sentences:
        _write(out, sentence.start - at)
        _write(out, sentence.end - sentence.start)
        out += bytes(
            [_KINDS.index(sentence.kind), sentence.own, sentence.occurs, len(sentence.ends)]
        )
        for type_, sure in sentence.ends:
            out += bytes([VALUE_TYPES.index(type_), sure])
        at = sentence.end
    return bytes(out)


def _write_spans(out: bytearray, spans: Sequence[tuple[int, int, bytes]]) -> None:
    _write(out, len(spans))
    at = 0
    for begin, end, content in spans:
        _write(out, begin - at)
        _write(out, end - begin)
        out += content
        at = end


def unpacked(text: str, content: bytes) -> TextReading:
    """Decode the reading of a text.

    Raises:
        IntegrityError: the bytes are no reading of this text, or a newer recollect wrote them.
    """
    if not content or content[0] not in range(_WITHOUT_SCORES, _FORM + 1):
        raise IntegrityError(
            "a record contains results of the reader in a format that this version of recollect "
            "does not know; upgrade recollect"
        )
    try:
        return (_unpacked if content[0] >= _WITHOUT_VALUES else _unpacked_earlier)(text, content)
    except (ValueError, IndexError, StopIteration, RuntimeError) as error:
        raise IntegrityError(
            f"the results of the reader in a record do not match its text ({error}); run recollect "
            "verify"
        ) from None


def _unpacked(text: str, content: bytes) -> TextReading:
    places = words_of(text)
    words = word_bounds(text, places)
    ends = 1 + 2 * len(words)
    read = tuple(
        ReadWord(start, end, TAGS[tag], salience)
        for (start, end), tag, salience in zip(
            words, content[1:ends:2], content[2:ends:2], strict=True
        )
    )
    numbers = iter(content[ends:])
    names = tuple(_names(places, numbers, scored=True))
    values: tuple[ReadValue, ...] = ()
    if content[0] > _WITHOUT_VALUES:
        values = tuple(_values(places, numbers, typed=content[0] > _WITHOUT_TYPES))
    return TextReading(read, names, tuple(_sentences(text, numbers, content[0])), values)


def _unpacked_earlier(text: str, content: bytes) -> TextReading:
    places = words_of(text)
    words = word_bounds(text, places)
    tags = content[1 : 1 + len(words)]
    numbers = iter(content[1 + len(words) :])
    names = tuple(_names(places, numbers, scored=content[0] == _WITHOUT_SALIENCE))
    lasting = list(_earlier_sentences(text, numbers))
    salience = {
        place: percent
        for sentence, percent in lasting
        for place, _ in words
        if sentence.start <= place < sentence.end
    }
    read = tuple(
        ReadWord(start, end, TAGS[tag], salience.get(start, 0))
        for (start, end), tag in zip(words, tags, strict=True)
    )
    return TextReading(read, names, tuple(sentence for sentence, _ in lasting))


def word_bounds(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the bounds of the words, without punctuation."""
    return [(start, end) for start, end in places if is_word(text[start:end])]


def _spans(places: list[tuple[int, int]], numbers: Iterator[int]) -> Iterator[tuple[int, int]]:
    """Yield the characters of each span, and its remaining `numbers`."""
    at = 0
    for _ in range(_read(numbers)):
        begin = at + _read(numbers)
        at = begin + _read(numbers)
        yield places[begin][0], places[at - 1][1]


def _values(
    places: list[tuple[int, int]], numbers: Iterator[int], *, typed: bool
) -> Iterator[ReadValue]:
    for start, end in _spans(places, numbers):
        sure = next(numbers)
        if typed:
            type_ = VALUE_TYPES[next(numbers)]
            yield ReadValue(start, end, sure, type_, next(numbers), next(numbers), next(numbers))
        else:
            yield ReadValue(start, end, sure)


def _names(
    places: list[tuple[int, int]], numbers: Iterator[int], *, scored: bool
) -> Iterator[ReadName]:
    for start, end in _spans(places, numbers):
        types = next(numbers)
        if scored:
            yield ReadName(
                start, end, NAME_TYPES[types & 3], next(numbers), NAME_TYPES[types >> 2 & 3]
            )
        else:
            yield ReadName(start, end, NAME_TYPES[types])


def _sentences(text: str, numbers: Iterator[int], form: int) -> Iterator[ReadSentence]:
    at = 0
    for first in numbers:
        start = at + _read(numbers, first)
        at = start + _read(numbers)
        if at > len(text):
            raise ValueError("a sentence ends after the end of the text")
        kind, own = _KINDS[next(numbers)], next(numbers)
        occurs = next(numbers) if form > _WITHOUT_OCCURRENCES else 0
        count = next(numbers) if form > _WITHOUT_ENDS else 0
        ends = tuple((VALUE_TYPES[next(numbers)], next(numbers)) for _ in range(count))
        yield ReadSentence(start, at, kind, own, ends, occurs)


def _earlier_sentences(text: str, numbers: Iterator[int]) -> Iterator[tuple[ReadSentence, int]]:
    """Yield the sentences of a reading in form 1 or 2, each with its salience in percent."""
    at = 0
    for first in numbers:
        start = at + _read(numbers, first)
        at = start + _read(numbers)
        kind, lasting = next(numbers), next(numbers)
        if kind & _HAS_ATTRIBUTE:
            next(numbers), next(numbers)
        if at > len(text):
            raise ValueError("a sentence ends after the end of the text")
        yield ReadSentence(start, at, _KINDS[kind & 3]), lasting


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
