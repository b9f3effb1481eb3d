"""Reading texts: the encoder's states of their words, and what the heads say of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from projections.text.sentences import sentences
from streams.encoder.encoder import HiddenStates, TokenVectors
from streams.encoder.gateway import ReadText
from streams.encoder.onnx_encoder import OnnxEncoder
from streams.language.grammar.text_reading import ReadSentence, SentenceKind
from streams.reader.gathered_states import StateGatherer
from streams.reader.head_file import HeadFile
from streams.reader.head_scores import ScoringHead
from streams.reader.name_chain import NameChain
from streams.reader.packed_reading import NameType, packed_parts, told
from streams.reader.sentence_shapes import FEATURES, sentence_shape
from streams.reader.word_cutter import Place, words_of
from streams.reader.word_shapes import codes_of, features
from streams.reader.word_states import EXACT_SUMS, Floats

#: Shapes are whole numbers of this size beside states, of which so many are a standard deviation.
UNITS = 32

#: What the head of attributes says of a sentence that gives none.
NO_ATTRIBUTE = "none"

# So many texts are read together: what is done once for all of them is most of the work.
_TOGETHER = 8
#: The heads that see words; the others see sentences.
_OF_WORDS = frozenset({"names", "tags"})

#: A name: the number of its first word, that of the one after its last, and its type.
_Name = tuple[int, int, NameType]


class _Cut(NamedTuple):
    """A text before any head sees it: its words, those that are no marks, and its sentences."""

    text: str
    places: list[Place]
    told: list[Place]
    spans: list[Place]

    @classmethod
    def of(cls, text: str) -> _Cut:
        places = words_of(text)
        return cls(text, places, told(text, places), sentences(text))


class _Seen(NamedTuple):
    """Texts one after the other: the states of all words, and of each text the parts of speech of
    its words that are no marks, and its names.
    """

    states: Floats
    tags: list[list[str]]
    names: list[list[_Name]]


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
        self._gatherer = StateGatherer(encoder, heads, self._layers)
        of_sentences = {
            layer
            for name, head in self._heads.items()
            if name not in _OF_WORDS
            for layer in head.layers
        }
        seen = [number for number, layer in enumerate(self._layers) if layer in of_sentences]
        # What is between two layers that are seen is seen as well: one stretch of columns.
        self._means = slice(min(seen, default=0), max(seen, default=-1) + 1)
        if layers:
            self._means = slice(0, len(self._layers))

    def read(self, texts: Sequence[str]) -> list[ReadText]:
        """Return what is read in each text, on the encoder's workers."""
        found: dict[int, ReadText] = {}
        together = max(1, min(_TOGETHER, len(texts) // self.encoder.workers))

        def read(number: int) -> None:
            rows = range(number * together, min((number + 1) * together, len(texts)))
            found.update(zip(rows, self._read([texts[row] for row in rows]), strict=True))

        self.encoder.share(read, -(-len(texts) // together))
        return [found[row] for row in range(len(texts))]

    def sentence_states(
        self, text: str, states: HiddenStates
    ) -> tuple[list[Place], tuple[dict[int, Floats], Floats]]:
        """Return the sentences of a text as heads see them: where they are, and for each the mean
        of its words by layer, and its shape.
        """
        cut = _Cut.of(text)
        means, shapes = self._of_sentences([cut], self._seen([cut], iter([states])))
        layers = self._layers[self._means]
        by_layer = np.split(means, len(layers), axis=1)
        return cut.spans, (dict(zip(layers, by_layer, strict=True)), shapes)

    def _read(self, texts: Sequence[str]) -> list[ReadText]:
        cuts = [_Cut.of(text) for text in texts]
        tokens: list[TokenVectors | None] = []

        def forwards() -> Iterator[HiddenStates]:
            for text in texts:
                states = self.encoder.hidden_states(text)
                tokens.append(states.tokens if states.whole else None)
                yield states

        seen = self._seen(cuts, forwards())
        said = self._sentences(cuts, seen)
        return [
            ReadText(packed_parts(tags, names, of_text), vectors)
            for tags, names, of_text, vectors in zip(
                seen.tags, seen.names, said, tokens, strict=True
            )
        ]

    def _seen(self, cuts: Sequence[_Cut], states: Iterator[HiddenStates]) -> _Seen:
        found = self._gatherer.of_texts(
            (cut.text, cut.places, cut.spans, each) for cut, each in zip(cuts, states, strict=True)
        )
        codes: list[int] = []
        for text, places, *_ in cuts:
            spaced = [not start or text[start - 1].isspace() for start, _ in places]
            codes += codes_of([text[start:end] for start, end in places], spaced)
        shapes = features(np.array(codes, np.uint32)) * UNITS
        tags, names = self._tags(found, shapes), self._names(cuts, found, shapes)
        at = 0
        of_texts = []
        for _, places, own, _ in cuts:
            of_text = tags[at : at + len(places)]
            at += len(places)
            if len(own) < len(places):
                kept = set(own)
                of_text = [tag for place, tag in zip(places, of_text, strict=True) if place in kept]
            of_texts.append(of_text)
        return _Seen(found, of_texts, names)

    # Words

    def _parts(
        self, head: ScoringHead, states: Floats, layers: Sequence[int], shapes: Floats
    ) -> list[Floats]:
        """Return what a head sees of states that have these layers side by side."""
        width = self.encoder.dimension
        starts = [layers.index(layer) * width for layer in head.layers]
        return [*(states[:, start : start + width] for start in starts), shapes]

    def _tags(self, states: Floats, shapes: Floats) -> list[str]:
        head = self._heads.get("tags")
        if head is None or not len(shapes):
            return [""] * len(shapes)
        best = head.scores(self._parts(head, states, self._layers, shapes)).argmax(axis=1)
        labels = [label.partition("/")[0] for label in head.labels]
        return [labels[each] for each in best.tolist()]

    def _names(self, cuts: Sequence[_Cut], states: Floats, shapes: Floats) -> list[list[_Name]]:
        head = self._heads.get("names")
        if head is None or self._chain is None or not len(shapes):
            return [[] for _ in cuts]
        ends = list(accumulate(len(cut.places) for cut in cuts))
        scores = head.scores(self._parts(head, states, self._layers, shapes))
        best = self._chain.best(scores, ends)
        return [
            list(_spelled([head.labels[each] for each in best[end - len(cut.places) : end]]))
            for cut, end in zip(cuts, ends, strict=True)
        ]

    # Sentences

    def _sentences(self, cuts: Sequence[_Cut], seen: _Seen) -> list[list[ReadSentence]]:
        means, shapes = self._of_sentences(cuts, seen)
        kinds = self._likeliest("kind", means, shapes)
        durable = self._likeliest("durable", means, shapes)
        attributes = self._likeliest("attribute", means, shapes)
        found: list[list[ReadSentence]] = []
        number = 0
        for cut in cuts:
            found.append([])
            for start, end in cut.spans:
                attribute, sure = attributes[number] if attributes else (NO_ATTRIBUTE, 0)
                kind: SentenceKind = "statement"
                if kinds:
                    kind = kinds[number][0]  # type: ignore[assignment]
                lasting = 100
                if durable:
                    label, percent = durable[number]
                    lasting = percent if label == "durable" else 100 - percent
                said = (None, 0) if attribute == NO_ATTRIBUTE else (attribute, sure)
                found[-1].append(ReadSentence(start, end, kind, lasting, *said))
                number += 1
        return found

    def _of_sentences(self, cuts: Sequence[_Cut], seen: _Seen) -> tuple[Floats, Floats]:
        """Return the rounded means of the words of each sentence, layers side by side, and its
        shape.
        """
        width = self.encoder.dimension
        columns = slice(self._means.start * width, self._means.stop * width)
        count = sum(len(cut.spans) for cut in cuts)
        totals = np.zeros((count, columns.stop - columns.start))
        sizes = np.ones((count, 1))
        shapes: list[list[bool]] = []
        at = 0
        for cut, tags, names in zip(cuts, seen.tags, seen.names, strict=True):
            starts = [start for start, _ in cut.places]
            told_starts = [start for start, _ in cut.told]
            begins = [first for first, _, _ in names]
            said = [cut.text[start:end].lower() for start, end in cut.told]
            for start, end in cut.spans:
                begin, stop = bisect_left(starts, start), bisect_left(starts, end)
                if stop > begin:
                    words = seen.states[at + begin : at + stop, columns]
                    exact = np.float32 if stop - begin < EXACT_SUMS else np.float64
                    totals[len(shapes)] = words.sum(axis=0, dtype=exact)
                    sizes[len(shapes)] = stop - begin
                own = slice(bisect_left(told_starts, start), bisect_left(told_starts, end))
                named = bisect_left(begins, begin) < bisect_left(begins, stop)
                shapes.append(
                    sentence_shape(cut.text[start:end], said[own], tags[own], named=named)
                )
            at += len(cut.places)
        means = np.rint(totals / sizes).astype(np.float32)
        return means, np.array(shapes, np.float32).reshape(count, FEATURES) * UNITS

    def _likeliest(self, name: str, means: Floats, shapes: Floats) -> list[tuple[str, int]]:
        """Return the likeliest label of each sentence with its percentage, if there is a head."""
        head = self._heads.get(name)
        if head is None or not len(shapes):
            return []
        return head.likeliest(self._parts(head, means, self._layers[self._means], shapes))


def _spelled(labels: Sequence[str]) -> Iterator[_Name]:
    """Yield the names that labels of words mean."""
    begun: tuple[int, NameType] | None = None
    for number, label in enumerate([*labels, "O"]):
        if begun is not None and label[0] != "I":
            yield begun[0], number, begun[1]
            begun = None
        if label[0] == "B":
            kind: NameType = label[2:]  # type: ignore[assignment]
            begun = number, kind
