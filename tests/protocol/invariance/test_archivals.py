"""Tiers come out the same however the zone is driven, and whatever was forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from recollect.projections.memory.listing.tier_list import main_context, tier_counts
from recollect.schemas.events import (
    AnyPayload,
    ArchiveMemories,
    Draft,
    MemoryState,
    RecallCount,
    RecallsCounted,
    Remember,
    SetMemoryState,
)
from recollect.schemas.ids import event_id
from recollect.streams.lifecycle.verifying import verify
from tests.protocol.kit import MINUTE, START, ZONE, Home, agree, command, forget, live, tell_dying
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

#: Rows without the numbers of records, which differ between ledgers.
KEPT = {
    "memory_archivals": "memory_id, is_archived, cause, at",
    "memory_versions": "id, version, superseded_by_id, state",
}


def story(seed: int, length: int = 30) -> list[Draft]:
    """Return a history of memories that are stored, replaced, read, archived and restored."""
    draw = random.Random(seed)
    drafts: list[Draft] = []
    ids: list[str] = []

    def add(payload: AnyPayload) -> str:
        draft = command(payload, START + len(drafts) * MINUTE)
        drafts.append(draft)
        return event_id(ZONE, draft.platform, payload.source_id, draft.occurred_at)

    for n in range(length):
        name = f"c{n}"
        some = tuple(draw.sample(ids, min(len(ids), draw.randint(1, 3)))) or ("none",)
        kind = draw.choice(("store", "store", "replace", "read", "archive", "archive", "state"))
        if kind in ("store", "replace"):
            key = draw.choice("abc") if kind == "replace" else None
            ids.append(
                add(
                    Remember(
                        source_id=name,
                        sender_id="user",
                        content=f"The zumi number {n} is hot.",
                        namespace="/n" if key else draw.choice((None, "recall/x", "archival/y")),
                        path_key=key,
                    )
                )
            )
        elif kind == "read":
            add(
                RecallsCounted(
                    source_id=name, accesses=tuple(RecallCount("memory", id_, 1) for id_ in some)
                )
            )
        elif kind == "archive":
            add(
                ArchiveMemories(
                    source_id=name,
                    memory_ids=some,
                    cause=draw.choice(("age", "expiry", "request")),
                    restore=draw.random() < 0.4,
                )
            )
        else:
            states: tuple[MemoryState, ...] = ("active", "active", "inactive", "deleted")
            add(SetMemoryState(source_id=name, memory_ids=some, state=draw.choice(states)))
    return drafts


def tiers(home: Home) -> Sequence[object]:
    """Return the main context in order, and the sizes of all tiers."""
    with home.node.open(ZONE, home.node.current(ZONE)) as files:
        main = main_context(files.memory.connection, 3)
        return main, {k: v.memories for k, v in tier_counts(files.memory.connection, main).items()}


def contents(home: Home) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(home.rows("memory", f"SELECT {columns} FROM {table}"), key=repr)
        for table, columns in KEPT.items()
    }


@pytest.mark.parametrize("seed", slow_except([0], range(2)))
def test_one_at_a_time_and_all_at_once_are_equal(make_home: MakeHome, seed: int) -> None:
    drafts = story(seed)
    one, other = make_home("one"), make_home("other")
    for draft in drafts:
        one.tell(draft)
    other.tell(*drafts)
    assert live(one) == live(other)
    assert tiers(one) == tiers(other)
    agree(other)
    assert other.rows("memory", "SELECT 1 FROM memory_archivals LIMIT 1")


@pytest.mark.parametrize("seed", slow_except([0], range(3)))
def test_what_is_forgotten_was_in_no_tier(make_home: MakeHome, seed: int) -> None:
    draw = random.Random(seed)
    drafts = story(seed)
    home, without = make_home("home"), make_home("without")
    home.tell(*drafts)
    stored = [n for n, draft in enumerate(drafts) if isinstance(draft.payload, Remember)]
    gone = set(draw.sample(stored, 5))
    for number in sorted(gone):
        home.tell(forget(number + 1, at=START + number))
        agree(home)
    without.tell(*(draft for n, draft in enumerate(drafts) if n not in gone))
    assert contents(home) == contents(without)
    assert tiers(home) == tiers(without)
    assert verify(home.node, ZONE).ok


@pytest.mark.parametrize("name", ["append.committed", "commit.projected", "commit.memory"])
def test_a_process_that_dies_between_steps_archives_the_same(
    make_home: MakeHome, name: str
) -> None:
    drafts = story(9, 20)
    whole, broken = make_home("whole"), make_home("broken")
    whole.tell(*drafts)
    tell_dying(broken, drafts, name, 5)
    assert live(broken) == live(whole)
    agree(broken)
