"""Encoding speed, in comparison with sentence-transformers and with bare onnxruntime.

python -m bench.encoder.encode [FILE] [--reference PYTHON]

FILE: one text per line; default: generated sentences. PYTHON: an interpreter that can import
sentence-transformers (default: this one, if it can). Models are read from RECOLLECT_CACHE.

"bare session" runs the same graph over texts tokenised beforehand, on the same number of threads,
and discards the result; its difference to the row above is the encoder's overhead. "products alone"
runs only the matrix products of the graph, on activations that are int8 already: a lower bound for
this processor and this onnxruntime. sentence-transformers runs at several batch sizes, its default
included, alternating with our encoder, so that the load of the machine is the same for all.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec

from bench.encoder.precision import recalls
from bench.encoder.rivals import BATCHES, Lap, Vectors, rival
from bench.encoder.sessions import bare, graph_of, products, timed, tokenize
from bench.kit.encoders import MISSING, cache, cached_name
from bench.kit.report import Report, Target, markdown
from recollect.streams.encoder.catalog import Precision
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.pin import Pin
from recollect.streams.system.cores import usable_cores

ROUNDS = 3
MIN_SPEEDUP, MIN_COSINE, MAX_LOSS = 3.0, 0.99, 0.5

_TITLE = "Encode"
_PRODUCTS = "int8, products alone"
_PRECISIONS: tuple[Precision, ...] = ("int8", "float")
_COLUMNS = [
    *(
        "what",
        "texts/s",
        "CPU ms/text",
        "ratio to the best sentence-transformers",
        "ratio to the bare session",
    ),
    *("mean cosine to float", "load, s", "LoCoMo recall@10"),
]


class Encoded(msgspec.Struct, frozen=True):
    """An encoder's vectors of all texts, and the seconds from loading to the first vector."""

    vectors: Vectors
    load_s: float


class Measured(msgspec.Struct, frozen=True):
    """The measurements of a run.

    `rates` (texts/s) and `busy` (processor ms per text): by row. `encoded`: by precision. `rival`:
    the vectors of sentence-transformers, if it was measured.
    """

    rates: dict[str, float]
    busy: dict[str, float]
    encoded: dict[Precision, Encoded]
    rival: Vectors | None


def run(texts: Sequence[str], *, reference: str | None = None) -> Report:
    """Measure the cached encoder on these texts.

    `reference`: an interpreter that can import sentence-transformers; None: this one, if it can.
    """
    letters = sum(map(len, texts)) / len(texts)
    about = (
        f"{len(texts)} texts of {letters:.0f} characters on average, {usable_cores()} cores, the "
        f"best of {ROUNDS} alternating rounds. For recall@10, the LoCoMo conversations are "
        "ingested and queried at each precision."
    )
    name = cached_name()
    if name is None:
        return Report(_TITLE, about, _COLUMNS, [], skipped=MISSING)
    if reference is None:
        if importlib.util.find_spec("sentence_transformers"):
            reference = sys.executable
        else:
            about += (
                " sentence-transformers was not measured: name a Python that has it (--reference)."
            )
    pins = {kind: install(name, precision=kind, cache=cache()) for kind in _PRECISIONS}
    return _report(about, pins, _measure(pins, texts, reference), recalls(name, _PRECISIONS))


