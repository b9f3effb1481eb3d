"""Arguments that are given to the library: checked as a service checks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from recollect import (
    ForgetTargets,
    InvalidInput,
    JudgedQuestion,
    MemoryInput,
    PlaybookStrategy,
    Recollect,
    Zone,
)
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import all_operations
from tests.library.kit import said


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    with Recollect(tmp_path_factory.mktemp("lists") / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        zone.ingest([said("m1", "I live in Turin.")])
        yield zone


def _input_fields() -> Iterator[tuple[Operation[..., Any], str, Mapping[str, Any]]]:
    """Yield the fields of each operation's input, as the schema of a request shows them."""
    for operation in all_operations():
        if operation.to_input is None:
            _, schemas = msgspec.json.schema_components([operation.input])
            for name, shown in schemas[operation.input.__name__]["properties"].items():
                yield operation, name, shown


def lists() -> Iterator[tuple[Operation[..., Any], str]]:
    """Yield the operations with each of their lists."""
    for operation, name, shown in _input_fields():
        if "array" in {part.get("type") for part in (shown, *shown.get("anyOf", ()))}:
            yield operation, name


LISTS = {f"{operation.name}.{name}": (operation, name) for operation, name in lists()}
#: The allowed values of each field with a closed set of them.
CHOICES: dict[str, tuple[Operation[..., Any], str, set[str]]] = {
    f"{operation.name}.{name}": (operation, name, set(part["enum"]) - {None})
    for operation, name, shown in _input_fields()
    for part in (shown, *shown.get("anyOf", ()))
    if "enum" in part
}


def required_arguments(operation: Operation[..., Any]) -> dict[str, object]:
    """Return a value of the right form for each required argument of an operation."""
    given: dict[str, object] = {}
    for item in operation.signature.parameters.values():
        if item.default is item.empty and item.kind is not item.VAR_POSITIONAL:
            key = f"{operation.name}.{item.name}"
            choice = min(CHOICES[key][2]) if key in CHOICES else "x"
            given[item.name] = ["x"] if key in LISTS else choice
    return given


@pytest.mark.parametrize("wrong", [7, "text", [7], [{"nothing": 1}]], ids=repr)
@pytest.mark.parametrize("listed", sorted(LISTS.keys() - {"forget.ids"}))
def test_a_wrong_list_is_invalid_input(zone: Zone, listed: str, wrong: object) -> None:
    operation, name = LISTS[listed]
    with pytest.raises(InvalidInput, match=name):
        getattr(zone, operation.name)(**{**required_arguments(operation), name: wrong})


@pytest.mark.parametrize("wrong", ["planet", 7, ["x"]], ids=repr)
@pytest.mark.parametrize("chosen", sorted(CHOICES))
def test_a_wrong_choice_is_named_with_the_allowed_values(
    zone: Zone, chosen: str, wrong: object
) -> None:
    operation, name, allowed = CHOICES[chosen]
    with pytest.raises(InvalidInput) as caught:
        getattr(zone, operation.name)(**{**required_arguments(operation), name: wrong})
    told, _, listed = str(caught.value).partition(": choose from ")
    assert told == f"{name} {wrong!r}"
    assert set(listed.split(", ")) == allowed


def test_an_optional_choice_may_be_none(zone: Zone) -> None:
    assert zone.merges(status=None) == zone.merges()
    assert zone.episodes(strategy=None) == zone.episodes()


def test_a_wrong_choice_in_a_struct_is_named_with_the_allowed_values(zone: Zone) -> None:
    memory: Any = {"content": "I like tea.", "scope": "planet"}
    with pytest.raises(InvalidInput) as caught:
        zone.store_memories([memory])
    assert str(caught.value) == (
        "memories[0].scope: invalid enum value 'planet'; choose from agent, user, zone, global"
    )
    strategy: Any = {"text": "Run all tests.", "kind": "planet"}
    with pytest.raises(InvalidInput, match=r"^strategies\[0\].kind: .*; choose from helpful, "):
        zone.create_playbook("release", strategies=[strategy])
    with pytest.raises(InvalidInput, match=r"budget: .*; choose from low, mid, high$"):
        zone.recall({"query": "tea", "budget": "planet"})


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        ("m1", "targets: expected `object`, got `str`"),
        (7, "targets: expected `object`, got `int`"),
        ({"ids": "m1"}, "targets.ids: expected `array`, got `str`"),
        ({"ids": [7]}, "targets.ids[0]: expected `str`, got `int`"),
        ({"idss": ["m1"]}, "targets: object contains unknown field `idss`; did you mean ids?"),
        (ForgetTargets(entity=7), "targets.entity: "),  # type: ignore[arg-type]
    ],
)
def test_wrong_targets_of_an_erasure_are_invalid_input(zone: Zone, targets: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        zone.plan_erasure(targets)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("criterion", ["platform", "entity", "sender_id", "thread_id"])
def test_a_wrong_criterion_of_an_erasure_is_invalid_input(zone: Zone, criterion: str) -> None:
    wrong: Any = {criterion: 7}
    with pytest.raises(InvalidInput, match=f"^{criterion}: expected `str"):
        zone.forget("m1", dry_run=True, **wrong)


def test_targets_of_an_erasure_may_be_a_dict(zone: Zone) -> None:
    plan = zone.plan_erasure({"ids": ["m1"], "platform": "chat"})
    assert plan == zone.plan_erasure(ForgetTargets(ids=("m1",), platform="chat"))
    assert zone.erase(plan, dry_run=True).events == 1


@pytest.mark.parametrize("plan", ["m1", {"numbers": [1]}, None], ids=repr)
def test_only_a_plan_can_be_erased(zone: Zone, plan: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^plan is .*plan_erasure"):
        zone.erase(plan, dry_run=True)


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
