"""`hierarchy` consolidates memories, and prints those of every level, above and below."""

from __future__ import annotations

import re

import pytest

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


@pytest.fixture
def ids(shell: Shell) -> list[str]:
    """Three memories in a home without an encoder, two of them in a shed."""
    kept = [
        MemoryInput(content="The kiln is cold.", at="2026-03-01T10:00:00Z", namespace="/shed"),
        MemoryInput(content="Mira sweeps the yard.", at="2026-03-02T10:00:00Z", namespace="/shed"),
        MemoryInput(content="A boat sank.", at="2026-03-03T10:00:00Z", importance=0.2),
    ]
    with Recollect(shell.room / "home", encoder="none") as home:
        return [receipt.event_id for receipt in home.zone("default").store_memories(kept)]


def printed(shell: Shell, *arguments: str) -> list[str]:
    done = shell("hierarchy", *arguments)
    assert (done.status, done.err.strip()) == (0, "")
    return done.out.splitlines()


def consolidate(shell: Shell) -> str:
    """Consolidate the shed; return the id of the new memory."""
    assert printed(shell, "consolidate", "--method", "criteria", "--namespace", "/shed") == [
        "level 1  1 memory of 2"
    ]
    (made,) = shell("hierarchy", "--json").json()
    return str(made["memory_id"])


def test_what_is_consolidated_is_printed_with_its_dated_texts(shell: Shell, ids: list[str]) -> None:
    assert printed(shell) == ["nothing is consolidated; hierarchy consolidate does that"]
    made = consolidate(shell)
    assert printed(shell) == [
        "2 memories (1 to 2 Mar 2026): [1] 1 Mar 2026: The kiln is cold. "
        "[2] 2 Mar 2026: Mira sweeps the yard.",
        f"    {made}, consolidated, version 1, active, zone, private, importance 0.60, /shed",
    ]
    assert printed(shell, "consolidate") == ["nothing belongs together"]


def test_children_are_printed_from_above_and_ancestors_from_below(
    shell: Shell, ids: list[str]
) -> None:
    made = consolidate(shell)
    texts = ["The kiln is cold.", "Mira sweeps the yard."]
    state = "fact, version 1, active (archival), zone, private, importance 0.10, /shed"
    assert printed(shell, "children", made) == [
        line
        for text, id_ in zip(texts, ids, strict=False)
        for line in (text, f"    {id_}, {state}")
    ]
    assert printed(shell, "ancestors", ids[0]) == printed(shell)
    assert printed(shell, "children", ids[0]) == ["that consolidates nothing"]
    assert printed(shell, "ancestors", made) == ["nothing consolidates that"]
    assert [
        each["memory_id"] for each in shell("hierarchy", "children", made, "--json").json()
    ] == [*ids[:2]]


def test_a_search_prints_what_is_above_each_memory(shell: Shell, ids: list[str]) -> None:
    made = consolidate(shell)
    lines = printed(shell, "search", "Is", "the", "kiln", "cold?")
    assert lines[1].split(",")[0].strip() == made
    score = re.fullmatch(r"  (\d\.\d\d), [12] found in it", lines[2])
    assert score is not None
    assert float(score[1]) > 0.5
    (first, *_) = shell("hierarchy", "search", "kiln", "--json").json()
    assert (first["memory"]["memory_id"], ids[0] in first["matches"]) == (made, True)
    assert printed(shell, "search", "zuqo") == ["no stored memory answers that"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["children"], "`children` needs the ID of a memory; `memories` prints the ids"),
        (["search"], "`search` needs a QUERY"),
        (["list", "x"], "`list` takes no argument"),
        (["children", "01KR3XZBC0BAQNHSCT9EJ4NDPT"], "01KR3XZBC0BAQNHSCT9EJ4NDPT"),
        (["consolidate", "--threshold", "7"], "--threshold is 7.0; give 0 to 1"),
        (["consolidate", "--levels", "0"], "--levels is 0; give 1 to 10"),
    ],
)
def test_a_wrong_argument_is_refused(
    shell: Shell, ids: list[str], arguments: list[str], error: str
) -> None:
    done = shell("hierarchy", *arguments)
    assert done.status != 0
    assert not done.out
    assert error in done.err
