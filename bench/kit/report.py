"""The result of a benchmark: a table and its targets, rendered as Markdown."""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata

import apsw
import msgspec


class Target(msgspec.Struct, frozen=True):
    """A figure and its target."""

    what: str
    found: str
    reached: bool


class Report(msgspec.Struct, frozen=True):
    """The result of one benchmark; `rows` are cells in the order of `columns`."""

    title: str
    about: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    targets: Sequence[Target] = ()
    skipped: str = ""


def markdown(report: Report) -> str:
    """Return a report as a section of Markdown."""
    lines = [f"## {report.title}", "", report.about, ""]
    if report.skipped:
        lines += [f"Not measured: {report.skipped}", ""]
    if report.rows:
        lines.append(f"| {' | '.join(report.columns)} |")
        lines.append("|" + "---|" * len(report.columns))
        lines += [f"| {' | '.join(row)} |" for row in report.rows]
        lines.append("")
    for target in report.targets:
        verdict = "met" if target.reached else "NOT met"
        lines.append(f"- {target.what}: {target.found}, {verdict}")
    return "\n".join(lines).rstrip() + "\n"


def machine() -> str:
    """Describe what the figures depend on (cores, system, versions), anonymously."""
    packages = ("apsw", "sqlite-vec", "onnxruntime", "cryptography", "msgspec", "numpy")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{cores} cores ({platform.machine()}, {platform.system()}), "
        f"Python {sys.version.split()[0]}, SQLite {apsw.sqlite_lib_version()}, {versions}"
    )


def load(before: float) -> str:
    """Return the load of the machine before a benchmark and now."""
    return f"load {before:.1f} before it and {os.getloadavg()[0]:.1f} at its end"


class Stopwatch:
    """Elapsed seconds."""

    seconds = 0.0


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Time a block after a garbage collection, so that earlier garbage does not slow it down."""
    gc.collect()
    watch = Stopwatch()
    began = time.perf_counter()
    try:
        yield watch
    finally:
        watch.seconds = time.perf_counter() - began


def count(value: float) -> str:
    """Return a number with a thousands separator, and three digits if it is small."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the percentile of some values at `share` (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
