"""Each step of enrichment can be left out: it is missed then, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.home.kit import Home
from tests.writing.conftest import writing_home
from tests.writing.scripts import good

STEPS = [
    "entities",
    "temporal",
    "coreference",
    "temporal_resolution",
    "evolution",
    "causes",
    "stability",
]
SAID = [
    "I live in Oslo.",
    "I live in Bergen now.",
    "My sister Zelda Okafor flies to Rome tomorrow.",
    "I broke my leg. That's why I sold my bicycle.",
]


def home_without(place: Path, *steps: str) -> Home:
    home = Home(place)
    home.well("init", "--encoder", "none", *(["--without", ",".join(steps)] if steps else []))
    home.ingest(*SAID)
    return home


def facts(home: Home) -> list[dict[str, Any]]:
    lines = home.well("facts", "--all", "--json").stdout.splitlines()
    return sorted(map(json.loads, lines), key=lambda fact: (fact["as_of"], fact["id"]))


def texts(home: Home) -> set[str]:
    return {fact["text"] for fact in facts(home)}


def names(home: Home) -> set[str]:
    lines = home.well("entities", "--json").stdout.splitlines()
    return {json.loads(line)["name"] for line in lines}


def hashes(home: Home) -> dict[str, str]:
    found = home.well("verify", "--json").json
    assert found["ok"]
    return {model["model"]: model["hash"] for model in found["models"]}


def days(home: Home) -> tuple[object, list[str]]:
    """Return of when a fact would be, and which dates are found in its message."""
    line = {
        "platform": "chat",
        "sender_id": "ada",
        "occurred_at": "2026-05-03T10:00:00Z",
        "content": "My exam is on 4 June.",
    }
    export = home.path.with_name("days.jsonl")
    export.write_text(json.dumps(line) + "\n")
    shown = home.well("extract", str(export), "--json").json
    (fact,) = shown["facts"]
    dates = [mention["text"] for mention in shown["mentions"] if mention["type"] == "DATE"]
    return fact["when"] and fact["when"]["first"], dates


def holds(home: Home, fact: dict[str, Any]) -> tuple[object, ...]:
    """Return how long a fact holds, as it is listed and as it is explained."""
    told = home.well("why", fact["id"]).stdout
    why = "expected to hold for about 365 days" in told and "semi_dynamic" not in told
    return fact["stability"], fact["ttl_days"], fact["stability_confidence"] is not None, why


def noticed(home: Home) -> dict[str, object]:
    """Return what each step gives, as a user sees it."""
    found = facts(home)
    lives = next(fact for fact in found if "Bergen" in fact["text"])
    flies = next(fact for fact in found if "Rome" in fact["text"])
    sold = next(fact for fact in found if "bicycle" in fact["text"])
    why = home.well("why", sold["id"], "--json").stdout
    return {
        "entities": {"Zelda Okafor", "Rome"} & names(home),
        "coreference": flies["text"].startswith("Ada's sister"),
        "temporal_resolution": "2026-05-0" in flies["text"],
        "evolution": [
            (fact["attribute"], fact["current"]) for fact in found if "live" in fact["text"]
        ],
        "causes": "leg" in why.replace("broke my leg. That", ""),
        "temporal": days(home),
        "stability": holds(home, lives),
    }


ALL = {
    "entities": {"Zelda Okafor", "Rome"},
    "coreference": True,
    "temporal_resolution": True,
    "evolution": [("home", False), ("home", True)],
    "causes": True,
    "temporal": ("2026-06-04", ["4 June"]),
    "stability": ("semi_dynamic", 365, True, True),
}
NONE = {
    "entities": set(),
    "coreference": False,
    "temporal_resolution": False,
    "evolution": [(None, True), (None, True)],
    "causes": False,
    "temporal": (None, []),
    "stability": (None, None, False, False),
}


def test_by_default_nothing_is_left_out(tmp_path: Path) -> None:
    home = home_without(tmp_path / "home")
    assert noticed(home) == ALL
    assert json.loads((home.path / "home.json").read_text())["agents"] == ["own", "consolidation"]
    assert "without" not in home.well("init").stdout


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_left_out_is_missed_and_no_other(tmp_path: Path, step: str) -> None:
    home = home_without(tmp_path / "home", step)
    assert noticed(home) == ALL | {step: NONE[step]}
    assert len(facts(home)) == len(facts(home_without(tmp_path / "other")))
    assert step in home.well("init").stdout
    assert home.well("init", "--json").json["without"] == [step]
    before = hashes(home)
    home.well("rebuild", "--level", "derive")
    assert {name: found for name, found in hashes(home).items() if name != "memory"} == {
        name: found for name, found in before.items() if name != "memory"
    }


def test_all_of_them_may_be_left_out(tmp_path: Path) -> None:
    home = home_without(tmp_path / "home", *STEPS)
    assert noticed(home) == NONE
    assert names(home) == {"Ada"}
    assert "Ada: I live in Oslo." in texts(home)
    # Words are found as they were said.
    assert any("Rome" in text for text in home.found("Who flies to Rome?"))


def test_a_home_that_was_decided_otherwise_is_refused_until_it_is_derived(tmp_path: Path) -> None:
    home = home_without(tmp_path / "home")
    before = hashes(home)
    home.well("init", "--without", "coreference,causes")
    refused = home.run("forget", "m-1")
    assert refused.status == 2
    assert "own-coreference-causes" in refused.stderr
    assert "rebuild --level derive" in refused.stderr
    assert noticed(home) == ALL
    home.well("rebuild", "--level", "derive")
    lacks = {"coreference": False, "causes": False}
    assert noticed(home) == ALL | lacks
    assert home.well("status", "--json").json["agents"] == [
        "own-coreference-causes",
        "consolidation",
    ]
    assert home.well("doctor").status == 0
    # What is not said again stays as it is chosen.
    home.well("init")
    home.ingest("I work at Initech.", first=9)
    assert "Ada: I work at Initech." in texts(home)
    home.well("forget", "m-9")
    home.well("init", "--without", "none")
    home.well("rebuild", "--level", "derive")
    assert noticed(home) == ALL
    found = hashes(home)
    assert {name: found[name] for name in ("identity", "embeddings")} == {
        name: before[name] for name in ("identity", "embeddings")
    }


def test_an_edit_still_takes_the_place_of_what_was_said(tmp_path: Path) -> None:
    home = home_without(tmp_path / "home", "evolution")
    edit = {
        "id": "e-1",
        "kind": "edit",
        "target": "m-1",
        "platform": "chat",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": "2026-05-20T10:00:00Z",
        "content": "I live in Lviv.",
    }
    export = tmp_path / "edit.jsonl"
    export.write_text(json.dumps(edit) + "\n")
    home.well("ingest", str(export))
    current = {fact["text"] for fact in facts(home) if fact["current"]}
    assert "Ada lives in Lviv." in current
    assert not any("Oslo" in text for text in current)


def test_extract_shows_what_the_home_would_decide(tmp_path: Path) -> None:
    home = home_without(tmp_path / "home", "coreference", "evolution")
    line = json.dumps(
        {
            "platform": "chat",
            "sender_id": "ada",
            "sender_name": "Ada",
            "occurred_at": "2026-05-03T10:00:00Z",
            "content": "I live in Lviv.",
        }
    )
    export = tmp_path / "more.jsonl"
    export.write_text(line + "\n")
    (fact,) = home.well("extract", str(export), "--json").json["facts"]
    assert (fact["text"], fact["attribute"]) == ("Ada: I live in Lviv.", None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--without", "cause"], ["'cause'", "did you mean causes?"]),
        (["--without", "everything"], ["'everything'", ", ".join(STEPS)]),
        (["--without", ""], ["''"]),
        (["--agents", "own-zzz"], ["own-zzz", "'zzz'"]),
        (["--agents", "ticks-causes"], ["ticks-causes"]),
        (["--agents", "ticks", "--without", "causes"], ["ticks", "causes"]),
        (["--agents", "own-causes,writer"], ["already includes"]),
    ],
)
def test_what_is_no_step_is_refused(tmp_path: Path, options: list[str], words: list[str]) -> None:
    home = Home(tmp_path / "home")
    refused = home.run("init", "--encoder", "none", *options)
    assert refused.status == 2
    for word in words:
        assert word in refused.stderr
    assert not home.path.exists()


def test_a_model_leaves_the_same_out(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.well("init", "--encoder", "none", "--without", "entities,coreference")
    home.well("init", "--writer", "model")
    written = json.loads((home.path / "home.json").read_text())["agents"]
    assert written == ["own-entities-coreference", "consolidation", "modelwriter-entities"]
    event = {
        "platform": "chat",
        "id": "m-1",
        "sender_id": "bob",
        "sender_name": "Bob",
        "occurred_at": "2026-05-03T10:00:00Z",
        "content": "The deploy is on Fridays at Marlowe Labs.",
    }
    with writing_home(home.path, good) as (memory, _):
        memory.ingest([event])
        memory.write()
        assert [fact.text for fact in memory.facts()] == [event["content"]]
        assert [entity.name for entity in memory.entities()] == ["Bob"]
        assert memory.verify().ok
    home.well("init", "--writer", "rules")
    written = json.loads((home.path / "home.json").read_text())["agents"]
    assert written == ["own-entities-coreference", "consolidation"]
