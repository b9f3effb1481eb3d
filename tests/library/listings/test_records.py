"""`records` and `record` show the ledger as it is, and nothing of what was forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from recollect import InvalidInput, Recollect, UnknownId
from recollect.library.library_zone import Zone
from recollect.schemas.events import RecallCount


def said(number: int, content: str = "I live in Turin.", **more: Any) -> dict[str, Any]:
    """Return the message of a minute."""
    at = f"2026-05-08T{10 + number // 60:02}:{number % 60:02}:00Z"
    return {
        "platform": "chat",
        "id": f"m{number}",
        "sender_id": "u1",
        "sender_name": "Ada",
        "occurred_at": at,
        "ingested_at": at,
        "content": content,
        **more,
    }


@pytest.fixture(autouse=True)
def only_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the ticks of imports out of the ledger, so that its records are those of a test."""
    monkeypatch.setenv("RECOLLECT_TICKS", "off")


@pytest.fixture
def zone(tmp_path: Any) -> Any:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        yield opened.zone("ada")


def numbers(zone: Zone, **filters: Any) -> list[int]:
    return [record.number for record in zone.records(**filters)]


def test_records_come_in_the_order_of_the_ledger(zone: Zone) -> None:
    zone.ingest([said(1), said(2, "My dog is called Rex.")])
    zone.remember("Ada likes tea.")
    listed = zone.records()
    assert [record.number for record in listed] == [1, 2, 3]
    assert [record.kind for record in listed] == ["message", "message", "remember"]
    assert [record.text for record in listed][:2] == ["I live in Turin.", "My dog is called Rex."]
    assert [record.source_id for record in listed][:2] == ["m1", "m2"]
    assert numbers(zone, newest_first=True) == [3, 2, 1]
    assert numbers(zone, newest_first=True, first=2) == [2, 1]
    assert numbers(zone, first=2) == [2, 3]


def test_records_are_found_by_time_and_kind(zone: Zone) -> None:
    zone.ingest(said(minute) for minute in range(1, 9))
    assert numbers(zone, at="2026-05-08T10:05:00Z") == [6, 7, 8]
    assert numbers(zone, at="2026-05-08T10:05:30Z", newest_first=True) == [5, 4, 3, 2, 1]
    zone.retract("m3")
    (retraction,) = zone.records(kinds=["retract"])
    assert retraction.number == 9
    assert numbers(zone, kinds=["message"], first=7) == [7, 8]


def test_commands_about_a_memory_name_who_gave_them(zone: Zone) -> None:
    zone.ingest(said(minute) for minute in range(1, 4))
    by_ada = Zone(zone._zone.acting_as(None, None, "a1b2"))
    by_ada.retract("m2")
    zone.retract("m2", restore=True)
    zone.retract("m3")
    id_ = zone.get_memory("m2").id
    found = list(zone.records(about=[id_]))
    assert [(each.kind, each.given_by) for each in found] == [
        ("retract", "a1b2"),
        ("retract", "owner"),
    ]
    assert all(id_ in each.about for each in found)
    assert [each.given_by for each in zone.records(about=[id_], newest_first=True)] == [
        "owner",
        "a1b2",
    ]
    assert numbers(zone, about=[id_], kinds=["decide_merge"]) == []
    assert numbers(zone, about=[id_], first=found[1].number) == [found[1].number]


def test_an_event_and_a_command_of_recollect_itself_are_given_by_nobody(zone: Zone) -> None:
    zone.ingest(said(1))
    zone.record_accesses([RecallCount("event", zone.get_memory("m1").id, 1)])
    zone.remember("Ada likes tea.")
    assert [(each.kind, each.given_by) for each in zone.records()] == [
        ("message", None),
        ("recalled", None),
        ("remember", "owner"),
    ]


def test_the_text_of_a_command_has_no_hashes(zone: Zone) -> None:
    zone.ingest([said(1), said(2)])
    zone.forget("m1", certificate=True)
    texts = {each.kind: each.text for each in zone.records(kinds=["forget", "certify"])}
    assert texts == {"forget": "targets [1]", "certify": "erasure 3"}


