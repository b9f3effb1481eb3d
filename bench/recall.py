"""How long an answer takes: each arm by itself and all together, in a small and a large zone.

python -m bench.recall [--sizes N,N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench.encoders import MISSING, cached_encoder
from bench.homes import ZONE, Homes, RandomEncoder, Vectors
from bench.made import Writer
from bench.report import Report, Target, count, markdown, percentile
from projections.files import ZoneFiles
from projections.recall import BUDGETS, Query, QueryTokens, Recaller
from projections.recall.types import Budget
from streams.encoder import Encoder

# A year's worth of chats of the export that recollect was first used with, and many years'.
SIZES = (5_882, 100_000)
QUERIES = 200
MOST_P50_MS = 6.0

# What is measured, the budget, and the arms that run; None: those of the budget.
_WAYS: tuple[tuple[str, Budget, frozenset[str] | None], ...] = (
    ("semantic (budget low)", "low", None),
    ("keyword", "mid", frozenset({"keyword"})),
    ("entity", "mid", frozenset({"entity"})),
    ("mid without late interaction", "mid", BUDGETS["mid"][0] - {"late"}),
    ("budget mid", "mid", None),
    ("all arms (budget high)", "high", None),
)


@contextmanager
def only(arms: frozenset[str] | None, budget: Budget) -> Iterator[None]:
    """Let a budget run these arms alone."""
    kept = BUDGETS[budget]
    if arms is not None:
        BUDGETS[budget] = (arms, kept[1])
    try:
        yield
    finally:
        BUDGETS[budget] = kept


def run(homes: Homes, *, sizes: Sequence[int] = SIZES) -> Report:
    """Measure zones of these sizes, with random vectors; 20 results a question."""
    rows: list[list[str]] = []
    targets: list[Target] = []
    for size in sizes:
        filled = homes.filled(size, vectors=True)
        node = filled.open()
        try:
            generation = node.current(ZONE)
            with node.open_to_read(ZONE, generation) as files:
                rows.append([count(size), "all arms, first question, cold", *_first(files)])
                for way, budget, arms in _WAYS:
                    with only(arms, budget):
                        spent = _spent(files, budget)
                    rows.append([count(size), way, *_percentiles(spent)])
        finally:
            node.close()
        if size == min(sizes):
            p50 = percentile(spent, 0.5)
            targets.append(
                Target(
                    f"all arms at {count(size)} events: p50 of at most {MOST_P50_MS:.0f} ms",
                    f"{p50:.2f} ms",
                    p50 <= MOST_P50_MS,
                )
            )
    embedding = _embedding()
    if embedding:
        rows.append(embedding)
    return Report(
        "Recall",
        f"Milliseconds from a question to its 20 results, over {QUERIES} made-up questions, "
        "after a warm-up, within one process; vectors are random, since their values do not "
        "change the work. Embedding the question comes on top, in a row of its own.",
        ["events", "what", "p50 ms", "p95 ms", "p99 ms"],
        rows,
        targets,
        skipped="" if embedding else f"embedding the question: {MISSING}",
    )


def _spent(files: ZoneFiles, budget: Budget) -> list[float]:
    """Return the milliseconds of each question."""
    encoder, recaller = RandomEncoder(), Recaller(files)
    writer = Writer(seed=2)
    asked = [writer.question() for _ in range(QUERIES)]
    read = [_read(encoder, question) for question in asked]
    for question, (vector, tokens) in zip(asked[:10], read, strict=False):
        recaller.recall(Query(text=question, budget=budget), vector, tokens, resident=True)
    spent = []
    for question, (vector, tokens) in zip(asked, read, strict=True):
        began = time.perf_counter()
        recaller.recall(Query(text=question, budget=budget), vector, tokens, resident=True)
        spent.append((time.perf_counter() - began) * 1e3)
    return spent


def _read(encoder: Encoder, question: str) -> tuple[Vectors, QueryTokens]:
    """Return a question's vector and those of its words."""
    read = encoder.encode_query_tokens(question)
    return read.pooled, QueryTokens(question, read.offsets, read.vectors)


def _first(files: ZoneFiles) -> list[str]:
    """Return the cells of a process's only question: nothing is in its memory yet."""
    question = Writer(seed=3).question()
    vector, tokens = _read(RandomEncoder(), question)
    began = time.perf_counter()
    Recaller(files).recall(Query(text=question, budget="high"), vector, tokens)
    return [f"{(time.perf_counter() - began) * 1e3:.1f}", "", ""]


def _embedding() -> list[str] | None:
    encoder = cached_encoder()
    if encoder is None:
        return None
    try:
        writer = Writer(seed=2)
        spent = []
        for _ in range(QUERIES):
            question = writer.question()
            began = time.perf_counter()
            encoder.encode_query_tokens(question)
            spent.append((time.perf_counter() - began) * 1e3)
        return ["", f"embedding the question, {encoder.model}", *_percentiles(spent)]
    finally:
        encoder.close()


def _percentiles(spent: Sequence[float]) -> list[str]:
    return [f"{percentile(spent, share):.2f}" for share in (0.5, 0.95, 0.99)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="with commas")
    chosen = parser.parse_args(arguments)
    with Homes() as homes:
        print(markdown(run(homes, sizes=[int(size) for size in chosen.sizes.split(",")])))


if __name__ == "__main__":
    main()
