"""What a person says again, as a program and a person see it (fault 51)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect, Zone
from recollect.schemas.wire import Fact, StatementCount
from tests.home.kit import Home

#: What else Ada says.
OTHERS = [
    f"My {colour} {thing} is from {year}."
    for year, colour in enumerate(("red", "blue", "green", "grey", "white", "black"), 1990)
    for thing in ("bicycle", "kettle", "coat", "lamp", "piano", "desk", "boat", "tent")
]
TURIN, LYON = "I live in Turin.", "I live in Lyon."


def said(day: int, text: str, id_: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a message of Ada on a day of 2026, at nine."""
    month, of_month = divmod(day - 1, 28)
    return {
        "id": id_ or f"d{day}",
        "platform": "chat",
        "sender_id": "u1",
        "sender_name": "Ada",
        "occurred_at": f"2026-{month + 1:02}-{of_month + 1:02}T09:00:00Z",
        "content": text,
        "thread_id": f"t{day % 3}",
        **fields,
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def zone(home: Path) -> Iterator[Zone]:
    with Recollect(home, encoder="none") as r:
        yield r.zone("default")


def homes(zone: Zone) -> list[tuple[str, bool, int, list[str]]]:
    """Return the text, currency, count and sources of each fact about a home, oldest first."""
    found = [each for each in zone.facts(superseded=True) if each.attribute == "home"]
    return [
        (each.text, each.current, each.said.count, each.source_event_ids)
        for each in reversed(found)
    ]


def only(zone: Zone) -> Fact:
    (fact,) = zone.facts(superseded=True)
    return fact


def test_fault_51_said_daily_for_a_month_is_one_fact(zone: Zone, home: Path) -> None:
    zone.ingest([said(day, TURIN) for day in range(1, 16)])
    expected = StatementCount(15, "2026-01-01T09:00:00.000Z", "2026-01-15T09:00:00.000Z")
    ids = [f"d{day}" for day in range(1, 16)]
    fact = only(zone)
    assert (fact.text, fact.said, fact.source_event_ids) == ("Ada lives in Turin.", expected, ids)
    zone.ingest([said(20 + place, text) for place, text in enumerate(OTHERS)])
    results = zone.recall("Where does Ada live?").results
    (result,) = (each for each in results if "Turin" in each.text)
    assert (result.id, result.said, result.source_event_ids) == (fact.id, expected, ids)
    assert zone.context("Where does Ada live?").block.count("Turin") == 1
    why = zone.why(fact.id)
    assert (why.said, why.source_event_ids) == (expected, ids)
    assert zone.verify().ok
    printed = Home(home).well("facts", "--json").stdout.splitlines()
    (shown,) = (line for line in map(json.loads, printed) if line["attribute"] == "home")
    assert "said 15 times, last on 2026-01-15" in Home(home).well("facts", "--limit", "100").stdout
    assert "d5 and 10 more" in Home(home).well("recall", "Where does Ada live?").stdout
    assert shown["said"] == {
        "count": 15,
        "first": expected.first,
        "last": expected.last,
    }


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (TURIN, "i live in TURIN!!"),
        (TURIN, "My home is in Turin."),
        ("I moved to Turin on 3 January.", TURIN),
        ("I like oolong tea.", "I love oolong tea."),
    ],
)
def test_the_same_claim_is_one_fact(zone: Zone, first: str, again: str) -> None:
    zone.ingest([said(5, first), said(40, again)])
    assert only(zone).said.count == 2


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("I ran 5 km today.", "I ran 5 km today."),
        (TURIN, "I live in Turin with my two cats."),
        (TURIN, "I moved to Turin on 3 January."),
        ("I like oolong tea.", "I don't like oolong tea."),
        ("I have two cats at home.", "I have three cats at home."),
    ],
)
def test_another_claim_is_another_fact(zone: Zone, first: str, again: str) -> None:
    zone.ingest([said(5, first), said(40, again)])
    assert [each.said.count for each in zone.facts(superseded=True)] == [1, 1]


def test_the_same_claim_of_another_person_is_theirs(zone: Zone) -> None:
    other = {"sender_id": "u2", "sender_name": "Bob"}
    zone.ingest(
        [said(1, TURIN), said(9, TURIN, **other), said(17, TURIN), said(25, TURIN, **other)]
    )
    assert sorted(each.source_event_ids for each in zone.facts()) == [["d1", "d17"], ["d9", "d25"]]


def test_a_value_that_comes_back_is_current_again(zone: Zone) -> None:
    zone.ingest([said(1, TURIN), said(5, TURIN), said(9, LYON), said(12, TURIN), said(20, TURIN)])
    assert homes(zone) == [
        ("Ada lives in Turin.", False, 2, ["d1", "d5"]),
        ("Ada lives in Lyon.", False, 1, ["d9"]),
        ("Ada lives in Turin.", True, 2, ["d12", "d20"]),
    ]


def test_what_is_learnt_late_is_an_occasion_of_its_time(zone: Zone) -> None:
    for day, text in ((12, TURIN), (9, LYON), (20, TURIN), (1, TURIN), (5, TURIN)):
        zone.ingest([said(day, text)])
    assert homes(zone) == [
        ("Ada lives in Turin.", False, 2, ["d1", "d5"]),
        ("Ada lives in Lyon.", False, 1, ["d9"]),
        ("Ada lives in Turin.", True, 2, ["d12", "d20"]),
    ]


