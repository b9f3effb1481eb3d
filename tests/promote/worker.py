"""A promotion that is killed: `python -m tests.promote.worker HOME URL WHERE`.

WHERE is a share of the copy, such as 0.5, or a step after it by name.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.home.home_directory import Home
from recollect.operations.upkeep.promoting import promote
from recollect.streams.ledger.embedded_ledger import EmbeddedKeys
from recollect.streams.lifecycle import promotion
from tests.promote import kit

#: Before or after which call it is killed, by the name of the step.
STEPS: dict[str, tuple[Any, str, bool]] = {
    "before the move": (promotion.EmbeddedFiles, "mark_moved", False),
    "after the move": (promotion.EmbeddedFiles, "mark_moved", True),
    "chains announced": (promotion, "publish_active_chains", True),
    "noted": (Home, "record_promotion", True),
    "some keys destroyed": (EmbeddedKeys, "destroy", True),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(call: Callable[..., Any], after: bool) -> Callable[..., Any]:
    """Return a call that kills the process, before or after it does what it should."""

    def called(*arguments: Any) -> None:
        if after:
            call(*arguments)
        die()

    return called


def main(path: Path, url: str, where: str) -> None:
    Home.load_encoder = kit.tiny  # type: ignore[assignment, method-assign]
    promotion.BATCH_SIZE = 10
    share = 2.0
    if where in STEPS:
        owner, name, after = STEPS[where]
        setattr(owner, name, dying(getattr(owner, name), after))
    else:
        share = float(where)

    @contextmanager
    def show(steps: int) -> Iterator[Callable[[int], None]]:
        done = 0

        def progress(count: int) -> None:
            nonlocal done
            done += count
            if done >= share * steps:
                die()

        yield progress

    promote(Home(path), url, show)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
