"""The features of a sentence that a head gets besides the vectors: marks and a few small words."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.packed_reading import TAGS, TagPlaces
from recollect.streams.reader.words.word_shapes import (
    ASKING,
    OF_ME,
    OF_THEM,
    OF_US,
    OF_YOU,
    PLEASE,
    Looks,
)

#: The number of features of a sentence.
FEATURES = 24

_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"[{}<>=`|]")
# Parts of speech, as bits of a number.
_PLAIN, _ASKS, _VERB, _PAST = 1, 2, 4, 8
_OF_TAG = np.array(
    [
        _PLAIN * (tag in ("VB", "VBP"))
        | _ASKS * (tag in ("MD", "VBZ", "VBP", "VBD"))
        | _VERB * (tag in ("MD", "VBZ", "VBP", "VBD"))
        | _PAST * (tag == "VBD")
        for tag in TAGS
    ],
    np.uint32,
)


def sentence_shapes(
    sentences: Iterable[str],
    looks: Looks,
    tags: TagPlaces,
    bounds: npt.NDArray[np.int64],
    named: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int8]:
    """Return the (n, FEATURES) zeros and ones of sentences; `named`: whether each has a name.

    `looks` and `tags` have an entry for each word, but none for punctuation; `bounds` (n, 2): the
    numbers of the first word of each sentence and of the one after its last.
    """
    signs = np.array([_signs(sentence) for sentence in sentences], bool).reshape(-1, 8)
    sizes = bounds[:, 1] - bounds[:, 0]
    first, every = _first_and_every(looks, bounds)
    first_tag, every_tag = _first_and_every(_OF_TAG[tags], bounds)
    columns = [
        *signs.T,
        every & OF_ME != 0,
        first & OF_ME != 0,
        every & OF_US != 0,
        every & OF_YOU != 0,
        every & OF_THEM != 0,
        first & ASKING != 0,
        every & PLEASE != 0,
        (first_tag & _PLAIN != 0) & (first & OF_ME == 0),
        first_tag & _ASKS != 0,
        every_tag & _VERB != 0,
        named,
        sizes < 3,
        (sizes >= 3) & (sizes < 6),
        (sizes >= 6) & (sizes < 15),
        sizes >= 30,
        every_tag & _PAST != 0,
    ]
    return np.array(columns, np.int8).T


def _signs(sentence: str) -> list[bool]:
    body = sentence.rstrip("\"')]” ")
    last = body[-1:]
    return [
        last == "?",
        last == "!",
        last == ".",
        last == ":" or last == "…" or body.endswith("..."),
        _DIGIT.search(body) is not None,
        "\n" in body,
        "http" in body,
        _CODE.search(body) is not None,
    ]


def _first_and_every(
    bits: npt.NDArray[np.uint32], bounds: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the bits of the first word of each sentence, and of all its words combined."""
    # A sentence without words begins where the next one does, or at the sentinel added here.
    bits = np.append(bits, np.uint32(0))
    there = bounds[:, 0] < bounds[:, 1]
    first = bits[bounds[:, 0]] * there
    return first, np.bitwise_or.reduceat(bits, bounds.ravel())[::2] * there
