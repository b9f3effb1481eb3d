"""A value that is given alone, to correct another, has what it is of as its context."""

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


def last_fact(*messages: Draft) -> tuple[str, str, tuple[int, ...]]:
    """Return text, context and source numbers of the last message's first fact."""
    *before, last = messages
    outcome = Zone(RuleWriter()).given(*before).read(last)
    return next(
        (row.text, row.context or "", part.sources)
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, Fact) and row.source_event_id == outcome.event.id
    )


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
def test_it_has_the_sentence_and_rests_on_both(first: str, then: str, value: str) -> None:
    text, context, sources = last_fact(at(0, "Ada", first), at(1, "Bob", "ok"), at(2, "Ada", then))
    assert value in text
    assert _DAY.sub("", context) == f"Ada said: {first}"
    assert first.rstrip(".") not in _DAY.sub("", text)
    assert sources == (1, 3)


def test_the_sentence_before_says_what_it_is() -> None:
    text, context, sources = last_fact(
        at(
            0,
            "Pia",
            "Hello Mel, I call about the flat in Porto. You can see it on the 7th at 18:00.",
        ),
        at(1, "Mel", "Wednesday the 7th, got it. Still 18:00?"),
        at(2, "Pia", "Yes 18:00."),
        at(3, "Pia", "For Wednesday, actually it's 18:30. The tenant has a recital."),
    )
    assert "18:30" in text
    assert "about the flat in Porto" in context
    assert "You can see it" in context
    assert {1, 4} <= set(sources)


def test_what_another_said_has_his_name() -> None:
    _, context, _ = last_fact(
        at(0, "Bob", "The viewing of the flat is on Friday at 18:00, Ada."),
        at(1, "Ada", "At the viewing on Friday, do we still meet at 18:00?"),
        at(2, "Bob", "18:00, yes."),
        at(3, "Bob", "Actually it's 18:30."),
    )
    assert context.startswith(
        "Bob said: The viewing of the flat is on Friday (2026-01-09) at 18:00"
    )


def test_the_days_are_those_of_when_it_was_said() -> None:
    minute = 24 * 60
    first = at(0, "Ada", "The viewing of the flat is tomorrow at 18:00.")
    _, context, _ = last_fact(first, at(minute, "Ada", LATER))
    assert "tomorrow (2026-01-06) at 18:00" in context


def test_a_corrected_day_is_none_of_the_fact() -> None:
    zone = Zone(RuleWriter()).given(at(0, "Ada", "The choir sings on Tuesday in Riga."))
    outcome = zone.read(at(1, "Ada", "Scratch that, Wednesday."))
    days = [(row.first_day, row.last_day) for row in outcome.rows(FactDays)]
    assert days == [("2026-01-07", "2026-01-07")]


NAMED = at(0, "Bob", "Our dinner for Ian is on Saturday 24 January.")


def test_fault_49_a_corrected_message_keeps_its_days() -> None:
    """Also of what was no fact before, and with the days that another message named."""
    for first, then in (
        ("The viewing of the flat is on Saturday at 18:00.", LATER),
        ("See you on Saturday at the library at 18:00", "At 18:30, not 18:00, sorry."),
    ):
        zone = Zone(RuleWriter()).given(NAMED, at(1, "Ada", first))
        outcome = zone.read(at(2, "Ada", then))
        facts = {row.id: f"{row.context} {row.text}" for row in outcome.rows(Fact)}
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
    _, context, sources = last_fact(at(0, "Ada", VIEWING), at(1, "Ada", then))
    assert (context, sources) == ("", (2,))


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
    facts = outcome.rows(Fact)
    assert facts
    assert not any("viewing" in f"{row.context} {row.text}" for row in facts)


def test_words_that_were_edited_are_not_told() -> None:
    edited = says(
        "Ada", "The viewing of the house is on Friday at 18:00.", at=START + 1, id="m0:edited",
        kind=Edit, target="m0",
    )  # fmt: skip
    outcome = Zone(RuleWriter()).given(at(0, "Ada", VIEWING), edited).read(at(2, "Ada", LATER))
    (fact,) = (row for row in outcome.rows(Fact) if "18:30" in row.text)
    assert "of the flat" not in f"{fact.context} {fact.text}"


def test_once_the_first_is_forgotten_its_words_are_gone(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest([said("first", VIEWING), said("then", LATER, minute=1)])
        (fact,) = zone.facts()
        assert "viewing" in repr(zone.why(fact.id))
        zone.forget("first")
        (fact,) = zone.facts(superseded=True)
        assert "18:30" in fact.text
        assert "viewing" not in repr(zone.why(fact.id))
