"""The merge clerk: near-certainty merges, doubt waits for a person, and all can be taken back."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import Entity, Merge, MergeCandidate, MergeDecision, MergeUndo
from recollect.schemas.events import DecideMerge, Draft, ProposeMerge, UndoMerge
from recollect.streams.agents.identity.merge_handler import MergeHandler
from tests.agents.kit import MINUTE, START, Outcome, Zone, command


def person(id: str) -> Entity:
    return Entity(id, id.title(), "person", id, "inferred", START)


def zone() -> Zone:
    """Ann, Anna and Hanna, who are three as far as anybody knows."""
    return Zone(MergeHandler()).given(person("ann"), person("anna"), person("hanna"))


def propose(a: str, b: str, confidence: float, *, at: int = START) -> Draft:
    return command(
        ProposeMerge(
            source_id=f"propose:{a}:{b}:{at}",
            entity_a=a,
            entity_b=b,
            confidence=confidence,
            reason="the same phone",
        ),
        at=at,
    )


def decide(candidate: str, approve: bool, *, at: int = START + MINUTE) -> Draft:
    return command(
        DecideMerge(source_id=f"decide:{at}", candidate_id=candidate, approve=approve), at=at
    )


def undo(merge: str, *, at: int = START + 2 * MINUTE) -> Draft:
    return command(UndoMerge(source_id=f"undo:{merge}:{at}", merge_id=merge), at=at)


def candidate(outcome: Outcome) -> str:
    (row,) = outcome.rows(MergeCandidate)
    return row.id


def merge(outcome: Outcome) -> str:
    (row,) = outcome.rows(Merge)
    return row.id


def statuses(zone: Zone) -> list[str]:
    return [
        status
        for (status,) in zone.ask("identity", "SELECT status FROM merge_candidates ORDER BY id")
    ]


# Proposing


@pytest.mark.parametrize("confidence", [0.9, 0.95, 1.0])
def test_near_certainty_merges_at_once(confidence: float) -> None:
    home = zone()
    outcome = home.read(propose("ann", "anna", confidence))
    (made,) = outcome.rows(Merge)
    assert (made.winner_id, made.loser_id, made.confidence) == ("ann", "anna", confidence)
    assert (made.reason, made.executed_at) == ("the same phone", START)
    assert outcome.rows(MergeDecision) == [MergeDecision(candidate(outcome), "executed", START)]
    assert [home.canonical_id(each) for each in ("ann", "anna", "hanna")] == ["ann", "ann", "hanna"]


@pytest.mark.parametrize("confidence", [0.0, 0.5, 0.8999])
def test_doubt_waits_for_review_and_merges_nobody(confidence: float) -> None:
    home = zone()
    outcome = home.read(propose("ann", "anna", confidence))
    assert [type(row) for row in outcome.puts] == [MergeCandidate]
    (row,) = outcome.rows(MergeCandidate)
    assert (row.entity_a_id, row.entity_b_id, row.confidence) == ("ann", "anna", confidence)
    assert (row.reason, row.created_at) == ("the same phone", START)
    assert statuses(home) == ["pending"]
    assert home.canonical_id("anna") == "anna"


def test_what_nobody_knows_is_not_merged() -> None:
    home = zone()
    for pair in (("ann", "nobody"), ("nobody", "ann"), ("nobody", "nothing")):
        assert home.read(propose(*pair, 0.99)).rows(Merge) == []
    assert home.canonical_id("ann") == "ann"


def test_nobody_is_merged_into_himself() -> None:
    home = zone()
    assert home.read(propose("ann", "ann", 1.0)).rows(Merge) == []
    assert home.canonical_id("ann") == "ann"


def test_two_that_are_one_already_are_not_merged_again() -> None:
    home = zone().given(propose("ann", "anna", 1.0))
    assert home.read(propose("ann", "anna", 1.0, at=START + 1)).rows(Merge) == []
    assert home.read(propose("anna", "ann", 1.0, at=START + 2)).rows(Merge) == []
    assert [home.canonical_id(each) for each in ("ann", "anna")] == ["ann", "ann"]


def test_a_merge_is_between_those_who_stand_for_the_named() -> None:
    home = zone().given(propose("ann", "anna", 1.0))
    (made,) = home.read(propose("hanna", "anna", 1.0, at=START + 1)).rows(Merge)
    assert (made.winner_id, made.loser_id) == ("hanna", "ann")
    assert [home.canonical_id(each) for each in ("ann", "anna", "hanna")] == ["hanna"] * 3


def test_a_ring_of_merges_cannot_be_closed() -> None:
    home = zone().given(
        propose("ann", "anna", 1.0),
        propose("anna", "hanna", 1.0, at=START + 1),
        propose("hanna", "ann", 1.0, at=START + 2),
    )
    assert [home.canonical_id(each) for each in ("ann", "anna", "hanna")] == ["ann"] * 3


# Reviewing


def test_an_approved_candidate_is_merged() -> None:
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    outcome = home.read(decide(held, approve=True))
    (made,) = outcome.rows(Merge)
    assert (made.winner_id, made.loser_id, made.confidence) == ("ann", "anna", 0.5)
    assert made.executed_at == START + MINUTE
    assert statuses(home) == ["executed"]
    assert home.canonical_id("anna") == "ann"


def test_an_approval_repeats_no_words_of_the_proposal() -> None:
    """It stays when the proposal is forgotten, so it must not quote it."""
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    (made,) = home.read(decide(held, approve=True)).rows(Merge)
    assert made.reason == "approved by review"


def test_a_rejected_candidate_merges_nobody() -> None:
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    outcome = home.read(decide(held, approve=False))
    assert outcome.puts == [MergeDecision(held, "rejected", START + MINUTE)]
    assert statuses(home) == ["rejected"]
    assert home.canonical_id("anna") == "anna"


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_a_review_is_final(first: bool, second: bool) -> None:
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    home.read(decide(held, approve=first))
    before = statuses(home)
    assert home.read(decide(held, approve=second, at=START + 5)).puts == []
    assert statuses(home) == before


@pytest.mark.parametrize("approve", [True, False])
@pytest.mark.parametrize("held", ["", "nobody", "' OR '1'='1"])
def test_a_review_of_what_is_no_candidate_does_nothing(held: str, approve: bool) -> None:
    home = zone().given(propose("ann", "anna", 0.5))
    assert home.read(decide(held, approve=approve)).puts == []
    assert statuses(home) == ["pending"]


def test_an_approval_settles_a_candidate_whose_two_have_become_one_meanwhile() -> None:
    """Else it would wait for review for ever."""
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    home.read(propose("ann", "anna", 1.0, at=START + 1))
    outcome = home.read(decide(held, approve=True))
    assert outcome.puts == [MergeDecision(held, "executed", START + MINUTE)]
    assert "pending" not in statuses(home)


# Taking back


def test_an_undone_merge_leaves_two() -> None:
    home = zone()
    made = merge(home.read(propose("ann", "anna", 1.0)))
    outcome = home.read(undo(made))
    assert outcome.puts == [MergeUndo(made, START + 2 * MINUTE)]
    assert [home.canonical_id(each) for each in ("ann", "anna")] == ["ann", "anna"]


def test_a_merge_is_undone_once() -> None:
    home = zone()
    made = merge(home.read(propose("ann", "anna", 1.0)))
    home.read(undo(made))
    assert home.read(undo(made, at=START + 9 * MINUTE)).puts == []


@pytest.mark.parametrize("made", ["", "nothing", "ann"])
def test_what_was_never_merged_is_not_undone(made: str) -> None:
    assert zone().read(undo(made)).puts == []


def test_undoing_a_merge_keeps_those_that_were_made_below_it() -> None:
    home = zone().given(propose("anna", "hanna", 1.0))
    made = merge(home.read(propose("ann", "anna", 1.0, at=START + 1)))
    assert home.canonical_id("hanna") == "ann"
    home.read(undo(made))
    assert [home.canonical_id(each) for each in ("ann", "anna", "hanna")] == ["ann", "anna", "anna"]


def test_what_was_undone_can_be_merged_again() -> None:
    home = zone()
    made = merge(home.read(propose("ann", "anna", 1.0)))
    home.given(undo(made), propose("ann", "anna", 1.0, at=START + 3 * MINUTE))
    assert home.canonical_id("anna") == "ann"


def test_undoing_an_approved_merge_does_not_ask_again() -> None:
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    home.read(undo(merge(home.read(decide(held, approve=True)))))
    assert statuses(home) == ["executed"]
    assert home.canonical_id("anna") == "anna"


# Sessions (A18)


def sessions(zone: Zone) -> dict[str, str]:
    """Return under whom the sessions of each that was merged go on."""
    found = zone.ask("identity", "SELECT alias_id, entity_id FROM session_aliases")
    assert len(found) == len(dict(found)), "one cannot go on under two"
    return dict(found)


def test_sessions_follow_a_merge_and_its_undoing() -> None:
    home = zone()
    assert sessions(home) == {}
    made = merge(home.read(propose("ann", "anna", 1.0)))
    assert sessions(home) == {"anna": "ann"}
    home.read(undo(made))
    assert sessions(home) == {}


def test_sessions_follow_a_chain_of_merges_to_its_end() -> None:
    home = zone()
    first = merge(home.read(propose("anna", "hanna", 1.0)))
    home.read(propose("ann", "anna", 1.0, at=START + 1))
    assert sessions(home) == {"anna": "ann", "hanna": "ann"}
    home.read(undo(first))
    assert sessions(home) == {"anna": "ann"}


def test_sessions_wait_for_a_review_as_the_merge_does() -> None:
    home = zone()
    held = candidate(home.read(propose("ann", "anna", 0.5)))
    assert sessions(home) == {}
    home.read(decide(held, approve=True))
    assert sessions(home) == {"anna": "ann"}


def test_a_merge_that_is_rolled_back_leaves_no_session_behind() -> None:
    """In one transaction, or neither: nobody sees the one without the other."""
    home = zone()
    connection = home.identity
    connection.execute("BEGIN")
    home.read(propose("ann", "anna", 1.0))
    assert sessions(home) == {"anna": "ann"}
    connection.execute("ROLLBACK")
    assert sessions(home) == {}
    assert home.canonical_id("anna") == "anna"
