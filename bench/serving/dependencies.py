"""What each large dependency gains over an alternative, and what removed ones would gain.

python -m bench.serving.dependencies

Two packages that recollect no longer needs are measured if they are installed (`pip install numkong
onnx`).
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import distribution, requires
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple, cast
from unittest import mock

import apsw
import numpy as np
import numpy.typing as npt
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rapidfuzz.distance import DamerauLevenshtein
from tokenizers import Tokenizer

from bench.kit.encoders import MISSING, cache, cached_name
from bench.kit.homes import Homes
from bench.kit.made import START_MS, Writer
from bench.kit.report import Report, markdown
from recollect import Recollect
from recollect.projections.recall.arms import late_interaction
from recollect.projections.recall.index import vector_index
from recollect.projections.recall.index.arrays import int8_products
from recollect.schemas.ledger.seal import new_key, seal
from recollect.schemas.text_sanitising import pluralise
from recollect.streams.encoder.cache import SAFETENSORS, TOKENIZER, model_directory
from recollect.streams.encoder.catalog import REGISTRY
from recollect.streams.encoder.graphs.checkpoint import read_shape, read_tensors
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.system.extras import MODULES

TURNS, QUESTIONS, ROUNDS = 1_000, 100, 5
LARGE_MB = 5.0
_TEXT = bytes(range(97, 122)) * 12  # 300 bytes
_SENTENCE = "Ada moved to Turin in May, since her brother's flat there has a balcony."

Floats = npt.NDArray[np.float32]


class Package(NamedTuple):
    """An installed package: its size on disk, and which of our dependencies requires it."""

    name: str
    megabytes: float
    brought_by: str


class Use(NamedTuple):
    """The times of a call with a package and of its replacement without the package, in µs."""

    package: str
    what: str
    with_us: float
    without: str
    without_us: float


def installed_packages(extra: str = "") -> dict[str, Package]:
    """Return the packages of an installation by name, with an extra or without any."""
    packages: dict[str, Package] = {}
    todo = [(Requirement(line), frozenset({extra}), "") for line in requires("recollect") or []]
    # Breadth first, so that a package is attributed to our own dependency.
    for needed, extras, by in todo:
        name = canonicalize_name(needed.name)
        if name in packages or not _applies(needed, extras):
            continue
        packages[name] = Package(name, _megabytes(name), by or name)
        inner = frozenset({"", *needed.extras})
        todo += [(Requirement(line), inner, by or name) for line in requires(name) or []]
    return packages


def _applies(needed: Requirement, extras: frozenset[str]) -> bool:
    marker = needed.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def run(homes: Homes) -> list[Report]:
    """Report the sizes of packages, and the times with and without large packages."""
    packages = installed_packages()
    large = [package for package in packages.values() if package.megabytes > LARGE_MB]
    sizes = Report(
        "Packages",
        f"A plain installation (`pip install recollect`, without extras) brings {len(packages)} "
        f"packages of {_total(packages):.0f} MB. Those of more than {LARGE_MB:g} MB, and what "
        "each extra adds:",
        ["package", "MB", "brought by"],
        [
            [package.name, f"{package.megabytes:.1f}", package.brought_by]
            for package in sorted(large, key=lambda package: -package.megabytes)
        ]
        + [_row(extra, packages) for extra in (*MODULES, "all")],
    )
    name = cached_name()
    if name is None:
        return [sizes, Report("What large packages are worth", "", [], [], skipped=MISSING)]
    uses = [*_uses(name), *_numkong_uses(homes, name)]
    given = Report(
        "What large packages are worth",
        f"A call with the package, and a replacement without it: the best of {ROUNDS} alternating "
        f"rounds. For a recall, the median of {QUESTIONS} questions over {TURNS} turns. This "
        f"Python's own SQLite is {sqlite3.sqlite_version}, "
        f"{'with' if hasattr(sqlite3.Connection, 'enable_load_extension') else 'without'} "
        f"extensions. A tokenizer that uses this Python's Unicode tables "
        f"({unicodedata.unidata_version}) treats {_differences(name):,} of {_CODE_POINTS:,} "
        "characters differently.",
        ["package", "what", "with, µs", "without", "without, µs", "ratio"],
        [
            [
                *(use.package, use.what, f"{use.with_us:,.1f}", use.without),
                *(f"{use.without_us:,.1f}", f"{use.without_us / use.with_us:.2f}"),
            ]
            for use in uses
        ],
    )
    return [sizes, given]


def _row(extra: str, plain: Mapping[str, Package]) -> list[str]:
    added = {name: each for name, each in installed_packages(extra).items() if name not in plain}
    return [f"{pluralise(len(added), 'package')} more", f"{_total(added):.1f}", f"`[{extra}]`"]


def _total(packages: Mapping[str, Package]) -> float:
    return sum(package.megabytes for package in packages.values())


def _megabytes(name: str) -> float:
    files = distribution(name).files or []
    places = (Path(file.locate()) for file in files)
    return sum(place.stat().st_size for place in places if place.is_file()) / 1e6


def _uses(name: str) -> list[Use]:
    rows, column = _bytes(400, 384), _bytes(1, 384)[0]
    lists, numbers = rows.tolist(), column.tolist()
    encoder = cast(OnnxEncoder, load(install(name, cache=cache()), cache=cache(), workers=1))
    bert = _Bert(name)
    ids = encoder.encode_query_tokens(_SENTENCE).ids
    tokenizer, pieces = _tokenizer(name), _WordPieces(name)
    _, key = new_key()
    names = [Writer(seed).text()[:12] for seed in range(40)]
    pairs = list(pairwise(names))
    ours, theirs = apsw.Connection(":memory:"), sqlite3.connect(":memory:")
    for connection in (ours, theirs):
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, str(i)) for i in range(1_000)])
    return [
        _use(
            *("numpy", "400 products of vectors of 384 bytes"),
            lambda: int8_products.product(rows, column),
            "lists",
            lambda: [sum(map(int.__mul__, row, numbers)) for row in lists],
        ),
        _use(
            *("onnxruntime", f"a sentence of {len(ids)} word pieces"),
            lambda: encoder.encode_query(_SENTENCE),
            "numpy, float",
            lambda: bert.vector(ids),
        ),
        _use(
            *("tokenizers", "the same sentence in word pieces"),
            lambda: tokenizer.encode(_SENTENCE, add_special_tokens=False),
            "plain Python",
            lambda: pieces.cut(_SENTENCE),
        ),
        _use(
            *("cryptography", "300 bytes sealed, AES-256-GCM"),
            lambda: seal(key, _TEXT, b""),
            "hashlib: SHA-256 as a stream, and HMAC",
            lambda: _hashed(key, _TEXT),
        ),
        _use(
            *("rapidfuzz", f"{len(pairs)} pairs of names compared"),
            lambda: [DamerauLevenshtein.distance(*pair) for pair in pairs],
            "plain Python",
            lambda: [_distance(*pair) for pair in pairs],
        ),
        _use(
            *("apsw", "1,000 rows read"),
            lambda: ours.execute("SELECT id, name FROM t").fetchall(),
            "sqlite3",
            lambda: theirs.execute("SELECT id, name FROM t").fetchall(),
        ),
    ]


def _use(
    package: str,
    what: str,
    with_: Callable[[], object],
    without: str,
    instead: Callable[[], object],
) -> Use:
    calls = (with_, instead)
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            times = 0
            began = time.perf_counter()
            while (took := time.perf_counter() - began) < 0.05:
                call()
                times += 1
            best[place] = min(best[place], took / times * 1e6)
    return Use(package, what, best[0], without, best[1])


def _bytes(count: int, dimension: int) -> npt.NDArray[np.int8]:
    return np.random.default_rng(count).integers(-127, 128, (count, dimension)).astype(np.int8)


class _Bert:
    """A BERT forward pass in numpy, with the tanh approximation of GELU; used only for timing."""

    def __init__(self, name: str) -> None:
        directory = model_directory(cache(), REGISTRY[name].checksums)
        self._tensors = read_tensors(directory / SAFETENSORS)
        self._shape = read_shape(directory)

    def vector(self, ids: npt.NDArray[np.int32]) -> Floats:
        take = self._tensors
        hidden = take["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + take["embeddings.position_embeddings.weight"][: len(ids)]
        hidden = self._norm("embeddings", hidden)
        for layer in range(self._shape.num_hidden_layers):
            at = f"encoder.layer.{layer}"
            mixed = self._dense(f"{at}.attention.output", self._attention(at, hidden))
            hidden = self._norm(f"{at}.attention.output", hidden + mixed)
            wide = self._dense(f"{at}.intermediate", hidden)
            wide *= 0.5 * (1 + np.tanh(0.797885 * (wide + 0.044715 * wide**3)))
            hidden = self._norm(f"{at}.output", hidden + self._dense(f"{at}.output", wide))
        pooled: Floats = hidden.mean(axis=0)
        return pooled / np.linalg.norm(pooled)

    def _attention(self, at: str, hidden: Floats) -> Floats:
        heads = self._shape.num_attention_heads
        query, key, value = (
            self._dense(f"{at}.attention.self.{part}", hidden, "")
            .reshape(len(hidden), heads, -1)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(query.shape[-1] ** 0.5)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: Floats = (weights @ value).transpose(1, 0, 2).reshape(len(hidden), -1)
        return mixed

    def _dense(self, at: str, hidden: Floats, name: str = ".dense") -> Floats:
        weight, bias = (self._tensors[f"{at}{name}.{part}"] for part in ("weight", "bias"))
        product: Floats = hidden @ weight.T + bias
        return product

    def _norm(self, at: str, hidden: Floats) -> Floats:
        gain, shift = (self._tensors[f"{at}.LayerNorm.{part}"] for part in ("weight", "bias"))
        even = hidden - hidden.mean(axis=-1, keepdims=True)
        scaled: Floats = even / np.sqrt((even * even).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * gain + shift


_CODE_POINTS = 0x110000 - 0x800
_CHINESE = (
    *(range(0x4E00, 0xA000), range(0x3400, 0x4DC0), range(0xF900, 0xFB00)),
    *(range(0x20000, 0x2CEB0), range(0x2F800, 0x2FA20)),
)


def _tokenizer(name: str) -> Tokenizer:
    path = model_directory(cache(), REGISTRY[name].checksums) / TOKENIZER
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class _WordPieces:
    """BERT's word-piece tokenizer in plain Python, as its authors wrote it."""

    def __init__(self, name: str) -> None:
        self._vocabulary = _tokenizer(name).get_vocab()

    def cut(self, text: str) -> list[int]:
        kept = [
            f" {char} " if any(ord(char) in block for block in _CHINESE) else char
            for char in unicodedata.normalize("NFD", text.lower())
            if char in "\t\n\r" or unicodedata.category(char) not in ("Mn", "Cc", "Cf", "Co")
        ]
        return [piece for word in _words("".join(kept)) for piece in self._pieces(word)]

    def _pieces(self, word: str) -> list[int]:
        pieces, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if not start else f"##{word[start:end]}"
                if piece in self._vocabulary:
                    pieces.append(self._vocabulary[piece])
                    start = end
                    break
            else:
                return [self._vocabulary["[UNK]"]]
        return pieces


