"""Arguments that are given to the library: checked as a service checks them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
import pytest

from recollect import (
    ForgetTargets,
    InvalidInput,
    JudgedQuestion,
    MemoryInput,
    PlaybookStrategy,
    Query,
    Recollect,
    RecollectError,
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


def json_types(shown: Mapping[str, Any]) -> set[str]:
    """Return the types of JSON that a field allows."""
    return {part.get("type", "object") for part in shown.get("anyOf", [shown])}


NUMBER: Any = 7
BYTES: Any = b"x"
#: Values with the type of each in JSON; a type that JSON lacks has its own name here.
VALUES: list[tuple[str, object]] = [
    ("null", None),
    ("boolean", True),
    ("integer", 7),
    ("number", 1.5),
    ("not a number", math.nan),
    ("infinity", math.inf),
    ("string", "x"),
    ("bytes", b"x"),
    ("array", ["x"]),
    ("object", {"x": 1}),
    ("datetime", datetime(2026, 5, 8)),
    ("class", object),
    ("set of numbers", {1}),
]
#: The allowed types of each field. `min_score`, say, is a number: an integer too.
TYPES: dict[str, set[str]] = {
    f"{operation.name}.{name}": types | ({"integer"} if "number" in types else set())
    for operation, name, shown in _input_fields()
    for types in [json_types(shown)]
}
#: The times: each may be a datetime too.
TIMES = {key for key, types in TYPES.items() if {"string", "integer"} <= types}
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
    right = {"integer": 1, "number": 1, "boolean": True}
    for item in operation.signature.parameters.values():
        if item.default is item.empty and item.kind is not item.VAR_POSITIONAL:
            key = f"{operation.name}.{item.name}"
            choice = min(CHOICES[key][2]) if key in CHOICES else "x"
            of_type = [right[type_] for type_ in TYPES.get(key, ()) if type_ in right]
            given[item.name] = [] if key in LISTS else next(iter(of_type), choice)
    return given


def call(zone: Zone, operation: Operation[..., Any], name: str, value: object) -> None:
    """Call an operation with a value for one parameter, and the others as required."""
    given = {**required_arguments(operation), name: value}
    bound = operation.signature.bind_partial()
    for item in operation.signature.parameters.values():
        if item.name in given:
            many = item.kind is item.VAR_POSITIONAL
            bound.arguments[item.name] = (given[item.name],) if many else given[item.name]
    getattr(zone, operation.name)(*bound.args, **bound.kwargs)


@pytest.mark.parametrize(
    "operation", [one for one in all_operations() if one.to_input is None], ids=lambda one: one.name
)
def test_a_value_of_a_wrong_type_is_invalid_input_named_by_its_parameter(
    zone: Zone, operation: Operation[..., Any]
) -> None:
    for item in operation.signature.parameters.values():
        key = f"{operation.name}.{item.name}"
        allowed = TYPES.get(key, {type_ for type_, _ in VALUES})
        if item.kind is item.VAR_POSITIONAL:
            allowed = {"string"}
        for type_, value in VALUES:
            if type_ in allowed or (type_ == "datetime" and key in TIMES):
                continue
            with pytest.raises(InvalidInput) as refused:
                call(zone, operation, item.name, value)
            assert str(refused.value).startswith(item.name), (item.name, value)


@pytest.mark.parametrize("number", [10**30, -(10**400)], ids=["30 digits", "400 digits"])
@pytest.mark.parametrize("scalar", sorted(key for key in TYPES if "integer" in TYPES[key]))
def test_a_number_of_many_digits_is_accepted_or_refused(
    zone: Zone, scalar: str, number: int
) -> None:
    name, _, parameter = scalar.partition(".")
    operation = next(one for one in all_operations() if one.name == name)
    with contextlib.suppress(RecollectError):
        call(zone, operation, parameter, number)


@pytest.mark.parametrize("text", sorted(key for key in TYPES if "string" in TYPES[key]))
def test_half_a_character_is_accepted_or_refused(zone: Zone, text: str) -> None:
    name, _, parameter = text.partition(".")
    operation = next(one for one in all_operations() if one.name == name)
    with contextlib.suppress(RecollectError):
        call(zone, operation, parameter, "\ud800")


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda zone: zone.facts(entity=5), "entity is int; give a string"),
        (lambda zone: zone.facts(superseded="no"), "superseded is str; give True or False"),
        (lambda zone: zone.facts(limit="9"), "limit is '9'; give 1 to 1000"),
        (lambda zone: zone.reflect("x", max_tokens="9"), "max_tokens is '9'; give a whole number"),
        (lambda zone: zone.facts(entity="\ud800"), "entity contains a lone surrogate"),
        (lambda zone: zone.search_tiers("x", min_score=math.nan), "min_score is nan; give 0 to 1"),
        (lambda zone: zone.start_trajectory("x", metadata=["x"]), "metadata is list; give an obj"),
        (lambda zone: zone.start_trajectory("x", metadata={1: 2}), "metadata is int; give a str"),
        (lambda zone: zone.remember("x", principal={"ip": 1}), "principal 'ip' is int; give a st"),
        (lambda zone: zone.remember("x", principal="me"), "principal is str; give an object"),
        (lambda zone: zone.hints("Where?"), "query is str; give a Query"),
        (lambda zone: zone.hints(Query(NUMBER)), "query.query: expected `str`, got `int`"),
        (lambda zone: zone.verify(certificate="x"), "certificate is str; give a Certificate"),
        (lambda zone: zone.verify(progress=5), "progress is int; give a function"),
        (
            lambda zone: zone.store_memories([MemoryInput(content=NUMBER)]),
            "memories[0].content: exp",
        ),
        (lambda zone: zone.store_memories([{"content": b"x"}]), "memories[0].content: expected"),
        (lambda zone: zone.recall(Query(BYTES)), "query: query: expected `str`, got `bytes`"),
    ],
)
def test_what_to_give_is_told(zone: Zone, ask: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ask(zone)
    assert str(refused.value).startswith(told)


def test_a_call_that_does_not_fit_names_the_method(zone: Zone) -> None:
    unfit: Any = zone
    with pytest.raises(TypeError, match=r"^facts\(\) got an unexpected keyword argument 'person'$"):
        unfit.facts(person="Ada")
    with pytest.raises(TypeError, match=r"^why\(\) missing a required argument: 'id'$"):
        unfit.why()


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


@pytest.mark.parametrize("before", ["2026-05-08", "2026-05-07"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda zone, **bounds: zone.recall("Turin", **bounds),
        lambda zone, **bounds: zone.reflect("Turin", **bounds),
        lambda zone, **bounds: zone.query_memories(**bounds),
        lambda zone, **bounds: zone.plan_erasure(ForgetTargets(**bounds)),
    ],
    ids=["recall", "reflect", "query_memories", "plan_erasure"],
)
def test_bounds_that_no_time_is_between_are_invalid_input(
    zone: Zone, ask: Any, before: str
) -> None:
    with pytest.raises(InvalidInput, match=r"^time_after is 2026-05-08T.* not before time_before"):
        ask(zone, time_after="2026-05-08", time_before=before)


@pytest.mark.parametrize("criterion", ["platform", "entity", "sender_id", "thread_id"])
def test_a_wrong_criterion_of_an_erasure_is_invalid_input(zone: Zone, criterion: str) -> None:
    wrong: Any = {criterion: 7}
    with pytest.raises(InvalidInput, match=f"^{criterion} is int; give a string$"):
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
