"""The workers' own files after a storm, and those of a home that was not there when it happened."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tests.kill.checks import Checks, Trace, word
from tests.storm.process import Recollect
from tests.storm.verification.truth import Truth, digest_of


def watermarks(home: Path) -> dict[str, int]:
    """Return how far each zone is decided in a home; zones that it does not keep are left out."""
    found = {}
    for current in sorted(home.glob("zones/*/CURRENT")):
        memory = current.parent / current.read_text().strip() / "memory.db"
        with closing(sqlite3.connect(f"file:{memory}?mode=ro", uri=True)) as connection:
            # Files that are just being made have no tables yet.
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            query = "SELECT number FROM watermark"
            row = connection.execute(query).fetchone() if "watermark" in tables else None
        found[current.parent.name] = row[0] if row else 0
    return found


def wait_for_homes(
    homes: Sequence[Path],
    read_ends: Callable[[], Mapping[str, int]],
    seconds: float,
    checks: Checks,
) -> None:
    """Wait until every home has decided or followed what it keeps, and every zone is kept.

    `read_ends` returns the number of the last event of each zone. It is asked again each time,
    since workers append the ticks of daily passes to zones that have been quiet for a while.
    """
    deadline = time.monotonic() + seconds
    while True:
        ends = read_ends()
        behind: dict[str, str] = {}
        kept: set[str] = set()
        for home in homes:
            marks = watermarks(home)
            kept |= marks.keys()
            behind |= {
                f"{home.name}, {zone}": f"{number} of {ends[zone]}"
                for zone, number in marks.items()
                if number != ends.get(zone)
            }
        lacking = ends.keys() - kept
        if not (behind or lacking) or time.monotonic() > deadline:
            break
        time.sleep(1)
    checks.same("homes: every worker is at the end of the zones that it keeps", behind, {})
    checks.same("homes: every zone is kept by some worker", set(lacking), set())


def compare_with_truth(homes: Iterable[Path], truth: Truth, checks: Checks) -> None:
    """Note which homes do not hold, of the zones that they keep, every event that was
    acknowledged and not forgotten, once, with what it said; and none that was forgotten."""
    wanted: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for (zone, platform, source), digest in truth.said.items():
        # The end of a turn says nothing, and is no row.
        if (zone, platform, source) not in truth.forgotten and digest != digest_of(""):
            wanted[zone][platform, source] = digest
    for home in homes:
        wrong = []
        for zone in watermarks(home):
            rows = _events(home, zone)
            names = Counter(name for name, _ in rows)
            wrong += [
                f"{zone} has {name} {count} times" for name, count in names.items() if count > 1
            ]
            wrong += [
                f"{zone} still has {name}" for name in names if (zone, *name) in truth.forgotten
            ]
            there = dict(rows)
            wrong += [
                f"{zone} {'has other words of' if name in there else 'lacks'} {name}"
                for name, digest in wanted[zone].items()
                if name not in there or digest_of(there[name]) != digest
            ]
        checks.note(
            f"homes: {home.name} has all that was acknowledged, once",
            f"{len(wrong)}, first {'; '.join(wrong[:4])}" if wrong else "",
        )


def _events(home: Path, zone: str) -> list[tuple[tuple[str, str], str]]:
    """Return ((platform, the source's id), content) of each event in the files of a zone."""
    directory = home / "zones" / zone
    file = directory / (directory / "CURRENT").read_text().strip() / "events.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT platform, source_id, content FROM events").fetchall()
    return [((platform, source), content) for platform, source, content in rows]


def look_for(tokens: Iterable[str], homes: Sequence[Path], checks: Checks) -> None:
    """Note which files still hold a word of what was forgotten."""
    for home in homes:
        places = [
            f"{place} holds {token}"
            for token in tokens
            for place in Trace("", word(token)).places(home)
            if not place.endswith(".log")
        ]
        checks.note(f"homes: {home.name} holds no forgotten word", "; ".join(places[:4]))


def compare(homes: Sequence[Recollect], zones: Sequence[str], checks: Checks) -> None:
    """Note what `verify` says of zones in each home, and whether all homes have the same."""
    for zone in zones:
        hashes: dict[str, dict[str, str]] = {}
        for recollect in homes:
            ended = recollect.run(["verify", "--zone", zone, "--json"])
            try:
                answer = ended.json()
            except ValueError:
                answer = {"ok": False, "problems": ended.errors, "models": []}
            wrong = "" if answer["ok"] and ended.status == 0 else answer["problems"]
            checks.note(f"homes: {recollect.home.name} verifies {zone}", wrong)
            hashes[recollect.home.name] = {
                model["model"]: model["hash"] for model in answer["models"]
            }
        first = next(iter(hashes.values()))
        differing = [name for name, found in hashes.items() if found != first]
        checks.note(f"homes: {zone} is the same in every home", ", ".join(differing))
