"""Reading a text slowly: one word after the other, and with numbers of Python where it matters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.language.grammar.text_reading import (
    ReadName,
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)
from recollect.streams.reader.head_file import Head, HeadFile, Layer
from recollect.streams.reader.packed_reading import packed
from recollect.streams.reader.words.word_cutter import is_word, words_of
from recollect.streams.reader.words.word_shapes import shapes_of
from recollect.text.sentences import sentences
from tests.encoder.reader.test_sentence_shapes import plainly

Rows = dict[int, list[list[int]]]


def read_plainly(encoder: OnnxEncoder, heads: HeadFile, text: str) -> bytes:
    """Return what the heads read in a text that the encoder sees whole."""
    places = words_of(text)
    words = [text[start:end] for start, end in places]
    spaced = [not start or text[start - 1].isspace() for start, _ in places]
    shapes = shapes_of(words, spaced).astype(int).tolist()
    states = _states(encoder, heads, text, places)
    of_tags, of_names, of_salience, of_values = (
        [
            _scores(heads.heads[name], _beside(heads.heads[name], states, number, shape))
            for number, shape in enumerate(shapes)
        ]
        for name in ("tags", "names", "salience", "values")
    )
    labels = heads.heads["tags"].labels
    tags = [labels[each.index(max(each))].split("/")[0] for each in of_tags]
    names = _chained(heads.heads["names"], of_names)
    salient = heads.heads["salience"].labels.index("salient")
    found, of_sentence = [], dict[int, int]()
    spans = sentences(text)
    inside = [
        [number for number, place in enumerate(places) if start <= place[0] < end]
        for start, end in spans
    ]
    means = {
        layer: [_means([rows[number] for number in own], encoder.dimension) for own in inside]
        for layer, rows in states.items()
    }
    for at, ((start, end), own) in enumerate(zip(spans, inside, strict=True)):
        told = [number for number in own if is_word(words[number])]
        shape = plainly(
            text[start:end],
            [words[number] for number in told],
            [tags[number] for number in told],
            any(begin in own for begin, _, _ in names),
        )
        of_kind, of_ends, of_occurs = (
            _scores(heads.heads[name], _beside(heads.heads[name], means, at, shape))
            for name in ("kind", "ends", "occurs")
        )
        of_own, of_worth = (
            _scores(
                heads.heads[name],
                [
                    *_beside(heads.heads[name], means, at, shape),
                    *(x for row in _around(means, heads.heads[name], encoder) for x in row),
                ],
            )
            for name in ("own", "sentence_salience")
        )
        kind = _likeliest(heads.heads["kind"].labels, of_kind)
        own_words = heads.heads["own"].labels.index("own")
        ends = _ends(heads.heads["ends"].labels, of_ends)
        once = _percent(of_occurs, heads.heads["occurs"].labels.index("occurs"))
        found.append(ReadSentence(start, end, kind, _percent(of_own, own_words), ends, once))
        of_sentence |= dict.fromkeys(own, _percent(of_worth, salient))
    reading = TextReading(
        tuple(
            ReadWord(
                *places[number],
                tags[number],
                (3 * of_sentence[number] + _percent(scores, salient)) // 4,
            )
            for number, scores in enumerate(of_salience)
            if is_word(words[number])
        ),
        tuple(
            ReadName(
                places[first][0],
                places[last][1],
                type_,
                *_sure(heads.heads["names"], of_names[first : last + 1], type_),
            )
            for first, last, type_ in names
        ),
        tuple(found),
        tuple(_values(heads, places, words, states, of_values)),
    )
    return packed(text, reading)


def _ends(labels: tuple[str, ...], scores: list[int]) -> tuple[tuple[ValueType, int], ...]:
    """Return the types that have a percent or more, the likeliest first."""
    found = [(label, _percent(scores, place)) for place, label in enumerate(labels)]
    likely = [each for each in found if each[0] != "nothing" and each[1] >= 1]
    return tuple(sorted(likely, key=lambda each: -each[1]))  # type: ignore[arg-type]


def _values(
    heads: HeadFile,
    places: list[tuple[int, int]],
    words: list[str],
    states: Rows,
    of_values: list[list[int]],
) -> Iterator[ReadValue]:
    """Yield the values that the chain finds."""
    head = heads.heads["values"]
    sure = {
        (first, last + 1): min(_least(head, of_values[first : last + 1], type_), 100)
        for first, last, type_ in _chained(head, of_values)
    }
    types = heads.heads["value_types"].labels
    for begin, end in sorted(sure):
        ranges = [
            range(begin, end),
            range(max(begin - 10, 0), begin),
            range(max(begin - 2, 0), begin),
            range(end, min(end + 10, len(words))),
        ]
        scores = {
            name: _scores(
                of_head,
                [
                    value
                    for each in ranges
                    for layer in of_head.layers
                    for value in _means([states[layer][n] for n in each], len(states[layer][0]))
                ],
            )
            for name, of_head in heads.heads.items()
            if name in ("value_types", "value_owners", "value_signs")
        }
        shares = [_percent(scores["value_types"], place) for place in range(len(types))]
        own = _percent(scores["value_owners"], heads.heads["value_owners"].labels.index("own"))
        holds = _percent(scores["value_signs"], heads.heads["value_signs"].labels.index("holds"))
        if shares[types.index("none")] >= 85:
            continue
        best = max((n for n in range(len(types)) if types[n] != "none"), key=lambda n: shares[n])
        yield ReadValue(
            places[begin][0],
            places[end - 1][1],
            sure[begin, end],
            types[best],  # type: ignore[arg-type]
            shares[best],
            own,
            holds,
        )


def _states(
    encoder: OnnxEncoder, heads: HeadFile, text: str, places: list[tuple[int, int]]
) -> Rows:
    """Return the states of each word by layer, in whole numbers."""
    given = encoder.hidden_states(text)
    assert given.is_complete
    offsets = given.tokens.offsets.tolist()
    found: Rows = {}
    for layer in heads.middles:
        vectors = given.inner.get(layer, given.tokens.vectors)
        units = (vectors - heads.middles[layer].array()) * heads.scales[layer].array()
        pieces = [[min(max(round(x), -127), 127) for x in row] for row in units.tolist()]
        found[layer] = [
            _means(
                [
                    piece
                    for piece, (start, end) in zip(pieces, offsets, strict=True)
                    if end > left and start < right
                ],
                units.shape[1],
            )
            for left, right in places
        ]
    return found


def _means(rows: list[list[int]], columns: int) -> list[int]:
    """Return the rounded mean of each column; of no rows it is 0."""
    if not rows:
        return [0] * columns
    return [round(Fraction(sum(column), len(rows))) for column in zip(*rows, strict=True)]


def _around(means: Rows, head: Head, encoder: OnnxEncoder) -> list[list[int]]:
    """Return the means of a text and its first sentence, by layer."""
    return [
        *(_means(means[layer], encoder.dimension) for layer in head.layers),
        *(means[layer][0] for layer in head.layers),
    ]


def _beside(head: Head, rows: Rows, number: int, shape: list[int] | list[bool]) -> list[int]:
    of_layers = [value for layer in head.layers for value in rows[layer][number]]
    return of_layers + [32 * int(each) for each in shape]


def _scores(head: Head, values: list[int]) -> list[int]:
    first, *rest = head.own
    found = _multiplied(first, values)
    for layer in rest:
        found = _multiplied(layer, [min(max(round(each * 16), 0), 127) for each in found])
    return [round(each * 1_000) for each in found]


def _multiplied(layer: Layer, values: list[int]) -> list[float]:
    sums = np.array(values, np.int64) @ layer.weights.array().astype(np.int64)
    scales, bias = layer.scales.array().tolist(), layer.bias.array().tolist()
    return [a * b + c for a, b, c in zip(sums.tolist(), scales, bias, strict=True)]


def _sure(head: Head, scores: list[list[int]], type_: str) -> tuple[int, Any]:
    """Return the percentage of a name's type, of its least sure word, and the likeliest other."""
    least = {name: _least(head, scores, name) for name in ("PERSON", "ORG", "LOCATION", "OTHER")}
    sure = min(least.pop(type_), 100)
    return sure, max(least, key=lambda name: least[name])


