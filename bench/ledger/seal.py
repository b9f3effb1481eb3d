"""The cost of encryption: the same records sealed and unencrypted, and each step alone.

python -m bench.ledger.seal [--events N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from bench.kit.homes import BATCH_SIZE, ZONE, Homes, batches
from bench.kit.made import Writer
from bench.kit.report import Report, count, markdown, stopwatch
from recollect.schemas.events import Draft
from recollect.schemas.ledger.records import (
    GENESIS,
    read_event,
    record_hash,
    unseal_event,
    write_event,
)
from recollect.schemas.ledger.seal import joint_key, new_key, seal, source_digest, unseal
from recollect.streams.ledger.embedded_ledger import EmbeddedKeys, EmbeddedLedger
from recollect.streams.records.chain_readers import EventReader

ROUNDS = 3
_TEXT = bytes(range(97, 122)) * 12  # 300 bytes
_CONTEXT = bytes(120)
_CALLS = 20_000


class NoKeys(EmbeddedKeys):
    """A key store that stores nothing and returns a key for every id, for unencrypted records."""

    def add(self, keys: object) -> None:
        """Store nothing."""

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        return dict.fromkeys(key_ids, b"")

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        """Destroy nothing."""


@contextmanager
def in_the_clear() -> Iterator[None]:
    """Make the codec write payloads unencrypted; for measurements in this process only."""
    with mock.patch.multiple(
        "recollect.schemas.ledger.records",
        seal=lambda key, text, context: text,
        unseal=lambda key, sealed, context: sealed,
    ):
        yield


def run(homes: Homes, *, events: int = 20_000) -> Report:
    """Measure the codec alone, the embedded ledger, and each primitive on 300 bytes."""
    drafts = list(Writer().drafts(events))
    sealed_s, clear_s = [], []
    ledger_s, clear_ledger_s = [], []
    # Alternating, so that other programs affect both measurements.
    for _ in range(ROUNDS):
        sealed_s.append(_codec(drafts))
        ledger_s.append(_ledger(homes.fresh(), drafts, clear=False))
        with in_the_clear():
            clear_s.append(_codec(drafts))
            clear_ledger_s.append(_ledger(homes.fresh(), drafts, clear=True))
    rows = []
    for what, with_, without in (
        ("codec: write and open", min(sealed_s), min(clear_s)),
        ("ledger: publish, read and open", min(ledger_s), min(clear_ledger_s)),
    ):
        per = 1e6 / events
        rows.append([f"{what}, AES-GCM", f"{with_ * per:.1f}", f"{with_ / without:.2f}"])
        rows.append([f"{what}, in the clear", f"{without * per:.1f}", "1"])
    rows += [[f"primitive: {what}", f"{_each(call):.2f}", ""] for what, call in _primitives()]
    return Report(
        "Sealing",
        f"Microseconds for each of {count(events)} events, and for one call of each primitive on "
        "300 bytes. `in the clear`: the same codec writes payloads unencrypted, and the ledger "
        "stores no keys.",
        ["what", "µs", "ratio to unencrypted"],
        rows,
    )


def _codec(drafts: Sequence[Draft]) -> float:
    with stopwatch() as watch:
        previous = GENESIS
        for number, draft in enumerate(drafts, 1):
            key_id, key = new_key()
            value = write_event(
                draft,
                zone=ZONE,
                number=number,
                previous=previous,
                ingested_at=draft.occurred_at,
                source=key_id,
                key_id=key_id,
                key=key,
            )
            previous = record_hash(value)
            envelope, record = read_event(value)
            unseal_event(envelope, record, key)
    return watch.seconds


def _ledger(directory: Path, drafts: Sequence[Draft], *, clear: bool) -> float:
    directory.mkdir(parents=True, exist_ok=True)
    ledger = EmbeddedLedger(directory, NoKeys if clear else EmbeddedKeys)
    try:
        with stopwatch() as watch:
            for some in batches(drafts, BATCH_SIZE):
                ledger.publish(ZONE, some)
            reader = EventReader(ledger, ZONE)
            opened = 0
            while events := reader.read(2_000):
                opened += sum(item.event is not None for item in events)
        assert opened == len(drafts)
        return watch.seconds
    finally:
        ledger.close()


def _primitives() -> list[tuple[str, Callable[[], object]]]:
    _, key = new_key()
    _, other = new_key()
    sealed = seal(key, _TEXT, _CONTEXT)
    return [
        ("a new key and its id", new_key),
        ("seal (AES-256-GCM)", lambda: seal(key, _TEXT, _CONTEXT)),
        ("unseal", lambda: unseal(key, sealed, _CONTEXT)),
        ("joint key of two sources (HKDF)", lambda: joint_key([key, other])),
        ("source digest (keyed BLAKE2b)", lambda: source_digest(key, ZONE, "chat", "m123456")),
        ("record hash (SHA-256)", lambda: record_hash(_TEXT)),
    ]


def _each(call: Callable[[], object]) -> float:
    """Return the microseconds of one call, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(_CALLS):
            call()
        best = min(best, time.perf_counter() - began)
    return best / _CALLS * 1e6


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.seal", description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    chosen = parser.parse_args(arguments)
    with Homes() as homes:
        print(markdown(run(homes, events=chosen.events)))


if __name__ == "__main__":
    main()
