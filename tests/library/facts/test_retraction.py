"""Taking a memory back without erasing its message, as a program and a person see it (G1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from recollect import InvalidInput, Recollect, UnknownId, Zone
from recollect.schemas.wire import Fact
from tests.library.kit import said

THREE = "I live in Turin. My favourite tea is oolong. I am allergic to peanuts."


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as r:
        zone = r.zone("ada")
        zone.ingest([said("m1", THREE, minute=1), said("m2", "I live in Lyon now.", minute=9)])
        yield zone


def fact(zone: Zone, word: str) -> Fact:
    (found,) = [each for each in zone.facts(superseded=True) if word in each.text]
    return found


def current(zone: Zone) -> set[str]:
    return {each.text for each in zone.facts()}


def test_fault_1_one_fact_goes_and_the_others_of_its_message_stay(zone: Zone) -> None:
    report = zone.retract(fact(zone, "oolong").id)
    assert (report.type, report.status, report.facts) == ("fact", "retracted", [report.id])
    assert current(zone) == {"Ada lives in Lyon now.", "Ada is allergic to peanuts."}
    assert (fact(zone, "oolong").current, fact(zone, "oolong").retracted) == (False, True)
    assert "oolong" in zone.get_memory("m1").text


def test_no_answer_says_what_was_retracted(zone: Zone) -> None:
    zone.retract(fact(zone, "oolong").id)
    for scope in (["events", "facts"], ["facts"], ["events"]):
        found = zone.recall("What is Ada's favourite tea, oolong?", scope=scope).results
        assert "oolong" not in str(found)
    block = zone.context("What tea does Ada like? Where does she live, what must she not eat?")
    assert "oolong" not in block.block
    assert "[retracted]" in block.block
    assert "peanuts" in block.block


def test_a_message_that_says_nothing_else_is_not_recalled(zone: Zone) -> None:
    zone.retract(fact(zone, "Lyon").id)
    assert "m2" not in str(zone.recall("Where does Ada live?").results)
    why = zone.explain("Where does Ada live?", fact(zone, "Lyon").id)
    assert why is not None
    assert (why.rank, why.dropped_by) == (None, "filter")
    assert "retracted" in why.reason


def test_what_it_superseded_is_current_again_and_restoring_ends_it(zone: Zone) -> None:
    before = zone.facts(superseded=True)
    zone.retract(fact(zone, "Lyon").id)
    assert zone.recall("Where does Ada live?").results[0].text.startswith("I live in Turin")
    assert fact(zone, "Turin").current
    zone.retract(fact(zone, "Lyon").id, restore=True)
    assert list(zone.facts(superseded=True)) == list(before)


def test_the_id_of_an_event_takes_back_all_that_it_gave(zone: Zone) -> None:
    report = zone.retract("m1")
    assert (report.type, len(report.facts)) == ("event", 3)
    assert current(zone) == {"Ada lives in Lyon now."}
    assert "peanuts" not in str(zone.recall("peanuts oolong Turin").results)
    held = zone.get_memory("m1")
    assert (held.text, held.current, held.retracted) == (THREE, False, True)


@pytest.mark.parametrize("level", ["index", "project", "derive"])
def test_it_holds_over_a_rebuild_and_another_import(
    zone: Zone, level: Literal["index", "project", "derive"]
) -> None:
    zone.retract(fact(zone, "oolong").id)
    zone.retract(fact(zone, "Lyon").id)
    held = list(zone.facts(superseded=True))
    zone.rebuild(level=level)
    assert list(zone.facts(superseded=True)) == held
    assert zone.ingest([said("m1", THREE, minute=1)]).duplicate == 1
    assert list(zone.facts(superseded=True)) == held
    assert zone.verify().ok


def test_forgetting_erases_what_was_retracted(zone: Zone) -> None:
    zone.retract(fact(zone, "oolong").id)
    zone.forget("m1")
    assert not [each for each in zone.facts(superseded=True) if "oolong" in each.text]
    assert zone.verify().ok


def test_retracting_again_changes_nothing(zone: Zone) -> None:
    first = zone.retract(fact(zone, "oolong").id)
    head = zone.status().head
    assert zone.retract(first.id) == first
    assert zone.status().head == head


def test_why_says_when_it_was_retracted_and_restored(zone: Zone) -> None:
    id_ = fact(zone, "oolong").id
    zone.retract(id_)
    assert "retracted at" in str(zone.why(id_).steps)
    zone.retract(id_, restore=True)
    assert "restored since" in str(zone.why(id_).steps)


def test_what_cannot_be_retracted_is_refused(zone: Zone) -> None:
    model = zone.create_mental_model("Homes", "Ada moves a lot.")
    with pytest.raises(InvalidInput, match="mental_model"):
        zone.retract(model.id)
    with pytest.raises(InvalidInput, match="nothing to restore"):
        zone.retract("m1", restore=True)
    with pytest.raises(UnknownId):
        zone.retract("nobody")


def test_fault_2_a_fact_of_several_is_updated_and_the_others_stay(zone: Zone) -> None:
    old = fact(zone, "oolong")
    zone.update_memory(old.id, "Ada's favourite tea is sencha.")
    assert current(zone) == {
        "Ada lives in Lyon now.",
        "Ada is allergic to peanuts.",
        "Ada's favourite tea is sencha.",
    }
    assert [(each.text, each.current) for each in zone.history(old.id)] == [
        ("Ada's favourite tea is oolong.", False),
        ("Ada's favourite tea is sencha.", True),
    ]


def test_an_update_that_says_nearly_the_same_is_kept(zone: Zone) -> None:
    for word, text in (("Lyon", "Ada lives in Lyon."), ("peanuts", "Ada is allergic to peanuts!")):
        zone.update_memory(fact(zone, word).id, text)
        assert [each.text for each in zone.facts() if word in each.text] == [text]
    made = zone.remember("The deploy key is in the blue safe.")
    zone.update_memory(made.event_id, "the deploy key is in the blue safe")
    assert "the deploy key is in the blue safe" in current(zone)
    assert "The deploy key is in the blue safe." not in current(zone)


def test_what_was_retracted_can_be_remembered_again(zone: Zone) -> None:
    zone.retract(fact(zone, "Lyon").id)
    zone.remember("Ada lives in Lyon.")
    assert "Ada lives in Lyon." in current(zone)
    assert not [text for text in current(zone) if "Turin" in text]


def part(zone: Zone, words: str) -> str:
    """Return the id of the part of the first message that is these words."""
    event = zone.get_memory("m1")
    start = event.text.index(words)
    return f"{event.id}:{start}-{start + len(words)}"


def test_a_part_of_a_message_is_taken_back_and_restored(zone: Zone) -> None:
    id_ = part(zone, "My favourite tea is oolong.")
    report = zone.retract(id_.replace(zone.get_memory("m1").id, "m1"))
    assert (report.id, report.type, report.status) == (id_, "event", "retracted")
    assert current(zone) == {"Ada lives in Lyon now.", "Ada is allergic to peanuts."}
    assert zone.get_memory("m1").retracted_parts == [id_]
    assert "oolong" not in str(zone.recall("Which tea is it, oolong?").results)
    zone.rebuild(level="derive")
    assert zone.get_memory("m1").retracted_parts == [id_]
    assert "oolong" not in str(current(zone))
    zone.retract(id_, restore=True)
    assert zone.get_memory("m1").retracted_parts == []
    assert "oolong" in str(current(zone))


def test_a_part_of_a_message_is_updated(zone: Zone) -> None:
    report = zone.update_memory(part(zone, "My favourite tea is oolong."), "Tea: sencha.")
    assert zone.get_memory(report.id).sender_id == zone.get_memory("m1").sender_id
    assert "Tea: sencha." in current(zone)
    assert "oolong" not in str(current(zone))


@pytest.mark.parametrize("id_", ["m1:0-9999", "m1:5-5", "m2:9-3", "nobody:0-3"])
def test_what_is_no_part_of_a_message_is_refused(zone: Zone, id_: str) -> None:
    with pytest.raises(UnknownId if "nobody" in id_ else InvalidInput):
        zone.retract(id_)


def test_what_is_replaced_was_true_until_then(zone: Zone) -> None:
    old = fact(zone, "Lyon")
    zone.ingest([said("m3", "We have gone for good, to the far north.", minute=20)])
    assert zone.retract(old.id, replaced_by="m3").status == "retracted"
    assert (fact(zone, "Lyon").current, fact(zone, "Lyon").retracted) == (False, False)
    assert not fact(zone, "Turin").current
    for wrong in (fact(zone, "peanuts").id, "nobody"):
        with pytest.raises((InvalidInput, UnknownId)):
            zone.retract(fact(zone, "oolong").id, replaced_by=wrong)
    with pytest.raises(InvalidInput, match="replaced_by"):
        zone.retract(old.id, restore=True, replaced_by="m3")


def test_only_what_some_events_say_is_taken_back(zone: Zone) -> None:
    zone.ingest([said("m3", "My favourite tea is oolong.", minute=20)])
    id_ = fact(zone, "oolong").id
    zone.retract(id_, source_event_ids=["m1"])
    assert "oolong" not in str(current(zone))
    found = zone.recall("favourite tea oolong", scope=["events"]).results
    assert [result.text for result in found if "oolong" in result.text] == [
        "My favourite tea is oolong."
    ]
    with pytest.raises(InvalidInput, match="source_event_ids"):
        zone.retract(fact(zone, "peanuts").id, source_event_ids=["m3"])


ORDER = "I want you to always answer in bullet points."


def obeyed(zone: Zone) -> list[str]:
    return [directive.text for directive in zone.directives()]


@pytest.mark.parametrize("text", [ORDER, f"I keep two goats. {ORDER} See you!"])
def test_a_retracted_fact_is_no_longer_an_instruction(zone: Zone, text: str) -> None:
    zone.ingest([said("order", text, direction="in", peer_kind="dm", minute=30)])
    assert obeyed(zone) == [ORDER]
    (fact,) = (fact for fact in zone.facts() if "bullet" in fact.text)
    zone.retract(fact.id)
    assert obeyed(zone) == []
    zone.rebuild(level="derive")
    assert obeyed(zone) == []
    zone.retract(fact.id, restore=True)
    assert obeyed(zone) == [ORDER]
    assert zone.verify().ok


def test_an_instruction_beside_a_retracted_fact_stays(zone: Zone) -> None:
    text = f"{ORDER} I work at Northwind."
    zone.ingest([said("order", text, direction="in", peer_kind="dm", minute=30)])
    before = obeyed(zone)
    (fact,) = (fact for fact in zone.facts() if "Northwind" in fact.text)
    zone.retract(fact.id)
    assert obeyed(zone) == before == [ORDER]
