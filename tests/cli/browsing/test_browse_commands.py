"""`zones`, `facts`, `entities` and `merges` list what was told, a page at a time."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cli.kit import STYLE, Shell, said


@pytest.fixture
def held(shell: Shell) -> Shell:
    """A zone in which Ada moves, two people are called Bob, and Carla repeats herself."""
    shell.ingest(
        said("m-1", "I live in Rome.", at="2026-05-01T10:00:00Z"),
        said("m-2", "I live in Oslo.", at="2026-05-02T10:00:00Z"),
        said("m-3", "My cat is called Luna.", "Bob", at="2026-05-03T10:00:00Z"),
        {**said("m-4", "My dog is called Rex.", "Bob"), "sender_id": "U-other", "platform": "chat"},
        said("m-5", "I play the cello.", "Carla", at="2026-05-05T10:00:00Z"),
        said("m-6", "I play the cello.", "Carla", at="2026-05-05T11:00:00Z"),
    )
    return shell


def facts(shell: Shell, *options: str) -> list[dict[str, Any]]:
    done = shell("facts", "--json", *options)
    assert done.status == 0, done.err
    return done.json()


FACT = {
    *("id", "text", "as_of", "when", "subject", "attribute", "value", "current", "stability"),
    *("entities", "source_event_ids"),
}


def test_facts_are_those_that_hold_and_all_those_that_ever_did(held: Shell) -> None:
    by_source = {fact["source_event_ids"][0]: fact for fact in facts(held, "--all")}
    assert all(fact.keys() >= FACT for fact in by_source.values())
    rome, oslo = by_source["m-1"], by_source["m-2"]
    for fact, city, current in ((rome, "Rome", False), (oslo, "Oslo", True)):
        assert (fact["subject"], fact["attribute"], fact["value"]) == ("Ada", "home", city)
        assert fact["current"] is current
        assert "Ada" in fact["entities"]
    assert rome["as_of"] == "2026-05-01T10:00:00.000Z"
    # What is said twice within a day is one fact of two events.
    assert by_source["m-5"]["source_event_ids"] == ["m-5", "m-6"]
    holding = [fact["id"] for fact in facts(held)]
    everything = {fact["id"] for fact in by_source.values()}
    assert set(holding) == everything - {rome["id"]}
    times = [fact["as_of"] for fact in facts(held, "--all")]
    assert times == sorted(times, reverse=True)


def test_facts_name_the_days_that_they_speak_of(shell: Shell) -> None:
    exam = said("m-1", "My exam is on 4 June.", at="2026-05-01T10:00:00Z")
    shell.ingest(exam, said("m-2", "I live in Rome from 3 to 5 June.", at="2026-05-02T10:00:00Z"))
    assert [fact["when"] for fact in facts(shell)] == [
        {"first": "2026-06-03", "last": "2026-06-05"},
        {"first": "2026-06-04", "last": "2026-06-04"},
    ]
    shown = shell("facts").out
    assert "refers to 2026-06-03 to 2026-06-05" in shown
    assert "refers to 2026-06-04" in shown
    assert "refers to 2026-06-04" in shell("recall", "When is my exam?").out
    assert "refers to 2026-06-04" in shell("extract", "-", given=json.dumps(exam).encode()).out


def test_facts_say_what_they_are_to_others(held: Shell) -> None:
    by_source = {fact["source_event_ids"][0]: fact for fact in facts(held, "--all")}
    rome, oslo = by_source["m-1"], by_source["m-2"]
    assert oslo["relations"] == [{"type": "UPDATES", "fact_id": rome["id"], "confidence": 1.0}]
    assert rome["relations"] == []
    held.ingest(said("m-7", "I also play the flute.", "Carla", at="2026-05-05T12:00:00Z"))
    (flute,) = [fact for fact in facts(held) if "flute" in fact["text"]]
    cello = by_source["m-5"]["id"]
    assert flute["relations"] == [{"type": "EXTENDS", "fact_id": cello, "confidence": 0.8}]
    shown = held("facts").out
    assert f"extends fact {cello} (confidence 0.8)" in shown
    assert f"updates fact {rome['id']} (confidence 1.0)" in shown
    assert f"extends fact {cello} (confidence 0.8)" in held("why", flute["id"]).out


def test_facts_of_somebody(held: Shell) -> None:
    assert [fact["source_event_ids"] for fact in facts(held, "--entity", "Carla")] == [
        ["m-5", "m-6"]
    ]
    done = held("facts", "--entity", "Carlo", "--json")
    assert (done.status, done.out) == (2, "")
    assert "no entity is called 'Carlo'; did you mean Carla?" in done.err


def test_what_was_forgotten_is_listed_nowhere(held: Shell) -> None:
    assert held("forget", "m-5", "m-6").status == 0
    for command in (("facts", "--all"), ("entities",), ("merges",)):
        done = held(*command, "--json")
        assert "cello" not in done.out
        assert "Carla" not in done.out


def test_a_list_comes_a_page_at_a_time(held: Shell) -> None:
    everything = [fact["id"] for fact in facts(held, "--all")]
    assert walked(held, "facts", "--all") == everything
    people = [entity["id"] for entity in held("entities", "--json").json()]
    assert walked(held, "entities") == people


def walked(shell: Shell, *command: str) -> list[str]:
    """Return the ids of a list that is read two at a time, each page from the last one's cursor."""
    ids, options = [], ["--json", "--limit", "2"]
    while True:
        done = shell(*command, *options)
        assert done.status == 0, done.err
        ids += [item["id"] for item in done.json()]
        more = re.search(r"--cursor '(\S+)'", done.err)
        if more is None:
            return ids
        assert len(done.json()) == 2
        options = ["--json", "--limit", "2", "--cursor", more[1]]


