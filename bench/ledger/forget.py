"""The cost of forgetting, in comparison with deriving the same zone in full.

python -m bench.ledger.forget [--sizes N,N]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import NamedTuple

from bench.kit.homes import ZONE, Filled, Homes
from bench.kit.report import Report, Target, count, markdown, stopwatch
from recollect.schemas.events import Forget
from recollect.streams.deciding import redeciding
from recollect.streams.engine.node import Node
from recollect.streams.lifecycle.rebuilding import rebuild
from recollect.streams.publishing.commands import command, publish_commands, random_id

SIZES = (30_000, 100_000)
#: The maximum seconds of an erasure at the largest size, by the number of erased events.
MAX_SECONDS = {1: 2.0, 100: 10.0}
#: The maximum cost of erasing one sender's events (1% of the smallest zone), as a share of a full
#: derivation.
MAX_SHARE_OF_DERIVATION = 0.1


class _Erased(NamedTuple):
    what: str
    events: int
    decided: int
    seconds: float


def run(homes: Homes, *, sizes: Sequence[int] = SIZES) -> Report:
    """Measure each size, with random vectors."""
    rows: list[list[str]] = []
    targets: list[Target] = []
    for size in sizes:
        filled = homes.filled(size, vectors=True)
        node = filled.open()
        try:
            erased = _erasures(node, filled)
            with stopwatch() as deriving:
                rebuild(node, ZONE, "derive")
        finally:
            node.close()
        for erasure in erased:
            rows.append(
                [
                    count(size),
                    erasure.what,
                    count(erasure.events),
                    count(erasure.decided),
                    f"{erasure.seconds:.2f}",
                    f"{erasure.seconds / deriving.seconds:.3f}",
                ]
            )
        rows.append([count(size), "deriving in full", "", "", f"{deriving.seconds:.1f}", "1"])
        if size == max(sizes):
            for erasure in erased[1:3]:
                most = MAX_SECONDS[erasure.events]
                targets.append(
                    Target(
                        f"{erasure.what} of {count(size)}, at most {most:g} s",
                        f"{erasure.seconds:.2f} s",
                        erasure.seconds <= most,
                    )
                )
        if size == min(sizes):
            share = erased[3].seconds / deriving.seconds
            targets.append(
                Target(
                    f"{erased[3].what} of {count(size)}, as a share of a full derivation",
                    f"{share:.3f}",
                    share < MAX_SHARE_OF_DERIVATION,
                )
            )
    return Report(
        "Forgetting",
        "Seconds from the command until everything is purged: for the first event that a process "
        "erases and for the next one; for a hundred events in one command; and for a hundredth of "
        "the zone, all from one sender. `decided again` is the number of other decisions that were "
        "made again, `of deriving` the time relative to `rebuild --level derive` of the remaining "
        "zone in the same run.",
        ["zone", "erased", "events", "decided again", "s", "of deriving"],
        rows,
        targets,
    )


def _erasures(node: Node, filled: Filled) -> list[_Erased]:
    draw = random.Random(7)
    ones = draw.sample(range(1, filled.count), 102)
    with node.open(ZONE, node.current(ZONE)) as files:
        numbers = files.events.connection.execute(
            "SELECT number FROM events WHERE sender_id = 'u7' ORDER BY number LIMIT ?",
            (filled.count // 100,),
        ).fetchall()
    by_sender = [number for (number,) in numbers if isinstance(number, int)]
    return [
        _erase(node, "the first event", ones[:1]),
        _erase(node, "one event", ones[1:2]),
        _erase(node, "a hundred events", ones[2:]),
        _erase(node, "one sender's events", by_sender),
    ]


def _erase(node: Node, what: str, numbers: Sequence[int]) -> _Erased:
    decided = 0
    decide = redeciding.Redecision._decide

    def counted(again: redeciding.Redecision, number: int) -> list[object]:
        nonlocal decided
        decided += 1
        return decide(again, number)  # type: ignore[return-value]

    redeciding.Redecision._decide = counted  # type: ignore[method-assign,assignment]
    try:
        with stopwatch() as watch:
            forget = Forget(source_id=random_id("forget"), targets=tuple(sorted(numbers)))
            publish_commands(node.ledger, ZONE, [command(forget, 1_700_000_000_000)])
            node.drive(ZONE)
    finally:
        redeciding.Redecision._decide = decide  # type: ignore[method-assign]
    return _Erased(what, len(numbers), decided, watch.seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.forget", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    sizes = tuple(int(size) for size in str(parser.parse_args(arguments).sizes).split(","))
    with Homes() as homes:
        print(markdown(run(homes, sizes=sizes)))


if __name__ == "__main__":
    main()
