"""Parts of speech by a dictionary, since facts are not annotated by the reader.

The table has the words that are not only nouns; every other word counts as a noun. Its words are
those of the SPECIALIST Lexicon, as in lemminflect; `training/word_classes.py` writes it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

#: `verb`: a verb and no noun. `noun or verb`: both. `other`: mainly an adjective or an adverb.
WordClass = Literal["noun", "verb", "noun or verb", "other"]

FILE = Path(__file__).with_name("word_classes.bin")
_CLASSES: tuple[WordClass, ...] = ("verb", "noun or verb", "other")
_LONGEST_PREFIX = 25


def word_class(lower: str) -> WordClass:
    """Return the class of a word in lower case."""
    return _table().get(lower, "noun")


def packed(words: Mapping[WordClass, Iterable[str]]) -> bytes:
    """Encode a table: the sorted words of each class, each without the prefix shared with the last.

    The length of that prefix is itself a letter, `a` for none.
    """
    blocks = []
    for name in _CLASSES:
        lines, before = [], ""
        for word in sorted(words[name]):
            shared = 0
            while shared < min(len(before), _LONGEST_PREFIX) and word[shared] == before[shared]:
                shared += 1
            lines.append(chr(ord("a") + shared) + word[shared:])
            before = word
        blocks.append("\n".join(lines))
    return zlib.compress("\n\n".join(blocks).encode(), 9)


@cache
def _table() -> dict[str, WordClass]:
    found: dict[str, WordClass] = {}
    blocks = zlib.decompress(FILE.read_bytes()).decode().split("\n\n")
    for name, block in zip(_CLASSES, blocks, strict=True):
        word = ""
        for line in block.split("\n"):
            word = word[: ord(line[0]) - ord("a")] + line[1:]
            found[word] = name
    return found
