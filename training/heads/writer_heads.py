"""Train the heads of the writer: what is worth remembering, and whose words a sentence has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.language.statements.word_salience import BUCKETS, buckets_of, length_of
from recollect.streams.language.statements.word_salience import UNITS as WORD_UNITS
from recollect.streams.reader.head_file import Head
from recollect.streams.reader.text_reader import OWN_WORDS, SALIENT, TextReader
from recollect.streams.reader.words.word_cutter import words_of
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise
from training.heads.head_corpora import UNITS, LabelledText, lines, rows_of, states_of
from training.heads.head_fitting import Floats, fit_labels, joined
from training.heads.head_sentences import Sentence, sentences_of
from training.heads.word_regression import Row, fitted
from training.labelled_corpus import (
    TRUSTED,
    WORTH_KEEPING,
    LabelledMessage,
    LifeMessage,
    Span,
    lives,
)

SALIENCE_LAYERS = OWN_LAYERS = (3, 4)
#: The labels of the head `own`.
OWN_LABELS = ("other", OWN_WORDS)

_NAME_TYPES = frozenset({"PERSON", "ORG", "LOCATION"})
_DEMO = Path(__file__).parents[2] / "demo" / "export.jsonl"

Spans = Callable[[LabelledMessage], Iterable[tuple[Span, str]]]


class Measures(NamedTuple):
    """The mean of each dimension of the states, and their quantisation scale, by layer."""

    middles: dict[int, Floats]
    scales: dict[int, Floats]


def salient_spans(message: LabelledMessage) -> Iterable[tuple[Span, str]]:
    """Return the clauses that carry facts."""
    return [(fact.quote, SALIENT) for fact in message.facts]


def labelled(message: LabelledMessage, spans: Spans) -> LabelledText:
    """Return a message's words with labels of spans."""
    return labelled_text(message.text, spans(message))


def labelled_text(text: str, spans: Iterable[tuple[Span, str]]) -> LabelledText:
    """Return a text's words with "O", "B-" and "I-" labels of spans; the first span counts."""
    places = words_of(text)
    labels: list[str | None] = ["O"] * len(places)
    for (start, end), kind in spans:
        inside = [n for n, (left, right) in enumerate(places) if left < end and right > start]
        if any(labels[number] != "O" for number in inside):
            continue
        for place, number in enumerate(inside):
            labels[number] = f"{'I' if place else 'B'}-{kind}"
    return LabelledText(text, places, labels, "corpus")


def name_spans(message: LabelledMessage) -> Iterable[tuple[Span, str]]:
    """Return the names, with the types that the head of names tells apart."""
    return [
        ((each.start, each.end), each.type if each.type in _NAME_TYPES else "OTHER")
        for each in message.mentions
        if each.who is None
    ]


def plain_texts(path: Path) -> list[LabelledText]:
    """Return texts that are worth remembering as a whole (`keep`) or not at all."""
    rows = [(row["text"], row["keep"]) for row in lines(path)]
    return [_whole(text, path.stem, [(0, len(text), keep)]) for text, keep in rows]


def life_texts(paths: Iterable[Path]) -> list[LabelledText]:
    """Return the messages of lives, labelled with what is worth remembering.

    That is a sentence with a value, and a whole message that states or ends something without
    naming a value.
    """
    return [
        _whole(message.text, path.stem, _spans_of(message))
        for path in paths
        for life in lives(path)
        for message in life.messages
    ]


def _spans_of(message: LifeMessage) -> list[tuple[int, int, bool]]:
    values = [each.value or (0, len(message.text)) for each in message.facts]
    return [
        (start, end, any(left < end and start < right for left, right in values))
        for start, end in sentences(message.text)
    ]


def read_texts(read: Path, chats: Sequence[Path], real: Sequence[Path]) -> list[LabelledText]:
    """Return the messages of `read` whose texts are in the demo, `chats` or `real`.

    A line of `read` has a message's `set` and `id`, and the `worth`, 0 to 3, of each of its
    sentences.
    """
    texts = {("demo/export", row["id"]): row["content"] for row in lines(_DEMO)}
    for path in real:
        for row in lines(path):
            if "event" in row:
                texts[f"realmem/{path.stem}", row["event"]["id"]] = row["event"]["content"]
    for path in chats:
        for number, row in enumerate(lines(path)):
            for place, turn in enumerate(row["turns"]):
                texts["persona/chat", f"{number}:{place}"] = turn["text"]
    found = []
    for row in lines(read):
        text = texts.get((row["set"], row["id"]))
        if text is None:
            continue
        spans = sentences(text)
        if len(spans) == len(row["worth"]):
            judged = zip(spans, row["worth"], strict=True)
            found.append(
                _whole(
                    text, row["set"], [(*span, worth >= WORTH_KEEPING) for span, worth in judged]
                )
            )
    return found


def _whole(text: str, origin: str, spans: Sequence[tuple[int, int, bool]]) -> LabelledText:
    places = words_of(text)
    labels: list[str | None] = ["O"] * len(places)
    for start, end, salient in spans:
        for number, (left, _) in enumerate(places):
            if salient and start <= left < end:
                labels[number] = f"I-{SALIENT}"
    return LabelledText(text, places, labels, origin)


