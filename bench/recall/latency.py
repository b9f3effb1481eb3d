"""The latency of recall, for each arm and for all together, in zones of several sizes.

python -m bench.recall.latency [--sizes N,N] [--zones DIR] [--data FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from bench.kit import zones
from bench.kit.encoders import MISSING, cached_encoder
from bench.kit.homes import DIMENSION, RandomEncoder
from bench.kit.made import Writer
from bench.kit.report import Report, Target, count, markdown, percentile, stopwatch
from bench.recall.sentences import load_texts, share_of_nearest
from recollect.projections.files import ZoneFiles
from recollect.projections.recall import BUDGETS, Recaller, RecallQuery
from recollect.projections.recall.index.arrays import array_store
from recollect.projections.sqlite import rows
from recollect.schemas.wire import Budget
from recollect.streams.projecting.projector import prune_index

T = TypeVar("T")

# About a year of chats in the first real export; many years; and more.
SIZES = (5_882, 100_000)
FULL_SIZES = (*SIZES, 1_000_000)
QUERIES = 200
ROUNDS = 8
# The number of warm-up questions before the timed questions of a round.
_WARM = 10
#: The maximum median latency in ms with all arms, by the number of turns.
MAX_P50_MS = {5_882: 3.0, 100_000: 10.0}
#: The maximum ratio of the latency at a million turns to that at a hundred thousand.
MAX_SCALING = 12.0
MIN_SHARE = 0.99
FORGETS = 7
_AROUND = 15
# Selects turns that are spread evenly over a zone.
_SPREAD = """
SELECT number FROM (SELECT number, row_number() OVER (ORDER BY number) AS place FROM events)
 WHERE place % (SELECT count(*) / ?1 FROM events) = 1 ORDER BY number LIMIT ?1
