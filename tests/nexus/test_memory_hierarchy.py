"""Consolidated memories in a home: what comes together, how it reads, how to walk through it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import InvalidInput, MemoryInput, Recollect, StoredMemory, UnknownId
from recollect.home.open_zone import unix_ms
from recollect.home.ticks.due_archival import archive_if_due
from recollect.library.library_zone import Zone
from recollect.schemas.memory_terms import TierLimits
from tests.protocol.kit import files_holding

DAY = 86_400_000
KILN = ("The kiln is cold and empty.", "The kiln is cold and empty, says Mira.")
BOAT = ("A boat sank in the bay.", "A boat sank in the bay on Friday.")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home") as recollect:
        yield recollect.zone("acme")


def store(zone: Zone, *texts: str, day: int = 1, **attributes: object) -> list[str]:
    memories = [
        MemoryInput(content=text, at=f"2026-03-{day:02}T10:0{n}:00Z", **attributes)  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    ]
    return [receipt.event_id for receipt in zone.store_memories(memories)]


def consolidated(zone: Zone, **arguments: object) -> list[StoredMemory]:
    report = zone.consolidate_memories(**arguments)  # type: ignore[arg-type]
    return [zone.stored_memory(id_) for level in report for id_ in level.memory_ids]


class TestConsolidation:
    """By the names of the seed's tests: what comes together, and what becomes of it."""

    def test_C15_affinity_brings_together_what_is_alike_and_near(self, zone: Zone) -> None:
        kiln, boat = store(zone, *KILN), store(zone, *BOAT)
        store(zone, KILN[0] + " Again.", day=28)
        made = consolidated(zone, affinity_threshold=0.8)
        assert {frozenset(each.child_memory_ids) for each in made} == {
            frozenset(kiln),
            frozenset(boat),
        }
        assert {each.memory_type for each in made} == {"cluster"}

    def test_C15_criteria_bring_together_what_they_select(self, zone: Zone) -> None:
        low = store(zone, "The kiln is cold.", "A boat sank.", importance=0.2)
        store(zone, "Ada sings.", importance=0.9)
        store(zone, "Ada prefers tea.", memory_type="preference", importance=0.2)
        (made,) = consolidated(zone, method="criteria", memory_type="fact", importance_max=0.3)
        assert made.child_memory_ids == low
        assert (made.memory_type, made.abstraction_level) == ("consolidated", 1)
        assert zone.consolidate_memories(method="criteria", importance_max=0.3).levels == []

    def test_C15_sources_are_archived_and_importance_is_boosted(self, zone: Zone) -> None:
        first, second = store(zone, *KILN, importance=0.6)
        (made,) = consolidated(zone, method="criteria")
        assert made.importance == pytest.approx(0.7)
        assert (made.parent_memory_id, made.is_archived) == (None, False)
        source = zone.stored_memory(first)
        assert source.parent_memory_id == made.memory_id
        assert (source.is_archived, source.effective_importance, source.importance) == (
            True,
            0.1,
            0.6,
        )
        assert {each.memory_id for each in zone.query_memories()} == {first, second, made.memory_id}
        assert any("kiln" in each.text for each in zone.recall("Is the kiln cold?").results)

    def test_C15_only_memories_of_one_place_come_together(self, zone: Zone) -> None:
        store(zone, KILN[0], namespace="/a")
        store(zone, KILN[1], namespace="/b")
        store(zone, KILN[1], scope="user", user_id="ada")
        assert zone.consolidate_memories(method="criteria").levels == []

    def test_C15_consolidating_again_changes_nothing(self, zone: Zone) -> None:
        store(zone, *KILN)
        assert len(consolidated(zone, method="criteria")) == 1
        before = zone.status().events
        assert zone.consolidate_memories(method="criteria").levels == []
        assert zone.status().events == before

    def test_C15_the_text_follows_its_memories(self, zone: Zone) -> None:
        first, second, third = store(zone, "The kiln is cold.", "A boat sank.", "Ada sings.")
        (made,) = consolidated(zone, method="criteria")

        def text() -> str:
            return zone.stored_memory(made.memory_id).content

        assert text() == (
            "3 memories (1 Mar 2026):\n[1] 1 Mar 2026: The kiln is cold.\n"
            "[2] 1 Mar 2026: A boat sank.\n[3] 1 Mar 2026: Ada sings."
        )
        zone.update_memory(first, "The kiln is hot.")
        assert "The kiln is hot." in text()
        assert "cold" not in text()
        zone.set_memory_state([second], "inactive")
        assert "boat" not in text()
        zone.set_memory_state([second], "active")
        assert "[2] 1 Mar 2026: A boat sank." in text()
        zone.set_memory_state([first, second, third], "deleted")
        with pytest.raises(UnknownId):
            zone.stored_memory(made.memory_id)

    def test_C15_a_forgotten_memory_leaves_the_text(self, zone: Zone, tmp_path: Path) -> None:
        first, second, third = store(zone, "The zuqomaril is cold.", "A boat sank.", "Ada sings.")
        (made,) = consolidated(zone, method="criteria")
        zone.forget(first)
        found = zone.stored_memory(made.memory_id)
        assert found.child_memory_ids == [second, third]
        assert "zuqomaril" not in found.content
        zone.forget(second)
        with pytest.raises(UnknownId):
            zone.stored_memory(made.memory_id)
        assert not zone.stored_memory(third).is_archived
        assert zone.verify().ok
        assert files_holding(tmp_path / "home", b"zuqomaril") == []

    def test_C15_to_forget_a_consolidated_memory_is_to_forget_its_texts(self, zone: Zone) -> None:
        ids = store(zone, *KILN)
        (made,) = consolidated(zone, method="criteria")
        zone.forget(made.memory_id)
        for id_ in (*ids, made.memory_id):
            with pytest.raises(UnknownId):
                zone.stored_memory(id_)

    def test_C15_a_consolidated_memory_is_not_changed_itself(self, zone: Zone) -> None:
        store(zone, *KILN)
        (made,) = consolidated(zone, method="criteria")
        with pytest.raises(InvalidInput, match="is a consolidation of other memories"):
            zone.roll_back_memory(made.memory_id, 1)

    def test_C15_a_rebuild_decides_the_same(self, zone: Zone) -> None:
        store(zone, *KILN, *BOAT, "Ada sings.")
        made = consolidated(zone, method="criteria")
        for level in ("project", "derive"):
            zone.rebuild(level)
            assert [zone.stored_memory(each.memory_id).content for each in made] == [
                each.content for each in made
            ]

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("beta", 2),
            ("affinity_threshold", -1),
            ("time_unit_hours", 0),
            ("min_cluster_size", 1),
            ("max_levels", 0),
            ("importance_max", 1.1),
            ("importance_max", -0.1),
            ("linkage", "ward"),
            ("memory_type", "poem"),
        ],
    )
    def test_C15_a_value_out_of_range_is_named(
        self, zone: Zone, argument: str, value: object
    ) -> None:
        store(zone, *KILN)
        with pytest.raises(InvalidInput, match=argument):
            zone.consolidate_memories(**{argument: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [-1, 101, 2**63, -(2**63) - 1])
def test_a_query_for_a_level_that_no_memory_can_have_is_refused(zone: Zone, level: int) -> None:
    """Beyond 64 bits too, which the database cannot compare."""
    with pytest.raises(InvalidInput, match=r"^abstraction_level is .*; give 0 to 100"):
        zone.query_memories(abstraction_level=level)


def levels(zone: Zone) -> tuple[list[str], list[StoredMemory]]:
    """Store a hundred and twenty memories, and consolidate them; return their ids and the top."""
    ids = [
        id_
        for day in range(1, 13)
        for id_ in store(zone, *(f"Note {day}-{n} on tea." for n in range(10)), day=day)
    ]
    made = consolidated(zone, method="criteria", max_levels=3)
    return ids, [each for each in made if each.abstraction_level == 2]


def test_C16_levels_have_parents_and_children(zone: Zone) -> None:
    ids, (top,) = levels(zone)
    assert top.consolidated_from == ids
    below = zone.memory_children(top.memory_id).memories
    assert [each.memory_id for each in below] == top.child_memory_ids
    assert [len(each.child_memory_ids) for each in below] == [50, 50, 20]
    assert {each.parent_memory_id for each in below} == {top.memory_id}
    above = zone.memory_ancestors(ids[0])
    assert [each.abstraction_level for each in above] == [1, 2]
    assert zone.stored_memory(ids[0]).consolidation_version == 2
    assert top.importance == pytest.approx(0.7)
    assert top.content.startswith("tea")
    assert "120 memories, 1 to 12 Mar 2026" in top.content


def test_C16_a_search_finds_the_highest_memory_above(zone: Zone) -> None:
    kiln = store(zone, *KILN)
    (alone,) = store(zone, "The boat in the bay sank.", namespace="/b")
    (made,) = consolidated(zone, method="criteria")
    hits = zone.search_memories("Is the kiln cold?").hits
    assert hits[0].memory.memory_id == made.memory_id
    assert set(hits[0].matches) == set(kiln)
    hits = zone.search_memories("Is the kiln cold?", prefer_abstracts=False).hits
    assert {each.memory.memory_id for each in hits[:2]} == set(kiln)
    hits = zone.search_memories("Is the kiln cold?", max_level=0).hits
    assert made.memory_id not in {each.memory.memory_id for each in hits}
    with pytest.raises(InvalidInput, match="max_level is -1; give a whole number of at least 0"):
        zone.search_memories("Is the kiln cold?", max_level=-1)
    assert zone.search_memories("What sank in the bay?").hits[0].memory.memory_id == alone


def test_C16_a_search_finds_no_inactive_memory_above(zone: Zone) -> None:
    kiln = store(zone, *KILN)
    (made,) = consolidated(zone, method="criteria")
    zone.set_memory_state([made.memory_id], "inactive")
    hits = zone.search_memories("Is the kiln cold?").hits
    assert {each.memory.memory_id for each in hits} == set(kiln)


def test_C16_deleting_a_consolidated_memory_releases_its_memories(zone: Zone) -> None:
    first, _ = store(zone, *KILN)
    (made,) = consolidated(zone, method="criteria")
    zone.set_memory_state([made.memory_id], "deleted")
    assert not zone.stored_memory(first).is_archived
    assert zone.memory_ancestors(first).memories == []
    (again,) = consolidated(zone, method="criteria")
    assert again.memory_id != made.memory_id
    assert zone.stored_memory(first).parent_memory_id == again.memory_id


def test_C16_archiving_consolidates_what_is_archived(zone: Zone) -> None:
    kiln = store(zone, *KILN)
    boat = store(zone, "A boat sank in the bay.", day=9)
    for n in range(4):
        store(zone, f"Number {n}.", day=20)
    held, limits = zone._zone, TierLimits(main_capacity=4)
    assert archive_if_due(held.node, held.name, limits, unix_ms() + 2 * DAY)
    held.decide()
    (made,) = zone.query_memories(abstraction_level=1)
    assert set(made.child_memory_ids) == set(kiln)
    for id_, cause in ((kiln[0], "consolidation"), (boat[0], "age")):
        found = zone.stored_memory(id_)
        assert (found.is_archived, found.tier, found.archive_cause) == (True, "archival", cause)
    assert zone.verify().ok


def test_C16_what_is_archived_later_joins_what_was_archived_before(zone: Zone) -> None:
    (first,) = store(zone, KILN[0])
    zone.archive_memories([first])
    (second,) = store(zone, KILN[1])
    for n in range(4):
        store(zone, f"Number {n}.", day=20)
    held, limits = zone._zone, TierLimits(main_capacity=4)
    assert archive_if_due(held.node, held.name, limits, unix_ms() + 2 * DAY)
    held.decide()
    (made,) = zone.query_memories(abstraction_level=1)
    assert made.child_memory_ids == [first, second]
