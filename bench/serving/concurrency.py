"""Concurrent queries of one zone: answers per second, and their latency.

python -m bench.serving.concurrency [--questions N] [--home DIR]
"""

from __future__ import annotations

import argparse
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bench.kit.encoders import MISSING, cached_name
from bench.kit.homes import Homes
from bench.kit.made import START_MS, Writer
from bench.kit.report import Report, Target, count, markdown, percentile
from recollect import Recollect, Zone

TURNS = 5_000
QUESTIONS = 1_500
# The number of warm-up questions for each configuration.
_WARM = 100
THREADS = (1, 2, 4, 16)
MIN_PER_S = 200.0
MAX_P95_MS = 100.0
# Events ingested during queries.
_BATCH_SIZE = 10


class _Cost(NamedTuple):
    """Answers per second, and the elapsed and processor ms of each."""

    per_s: float
    ms: list[float]
    cpu_ms: float

    def cells(self) -> list[str]:
        return [
            f"{self.per_s:.0f}",
            *(f"{percentile(self.ms, share):.1f}" for share in (0.5, 0.95, 0.99)),
            f"{self.cpu_ms:.2f}",
        ]


def run(homes: Homes, *, questions: int = QUESTIONS, kept: Path | None = None) -> Report:
    """Query a zone of 5,000 turns from several threads; no question is asked twice.

    `kept`: a home that was filled before; None: create one.
    """
    title, about = (
        "Recall: concurrent queries",
        f"Threads of one process query a zone of {count(TURNS)} turns through the library, each "
        "asking its next question as soon as it has an answer. A query takes a question's text and "
        "returns 20 results at the default budget, embedding included. In the last row, another "
        "thread ingests meanwhile. Embedding and SQLite run in parallel to Python code, but only "
        "one thread at a time runs Python code; its time per answer limits the throughput.",
    )
    columns = ["threads", "answers/s", "p50 ms", "p95 ms", "p99 ms", "CPU ms/answer"]
    name = cached_name()
    if name is None:
        return Report(title, about, columns, [], skipped=MISSING)
    home, writer, rows = kept or homes.fresh(), Writer(seed=2), []
    with Recollect(home, encoder=name) as recollect:
        zone = recollect.zone()
        if not zone.exists():
            zone.ingest(islice(made_events(), TURNS))
        asking = made_questions(writer)
        for threads in THREADS:
            cost = _measure(zone, asking, threads, questions)
            rows.append([str(threads), *cost.cells()])
        stop = threading.Event()
        writing = threading.Thread(target=_write, args=(zone, stop))
        writing.start()
        try:
            rows.append([f"{threads}, one ingests", *_measure(zone, asking, 16, questions).cells()])
        finally:
            stop.set()
            writing.join()
    p95 = percentile(cost.ms, 0.95)
    return Report(
        title,
        about,
        columns,
        rows,
        [
            Target(
                f"{threads} threads: at least {MIN_PER_S:.0f} answers/s",
                f"{cost.per_s:.0f}",
                cost.per_s >= MIN_PER_S,
            ),
            Target(
                f"{threads} threads: p95 of at most {MAX_P95_MS:.0f} ms",
                f"{p95:.0f} ms",
                p95 <= MAX_P95_MS,
            ),
        ],
    )


def made_events() -> Iterator[dict[str, object]]:
    """Yield generated turns of four people, a minute apart, in channels of 200 turns."""
    writer = Writer()
    for number in itertools.count():
        yield {
            "platform": "chat",
            "id": f"m{number}",
            "sender_id": f"u{number % 4}",
            "sender_name": ("Ada", "Bob", "Cleo", "Dan")[number % 4],
            "peer_id": f"c{number // 200}",
            "occurred_at": START_MS + number * 60_000,
            "content": writer.text(),
        }


def made_questions(writer: Writer) -> Iterator[str]:
    """Yield questions that do not repeat for a long time."""
    while True:
        yield writer.question()


def _measure(zone: Zone, asking: Iterator[str], threads: int, questions: int) -> _Cost:
    """Ask `questions` in total, from `threads` threads."""
    for _ in range(_WARM):
        zone.recall(next(asking))
    left = iter([next(asking) for _ in range(questions)])
    drawing, latencies = threading.Lock(), list[float]()

    def ask() -> None:
        while True:
            with drawing:
                question = next(left, None)
            if question is None:
                return
            began = time.perf_counter()
            zone.recall(question)
            latencies.append((time.perf_counter() - began) * 1e3)

    asked_by = [threading.Thread(target=ask) for _ in range(threads)]
    began, busy = time.perf_counter(), time.process_time()
    for thread in asked_by:
        thread.start()
    for thread in asked_by:
        thread.join()
    wall, cpu = time.perf_counter() - began, time.process_time() - busy
    return _Cost(questions / wall, latencies, 1e3 * cpu / questions)


def _write(zone: Zone, stop: threading.Event) -> None:
    """Ingest a few events at a time until stopped."""
    more = islice(made_events(), TURNS, None)
    while not stop.is_set():
        zone.ingest(islice(more, _BATCH_SIZE))


def print_report(
    name: str,
    doc: str | None,
    run: Callable[..., Report],
    questions: int,
    arguments: Sequence[str] | None,
) -> None:
    """Run a benchmark that asks `questions` of a home, with its command-line options."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.serving.{name}", description=doc)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--questions", type=int, default=questions)
    parser.add_argument("--home", type=Path, help="a home to keep and reuse")
    chosen = parser.parse_args(arguments)
    with Homes() as homes:
        print(markdown(run(homes, questions=chosen.questions, kept=chosen.home)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    print_report("concurrency", __doc__, run, QUESTIONS, arguments)


if __name__ == "__main__":
    main()