def _words(text: str) -> list[str]:
    """Split a text into words and single punctuation marks."""
    words, open_ = [], False
    for char in text:
        if char.isspace():
            open_ = False
        elif unicodedata.category(char)[0] == "P" or (char.isascii() and not char.isalnum()):
            words.append(char)
            open_ = False
        elif open_:
            words[-1] += char
        else:
            words.append(char)
            open_ = True
    return words


def _differences(name: str) -> int:
    """Return how many characters, inside a word, plain Python tokenizes differently."""
    tokenizer, ours = _tokenizer(name), _WordPieces(name)
    count = 0
    for first in range(0, 0x110000, 4_096):
        points = (p for p in range(first, first + 4_096) if not 0xD800 <= p < 0xE000)
        texts = [f"a{chr(point)}b" for point in points]
        read = tokenizer.encode_batch(texts, add_special_tokens=False) if texts else []
        count += sum(found.ids != ours.cut(text) for found, text in zip(read, texts, strict=True))
    return count


def _hashed(key: bytes, text: bytes) -> bytes:
    stream = b"".join(
        hashlib.sha256(key + block.to_bytes(8, "big")).digest()
        for block in range(-(-len(text) // 32))
    )
    mixed = int.from_bytes(text, "big") ^ int.from_bytes(stream[: len(text)], "big")
    sealed = mixed.to_bytes(len(text), "big")
    return sealed + hmac.digest(key, sealed, "sha256")


def _distance(one: str, other: str) -> int:
    """Return the unrestricted Damerau-Levenshtein distance (Lowrance and Wagner, 1975)."""
    last: dict[str, int] = {}
    most = len(one) + len(other)
    table = [[most] * (len(other) + 2) for _ in range(len(one) + 2)]
    for row in range(len(one) + 1):
        table[row + 1][1] = row
    for column in range(len(other) + 1):
        table[1][column + 1] = column
    for row in range(1, len(one) + 1):
        matched = 0
        for column in range(1, len(other) + 1):
            before, same = last.get(other[column - 1], 0), one[row - 1] == other[column - 1]
            swapped = table[before][matched] + row - before + column - matched - 1
            table[row + 1][column + 1] = min(
                table[row][column] + (not same),
                table[row + 1][column] + 1,
                table[row][column + 1] + 1,
                swapped,
            )
            matched = column if same else matched
        last[one[row - 1]] = row
    return table[-1][-1]


def _numkong_uses(homes: Homes, name: str) -> list[Use]:
    """Measure a recall with and without numkong, if it is installed."""
    if importlib.util.find_spec("numkong") is None:
        return []
    writer = Writer()
    with Recollect(homes.fresh(), encoder=name) as recollect:
        zone = recollect.zone()
        zone.ingest(
            {
                "platform": "chat",
                "id": f"m{number}",
                "sender_id": f"u{number % 4}",
                "occurred_at": START_MS + number * 60_000,
                "content": writer.text(),
            }
            for number in range(TURNS)
        )
        questions = [writer.question() for _ in range(QUESTIONS)]
        sides = {
            "with": _numkong(),
            "without": (int8_products.product, int8_products.products),
        }
        taken: dict[str, list[float]] = {side: [] for side in sides}
        for turn, question in enumerate((*questions[:10], *questions)):
            # The second call profits from caches that the first has filled, so the order
            # alternates.
            for side in ("with", "without") if turn % 2 else ("without", "with"):
                product, products = sides[side]
                with (
                    mock.patch.object(vector_index, "product", product),
                    mock.patch.object(late_interaction, "products", products),
                ):
                    began = time.perf_counter()
                    zone.recall(question)
                    taken[side].append((time.perf_counter() - began) * 1e6)
    middle = {side: median(times[10:]) for side, times in taken.items()}
    return [Use("numkong (gone)", "a recall", middle["with"], "numpy", middle["without"])]


def _numkong() -> tuple[Callable[..., object], Callable[..., object]]:
    """Return numkong's versions of our two product functions."""
    from numkong import cdist, dots_pack, dots_packed

    def product(rows: npt.NDArray[np.int8], column: npt.NDArray[np.int8]) -> object:
        return np.asarray(cdist(column[None], rows, "dot"))[0]

    def products(rows: npt.NDArray[np.int8], columns: npt.NDArray[np.int8]) -> object:
        padded = np.zeros((-(-len(columns) // 4) * 4, columns.shape[1]), np.int8)
        padded[: len(columns)] = columns
        return np.asarray(dots_packed(rows, dots_pack(padded, dtype="int8")))[:, : len(columns)]

    return product, products


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    with Homes() as homes:
        print("\n".join(map(markdown, run(homes))))


if __name__ == "__main__":
    main()
