"""Reading texts: the encoder's states of their words, and what the heads say of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from projections.text.sentences import sentences
from streams.encoder.encoder import HiddenStates
from streams.encoder.gateway import ReadText
from streams.encoder.onnx_encoder import OnnxEncoder
from streams.language.text_reading import (
    ReadName,
    ReadSentence,
    ReadWord,
    SentenceKind,
    TextReading,
)
from streams.reader.head_file import HeadFile
from streams.reader.head_scores import PARTS, ScoringHead
from streams.reader.name_chain import NameChain
from streams.reader.packed_reading import NameType, packed
from streams.reader.sentence_shapes import FEATURES, sentence_shape
from streams.reader.word_cutter import Place, words_of
from streams.reader.word_shapes import shapes_of
from streams.reader.word_states import Floats, of_words, whole_numbers

#: Shapes are whole numbers of this size beside states, of which so many are a standard deviation.
UNITS = 32

#: What the head of attributes says of a sentence that gives none.
NO_ATTRIBUTE = "none"


class _Seen(NamedTuple):
    """A text as the heads of its sentences see it."""

    spans: list[Place]
    places: list[Place]
    rows: dict[int, Floats]
    words: tuple[ReadWord, ...]
    names: tuple[ReadName, ...]


class TextReader:
    """Reads texts; what it reads depends on the text, the encoder and the heads alone."""

    def __init__(self, encoder: OnnxEncoder, heads: HeadFile, layers: Sequence[int] = ()) -> None:
        """`layers`: those that are seen beside the layers of the heads, for training others."""
        self.encoder = encoder
        self._heads = {name: ScoringHead(head) for name, head in heads.heads.items()}
        self._chain = None
        if (names := heads.heads.get("names")) is not None and names.steps is not None:
            self._chain = NameChain(names.labels, names.steps.array())
        of_heads = {layer for head in self._heads.values() for layer in head.layers}
        self._layers = sorted(of_heads.union(layers))
        self._middle = np.concatenate([heads.middles[each].array() for each in self._layers])
        self._scale = np.concatenate([heads.scales[each].array() for each in self._layers])

    def read(self, texts: Sequence[str]) -> list[ReadText]:
        """Return what is read in each text, on the encoder's workers."""
        found: dict[int, ReadText] = {}

        def look(row: int, states: HiddenStates) -> None:
            text = texts[row]
            reading = self._reading(text, states)
            found[row] = ReadText(packed(text, reading), states.tokens if states.whole else None)

        self.encoder.see(texts, look)
        return [found[row] for row in range(len(texts))]

    def sentence_states(
        self, text: str, states: HiddenStates
    ) -> tuple[list[Place], tuple[dict[int, Floats], Floats]]:
        """Return the sentences of a text as heads see them: where they are, and for each the mean
        of its words by layer, and its shape.
        """
        seen = self._seen(text, states)
        return seen.spans, self._sentence_rows(text, seen)

    def _reading(self, text: str, states: HiddenStates) -> TextReading:
        seen = self._seen(text, states)
        return TextReading(seen.words, seen.names, tuple(self._sentences(text, seen)))

    def _seen(self, text: str, states: HiddenStates) -> _Seen:
        places = words_of(text)
        spans = sentences(text)
        if states.whole:
            rows = self._word_rows(states, places)
        else:
            rows = self._rows_by_window(text, places, spans)
        words = [text[start:end] for start, end in places]
        spaced = [not start or text[start - 1].isspace() for start, _ in places]
        shapes = shapes_of(words, spaced) * UNITS
        tags = self._tags(rows, shapes)
        read = tuple(
            ReadWord(start, end, tag)
            for (start, end), tag in zip(places, tags, strict=True)
            if tag and (text[start].isalnum() or text[end - 1].isalnum())
        )
        names = tuple(self._names(places, rows, shapes))
        return _Seen(spans, places, rows, read, names)

    # Words

    def _word_rows(self, states: HiddenStates, places: Sequence[Place]) -> dict[int, Floats]:
        """Return the states of words as whole numbers, by layer."""
        pieces = np.concatenate(
            [states.inner.get(layer, states.tokens.vectors) for layer in self._layers], axis=1
        )
        numbers = whole_numbers(pieces, self._middle, self._scale)
        rows = of_words(numbers, states.tokens.offsets, places)
        return dict(zip(self._layers, np.split(rows, len(self._layers), axis=1), strict=True))

    def _rows_by_window(
        self, text: str, places: Sequence[Place], spans: Sequence[Place]
    ) -> dict[int, Floats]:
        """Return the states of the words of a long text, which is read sentence by sentence."""
        parts: list[dict[int, Floats]] = []
        at = 0
        for left, right in windows(text, spans):
            within = []
            while at < len(places) and places[at][0] < right:
                # A word that runs on is seen as far as its window goes.
                within.append((places[at][0] - left, min(places[at][1], right) - left))
                at += 1
            parts += self._rows_within(text[left:right], within)
        return {
            layer: np.concatenate([part[layer] for part in parts])
            if parts
            else np.zeros((0, self.encoder.dimension), np.float32)
            for layer in self._layers
        }

    def _rows_within(self, text: str, places: list[Place]) -> Iterator[dict[int, Floats]]:
        """Yield the states of the words of a window, which is halved until the encoder sees it."""
        if not places:
            return
        states = self.encoder.hidden_states(text)
        if states.whole or len(places) == 1:
            yield self._word_rows(states, places)
            return
        half = len(places) // 2
        middle = places[half][0]
        yield from self._rows_within(text[:middle], places[:half])
        yield from self._rows_within(
            text[middle:], [(start - middle, end - middle) for start, end in places[half:]]
        )

    def _tags(self, rows: dict[int, Floats], shapes: Floats) -> list[str]:
        head = self._heads.get("tags")
        if head is None or not len(shapes):
            return [""] * len(shapes)
        best = head.scores(_beside(head, rows, shapes)).argmax(axis=1)
        return [head.labels[each].partition("/")[0] for each in best.tolist()]

    def _names(
        self, places: Sequence[Place], rows: dict[int, Floats], shapes: Floats
    ) -> Iterator[ReadName]:
        head = self._heads.get("names")
        if head is None or self._chain is None or not places:
            return
        labels = [
            head.labels[each] for each in self._chain.best(head.scores(_beside(head, rows, shapes)))
        ]
        begun: tuple[int, NameType] | None = None
        for number, label in enumerate([*labels, "O"]):
            if begun is not None and label[0] != "I":
                yield ReadName(places[begun[0]][0], places[number - 1][1], begun[1])
                begun = None
            if label[0] == "B":
                kind: NameType = label[2:]  # type: ignore[assignment]
                begun = number, kind

    # Sentences

    def _sentences(self, text: str, seen: _Seen) -> Iterator[ReadSentence]:
        of_sentences = self._sentence_rows(text, seen)
        kinds = self._scores("kind", of_sentences)
        durable = self._scores("durable", of_sentences)
        attributes = self._scores("attribute", of_sentences)
        for number, (start, end) in enumerate(seen.spans):
            attribute, sure = attributes[number] if attributes else (NO_ATTRIBUTE, 0)
            kind: SentenceKind = "statement"
            if kinds:
                kind = kinds[number][0]  # type: ignore[assignment]
            lasting = 100
            if durable:
                label, percent = durable[number]
                lasting = percent if label == "durable" else 100 - percent
            if attribute == NO_ATTRIBUTE:
                yield ReadSentence(start, end, kind, lasting, None, 0)
            else:
                yield ReadSentence(start, end, kind, lasting, attribute, sure)

    def _sentence_rows(self, text: str, seen: _Seen) -> tuple[dict[int, Floats], Floats]:
        """Return the rounded means of the words of each sentence by layer, and its shape."""
        means = {
            layer: np.zeros((len(seen.spans), states.shape[1]), np.float32)
            for layer, states in seen.rows.items()
        }
        shapes = []
        starts = [start for start, _ in seen.places]
        starts_of_words = [word.start for word in seen.words]
        starts_of_names = [name.start for name in seen.names]
        for number, (start, end) in enumerate(seen.spans):
            part = slice(bisect_left(starts, start), bisect_left(starts, end))
            if part.stop > part.start:
                for layer, states in seen.rows.items():
                    total = states[part].sum(axis=0, dtype=np.float64)
                    means[layer][number] = np.rint(total / (part.stop - part.start))
            own = seen.words[
                bisect_left(starts_of_words, start) : bisect_left(starts_of_words, end)
            ]
            named = bisect_left(starts_of_names, start) < bisect_left(starts_of_names, end)
            shapes.append(sentence_shape(text, start, end, own, named=named))
        return means, np.array(shapes, np.float32).reshape(len(seen.spans), FEATURES) * UNITS

    def _scores(
        self, name: str, of_sentences: tuple[dict[int, Floats], Floats]
    ) -> list[tuple[str, int]]:
        """Return the likeliest label of each sentence with its percentage, if there is a head."""
        head = self._heads.get(name)
        rows, shapes = of_sentences
        if head is None or not len(shapes):
            return []
        scores = head.scores(_beside(head, rows, shapes))
        found = []
        for row in scores.tolist():
            best = max(range(len(row)), key=lambda each: (row[each], -each))
            total = sum(float(np.exp((each - row[best]) / PARTS)) for each in row)
            found.append((head.labels[best], round(100 / total)))
        return found


def _beside(head: ScoringHead, rows: dict[int, Floats], shapes: Floats) -> Floats:
    return np.concatenate([*(rows[layer] for layer in head.layers), shapes], axis=1)


def windows(text: str, spans: Sequence[Place]) -> Iterator[Place]:
    """Yield the stretches of a long text: it is cut where its sentences begin."""
    cuts = sorted({0, *(start for start, _ in spans), len(text)})
    yield from pairwise(cuts)
