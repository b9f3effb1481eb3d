"""How fast texts become vectors, against sentence-transformers and against bare onnxruntime.

    python -m bench.encode [FILE]       FILE: one text per line; default: generated sentences
                                        RECOLLECT_CACHE: where models lie (~/.cache/recollect)

"bare session" runs the same graph over word pieces cut beforehand, on the same number of threads,
and throws the result away: what is left between it and the row above is what the encoder adds.
sentence-transformers is measured in the same run where it can be imported, at its default batch
size and at the best of several.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import onnxruntime

from streams.encoder import Pin, Precision, bring, load
from streams.encoder import cache as store
from streams.encoder.onnx_encoder import session_options, usable_cores
from streams.encoder.pieces import PieceCutter

ROUNDS = 3
BATCH_SIZES = (8, 16, 32, 64)
DEFAULT_BATCH_SIZE = 32

Vectors = npt.NDArray[np.float32]


class Row(msgspec.Struct, frozen=True):
    """One line of the table. Ratios and cosine are None where there is nothing to compare.

    `cosine`: the mean over texts against the float vectors. `load_s`: from pin to first vector,
    modules imported already.
    """

    what: str
    texts_per_second: float
    to_reference: float | None = None
    to_bare: float | None = None
    cosine: float | None = None
    load_s: float | None = None


def run(
    texts: Sequence[str], *, cache: Path, name: str | None = None, reference: bool = True
) -> list[Row]:
    """Measure an encoder (default: the one `bring` chooses) on these texts.

    `reference`: measure sentence-transformers too, where it can be imported.
    """
    pins = {kind: bring(name, precision=kind, cache=cache) for kind in _PRECISIONS}
    measured = {kind: _measure(pin, texts, cache) for kind, pin in pins.items()}
    floats = measured["float"][1]

    rivals: list[Row] = []
    if reference and importlib.util.find_spec("sentence_transformers"):
        rivals = _sentence_transformers(pins["float"], texts, cache, floats)
    best = max((row.texts_per_second for row in rivals), default=None)

    rows: list[Row] = []
    for kind, (row, vectors) in measured.items():
        bare = _bare(pins[kind], texts, cache)
        rows.append(
            msgspec.structs.replace(
                row,
                to_reference=row.texts_per_second / best if best else None,
                to_bare=row.texts_per_second / bare,
                cosine=_mean_cosine(vectors, floats),
            )
        )
        rows.append(Row(f"{pins[kind].model}, bare session", bare))
    return rows + rivals


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| what | texts/s | to the best sentence-transformers | to the bare session "
        "| mean cosine to float | load, s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            row.what,
            f"{row.texts_per_second:.0f}",
            _shown(row.to_reference, "{:.2f}"),
            _shown(row.to_bare, "{:.2f}"),
            _shown(row.cosine, "{:.4f}"),
            _shown(row.load_s, "{:.3f}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return believable chat messages of 1 to 3 sentences, the same for the same seed."""
    draw = random.Random(seed)
    people = ["Maria", "Tom", "my sister", "the landlord", "Dr. Okafor", "our team lead"]
    times = ["yesterday", "last Friday", "on 3 March", "this morning", "two weeks ago"]
    deeds = [
        "moved the meeting to {place}",
        "asked whether we could pay the {thing} in two parts",
        "finally fixed the {thing} that had been broken since the summer",
        "booked a table at {place} for six people",
        "said that the {thing} would cost about {number} euros",
        "started training for the {number} km run near {place}",
        "could not find the {thing} anywhere, not even at {place}",
    ]
    places = ["the bakery by the river", "Lisbon", "the new office", "gate B12", "grandma's"]
    things = ["boiler", "invoice", "camera lens", "rental contract", "login page", "blue bicycle"]
    ends = [".", "!", ", which surprised everybody.", ", I think.", " :)", ", can you confirm?"]

    def sentence() -> str:
        deed = draw.choice(deeds).format(
            place=draw.choice(places), thing=draw.choice(things), number=draw.randint(5, 900)
        )
        one = f"{draw.choice(people)} {deed} {draw.choice(times)}{draw.choice(ends)}"
        return one[0].upper() + one[1:]

    return [" ".join(sentence() for _ in range(draw.choice((1, 1, 2, 3)))) for _ in range(count)]


_PRECISIONS: tuple[Precision, ...] = ("int8", "float")


