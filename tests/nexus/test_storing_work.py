"""How much work storing memories takes: commits, locks and statements, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import MemoryInput, Recollect
from recollect.home.open_zone import OpenZone
from recollect.library.library_zone import Zone
from recollect.operations.ingestion import ingesting
from recollect.streams.deciding import decider

#: (name of the file, first word of the statement) -> how many were executed
Executed = Counter[tuple[str, str]]


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> Executed:
    """The statements of all connections that are opened from now on."""
    counts: Executed = Counter()

    def count(connection: apsw.Connection) -> None:
        file = Path(connection.filename).name

        def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
            counts[file, sql.split(maxsplit=1)[0]] += 1
            return True

        connection.exec_trace = note

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, count])
    return counts


@pytest.fixture
def zone(tmp_path: Path, executed: Executed) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        store(zone, "opened", 2)
        yield zone


def store(zone: Zone, word: str, count: int) -> None:
    zone.store_memories(
        [MemoryInput(content=f"The {word} lantern hangs by gate {n}.") for n in range(count)]
    )


def work(zone: Zone, executed: Executed, word: str, count: int) -> Executed:
    """Return the statements that storing some memories executes, without periodic archiving."""
    zone._zone.note_stored(0, 0)
    executed.clear()
    store(zone, word, count)
    return Counter(executed)


def test_a_batch_is_committed_at_once(zone: Zone, executed: Executed) -> None:
    one, many = (work(zone, executed, f"batch{count}", count) for count in (1, 40))
    files = {file for file, _ in one}
    assert {"ledger.db", "keys.db", "events.db", "memory.db", "identity.db"} <= files
    for file in files:
        assert many[file, "COMMIT"] == one[file, "COMMIT"], file
        assert many[file, "BEGIN"] == one[file, "BEGIN"], file


def test_a_single_memory_is_decided_in_one_round(zone: Zone, executed: Executed) -> None:
    """The decided files are locked twice: to see what others decided, and to decide."""
    one = work(zone, executed, "single", 1)
    assert [one[file, "BEGIN"] for file in ("memory.db", "identity.db", "embeddings.db")] == [2] * 3
    assert one["memory.db", "COMMIT"] == 1


def test_a_call_costs_less_than_two_memories(zone: Zone, executed: Executed) -> None:
    """What a call costs besides its memories: the difference of single calls and a batch."""
    single = sum(work(zone, executed, f"single{n}", 1).total() for n in range(10))
    batch = work(zone, executed, "batch", 10).total()
    call = (single - batch) / 9
    memory = batch / 10 - call / 10
    assert call < 2 * memory, (call, memory)


def test_the_consistency_token_of_a_batch_is_made_once(
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    token = ingesting.consistency_token

    def note(opened: OpenZone) -> str:
        made.append(opened)
        return token(opened)

    monkeypatch.setattr(ingesting, "consistency_token", note)
    receipts = zone.store_memories([MemoryInput(content=f"Gate {n} is shut.") for n in range(5)])
    assert len(made) == 1
    assert len({each.token for each in receipts}) == 1


def test_no_text_is_hashed_for_an_encoder_that_is_missing(
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(decider, "text_hash")
    store(zone, "plain", 1)
    assert [each.content for each in zone.query_memories(limit=1)] == [
        "The plain lantern hangs by gate 0."
    ]
