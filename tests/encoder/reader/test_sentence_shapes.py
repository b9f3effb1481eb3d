"""What a head is told of a sentence beside the encoder's vectors."""

from __future__ import annotations

import random

import numpy as np

from recollect.streams.reader.packed_reading import tag_places
from recollect.streams.reader.sentence_shapes import sentence_shapes
from recollect.streams.reader.words.word_shapes import look_of

I = {"i", "me", "my", "mine", "myself"}  # noqa: E741
ASKING = {"what", "who", "whom", "which", "where", "when", "why", "how"}
TAGS = ("", "NN", "VB", "VBD", "VBZ", "VBP", "MD", "VBG", "PRP")
SMALL = (
    "I ME my Mine myself we Us our OURS you your Yours he she HIM her his they them THEIR What who "
    "whom which where when why how please let's help"
)
WORDS = (*SMALL.split(" "), "Lisbon", "rains", "32", "im")
BODIES = (
    "So?", "So!", "So.", "So:", "So…", "So...", "So", "So?)", 'So?" ', "So.”", "a 3", "a ٣", "a\nb",
    "see http://a.b", "x = 1", "{}", "<b>", "`a`", "a|b", ")", "", "?\n", "http", "a.\u2009",
)  # fmt: skip


def plainly(body: str, said: list[str], tags: list[str], named: bool) -> list[bool]:
    """Return the features of one sentence."""
    body = body.rstrip("\"')]” ")
    there = {word.lower() for word in said}
    first = said[0].lower() if said else ""
    tag = tags[0] if tags else ""
    return [
        body.endswith("?"),
        body.endswith("!"),
        body.endswith("."),
        body.endswith((":", "…", "...")),
        any(each.isdecimal() for each in body),
        "\n" in body,
        "http" in body,
        any(each in "{}<>=`|" for each in body),
        bool(there & I),
        first in I,
        bool(there & {"we", "us", "our", "ours"}),
        bool(there & {"you", "your", "yours"}),
        bool(there & {"he", "she", "him", "her", "his", "they", "them", "their"}),
        first in ASKING,
        bool(there & {"please", "let's", "help"}),
        tag in ("VB", "VBP") and first not in I,
        tag in ("MD", "VBZ", "VBP", "VBD"),
        bool({*tags} & {"VBD", "VBZ", "VBP", "MD"}),
        named,
        len(said) < 3,
        3 <= len(said) < 6,
        6 <= len(said) < 15,
        len(said) >= 30,
        "VBD" in tags,
    ]


def test_sentences_are_told_together_what_each_is_told_alone() -> None:
    chance = random.Random(5)
    for count in (0, 1, 2, 40):
        for _ in range(40):
            bodies, sizes = [], []
            for _ in range(count):
                bodies.append(chance.choice(BODIES))
                sizes.append(chance.choice([0, 0, 1, 2, 3, 5, 6, 14, 15, 29, 30, 31]))
            # Words of no sentence stand between sentences too.
            gaps = [chance.choice([0, 0, 2]) for _ in range(count + 1)]
            bounds, at = [], gaps[0]
            for size, gap in zip(sizes, gaps[1:], strict=True):
                bounds.append((at, at + size))
                at += size + gap
            said = [chance.choice(WORDS) for _ in range(at)]
            tags = [chance.choice(TAGS) for _ in range(at)]
            named = [chance.random() < 0.5 for _ in range(count)]
            found = sentence_shapes(
                iter(bodies),
                np.array([look_of(word) for word in said], np.uint32),
                tag_places(tags),
                np.array(bounds, np.int64).reshape(-1, 2),
                np.array(named, bool),
            )
            assert found.tolist() == [
                plainly(body, said[begin:end], tags[begin:end], name)
                for body, (begin, end), name in zip(bodies, bounds, named, strict=True)
            ]
