"""Training the head of sentence kinds: what a sentence does, by its form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recollect.streams.encoder.encoder import HiddenStates
from recollect.streams.reader.head_file import Head
from recollect.streams.reader.text_reader import TextReader
from recollect.streams.reader.words.word_states import WholeNumbers, in_texts
from training.heads.head_corpora import UNITS, lines
from training.heads.head_fitting import Floats, Network, fit_labels

KINDS = ("statement", "question", "command", "fragment")
KIND_LAYERS = (3, 4)

_OF_GUM = {"decl": 0, "sub": 0, "q": 1, "wh": 1, "imp": 2, "frag": 3, "intj": 3}
_COMMAND = re.compile(
    r"(?:please|could you|can you|would you|give|fix|make|write|tell|list|explain|translate|show|"
    r"help|summari[sz]e|use|stop|add|remove|find|suggest|create|rewrite|never|always|call|don't)\b",
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """A sentence as heads see it: (dimension,) whole numbers by layer, and its shape.

    `around`: the mean of its text and the first sentence of that, by layer.
    """

    text: str
    layers: dict[int, WholeNumbers]
    shape: WholeNumbers
    around: tuple[dict[int, WholeNumbers], dict[int, WholeNumbers]]

    def row(self, layers: Sequence[int]) -> Floats:
        """Return what a head with these layers sees, a standard deviation to the unit."""
        return self._row(layers, ())

    def row_in_text(self, layers: Sequence[int]) -> Floats:
        """Return what a head sees that looks at the text as well."""
        return self._row(layers, self.around)

    def _row(self, layers: Sequence[int], around: Sequence[dict[int, WholeNumbers]]) -> Floats:
        parts = [*(self.layers[each] for each in layers), self.shape]
        parts += (one[each] for one in around for each in layers)
        return np.concatenate(parts).astype(np.float32) / np.float32(UNITS)


def sentences_of(reader: TextReader, texts: Sequence[str]) -> list[list[Sentence]]:
    """Return the sentences of each text; `reader` needs heads of names and tags, and all layers."""
    found: dict[int, list[Sentence]] = {}

    def look(row: int, states: HiddenStates) -> None:
        spans, (means, shapes) = reader.sentence_states(texts[row], states)
        around = {layer: in_texts(mean, [len(mean)]) for layer, mean in means.items()}
        found[row] = [
            Sentence(
                texts[row][start:end],
                {layer: mean[number] for layer, mean in means.items()},
                shapes[number],
                (
                    {layer: of_text[number] for layer, (of_text, _) in around.items()},
                    {layer: first[number] for layer, (_, first) in around.items()},
                ),
            )
            for number, (start, end) in enumerate(spans)
        ]

    reader.encoder.for_each_hidden_states(texts, look)
    return [found[row] for row in range(len(texts))]


def kind_head(reader: TextReader, gum: Path, plain: Path) -> Head:
    """Return the head of kinds: GUM's, and plain sentences where their form leaves no doubt."""
    rows: list[Floats] = []
    labels: list[int] = []
    given = [row for row in lines(gum) if row["kind"] in _OF_GUM]
    for row, found in zip(given, sentences_of(reader, [row["text"] for row in given]), strict=True):
        if len(found) == 1:
            rows.append(found[0].row(KIND_LAYERS))
            labels.append(_OF_GUM[row["kind"]])
    simple = list(lines(plain))
    for row, found in zip(
        simple, sentences_of(reader, [row["text"] for row in simple]), strict=True
    ):
        for each in found:
            label = _kind(each.text, row["kind"])
            if label is not None:
                rows.append(each.row(KIND_LAYERS))
                labels.append(label)
    network = _fitted(rows, labels, len(KINDS), epochs=25)
    return Head(KIND_LAYERS, network.in_whole_numbers(UNITS), KINDS)


def _kind(text: str, about: str) -> int | None:
    if text.endswith("?"):
        return 1
    if about in ("requests", "instructions"):
        return 2 if _COMMAND.match(text) else None
    if about == "courtesy":
        return 3 if len(text.split()) < 5 else None
    if about in ("life", "work", "family", "health", "plans", "preferences", "knowledge"):
        return (
            0 if re.search(r"\b(?:is|am|are|was|were|have|has|had|do|will|can)\b", text) else None
        )
    return None


def _fitted(rows: list[Floats], labels: list[int], count: int, *, epochs: int) -> Network:
    """Return a network; labels are weighted by the square root of their inverse frequency."""
    right = np.array(labels)
    of_label = np.bincount(right, minlength=count)
    weights = np.sqrt(len(right) / count / np.maximum(of_label, 1))[right].astype(np.float32)
    possible = np.eye(count, dtype=bool)[right]
    return fit_labels(np.array(rows), possible, weights, epochs=epochs, decay=0.05, drop=0.2)
