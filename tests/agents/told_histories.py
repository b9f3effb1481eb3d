"""Histories of what a person says that ends, and a reader that knows their sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from recollect.streams.encoder.gateway import AnnotatedText
from recollect.streams.language.grammar.text_reading import (
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)
from recollect.streams.reader.packed_reading import packed

#: The end of a sentence that ends something, and what: its type, with the probability.
ENDS: dict[str, tuple[ValueType, int]] = {
    "sold": ("possession", 80),
    "quit": ("habit", 60),
    "moved": ("home", 60),
    "left": ("employer", 30),
}
VALUES: dict[str, ValueType] = {
    **dict.fromkeys(("kayak", "scooter", "piano"), "possession"),
    **dict.fromkeys(("rowing", "chess"), "habit"),
    **dict.fromkeys(("Turin", "Oslo"), "home"),
    **dict.fromkeys(("Siemens", "Philips"), "employer"),
}
TAGS = {
    "I": "PRP",
    **dict.fromkeys(("the", "a"), "DT"),
    **dict.fromkeys(("in", "at", "out", "of"), "IN"),
    **dict.fromkeys(("have", "do", "live", "work"), "VBP"),
    **dict.fromkeys(("sold", "quit", "moved", "left"), "VBD"),
}


def annotate(text: str) -> TextReading:
    """Return what a reader would say of a sentence of a history."""
    words = [
        ReadWord(each.start(), each.end(), TAGS.get(each[0]) or _tag(each[0]), 90)
        for each in re.finditer(r"\w+", text)
    ]
    said = [text[each.start : each.end] for each in words]
    ends = tuple(ENDS[each] for each in said if each in ENDS)
    values = tuple(
        ReadValue(word.start, word.end, 95, VALUES[each], 95)
        for word, each in zip(words, said, strict=True)
        if each in VALUES and not ends
    )
    sentence = ReadSentence(0, len(text), "statement", 100, ends)
    return TextReading(tuple(words), (), (sentence,), values)


def _tag(word: str) -> str:
    return "NNP" if word[0].isupper() else "NN"


#: The statements of a slot, each with the sentence that ends it.
SLOTS = {
    "possession": [(f"I have a {each}.", f"I sold the {each}.") for each in ("kayak", "scooter")],
    "activity": [(f"I do {each}.", f"I quit {each}.") for each in ("rowing", "chess")],
    "home": [(f"I live in {each}.", f"I moved out of {each}.") for each in ("Turin", "Oslo")],
    "employer": [(f"I work at {each}.", f"I left {each}.") for each in ("Siemens", "Philips")],
}
#: Sentences that name no value: they end the only one.
UNNAMED = {"possession": "I sold it.", "home": "I moved out."}


def history(draw: Random, *, named: bool) -> list[tuple[int, str]]:
    """Return what a person says of a slot or two, in the order of the days."""
    slots = draw.sample(sorted(SLOTS), draw.randint(1, 2))
    sentences = []
    for slot in slots:
        for statement, ending in SLOTS[slot]:
            sentences += [statement, statement, ending]
        if not named and slot in UNNAMED:
            sentences.append(UNNAMED[slot])
    told = [draw.choice(sentences) for _ in range(draw.randint(3, 7))]
    return [(3 * place + draw.randint(0, 2), text) for place, text in enumerate(told)]


class HistoryReader:
    """A reader for a home, which annotates as `annotate` does."""

    def read(self, texts: Sequence[str]) -> list[AnnotatedText]:
        return [AnnotatedText(packed(text, annotate(text)), None) for text in texts]
