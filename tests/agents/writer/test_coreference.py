"""Who "he" or "she" is where an earlier message names him or her."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.schemas.changes import Fact
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, MINUTE, START, Zone, says
from tests.library.kit import said

ASKED = "How did it go with Peter?"
TOLD = "He signed the lease in Turin on Monday."


def test_the_fact_names_him_and_rests_on_who_named_him() -> None:
    zone = Zone(RuleWriter()).given(says("Bob", ASKED))
    outcome = zone.read(says("Ada", TOLD, at=START + MINUTE))
    ((text, sources),) = [
        (row.text, list(part.sources))
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, Fact)
    ]
    assert "Peter signed the lease" in text
    assert len(sources) == 2


def test_a_name_stays_where_a_sentence_stands_beside_the_pronoun() -> None:
    told = "He painted the shed in May. The shed stands behind the old barn."
    zone = Zone(RuleWriter()).given(says("Bob", ASKED))
    first, second = sorted(zone.given(says("Ada", told, at=START + MINUTE, id="told")).facts())
    assert "Peter painted the shed" in first
    assert "The shed stands behind the old barn" in second


def test_once_who_named_him_is_forgotten_nobody_is_named(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest([said("asks", ASKED, by="Bob"), said("tells", TOLD, minute=1)])
        assert any("Peter signed the lease" in fact.text for fact in zone.facts())
        zone.forget("asks")
        (fact,) = zone.facts(superseded=True)
        assert fact.text.startswith("Ada: He signed the lease in Turin")
        assert "Peter" not in repr([fact, zone.why(fact.id)])


def test_he_may_have_been_named_several_messages_before() -> None:
    zone = Zone(RuleWriter()).given(
        says("Bob", ASKED),
        says("Bob", "The kettle is on.", at=START + MINUTE),
        says("Ada", "ok", at=START + 2 * MINUTE),
    )
    outcome = zone.read(says("Ada", TOLD, at=START + 3 * MINUTE))
    ((text, sources),) = [
        (row.text, part.sources)
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, Fact)
    ]
    assert "Peter signed the lease" in text
    assert sources == (1, 4)


def test_where_two_may_be_meant_nobody_is_named() -> None:
    def told(first: str) -> list[str]:
        home = Zone(RuleWriter()).given(
            says("Ada", first, id="first"),
            says("Bob", "The visit of Dr. Okell is on Thursday at ten.", id="asked", at=START + 1),
        )
        outcome = home.read(says("Ada", "She moved to Riga in May.", at=START + 2))
        return [fact.text for fact in outcome.rows(Fact)]

    (known,) = told("The door is green.")
    assert "Dr. Okell moved to Riga" in known
    (doubtful,) = told("Note this: Wren's judo is on Fridays.")
    assert doubtful.startswith("Ada: She moved to Riga")


def entities_of(zone: Zone) -> dict[str, list[str]]:
    """Return fact -> the names of those that it is about."""
    sql = "SELECT id, text FROM facts"
    texts = dict(zone.ask("memory", sql))
    names = dict(zone.ask("identity", "SELECT id, name FROM entities"))
    found: dict[str, list[str]] = {text: [] for text in texts.values()}
    for fact, entity in zone.ask("memory", "SELECT fact_id, entity_id FROM fact_entities"):
        found[texts[fact]].append(names[zone.canonical_id(entity)])
    return {text: sorted(who) for text, who in found.items()}


def claims(zone: Zone) -> list[tuple[str, str, str]]:
    names = dict(zone.ask("identity", "SELECT id, name FROM entities"))
    sql = "SELECT subject, attribute, value FROM fact_claims ORDER BY attribute, value"
    return [(names.get(who, who), which, what) for who, which, what in zone.ask("memory", sql)]


@pytest.mark.parametrize(
    ("before", "words", "expected"),
    [
        ("What does Ana do?", "She plays the cello.", [("Ana", "skill", "playing the cello")]),
        (
            "Where is Peter these days?",
            "He lives in Porto and works as a nurse.",
            [("Peter", "home", "Porto"), ("Peter", "role", "nurse")],
        ),
        ("Any news of Maria?", "She's a vet now.", [("Maria", "role", "vet")]),
        (
            "My sister Ana called.",
            "She lives in Ghent!",
            [("Ana", "home", "Ghent")],
        ),
    ],
)
def test_what_is_said_of_her_is_claimed_of_whom_another_named(
    before: str, words: str, expected: list[tuple[str, str, str]]
) -> None:
    zone = Zone(RuleWriter()).given(says("Bob", before))
    old = claims(zone)
    zone.given(says("Ada", words, at=START + MINUTE, id="told"))
    assert [each for each in claims(zone) if each not in old] == expected
    about = [who for text, who in entities_of(zone).items() if "Ada" in who]
    assert about
    assert all(expected[0][0] in who for who in about)


def test_a_later_value_of_her_ends_the_one_that_a_pronoun_told() -> None:
    zone = Zone(RuleWriter()).given(
        says("Bob", "Where does Maria live now?", id="m1"),
        says("Ada", "She lives in Ghent.", at=START + MINUTE, id="m2"),
        says("Ada", "Maria lives in Porto.", at=START + 3 * DAY, id="m3"),
    )
    assert zone.current_facts() == ["Ada: Maria lives in Porto."]


def test_who_takes_part_is_meant_by_a_name_that_a_pronoun_stands_for() -> None:
    zone = Zone(RuleWriter()).given(
        says("Maria Dias", "I bought a boat last week.", id="m0", at=START - MINUTE),
        says("Bob", "What does Maria do?", id="m1"),
        says("Ada", "She plays the cello.", at=START + MINUTE, id="m2"),
    )
    assert ("Maria Dias", "skill", "playing the cello") in claims(zone)


def test_everything_that_is_known_of_her_rests_on_who_named_her() -> None:
    zone = Zone(RuleWriter()).given(says("Bob", "What does Zelda do?"))
    outcome = zone.read(says("Ada", "She plays the cello.", at=START + MINUTE, id="told"))
    for part in outcome.parts:
        for row in part.puts:
            if len(part.sources) < 2:
                assert "zelda" not in repr(row).lower(), row


def test_once_she_is_forgotten_nothing_is_claimed_of_her(tmp_path: Path) -> None:
    for forgotten, stays in (("asks", True), ("tells", False)):
        with Recollect(tmp_path / forgotten, encoder="none") as recollect:
            zone = recollect.zone("friends")
            zone.ingest(
                [
                    said("asks", "What does Zelda do?", by="Bob"),
                    said("tells", "She plays the cello.", minute=1),
                ]
            )
            (fact,) = zone.facts()
            assert (fact.subject, fact.attribute) == ("Zelda", "skill")
            assert "Zelda" in fact.entities
            zone.forget(forgotten)
            left = [(fact.text, fact.subject, fact.attribute) for fact in zone.facts()]
            assert left == ([("Ada: She plays the cello.", None, None)] if stays else [])
            assert "Zelda" not in [each.name for each in zone.entities()]


def later_fact(*turns: tuple[str, str]) -> list[str]:
    """Return the facts of the last turn of a talk."""
    *before, (who, words) = turns
    zone = Zone(RuleWriter()).given(
        *(says(one, said, at=START + n, id=f"b{n}") for n, (one, said) in enumerate(before))
    )
    return [row.text for row in zone.read(says(who, words, at=START + MINUTE)).rows(Fact)]


def test_she_is_no_mister() -> None:
    told = later_fact(
        ("Ada", "I talked to Mr Hegarty about the exam in May."),
        ("Ada", "She moved to Riga in May, by the way."),
    )
    assert not any("Hegarty" in fact for fact in told)


def test_who_takes_part_is_known_by_a_first_name_in_small_letters() -> None:
    told = later_fact(
        ("Nora Pike", "I was in Mallow all day."),
        ("Ada", "I talked to Mr Hegarty about the exam."),
        (
            "Ada",
            "update for nora cos she missed the summit: I stay in honours till the exam in May",
        ),
    )
    assert any("Nora missed the summit" in fact for fact in told), told


def test_a_grandmother_without_a_name_is_nobody_who_was_named() -> None:
    told = later_fact(
        ("Bob", "Ask your mother about the van in Limerick."),
        ("Ada", "leave nana alone, she drove me to Galway in two hours in May"),
    )
    assert not any("mother" in fact for fact in told)
