"""What a new generation concludes otherwise is shown before it takes over, and nothing switches
until that is said (E3).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect as Library
from tests.foreign_agent import TOY, write_package
from tests.home.kit import Home

BOAT, TRAIN, HARP = "I give the boat 4 stars.", "I give the train 2 stars.", "My sister plays harp."


@pytest.fixture(autouse=True)
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package of somebody else, on the import path."""
    folder = write_package(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(folder)
    yield folder
    forget_toys()


def forget_toys() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "toys"]:
        del sys.modules[name]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "made")
    made.well("init", "--encoder", "none", "--agents", f"own,{TOY}")
    made.ingest(BOAT, TRAIN, HARP)
    return made


def facts(home: Home) -> set[str]:
    lines = home.well("facts", "--json").stdout.splitlines()
    return {json.loads(line)["text"] for line in lines}


def used(home: Home) -> str:
    return str(home.well("status", "--json").json["generation"])


def compared(home: Home, level: str = "derive") -> dict[str, Any]:
    found = home.well("rebuild", "--level", level, "--diff", "--json").json
    difference = found["difference"]
    assert isinstance(difference, dict)
    return difference


def rewrite(toys: Path, old: str, new: str) -> None:
    """Let the writer of somebody else write otherwise from now on."""
    path = toys / "toys" / "ratings.py"
    path.write_text(path.read_text().replace(old, new))
    forget_toys()


def test_the_same_writer_differs_in_nothing(home: Home) -> None:
    found = compared(home)
    assert found["facts_same"] == len(facts(home))
    counts = {name: found[name] for name in ("observations", "mental_models")}
    assert not any(count for each in counts.values() for count in each.values())
    assert not any(found[name] for name in found if name not in (*counts, "facts_same"))


def test_what_another_writer_concludes_is_shown_before_the_switch(home: Home, toys: Path) -> None:
    before, generation = facts(home), used(home)
    rewrite(toys, 'rates {what} {stars} of 5"', 'gives {what} {stars} of 5 stars"')
    rewrite(
        toys, "in extract.content:", 'in extract.content + [("the harp", 5)] * (event.number == 3):'
    )
    found = compared(home)
    assert [fact["text"] for fact in found["gained"]] == ["Ada gives the harp 5 of 5 stars"]
    assert found["gained"][0]["source_event_id"] == "m-3"
    assert {(each["before"], each["after"]) for each in found["changed"]} == {
        ("Ada rates the boat 4 of 5", "Ada gives the boat 4 of 5 stars"),
        ("Ada rates the train 2 of 5", "Ada gives the train 2 of 5 stars"),
    }
    assert all(each["changed_fields"] == ["text"] for each in found["changed"])
    assert (found["facts_gained"], found["facts_lost"], found["facts_changed"]) == (1, 0, 2)

    assert (facts(home), used(home)) == (before, generation), "nothing has switched"
    assert home.well("verify", "--json").json["ok"]

    home.well("rebuild", "--level", "derive")
    assert used(home) != generation
    assert "Ada gives the harp 5 of 5 stars" in facts(home)
    assert home.well("verify", "--json").json["ok"]
    home.well("rollback")
    assert facts(home) == before


def test_what_a_writer_leaves_out_is_lost(home: Home) -> None:
    lost = {fact for fact in facts(home) if "rates" in fact}
    assert lost
    home.well("init", "--agents", "own")
    found = compared(home)
    assert {fact["text"] for fact in found["lost"]} == lost
    assert found["facts_lost"] == len(lost)
    said = home.well("rebuild", "--level", "derive", "--diff").stdout
    assert all(f"- {fact}" in said for fact in lost)
    assert "without activating it" in said
    home.well("init", "--agents", f"own,{TOY}")
    assert facts(home) >= lost, "what is in use is as it was"


def test_who_is_one_or_two_is_shown(tmp_path: Path) -> None:
    """Here by leaving out the agent that carries merges out, and by taking it in again."""
    home = Home(tmp_path / "people")
    home.well("init", "--encoder", "none")
    home.ingest("I met Zora in Oslo in May.", "I met Wilma in Rome in June.")
    with Library(home.path) as library:
        zone = library.zone("default")
        ids = {entity.name: entity.id for entity in zone.entities()}
        zone.propose_merge(ids["Zora"], ids["Wilma"], 0.99, "one woman")
    home.well("init", "--agents", "writer,accesses,mentalmodels,deadletters,ticks")
    (split,) = compared(home)["split"]
    assert split["names"] == ["Wilma", "Zora"]
    assert split["name"] in split["names"]
    home.well("rebuild", "--level", "derive")
    home.well("init", "--agents", "own")
    found = compared(home)
    assert (found["entities_joined"], found["entities_split"]) == (1, 0)
    assert found["joined"][0]["names"] == ["Wilma", "Zora"]


def test_observations_and_models_that_differ_are_shown(tmp_path: Path) -> None:
    home = Home(tmp_path / "mind")
    home.well("init", "--encoder", "none", "--agents", "own,consolidation")
    words = ("I joined a pottery class.", "My pottery class is fun.", "I sold my pottery in Oslo.")
    events = [
        {
            "id": f"p{day}",
            "platform": "chat",
            "sender_id": "ada",
            "sender_name": "Ada",
            "occurred_at": f"2026-05-0{day}T10:00:00Z",
            "content": text,
        }
        for day, text in enumerate(words, 1)
    ]
    with Library(home.path) as library:
        zone = library.zone("default")
        zone.ingest(events)
        zone.consolidate()
        (observation,) = zone.observations()
        zone.create_mental_model("Plan", "Buy clay.")
    home.well("init", "--agents", "writer,accesses,merges,deadletters,ticks")
    found = compared(home)
    assert found["observations"] == {"same": 0, "gained": 0, "lost": 1, "changed": 0}
    assert found["mental_models"] == {"same": 0, "gained": 0, "lost": 1, "changed": 0}
    assert [(each["kind"], each["before"], each["after"]) for each in found["texts"]] == [
        ("observation", observation.text, None),
        ("mental_model", "Buy clay.", None),
    ]


def test_a_generation_that_waits_goes_on_with_what_came_since(home: Home, toys: Path) -> None:
    rewrite(toys, "rates {what}", "likes {what}")
    compared(home)
    # Of two writers only the former decides until the switch is said.
    rewrite(toys, "likes {what}", "rates {what}")
    home.ingest("I give the bus 1 star.", first=9)
    compared(home)
    home.well("rebuild", "--level", "derive")
    assert home.well("verify", "--json").json["ok"]


def test_what_is_forgotten_meanwhile_is_in_no_generation_that_waits(home: Home, toys: Path) -> None:
    rewrite(toys, "rates {what}", "zanks {what}")
    compared(home)
    home.well("forget", "m-1")
    left = [
        path
        for path in home.path.rglob("*")
        if path.is_file() and b"zanks the boat" in path.read_bytes()
    ]
    assert left == []
    home.well("rebuild", "--level", "derive")
    assert not any("boat" in fact for fact in facts(home))


@pytest.mark.parametrize("level", ["index", "project"])
def test_what_decides_nothing_has_no_difference(home: Home, level: str) -> None:
    ended = home.run("rebuild", "--level", level, "--diff")
    assert ended.status == 2
    assert "use level 'derive' or 'fresh'" in ended.said
