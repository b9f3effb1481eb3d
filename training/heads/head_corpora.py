"""The corpora of the reading heads: labelled texts, and the hidden states of their words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.streams.encoder.encoder import HiddenStates
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.reader.words.word_cutter import words_of
from recollect.streams.reader.words.word_shapes import shapes_of
from recollect.streams.reader.words.word_states import of_words, whole_numbers

Place = tuple[int, int]
Floats = npt.NDArray[np.float32]
#: Hidden states are quantised to this fraction of a standard deviation.
UNITS = 32

#: In a set of names: whether it labels the names of other types, too.
NAME_SETS = {
    "wnut17-train": True,
    "btc-a": False,
    "btc-b": False,
    "btc-e": False,
    "tweebank-train": True,
}


class LabelledText(NamedTuple):
    """A text, its words, and a label for each word; None if the label is unknown."""

    text: str
    places: list[Place]
    labels: list[str | None]
    origin: str


class States(NamedTuple):
    """The words of all texts, concatenated: quantised states by layer, shapes, and ends."""

    layers: dict[int, npt.NDArray[np.int8]]
    shapes: npt.NDArray[np.int8]
    ends: list[int]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    # Not splitlines: a string may contain U+2028.
    for line in path.read_text("utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


def names(path: Path) -> list[LabelledText]:
    """Return the texts of a set of names; a handle has no label, as it may count as a name."""
    found = []
    for row in lines(path):
        text = row["text"]
        places = words_of(text)
        labels: list[str | None] = ["O"] * len(places)
        for start, end, kind in row["spans"]:
            inside = [n for n, (left, right) in enumerate(places) if left < end and right > start]
            for place, number in enumerate(inside):
                labels[number] = f"{'I' if place else 'B'}-{kind}"
        for number, (start, _) in enumerate(places):
            if text[start] == "@":
                labels[number] = None
        found.append(LabelledText(text, places, labels, path.stem))
    return found


def parts_of_speech(path: Path) -> list[LabelledText]:
    """Return the texts of a set of parts of speech; labels are "xpos/upos", xpos "_" if unknown."""
    found = []
    for row in lines(path):
        text, at = row["text"], 0
        places: list[Place] = []
        for token in row["tokens"]:
            start = text.find(token, at)
            if start < 0:
                break
            at = start + len(token)
            places.append((start, at))
        # Tweebank has tags of its own, given twice ("N_N") or not at all.
        finer = ["_" if "_" in tag else tag for tag in row["xpos"]]
        pairs = [f"{xpos}/{upos}" for xpos, upos in zip(finer, row["upos"], strict=True)]
        labels: list[str | None] = [*pairs[: len(places)]]
        if places:
            found.append(LabelledText(text, places, labels, path.stem))
    return found


def measured(encoder: OnnxEncoder, texts: Sequence[str]) -> tuple[dict[int, Floats], ...]:
    """Return the mean of each dimension and the quantisation step, by layer."""
    kept: list[HiddenStates] = [encoder.hidden_states(text) for text in texts]
    middles, scales = {}, {}
    for layer in (*kept[0].inner, 6):
        rows = np.concatenate([layer_of(each, layer) for each in kept])
        middles[layer] = rows.mean(axis=0)
        spread = rows.std(axis=0)
        scales[layer] = np.where(spread > 1e-4, UNITS / np.maximum(spread, 1e-4), 0).astype(
            np.float32
        )
    return middles, scales


def layer_of(states: HiddenStates, layer: int) -> Floats:
    """Return the word pieces of a text in a layer."""
    return states.inner.get(layer, states.tokens.vectors)


def states_of(
    encoder: OnnxEncoder,
    texts: Iterable[LabelledText],
    middles: dict[int, Floats],
    scales: dict[int, Floats],
) -> States:
    """Return the words of texts as the heads see them; `middles`, `scales`: see `Measures`."""
    texts = list(texts)
    rows: dict[int, dict[int, npt.NDArray[np.int8]]] = {}

    def look(row: int, seen: HiddenStates) -> None:
        numbers = np.empty_like(seen.tokens.vectors, np.int8)
        starts, ends = np.array(texts[row].places, np.int64).reshape(-1, 2).T
        found = {}
        for layer in middles:
            whole_numbers(layer_of(seen, layer) - middles[layer], scales[layer], out=numbers)
            found[layer] = of_words(numbers, seen.tokens.offsets, starts, ends)
        rows[row] = found

    encoder.for_each_hidden_states([each.text for each in texts], look)
    shapes = [shapes_at(each.text, each.places).astype(np.int8) for each in texts]
    return States(
        {
            layer: np.concatenate([rows[row][layer] for row in range(len(texts))])
            for layer in middles
        },
        np.concatenate(shapes),
        np.cumsum([len(each.places) for each in texts]).tolist(),
    )


def rows_of(states: States, layers: Sequence[int]) -> Floats:
    """Return the words of texts as a head sees them, a standard deviation to the unit."""
    beside = [states.layers[layer].astype(np.float32) / UNITS for layer in layers]
    return np.concatenate([*beside, states.shapes.astype(np.float32)], axis=1)


def shapes_at(text: str, places: Sequence[Place]) -> Floats:
    """Return the shapes of the words at these positions."""
    words = [text[start:end] for start, end in places]
    spaced = [not start or text[start - 1].isspace() for start, _ in places]
    return shapes_of(words, spaced)
