"""Consolidated memories come out the same however a zone is driven, and whatever was forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from recollect.schemas.events import (
    AnyPayload,
    ConsolidateMemories,
    Draft,
    MemoryScope,
    MemoryState,
    Remember,
    SetMemoryState,
)
from recollect.schemas.ids import event_id, row_id
from recollect.streams.lifecycle.verifying import verify
from tests.protocol.kit import MINUTE, START, ZONE, Home, agree, command, forget, live, tell_dying
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

TABLES = ("memory_consolidations", "memory_parents", "memories", "memory_versions")
#: Columns without the numbers of records, which differ between ledgers.
KEPT = {
    "memory_consolidations": "id, level, method, first_at, last_at",
    "memory_parents": "child_id, parent_id, position",
    "memories": "id, memory_type, user_id, reader_user, importance, abstraction_level",
    "memory_versions": "id, memory_id, version, superseded_by_id, state",
}
SUBJECTS = ("the zuqo kiln", "a zeka boat", "her zibu garden")


class Story:
    """A history of memories that are stored, changed and consolidated, as drafts of one ledger."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.drafts: list[Draft] = []
        self.numbers: dict[str, int] = {}

    def add(self, payload: AnyPayload) -> str:
        """Add an event; return its id."""
        draft = command(payload, START + len(self.drafts) * MINUTE)
        self.drafts.append(draft)
        id_ = event_id(ZONE, draft.platform, payload.source_id, draft.occurred_at)
        self.numbers[id_] = len(self.drafts)
        return id_

    def name(self) -> str:
        return f"c{len(self.drafts)}"

    def remember(self, key: str, user: str = "ada") -> str:
        scope: MemoryScope = "zone" if self._draw.random() < 0.8 else "user"
        return self.add(
            Remember(
                source_id=self.name(),
                sender_id="user",
                content=f"Note {key} is about {self._draw.choice(SUBJECTS)}.",
                namespace="/n",
                path_key=key,
                scope="user" if user != "ada" else scope,
                user_id=user,
                importance=self._draw.choice((None, 0.2, 0.9)),
            )
        )

    def consolidate(self, ids: Sequence[str]) -> str:
        """Consolidate memories; return the id of the consolidated one."""
        made = self.add(ConsolidateMemories(source_id=self.name(), memory_ids=tuple(ids)))
        at = self.drafts[-1].occurred_at
        return row_id(at, "consolidation", made)

    def tell(self, rounds: int) -> Story:
        draw = self._draw
        parents: list[str] = []
        for n in range(rounds):
            texts = [self.remember(f"{n}-{m}") for m in range(draw.randint(2, 5))]
            if draw.random() < 0.4:
                # A new version: the command below may name either.
                texts.append(self.remember(f"{n}-0"))
            if draw.random() < 0.3:
                self.add(
                    SetMemoryState(source_id=self.name(), memory_ids=(texts[1],), state="inactive")
                )
            parents.append(self.consolidate(texts))
            if draw.random() < 0.3:
                state: MemoryState = draw.choice(("deleted", "inactive"))
                self.add(
                    SetMemoryState(source_id=self.name(), memory_ids=(parents[-1],), state=state)
                )
                parents.append(self.consolidate(texts))
            if draw.random() < 0.5:
                parents.append(self.consolidate(draw.sample(parents, min(3, len(parents)))))
        return self


def contents(home: Home) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(home.rows("memory", f"SELECT {columns} FROM {table}"), key=repr)
        for table, columns in KEPT.items()
    }


@pytest.mark.parametrize("seed", slow_except([0], range(3)))
def test_C15_one_at_a_time_and_all_at_once_are_equal(make_home: MakeHome, seed: int) -> None:
    drafts = Story(seed).tell(6).drafts
    one, other = make_home("one"), make_home("other")
    for draft in drafts:
        one.tell(draft)
    other.tell(*drafts)
    assert live(one) == live(other)
    agree(other)
    for table in TABLES:
        assert other.rows("memory", f"SELECT 1 FROM {table} LIMIT 1"), table


@pytest.mark.parametrize("seed", slow_except([0], range(6)))
def test_C15_what_is_forgotten_was_never_consolidated(make_home: MakeHome, seed: int) -> None:
    draw = random.Random(seed)
    drafts = Story(seed).tell(6).drafts
    home, without = make_home("home"), make_home("without")
    home.tell(*drafts)
    gone = set(draw.sample(range(1, len(drafts)), 6))
    for number in sorted(gone):
        home.tell(forget(number + 1, at=START + number))
        agree(home)
    # The same records with the same numbers, but unreadable before anything was decided.
    without.publish(*drafts)
    for number in sorted(gone):
        without.publish(forget(number + 1, at=START + number))
    without.drive()
    assert contents(home) == contents(without)
    assert verify(home.node, ZONE).ok


def test_C15_words_of_forgotten_memories_are_in_no_record(make_home: MakeHome) -> None:
    story = Story(0)
    texts = [story.remember(f"{n}", user="zumi") for n in range(4)]
    story.consolidate([story.consolidate(texts[:2]), story.consolidate(texts[2:])])
    home = make_home("home")
    home.tell(*story.drafts)
    assert len(home.rows("memory", "SELECT 1 FROM memory_consolidations")) == 3
    assert b"zumi" in home.readable_parts()
    home.tell(forget(*(story.numbers[id_] for id_ in texts[:3])))
    agree(home)
    assert home.rows("memory", "SELECT 1 FROM memory_consolidations") == []
    home.tell(forget(story.numbers[texts[3]]))
    agree(home)
    assert b"zumi" not in home.readable_parts()


@pytest.mark.parametrize(
    "name", ["append.committed", "commit.projected", "commit.produced", "commit.memory"]
)
def test_C15_a_process_that_dies_consolidates_the_same(make_home: MakeHome, name: str) -> None:
    drafts = Story(1).tell(5).drafts
    whole, broken = make_home("whole"), make_home("broken")
    whole.tell(*drafts)
    tell_dying(broken, drafts, name, 4)
    assert live(broken) == live(whole)
    agree(broken)
