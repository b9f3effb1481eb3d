"""One of several processes: `python -m tests.protocol.processes.worker FILES LEDGER UPTO`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.protocol.kit import Home


def work(files: Path, ledger: Path, upto: int) -> None:
    """Drive until record `upto` is decided."""
    home = Home(files, ledger=ledger)
    try:
        while True:
            home.drive()
            with home.files() as opened:
                if min(model.watermark().number for model in opened.all) >= upto:
                    return
            home.ledger.wait({}, 0.01)
    finally:
        home.close()


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