def test_more_facts_than_are_read_at_once_come_all_and_once(shell: Shell) -> None:
    shell.ingest(*(said(f"m-{n}", f"My box {n} holds item {n}.") for n in range(1_100)))
    found = facts(shell)
    sources = [id_ for fact in found for id_ in fact["source_event_ids"]]
    assert sorted(sources) == sorted(f"m-{n}" for n in range(1_100))
    assert len({fact["id"] for fact in found}) == len(found)


def test_entities_are_those_who_spoke_and_what_was_named(held: Shell) -> None:
    found: dict[str, list[dict[str, Any]]] = {}
    for entity in held("entities", "--json").json():
        found.setdefault(entity["name"], []).append(entity)
    (ada,) = found["Ada"]
    assert (ada["type"], ada["mentions"]) == ("person", 2)
    assert ada["handles"] == [{"platform": "slack", "handle": "U-Ada"}]
    assert ada["facts"] == 2
    assert {entity["handles"][0]["platform"] for entity in found["Bob"]} == {"slack", "chat"}
    assert {"Rome", "Oslo"} <= found.keys()
    shown = held("entities").out
    assert "Ada " in shown
    assert "2 mentions, 2 facts" in shown
    assert "1 mention, 1 fact" in shown


def test_a_long_type_moves_the_counts_of_all_entities(held: Shell) -> None:
    held("remember", "The code of the bicycle lock is 4711.")
    rows = held("entities").out.splitlines()
    assert any(" recollect_handle " in row for row in rows)
    assert len({len(re.split(r"\d+ mentions?, ", row)[0]) for row in rows}) == 1


def merges(shell: Shell) -> list[dict[str, Any]]:
    return shell("merges", "list", "--json").json()