def _measure(
    pins: Mapping[Precision, Pin], texts: Sequence[str], reference: str | None
) -> Measured:
    """Encode the texts in every way in alternating rounds, so that other load affects all alike."""
    encoded: dict[Precision, Encoded] = {}
    laps: dict[str, Lap] = {}
    vectors = None
    with ExitStack() as held:
        pool = held.enter_context(ThreadPoolExecutor(usable_cores()))
        for kind, pin in pins.items():
            began = time.perf_counter()
            encoder = load(pin, cache=cache())
            held.callback(encoder.close)
            encoder.encode_query("warm up")
            load_s = time.perf_counter() - began
            encoded[kind] = Encoded(encoder.encode(texts), load_s)
            laps[kind] = timed(partial(encoder.encode, texts))
            graph, pieces = graph_of(pin), tokenize(pin, texts)
            laps[f"{kind}, bare session"] = bare(graph, pieces, pool)
            if kind == "int8":
                laps[_PRODUCTS] = products(graph, pieces, pool)
        if reference is not None:
            scratch = Path(held.enter_context(tempfile.TemporaryDirectory()))
            running = rival(reference, pins["float"], texts, scratch)
            vectors, others = held.enter_context(running)
            laps |= others
        rounds = [{what: lap() for what, lap in laps.items()} for _ in range(ROUNDS)]
    rates = {what: len(texts) / min(taken[what].wall for taken in rounds) for what in laps}
    busy = {what: 1_000 / len(texts) * min(taken[what].cpu for taken in rounds) for what in laps}
    return Measured(rates, busy, encoded, vectors)


def _report(
    about: str,
    pins: Mapping[Precision, Pin],
    measured: Measured,
    recalled: Mapping[Precision, float],
) -> Report:
    rates = measured.rates
    floats = measured.encoded["float"].vectors
    rivals = {what: rate for what, rate in rates.items() if what.startswith(BATCHES)}
    best = max(rivals.values(), default=None)
    rows: list[list[str]] = []
    for kind, pin in pins.items():
        cells = [
            f"{rates[kind] / rates[f'{kind}, bare session']:.2f}",
            f"{_mean_cosine(measured.encoded[kind].vectors, floats):.4f}",
            f"{measured.encoded[kind].load_s:.3f}",
            f"{recalled[kind]:.1f}" if recalled else "",
        ]
        rows.append([pin.model, *_speed(measured, kind, best), *cells])
        for what in (f"{kind}, bare session", f"{kind}, products alone"):
            if what in rates:
                rows.append([f"{pin.name}/{what}", *_speed(measured, what, best), *[""] * 4])
    if measured.rival is not None:
        cosine = f"{_mean_cosine(measured.rival, floats):.4f}"
        for what in rivals:
            name = f"sentence-transformers, {what}"
            rows.append([name, *_speed(measured, what, None), "", cosine, "", ""])
    targets = []
    if best:
        ratio = rates["int8"] / best
        wanted = f"int8 at least {MIN_SPEEDUP:.0f} times sentence-transformers"
        targets.append(Target(wanted, f"{ratio:.2f}", ratio >= MIN_SPEEDUP))
    similar = _mean_cosine(measured.encoded["int8"].vectors, floats)
    wanted = f"int8 at a mean cosine to float of at least {MIN_COSINE}"
    targets.append(Target(wanted, f"{similar:.4f}", similar >= MIN_COSINE))
    if recalled:
        lost = recalled["float"] - recalled["int8"]
        recall = f"{recalled['int8']:.1f} against {recalled['float']:.1f}"
        wanted = f"recall@10 in int8 within {MAX_LOSS} of float"
        targets.append(Target(wanted, recall, lost <= MAX_LOSS))
    return Report(_TITLE, about, _COLUMNS, rows, targets)


def _speed(measured: Measured, what: str, best: float | None) -> list[str]:
    """Return texts per second, processor ms per text, and the ratio to the best rival's rate."""
    rate = measured.rates[what]
    return [
        f"{rate:.0f}",
        f"{measured.busy[what]:.2f}",
        f"{rate / best:.2f}" if best else "",
    ]


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return plausible chat messages of 1 to 3 sentences, the same for the same seed."""
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


def _mean_cosine(found: Vectors, expected: Vectors) -> float:
    return float((found * expected).sum(axis=1).mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for the texts of a file, or for generated ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.encoder.encode", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", nargs="?", type=Path, help="one text per line")
    parser.add_argument("--reference", help="a Python that has sentence-transformers")
    chosen = parser.parse_args(arguments)
    texts = sentences(400)
    if chosen.file is not None:
        texts = [line for line in chosen.file.read_text("utf-8").splitlines() if line.strip()]
    print(markdown(run(texts, reference=chosen.reference)))


if __name__ == "__main__":
    main()
