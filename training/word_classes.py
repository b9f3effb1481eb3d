"""Write the parts of speech by dictionary: python -m training.word_classes LEMMAS.

LEMMAS is `lemminflect/resources/lemma_lu.csv.gz` of lemminflect 0.2.3 (MIT), whose words are those
of the SPECIALIST Lexicon of the US National Library of Medicine. The same file gives the same
bytes.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import sys
from collections import defaultdict
from collections.abc import Set
from pathlib import Path

from recollect.streams.consolidation.word_classes import FILE, WordClass, packed


def class_of(parts: Set[str]) -> WordClass:
    """Return the class of a word that can be these parts of speech."""
    if parts & {"adj", "adv"}:
        return "other"
    if parts == {"verb"}:
        return "verb"
    return "noun or verb" if "verb" in parts else "noun"


def main() -> None:
    """Read the lemmas, and write the file."""
    parts: dict[str, set[str]] = defaultdict(set)
    with gzip.open(Path(sys.argv[1]), "rt", encoding="utf-8") as lines:
        for word, part, _ in csv.reader(lines):
            if word.isascii() and word.isalpha() and word.islower():
                parts[word].add(part)
    words: dict[WordClass, list[str]] = defaultdict(list)
    for word, parts_of_speech in parts.items():
        words[class_of(parts_of_speech)].append(word)
    content = packed(words)
    FILE.write_bytes(content)
    print(f"{FILE}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