@pytest.mark.parametrize("late", ["I moved to Lyon.", "I moved out of Turin."])
def test_G8_a_late_ending_does_not_end_what_was_said_again(tmp_path: Path, late: str) -> None:
    with Recollect(tmp_path / "home") as r:
        for day, text in ((1, TURIN), (20, TURIN), (9, late)):
            r.zone("a").ingest([said(day, text)])
        assert ("Ada lives in Turin.", True, 2, ["d1", "d20"]) in homes(r.zone("a"))


def test_a_value_between_two_occasions_was_valid_then(zone: Zone) -> None:
    for day, text in ((1, TURIN), (20, TURIN), (9, LYON)):
        zone.ingest([said(day, text)])
    valid = {
        day: zone.recall("Where does Ada live?", valid_at=said(day, "")["occurred_at"]).results[0]
        for day in (5, 12, 22)
    }
    cities = {day: result.text.split()[-1] for day, result in valid.items()}
    assert cities == {5: "Turin.", 12: "Lyon.", 22: "Turin."}


def test_forgetting_an_occasion_takes_it_alone(zone: Zone) -> None:
    zone.ingest([said(day, TURIN) for day in (1, 5, 9)])
    before = only(zone).id
    zone.forget("d5")
    fact = only(zone)
    assert (fact.id, fact.said.count, fact.source_event_ids) == (before, 2, ["d1", "d9"])
    assert zone.verify().ok


def test_forgetting_the_first_source_keeps_the_fact(zone: Zone) -> None:
    zone.ingest([said(1, TURIN), said(5, "My home is in Turin."), said(9, TURIN)])
    before = only(zone).id
    zone.forget("d1")
    fact = only(zone)
    assert fact.id != before
    assert (fact.text, fact.said.count, fact.source_event_ids) == (
        "Ada's home is in Turin.",
        2,
        ["d5", "d9"],
    )
    zone.forget("d5", "d9")
    assert zone.facts(superseded=True).facts == []
    assert zone.verify().ok


def test_retracting_takes_all_occasions_and_restoring_gives_them_back(zone: Zone) -> None:
    zone.ingest([said(1, TURIN), said(5, "Hello! I live in Turin."), said(9, TURIN)])
    fact = only(zone)
    zone.retract(fact.id)
    assert zone.facts().facts == []
    for scope in (["events", "facts"], ["events"]):
        assert "Turin" not in str(zone.recall("Where does Ada live?", scope=scope).results)
    # Derived from the next event, it is still retracted.
    zone.forget("d1")
    assert zone.facts().facts == []
    zone.retract(only(zone).id, restore=True)
    assert [each.source_event_ids for each in zone.facts()] == [["d5", "d9"]]
    assert zone.verify().ok


def test_a_deleted_message_is_no_occasion_any_more(zone: Zone) -> None:
    zone.ingest([said(1, TURIN), said(5, TURIN), said(9, TURIN)])
    for deleted, left in (("d5", ["d1", "d9"]), ("d1", ["d9"])):
        zone.ingest([said(20, "", f"gone {deleted}", kind="deletion", target=deleted)])
        assert only(zone).source_event_ids == left
        assert only(zone).current
    zone.ingest([said(21, "", "gone d9", kind="deletion", target="d9")])
    assert not only(zone).current
    zone.forget("gone d9")
    assert (only(zone).current, only(zone).source_event_ids) == (True, ["d9"])
    assert zone.verify().ok


def test_a_correction_of_an_occasion_ends_the_fact(zone: Zone) -> None:
    first, again = "The launch is on 12 June.", "The launch is on 12 June!"
    zone.ingest([said(1, first), said(9, again, thread_id="t")])
    zone.ingest([said(10, "Correction: the launch is on 14 June.", thread_id="t")])
    current = [each.text for each in zone.facts()]
    assert all("12 June" not in text for text in current)
    assert any("14 June" in text for text in current)


def test_a_rebuild_gives_the_same_occasions(zone: Zone) -> None:
    zone.ingest([said(1, TURIN), said(5, TURIN), said(9, LYON), said(12, TURIN), said(20, TURIN)])
    before = homes(zone)
    zone.rebuild("derive")
    assert homes(zone) == before
    assert zone.verify().ok


def test_recall_as_of_then_counts_what_was_known(zone: Zone) -> None:
    zone.ingest([said(day, TURIN, ingested_at=said(day, "")["occurred_at"]) for day in (1, 5, 9)])
    (then,) = zone.recall("Where does Ada live?", known_at="2026-01-06T00:00:00Z").results
    assert then.said is not None
    assert (then.said.count, then.source_event_ids) == (2, ["d1", "d5"])


def test_context_names_what_a_repetition_no_longer_says(zone: Zone) -> None:
    zone.ingest(
        [
            said(1, "I live in Porto."),
            said(8, "I live in Porto. The dentist is on Friday at 14:30."),
            said(40, "I live in Ghent now."),
        ]
    )
    block = zone.context("Where does Ada live, and when is the dentist?").block
    assert "dentist" in block
    assert "only previously: )" not in block
