"""Makes a home as this build leaves it: every later build must open it, verify it, rebuild it.

    python -m tests.data.golden.home home-2026-11-22

writes home-2026-11-22.tar.gz. What is written once is never written again.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.recall.kit import DAY, HOUR, START, EncodedHome, say, tell

HERE = Path(__file__).parent


def fill(directory: Path) -> None:
    """Make a home whose zone has said, remembered, superseded, merged and forgotten something."""
    Home.create_or_open(directory, without_encoder=True)
    with Memory(EncodedHome(directory)) as memory:
        tell(
            memory,
            [
                say("I live in Rome.", "rome"),
                say("I own a puppy called Rex.", "rex", at=START + HOUR),
                say("The oak fell. Therefore the road is closed.", "oak", by="Bob", at=START + DAY),
                say("I live in Oslo now.", "oslo", at=START + 2 * DAY),
                say("My bicycle is blue.", "turn", turn_id="T", at=START + 3 * DAY),
                say("The door code is nine.", "gone", at=START + 3 * DAY),
            ],
        )
        memory.remember("Grace Hopper prefers tea.")
        memory.forget("gone")
        memory.rebuild("project")


def main(name: str) -> None:
    """Write the home, packed; refuse to write over one."""
    path = HERE / f"{name}.tar.gz"
    if path.exists():
        sys.exit(f"{path} is there; golden homes are never written again")
    with TemporaryDirectory() as room:
        fill(Path(room) / "home")
        with tarfile.open(path, "w:gz") as packed:
            packed.add(Path(room) / "home", "home")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.data.golden.home NAME")
    main(sys.argv[1])
