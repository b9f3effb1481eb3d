"""Ingestion speed with and without an encoder, in comparison with the encoder alone.

python -m bench.ledger.ingest [--events N] [--embedded N]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.kit.encoders import MISSING, cached_encoder
from bench.kit.homes import Filled, Homes, Vectors, fill
from bench.kit.made import Writer
from bench.kit.report import Report, Target, count, markdown, stopwatch
from recollect.streams.encoder.encoder import Encoder, TokenVectors

MIN_SHARE = 0.8
ROUNDS = 2


class RecordingEncoder:
    """An encoder that records the texts, and passes them on to another encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.model = encoder.model
        self.dimension = encoder.dimension
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts.extend(texts)
        return self._encoder.encode(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._encoder.encode_query(text)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.texts.extend(texts)
        return self._encoder.encode_tokens(texts)

    def encode_query_tokens(self, text: str) -> TokenVectors:
        return self._encoder.encode_query_tokens(text)

    def count_tokens(self, text: str) -> int:
        return self._encoder.count_tokens(text)

    def close(self) -> None:
        """Leave the encoder open; whoever opened it closes it."""


def run(homes: Homes, *, events: int = 5_000, embedded: int = 800) -> Report:
    """Measure `events` without an encoder and `embedded` with one; the best of some rounds."""
    off = min((_fill_home(homes, events, None) for _ in range(ROUNDS)), key=_total)
    rows = [
        ["publish", count(events), _rate(events, off.publish_s), ""],
        ["project raw turns (searchable)", count(events), _rate(events, off.project_s), ""],
        ["decide, encoder off", count(events), _rate(events, off.drive_s), ""],
        ["all three, encoder off", count(events), _rate(events, _total(off)), ""],
    ]
    about = (
        "Events per second from the first append until everything is decided. The lower bound "
        "(`floor`) is the time that the encoder alone takes for the same distinct texts in one "
        "call."
    )
    columns = ["what", "events", "events/s", "of the floor"]
    title = "Ingest"
    encoder = cached_encoder()
    if encoder is None:
        return Report(title, about, columns, rows, skipped=f"live embedding: {MISSING}")
    live_s, floor_s = [], []
    try:
        # Alternating, so that other programs affect both measurements.
        for _ in range(ROUNDS):
            recorder = RecordingEncoder(encoder)
            live_s.append(_total(_fill_home(homes, embedded, recorder)))
            texts = list(dict.fromkeys(recorder.texts))
            with stopwatch() as watch:
                encoder.encode(texts)
            floor_s.append(watch.seconds)
    finally:
        encoder.close()
    share = min(floor_s) / min(live_s)
    rows += [
        [
            "all three, live embedding",
            count(embedded),
            _rate(embedded, min(live_s)),
            f"{share:.2f}",
        ],
        [
            f"floor: {encoder.model} on their {len(texts):,} texts",
            count(embedded),
            _rate(embedded, min(floor_s)),
            "1",
        ],
    ]
    target = Target(
        f"live embedding reaches {MIN_SHARE} of the encoder alone",
        f"{share:.2f}",
        share >= MIN_SHARE,
    )
    return Report(title, about, columns, rows, [target])


def _fill_home(homes: Homes, events: int, encoder: Encoder | None) -> Filled:
    return fill(homes.fresh(), Writer().drafts(events), encoder)


def _total(filled: Filled) -> float:
    return filled.publish_s + filled.project_s + filled.drive_s


def _rate(events: int, seconds: float) -> str:
    return count(events / seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.ingest", description=__doc__)
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--embedded", type=int, default=800, help="events with live embedding")
    chosen = parser.parse_args(arguments)
    with Homes() as homes:
        print(markdown(run(homes, events=chosen.events, embedded=chosen.embedded)))


if __name__ == "__main__":
    main()
