"""What a message takes back of one before it in its conversation ends there (F7)."""

from __future__ import annotations

from schemas.changes import Fact, FactSupersession
from streams.agents.writer import RuleWriter
from tests.agents.kit import HOUR, START, Zone, says

TALK = "My long talk about maps is in Room 101."
HELD = "Ada's long talk about maps is in Room 101."


def zone() -> Zone:
    return Zone(RuleWriter()).given(says("Ada", TALK, id="talk", peer_id="c"))


def test_the_fact_with_the_value_ends_by_the_fact_that_corrects_it() -> None:
    home = zone()
    outcome = home.read(
        says(
            "Ada", "My talk about maps is in Room 102, not Room 101.", peer_id="c", at=START + HOUR
        )
    )
    ((old,),) = home.ask("memory", "SELECT id FROM facts WHERE text LIKE '%long talk%'")
    (new,) = outcome.rows(Fact)
    assert outcome.rows(FactSupersession) == [FactSupersession(old, new.id, START + HOUR)]


def test_where_the_correction_is_no_fact_the_event_ends_it() -> None:
    home = zone()
    outcome = home.read(says("Ada", "102, not Room 101.", peer_id="c", at=START + HOUR))
    assert outcome.rows(FactSupersession) == []
    outcome = home.read(says("Ada", "Room 102, not 101.", peer_id="c", at=START + 2 * HOUR))
    assert outcome.rows(FactSupersession) == []
    outcome = home.read(says("Ada", "Room 102, not Room 101.", peer_id="c", at=START + 3 * HOUR))
    (end,) = outcome.rows(FactSupersession)
    facts = [fact.id for fact in outcome.rows(Fact)] or [outcome.event.id]
    assert end.superseded_by == facts[0]


def test_what_was_said_elsewhere_or_by_an_assistant_does_not_end() -> None:
    home = zone()
    home.given(
        says("Ada", "The talk is in Room 102, not Room 101.", peer_id="d", at=START + HOUR),
        says(
            "assistant",
            "The talk is in Room 103, not Room 101.",
            peer_id="c",
            direction="out",
            at=START + 2 * HOUR,
        ),
    )
    assert HELD in home.holding()


def test_what_was_said_later_is_not_corrected() -> None:
    home = zone()
    home.read(says("Ada", "The talk is in Room 102, not Room 101.", peer_id="c", at=START - HOUR))
    assert HELD in home.holding()
