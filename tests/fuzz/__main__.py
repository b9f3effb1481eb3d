"""Fuzz every place that reads, for a while: each in turn, with new cases every round.

python -m tests.fuzz                   two minutes
python -m tests.fuzz --seconds 3600    longer
python -m tests.fuzz --seed 5          other cases
python -m tests.fuzz --only codec      one place alone
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

from tests.fuzz.targets import TARGETS
from tests.protocol.kit import in_memory

# So many that a round of one place takes a second or a few.
_EXAMPLES = {"codec": 1_000, "library": 100}
_OTHER_EXAMPLES = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--only", choices=[target.name for target in TARGETS])
    given = parser.parse_args()
    targets = [target for target in TARGETS if given.only in (None, target.name)]
    print(f"seed {given.seed}", flush=True)
    ends = time.monotonic() + given.seconds
    tried: Counter[str] = Counter()
    failed: set[str] = set()
    seed = given.seed
    with in_memory() as room:
        while time.monotonic() < ends and len(failed) < len(targets):
            for target in targets:
                if time.monotonic() > ends or target.name in failed:
                    continue
                examples = _EXAMPLES.get(target.name, _OTHER_EXAMPLES)
                try:
                    target.fuzz(room, examples, seed)
                except Exception:
                    failed.add(target.name)
                    print(f"{target.name} with seed {seed}:", file=sys.stderr)
                    traceback.print_exc()
                tried[target.name] += examples
            seed += 1
    for target in targets:
        verdict = "FAILED" if target.name in failed else "held"
        print(f"{target.name:12} {tried[target.name]:8} cases  {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
