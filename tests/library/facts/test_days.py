"""The days that a fact speaks of: resolved once, the same wherever they are shown (fault 49)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect import Query, Recollect, Zone
from recollect.operations.writing.extracting import Extractor
from recollect.schemas.inbound import InboundEvent, draft_of
from recollect.schemas.wire import Extraction, Fact, RebuildLevel
from recollect.streams.agents.writer import message_decision
from tests.library.kit import said
from tests.slow_parameters import slow_except

#: A Monday.
MONDAY = datetime(2026, 3, 2, 10, tzinfo=UTC)
CITIES = (
    *("Porto", "Lisbon", "Madrid", "Paris", "Berlin", "Vienna", "Prague", "Warsaw", "Oslo"),
    *("Helsinki", "Rome", "Milan", "Naples", "Athens", "London", "Dublin", "Lyon", "Hamburg"),
)
NAMED = "Our dinner for Ian is on Saturday 21 March."
BETTER = "Saturday is better in fact for my sister Ines."
_IN_BRACKETS = re.compile(r"\((\d{1,2} [A-Z][a-z]+ \d{4})\)")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        yield recollect.zone("friends")


def message(id: str, content: str, by: str = "Ada", at: datetime = MONDAY, **more: Any) -> Any:
    return said(id, content, by=by, **{"occurred_at": at.isoformat(), "thread_id": "t", **more})


def corrected() -> list[Any]:
    return [message("named", NAMED, "Bob"), message("better", BETTER)]


def extracted(events: Sequence[Any]) -> dict[str, Extraction]:
    with Extractor("friends") as extractor:
        drafts = (draft_of(InboundEvent(**event)) for event in events)
        return {draft.payload.source_id: extractor.extract(draft) for draft in drafts}


def of_source(zone: Zone, id: str) -> Fact:
    (fact,) = [each for each in zone.facts(superseded=True) if each.source_event_ids == [id]]
    return fact


def days(found: Any) -> tuple[str, str] | None:
    return found.when and (found.when.first, found.when.last)


def printed(zone: Zone, question: str, id: str) -> list[str]:
    """Return the days in brackets in the line of a message, as the context block prints them."""
    block = zone.context(question)
    (place,) = [at for at, item in enumerate(block.items) if id in item.source_event_ids]
    lines = [line for line in block.block.splitlines() if line.startswith("[")]
    return _IN_BRACKETS.findall(lines[place])


def in_words(day: datetime) -> str:
    return f"{day.day} {day:%B} {day.year}"


def test_fault_49_a_weekday_means_one_day_everywhere(zone: Zone) -> None:
    zone.ingest(corrected())
    day = ("2026-03-21", "2026-03-21")
    fact = of_source(zone, "better")
    assert "2026-03-21" in fact.text
    assert days(fact) == day
    asked = "Which day is better for Ines?"
    assert printed(zone, asked, "better") == ["21 March 2026"]
    for query in (
        Query(asked, scope=("facts",)),
        Query(asked, scope=("facts",), valid_at=MONDAY + timedelta(1)),
        Query(asked, scope=("facts",), known_at=MONDAY + timedelta(9999)),
    ):
        (result,) = [each for each in zone.recall(query).results if each.id == fact.id]
        assert days(result) == day
    found = extracted(corrected())["better"]
    assert [days(each) for each in found.facts] == [day]
    assert [(each.first, each.last) for each in found.mentions if each.type == "DATE"] == [day]


def test_days_are_the_same_in_facts_extract_and_context(zone: Zone) -> None:
    draw = random.Random(49)
    events: list[Any] = []
    expected: dict[str, datetime] = {}
    for index, city in enumerate(CITIES):
        at = MONDAY + timedelta(draw.randrange(300), hours=draw.randrange(-9, 13))
        thread = {"thread_id": f"t{index}", "by": f"Writer{index}"}
        kind = draw.choice(("relative", "weekday", "named", "past"))
        if kind == "relative":
            ahead, words = draw.choice(((0, "today"), (1, "tomorrow"), (2, "in two days")))
            text = f"arrives in {city} {words}"
        elif kind == "past":
            ahead, words = draw.choice(((-1, "yesterday"), (-3, "three days ago")))
            text = f"arrived in {city} {words}"
        else:
            ahead = draw.randrange(1, 7)
            if kind == "named":
                ahead += 7 * draw.randrange(1, 5)
                named = at + timedelta(ahead)
                dinner = f"Our dinner is on {named:%A} {named.day} {named:%B}."
                events.append(message(f"n{index}", dinner, at=at - timedelta(minutes=5), **thread))
            text = f"arrives in {city} on {at + timedelta(ahead):%A}"
        expected[f"m{index}"] = at + timedelta(ahead)
        events.append(message(f"m{index}", f"My sister Ines {text}.", at=at, **thread))
    zone.ingest(events)
    found = extracted(events)
    for id, day in expected.items():
        fact = of_source(zone, id)
        assert days(fact) == (f"{day:%Y-%m-%d}", f"{day:%Y-%m-%d}"), fact.text
        assert [days(each) for each in found[id].facts] == [days(fact)]
        asked = f"When does Ines arrive in {CITIES[int(id[1:])]}?"
        assert printed(zone, asked, id) == [in_words(day)], fact.text


def test_a_question_of_a_day_finds_what_is_said_of_it(zone: Zone) -> None:
    zone.ingest(
        [
            message("exam", "My exam is tomorrow."),
            message("tea", "My favourite tea is oolong.", at=MONDAY + timedelta(60)),
        ]
    )
    asked = Query("What do I have on 3 March 2026?", explain=True)
    ranks = {each.source_event_ids[0]: each.arms for each in zone.recall(asked).results}
    assert (ranks["exam"] or {}).get("temporal") == 1
    assert "temporal" not in (ranks.get("tea") or {})


def test_days_are_those_of_all_that_a_fact_tells(zone: Zone) -> None:
    """Also of the sentence before it, which its text gives."""
    texts = (
        "Ines adopted a kitten two weeks ago. Her name's Pip and she's lovely.",
        "I lost my job as a baker yesterday, so I'm going to start my own bakery.",
        "Ines sold the boat last week. It was built in Porto by my uncle.",
    )
    zone.ingest([message(f"m{at}", text, thread_id=f"t{at}") for at, text in enumerate(texts)])
    found = zone.facts(superseded=True)
    assert len(found) > len(texts)
    named = {
        "two weeks ago (16-22 February 2026)": ("2026-02-16", "2026-02-22"),
        "yesterday (2026-03-01)": ("2026-03-01", "2026-03-01"),
        "last week (2026-02-23 to 2026-03-01)": ("2026-02-23", "2026-03-01"),
    }
    written = {
        fact.text: [span for text, span in named.items() if text in fact.text] for fact in found
    }
    assert {span for spans in written.values() for span in spans} == {*named.values()}
    for fact in found:
        assert days(fact) == next(iter(written[fact.text]), None)


def test_days_go_with_what_named_them(zone: Zone) -> None:
    zone.ingest(corrected())
    zone.forget("named")
    assert days(of_source(zone, "better")) == ("2026-03-07", "2026-03-07")
    assert printed(zone, "Which day is better for Ines?", "better") == ["7 March 2026"]
    zone.forget("better")
    with zone._zone.files() as files:
        for table in ("fact_days", "message_dates"):
            assert not list(files.memory.connection.execute(f"SELECT * FROM {table}"))


def test_an_edited_message_means_days_of_when_it_was_first_said(zone: Zone) -> None:
    zone.ingest([message("m", "My sister Ines arrives in Porto tomorrow.")])
    edit = message("m-2", "My sister Ines arrives in Porto tomorrow evening.")
    edit |= {"kind": "edit", "target": "m", "occurred_at": "2026-03-09T10:00:00Z"}
    zone.ingest([edit])
    assert days(of_source(zone, "m-2")) == ("2026-03-03", "2026-03-03")
    assert printed(zone, "When does Ines arrive in Porto?", "m-2") == ["3 March 2026"]


def test_dates_stay_in_place_beside_retracted_words(zone: Zone) -> None:
    zone.ingest([message("m", "I live in Turin. My sister Ines arrives in Porto tomorrow.")])
    (turin,) = [each for each in zone.facts() if "Turin" in each.text]
    zone.retract(turin.id)
    block = zone.context("When does Ines arrive in Porto?").block
    assert "arrives in Porto tomorrow (3 March 2026)." in block


def test_a_remembered_text_keeps_its_days(zone: Zone) -> None:
    zone.remember("Ines likes oolong. The exam is on 4 June 2026.", at=MONDAY)
    (fact,) = zone.facts()
    assert days(fact) == ("2026-06-04", "2026-06-04")


def test_an_assistants_dates_are_resolved_too(zone: Zone) -> None:
    zone.ingest(
        [
            message("q", "When is my dentist appointment with Dr Okafor?"),
            message("a", "Your dentist appointment is tomorrow.", "Bot", direction="out"),
        ]
    )
    assert printed(zone, "When is the dentist appointment?", "a") == ["3 March 2026"]


def test_days_are_the_same_after_a_rebuild(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest(corrected())
        before = [days(each) for each in zone.facts()]
        levels: tuple[RebuildLevel, ...] = ("project", "derive")
        for level in levels:
            zone.rebuild(level)
            assert [days(each) for each in zone.facts()] == before
        assert zone.verify().ok


def test_facts_of_an_earlier_build_have_days_once_derived(
    zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(message_decision, "_days_rows", lambda *_: [])
        earlier.setattr(message_decision, "_date_rows", lambda *_: [])
        zone.ingest(corrected())
    asked = "Which day is better for Ines?"
    assert days(of_source(zone, "better")) is None
    assert printed(zone, asked, "better") == []
    assert zone.verify().ok
    zone.rebuild("derive")
    assert days(of_source(zone, "better")) == ("2026-03-21", "2026-03-21")
    assert printed(zone, asked, "better") == ["21 March 2026"]


def test_a_past_answer_gives_the_days_that_were_known_then(zone: Zone) -> None:
    then = zone.ingest([message("m", "My sister Ines arrives in Porto tomorrow.")]).token
    edit = message("m-2", "My sister Ines arrives in Porto on Saturday.")
    zone.ingest([edit | {"kind": "edit", "target": "m"}])
    asked = Query("When does Ines arrive in Porto?", scope=("facts",))
    (now,) = zone.recall(asked).results
    (before,) = zone.recall(msgspec.structs.replace(asked, known_at=then)).results
    assert (days(before), days(now)) == (
        ("2026-03-03", "2026-03-03"),
        ("2026-03-07", "2026-03-07"),
    )


TALK = (
    *("Our dinner for Ian is on Saturday 21 March.", "Our dinner for Ian is on Sunday 22 March."),
    *("My sister Ines arrives in Porto on Saturday.", BETTER, "My exam is tomorrow."),
    *("The viewing of the flat is on Saturday at 18:00.", "Actually it's 18:30."),
    *("See you on Saturday at the library at 18:00", "At 18:30, not 18:00, sorry."),
)


@pytest.mark.parametrize("seed", slow_except([0], range(3)))
def test_what_is_forgotten_leaves_no_day_behind(tmp_path: Path, seed: int) -> None:
    """A zone that never was told of it has the same rows."""
    draw = random.Random(seed)
    events = [
        message(f"m{at}", draw.choice(TALK), draw.choice(("Ada", "Bob")), MONDAY + timedelta(0, at))
        for at in range(12)
    ]
    gone = {f"m{at}" for at in draw.sample(range(12), 3)}
    held = []
    for told, forgotten in ((events, gone), ([e for e in events if e["id"] not in gone], set())):
        with Recollect(tmp_path / f"home-{len(told)}", encoder="none") as recollect:
            zone = recollect.zone("friends")
            zone.ingest(told)
            for id in sorted(forgotten):
                zone.forget(id)
            assert zone.verify().ok
            with zone._zone.files() as files:
                held.append(
                    [
                        sorted(files.memory.connection.execute(f"SELECT * FROM {table}"))
                        for table in ("fact_days", "message_dates")
                    ]
                )
    assert held[0] == held[1]
    assert all(held[0])
