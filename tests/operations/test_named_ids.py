"""Ids that a caller names in what it stores: they must exist, be readable, and survive merges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, MemoryInput, Recollect, UnknownId, Zone
from recollect.projections.identity import IdentityModel
from recollect.projections.identity.merge_list import merge_by_id
from recollect.schemas.changes import AnyRow, Entity, Merge, MergeCandidate, MergeDecision, Section
from recollect.schemas.ids import derive_ulid
from tests.cli.kit import Shell
from tests.library.kit import said
from tests.mcp_server.kit import agent, command
from tests.service.kit import served

TALK = (said("m1", "I work with Bob Moss."), said("m2", "Robert Moss lives in Lyon.", minute=1))

PEOPLE = tuple(enumerate(("Carla Reyes", "Dora Klein", "Emil Weiss")))


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        zone.ingest(TALK)
        yield zone


def derived(*ids: Any) -> list[MemoryInput]:
    return [MemoryInput(content="Bob moved.", derived_from=ids)]


def test_a_model_about_an_unknown_entity_is_refused(zone: Zone) -> None:
    fact = zone.facts().facts[0].id
    for id_ in ("nobody", "m1", fact, "Bob Moss"):
        with pytest.raises(UnknownId, match=f"no entity with the id {id_!r}"):
            zone.create_mental_model("Bob", "A colleague.", entity_id=id_)
    with pytest.raises(UnknownId):
        zone.create_mental_model("Bob", "", entity_id="nobody", refresh="by_hand")
    for bad in (7, "\ud800"):
        with pytest.raises(InvalidInput):
            zone.create_mental_model("Bob", "A colleague.", entity_id=bad)  # type: ignore[arg-type]
    assert not zone.mental_models().mental_models


def test_a_model_is_about_the_entity_that_remains_of_a_merge(zone: Zone) -> None:
    ids = [zone.get_entity(name).id for name in ("Bob Moss", "Robert Moss")]
    zone.propose_merge(ids[0], ids[1], 0.6, "the same")
    merge = next(one.id for one in zone.merges() if {one.a_id, one.b_id} == set(ids))
    zone.decide_merge(merge, "merged")
    left = zone.get_entity(ids[0]).id
    assert left in ids
    for id_ in ids:
        assert zone.create_mental_model("Bob", "A colleague.", entity_id=id_).entity_id == left


def test_a_merge_is_found_by_its_proposal_and_by_its_own_id(zone: Zone) -> None:
    ids = [zone.get_entity(name).id for name in ("Bob Moss", "Robert Moss")]
    proposal = zone.propose_merge(ids[0], ids[1], 0.6, "the same").id
    assert proposal == next(one.id for one in zone.merges() if {one.a_id, one.b_id} == set(ids))
    assert zone.get_merge(proposal).status == "pending"
    done = zone.decide_merge(proposal, "merged")
    assert done.merge_id not in (None, proposal)
    for id_ in (proposal, str(done.merge_id)):
        found = zone.get_merge(id_)
        assert (found.status, {found.a, found.b}) == ("merged", {"Bob Moss", "Robert Moss"})
    with pytest.raises(UnknownId, match="zone ada has no merge 'nothing'"):
        zone.get_merge("nothing")


def test_a_confident_merge_is_undone_by_the_id_of_its_proposal(zone: Zone) -> None:
    ids = [zone.get_entity(name).id for name in ("Bob Moss", "Robert Moss")]
    proposal = zone.propose_merge(ids[0], ids[1], 0.95, "the same").id
    assert zone.get_merge(proposal).status == "merged"
    assert zone.decide_merge(proposal, "undone").status == "undone"
    assert zone.get_entity(ids[1]).name == "Robert Moss"


def test_a_merge_by_its_id_is_the_one_of_the_list(zone: Zone) -> None:
    zone.ingest([said(f"p{n}", f"I work with {name}.", minute=9 + n) for n, name in PEOPLE])
    ids = {name: zone.get_entity(name).id for _, name in PEOPLE}
    pairs = (("Carla Reyes", "Dora Klein", 0.95), ("Emil Weiss", "Dora Klein", 0.5))
    for one, other, confidence in pairs:
        zone.propose_merge(ids[one], ids[other], confidence, "the same")
    zone.propose_merge(ids["Carla Reyes"], ids["Dora Klein"], 0.95, "said once more")
    listed = list(zone.merges())
    assert {merge.status for merge in listed} == {"merged", "pending"}
    for merge in listed:
        assert zone.get_merge(merge.id) == merge
        if merge.merge_id is not None:
            assert zone.get_merge(merge.merge_id).merge_id == merge.merge_id


def test_a_merge_is_read_without_the_others() -> None:
    assert steps_to_read(400) < 1.2 * steps_to_read(40)


def steps_to_read(merges: int) -> int:
    """Return how many steps SQLite takes to read a pending, a decided and an executed merge."""
    puts: list[AnyRow] = []
    for n in range(merges):
        for side in "ab":
            puts.append(Entity(f"{side}{n}", f"{side}{n}", "person", f"{side}{n}", "inferred", n))
        puts.append(MergeCandidate(f"c{n}", f"a{n}", f"b{n}", 0.6, "the same", n))
        if n % 2:
            puts.append(MergeDecision(f"c{n}", "executed", n))
            puts.append(Merge(derive_ulid(n, str(n)), f"a{n}", f"b{n}", 0.6, "the same", n))
    with closing(IdentityModel(None)) as identity:
        identity.project([Section(puts=tuple(puts))])
        steps = 0

        def count() -> bool:
            nonlocal steps
            steps += 1
            return False

        identity.connection.set_progress_handler(count, 1)
        for id_ in ("c20", "c21", derive_ulid(21, "21")):
            assert merge_by_id(identity.connection, id_) is not None
        return steps


def test_a_memory_derived_from_nothing_is_refused_whole(zone: Zone) -> None:
    known = zone.facts().facts[0].id
    entity = zone.get_entity("Ada").id
    for ids in (("nothing",), (known, "nothing"), (entity,)):
        with pytest.raises(UnknownId, match=r"^derived_from: zone ada has no memory with the id"):
            zone.store_memories([MemoryInput(content="Bob waved."), *derived(*ids)])
    assert not zone.query_memories().memories


def test_a_memory_is_derived_from_memories_of_every_kind(zone: Zone) -> None:
    fact = zone.facts().facts[0].id
    model = zone.create_mental_model("Bob", "A colleague.").id
    (text,) = zone.store_memories([MemoryInput(content="Bob waved.")])
    event = zone.get_memory("m1").id
    (made,) = zone.store_memories(derived(fact, "m1", model, text.event_id, event))
    stored = zone.stored_memory(made.event_id)
    assert stored.derived_from_ids == [fact, event, model, text.event_id]


def test_ids_that_the_caller_may_not_read_are_refused_like_unknown_ones(zone: Zone) -> None:
    ada, bob = zone.acting_as(user="ada"), zone.acting_as(user="bob")
    (secret,) = ada.store_memories(
        [MemoryInput(content="Zelda Quux lives in Cobalt Springs.", scope="user")]
    )
    fact = next(fact.id for fact in ada.facts() if "Zelda" in fact.text)
    for id_ in (secret.event_id, fact):
        assert ada.store_memories(derived(id_))
        with pytest.raises(UnknownId) as hidden:
            bob.store_memories(derived(id_))
        with pytest.raises(UnknownId) as unknown:
            bob.store_memories(derived("nothing"))
        assert str(hidden.value).replace(id_, "nothing") == str(unknown.value)


def test_the_service_refuses_them(tmp_path: Path) -> None:
    with served(tmp_path / "home") as service, service.client("ada") as http:
        said_first = http.post("/v1/zones/ada/memories", json={"content": "Bob waved."})
        assert said_first.json()["decided"]
        model = {"name": "Bob", "description": "A colleague.", "entity_id": "nobody"}
        memory = {"content": "Bob moved.", "derived_from": ["nobody"]}
        for path, body in (
            ("mental-models", model),
            ("stored-memories", {"memories": [memory]}),
        ):
            answer = http.post(f"/v1/zones/ada/{path}", json=body)
            assert answer.status_code == 404, answer.text
            assert "nobody" in answer.json()["detail"]


def test_mcp_refuses_them(zone: Zone, tmp_path: Path) -> None:
    with agent(command(tmp_path / "home", "--zone", "ada", "mcp")) as tools:
        refused = tools.refused(
            "create_mental_model", name="Bob", description="A colleague.", entity_id="nobody"
        )
        assert "no entity with the id 'nobody'" in refused
        refused = tools.refused(
            "store_memories", memories=[{"content": "Bob moved.", "derived_from": ["nobody"]}]
        )
        assert "no memory with the id 'nobody'" in refused


def test_the_command_line_refuses_an_unknown_entity(zone: Zone, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    create = ("--zone", "ada", "models", "create", "Bob", "A colleague.", "--entity")
    refused = shell(*create, "Bobby Tables")
    assert refused.status == 2
    assert "no entity is called 'Bobby Tables'" in refused.err
    assert shell(*create, "Bob Moss").status == 0
    (made,) = zone.mental_models()
    assert made.entity_id == zone.get_entity("Bob Moss").id
