"""The tiers of stored memories: main context, recall store and archival store.

Which memory is in which tier is worked out by hand, from when each was stored and read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, MemoryInput, Recollect
from recollect.home.ticks.due_archival import archive_if_due
from recollect.library.library_zone import Zone
from recollect.operations.answers.recalling import record_accesses
from recollect.schemas.events import RecallCount
from recollect.schemas.memory_terms import TierLimits

HOUR, DAY = 3_600_000, 86_400_000
#: A main context of three memories; the others are archived after a day without use.
SMALL = TierLimits(main_capacity=3)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recollect]:
    monkeypatch.setenv("RECOLLECT_MAIN_CAPACITY", "3")
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        yield recollect


@pytest.fixture
def zone(opened: Recollect) -> Zone:
    return opened.zone("acme")


def store(zone: Zone, text: str, **attributes: Any) -> str:
    return zone.store_memories([MemoryInput(content=text, **attributes)]).receipts[0].event_id


def told(zone: Zone, count: int) -> list[str]:
    return [store(zone, f"Number {n} is told.") for n in range(count)]


def read(zone: Zone, *ids: str) -> None:
    """Count that memories were read, as a service does every minute."""
    record_accesses(zone._zone, [RecallCount("memory", id_, 1) for id_ in ids])


def pass_time(zone: Zone, milliseconds: int) -> bool:
    """Archive what is due so long after the last memory was stored."""
    held = zone._zone
    with held.files() as files:
        ((now,),) = files.memory.connection.execute("SELECT max(created_at) FROM memories")
    asked = archive_if_due(held.node, held.name, SMALL, now + milliseconds)
    held.decide()
    return asked


def tiers(zone: Zone) -> dict[str, list[str]]:
    """Return the texts of each tier in order."""
    texts = {tier: [each.content for each in zone.query_memories(tier=tier)] for tier in NAMES}
    texts["main"] = [each.content for each in zone.recent_memories() if each.tier == "main"]
    return texts


NAMES: Any = ("main", "recall", "archival")


def numbers(*wanted: int) -> list[str]:
    return [f"Number {n} is told." for n in wanted]


class TestMemoryPaging:
    def test_the_least_recently_used_leave_the_main_context(self, zone: Zone) -> None:
        ids = told(zone, 5)
        assert tiers(zone) == {"main": numbers(4, 3, 2), "recall": numbers(1, 0), "archival": []}
        read(zone, ids[0])
        assert tiers(zone)["main"] == numbers(0, 4, 3)
        assert [each.content for each in zone.recent_memories()] == numbers(0, 4, 3, 2, 1)
        assert [each.content for each in zone.recent_memories(max_results=2)] == numbers(0, 4)

    def test_what_is_outside_the_main_context_is_archived_after_a_day(self, zone: Zone) -> None:
        ids = told(zone, 6)
        assert not pass_time(zone, 23 * HOUR)
        assert pass_time(zone, 25 * HOUR)
        assert tiers(zone) == {
            "main": numbers(5, 4, 3),
            "recall": [],
            "archival": numbers(2, 1, 0),
        }
        oldest = zone.stored_memory(ids[0])
        assert (oldest.tier, oldest.archive_cause, oldest.is_archived) == ("archival", "age", True)
        assert oldest.archived_at is not None
        assert oldest.state == "active"

    def test_ages_are_examined_after_five_more_memories(self, zone: Zone) -> None:
        told(zone, 4)
        assert not pass_time(zone, 2 * DAY), "four were stored"
        store(zone, "Number 4 is told.")
        assert pass_time(zone, 2 * DAY)
        for n in range(5, 9):
            store(zone, f"Number {n} is told.")
            assert not pass_time(zone, 3 * DAY)
        store(zone, "Number 9 is told.")
        assert pass_time(zone, 3 * DAY)
        assert tiers(zone)["main"] == numbers(9, 8, 7)

    def test_a_command_archives_at_most_fifty(self, zone: Zone) -> None:
        zone.store_memories([MemoryInput(content=f"Number {n} is told.") for n in range(110)])
        head = int(zone.head().partition(":")[0])
        assert pass_time(zone, 2 * DAY)
        assert int(zone.head().partition(":")[0]) == head + 3
        assert [each.memories for each in zone.memory_tiers().tiers] == [3, 0, 107]

    def test_a_memory_that_was_read_stays_another_day(self, zone: Zone) -> None:
        ids = told(zone, 6)
        read(zone, ids[0], ids[1], ids[2], ids[3])
        waiting = tiers(zone)["recall"]
        assert set(numbers(4, 5)) < set(waiting)
        assert pass_time(zone, 25 * HOUR)
        assert tiers(zone)["archival"] == waiting

    @pytest.mark.parametrize(
        ("text", "days"), [("Alice is currently in London.", 30), ("Alice works at Google.", 365)]
    )
    def test_what_no_longer_holds_expires(self, zone: Zone, text: str, days: int) -> None:
        id_ = store(zone, text)
        assert not pass_time(zone, (days - 1) * DAY)
        assert pass_time(zone, (days + 1) * DAY)
        assert zone.stored_memory(id_).archive_cause == "expiry"
        zone.archive_memories([id_], restore=True)
        assert not pass_time(zone, (days + 2) * DAY), "what was restored does not expire again"

    def test_an_end_that_is_past_expires(self, zone: Zone) -> None:
        id_ = store(zone, "The gate is open.", valid_at=0, invalid_at="2020-01-01T00:00:00Z")
        told(zone, 3)
        assert zone.stored_memory(id_).tier == "recall"
        told(zone, 1)
        assert zone.stored_memory(id_).archive_cause == "expiry", "after every five"

    def test_archived_memories_are_restored_into_the_main_context(self, zone: Zone) -> None:
        ids = told(zone, 5)
        report = zone.archive_memories([ids[4], ids[4], "unknown"])
        assert (report.changed, report.unknown) == ([ids[4]], ["unknown"])
        assert zone.archive_memories([ids[4]]).unchanged == [ids[4]]
        assert tiers(zone)["main"] == numbers(3, 2, 1)
        assert zone.stored_memory(ids[4]).archive_cause == "request"
        assert zone.archive_memories([ids[4]], restore=True).changed == [ids[4]]
        assert tiers(zone)["main"] == numbers(4, 3, 2)
        assert zone.stored_memory(ids[4]).archived_at is None

    def test_a_new_version_of_an_archived_memory_is_in_the_main_context(self, zone: Zone) -> None:
        first = store(zone, "The code is 1.", namespace="/door", path_key="code")
        zone.archive_memories([first])
        second = store(zone, "The code is 2.", namespace="/door", path_key="code")
        assert zone.stored_memory(first).tier is None
        assert zone.stored_memory(second).tier == "main"
        assert zone.archive_memories([first]).changed == [first]
        assert zone.stored_memory(second).tier == "archival", "any version names the memory"

    def test_inactive_memories_are_in_no_tier(self, zone: Zone) -> None:
        ids = told(zone, 2)
        zone.set_memory_state([ids[1]], "inactive")
        assert tiers(zone) == {"main": numbers(0), "recall": [], "archival": []}
        assert zone.archive_memories([ids[1]]).unchanged == [ids[1]]
        with pytest.raises(InvalidInput, match="only active memories"):
            zone.query_memories(tier="main", state="inactive")

    def test_namespaces_of_the_seed_are_its_tiers(self, zone: Zone) -> None:
        store(zone, "A is told.", namespace="recall/session")
        b = store(zone, "B is told.", namespace="archival/projects")
        store(zone, "C is told.", namespace="recalled")
        assert tiers(zone) == {
            "main": ["C is told."],
            "recall": ["A is told."],
            "archival": ["B is told."],
        }
        zone.archive_memories([b], restore=True)
        assert zone.stored_memory(b).tier == "main"

    def test_a_search_finds_in_every_tier_and_a_cascade_stops(self, zone: Zone) -> None:
        ids = [store(zone, f"The {place} door is red.") for place in ("north", "west", "south")]
        for word in ("tea", "jam", "rye"):
            store(zone, f"Bob likes {word}.")
        zone.archive_memories([ids[0]])
        read(zone, ids[2])
        found = zone.search_tiers("Which door is red?", min_score=0.1)
        hits = {tier: [hit.memory.content for hit in getattr(found, tier)] for tier in NAMES}
        texts = {tier: [text for text in hits[tier] if "door" in text] for tier in NAMES}
        assert texts == {
            "main": ["The south door is red."],
            "recall": ["The west door is red."],
            "archival": ["The north door is red."],
        }
        first = zone.search_tiers("Which door is red?", max_results=1, cascade=True)
        assert [len(getattr(first, tier)) for tier in NAMES] == [1, 0, 0]
        assert not zone.search_tiers("Which door is red?", min_score=1.0).archival

    def test_what_is_archived_is_recalled(self, zone: Zone) -> None:
        id_ = store(zone, "The deploy key is in the blue safe.")
        zone.archive_memories([id_])
        texts = [each.text for each in zone.recall("Where is the deploy key?").results]
        assert any("blue safe" in text for text in texts)

    def test_the_statistics_count_every_memory_once(self, zone: Zone) -> None:
        ids = told(zone, 6)
        zone.archive_memories(ids[:2])
        report = zone.memory_tiers()
        assert [(each.tier, each.memories) for each in report.tiers] == [
            ("main", 3),
            ("recall", 1),
            ("archival", 2),
        ]
        assert (report.tiers[0].capacity, report.tiers[0].utilization) == (3, 1.0)
        assert (report.memories, report.recall_max_age_hours) == (6, 24.0)
        assert report.tiers[2].oldest == zone.stored_memory(ids[0]).created_at

    def test_an_empty_zone_has_empty_tiers(self, zone: Zone) -> None:
        assert zone.memory_tiers().memories == 0
        assert zone.recent_memories().memories == []
        assert zone.search_tiers("Anything?").main == []


def test_the_main_context_is_warm_after_a_restart(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("acme")
        ids = told(zone, 4)
        read(zone, ids[1])
        before = [each.memory_id for each in zone.recent_memories()]
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        assert [each.memory_id for each in recollect.zone("acme").recent_memories()] == before
        assert before == [ids[1], ids[3], ids[2], ids[0]]


def shape(zone: Zone) -> list[tuple[str, str | None, str | None]]:
    found = zone.query_memories(state="any", superseded=True)
    return [(each.content, each.tier, each.archive_cause) for each in found]


def test_tiers_survive_every_rebuild(zone: Zone) -> None:
    ids = told(zone, 6)
    read(zone, ids[0])
    pass_time(zone, 2 * DAY)
    zone.archive_memories([ids[1]], restore=True)
    before = shape(zone)
    assert {tier for _, tier, _ in before} == {"main", "recall", "archival"}
    assert zone.verify().ok
    for level in ("project", "derive"):
        zone.rebuild(level)
        assert shape(zone) == before
    assert zone.verify().ok


@pytest.mark.parametrize("gone", range(3))
def test_a_forgotten_memory_leaves_no_trace_in_a_tier(zone: Zone, gone: int) -> None:
    ids = told(zone, 3)
    zone.archive_memories(ids[:2])
    zone.archive_memories(ids[:1], restore=True)
    zone.forget(ids[gone])
    archived = {each.memory_id: each.is_archived for each in zone.query_memories()}
    assert archived == {id_: id_ == ids[1] for id_ in ids if id_ != ids[gone]}
    with zone._zone.files() as files:
        left = files.memory.connection.execute("SELECT DISTINCT memory_id FROM memory_archivals")
        assert {id_ for (id_,) in left} == set(ids[:2]) - {ids[gone]}
    assert zone.verify().ok


@pytest.mark.parametrize("gone", [0, 1])
def test_forgetting_a_version_moves_the_archival_to_the_current_one(zone: Zone, gone: int) -> None:
    ids = [store(zone, f"The code is {n}.", namespace="/d", path_key="c") for n in range(2)]
    zone.archive_memories([ids[1]])
    zone.forget(ids[gone])
    kept = [each for n, each in enumerate(ids) if n != gone]
    found = [(each.memory_id, each.tier) for each in zone.query_memories()]
    assert found == [(id_, "archival" if id_ == ids[1] else "main") for id_ in kept]
    assert zone.verify().ok


class TestPermissions:
    def test_others_private_memories_move_none_of_ours(self, opened: Recollect) -> None:
        """With capacity for three, three of Ada's own evict nothing that Bob sees."""
        zone = opened.zone("acme")
        told(zone, 3)
        ada, bob = zone.acting_as(user="ada"), zone.acting_as(user="bob")
        for n in range(3):
            store(ada, f"Secret {n} is told.", scope="user")
        assert tiers(bob)["main"] == numbers(2, 1, 0)
        assert [each.memories for each in bob.memory_tiers().tiers] == [3, 0, 0]
        assert [each.memories for each in ada.memory_tiers().tiers] == [3, 3, 0]
        assert not bob.search_tiers("Which secret is told?", min_score=0.99).main
        assert not pass_time(zone, 2 * DAY)
        for n in range(3, 6):
            store(ada, f"Secret {n} is told.", scope="user")
        assert pass_time(zone, 2 * DAY)
        assert [each.memories for each in bob.memory_tiers().tiers] == [3, 0, 0]

    def test_only_the_owner_archives(self, opened: Recollect) -> None:
        zone = opened.zone("acme")
        ada, bob = zone.acting_as(user="ada"), zone.acting_as(user="bob")
        id_ = store(ada, "Ada hides cobalt.", scope="user", visibility="shared")
        assert bob.archive_memories([id_]).unknown == [id_]
        assert ada.archive_memories([id_]).changed == [id_]
        assert bob.archive_memories([id_], restore=True).unknown == [id_]
        assert bob.stored_memory(id_).tier == "archival"


def test_histories_of_uses_match_a_list_in_memory(zone: Zone) -> None:
    """The oracle is a list with the most recently used last, as the seed keeps one."""
    import random

    rng = random.Random(4)
    order: list[str] = []
    archived: set[str] = set()
    for step in itertools.count():
        if step == 40:
            break
        chosen = rng.choice(order) if order else ""
        if not order or rng.random() < 0.4:
            order.append(store(zone, f"Number {step} is told."))
        elif rng.random() < 0.5:
            read(zone, chosen)
            order.append(order.pop(order.index(chosen)))
        elif chosen in archived:
            zone.archive_memories([chosen], restore=True)
            archived.discard(chosen)
            order.append(order.pop(order.index(chosen)))
        else:
            zone.archive_memories([chosen])
            archived.add(chosen)
        waiting = [id_ for id_ in reversed(order) if id_ not in archived]
        main = [each.memory_id for each in zone.recent_memories() if each.tier == "main"]
        assert main == waiting[:3], step
