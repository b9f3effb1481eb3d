"""A name made of the beginning of somebody's is likely theirs, and never makes them one."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.schemas.events import DecideMerge
from recollect.streams.agents.identity.merge_handler import MergeHandler
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.language.names.pet_forms import is_pet_form, pet_forms
from recollect.text.name_forms import name_keys
from tests.agents.kit import MINUTE, START, Zone, command, says
from tests.agents.writer.test_coreference import entities_of
from tests.library.kit import said

TOLD = "She won a medal in Turin on Monday."


def asked(pet: str, *known: str) -> Zone:
    """Return a zone in which people were spoken of, and somebody tells of one by another name."""
    zone = Zone(RuleWriter(), MergeHandler())
    for place, each in enumerate(known):
        zone.given(says("Mel", each, thread_id="before", at=START + place))
    return told(zone, pet, 1)


def told(zone: Zone, pet: str, minute: int) -> Zone:
    at = START + minute * MINUTE
    zone.given(says("Bob", f"How did it go with {pet}?", at=at, id=f"asks {minute}"))
    return zone.given(says("Mel", TOLD, at=at + 1, id=f"tells {minute}"))


def about(zone: Zone) -> list[str]:
    (found,) = (who for text, who in entities_of(zone).items() if "medal" in text)
    return found


def proposed(zone: Zone) -> list[tuple[str, str]]:
    sql = (
        "SELECT a.name, b.name FROM merge_candidates JOIN entities AS a ON a.id = entity_a_id "
        "JOIN entities AS b ON b.id = entity_b_id ORDER BY 1, 2"
    )
    return zone.ask("identity", sql)


@pytest.mark.parametrize(
    ("name", "pet"),
    [
        ("Junie", "Juju"),
        ("Luisa", "Lulu"),
        ("Joanna", "Jojo"),
        ("Diana", "Didi"),
        ("Juniper", "Juni"),
    ],
)
def test_the_fact_is_of_both_and_review_is_asked(name: str, pet: str) -> None:
    zone = asked(pet, f"My daughter {name} plays chess in Porto.")
    assert {name, pet} <= set(about(zone))
    assert proposed(zone) == [(name, pet)]
    assert {name, pet} <= {person for person, _ in zone.people()}


def test_of_two_whom_it_may_be_nobody_is_taken() -> None:
    zone = asked(
        "Juju", "My daughter Junie plays chess in Porto.", "My sister Judith plays chess in Porto."
    )
    assert "Juju" in about(zone)
    assert {"Junie", "Judith"}.isdisjoint(about(zone))


def test_of_one_who_is_known_by_two_like_names_one_is_enough() -> None:
    zone = asked(
        "Juju", "My daughter Junie plays chess in Porto.", "My niece Juniper plays chess in Porto."
    )
    assert len({"Junie", "Juniper"} & set(about(zone))) == 1


def test_whom_review_told_apart_stay_so() -> None:
    zone = asked("Juju", "My daughter Junie plays chess in Porto.")
    ((candidate,),) = zone.ask("identity", "SELECT id FROM merge_candidates")
    zone.given(
        command(DecideMerge(source_id="decide", candidate_id=candidate, approve=False)),
    )
    at = START + 9 * MINUTE
    zone.given(says("Bob", "How did it go with Juju?", at=at, id="asks again"))
    zone.given(says("Mel", "She bought a red canoe in Riga.", at=at + 1, id="tells again"))
    (found,) = (who for text, who in entities_of(zone).items() if "canoe" in text)
    assert "Juju" in found
    assert "Junie" not in found


@pytest.mark.parametrize(
    ("name", "pet"), [("Martha", "Mama"), ("Hannah", "Haha"), ("Jonas", "Juju"), ("Juniper", "Ju")]
)
def test_other_words_are_no_pet_names(name: str, pet: str) -> None:
    assert not is_pet_form(pet.lower(), name.lower())
    assert pet.lower() not in pet_forms(name.lower())


@pytest.mark.parametrize(
    ("name", "other"), [("Anahit", "Ana"), ("Annabel", "Ann"), ("Kira", "Kir")]
)
def test_what_is_a_name_itself_may_be_anybodys(name: str, other: str) -> None:
    zone = asked(other, f"My daughter {name} plays chess in Porto.")
    assert name not in about(zone)


def test_who_has_an_account_of_that_name_is_meant() -> None:
    zone = Zone(RuleWriter()).given(
        says("Mel", "My daughter Junie plays chess in Porto.", thread_id="before"),
        says("Juju", "I moved to Ghent in May.", at=START + 1, thread_id="before", id="own"),
    )
    assert "Junie" not in about(told(zone, "Juju", 1))


def test_keys_of_names_are_as_they_were() -> None:
    """Those of homes are stored."""
    assert name_keys("juju", "person") == (
        "letters:juju", "person:=juju", "person:a", "person:juj-",
    )  # fmt: skip
    assert name_keys("junie", "person") == (
        "letters:junie", "person:=junie", "person:=junior", "person:an", "person:jun-",
    )  # fmt: skip


def test_once_the_other_is_forgotten_the_fact_is_of_one(tmp_path: Path) -> None:
    def medal() -> set[str]:
        (fact,) = (fact for fact in zone.facts() if "medal" in fact.text)
        return {fact.text, *fact.entities}

    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("family")
        zone.ingest(
            [
                said("knows", "My daughter Junie plays chess in Porto.", by="Mel", thread_id="t"),
                said("asks", "How did it go with Juju?", by="Bob", minute=1),
                said("tells", TOLD, by="Mel", minute=2),
            ]
        )
        assert {"Junie", "Juju"} <= medal()
        zone.forget("knows")
        assert "Junie" not in medal()
        assert "Juju" in medal()
