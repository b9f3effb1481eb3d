"""Edits and deletions: of a message the newest version counts, of a deleted one none does."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from recollect.schemas.changes import FactSupersession
from recollect.schemas.events import Deletion, Draft, Edit
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, HOUR, MINUTE, START, Zone, ends_turn, says


def current(zone: Zone) -> list[str]:
    """Return what is held for true, by text."""
    return sorted(
        text
        for (text,) in zone.ask(
            "memory",
            "SELECT text FROM facts WHERE id NOT IN (SELECT fact_id FROM fact_ends)",
        )
    )


def edit(words: str, of: str = "m1", at: int = START + MINUTE, **fields: Any) -> Draft:
    return says("Ada", words, id=f"{of}:{at}", at=at, kind=Edit, target=of, **fields)


def deletion(of: str = "m1", at: int = START + HOUR) -> Draft:
    return says("Ada", "", id=f"{of}:gone", at=at, kind=Deletion, target=of)


SAID = says("Ada", "I live in Kyiv. I have a cat.", id="m1")


def test_an_edit_takes_the_place_of_what_was_said() -> None:
    zone = Zone(RuleWriter()).given(SAID, edit("I live in Lviv."))
    assert current(zone) == ["Ada lives in Lviv."]


def test_an_edit_that_comes_first_stands() -> None:
    zone = Zone(RuleWriter()).given(edit("I live in Lviv."), SAID)
    assert current(zone) == ["Ada lives in Lviv."]


def test_of_several_edits_the_newest_stands_in_whatever_order_they_come() -> None:
    versions = [SAID, edit("I live in Lviv."), edit("I live in Odesa.", at=START + HOUR)]
    for order in permutations(versions):
        assert current(Zone(RuleWriter()).given(*order)) == ["Ada lives in Odesa."]


def test_an_edit_that_only_repeats_what_was_said_keeps_it() -> None:
    zone = Zone(RuleWriter()).given(SAID, edit("I live in Kyiv! I have a cat."))
    assert current(zone) == ["Ada has a cat.", "Ada lives in Kyiv."]


def test_an_edit_that_says_nothing_ends_what_was_said() -> None:
    assert current(Zone(RuleWriter()).given(SAID, edit("lol"))) == []


def test_an_edit_of_an_old_message_does_not_undo_what_was_said_since() -> None:
    moved = says("Ada", "I moved to Rome.", id="m2", at=START + DAY)
    zone = Zone(RuleWriter()).given(
        says("Ada", "I live in Kyiv.", id="m1"), moved, edit("I live in Kyiv!!", at=START + 2 * DAY)
    )
    assert current(zone) == ["Ada moved to Rome."]


def test_tomorrow_counts_from_when_a_message_was_first_said() -> None:
    later = edit("I fly to Oslo tomorrow!", at=START + 9 * DAY)
    known = Zone(RuleWriter()).given(says("Ada", "I fly to Oslo tomorow", id="m1"), later)
    alone = Zone(RuleWriter()).given(
        edit("I fly to Oslo tomorrow!", at=START + 9 * DAY, said_at=START)
    )
    for zone in (known, alone):
        assert [text for text in current(zone) if "6 January 2026" in text or "2026-01-06" in text]


def test_nothing_is_held_of_what_was_taken_back_whichever_comes_first() -> None:
    assert current(Zone(RuleWriter()).given(SAID, deletion())) == []
    assert current(Zone(RuleWriter()).given(deletion(), SAID)) == []
    assert current(Zone(RuleWriter()).given(SAID, deletion(), edit("I live in Lviv."))) == []


HELD = says("Ada", "I work at Siemens. I have a cat.", id="m0", at=START - DAY)
JOB, PET = "Ada works at Siemens.", "Ada has a cat."


@pytest.mark.parametrize(
    "ending",
    [
        "I no longer work at Siemens.",
        "I quit my job at Siemens.",
        "I don't work at Siemens anymore.",
    ],
)
def test_the_newest_version_decides_what_a_message_ends(ending: str) -> None:
    said = says("Ada", ending, id="m1")
    ended = Zone(RuleWriter()).given(HELD, said)
    assert JOB not in current(ended)
    assert JOB in current(ended.given(edit("I like the town.")))
    other = Zone(RuleWriter()).given(HELD, said, edit("I no longer have a cat."))
    assert JOB in current(other)
    assert PET not in current(other)
    again = Zone(RuleWriter()).given(HELD, said, edit(f"Sadly {ending}"))
    assert JOB not in current(again)
    assert PET in current(again)
    assert current(Zone(RuleWriter()).given(HELD, said, deletion())) == sorted([JOB, PET])


def test_what_holds_again_ends_like_anything_else() -> None:
    zone = Zone(RuleWriter()).given(HELD, says("Ada", "I quit my job at Siemens.", id="m1"))
    zone.given(deletion(), says("Ada", "I no longer work at Siemens.", id="m2", at=START + DAY))
    assert JOB not in current(zone)


def test_what_two_messages_ended_holds_again_when_neither_stands() -> None:
    values = [
        says("Ada", f"I live in {town}.", id=f"m{day}", at=START + day * DAY)
        for day, town in enumerate(["Kyiv", "Lviv", "Odesa"])
    ]
    zone = Zone(RuleWriter()).given(*values, deletion("m1", START + 3 * DAY))
    assert current(zone) == ["Ada lives in Odesa."]
    assert current(zone.given(deletion("m2", START + 4 * DAY))) == ["Ada lives in Kyiv."]


def test_the_same_id_on_another_platform_is_another_message() -> None:
    other = says("Ada", "I live in Lviv.", kind=Edit, target="m1", platform="mail", account="a2")
    assert "Ada has a cat." in current(Zone(RuleWriter()).given(SAID, other))


def test_a_message_that_was_edited_before_its_turn_was_over_counts_as_edited() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "I live in Kyiv.", id="m1", turn_id="t1"),
        edit("I live in Lviv."),
        ends_turn("t1"),
    )
    assert current(zone) == ["Ada lives in Lviv."]


def test_nothing_of_a_message_stands_in_the_end_of_its_facts() -> None:
    outcome = Zone(RuleWriter()).given(SAID).read(deletion())
    assert set(outcome.sources_of(FactSupersession)) == {(2,)}
