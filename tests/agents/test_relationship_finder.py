"""Given what was said, when facts are decided, then the relationships that they state."""

from __future__ import annotations

from recollect.schemas.changes import Fact, RelationshipEvidence
from recollect.streams.agents import BY_NAME
from tests.agents.kit import DAY, START, Outcome, Zone, asks_to_remember, says

_NAMES = "SELECT id, name FROM entities"


def evidence(outcome: Outcome) -> list[RelationshipEvidence]:
    return [row for row in outcome.puts if isinstance(row, RelationshipEvidence)]


def zone() -> Zone:
    return Zone(BY_NAME["writer"], BY_NAME["relationships"])


def names(zone: Zone) -> dict[str, str]:
    return {
        str(id_): str(name) for id_, name in zone.ask("identity", "SELECT id, name FROM entities")
    }


def stated(zone: Zone, outcome: Outcome) -> list[tuple[str, str, str]]:
    known = names(zone)
    return [
        (known[row.source_entity_id], row.relationship_type, known[row.target_entity_id])
        for row in evidence(outcome)
    ]


def test_a_message_states_a_relationship_of_its_sender() -> None:
    home = zone()
    outcome = home.read(says("Ada", "I work with Bob Moss at the moment."))
    assert stated(home, outcome) == [("Ada", "WORKS_WITH", "Bob Moss")]


def test_a_text_to_remember_states_one_between_others() -> None:
    home = zone()
    outcome = home.read(asks_to_remember("Grace Hopper lives in Oslo."))
    assert stated(home, outcome) == [("Grace Hopper", "LOCATED_IN", "Oslo")]


def test_a_pronoun_stands_for_its_entity() -> None:
    home = zone()
    home.read(says("Ada", "My sister Eve moved to Oslo."))
    outcome = home.read(says("Ada", "She works with Bob Moss at the hospital.", at=START + DAY))
    assert stated(home, outcome) == [("Eve", "WORKS_WITH", "Bob Moss")]


def test_only_new_facts_state_relationships_with_their_own_sources() -> None:
    home = zone()
    home.read(says("Ada", "My sister Eve is a nurse."))
    outcome = home.read(says("Ada", "My sister Eve moved to Oslo.", at=START + DAY))
    sources = {
        row.id: part.sources for part in outcome.parts for row in part.puts if isinstance(row, Fact)
    }
    found = [
        (row.fact_id, part.sources)
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, RelationshipEvidence)
    ]
    assert found
    assert all(sources[fact] == of_part for fact, of_part in found)


def test_the_span_of_a_relationship_is_in_the_facts_text() -> None:
    home = zone()
    (row,) = evidence(home.read(says("Ada", "I live in Oslo.")))
    ((text,),) = home.ask("memory", "SELECT text FROM facts")
    assert "Oslo" in str(text)[row.char_start : row.char_end]
