"""What a message adds to, and what follows from what: the rows, and on which records they rest."""

from __future__ import annotations

from recollect.schemas.changes import Fact, FactRelation
from recollect.schemas.events import Draft, Edit
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, MINUTE, START, Zone, asks_to_remember, ends_turn, says

VIOLIN, CELLO = "I play the violin in a band.", "I also play the cello in a band."


def relations(*drafts: Draft) -> list[tuple[str, str, str]]:
    """Return (type, fact, the other) of all rows after these records, by the sentences."""
    home = Zone(RuleWriter()).given(*drafts)
    sql = (
        "SELECT relation, one.text, other.text FROM fact_relations "
        "JOIN facts AS one ON one.id = fact_id JOIN facts AS other ON other.id = target_fact_id "
        "ORDER BY relation, one.as_of, one.text"
    )
    return [(str(kind), str(one), str(other)) for kind, one, other in home.ask("memory", sql)]


def test_a_relation_to_another_message_rests_on_both() -> None:
    home = Zone(RuleWriter()).given(says("Ada", VIOLIN))
    ((violin,),) = home.ask("memory", "SELECT id FROM facts")
    outcome = home.read(says("Ada", CELLO, at=START + MINUTE))
    (cello,) = outcome.rows(Fact)
    (row,) = outcome.rows(FactRelation)
    assert (row.fact_id, row.target_fact_id, row.relation) == (cello.id, violin, "EXTENDS")
    assert outcome.sources_of(FactRelation) == [(1, 2)]


def test_a_relation_within_a_message_rests_on_it() -> None:
    outcome = Zone(RuleWriter()).read(says("Ada", f"{VIOLIN} {CELLO}"))
    assert outcome.sources_of(FactRelation) == [(1,)]


def test_a_causal_link_says_both_what_led_to_what_and_what_follows() -> None:
    told = "I broke my leg. Therefore I can't run the marathon."
    ((kind, follows, leg),) = relations(says("Ada", told))
    assert kind == "DERIVES"
    assert "marathon" in follows
    assert "leg" in leg


def test_without_the_step_no_row_is_written() -> None:
    told = (says("Ada", VIOLIN), says("Ada", CELLO, at=START + 1))
    because = says("Ada", "I broke my leg. Therefore I can't run the marathon.", at=START + 2)
    home = Zone(RuleWriter(frozenset({"evolution"}))).given(*told, because)
    assert home.ask("memory", "SELECT * FROM fact_relations") == []
    assert home.ask("memory", "SELECT count(*) FROM causal_links") == [(1,)]
    home = Zone(RuleWriter(frozenset({"causes"}))).given(*told, because)
    assert home.ask("memory", "SELECT relation FROM fact_relations") == [("EXTENDS",)]


def test_what_was_said_long_ago_or_elsewhere_is_not_added_to() -> None:
    assert relations(says("Ada", VIOLIN), says("Ada", CELLO, at=START + DAY + 1)) == []
    assert relations(says("Ada", VIOLIN, thread_id="x"), says("Ada", CELLO, at=START + 1)) == []


def test_another_is_one_more_of_what_its_sender_told_in_another_conversation() -> None:
    cat, suki = "We have a cat called Tom.", "We got another cat named Suki."
    told = relations(says("Ada", cat, thread_id="x"), says("Ada", suki, at=START + 9 * DAY))
    ((kind, new, old),) = told
    assert (kind, "Suki" in new, "Tom" in old) == ("EXTENDS", True, True)
    assert relations(says("Bob", cat, thread_id="x"), says("Ada", suki, at=START + DAY)) == []


def test_of_two_that_may_be_meant_neither_is_added_to() -> None:
    both = "I play the violin in a band. I play the flute in a band."
    assert relations(says("Ada", both), says("Ada", CELLO, at=START + 1)) == []


def test_what_was_edited_away_is_not_added_to() -> None:
    home = Zone(RuleWriter()).given(
        says("Ada", VIOLIN, id="first"),
        says("Ada", "I live in Turin.", kind=Edit, target="first", id="edit", at=START + 1),
        says("Ada", CELLO, at=START + 2),
    )
    assert home.ask("memory", "SELECT * FROM fact_relations") == []


def test_an_edit_adds_to_no_version_of_itself() -> None:
    home = Zone(RuleWriter()).given(
        says("Ada", VIOLIN, id="first"),
        says("Ada", CELLO, kind=Edit, target="first", id="edit", at=START + 1),
    )
    assert home.ask("memory", "SELECT * FROM fact_relations") == []


def test_what_is_learnt_later_than_it_was_said_adds_to_nothing_said_after_it() -> None:
    assert relations(says("Ada", VIOLIN, at=START + 1), says("Ada", CELLO, at=START)) == []


def test_what_takes_the_place_of_another_adds_to_none() -> None:
    told = "I own a boat in Rome. I live in Turin. I also moved to Rome with two dogs."
    home = Zone(RuleWriter()).given(says("Ada", told))
    assert len(home.ask("memory", "SELECT * FROM facts")) == 3
    assert home.ask("memory", "SELECT count(*) FROM fact_supersessions") == [(1,)]
    assert home.ask("memory", "SELECT * FROM fact_relations") == []


def test_the_messages_of_a_turn_add_to_each_other() -> None:
    told = relations(
        says("Ada", VIOLIN, turn_id="t"),
        says("Ada", CELLO, turn_id="t", at=START + 1),
        ends_turn("t", at=START + 2),
    )
    assert [kind for kind, _, _ in told] == ["EXTENDS"]


def test_two_messages_may_say_the_same_of_the_same_facts() -> None:
    both = f"{VIOLIN} {CELLO}"
    told = relations(says("Ada", both), says("Ada", both, id="again", at=START + MINUTE))
    assert [kind for kind, _, _ in told] == ["EXTENDS"]


def test_what_is_to_be_remembered_whole_is_no_end_of_a_relation() -> None:
    """A request that draws a conclusion is one fact, and is kept as it stands."""
    home = Zone(RuleWriter())
    whole = "I broke my leg. Therefore I missed the show in Rome. I also lost my bag."
    outcome = home.read(asks_to_remember(whole))
    assert [fact.text for fact in outcome.rows(Fact)] == [whole]
    assert outcome.rows(FactRelation) == []


def test_of_many_and_long_messages_each_is_read_once() -> None:
    """Nothing is looked for in every sentence of every message for every sentence of this one."""
    long = " ".join(f"I play the violin in band {place} in Turin." for place in range(300))
    home = Zone(RuleWriter()).given(*(says("Ada", long, id=f"{n}", at=START + n) for n in range(8)))
    adding = " ".join(f"We got another cello number {place} in Rome." for place in range(200))
    outcome = home.read(says("Ada", adding, at=START + 9))
    assert len(outcome.rows(Fact)) > 100
    assert len(outcome.rows(FactRelation)) <= len(outcome.rows(Fact))
