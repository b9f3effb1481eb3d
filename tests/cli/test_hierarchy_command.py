"""`hierarchy` lists consolidated memories of every level."""

from __future__ import annotations

from recollect import MemoryInput, Recollect, Zone
from tests.cli.kit import Shell


def build(zone: Zone, level: int, name: str = "n") -> None:
    """Store two texts, and consolidate two memories of each level up to one."""
    if level == 0:
        zone.store_memories([MemoryInput(content=f"The number is {name}.")])
        return
    for half in "ab":
        build(zone, level - 1, f"{name}{half}")
    zone.consolidate_memories(method="criteria", max_levels=level)


def test_every_level_is_listed_the_highest_first(shell: Shell) -> None:
    with Recollect(shell.room / "home") as home:
        build(home.zone("default"), 4)
    found = shell("hierarchy", "--json").json()
    assert [each["abstraction_level"] for each in found] == [4, *[3] * 2, *[2] * 4, *[1] * 8]