def test_a_merge_is_approved_and_undone(held: Shell) -> None:
    (waiting,) = [merge for merge in merges(held) if merge["status"] == "pending"]
    assert (waiting["a"], waiting["b"]) == ("Bob", "Bob")
    assert waiting["reasons"] == ["the same name"]
    assert (waiting["a_type"], waiting["b_type"]) == ("person", "person")
    assert 0 < waiting["confidence"] < 1
    shown = held("merges").out
    assert "Bob: slack U-Bob" in shown
    assert "Bob: chat U-other" in shown
    assert [entity["name"] for entity in held("entities", "--json").json()].count("Bob") == 2
    done = held("merges", "approve", waiting["id"], "--json")
    assert (done.status, done.json()[0]["status"]) == (0, "merged")
    (bob,) = [each for each in held("entities", "--json").json() if each["name"] == "Bob"]
    assert {handle["platform"] for handle in bob["handles"]} == {"slack", "chat"}
    (after,) = [merge for merge in merges(held) if merge["id"] == waiting["id"]]
    assert after["status"] == "merged"
    done = held("merges", "approve", waiting["id"])
    assert (done.status, "is merged; only a pending one" in done.err) == (2, True)
    assert held("merges", "undo", waiting["id"], "--json").json()[0]["status"] == "undone"
    assert [entity["name"] for entity in held("entities", "--json").json()].count("Bob") == 2


def test_merges_are_listed_of_one_entity(held: Shell) -> None:
    listed = held("merges", "--entity", "Ada", "--json").json()
    assert [{merge["a"], merge["b"]} for merge in listed] == [{"Ada", "U-Ada"}]
    assert {merge["id"] for merge in merges(held)} > {merge["id"] for merge in listed}
    unknown = held("merges", "--entity", "Nobody")
    assert (unknown.status, "no entity is called 'Nobody'" in unknown.err) == (2, True)


def test_a_merge_that_there_is_not_is_named(held: Shell) -> None:
    for verb in ("approve", "reject", "undo"):
        done = held("merges", verb, "nobody")
        assert (done.status, "has no merge 'nobody'" in done.err) == (2, True)


def test_a_merge_is_rejected(held: Shell) -> None:
    (waiting,) = [merge for merge in merges(held) if merge["status"] == "pending"]
    done = held("merges", "reject", waiting["id"])
    assert done.status == 0
    assert done.out.startswith("rejected  Bob and Bob\n")
    assert [merge["status"] for merge in merges(held) if merge["id"] == waiting["id"]] == [
        "rejected"
    ]
    assert held("merges", "undo", waiting["id"]).status == 2


def test_a_merge_that_the_rules_made_is_undone_by_its_id(held: Shell) -> None:
    (made,) = [merge for merge in merges(held) if {merge["a"], merge["b"]} == {"Ada", "U-Ada"}]
    assert made["status"] == "merged"
    assert held("merges", "undo", made["id"], "--json").json()[0]["status"] == "undone"


def test_merges_need_an_id_that_there_is(held: Shell) -> None:
    for arguments, said_ in (
        (("approve",), "`approve` needs the ID"),
        (("approve", "nothing"), "has no merge 'nothing'; run recollect merges"),
        (("list", "x"), "did you mean `approve`, `reject` or `undo`"),
    ):
        done = held("merges", *arguments)
        assert done.status == 2
        assert said_ in done.err


@pytest.mark.parametrize(
    ("a", "b", "decision"),
    [
        ({"name": "Ada Moreau"}, {"name": "ada  moreau", "type": "Person"}, "same"),
        ({"name": "Ada Moreau"}, {"name": "Ada Morrow"}, "different"),
        ({"name": "Acme", "type": "Company"}, {"name": "Acme", "type": "Person"}, "different"),
        ({"name": "Bob", "email": "bob@a.org"}, {"name": "Bob", "email": "b@b.org"}, "propose"),
        ({"name": "Bob", "email": "b@b.org"}, {"name": "Robert", "email": "B@b.org"}, "same"),
        ({"name": "Ada"}, {"name": "Ada Moreau"}, "propose"),
        ({"name": "Oslo", "type": "place"}, {"name": "Oslo", "type": "LOCATION"}, "same"),
    ],
)
def test_pairs_are_compared_by_the_rules(
    shell: Shell, a: dict[str, str], b: dict[str, str], decision: str
) -> None:
    pairs = "".join(json.dumps({"a": x, "b": y}) + "\n" for x, y in ((a, b), (b, a)))
    done = shell("--home", "nowhere", "entities", "compare", "--batch", "-", "--json",
                 given=pairs.encode())  # fmt: skip
    assert done.status == 0, done.err
    found = done.json()
    assert [each["decision"] for each in found] == [decision, decision]
    assert all(each["reasons"] and 0 <= each["confidence"] <= 1 for each in found)


