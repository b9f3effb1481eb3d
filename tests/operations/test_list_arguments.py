"""Lists that are given to the library: checked as a service checks them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from recollect import InvalidInput, JudgedQuestion, MemoryInput, PlaybookStrategy, Recollect, Zone
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import all_operations
from tests.library.kit import said


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    with Recollect(tmp_path_factory.mktemp("lists") / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        zone.ingest([said("m1", "I live in Turin.")])
        yield zone


def lists() -> Iterator[tuple[Operation[..., Any], str]]:
    """Yield the operations with each of their lists, as the schema of a request shows them."""
    for operation in all_operations():
        if operation.to_input is not None:
            continue
        _, schemas = msgspec.json.schema_components([operation.input])
        for name, shown in schemas[operation.input.__name__]["properties"].items():
            if "array" in {part.get("type") for part in (shown, *shown.get("anyOf", ()))}:
                yield operation, name


LISTS = {f"{operation.name}.{name}": (operation, name) for operation, name in lists()}


@pytest.mark.parametrize("wrong", [7, "text", [7], [{"nothing": 1}]], ids=repr)
@pytest.mark.parametrize("listed", sorted(LISTS.keys() - {"forget.ids"}))
def test_a_wrong_list_is_invalid_input(zone: Zone, listed: str, wrong: object) -> None:
    operation, name = LISTS[listed]
    given: dict[str, object] = {
        item.name: ["x"] if f"{operation.name}.{item.name}" in LISTS else "x"
        for item in operation.signature.parameters.values()
        if item.default is item.empty and item.kind is not item.VAR_POSITIONAL
    }
    with pytest.raises(InvalidInput, match=name):
        getattr(zone, operation.name)(**{**given, name: wrong})


@pytest.mark.parametrize("wrong", [7, {"ids": ["m1"]}, None], ids=repr)
def test_a_wrong_id_to_forget_is_invalid_input(zone: Zone, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="ids"):
        zone.forget(wrong, dry_run=True)


def test_a_struct_in_a_list_may_be_a_dict(zone: Zone) -> None:
    """As in the body of a request."""
    given: Any = {"text": "Run all tests.", "confidence": 0.5}
    made = zone.create_playbook("release", strategies=[given])
    assert [(one.text, one.confidence) for one in made.strategies] == [("Run all tests.", 0.5)]
    more: Any = [{"text": "Push on a Friday.", "kind": "harmful"}, PlaybookStrategy("Ask.")]
    kinds = {one.text: one.kind for one in zone.update_playbook(made.id, add=more).strategies}
    assert kinds == {
        "Run all tests.": "helpful",
        "Push on a Friday.": "harmful",
        "Ask.": "helpful",
    }
    memories: Any = [{"content": "I like tea."}, MemoryInput(content="I like jazz.")]
    assert [receipt.status for receipt in zone.store_memories(memories)] == ["new", "new"]
    questions: Any = [{"query": "Where does Ada live?", "sources": ["m1"]}]
    judged = JudgedQuestion("Where does Ada live?", sources=("m1",))
    assert zone.evaluate(questions) == zone.evaluate([judged])


def test_an_unknown_field_is_named_with_the_nearest_known_one(zone: Zone) -> None:
    given: Any = {"content": "I like tea.", "namspace": "/drinks"}
    with pytest.raises(InvalidInput, match=r"memories\[0\].*namspace.*did you mean namespace\?"):
        zone.store_memories([given])
