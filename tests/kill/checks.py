"""Looking at a home from outside: with SQLite and the bytes, not with the code under test."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kill.commands import Recollect, Wrong
from tests.kill.world import Forgotten, World


@dataclass
class Checks:
    """What was looked at: (what, what is wrong; "" where nothing is)."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def note(self, what: str, wrong: object = "") -> None:
        self.found.append((what, str(wrong)))

    def same(self, what: str, found: Any, expected: Any) -> None:
        """Note whether two things are the same; of maps, where they differ."""
        if found == expected:
            self.note(what)
        elif isinstance(found, dict) and isinstance(expected, dict):
            differing = [
                f"{key!r}: {found.get(key)!r} instead of {expected.get(key)!r}"
                for key in sorted(found.keys() | expected.keys(), key=repr)
                if found.get(key) != expected.get(key)
            ]
            self.note(what, f"{len(differing)} differ, first {'; '.join(differing[:3])}")
        else:
            self.note(what, f"{found!r} instead of {expected!r}")

    @property
    def passed(self) -> int:
        return sum(not wrong for _, wrong in self.found)

    @property
    def failed(self) -> list[tuple[str, str]]:
        return [(what, wrong) for what, wrong in self.found if wrong]


@dataclass(frozen=True)
class Contents:
    """What stands in a home's files, read with plain SQL.

    A switch of chain is no part of it: records are numbered as if there were none.
    """

    events: Counter[tuple[str, str]]
    #: (platform, source id) -> event id
    ids: dict[tuple[str, str], str]
    facts: dict[tuple[str, str], list[str]]
    processed: set[tuple[str, str]]
    numbers: list[int]
    length: int
    sources: int
    live_keys: set[bytes]
    seals: dict[int, bytes]


def contents(home: Path, zone: str = "default") -> Contents:
    """Read a home that no process holds open."""
    directory = home / "zones" / zone
    current = directory / (directory / "CURRENT").read_text().strip()
    rows = _rows(
        current / "events.db", "SELECT number, id, platform, source_id, content FROM events"
    )
    names = {
        event: (platform, "content:" + said if source.startswith("content-") else source)
        for _, event, platform, source, said in rows
    }
    facts: dict[tuple[str, str], list[str]] = {}
    for event, text in _rows(current / "memory.db", "SELECT source_event_id, text FROM facts"):
        facts.setdefault(names.get(event, ("no event", event)), []).append(text)
    processed = _rows(current / "memory.db", "SELECT event_id FROM memory_processing_log")
    ledger = home / "ledger.db"
    switches = {int(row[0]) for row in _rows(current / "events.db", "SELECT number FROM switches")}

    def number(counted: int) -> int:
        return counted - len([switch for switch in switches if switch < counted])

    return Contents(
        events=Counter(names.values()),
        ids={name: event for event, name in names.items()},
        facts={event: sorted(texts) for event, texts in facts.items()},
        processed={names[event] for (event,) in processed if event in names},
        numbers=[number(row[0]) for row in rows],
        length=int(_rows(ledger, "SELECT count(*) FROM events")[0][0]) - len(switches),
        sources=_rows(ledger, "SELECT count(DISTINCT source) FROM sources")[0][0] - len(switches),
        live_keys={key for (key,) in _rows(home / "keys.db", "SELECT key_id FROM keys")},
        seals={
            number(counted): key
            for counted, key in _rows(current / "events.db", "SELECT number, key_id FROM seals")
            if counted not in switches
        },
    )


@dataclass(frozen=True)
class Trace:
    """Bytes by which something that was forgotten would be found again."""

    what: str
    raw: bytes

    def places(self, home: Path) -> Iterator[str]:
        """Yield the files of a home that hold them, in upper or lower case."""
        for path in sorted(home.rglob("*")):
            if path.is_file():
                raw = path.read_bytes()
                if self.raw in raw or self.raw.lower() in raw.lower():
                    yield str(path.relative_to(home))


def word(token: str) -> bytes:
    """Return what an index holds of a word at least: not what the term before begins with too."""
    return token.encode()[3:]


def traces_of(gone: Forgotten, home: Path, zone: str = "default") -> list[Trace]:
    """Return the traces of an event that a home still holds: its word, and its vector if any."""
    directory = home / "zones" / zone
    current = directory / (directory / "CURRENT").read_text().strip()
    event = contents(home, zone).ids[gone.platform, gone.source_id]
    vectors = _rows(
        current / "embeddings.db",
        f"SELECT embedding FROM embeddings WHERE target_type = 'event' AND target_id = '{event}'",
    )
    of_vectors = [Trace(f"no trace of the vector of {gone.source_id}", v[:64]) for (v,) in vectors]
    return [Trace(f"no trace of the word {gone.token}", word(gone.token)), *of_vectors]


def check_home(
    recollect: Recollect,
    world: World,
    reference: Contents,
    hashes: dict[str, str],
    traces: list[Trace],
    checks: Checks,
    title: str,
) -> None:
    """Compare a home with the undisturbed one, with the truth, and with its own ledger."""
    found = contents(recollect.home)
    expected = world.events_left()
    checks.same(f"{title}: every event is there exactly once", dict(found.events), dict(expected))
    checks.same(f"{title}: facts per event", found.facts, reference.facts)
    erased = {(gone.platform, gone.source_id) for gone in world.forgotten}
    unprocessed = world.outside_turns - erased - found.processed
    checks.same(f"{title}: every event was processed", unprocessed, set())
    checks.same(f"{title}: the ledger has each source once", found.sources, found.length)
    checks.same(f"{title}: the ledger is as long", found.length, reference.length)
    left = set(found.numbers)
    live = {number for number, key in found.seals.items() if key in found.live_keys}
    checks.same(f"{title}: keys of all that is left are kept", left - live, set())
    gone = set(reference.seals) - {
        number for number, key in reference.seals.items() if key in reference.live_keys
    }
    checks.same(f"{title}: the same keys are destroyed", set(found.seals) - live, gone)
    verified = _verified(recollect, checks, title)
    checks.same(f"{title}: hashes are those of the undisturbed home", verified, hashes)
    status = recollect.ask("status")
    checks.same(f"{title}: nothing is parked", status["dead_letters"], 0)
    checks.same(f"{title}: nothing is left to decide", status["lag"], 0)
    for trace in traces:
        checks.note(f"{title}: {trace.what}", ", ".join(trace.places(recollect.home)))
    if not list(Trace("", word(world.kept_token)).places(recollect.home)):
        checks.note(f"{title}: the scan finds what stays", "it does not")


def _verified(recollect: Recollect, checks: Checks, title: str) -> dict[str, str]:
    """Note what `verify` says; return each model's hash."""
    ended = recollect.run(["verify", "--json"])
    try:
        answer = ended.json()
    except ValueError:
        raise Wrong(f"verify ended with {ended.status}: {ended.errors}") from None
    ok = ended.status == 0 and answer["ok"]
    checks.note(f"{title}: verify", "" if ok else answer["problems"])
    return {model["model"]: model["hash"] for model in answer["models"]}


def _rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()