def test_two_of_a_zone_are_compared_by_what_it_knows(held: Shell) -> None:
    def decision(a: str, b: str) -> str:
        return str(held("entities", "compare", a, b, "--json").json()[0]["decision"])

    bobs = [each["id"] for each in held("entities", "--json").json() if each["name"] == "Bob"]
    assert decision(*bobs) == "propose"
    assert decision("Ada", "U-Ada") == "same"
    assert decision("Ada", "Carla") == "different"
    done = held("entities", "compare", "Ada", "Bob")
    assert done.status == 2
    assert all(id_ in done.err for id_ in bobs)
    assert "'Carlo'; did you mean Carla?" in held("entities", "compare", "Ada", "Carlo").err
    assert held("entities", "compare", "Ada").status == 2


def test_a_pair_that_is_none_is_named_by_its_line(shell: Shell) -> None:
    done = shell("entities", "compare", "--batch", "-", given=b'\n{"a": {"name": "x"}}\n')
    assert done.status == 2
    assert "-:2:" in done.err


def test_zones_are_listed_with_what_they_hold(held: Shell) -> None:
    held.ingest(said("z-1", "Hello there, I sail."), zone="boats")
    # Beside six messages, the records of their consolidation.
    records = len(held("records", "--json").json())
    assert records > 6
    assert held("zones", "--json").json() == [
        {"zone": "boats", "events": 1, "stalled": False, "problem": None},
        {"zone": "default", "events": records, "stalled": False, "problem": None},
    ]
    assert held("zones").out == f"boats    1 record\ndefault  {records} records\n"


def test_a_zone_that_holds_nothing_is_named(held: Shell) -> None:
    for command in ("facts", "entities", "merges"):
        done = held("--zone", "defualt", command)
        assert (done.status, done.out) == (0, "")
        assert "zone defualt is empty; did you mean default?" in done.err


@pytest.mark.parametrize("columns", [40, 80])
def test_lists_fit_the_terminal(held: Shell, columns: int) -> None:
    for command in (("entities",), ("facts", "--all"), ("zones",)):
        written = STYLE.sub("", held.on_a_terminal(columns, *command))
        lines = [line for line in written.splitlines() if " from m-" not in line]
        assert lines
        assert max(map(len, lines)) <= columns, command


def test_entities_are_searched_by_a_part_of_a_name_or_account(held: Shell) -> None:
    done = held("entities", "list", "--query", "LU", "--json")
    assert [each["name"] for each in done.json()] == ["Luna"]
    done = held("entities", "--query", "other", "--json")
    assert [each["handles"][0]["handle"] for each in done.json()] == ["U-other"]
    assert held("entities", "--query", "zzz").out == "no entities yet\n"


def test_related_entities_are_those_of_common_facts(held: Shell) -> None:
    done = held("entities", "related", "Luna", "--json")
    assert [(each["name"], each["facts"]) for each in done.json()[0]["related"]] == [("Bob", 1)]
    assert held("entities", "related", "Ada").out == "Oslo  place, 1 fact\nRome  place, 1 fact\n"
    assert held("entities", "related").status == 2
    assert held("entities", "compare", "Ada", "Bob", "--query", "x").status == 2


def test_memories_are_listed_and_printed_by_path(shell: Shell) -> None:
    shell("remember", "Ada prefers tea.")
    listed = shell("memories", "ls", "/workspace/default/memory/").out.strip()
    assert listed.startswith("/workspace/default/memory/")
    assert shell("memories", "glob", "/work*/**").out.strip() == listed
    assert shell("memories", "cat", listed).out == "Ada prefers tea.\n"
    assert shell("memories", "ls", "/memory/").out == "no memory is at /memory/\n"
    assert shell("memories", "cat").status == 2
