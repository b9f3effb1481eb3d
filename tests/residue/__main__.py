"""Forget many events, and look for them in the bytes of every file, before and after all else.

python -m tests.residue                              100 erasures of 5,000 events, on one machine
python -m tests.residue --events 300 --erasures 10   a smaller one
python -m tests.residue --kafka                      on a real broker, whose disk is read as well
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.residue import embedded, kafka
from tests.residue.steps import Residue
from tests.residue.world import make_world

#: What this cannot show, whatever it finds.
BEYOND = """\
Not looked at, since no file of the home holds it: blocks that the file system has freed, memory and
swap, copies that were made before (backups, snapshots). Sealed payloads stay in the ledger, and are
unreadable because their keys, which are looked for, are gone; so do a keyed hash of each source's
id, by which what was forgotten is known again, and the times and the platform of its envelope."""

_MAX_REPORTED = 20


def table(residue: Residue) -> str:
    """Return what was looked for, and what of it is left."""
    left = {place.trace for _, place in residue.left}
    lines = [f"{'what':28}{'traces':>8}{'there before':>14}{'left':>8}"]
    for kind, count in sorted(residue.looked_for.items()):
        remaining = sum(trace.kind == kind for trace in left)
        lines.append(f"{kind:28}{count:8}{residue.there[kind]:14}{remaining:8}")
    lines.append(f"{residue.bytes_read / 1e6:,.0f} MB were read")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scan; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.residue", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--erasures", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kafka", action="store_true", help="on a real broker")
    chosen = parser.parse_args(arguments)
    began = time.monotonic()
    world = make_world(chosen.events, chosen.erasures, chosen.seed)
    with tempfile.TemporaryDirectory(prefix="recollect-residue-") as room:
        scan = kafka.run if chosen.kafka else embedded.run
        residue = scan(Path(room), world, print)
    print(f"\n{table(residue)}\n\n{BEYOND}\n")
    for step, place in residue.left[:_MAX_REPORTED]:
        print(f"FAILED  {step}: {place.trace.kind} at {place.offset} of {place.file}")
    for wrong in residue.wrong:
        print(f"FAILED  {wrong}")
    found = len(residue.left) + len(residue.wrong)
    print(f"{time.monotonic() - began:.0f} s; {found} found")
    return 0 if residue.clean else 1


if __name__ == "__main__":
    sys.exit(main())
