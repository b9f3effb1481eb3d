"""Disk space of a home by file: for short chat turns, and for long texts full of facts.

python -m bench.ledger.disk [--data FILE] [--texts DIR]

Neither data set is part of this repository; a part without data is not measured. Both are ingested
by the command line with an encoder, and then the home's files are measured.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bench.kit.encoders import MISSING, cached_encoder
from bench.kit.report import Report, Target, count, markdown
from bench.recall.locomo import DATA, Command, ingest

TEXTS = DATA.parent / "mind" / "realmem"

#: The maximum bytes per turn of a home: 50 MB for 5,882 turns of LoCoMo, 350 MB for 5,732 long
#: texts.
MAX_CHAT_BYTES = 50_000_000 // 5_882
MAX_TEXT_BYTES = 350_000_000 // 5_732

_LONG = 900
_MAX_TEXTS = 150
_INDEX = "recall's index"
_REST = "the rest"
_FILES = ("ledger.db", "keys.db", "events.db", "memory.db", "identity.db", "embeddings.db")


class DiskUsage(NamedTuple):
    """The bytes of each file over all zones, and the number of turns and characters in them."""

    turns: int
    characters: int
    bytes: Counter[str]

    @property
    def per_turn(self) -> int:
        return self.bytes.total() // self.turns


def run(data: Path = DATA, texts: Path = TEXTS) -> Report:
    """Measure both parts, if their data is available."""
    title = "Disk"
    about = (
        "Disk space of a home after ingestion, by file, summed over its zones: for the three "
        "conversations of LoCoMo's dev set, and for texts of at least "
        f"{_LONG} characters from an assistant's chats, ingested as if a person had written them, "
        "so that most sentences become facts."
    )
    columns = ["what", "file", "MB", "bytes a turn", "share"]
    encoder = cached_encoder()
    if encoder is None:
        return Report(title, about, columns, [], skipped=MISSING)
    encoder.close()
    measured: list[tuple[str, DiskUsage, int]] = []
    if data.is_file():
        measured.append(("chat", _chat(data), MAX_CHAT_BYTES))
    if texts.is_dir():
        measured.append(("long texts", _texts(texts), MAX_TEXT_BYTES))
    if not measured:
        return Report(
            title, about, columns, [], skipped=f"{data.name} and {texts.name} do not exist"
        )
    rows = []
    for name, usage, _ in measured:
        for file, size in usage.bytes.most_common():
            share = f"{100 * size / usage.bytes.total():.0f}%"
            rows.append([name, file, f"{size / 1e6:.2f}", count(size / usage.turns), share])
        mean = f"all, {usage.turns:,} turns of {usage.characters // usage.turns:,} characters"
        rows.append([name, mean, f"{usage.bytes.total() / 1e6:.2f}", count(usage.per_turn), ""])
    targets = [
        Target(
            f"{name}: at most {most:,} bytes a turn", f"{usage.per_turn:,}", usage.per_turn <= most
        )
        for name, usage, most in measured
    ]
    return Report(title, about, columns, rows, targets)


def _chat(data: Path) -> DiskUsage:
    samples = json.loads(data.read_text("utf-8"))
    texts = [
        turn["text"]
        for sample in samples
        for key, session in sample["conversation"].items()
        if key.startswith("session_") and isinstance(session, list)
        for turn in session
    ]
    with tempfile.TemporaryDirectory(prefix="recollect-disk-") as scratch:
        command = Command(Path(scratch) / "home")
        command.run("init")
        for sample in samples:
            ingest(command, sample, Path(scratch))
        return DiskUsage(len(texts), sum(map(len, texts)), file_sizes(Path(scratch) / "home"))


def _texts(texts: Path) -> DiskUsage:
    events = list(islice(_long_answers(texts), _MAX_TEXTS))
    with tempfile.TemporaryDirectory(prefix="recollect-disk-") as scratch:
        command = Command(Path(scratch) / "home")
        command.run("init")
        path = Path(scratch) / "texts.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
        command.run("ingest", str(path), "--json")
        characters = sum(len(event["content"]) for event in events)
        return DiskUsage(len(events), characters, file_sizes(Path(scratch) / "home"))


def _long_answers(texts: Path) -> Iterator[dict[str, str]]:
    """Yield long answers of an assistant as if the user had written them."""
    for path in sorted(texts.glob("*.jsonl")):
        for line in path.read_text("utf-8").split("\n"):
            event = json.loads(line)["event"] if line else {}
            if event.get("direction") == "out" and len(event["content"]) > _LONG:
                yield event | {"direction": "in", "sender_id": "user", "sender_name": "Ada"}


def file_sizes(home: Path) -> Counter[str]:
    """Return the bytes of each kind of file in a home."""
    taken: Counter[str] = Counter()
    for path in home.rglob("*"):
        if path.is_file():
            name = path.name.removesuffix("-wal").removesuffix("-shm")
            taken[_INDEX if name.startswith("recall.") else name if name in _FILES else _REST] += (
                path.stat().st_size
            )
    return taken


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.disk", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, default=DATA, help="conversations in LoCoMo's format")
    parser.add_argument("--texts", type=Path, default=TEXTS, help="JSON lines with an event each")
    chosen = parser.parse_args(arguments)
    print(markdown(run(chosen.data, chosen.texts)))


if __name__ == "__main__":
    main()