def test_pages_of_records_meet(zone: Zone) -> None:
    zone.ingest(said(minute) for minute in range(1, 8))
    for newest_first in (False, True):
        found, cursor = [], None
        while True:
            page = zone.records(cursor=cursor, limit=3, newest_first=newest_first)
            found += [record.number for record in page]
            if (cursor := page.cursor) is None:
                break
        assert found == sorted(range(1, 8), reverse=newest_first)


@pytest.mark.parametrize("number", [2, 2**63, 10**30, 10**400])
def test_a_number_beyond_the_last_is_unknown_however_large(zone: Zone, number: int) -> None:
    zone.ingest(said(1))
    with pytest.raises(UnknownId, match=f"no record {number}"):
        zone.record(number)
    assert list(zone.records(first=number)) == []


def test_each_record_holds_the_hash_of_the_one_before_it(zone: Zone) -> None:
    zone.ingest(said(minute) for minute in range(1, 5))
    chain = [zone.record(number) for number in range(1, 5)]
    assert chain[0].previous == "0" * 64
    assert [each.previous for each in chain[1:]] == [each.hash for each in chain[:-1]]
    assert zone.status().head == f"4:{chain[-1].hash[:32]}"
    decisions = [each.decision for each in chain if each.decision is not None]
    assert len(decisions) == 4
    assert [each.previous for each in decisions[1:]] == [each.hash for each in decisions[:-1]]


def test_a_record_shows_the_rows_that_were_decided_from_it(zone: Zone) -> None:
    zone.ingest([said(1), said(2, "Hello.")])
    found = zone.record(1)
    assert found.payload is not None
    assert found.payload["content"] == "I live in Turin."
    assert found.decision is not None
    facts = next(rows for rows in found.decision.rows if rows.table == "facts")
    assert (facts.model, facts.written, facts.sources) == ("memory", 1, [1])
    assert "writer" in found.decision.agents
    later = zone.record(2).decision
    assert later is not None
    assert "facts" not in {rows.table for rows in later.rows}


def test_a_forgotten_record_has_no_content(zone: Zone) -> None:
    zone.ingest([said(1, "My password is xylophone."), said(2)])
    zone.forget("m1")
    first, *_, command = zone.records()
    assert (first.number, first.readable, first.text, first.source_id) == (1, False, None, None)
    assert command.kind == "forget"
    gone = zone.record(1)
    assert gone.payload is None
    assert gone.decision is not None
    assert gone.decision.rows == []
    decision = zone.record(command.number).decision
    assert decision is not None
    assert decision.erased == [1]
    assert "xylophone" not in str([zone.records(), gone, zone.record(command.number)])


def test_a_decision_is_found_among_those_of_other_zones_and_chains(tmp_path: Any) -> None:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zones = [opened.zone(f"z{number}") for number in range(24)]
        for start in (1, 31):
            for zone in zones:
                zone.ingest(said(minute, f"Note {minute}.") for minute in range(start, start + 30))
        zones[0].rebuild("derive")
        zones[0].ingest([said(90)])
        for number in (1, 17, 60, 62):
            decision = zones[0].record(number).decision
            assert decision is not None, number
        before = zones[0].record(62)
        assert before.decision is not None
        assert any(rows.table == "facts" for rows in before.decision.rows)


def test_what_cannot_be_listed_is_a_sentence(zone: Zone) -> None:
    assert list(zone.records()) == []
    zone.ingest([said(1)])
    with pytest.raises(UnknownId, match="no record 7; `records` lists them"):
        zone.record(7)
    with pytest.raises(InvalidInput, match="'telegram': there is no such kind"):
        zone.records(kinds=["telegram"])
    with pytest.raises(InvalidInput, match="not both"):
        zone.records(first=1, at="2026-05-08T10:00:00Z")
    with pytest.raises(InvalidInput, match="not from this list"):
        zone.records(cursor="x")
