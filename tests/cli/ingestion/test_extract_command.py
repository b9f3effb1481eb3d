"""`extract` shows what would be decided from each event, as an import does it; it keeps nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.text.dates.time_grammar import disable_rules
from tests.cli.kit import Json, Shell, said

ROOT = Path(__file__).resolve().parents[3]
CHAT = [
    said("m-1", "Where do you live now?", "Bob", at="2026-05-08T10:00:00Z"),
    said("m-2", "I live in Oslo. Ada Moreau visited me on 3 May 2026.", "Carla"),
    said("m-3", "I broke my leg. That's why I sold my bicycle.", "Carla"),
]


def extracted(shell: Shell, *events: Json) -> list[Json]:
    (shell.room / "chat.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    done = shell("--home", "nowhere", "extract", "chat.jsonl", "--json")
    assert done.status == 0, done.err
    assert not (shell.room / "nowhere").exists()
    return done.json()


def test_it_gives_a_line_an_event_in_order(shell: Shell) -> None:
    found = extracted(shell, *CHAT)
    assert [each["id"] for each in found] == ["m-1", "m-2", "m-3"]
    assert all(each.keys() >= {"id", "facts", "mentions", "causes"} for each in found)
    question, moved, leg = found
    assert question["facts"] == []
    (home,) = [fact for fact in moved["facts"] if fact["attribute"] == "home"]
    assert (home["subject"], home["value"], home["current"]) == ("Carla", "Oslo", True)
    assert home["source_event_ids"] == ["m-2"]
    (visit,) = [fact for fact in moved["facts"] if "visited" in fact["text"]]
    assert visit["when"] == {"first": "2026-05-03", "last": "2026-05-03"}
    assert {"Ada Moreau", "Carla"} <= set(visit["entities"])
    (cause,) = leg["causes"]
    assert "leg" in leg["facts"][cause["cause"]]["text"]
    assert "bicycle" in leg["facts"][cause["effect"]]["text"]
    assert 0 < cause["strength"] <= 1


def test_it_says_what_facts_are_to_others(shell: Shell) -> None:
    told = [
        said("m-1", "I play the violin in a band.", "Carla", at="2026-05-08T10:00:00Z"),
        said("m-2", "I also play the cello in a band.", "Carla", at="2026-05-08T10:01:00Z"),
        said("m-3", "I live in Oslo. I live in Rome.", "Carla", at="2026-05-08T10:02:00Z"),
    ]
    (violin,), (cello,), homes = (each["facts"] for each in extracted(shell, *told))
    assert violin["relations"] == []
    extends = {"type": "EXTENDS", "fact_id": violin["id"], "confidence": 0.8}
    assert cello["relations"] == [extends]
    oslo, rome = sorted(homes, key=lambda fact: fact["value"])
    assert rome["relations"] == [{"type": "UPDATES", "fact_id": oslo["id"], "confidence": 1.0}]
    shown = shell("extract", "chat.jsonl").out
    assert f"extends: fact {violin['id']} (confidence 0.8)" in shown
    assert "updates: Carla lives in Oslo. (confidence 1.0)" in shown


def test_mentions_stand_where_they_say(shell: Shell) -> None:
    for event, found in zip(CHAT, extracted(shell, *CHAT), strict=True):
        for mention in found["mentions"]:
            assert event["content"][mention["start"] : mention["end"]] == mention["text"]
    (_, moved, _) = extracted(shell, *CHAT)
    by_text = {mention["text"]: mention for mention in moved["mentions"]}
    assert (by_text["Ada Moreau"]["type"], by_text["Ada Moreau"]["entity"]) == (
        "PERSON",
        "Ada Moreau",
    )
    (date,) = [mention for mention in moved["mentions"] if mention["type"] == "DATE"]
    assert (date["first"], date["last"]) == ("2026-05-03", "2026-05-03")


def test_an_import_decides_the_same(shell: Shell) -> None:
    export = str(ROOT / "demo" / "export.jsonl")
    found = shell("extract", export, "--json").json()
    assert shell("zones", "--json").json() == []
    assert shell("ingest", export).status == 0
    held = shell("facts", "--all", "--json").json()
    alike = ("id", "text", "as_of", "when", "attribute", "value")
    expected = {str([fact[name] for name in alike]) for fact in held}
    # A turn that an agent ends is decided when it ends; here each message is by itself.
    assert expected == {
        str([fact[name] for name in alike]) for each in found for fact in each["facts"]
    }
    assert any(fact["when"] for fact in held)


def test_bad_lines_are_named_and_the_others_read(shell: Shell) -> None:
    given = b'{"platform": "x"}\n' + json.dumps(CHAT[1]).encode()
    done = shell("extract", "-", given=given)
    assert done.status == 0
    assert "-:1: " in done.err
    assert "Carla lives in Oslo." in done.out
    assert shell("extract", "-", given=b"{}\n").status == 1


def test_it_names_the_rules_that_read_a_date(shell: Shell) -> None:
    told = said("m-1", "I moved to Oslo two weeks ago, at 9am.", "Carla")
    assert "trace" not in extracted(shell, told)[0]
    (traced,) = shell("extract", "chat.jsonl", "--trace", "--json").json()
    weeks, clock = traced["trace"]
    assert (weeks["text"], weeks["rules"][0]) == ("two weeks ago", "offset/ago")
    assert (clock["text"], clock["rules"][0]) == ("9am", "time/opened")
    shown = shell("extract", "chat.jsonl", "--trace").out
    assert "two weeks ago  offset/ago, amount, number, unit" in shown


@pytest.fixture
def all_rules_afterwards() -> Iterator[None]:
    yield
    disable_rules(())


@pytest.mark.usefixtures("all_rules_afterwards")
def test_a_setting_disables_rules_by_their_ids(shell: Shell) -> None:
    told = said("m-1", "I moved to Oslo two weeks ago.", "Carla")
    assert [fact["when"] is None for fact in extracted(shell, told)[0]["facts"]] == [False]
    shell.environment["RECOLLECT_DISABLED_RULES"] = "offset/ago"
    assert [fact["when"] is None for fact in extracted(shell, told)[0]["facts"]] == [True]
    shell("init", "--encoder", "none", "--reader", "none")
    shell.ingest(told)
    assert [fact["when"] for fact in shell("facts", "--json").json()] == [None]
    shell.environment["RECOLLECT_DISABLED_RULES"] = "offset/agoo"
    failed = shell("extract", "chat.jsonl")
    assert failed.status == 2
    assert "RECOLLECT_DISABLED_RULES: there is no rule 'offset/agoo'; did you mean" in failed.err
