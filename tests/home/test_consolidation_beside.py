"""Consolidation of one zone turned on or off beside what answers: compared, used, taken back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.home.kit import Home

POTTERY = (
    "I signed up for a pottery class in Oslo.",
    "I made two bowls in the pottery class.",
    "I showed my pottery at the winter market.",
)
OFF = ("rebuild", "--level", "derive", "--consolidation", "off")
ON = ("rebuild", "--level", "derive", "--consolidation", "on")


def pottery(tmp_path: Path, *agents: str) -> Home:
    home = Home(tmp_path / "home")
    home.well("init", "--encoder", "none", *agents)
    home.ingest(*POTTERY)
    return home


def observations(home: Home) -> list[str]:
    return home.well("observations", "--json").stdout.splitlines()


def facts(home: Home) -> list[str]:
    return sorted(home.well("facts", "--json").stdout.splitlines())


def counts(difference: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = difference["observations"]
    return found


def test_consolidation_is_turned_off_for_a_zone_and_on_again(tmp_path: Path) -> None:
    home = pottery(tmp_path)
    before, said = observations(home), facts(home)
    assert len(before) == 1
    compared = home.well(*OFF, "--diff", "--json").json["difference"]
    assert counts(compared) == {"same": 0, "gained": 0, "lost": 1, "changed": 0}
    assert (compared["facts_same"], compared["facts_lost"]) == (3, 0)
    assert observations(home) == before
    home.well(*OFF)
    assert observations(home) == []
    assert len(facts(home)) == len(said)
    home.ingest("I keep my pottery in the garden shed.", first=4)
    assert observations(home) == []
    assert home.well("verify", "--json").json["ok"]
    assert home.well("doctor").status == 0
    home.well("rollback")
    assert len(observations(home)) == 1
    assert home.well("verify", "--json").json["ok"]


def test_a_home_that_never_consolidated_shows_what_it_would(tmp_path: Path) -> None:
    home = pottery(tmp_path, "--agents", "own")
    assert observations(home) == []
    compared = home.well(*ON, "--diff", "--json").json["difference"]
    assert counts(compared) == {"same": 0, "gained": 1, "lost": 0, "changed": 0}
    assert "pottery" in compared["texts"][0]["after"]
    assert observations(home) == []
    home.well(*ON)
    assert len(observations(home)) == 1
    home.ingest("I keep my pottery in the garden shed.", first=4)
    assert "garden shed" in observations(home)[0]
    home.well("rollback")
    assert observations(home) == []


def test_only_that_zone_has_its_own_agents_and_keeps_them(tmp_path: Path) -> None:
    home = pottery(tmp_path)
    home.well(*OFF)
    home.well("remember", "--zone", "other", "Ada is a pilot.")
    agents = {
        zone: home.well("status", "--zone", zone, "--json").json["agents"]
        for zone in ("default", "other")
    }
    assert agents == {"default": ["own"], "other": ["own", "consolidation"]}
    for level in ("derive", "project"):
        home.well("rebuild", "--level", level)
        assert observations(home) == []
    shutil.rmtree(home.path / "zones")
    home.well("status")
    assert observations(home) == []
    home.well("forget", "m-1", "--yes")
    home.well(*ON)
    assert home.well("status", "--json").json["agents"] == ["own", "consolidation"]
    assert home.well("verify", "--json").json["ok"]


def test_the_homes_agents_change_with_the_zones_own_choice(tmp_path: Path) -> None:
    home = pottery(tmp_path)
    home.well(*OFF)
    home.well("init", "--agents", "own-causes,consolidation")
    refused = home.run("remember", "Ada is a pilot.")
    assert refused.status == 2
    assert "rebuild --level derive" in refused.stderr
    home.well("rebuild", "--level", "derive")
    assert home.well("status", "--json").json["agents"] == ["own-causes"]
    home.well("remember", "Ada is a pilot.")


@pytest.mark.parametrize("level", ["index", "project"])
def test_a_level_that_decides_nothing_refuses_it(tmp_path: Path, level: str) -> None:
    home = pottery(tmp_path)
    done = home.run("rebuild", "--level", level, "--consolidation", "off")
    assert done.status == 2
    assert "derives nothing from the events again" in done.stderr


@pytest.mark.parametrize("later", [(), ("I keep my pottery in the garden shed.",)])
def test_lost_files_come_back_without_what_was_only_compared(
    tmp_path: Path, later: tuple[str, ...]
) -> None:
    home = pottery(tmp_path)
    home.well(*OFF, "--diff")
    home.ingest(*later, first=len(POTTERY) + 1)
    before = observations(home)
    assert len(before) == 1
    shutil.rmtree(home.path / "zones")
    home.well("status")
    assert observations(home) == before
    assert home.well("verify", "--json").json["ok"]