def own_sentences(
    reader: TextReader, messages: Sequence[LabelledMessage], paths: Iterable[Path]
) -> tuple[list[Sentence], list[bool]]:
    """Return the sentences of messages and of lives, and whether each is its sender's own.

    `paths`: files of lives, all of whose sentences are.
    """
    found: list[Sentence] = []
    own: list[bool] = []
    read = sentences_of(reader, [each.text for each in messages])
    for message, of_message in zip(messages, read, strict=True):
        spans = sentences(message.text)
        for (start, end), sentence in zip(spans, of_message, strict=True):
            voices = {
                each.voice for each in message.sentences if each.start < end and start < each.end
            }
            found.append(sentence)
            own.append(not voices or bool(voices & TRUSTED))
    of_lives = [message.text for path in paths for life in lives(path) for message in life.messages]
    for of_message in sentences_of(reader, of_lives):
        found += of_message
        own += [True] * len(of_message)
    return found, own


def salience_head(
    encoder: OnnxEncoder,
    texts: Sequence[LabelledText],
    weights: Sequence[float],
    measures: Measures,
) -> Head:
    """Return the head that says which words are part of something worth remembering.

    `texts`: "O" for a word that is not; `weights`: how much each text counts.
    """
    states = states_of(encoder, texts, *measures)
    salient = np.array([label != "O" for text in texts for label in text.labels])
    counts = np.repeat(np.array(weights, np.float32), [len(text.places) for text in texts])
    network = fit_labels(
        rows_of(states, SALIENCE_LAYERS),
        np.eye(2, dtype=bool)[salient.astype(int)],
        counts,
        inner=64,
        epochs=8,
        drop=0.4,
        decay=0.05,
    )
    return Head(SALIENCE_LAYERS, network.in_whole_numbers(UNITS), ("passing", SALIENT))


def sentence_salience_head(
    reader: TextReader, texts: Sequence[LabelledText], weights: Sequence[float]
) -> Head:
    """Return the head that says whether sentences have something worth remembering.

    It is the mean of two networks: one sees a sentence alone, which carries over to other kinds of
    text better, and one its text as well, which is better on kinds that it knows. `texts` and
    `weights`: as for `salience_head`; a sentence is salient if a third of its words are.
    """
    rows, rows_in_text, salient, counts = [], [], [], []
    read = sentences_of(reader, [each.text for each in texts])
    for text, weight, of_text in zip(texts, weights, read, strict=True):
        for (start, end), sentence in zip(sentences(text.text), of_text, strict=True):
            labels = [
                label != "O"
                for (left, _), label in zip(text.places, text.labels, strict=True)
                if start <= left < end
            ]
            if labels:
                rows.append(sentence.row(SALIENCE_LAYERS))
                rows_in_text.append(sentence.row_in_text(SALIENCE_LAYERS))
                salient.append(3 * sum(labels) >= len(labels))
                counts.append(weight)
    right = np.eye(2, dtype=bool)[np.array(salient, int)]
    of_rows = np.array(counts, np.float32)
    alone = fit_labels(np.array(rows), right, of_rows, inner=64, epochs=12, drop=0.4, decay=0.05)
    in_text = fit_labels(
        np.array(rows_in_text), right, of_rows, inner=64, epochs=12, drop=0.5, decay=0.1
    )
    network = joined([alone, in_text])
    return Head(SALIENCE_LAYERS, network.in_whole_numbers(UNITS), ("passing", SALIENT))


def own_head(sentences: Sequence[Sentence], own: Sequence[bool]) -> Head:
    """Return the head that says whether sentences are meant as their sender's own words."""
    labels = np.array(own).astype(int)
    counts = np.bincount(labels, minlength=2)
    # Few sentences are not the sender's own: weight them by the root of the inverse frequency.
    weights = np.sqrt(len(labels) / 2 / np.maximum(counts, 1))[labels].astype(np.float32)
    rows = np.array([each.row_in_text(OWN_LAYERS) for each in sentences])
    network = fit_labels(
        rows,
        np.eye(2, dtype=bool)[labels],
        weights,
        inner=64,
        epochs=25,
        decay=0.2,
        drop=0.5,
    )
    return Head(OWN_LAYERS, network.in_whole_numbers(UNITS), OWN_LABELS)


def word_weights(clauses: Sequence[tuple[str, bool]]) -> bytes:
    """Return the weights of salience by words alone, a signed byte for each bucket.

    `clauses`: texts, and whether each is worth remembering.
    """
    rows = []
    for text, label in clauses:
        tokens = tokenise(text)
        found = buckets_of(tokens, 0, len(tokens.words))
        if found:
            places, counts = np.unique(found, return_counts=True)
            places = np.append(places, [BUCKETS + length_of(0, len(tokens.words)), BUCKETS + 6])
            values = np.append(counts / len(found) ** 0.5, [1.0, 1.0])
            rows.append(Row(places, label, values))
    weights = fitted(rows, BUCKETS + 7, epochs=4, decay=6e-3)
    return np.rint(weights * WORD_UNITS).clip(-127, 127).astype(np.int8).tobytes()
