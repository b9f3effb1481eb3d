"""Mental models: a row per version, of which the newest says everything and the old ones stay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.schemas.changes import MentalModel
from recollect.schemas.events import CreateMentalModel, Draft, UpdateMentalModel
from recollect.streams.agents.mental_models.mental_model_handler import MentalModelHandler
from tests.agents.kit import DAY, START, Thread, Zone, command


def creates(name: str, description: str, *, at: int = START, **fields: Any) -> Draft:
    payload = CreateMentalModel(
        source_id=f"create:{name}", name=name, description=description, **fields
    )
    return command(payload, at=at)


def updates(model: str, description: str, *, at: int = START + DAY, **fields: Any) -> Draft:
    payload = UpdateMentalModel(
        source_id=f"update:{at}", model_id=model, description=description, **fields
    )
    return command(payload, at=at)


def test_a_model_is_made_with_all_that_was_given() -> None:
    draft = creates(
        "Ada at work",
        "She leads releases.",
        subtype="profile",
        entity_id="E1",
        tags=("work", "people"),
        refresh_trigger={"after_facts": 10},
    )
    (row,) = Zone(MentalModelHandler()).read(draft).rows(MentalModel)
    assert (row.name, row.description, row.subtype, row.entity_id) == (
        "Ada at work",
        "She leads releases.",
        "profile",
        "E1",
    )
    assert json.loads(row.tags) == ["work", "people"]
    assert json.loads(row.refresh_trigger or "") == {"after_facts": 10}
    assert (row.parent_id, row.number) == (None, 1)
    assert row.created_at == row.updated_at == row.last_refreshed == START


def test_what_was_not_given_is_absent_and_not_empty() -> None:
    (row,) = Zone(MentalModelHandler()).read(creates("A", "B")).rows(MentalModel)
    assert (row.subtype, row.entity_id, row.refresh_trigger) == (None, None, None)
    assert json.loads(row.tags) == []


def test_an_update_is_a_row_of_its_own_that_keeps_name_and_tags() -> None:
    zone = Zone(MentalModelHandler())
    (first,) = zone.read(creates("Ada", "Lives in Berlin.", tags=("home",))).rows(MentalModel)
    (second,) = zone.read(updates(first.id, "Lives in Paris.")).rows(MentalModel)
    assert (second.name, second.description, json.loads(second.tags)) == (
        "Ada",
        "Lives in Paris.",
        ["home"],
    )
    assert second.id != first.id
    assert (second.parent_id, second.number) == (first.id, 2)
    assert second.created_at == START + DAY
    assert zone.ask("memory", "SELECT description FROM mental_models WHERE id = ?", first.id) == [
        ("Lives in Berlin.",)
    ]


def test_an_update_with_tags_has_these_alone() -> None:
    zone = Zone(MentalModelHandler())
    (first,) = zone.read(creates("Ada", "Lives in Berlin.", tags=("home",))).rows(MentalModel)
    (second,) = zone.read(updates(first.id, "Paris.", tags=("city",))).rows(MentalModel)
    third = updates(second.id, "Rome.", at=START + 2 * DAY, tags=())
    (none,) = zone.read(third).rows(MentalModel)
    assert [json.loads(row.tags) for row in (second, none)] == [["city"], []]


def test_a_version_rests_on_every_version_before_it() -> None:
    """So that forgetting the first takes the name that the others repeat."""
    zone = Zone(MentalModelHandler())
    (first,) = zone.read(creates("Ada", "one")).rows(MentalModel)
    (second,) = zone.read(updates(first.id, "two")).rows(MentalModel)
    third = zone.read(updates(second.id, "three", at=START + 2 * DAY))
    assert third.sources_of(MentalModel) == [(1, 2, 3)]


def test_an_older_version_may_be_taken_up_again() -> None:
    zone = Zone(MentalModelHandler())
    (first,) = zone.read(creates("Ada", "one")).rows(MentalModel)
    zone.read(updates(first.id, "two"))
    third = zone.read(updates(first.id, "three", at=START + 2 * DAY))
    assert [row.parent_id for row in third.rows(MentalModel)] == [first.id]
    assert third.sources_of(MentalModel) == [(1, 3)]


@pytest.mark.parametrize("model", ["", "nobody", "' OR 1=1 --"])
def test_an_update_of_a_model_that_is_not_there_does_nothing(model: str) -> None:
    zone = Zone(MentalModelHandler()).given(creates("Ada", "one"))
    assert zone.read(updates(model, "two")).puts == []


def test_two_models_of_one_name_are_two() -> None:
    zone = Zone(MentalModelHandler())
    zone.given(creates("Ada", "one"))
    payload = CreateMentalModel(source_id="again", name="Ada", description="two")
    zone.given(command(payload))
    assert zone.ask("memory", "SELECT count(*) FROM mental_models") == [(2,)]


def test_the_description_is_what_gets_a_vector() -> None:
    zone = Zone()
    event = zone.next_event(creates("Ada", "Lives in Berlin."))
    assert MentalModelHandler().extract(event, Thread([])).texts == ("Lives in Berlin.",)
