"""Adapters: events per second in comparison with the bare parser, and constant memory use.

python -m bench.ledger.adapters [--megabytes N] [--only NAME,NAME]

Each export is made in two sizes, one ten times the other, and each is read by a process of its own,
whose peak memory is measured. The bare parser reads the same bytes and discards the result.
"""

from __future__ import annotations

import argparse
import email
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import ijson
import msgspec

from bench.kit.made import Writer
from bench.kit.report import Report, Target, count, markdown
from recollect.schemas.events import Draft
from recollect.streams.adapters import Options, drafts, exports_of, open_input

MEGABYTES = 100
MAX_GROWTH_MB = 32.0
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
_A_DAY = 4_000


class _Form(NamedTuple):
    """How to make an export of a format, and how to read its bytes with only a parser."""

    make: Callable[[Path, int], Path]
    bare: Callable[[Path], int]


class _Measured(msgspec.Struct):
    """The result of one process: events, seconds with and without the adapter, peak MB."""

    events: int
    seconds: float
    bare: float
    peak_mb: float


def _messages() -> Iterator[tuple[int, datetime, str, str]]:
    """Yield (number, time, sender, text) without end."""
    writer, number = Writer(1), 0
    while True:
        yield (
            number,
            _BEGIN + timedelta(seconds=20 * number),
            f"Person {number % 50}",
            writer.text(),
        )
        number += 1


def _slack(directory: Path, size: int) -> Path:
    folder = directory / "slack"
    (folder / "general").mkdir(parents=True)
    people = [{"id": f"U{n}", "profile": {"real_name": f"Person {n}"}} for n in range(50)]
    (folder / "users.json").write_text(json.dumps(people))
    (folder / "channels.json").write_text('[{"id": "C1", "name": "general"}]')
    written, day, messages = 0, 0, _messages()
    while written < size:
        file = folder / "general" / f"{_BEGIN.date() + timedelta(days=day)}.json"
        exported = [
            {
                "type": "message",
                "user": f"U{number % 50}",
                "ts": f"{at.timestamp():.0f}.{number % 1_000_000:06}",
                "text": text,
                "team": "T1",
                "blocks": [{"type": "rich_text", "elements": [{"type": "text", "text": text}]}],
            }
            for number, at, _, text in (next(messages) for _ in range(_A_DAY))
        ]
        written += file.write_text(json.dumps(exported, indent=1))
        day += 1
    return folder


def _slack_bare(folder: Path) -> int:
    found = 0
    for path in sorted((folder / "general").glob("*.json")):
        with path.open("rb") as file:
            found += sum(1 for _ in ijson.items(file, "item", use_float=True))
    return found


def _whatsapp(directory: Path, size: int) -> Path:
    path = directory / "WhatsApp Chat with Trip.txt"
    with path.open("w") as file:
        written = 0
        for _, at, who, text in _messages():
            written += file.write(f"{at:%d/%m/%Y, %H:%M} - {who}: {text}\n")
            if written >= size:
                break
    return path


def _lines_bare(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return sum(1 for _ in file)


def _mbox(directory: Path, size: int) -> Path:
    path = directory / "All mail.mbox"
    with path.open("w") as file:
        written = 0
        for number, at, who, text in _messages():
            address = f"{who.lower().replace(' ', '.')}@example.org"
            written += file.write(
                f"From {address} {at:%a %b %d %H:%M:%S %Y}\n"
                f"Message-ID: <m{number}@example.org>\nDate: {at:%a, %d %b %Y %H:%M:%S +0000}\n"
                f"From: {who} <{address}>\nTo: list@example.org\nSubject: {text[:40]}\n"
                f"Content-Type: text/plain; charset=utf-8\n\n{text}\n\n-- \n{who}\n\n"
            )
            if written >= size:
                break
    return path


def _mbox_bare(path: Path) -> int:
    found = 0
    with path.open("rb") as file:
        message: list[bytes] = []
        for line in file:
            if line.startswith(b"From ") and message:
                found += email.message_from_bytes(b"".join(message)) is not None
                message = []
            message.append(line)
    return found + 1


def _jsonl(directory: Path, size: int) -> Path:
    path = directory / "events.jsonl"
    with path.open("w") as file:
        written = 0
        for number, at, who, text in _messages():
            event = {
                "platform": "chat",
                "id": f"m{number}",
                "sender_id": who,
                "occurred_at": at.isoformat(),
                "content": text,
            }
            written += file.write(json.dumps(event) + "\n")
            if written >= size:
                break
    return path


def _jsonl_bare(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if msgspec.json.decode(line))


FORMS = {
    "slack": _Form(_slack, _slack_bare),
    "whatsapp": _Form(_whatsapp, _lines_bare),
    "mbox": _Form(_mbox, _mbox_bare),
    "jsonl": _Form(_jsonl, _jsonl_bare),
}


def run(*, megabytes: int = MEGABYTES, only: tuple[str, ...] = tuple(FORMS)) -> Report:
    """Make exports, and read each in a process of its own."""
    rows, targets = [], []
    with tempfile.TemporaryDirectory() as directory:
        for name in only:
            small = _read(name, Path(directory), megabytes * 100_000)
            large = _read(name, Path(directory), megabytes * 1_000_000)
            rows.append(
                [
                    name,
                    count(large.events),
                    f"{large.events / large.seconds:,.0f}",
                    f"{large.events / large.bare:,.0f}",
                    f"{small.peak_mb:.0f}",
                    f"{large.peak_mb:.0f}",
                ]
            )
            growth = large.peak_mb - small.peak_mb
            targets.append(
                Target(
                    f"{name}: an export ten times the size needs at most "
                    f"{MAX_GROWTH_MB:.0f} MB more",
                    f"{growth:.0f} MB",
                    growth <= MAX_GROWTH_MB,
                )
            )
    return Report(
        "Adapters",
        f"Exports of {megabytes / 10:.0f} and {megabytes} MB, read to drafts that are ready to be "
        "published. The bare parser reads the larger export and discards the result.",
        ["format", "events", "events/s", "bare parser, events/s", "peak, MB", "peak of all, MB"],
        rows,
        targets,
    )


def _read(name: str, directory: Path, size: int) -> _Measured:
    """Make an export, and read it in a process of its own."""
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        path = FORMS[name].make(Path(scratch), size)
        done = subprocess.run(
            [sys.executable, "-m", "bench.ledger.adapters", "--one", name, str(path)],
            capture_output=True,
            check=True,
        )
    return msgspec.json.decode(done.stdout, type=_Measured)


def _measure(name: str, path: Path) -> _Measured:
    """Read an export with its adapter, then with the parser alone."""
    began = time.perf_counter()
    opened = open_input(path, options=Options.of("UTC", "dmy"))
    events = sum(
        isinstance(item, Draft)
        for export in exports_of([opened])
        for _, item in drafts(export.source)
    )
    seconds = time.perf_counter() - began
    peak = _peak_mb()
    began = time.perf_counter()
    FORMS[name].bare(path)
    bare = time.perf_counter() - began
    return _Measured(events, seconds, bare, peak)


def _peak_mb() -> float:
    """Return the peak memory of this process, not counting the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        if found:
            return int(found[1]) / 1_024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << (20 if sys.platform == "darwin" else 10))


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.adapters", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help="size of each export")
    parser.add_argument("--only", help="comma-separated names of formats")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, path = given.one
        sys.stdout.buffer.write(msgspec.json.encode(_measure(name, Path(path))))
        return
    only = tuple(given.only.split(",")) if given.only else tuple(FORMS)
    print(markdown(run(megabytes=given.megabytes, only=only)))


if __name__ == "__main__":
    main()