"""
#: The maximum latency of the first question after an erasure, relative to the questions before.
MAX_SLOWDOWN = 3.0

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo-dev.json"
_ALL = "all arms (budget high)"
# The label, the budget, and the arms that run (None: all arms of the budget).
_CONFIGURATIONS: tuple[tuple[str, Budget, frozenset[str] | None], ...] = (
    ("semantic (budget low)", "low", None),
    ("keyword", "mid", frozenset({"keyword"})),
    ("entity", "mid", frozenset({"entity"})),
    ("keyword and late interaction", "mid", frozenset({"keyword", "late"})),
    ("budget mid", "mid", None),
    (_ALL, "high", None),
)


class Measured(msgspec.Struct):
    """The result of one process: elapsed and processor ms by configuration, and memory in MB."""

    first_ms: float
    first_cpu_ms: float
    wall: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    memory_first_mb: float = 0.0
    memory_mb: float = 0.0


class ErasureTimes(msgspec.Struct):
    """The latencies around an erasure, in ms: of the questions, and of updating the index."""

    before: list[float] = []
    file: list[float] = []
    memory: list[float] = []
    after: list[float] = []


@contextmanager
def only(arms: frozenset[str] | None, budget: Budget) -> Iterator[None]:
    """Make a budget run only these arms."""
    kept = BUDGETS[budget]
    if arms is not None:
        BUDGETS[budget] = arms
    try:
        yield
    finally:
        BUDGETS[budget] = kept


def run(
    *, sizes: Sequence[int] = SIZES, kept: Path | None = None, data: Path = DATA
) -> list[Report]:
    """Measure zones of these sizes, each in processes of its own; 20 results per question.

    `kept`: a directory that keeps the zones for another run; None: they are deleted.
    """
    speed: list[list[str]] = []
    memory_rows: list[list[str]] = []
    forgotten: list[list[str]] = []
    targets: list[Target] = []
    erasure_targets: list[Target] = []
    p50: dict[int, float] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch:
            directory = (kept or Path(scratch)) / f"{size}"
            if not directory.exists():
                zones.fill(directory, size)
            array_store.remove(directory)
            built, mapped = (
                _run_measure(directory, 0),
                _run_measure(directory, QUERIES),
            )
            index_mb = sum(file.stat().st_size for file in directory.glob("recall.*")) / 1e6
            files_mb = sum(file.stat().st_size for file in directory.glob("*.db")) / 1e6
            forgot = _in_a_process("--forget", directory, ErasureTimes)
            cold = _run_measure(directory, 0)
        for label, _, _ in _CONFIGURATIONS:
            cells = [f"{percentile(mapped.wall[label], share):.2f}" for share in (0.5, 0.95, 0.99)]
            speed.append([count(size), label, *cells, f"{percentile(mapped.cpu[label], 0.5):.2f}"])
        memory_rows.append(
            [
                count(size),
                *(f"{ms:,.0f}" for ms in (built.first_ms, built.first_cpu_ms)),
                *(f"{ms:,.0f}" for ms in (mapped.first_ms, mapped.first_cpu_ms)),
                *(f"{mb:,.0f}" for mb in (files_mb, index_mb)),
                *(f"{mb:,.0f}" for mb in (mapped.memory_first_mb, mapped.memory_mb)),
            ]
        )
        before, file, memory, after = (
            percentile(latencies, 0.5) for latencies in msgspec.structs.astuple(forgot)
        )
        forgotten.append(
            [
                count(size),
                *(f"{ms:,.0f}" for ms in (built.first_ms, file, memory)),
                *(f"{ms:,.1f}" for ms in (before, after)),
                *(f"{ms:,.0f}" for ms in (mapped.first_ms, cold.first_ms)),
            ]
        )
        erasure_targets.append(
            Target(
                f"the first question after an erasure at {count(size)} turns takes at most "
                f"{MAX_SLOWDOWN:.0f} times as long as the questions before",
                f"{after / before:.1f}",
                after <= MAX_SLOWDOWN * before,
            )
        )
        p50[size] = percentile(mapped.wall[_ALL], 0.5)
        if size in MAX_P50_MS:
            most = MAX_P50_MS[size]
            targets.append(
                Target(
                    f"all arms at {count(size)} turns: p50 of at most {most:.0f} ms",
                    f"{p50[size]:.2f} ms",
                    p50[size] <= most,
                )
            )
    if {100_000, 1_000_000} <= p50.keys():
        times = p50[1_000_000] / p50[100_000]
        targets.append(
            Target(
                f"latency at a million turns at most {MAX_SCALING:.0f} times that at 100,000",
                f"{times:.1f}",
                times <= MAX_SCALING,
            )
        )
    return [
        _latency_report(speed, targets),
        _memory_report(memory_rows),
        _erasure_report(forgotten, erasure_targets),
        _bit_code_report(data),
    ]


def _latency_report(rows: list[list[str]], targets: list[Target]) -> Report:
    embedding = _embedding()
    return Report(
        "Recall",
        f"Milliseconds from a question to its 20 results, over {QUERIES} generated questions in "
        f"one process, after ten warm-up questions: the best of {ROUNDS} rounds. No question is "
        "asked twice. The last column is processor time, which other load affects less. The zones "
        "are generated, with one fact per sentence and random, clustered vectors. The time to "
        "embed the question is not included; the last row shows it.",
        ["turns", "what", "p50 ms", "p95 ms", "p99 ms", "p50 CPU ms"],
        [*rows, *([embedding] if embedding else [])],
        targets,
        skipped="" if embedding else f"embedding the question: {MISSING}",
    )


def _memory_report(rows: list[list[str]]) -> Report:
    return Report(
        "Recall: cold start, disk and memory",
        "The first question of a process, with all arms: when the index must be built from the "
        "database files, and when a stored index is mapped. The size of the database files "
        "(without the vec0 index, which recall does not use here) and of the index, in MB. The "
        "process's memory, in MB, after its first question and after all. Small zones have no "
        "stored index.",
        [
            "turns",
            *("first question, index built: ms", "CPU ms"),
            *("first question, index mapped: ms", "CPU ms"),
            *("files MB", "index MB", "memory, first", "memory, all"),
        ],
        rows,
    )


def _erasure_report(rows: list[list[str]], targets: list[Target]) -> Report:
    return Report(
        "Recall: after an erasure",
        f"A turn is forgotten {FORGETS} times; medians in ms. Rebuilding the index, as an earlier "
        "version did after each erasure; deleting the turn from the stored index, and from the "
        f"index in a process's memory; the {_AROUND} questions before, with all arms, and the "
        "first question after; and the first question of a process before all erasures and after "
        "them.",
        [
            *("turns", "index rebuilt", "deleted from its files", "deleted from memory"),
            *("question before", "first after", "first of a process before", "after"),
        ],
        rows,
        targets,
    )


def _bit_code_report(data: Path) -> Report:
    title = "Recall: bit codes against an exact search"
    about = (
        "The share of the nearest vectors that the search over bit codes finds, compared with an "
        "exact search. The vectors are turns and sentences of conversations in LoCoMo's format, "
        "the queries are the questions about them."
    )
    columns = ["vectors", "questions", "nearest", "found"]
    encoder = cached_encoder()
    if encoder is None or not data.is_file():
        skipped = MISSING if encoder is None else f"{data.name} does not exist; give it with --data"
        return Report(title, about, columns, [], skipped=skipped)
    try:
        texts, questions = load_texts(data)
        vectors, asked = encoder.encode(texts), encoder.encode(questions)
    finally:
        encoder.close()
    shares = {nearest: share_of_nearest(vectors, asked, nearest) for nearest in (10, 100, 400)}
    return Report(
        title,
        about,
        columns,
        [
            [count(len(texts)), count(len(questions)), str(nearest), f"{share:.4f}"]
            for nearest, share in shares.items()
        ],
        [
            Target(
                f"at least {MIN_SHARE} of the {nearest} nearest",
                f"{share:.4f}",
                share >= MIN_SHARE,
            )
            for nearest, share in shares.items()
        ],
    )


def _run_measure(directory: Path, queries: int) -> Measured:
    return _in_a_process("--measure", directory, Measured, str(queries))


def _in_a_process(option: str, directory: Path, type: type[T], *more: str) -> T:
    command = [sys.executable, "-m", "bench.recall.latency", option, str(directory), *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=type)


def measure(directory: Path, queries: int) -> Measured:
    """Ask a zone one question, then `queries` in every configuration; store its index.

    In each round, every configuration gets new questions. The best round of each configuration
    counts.
    """
    encoder, writer = RandomEncoder(), Writer(seed=2)
    with zones.open_to_read(directory) as files:
        recaller = Recaller(files, encoder=encoder)
        wall, cpu = _timed(recaller, writer.question(), "high")
        measured = Measured(wall, cpu, memory_first_mb=_memory_mb())
        if recaller.should_store:
            recaller.store()
        for _ in range(ROUNDS if queries else 0):
            for label, budget, arms in _CONFIGURATIONS:
                asked = [writer.question() for _ in range(_WARM + queries)]
                with only(arms, budget):
                    times = [_timed(recaller, question, budget) for question in asked]
                walls, cpus = map(list, zip(*times[_WARM:], strict=True))
                before = measured.wall.get(label)
                if before is None or percentile(walls, 0.5) < percentile(before, 0.5):
                    measured.wall[label], measured.cpu[label] = walls, cpus
    measured.memory_mb = _memory_mb()
    return measured


def forget(directory: Path) -> ErasureTimes:
    """Forget a few turns, with questions before and after each."""
    encoder, writer, forgot = RandomEncoder(), Writer(seed=3), ErasureTimes()
    with (
        zones.open_to_read(directory) as asked,
        ZoneFiles(directory, RandomEncoder.model, DIMENSION) as files,
    ):
        recaller = Recaller(asked, encoder=encoder)
        numbers = [number for (number,) in rows(files.events.connection, _SPREAD, (FORGETS,))]
        for number in numbers:
            # The first questions are for warming up.
            latencies = [_timed(recaller, writer.question(), "high")[0] for _ in range(2 * _AROUND)]
            forgot.before.append(percentile(latencies[_AROUND:], 0.5))
            zones.forget(files, [number])
            for into, work in (
                (forgot.file, partial(prune_index, files)),
                (forgot.memory, recaller.follow),
                (forgot.after, partial(_timed, recaller, writer.question(), "high")),
            ):
                with stopwatch() as watch:
                    work()
                into.append(watch.seconds * 1e3)
    return forgot


def _timed(recaller: Recaller, question: str, budget: Budget) -> tuple[float, float]:
    """Return the elapsed and processor ms of an answer."""
    wall, cpu = time.perf_counter(), time.process_time()
    recaller.recall(RecallQuery(text=question, budget=budget))
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _embedding() -> list[str] | None:
    encoder = cached_encoder()
    if encoder is None:
        return None
    try:
        writer = Writer(seed=2)
        latencies = []
        for _ in range(QUERIES):
            question = writer.question()
            began = time.perf_counter()
            encoder.encode_query_tokens(question)
            latencies.append((time.perf_counter() - began) * 1e3)
        cells = [f"{percentile(latencies, share):.2f}" for share in (0.5, 0.95, 0.99)]
        return ["", f"embedding the question, {encoder.model}", *cells, ""]
    finally:
        encoder.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall.latency", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="with commas")
    parser.add_argument("--zones", type=Path, help="keep the zones here, and reuse existing ones")
    parser.add_argument("--data", type=Path, default=DATA, help="conversations with questions")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--forget", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.forget:
        print(json.dumps(msgspec.to_builtins(forget(chosen.forget))))
        return
    if chosen.measure:
        directory, queries = chosen.measure
        print(json.dumps(msgspec.to_builtins(measure(Path(directory), int(queries)))))
        return
    sizes = [int(size) for size in chosen.sizes.split(",")]
    print("\n".join(map(markdown, run(sizes=sizes, kept=chosen.zones, data=chosen.data))))


if __name__ == "__main__":
    main()
