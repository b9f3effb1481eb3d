"""Edits and deletions, as somebody meets them who recalls, asks why, forgets or looks back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone

BASE: dict[str, Any] = {"platform": "chat", "sender_id": "u1", "sender_name": "Ada"}
SAID = BASE | {
    "id": "m1",
    "occurred_at": "2026-03-01T10:00:00Z",
    "content": "My deploy key lies in the blue safe.",
}
EDITED = BASE | {
    "id": "m1:edited:2",
    "kind": "edit",
    "target": "m1",
    "occurred_at": "2026-03-01T10:05:00Z",
    "content": "My deploy key lies in the green drawer.",
}
EDITED_AGAIN = EDITED | {
    "id": "m1:edited:3",
    "occurred_at": "2026-03-01T10:09:00Z",
    "content": "My deploy key lies under the red lamp.",
}
DELETED = BASE | {
    "id": "m1:deleted",
    "kind": "deletion",
    "target": "m1",
    "occurred_at": "2026-03-01T11:00:00Z",
    "content": "",
}
ASIDE = [
    BASE | {"id": "r1", "kind": "reaction", "target": "m1", "content": "deploy key",
            "occurred_at": "2026-03-01T12:00:00Z"},
    BASE | {"id": "n1", "kind": "notice", "content": "Ada set the topic: deploy key",
            "occurred_at": "2026-03-01T12:00:00Z"},
]  # fmt: skip
ASKED = "Where is the deploy key?"


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as opened:
        yield opened.zone("ada")


def answers(zone: Zone, **how: Any) -> list[str]:
    return [result.text for result in zone.recall(ASKED, **how).results]


def test_the_newest_version_is_answered_with_the_one_before_it(zone: Zone) -> None:
    zone.ingest([SAID])
    before = zone.consistency_token()
    zone.ingest([EDITED])
    (result,) = zone.recall(ASKED).results
    assert "green drawer" in result.text
    assert result.source_event_ids == ["m1:edited:2"]
    assert [change.text for change in result.supersedes] == [SAID["content"]]
    zone.ingest([EDITED_AGAIN])
    (result,) = zone.recall(ASKED).results
    assert "red lamp" in result.text
    assert [change.text for change in result.supersedes] == [EDITED["content"]]
    assert ["blue safe" in text for text in answers(zone, known_at=before)] == [True]


@pytest.mark.parametrize("order", list(permutations([SAID, EDITED, EDITED_AGAIN])))
def test_versions_may_come_in_any_order(zone: Zone, order: tuple[dict[str, Any], ...]) -> None:
    for event in order:
        zone.ingest([event])
    assert ["red lamp" in text for text in answers(zone)] == [True]
    assert [fact.text for fact in zone.facts()] == ["Ada's deploy key lies under the red lamp."]


def test_what_was_deleted_is_not_answered_and_why_says_so(zone: Zone) -> None:
    zone.ingest([DELETED, SAID, EDITED])
    assert answers(zone) == []
    assert list(zone.facts()) == []
    why = [step.description for step in zone.why("m1").steps]
    assert any(what.startswith("edited at 2026-03-01T10:05") for what in why)
    assert any(what.startswith("deleted at 2026-03-01T11:00") for what in why)
    told = zone.explain(ASKED, "m1")
    assert told is not None
    assert "edited or deleted" in told.reason


def test_a_fact_that_an_edit_ended_says_by_which_event(zone: Zone) -> None:
    zone.ingest([SAID])
    (fact,) = zone.facts()
    zone.ingest([EDITED])
    steps = [step.description for step in zone.why(fact.id).steps]
    assert any(what.startswith("superseded by event ") for what in steps)


def test_an_event_that_was_edited_or_deleted_is_listed_as_not_current(zone: Zone) -> None:
    zone.ingest([SAID, EDITED, EDITED_AGAIN])
    listed = zone.list_memories(scope="events").memories
    standing = [(one.source_event_ids[0], one.current) for one in listed]
    assert standing == [("m1:edited:3", True), ("m1:edited:2", False), ("m1", False)]
    by = [change.text for change in listed[2].superseded_by]
    assert by == [EDITED_AGAIN["content"], EDITED["content"]]
    zone.ingest([DELETED])
    held = zone.get_memory("m1:edited:3")
    assert held is not None
    assert (held.current, held.superseded_by[0].text) == (False, "(deleted)")


def test_an_edit_without_its_message_stands_for_it(zone: Zone) -> None:
    zone.ingest([EDITED])
    assert ["green drawer" in text for text in answers(zone)] == [True]


def test_reactions_and_notices_are_kept_and_never_answered(zone: Zone) -> None:
    assert zone.ingest([SAID, *ASIDE]).new == 3
    assert zone.ingest(ASIDE).duplicate == 2
    assert ["blue safe" in text for text in answers(zone)] == [True]
    assert len(zone.facts()) == 1
    assert zone.status().head.startswith("3:"), "all three are in the ledger"


@pytest.mark.parametrize("named", ["m1", "m1:edited:2"])
def test_who_forgets_one_version_forgets_all(zone: Zone, named: str) -> None:
    zone.ingest([SAID, EDITED, EDITED_AGAIN, *ASIDE])
    assert zone.forget(named).events == 3
    assert answers(zone) == []
    assert zone.verify().ok


def test_all_that_somebody_sent_is_forgotten_with_reactions_and_notices(zone: Zone) -> None:
    zone.ingest([SAID, EDITED, DELETED, *ASIDE])
    from recollect.schemas.wire import ForgetTargets

    assert zone.erase(zone.plan_erasure(ForgetTargets(sender_id="u1"))).events == 5


def test_a_zone_with_revisions_verifies_and_rebuilds_to_the_same(zone: Zone) -> None:
    zone.ingest([EDITED, SAID, *ASIDE, EDITED_AGAIN])
    zone.ingest([SAID | {"id": "m2"}, DELETED | {"id": "d2", "target": "m2"}])
    said = answers(zone)
    for level in ("index", "project", "derive"):
        zone.rebuild(level=level)
        assert answers(zone) == said
        assert zone.verify().ok
