"""The time of `extract` per event: with models loaded once, and with models loaded per event.

python -m bench.ledger.extract [--events N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.kit.encoders import MISSING, cached_name
from bench.kit.homes import Homes
from bench.kit.made import Writer
from bench.kit.report import Report, Target, count, markdown, stopwatch
from recollect.home.home_directory import Home
from recollect.home.ledgers import gateway_of
from recollect.operations.writing.extracting import Extractor
from recollect.schemas.events import Draft
from recollect.streams.encoder.catalog import MINILM
from recollect.streams.encoder.gateway import EncoderGateway

#: The number of events, and the maximum ms per event with models loaded once.
EVENTS, MAX_MS = 100, 40


def run(homes: Homes, *, events: int = EVENTS) -> Report:
    """Measure `extract` over generated events in a home with recollect's own reader."""
    columns = ["what", "events", "s", "ms/event"]
    about = (
        "The time of `extract` for each event of a file, in a home with a reader. In the second "
        "row, the gateway to the models is opened again for each event, as an earlier version did."
    )
    if cached_name() != MINILM.name:
        return Report("Extract", about, columns, [], skipped=MISSING)
    home = _home(homes.fresh())
    drafts = list(Writer().drafts(events))
    # Gateways share a loaded model, so the measurement that keeps its gateway open comes last.
    anew = _seconds(drafts, lambda: gateway_of(home))
    kept = gateway_of(home)
    once = _seconds(drafts, lambda: kept)
    rows = [
        [what, count(events), f"{seconds:.2f}", f"{seconds / events * 1_000:.1f}"]
        for what, seconds in (("models loaded once", once), ("models loaded per event", anew))
    ]
    milliseconds = once / events * 1_000
    target = Target(
        f"an event takes at most {MAX_MS} ms", f"{milliseconds:.1f} ms", milliseconds <= MAX_MS
    )
    return Report("Extract", about, columns, rows, [target])


def _home(directory: Path) -> Home:
    home = Home.create_or_open(directory, encoder=MINILM.name)
    assert home.settings.reader is not None
    return home


def _seconds(drafts: Sequence[Draft], gateway: Callable[[], EncoderGateway]) -> float:
    """Return the time of extraction, with a gateway from this call for each event."""
    with Extractor("bench", gateway()) as extractor, stopwatch() as watch:
        for draft in drafts:
            extractor.gateway = gateway()
            extractor.extract(draft)
    return watch.seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=EVENTS)
    with Homes() as homes:
        print(markdown(run(homes, events=parser.parse_args(arguments).events)))


if __name__ == "__main__":
    main()
