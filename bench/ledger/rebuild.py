"""The time of filling and rebuilding as a zone grows; the time per event must stay constant.

python -m bench.ledger.rebuild [--full] [--sizes N,N,...]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.kit.homes import ZONE, Homes, project
from bench.kit.report import Report, Target, count, markdown, stopwatch
from recollect.streams.lifecycle.rebuilding import rebuild

SIZES = (10_000, 100_000)
FULL_SIZES = (*SIZES, 1_000_000)
# Deeper trees and colder caches account for this much; an algorithm that is not linear would exceed
# it.
MAX_GROWTH = 1.5

_STEPS = ("publish", "decide", "project", "derive")


def run(homes: Homes, *, sizes: Sequence[int] = SIZES) -> Report:
    """Measure each size, with events of a few words and without an encoder."""
    measured = {size: _measure(homes, size) for size in sizes}
    rows = [
        [count(size), step, f"{seconds:.1f}", f"{seconds / size * 1e6:.0f}"]
        for size, steps in measured.items()
        for step, seconds in zip(_STEPS, steps, strict=True)
    ]
    least, most = min(sizes), max(sizes)
    targets = []
    for index, step in enumerate(_STEPS):
        growth = (measured[most][index] / most) / (measured[least][index] / least)
        targets.append(
            Target(
                f"{step}: time per event at {count(most)} against {count(least)}",
                f"{growth:.2f}",
                growth <= MAX_GROWTH,
            )
        )
    return Report(
        "Rebuild",
        "Seconds, and microseconds per event. Publish: seal the events, and append them to the "
        "ledger. Decide: project raw turns, decide and commit. Project: rebuild all files from "
        "the topics. Derive: decide everything again, in a new generation. The time per event in "
        f"the largest zone may be at most {MAX_GROWTH} times that in the smallest.",
        ["events", "step", "s", "µs/event"],
        rows,
        targets if most > least else (),
    )


def _measure(homes: Homes, size: int) -> tuple[float, float, float, float]:
    filled = homes.filled(size, small=True)
    files, projected_s = project(filled, homes.fresh())
    files.close()
    node = filled.open()
    try:
        with stopwatch() as derive:
            rebuild(node, ZONE, "derive")
    finally:
        node.close()
    return filled.publish_s, filled.project_s + filled.drive_s, projected_s, derive.seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.rebuild", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also measure a million events")
    parser.add_argument("--sizes", help="comma-separated sizes")
    chosen = parser.parse_args(arguments)
    sizes: Sequence[int] = FULL_SIZES if chosen.full else SIZES
    if chosen.sizes:
        sizes = [int(size) for size in chosen.sizes.split(",")]
    with Homes() as homes:
        print(markdown(run(homes, sizes=sizes)))


if __name__ == "__main__":
    main()
