"""A value that is given alone, to correct another, is told with what says what it is of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.schemas.changes import Fact, FactDays
from recollect.schemas.events import Draft, Edit
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import MINUTE, START, Zone, says
from tests.library.kit import said

VIEWING = "The viewing of the flat is on Friday at 18:00."
LATER = "Actually it's 18:30."
_DAY = re.compile(r" \(\d{4}-\d\d-\d\d\)")


def last_fact(*messages: Draft) -> tuple[str, list[int]]:
    """Return the fact of the last message, and the numbers of the events that it rests on."""
    *before, last = messages
    outcome = Zone(RuleWriter()).given(*before).read(last)
    ((text, sources),) = [
        (row.text, list(part.sources))
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, Fact) and row.source_event_id == outcome.event.id
    ]
    return text, sources


def at(minute: int, who: str, words: str, thread_id: str | None = None) -> Draft:
    return says(who, words, at=START + minute * MINUTE, id=f"m{minute}", thread_id=thread_id)


@pytest.mark.parametrize(
    ("first", "then", "value"),
    [
        (VIEWING, LATER, "18:30"),
        ("Please read page 12 of the novel for Monday.", "No, page 21.", "page 21"),
        ("The exam is in Room 101 on Friday.", "Sorry, Room 102!", "Room 102"),
        ("The exam is in Room 101 on Friday.", "Correction! Room 102, not Room 101.", "Room 102"),
        ("We need 12 chairs for the party.", "Make that 14 chairs.", "14 chairs"),
        ("The choir sings on Tuesday in Riga.", "Scratch that, Wednesday.", "Wednesday"),
    ],
)
def test_it_is_told_with_the_sentence_and_rests_on_both(first: str, then: str, value: str) -> None:
    text, sources = last_fact(at(0, "Ada", first), at(1, "Bob", "ok"), at(2, "Ada", then))
    assert first.rstrip(".") in _DAY.sub("", text)
    assert value in text.rpartition('"')[2]
    assert sources == [1, 3]


def test_what_is_only_pointed_to_there_is_told_too() -> None:
    """As wa-0017 to wa-0047: the hour was only repeated since."""
    text, sources = last_fact(
        at(
            0,
            "Pia",
            "Hello Mel, I call about the flat in Porto. You can see it on the 7th at 18:00.",
        ),
        at(1, "Mel", "Wednesday the 7th, got it. Still 18:00?"),
        at(2, "Pia", "Yes 18:00."),
        at(3, "Pia", "For Wednesday, actually it's 18:30. The tenant has a recital."),
    )
    assert "about the flat in Porto" in text
    assert "You can see it" in text
    assert "18:30" in text
    assert {1, 4} <= set(sources)


def test_what_another_said_is_said_to_be_his() -> None:
    text, _ = last_fact(
        at(0, "Bob", "The viewing of the flat is on Friday at 18:00, Ada."),
        at(1, "Ada", "At the viewing on Friday, do we still meet at 18:00?"),
        at(2, "Bob", "18:00, yes."),
        at(3, "Bob", "Actually it's 18:30."),
    )
    assert text.startswith('After "The viewing of the flat is on Friday (2026-01-09) at 18:00')


def test_the_days_are_those_of_when_it_was_said() -> None:
    minute = 24 * 60
    text, _ = last_fact(
        at(0, "Ada", "The viewing of the flat is tomorrow at 18:00."), at(minute, "Ada", LATER)
    )
    assert "tomorrow (2026-01-06) at 18:00" in text


NAMED = at(0, "Bob", "Our dinner for Ian is on Saturday 24 January.")


def test_fault_49_a_corrected_message_keeps_its_days() -> None:
    """Also of what was no fact before, and with the days that another message named."""
    for first, then in (
        ("The viewing of the flat is on Saturday at 18:00.", LATER),
        ("See you on Saturday at the library at 18:00", "At 18:30, not 18:00, sorry."),
    ):
        zone = Zone(RuleWriter()).given(NAMED, at(1, "Ada", first))
        outcome = zone.read(at(2, "Ada", then))
        facts = {row.id: row.text for row in outcome.rows(Fact)}
        assert facts
        assert all("Saturday (2026-01-24)" in text for text in facts.values())
        days = {row.fact_id: (row.first_day, row.last_day) for row in outcome.rows(FactDays)}
        assert days == dict.fromkeys(facts, ("2026-01-24", "2026-01-24"))
        for part in outcome.parts:
            if any(isinstance(row, Fact | FactDays) for row in part.puts):
                assert list(part.sources) == [1, 2, 3]


@pytest.mark.parametrize(
    "then",
    [
        "The viewing of the flat is at 18:30 instead.",
        "Actually the concert in Riga is at 18:30.",
        "The bakery in Turin opens at 18:30 now.",
    ],
)
def test_who_says_what_it_is_of_needs_no_other_words(then: str) -> None:
    text, _ = last_fact(at(0, "Ada", VIEWING), at(1, "Ada", then))
    assert "After" not in text


@pytest.mark.parametrize(
    "before",
    [
        (at(0, "Ada", VIEWING, thread_id="elsewhere"),),
        (at(0, "Ada", "Is the viewing of the flat on Friday at 18:00?"),),
        (at(0, "Ada", 'Tom wrote: "The viewing of the flat is on Friday at 18:00."'),),
    ],
    ids=["elsewhere", "a question", "of another"],
)
def test_nothing_is_taken_from_what_nobody_told_here(before: tuple[Draft, ...]) -> None:
    outcome = Zone(RuleWriter()).given(*before).read(at(1, "Ada", LATER))
    assert not any("viewing" in row.text for row in outcome.rows(Fact))


def test_words_that_were_edited_are_not_told() -> None:
    edited = says(
        "Ada", "The viewing of the house is on Friday at 18:00.", at=START + 1, id="m0:edited",
        kind=Edit, target="m0",
    )  # fmt: skip
    outcome = Zone(RuleWriter()).given(at(0, "Ada", VIEWING), edited).read(at(2, "Ada", LATER))
    (text,) = (row.text for row in outcome.rows(Fact) if "18:30" in row.text)
    assert "of the flat" not in text


def test_once_the_first_is_forgotten_its_words_are_gone(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest([said("first", VIEWING), said("then", LATER, minute=1)])
        assert any("viewing" in fact.text and "18:30" in fact.text for fact in zone.facts())
        zone.forget("first")
        assert not any("viewing" in fact.text for fact in zone.facts(superseded=True))