def _measure(pin: Pin, texts: Sequence[str], cache: Path) -> tuple[Row, Vectors]:
    began = time.perf_counter()
    encoder = load(pin, cache=cache)
    try:
        encoder.encode_query("warm up")
        load_s = time.perf_counter() - began
        vectors = encoder.encode(texts)
        return Row(pin.model, _best_rate(encoder.encode, texts), load_s=load_s), vectors
    finally:
        encoder.close()


def _bare(pin: Pin, texts: Sequence[str], cache: Path) -> float:
    directory = store.entry(cache, pin.checksums)
    receipt = store.read_graph(directory, pin.precision)
    if receipt is None:
        raise SystemExit(f"{pin.model} is not in {directory}")
    cutter = PieceCutter(directory / store.TOKENIZER, pin.settings.max_length)
    pieces = [cutter.cut(text).ids for text in texts]
    session = onnxruntime.InferenceSession(
        str(directory / receipt.file), session_options(), providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    workers = usable_cores()
    shares = [pieces[first::workers] for first in range(workers)]

    def loop(share: list[npt.NDArray[np.int32]]) -> None:
        for ids in share:
            session.run(None, {name: ids})

    with ThreadPoolExecutor(workers) as pool:
        return _best_rate(lambda _: list(pool.map(loop, shares)), texts)


def _sentence_transformers(
    pin: Pin, texts: Sequence[str], cache: Path, floats: Vectors
) -> list[Row]:
    library = importlib.import_module("sentence_transformers")
    with tempfile.TemporaryDirectory() as scratch:
        _lay_out(pin, cache, Path(scratch))
        encoder = library.SentenceTransformer(scratch, device="cpu")

    def encode(size: int) -> Callable[[Sequence[str]], Any]:
        return lambda batch: encoder.encode(list(batch), batch_size=size)

    cosine = _mean_cosine(encode(DEFAULT_BATCH_SIZE)(texts), floats)
    rates = {size: _best_rate(encode(size), texts) for size in BATCH_SIZES}
    best = max(rates, key=lambda size: rates[size])
    return [
        Row(f"sentence-transformers, batches of {size}", rates[size], cosine=cosine)
        for size in dict.fromkeys((best, DEFAULT_BATCH_SIZE))
    ]


def _lay_out(pin: Pin, cache: Path, directory: Path) -> None:
    """Make a directory that sentence-transformers of any version can load the model from."""
    for file in (store.CONFIG, store.TOKENIZER, store.SAFETENSORS):
        (directory / file).symlink_to(store.entry(cache, pin.checksums) / file)
    steps = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": idx, "name": str(idx), "path": path, "type": f"sentence_transformers.models.{step}"}
        for idx, (path, step) in enumerate(steps.items())
    ]
    pooling = {
        "word_embedding_dimension": pin.dimension,
        "pooling_mode_mean_tokens": pin.settings.pooling == "mean",
        "pooling_mode_cls_token": pin.settings.pooling == "cls",
    }
    for file, content in {
        "modules.json": modules,
        "1_Pooling/config.json": pooling,
        "2_Normalize/config.json": {},
        "sentence_bert_config.json": {"max_seq_length": pin.settings.max_length},
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer"},
    }.items():
        (directory / file).parent.mkdir(exist_ok=True)
        (directory / file).write_bytes(msgspec.json.encode(content))


def _best_rate(encode: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """Return texts per second in the best of ROUNDS: the others had company on the machine."""
    encode(texts[:16])
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        encode(texts)
        seconds.append(time.perf_counter() - began)
    return len(texts) / min(seconds)


def _mean_cosine(found: Vectors, expected: Vectors) -> float:
    return float((found * expected).sum(axis=1).mean())


def _shown(value: float | None, shape: str) -> str:
    return "" if value is None else shape.format(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for the texts of a file, or for generated ones."""
    paths = sys.argv[1:] if arguments is None else arguments
    if paths:
        lines = Path(paths[0]).read_text(encoding="utf-8").splitlines()
        texts = [line for line in lines if line.strip()]
    else:
        texts = sentences(400)
    given = os.environ.get("RECOLLECT_CACHE")
    cache = Path(given) if given else Path.home() / ".cache" / "recollect"
    letters = sum(map(len, texts)) / len(texts)
    print(f"{len(texts)} texts of {letters:.0f} characters on average, {usable_cores()} cores\n")
    print(table(run(texts, cache=cache)))


if __name__ == "__main__":
    main()
