"""Reading texts: the encoder's states of their words, and the heads' results for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from math import ceil
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from recollect.streams.encoder.encoder import HiddenStates, TokenVectors
from recollect.streams.encoder.gateway import AnnotatedText
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.language.grammar.text_reading import (
    LEAST_ENDING,
    ReadSentence,
    SentenceKind,
    ValueType,
)
from recollect.streams.reader.gathered_states import StateGatherer
from recollect.streams.reader.head_file import HeadFile
from recollect.streams.reader.head_scores import Scores, ScoringHead, label_shares, percentages
from recollect.streams.reader.name_chain import NameChain
from recollect.streams.reader.packed_reading import (
    NAME_TYPES,
    VALUE_TYPES,
    NameType,
    PackedName,
    PackedValue,
    TagPlaces,
    packed_parts,
    tag_places,
)
from recollect.streams.reader.sentence_shapes import sentence_shapes
from recollect.streams.reader.value_judgement import OF_VALUES, ValueJudge
from recollect.streams.reader.words.cut_texts import CutTexts
from recollect.streams.reader.words.word_cutter import Place
from recollect.streams.reader.words.word_shapes import codes_of, features, word_mask
from recollect.streams.reader.words.word_states import WholeNumbers, columns_of, in_texts, means_of

#: The integer that stands for 1 in a shape, and how many of these units are a standard deviation.
UNITS = 32

# The maximum number of texts per batch; most of the cost is fixed per batch.
_TOGETHER = 64
#: The heads that score words; the others score sentences.
_OF_WORDS = frozenset({"names", "tags", "salience", "values"})
#: How much the salience of a sentence weighs in that of its words, relative to their own.
_SENTENCE_WEIGHT = 3
#: The labels whose probability counts: a word is part of something worth remembering, or a sentence
#: has something worth remembering; a sentence is meant as the sender's own; in heads of earlier
#: releases, a sentence lasts; what a sentence states happens once, at a time that it does not name.
SALIENT, OWN_WORDS, _DURABLE, OCCURS = "salient", "own", "durable", "occurs"
#: The label of sentences that end no earlier fact.
ENDS_NOTHING = "nothing"


class _Seen(NamedTuple):
    """A batch of texts: the encoder states and shapes of all words, and what was found so far.

    `told`: a mask of the words that are not punctuation marks. `told_before`: the number of such
    words before each word. `tags`: parts of speech.
    """

    states: WholeNumbers
    shapes: WholeNumbers
    told: npt.NDArray[np.bool_]
    told_before: npt.NDArray[np.int64]
    tags: TagPlaces
    names: list[PackedName]


class TextReader:
    """Reads texts. The result depends only on the text, the encoder and the heads."""

    def __init__(self, encoder: OnnxEncoder, heads: HeadFile, layers: Sequence[int] = ()) -> None:
        """`layers`: further layers to return besides those of the heads, to train other heads."""
        self.encoder = encoder
        self._heads = {name: ScoringHead(head) for name, head in heads.heads.items()}
        self._chains = {
            name: NameChain(head.labels, head.steps.array())
            for name, head in heads.heads.items()
            if head.steps is not None
        }
        tags = heads.heads["tags"].labels if "tags" in heads.heads else ()
        self._tag_places = tag_places(label.partition("/")[0] for label in tags)
        of_heads = {layer for head in self._heads.values() for layer in head.layers}
        self._layers = sorted(of_heads.union(layers))
        self._gatherer = StateGatherer(encoder, heads, self._layers)
        self._value_judge = None
        if self._heads.keys() >= OF_VALUES:
            self._value_judge = ValueJudge(self._heads, self._layers)
        of_sentences = {
            layer
            for name, head in self._heads.items()
            if name not in _OF_WORDS | OF_VALUES
            for layer in head.layers
        }
        seen = [number for number, layer in enumerate(self._layers) if layer in of_sentences]
        # The columns between two needed layers are kept too, so that they are one contiguous
        # stretch.
        self._means = slice(min(seen, default=0), max(seen, default=-1) + 1)
        if layers:
            self._means = slice(0, len(self._layers))

    def read(self, texts: Sequence[str]) -> list[AnnotatedText]:
        """Return the reading of each text, computed by the encoder's workers."""
        if not texts:
            return []
        found: dict[int, AnnotatedText] = {}
        # Give the workers batches of equal size, and all of them the same number of batches.
        workers = self.encoder.workers
        together = ceil(len(texts) / (workers * ceil(len(texts) / (workers * _TOGETHER))))

        def read(number: int) -> None:
            rows = range(number * together, min((number + 1) * together, len(texts)))
            found.update(zip(rows, self._read([texts[row] for row in rows]), strict=True))

        self.encoder.run_parallel(read, ceil(len(texts) / together))
        return [found[row] for row in range(len(texts))]

    def sentence_states(
        self, text: str, states: HiddenStates
    ) -> tuple[Sequence[Place], tuple[dict[int, WholeNumbers], WholeNumbers]]:
        """Return the bounds of a text's sentences, and what the heads see of each.

        That is the mean state of its words by layer, and its shape.
        """
        cut = CutTexts([text])
        means, shapes = self._of_sentences(cut, self._seen(cut, [states]))
        layers = self._layers[self._means]
        by_layer = np.split(means, len(layers), axis=1)
        return cut.spans[0], (dict(zip(layers, by_layer, strict=True)), shapes)

    def _read(self, texts: Sequence[str]) -> list[AnnotatedText]:
        cut = CutTexts(texts)
        tokens: list[TokenVectors | None] = []

        def forwards() -> Iterator[HiddenStates]:
            for text in texts:
                states = self.encoder.hidden_states(text)
                tokens.append(states.tokens if states.is_complete else None)
                yield states

        seen = self._seen(cut, forwards())
        own, of_sentences = self._sentences(cut, seen)
        salience = self._salience(cut, seen, of_sentences)
        spoken = iter(own)
        names, values = deque(seen.names), deque(self._values(cut, seen))
        found = []
        for number, (first, end) in enumerate(pairwise(cut.firsts)):
            words = slice(seen.told_before[first], seen.told_before[end])
            packed = packed_parts(
                seen.tags[words],
                salience[words],
                _of_text(names, first, end),
                _of_text(values, first, end),
                list(islice(spoken, len(cut.spans[number]))),
            )
            found.append(AnnotatedText(packed, tokens[number]))
        return found

    def _seen(self, cut: CutTexts, states: Iterable[HiddenStates]) -> _Seen:
        found = self._gatherer.of_texts(cut, states)
        shapes = features(codes_of(cut.looks, cut.spaced, cut.firsts)) * np.int8(UNITS)
        told = word_mask(cut.looks)
        told_before = np.zeros(len(told) + 1, np.int64)
        np.cumsum(told, out=told_before[1:])
        tags, names = self._tags(found, shapes, told), self._names(cut, found, shapes)
        return _Seen(found, shapes, told, told_before, tags, names)

    # Words

    def _tags(
        self, states: WholeNumbers, shapes: WholeNumbers, told: npt.NDArray[np.bool_]
    ) -> TagPlaces:
        """Return the parts of speech of the words, without punctuation."""
        head = self._heads.get("tags")
        if head is None or not len(shapes):
            return np.zeros(np.count_nonzero(told), np.uint8)
        best = head.scores([*columns_of(states, self._layers, head.layers), shapes]).argmax(axis=1)
        found: TagPlaces = self._tag_places[best[told]]
        return found

    def _names(self, cut: CutTexts, states: WholeNumbers, shapes: WholeNumbers) -> list[PackedName]:
        spans, scores, labels = self._spans("names", cut, states, shapes)
        return [
            _scored(begin, end, NAME_TYPES[NAME_TYPES.index(kind)], scores, labels)
            for begin, end, kind in spans
        ]

    def _values(self, cut: CutTexts, seen: _Seen) -> list[PackedValue]:
        """Return the values that the chain finds, judged by the value heads if there are any."""
        spans, scores, labels = self._spans("values", cut, seen.states, seen.shapes)
        found = {
            (begin, end): min(_least_shares(scores[begin:end], labels, [kind])[kind], 100)
            for begin, end, kind in spans
        }
        if self._value_judge is None:
            return [PackedValue(*place, sure) for place, sure in found.items()]
        return self._value_judge.judged(found, seen.states, cut.firsts)

    def _spans(
        self, name: str, cut: CutTexts, states: WholeNumbers, shapes: WholeNumbers
    ) -> tuple[list[tuple[int, int, str]], Scores, tuple[str, ...]]:
        """Return the spans that a label chain finds, the scores of all words, and their labels."""
        head, chain = self._heads.get(name), self._chains.get(name)
        if head is None or chain is None or not len(shapes):
            return [], np.empty((0, 0), np.int64), ()
        scores = head.scores([*columns_of(states, self._layers, head.layers), shapes])
        best = chain.best(scores, cut.firsts[1:])
        found: list[tuple[int, int, str]] = []
        for word in np.flatnonzero(best).tolist():
            label = head.labels[best[word]]
            if label[0] == "B":
                found.append((word, word + 1, label[2:]))
            else:
                begin, _, kind = found[-1]
                found[-1] = begin, word + 1, kind
        return found, scores, head.labels

    def _salience(
        self, cut: CutTexts, seen: _Seen, of_sentences: Sequence[int] | None
    ) -> npt.NDArray[np.uint8]:
        """Return the salience, in percent, of the words, without punctuation.

        It is the weighted mean of the judgements of a word and of its sentence; heads of earlier
        releases have one of the two.
        """
        of_words = self._salience_of_words(seen)
        count = seen.told_before[-1]
        if of_sentences is None:
            return np.full(count, 100, np.uint8) if of_words is None else of_words
        found = np.zeros(count, np.uint8)
        bounds = seen.told_before[np.searchsorted(cut.places[:, 0], cut.sentences)]
        for (begin, end), percent in zip(bounds.tolist(), of_sentences, strict=True):
            found[begin:end] = percent
        if of_words is None:
            return found
        total = _SENTENCE_WEIGHT * found.astype(np.int64) + of_words
        return (total // (_SENTENCE_WEIGHT + 1)).astype(np.uint8)

    def _salience_of_words(self, seen: _Seen) -> npt.NDArray[np.uint8] | None:
        """Return the judgement of the words alone, in percent; None without its head."""
        head = self._heads.get("salience")
        if head is None or not len(seen.shapes):
            return None
        scores = head.scores([*columns_of(seen.states, self._layers, head.layers), seen.shapes])
        label = np.full(len(scores), head.labels.index(SALIENT))
        found: npt.NDArray[np.uint8] = percentages(scores, label)[seen.told].astype(np.uint8)
        return found

    # Sentences

    def _sentences(self, cut: CutTexts, seen: _Seen) -> tuple[list[ReadSentence], list[int] | None]:
        """Return the sentences, and the salience of each in percent; None without its head."""
        means, shapes = self._of_sentences(cut, seen)
        kinds = self._likeliest("kind", means, shapes)
        around = in_texts(means, [len(spans) for spans in cut.spans])
        own = self._percent("own", OWN_WORDS, means, shapes, 100, around)
        ends = self._ends(means, shapes)
        occurs = self._percent("occurs", OCCURS, means, shapes, 0)
        found: list[ReadSentence] = []
        for number, (start, end) in enumerate(chain.from_iterable(cut.spans)):
            kind: SentenceKind = "statement"
            if kinds:
                kind = kinds[number]  # type: ignore[assignment]
            found.append(ReadSentence(start, end, kind, own[number], ends[number], occurs[number]))
        for name, label in (("sentence_salience", SALIENT), ("durable", _DURABLE)):
            if name in self._heads:
                return found, self._percent(name, label, means, shapes, 0, around)
        return found, None

    def _of_sentences(self, cut: CutTexts, seen: _Seen) -> tuple[WholeNumbers, WholeNumbers]:
        """Return the rounded mean state of the words of each sentence, by layer, and its shape."""
        width = self.encoder.dimension
        states = seen.states[:, self._means.start * width : self._means.stop * width]
        bounds = np.searchsorted(cut.places[:, 0], cut.sentences)
        named = np.searchsorted([name.begin for name in seen.names], bounds)
        texts = (
            text[start:end]
            for text, spans in zip(cut.texts, cut.spans, strict=True)
            for start, end in spans
        )
        shapes = sentence_shapes(
            texts,
            cut.looks[seen.told],
            seen.tags,
            seen.told_before[bounds],
            named[:, 0] < named[:, 1],
        )
        return means_of(states, bounds), shapes * np.int8(UNITS)

    def _likeliest(self, name: str, means: WholeNumbers, shapes: WholeNumbers) -> list[str]:
        """Return the likeliest label of each sentence, if the head exists."""
        scored = self._scored(name, means, shapes)
        if scored is None:
            return []
        head, scores = scored
        return [head.labels[each] for each in scores.argmax(axis=1).tolist()]

    def _ends(
        self, means: WholeNumbers, shapes: WholeNumbers
    ) -> list[tuple[tuple[ValueType, int], ...]]:
        """Return the types of facts that each sentence may end, in percent, the likeliest first."""
        scored = self._scored("ends", means, shapes)
        if scored is None:
            return [()] * len(shapes)
        head, scores = scored
        types = [
            (place, VALUE_TYPES[VALUE_TYPES.index(label)])
            for place, label in enumerate(head.labels)
            if label != ENDS_NOTHING
        ]
        found: list[tuple[tuple[ValueType, int], ...]] = []
        for shares in label_shares(scores).tolist():
            likely = [
                (type_, shares[place]) for place, type_ in types if shares[place] >= LEAST_ENDING
            ]
            found.append(tuple(sorted(likely, key=lambda each: -each[1])))
        return found

    def _percent(
        self,
        name: str,
        label: str,
        means: WholeNumbers,
        shapes: WholeNumbers,
        without: int,
        around: Sequence[WholeNumbers] = (),
    ) -> list[int]:
        """Return the probability (%) of a label per sentence; `without` if there is no head."""
        scored = self._scored(name, means, shapes, around)
        if scored is None:
            return [without] * len(shapes)
        head, scores = scored
        found: list[int] = percentages(
            scores, np.full(len(scores), head.labels.index(label))
        ).tolist()
        return found

    def _scored(
        self,
        name: str,
        means: WholeNumbers,
        shapes: WholeNumbers,
        around: Sequence[WholeNumbers] = (),
    ) -> tuple[ScoringHead, Scores] | None:
        """Return a head of sentences and its scores; None without the head or sentences.

        `around`: further states of each sentence's text; heads of earlier releases see none.
        """
        head = self._heads.get(name)
        if head is None or not len(shapes):
            return None
        layers = self._layers[self._means]
        parts = [*columns_of(means, layers, head.layers), shapes]
        if sum(part.shape[1] for part in parts) < head.width:
            for states in around:
                parts += columns_of(states, layers, head.layers)
        return head, head.scores(parts)


_Type = TypeVar("_Type", bound=str)
_Span = TypeVar("_Span", PackedName, PackedValue)


def _of_text(spans: deque[_Span], first: int, end: int) -> list[_Span]:
    """Take the spans of a text off the front, and return them with its own word numbers."""
    found = []
    while spans and spans[0].begin < end:
        span = spans.popleft()
        found.append(span._replace(begin=span.begin - first, end=span.end - first))
    return found


def _scored(
    begin: int, end: int, kind: NameType, scores: Scores, labels: Sequence[str]
) -> PackedName:
    """Return a name with the probability of its type in its least certain word, and its rival."""
    of_types = _least_shares(scores[begin:end], labels, NAME_TYPES)
    sure = min(of_types.pop(kind), 100)
    rival = max(of_types, key=lambda name: of_types[name])
    return PackedName(begin, end, kind, sure, rival)


def _least_shares(
    scores: Scores, labels: Sequence[str], types: Sequence[_Type]
) -> dict[_Type, int]:
    """Return the lowest probability of each type among the words, in percent."""
    shares = label_shares(scores)
    found = {}
    for name in types:
        columns = [place for place, label in enumerate(labels) if label[2:] == name]
        found[name] = int(shares[:, columns].sum(axis=1).min())
    return found
