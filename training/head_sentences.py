"""Training of the sentence heads: the kind of a sentence, its durability, and its attributes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.streams.encoder.encoder import HiddenStates
from recollect.streams.reader.head_file import Head
from recollect.streams.reader.packed_reading import ATTRIBUTES
from recollect.streams.reader.text_reader import NO_ATTRIBUTE, TextReader
from recollect.streams.reader.word_states import WholeNumbers
from recollect.text.lexicon import word_set
from training.head_corpora import UNITS, lines
from training.head_fitting import Floats, Network, fit_labels

KINDS = ("statement", "question", "command", "fragment")
LASTING = ("passing", "durable")
KIND_LAYERS, DURABLE_LAYERS, ATTRIBUTE_LAYERS = (3, 4), (3, 4), (3, 6)
#: A sentence with at least this score counts as durable, weighted by its score.
_WORTH = 2
_READ_WEIGHTS = (2.0, 0.7, 2.0, 2.0)

_DEMO = Path(__file__).parent.parent / "demo" / "export.jsonl"
_OF_GUM = {"decl": 0, "sub": 0, "q": 1, "wh": 1, "imp": 2, "frag": 3, "intj": 3}
_COMMAND = re.compile(
    r"(?:please|could you|can you|would you|give|fix|make|write|tell|list|explain|translate|show|"
    r"help|summari[sz]e|use|stop|add|remove|find|suggest|create|rewrite|never|always|call|don't)\b",
    re.IGNORECASE,
)
_OF_SELF = re.compile(r"\b(?:I|I'm|my|My|I've|we|We)\b")
_SAYS_OF_SELF = re.compile(r"\b(?:I (?:have|live|work|love|like|am)|my|My|I've|I'm a)\b")
_ANSWER = re.compile(
    r"(?:that's|that sounds|wow|me too|i'm glad|i'll|thank|thanks|it's|i'm sorry|i hope|you)\b",
    re.IGNORECASE,
)
_STOP = word_set(
    """i i'm my me a an the to of and is am are in on at for it that with have has was be do not you
    your so but like really very"""
)
#: The names of the attributes in hand-labelled data.
_RENAMED = {
    "dislikes/fears": "dislikes",
    "traits/beliefs": "beliefs",
    "name/gender": "name",
    "other": NO_ATTRIBUTE,
}


class Sentence(NamedTuple):
    """A sentence as the heads see it: (dimension,) integers by layer, and its shape."""

    text: str
    layers: dict[int, WholeNumbers]
    shape: WholeNumbers

    def row(self, layers: Sequence[int]) -> Floats:
        """Return the input of a head with these layers, in standard deviations."""
        found = np.concatenate([*(self.layers[each] for each in layers), self.shape])
        return found.astype(np.float32) / np.float32(UNITS)


def sentences_of(reader: TextReader, texts: Sequence[str]) -> list[list[Sentence]]:
    """Return the sentences of each text; `reader` needs heads of names and tags, and all layers."""
    found: dict[int, list[Sentence]] = {}

    def look(row: int, states: HiddenStates) -> None:
        spans, (means, shapes) = reader.sentence_states(texts[row], states)
        found[row] = [
            Sentence(
                texts[row][start:end],
                {layer: mean[number] for layer, mean in means.items()},
                shapes[number],
            )
            for number, (start, end) in enumerate(spans)
        ]

    reader.encoder.for_each_hidden_states(texts, look)
    return [found[row] for row in range(len(texts))]


def kind_head(reader: TextReader, gum: Path, plain: Path) -> Head:
    """Return the head of sentence kinds, from GUM and from plain sentences of unambiguous form."""
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


def attribute_head(reader: TextReader, labelled: Path, chats: Path, plain: Path) -> Head:
    """Return the head of attributes, with chat and plain sentences as negative examples."""
    names = (NO_ATTRIBUTE, *ATTRIBUTES)
    rows: list[Floats] = []
    labels: list[int] = []
    given = list(lines(labelled))
    for row, found in zip(given, sentences_of(reader, [row["text"] for row in given]), strict=True):
        rows.append(found[0].row(ATTRIBUTE_LAYERS))
        labels.append(names.index(_RENAMED.get(row["attribute"], row["attribute"])))
    none = [row["text"] for row in lines(plain) if not row["keep"] or row["kind"] == "instructions"]
    answers = [turn["text"] for row in list(lines(chats))[:45] for turn in row["turns"]]
    for number, found in enumerate(sentences_of(reader, [*none, *answers])):
        for each in found:
            if number < len(none) or each.text.endswith("?") or _ANSWER.match(each.text):
                rows.append(each.row(ATTRIBUTE_LAYERS))
                labels.append(0)
    network = _fitted(rows, labels, len(names), epochs=40)
    return Head(ATTRIBUTE_LAYERS, network.in_whole_numbers(UNITS), names)


def _fitted(rows: list[Floats], labels: list[int], count: int, *, epochs: int) -> Network:
    """Return a network; the weight of a label is the inverse root of its frequency."""
    right = np.array(labels)
    of_label = np.bincount(right, minlength=count)
    weights = np.sqrt(len(right) / count / np.maximum(of_label, 1))[right].astype(np.float32)
    possible = np.eye(count, dtype=bool)[right]
    return fit_labels(np.array(rows), possible, weights, epochs=epochs, decay=0.05, drop=0.2)


class _Judged(NamedTuple):
    """Sentences with a weak label: 1 durable, 0 not, -1 some sentence of the turn is."""

    rows: list[Floats]
    labels: list[int]
    weights: list[float]
    turns: dict[str, list[int]]

    def add(self, sentence: Sentence, label: int, weight: float) -> None:
        """Add a sentence."""
        self.rows.append(sentence.row(DURABLE_LAYERS))
        self.labels.append(label)
        self.weights.append(weight)


def durable_head(
    reader: TextReader,
    plain: Sequence[Path],
    chats: Sequence[Path],
    real: Sequence[Path],
    read: Path,
) -> Head:
    """Return the head that decides whether a sentence is durable.

    Plain sentences are labelled one by one, as are those of `read`. Lines about a person are
    durable, and so are turns that repeat them. Of any other turn worth remembering (RealMem), the
    sentence with the highest score counts as durable.
    """
    judged = _Judged([], [], [], defaultdict(list))
    simple = [row for path in plain for row in lines(path)]
    for row, found in zip(
        simple, sentences_of(reader, [row["text"] for row in simple]), strict=True
    ):
        for each in found:
            judged.add(each, int(row["keep"]), 2.0)
    for path in chats:
        _chats(reader, path, judged)
    known = _read_sentences(reader, read, chats, real, judged)
    for path in real:
        asked = [
            row
            for row in lines(path)
            if row["user"]
            and row["label"] != "other"
            and (f"realmem/{path.stem}", row["event"]["id"]) not in known
        ]
        texts = [row["event"]["content"] for row in asked]
        for row, found in zip(asked, sentences_of(reader, texts), strict=True):
            for each in found:
                if row["label"] == "memory":
                    judged.turns[f"{path.stem}/{row['event']['id']}"].append(len(judged.rows))
                judged.add(each, -1 if row["label"] == "memory" else 0, 0.4)
    network = _fitted_to_turns(judged)
    return Head(DURABLE_LAYERS, network.in_whole_numbers(UNITS), LASTING)


def _read_sentences(
    reader: TextReader,
    read: Path,
    chats: Sequence[Path],
    real: Sequence[Path],
    judged: _Judged,
) -> set[tuple[str, str]]:
    """Add the individually labelled sentences of the available sets; return their messages.

    `read` has a message per line: `set`, `id`, and the `worth` of each of its sentences, from 0 to
    3.
    """
    texts = {("demo/export", row["id"]): row["content"] for row in lines(_DEMO)}
    for path in real:
        for row in lines(path):
            texts[f"realmem/{path.stem}", row["event"]["id"]] = row["event"]["content"]
    for path in chats:
        for number, row in enumerate(lines(path)):
            for place, turn in enumerate(row["turns"]):
                texts["persona/chat", f"{number}:{place}"] = turn["text"]
    rows = [row for row in lines(read) if (row["set"], row["id"]) in texts]
    keys = [(row["set"], row["id"]) for row in rows]
    for row, found in zip(rows, sentences_of(reader, [texts[key] for key in keys]), strict=True):
        for each, worth in zip(found, row["worth"], strict=True):
            judged.add(each, int(worth >= _WORTH), _READ_WEIGHTS[worth])
    return set(keys)


def _chats(reader: TextReader, chats: Path, judged: _Judged) -> None:
    rows = list(lines(chats))
    about = sorted({line for row in rows for person in row["personas"] for line in person})
    for found in sentences_of(reader, about):
        for each in found:
            judged.add(each, 1, 1.0)
    turns = [
        (turn["text"], [_telling(line) for line in row["personas"][turn["speaker"] - 1]])
        for row in rows[:260]
        for turn in row["turns"]
    ]
    for (_, known), found in zip(
        turns, sentences_of(reader, [text for text, _ in turns]), strict=True
    ):
        for each in found:
            shared = max((len(_telling(each.text) & line) for line in known), default=0)
            if each.text.rstrip().endswith("?"):
                judged.add(each, 0, 0.3)
            elif shared >= 2 and _OF_SELF.search(each.text):
                judged.add(each, 1, 0.5)
            elif not shared and not _SAYS_OF_SELF.search(each.text):
                judged.add(each, 0, 0.3)


def _telling(text: str) -> set[str]:
    return set(re.findall(r"[a-z']+", text.lower())) - _STOP


def _fitted_to_turns(judged: _Judged) -> Network:
    rows = np.array(judged.rows)
    labels: npt.NDArray[np.int64] = np.array(judged.labels)
    weights = np.array(judged.weights, np.float32)
    network: Network | None = None
    for _ in range(3):
        used = np.flatnonzero(labels >= 0)
        sums = [float(weights[labels == label].sum()) for label in (0, 1)]
        balance = np.array([len(used) / 2 / each for each in sums], np.float32)
        network = fit_labels(
            rows[used],
            np.eye(2, dtype=bool)[labels[used]],
            weights[used] * balance[labels[used]],
            epochs=25,
            decay=0.05,
            drop=0.2,
        )
        scores = network.scores(rows)
        lasting = scores[:, 1] - scores[:, 0]
        labels = np.array(judged.labels)
        weights = np.array(judged.weights, np.float32)
        for of_turn in judged.turns.values():
            best = max(of_turn, key=lambda each: float(lasting[each]))
            labels[best], weights[best] = 1, 0.4
    assert network is not None
    return network