def _least(head: Head, scores: list[list[int]], type_: str) -> int:
    """Return the percentage of a type in the word that has least of it."""
    least = 1_000
    for row in scores:
        shares = [round(math.exp(max(each - max(row), -19_999) / 1_000) * 2**30) for each in row]
        of_type = [
            math.floor(Fraction(100 * share, sum(shares)) + Fraction(1, 2))
            for label, share in zip(head.labels, shares, strict=True)
            if label[2:] == type_
        ]
        least = min(least, sum(of_type))
    return least


def _likeliest(labels: tuple[str, ...], scores: list[int]) -> Any:
    return labels[scores.index(max(scores))]


def _percent(scores: list[int], place: int) -> int:
    """Return the softmax share of one score, in percent."""
    shares = [round(math.exp(max(each - max(scores), -19_999) / 1_000) * 2**30) for each in scores]
    return math.floor(Fraction(100 * shares[place], sum(shares)) + Fraction(1, 2))


def _chained(head: Head, scores: list[list[int]]) -> list[tuple[int, int, Any]]:
    """Return the first and the last word of each span, and its type: of all ways the best."""
    assert head.steps is not None
    steps = head.steps.array().astype(int).tolist()
    beginning = len(head.labels)
    ways: dict[int, tuple[int, list[int]]] = {beginning: (0, [])}
    for word in scores:
        onward: dict[int, tuple[int, list[int]]] = {}
        for label, name in enumerate(head.labels):
            before = [
                (total + steps[last][label] + word[label], [*way, label])
                for last, (total, way) in ways.items()
                if name[0] != "I" or (last != beginning and head.labels[last][1:] == name[1:])
            ]
            # A label that is so far behind none is not followed.
            if before and word[0] - word[label] < 5_000:
                onward[label] = max(before, key=lambda each: each[0])
        ways = onward
    _, best = max(ways.values(), key=lambda each: each[0])
    found: list[tuple[int, int, Any]] = []
    for number, label in enumerate(best):
        if head.labels[label][0] == "B":
            found.append((number, number, head.labels[label][2:]))
        elif head.labels[label][0] == "I":
            found[-1] = (found[-1][0], number, found[-1][2])
    return found
