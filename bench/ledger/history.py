"""Import of a long history by the command line, without an encoder: speed, peak memory, disk.

python -m bench.ledger.history [--events N]
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.kit.made import Writer
from bench.kit.report import Report, count, markdown
from bench.ledger.disk import file_sizes
from bench.recall.locomo import Command
from recollect.schemas.events import Message

EVENTS = 100_000
PLATFORMS = ("imessage", "slack", "email", "whatsapp")
#: `ru_maxrss` is in kilobytes on Linux and in bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1_024


def write_history(path: Path, events: int) -> None:
    """Write a history of several platforms as JSON Lines, in order of time."""
    with path.open("w", encoding="utf-8") as file:
        for number, draft in enumerate(Writer().drafts(events)):
            payload = draft.payload
            assert isinstance(payload, Message)
            event = {
                "platform": PLATFORMS[number % len(PLATFORMS)],
                "id": payload.source_id,
                "sender_id": payload.sender_id,
                "sender_name": payload.sender_name,
                "peer_id": payload.peer_id,
                "occurred_at": draft.occurred_at,
                "content": payload.content,
            }
            file.write(json.dumps(event) + "\n")


def run(*, events: int = EVENTS) -> Report:
    """Import `events` generated events into a new home."""
    with tempfile.TemporaryDirectory(prefix="recollect-history-") as scratch:
        path, home = Path(scratch) / "history.jsonl", Path(scratch) / "home"
        write_history(path, events)
        command = Command(home)
        command.run("init", "--encoder", "none")
        report = json.loads(command.run("ingest", str(path), "--historical", "--json"))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _RSS_UNIT
        sizes = file_sizes(home)
        given = path.stat().st_size
    seconds = report["seconds"]
    rows = [
        ["events/s, published and decided", count(report["new"] / seconds)],
        ["seconds", f"{seconds:.1f}"],
        ["peak memory, MB", f"{peak / 1e6:.0f}"],
        ["disk, bytes an event", count(sizes.total() / events)],
        ["the export, bytes an event", count(given / events)],
        *([f"{name}, bytes an event", count(size / events)] for name, size in sizes.most_common()),
    ]
    return Report(
        "Import of a history",
        f"{events:,} generated events of {len(PLATFORMS)} platforms, imported by `ingest "
        "--historical` into an embedded home without an encoder. Publishing, deciding by the "
        "rules and projecting are included.",
        ["what", "value"],
        rows,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.history", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--events", type=int, default=EVENTS)
    print(markdown(run(events=parser.parse_args(arguments).events)))


if __name__ == "__main__":
    main()
