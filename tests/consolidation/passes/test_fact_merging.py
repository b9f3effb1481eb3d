"""The daily merge of facts (B10): the other fact is hidden, never deleted, and can come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.streams.agents.consolidation import fact_merging
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.mental_models.page import PageFact
from recollect.streams.mental_models.same_facts import Meaning, meanings


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


def current(zone: Zone) -> list[tuple[str, int]]:
    """Return the text of each current fact, and how often it was said."""
    return [
        (each.text, 1 if each.said is None else each.said.count) for each in zone.facts(limit=500)
    ]


def facts(zone: Zone) -> dict[str, int]:
    """Return how often each current fact was said, by its text."""
    return dict(current(zone))


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


@pytest.mark.parametrize("about", ["Ada", "Dora"])
def test_facts_that_an_erasure_separates_are_merged_by_the_next_pass(
    zone: Zone, about: str
) -> None:
    tell(zone, "early", "Ada", "I own a red kayak.", 1)
    for place in range(12):
        tell(zone, f"m{place}", "Ada", f"I repaired boat number {place} for the harbour club.", 1)
    tell(zone, "own", "Ada", "I live in Lisbon.", 2)
    tell(zone, "bob", "Bob", "Ada lives in Lisbon.", 3)
    tell(zone, "carla", "Carla", "Ada lives in Lisbon.", 4)
    zone.consolidate()
    assert said_in_lisbon(zone) == [3]
    zone.forget("own")
    assert said_in_lisbon(zone) == [1, 1]
    tell(zone, "new", about, "I play the cello.", 5)
    zone.consolidate()
    assert said_in_lisbon(zone) == [2]
    zone.rebuild("derive")
    assert said_in_lisbon(zone) == [2]
    assert zone.verify().ok


def said_in_lisbon(zone: Zone) -> list[int]:
    return [count for text, count in current(zone) if "lives in Lisbon" in text]


def test_an_observation_rests_on_the_kept_fact(zone: Zone) -> None:
    for n, text in enumerate(("I bake bread.", "Bread is my life.", "I sell bread in town.")):
        tell(zone, f"own{n}", "Ada", text, n + 1)
    tell(zone, "other", "Bob", "Ada bakes bread.", 5)
    zone.consolidate()
    kept = {each.id for each in zone.facts(limit=500)}
    cited = {item.fact_id for each in zone.observations() for item in each.items}
    assert cited <= kept


@pytest.mark.parametrize(
    ("own", "kept", "other"),
    [
        ("I live in Lisbon with a parrot.", "Ada lives in Lisbon with a parrot.",
         "Ada lives in Lisbon with a parrot."),
        ("I moved to Lisbon.", "Ada moved to Lisbon.", "Ada lives in Lisbon."),
    ],
    ids=["the same words", "the same value"],
)  # fmt: skip
def test_new_facts_are_compared_only_with_those_that_have_their_words_or_values(
    zone: Zone, monkeypatch: pytest.MonkeyPatch, own: str, kept: str, other: str
) -> None:
    tell(zone, "own", "Ada", own, 1)
    for place in range(40):
        tell(zone, f"m{place}", "Ada", f"I repaired boat number {place} for the harbour club.", 1)
    zone.consolidate()
    compared: list[str] = []

    def counted(fact: PageFact, entity_id: str) -> Iterator[Meaning]:
        compared.append(fact.text)
        return meanings(fact, entity_id)

    monkeypatch.setattr(fact_merging, "meanings", counted)
    tell(zone, "other", "Bob", other, 1)
    zone.consolidate()
    assert facts(zone)[kept] == 2
    assert not [text for text in compared if "harbour" in text]
