"""Another process at work on a home: it writes, asks, and rebuilds. Run as a script."""

from __future__ import annotations

import sys
from pathlib import Path

from recollect import Recollect
from recollect.schemas.errors import Busy
from tests.library.kit import said
from tests.recall.kit import EncodedHome


def main(home: Path, count: int) -> None:
    """Ingest events with words of their own, and see that each can be recalled at once."""
    with Recollect(EncodedHome(home)) as r:
        ada = r.zone("ada")
        for number in range(count):
            word = f"other{number}zy"
            ada.ingest(said(word, f"In my other house {word} stands on a shelf.", by="Bob"))
            (best, *_) = ada.recall(word, scope=("events",)).results
            assert best.source_event_ids == [word], best
            if number % 10 == 5:
                try:
                    ada.rebuild("project")
                except Busy:
                    print("another rebuilds", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
