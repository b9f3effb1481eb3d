"""The daily merge of facts (B10): the other fact is hidden, never deleted, and can come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.streams.lifecycle.verifying import verify


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    Home.create_or_open(tmp_path / "home", without_encoder=True, agents=["own", "consolidation"])
    with Recollect(tmp_path / "home") as memory:
        yield memory.zone("ada")


def tell(zone: Zone, id_: str, sender: str, text: str, day: int) -> None:
    at = f"2026-05-{day:02}T10:00:00Z"
    event = {"id": id_, "platform": "chat", "thread_id": sender, "content": text}
    sent = {"sender_id": sender.lower(), "sender_name": sender}
    zone.ingest([event | sent | {"occurred_at": at, "ingested_at": at}])


def both(zone: Zone) -> None:
    """Let Ada and Bob say the same, and run the passes."""
    tell(zone, "own", "Ada", "I live in Lisbon.", 1)
    tell(zone, "other", "Bob", "Ada lives in Lisbon.", 2)
    zone.consolidate()


def facts(zone: Zone) -> dict[str, int]:
    """Return the text of each current fact, and how often it was said."""
    return {each.text: 1 if each.said is None else each.said.count for each in zone.facts()}


def test_B10_what_two_say_is_one_fact_that_cites_both(zone: Zone) -> None:
    both(zone)
    assert facts(zone) == {"Ada lives in Lisbon.": 2}
    (fact,) = zone.facts()
    assert {"own", "other"} <= set(zone.why(fact.id).source_event_ids)


def test_B10_the_other_fact_stays_and_says_why_it_is_hidden(zone: Zone) -> None:
    both(zone)
    (hidden,) = [each for each in zone.facts(superseded=True) if not each.current]
    assert hidden.text == "Bob: Ada lives in Lisbon."
    steps = [step.description for step in zone.why(hidden.id).steps]
    assert any("which stands for both: the same words" in step for step in steps)


def test_the_first_hand_fact_is_kept_whoever_spoke_first(zone: Zone) -> None:
    tell(zone, "first", "Ada", "I play the cello.", 1)
    tell(zone, "other", "Bob", "Ada lives in Lisbon.", 2)
    tell(zone, "own", "Ada", "I live in Lisbon.", 3)
    zone.consolidate()
    assert facts(zone) == {"Ada lives in Lisbon.": 2, "Ada plays the cello.": 1}


def test_a_merge_undone_is_not_made_again(zone: Zone) -> None:
    both(zone)
    (merge,) = [each for each in zone.merges() if each.of == "facts"]
    assert (merge.a, merge.b) == ("Ada lives in Lisbon.", "Bob: Ada lives in Lisbon.")
    assert zone.decide_merge(merge.id, "undone").status == "undone"
    apart = {"Ada lives in Lisbon.": 1, "Bob: Ada lives in Lisbon.": 1}
    assert facts(zone) == apart
    zone.consolidate()
    assert facts(zone) == apart


def test_what_is_said_again_later_counts_for_the_kept_fact(zone: Zone) -> None:
    both(zone)
    tell(zone, "again", "Bob", "Ada lives in Lisbon.", 9)
    zone.consolidate()
    assert facts(zone) == {"Ada lives in Lisbon.": 3}


def test_a_merged_fact_is_no_change(zone: Zone) -> None:
    both(zone)
    results = zone.recall("Where does Ada live?").results
    assert results
    assert not [each for each in results if each.is_stale or each.superseded_by]
    tell(zone, "moved", "Ada", "I live in Porto now.", 9)
    changed = {
        source: each.is_stale
        for each in zone.recall("Where does Ada live?").results
        for source in each.source_event_ids
    }
    assert (changed["own"], changed["other"], changed["moved"]) == (True, True, False)


@pytest.mark.parametrize("gone", ["own", "other"])
def test_without_one_message_it_is_as_if_the_other_stood_alone(zone: Zone, gone: str) -> None:
    both(zone)
    zone.forget(gone)
    left = "Bob: Ada lives in Lisbon." if gone == "own" else "Ada lives in Lisbon."
    assert facts(zone) == {left: 1}
    assert verify(zone._zone.node, "ada").ok


def test_a_retraction_takes_back_both(zone: Zone) -> None:
    both(zone)
    (fact,) = zone.facts()
    zone.retract(fact.id)
    assert facts(zone) == {}


def test_merges_outlive_a_rebuild(zone: Zone) -> None:
    both(zone)
    zone.rebuild(level="derive")
    assert facts(zone) == {"Ada lives in Lisbon.": 2}


def test_an_observation_rests_on_the_kept_fact(zone: Zone) -> None:
    for n, text in enumerate(("I bake bread.", "Bread is my life.", "I sell bread in town.")):
        tell(zone, f"own{n}", "Ada", text, n + 1)
    tell(zone, "other", "Bob", "Ada bakes bread.", 5)
    zone.consolidate()
    kept = {each.id for each in zone.facts()}
    cited = {item.fact_id for each in zone.observations() for item in each.items}
    assert cited <= kept
