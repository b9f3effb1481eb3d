"""The OpenAPI document: complete, valid, and closed where the service is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest

from recollect.integrations.nexus.nexus_descriptions import ROUTES as NEXUS
from recollect.operations.table.zone_operations import all_operations
from recollect.service.http.problem_details import KINDS
from recollect.service.routes import route_descriptions
from recollect.service.routes.openapi_document import document
from recollect.service.work.long_operations import LongOperation

#: Words of the code, which say nothing to those who call an operation.
INTERNAL = re.compile(
    r"publish|daily pass|(was|still|of) parked|parked (record|one)|frame included"
)
#: Clients may send fields of their own here; the descriptions say what becomes of them.
OPEN = {"InboundEvent", "Attachment"}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The document as a client reads it."""
    made = document((*route_descriptions.ROUTES, *NEXUS), LongOperation)
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(made))
    return found


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_field_of_every_schema_is_described(described: dict[str, Any]) -> None:
    missing = [
        f"{name}.{field}"
        for name, schema in described["components"]["schemas"].items()
        for field, shown in schema.get("properties", {}).items()
        if not shown.get("description") and not _named(shown)
    ]
    assert missing == []


def descriptions(value: Any) -> Iterator[str]:
    """Yield each description in a JSON document."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "description" and isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict | list):
            yield from descriptions(inner)


def test_descriptions_use_no_internal_terms(described: dict[str, Any]) -> None:
    """Field names, in backticks, are not judged."""
    tools = [each.tool.description for each in all_operations() if each.tool is not None]
    texts = [re.sub("`[^`]*`", "", text) for text in (*descriptions(described), *tools)]
    assert len(texts) > 1_000
    assert [text for text in texts if INTERNAL.search(text)] == []


def test_descriptions_of_filters_name_what_they_filter(described: dict[str, Any]) -> None:
    texts = [text for text in descriptions(described) if text.startswith("Only ")]
    assert len(texts) > 50
    assert [text for text in texts if re.match(r"Only (of|in|up|with|those|stored)\b", text)] == []


def test_no_description_is_indented(described: dict[str, Any]) -> None:
    """Indented lines would be code in Markdown."""
    for name, schema in described["components"]["schemas"].items():
        assert "\n  " not in schema.get("description", ""), name


def test_generators_of_clients_can_name_every_schema(described: dict[str, Any]) -> None:
    """Two types of one name would have their modules in it, and a generator drops one of them."""
    assert [name for name in described["components"]["schemas"] if not name.isidentifier()] == []


def test_what_is_listed_as_choices_is_text(described: dict[str, Any]) -> None:
    """Generators of clients make an enum of it, and drop a schema whose choices have no names."""
    for name, schema in described["components"]["schemas"].items():
        for field, shown in schema.get("properties", {}).items():
            for option in (shown, *shown.get("anyOf", ())):
                values = [value for value in option.get("enum", ()) if value is not None]
                assert all(isinstance(value, str) for value in values), f"{name}.{field}"


def _named(shown: dict[str, Any]) -> bool:
    """Return whether a field is a struct, which describes itself."""
    return "$ref" in shown or any("$ref" in option for option in shown.get("anyOf", ()))


def test_every_parameter_is_described(described: dict[str, Any]) -> None:
    for name, operation in operations(described):
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (name, parameter)


def test_a_body_and_what_is_in_it_are_closed(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    pending = [operation.get("requestBody", {}) for _, operation in operations(described)]
    found: set[str] = set()
    while pending:
        for name in set(references(pending.pop())) - found:
            found.add(name)
            pending.append(schemas[name])
    objects = {name for name in found if schemas[name]["type"] == "object"}
    assert {name for name in objects if schemas[name].get("additionalProperties") is not False} == (
        OPEN
    )
    for name in OPEN:
        assert "Fields that are not listed" in schemas[name]["description"]


def references(schema: object) -> Iterator[str]:
    """Yield the names of the schemas that a part of the document refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from references(part)


def test_operation_ids_are_short_and_unique(described: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in operations(described)]
    assert len(ids) == len(set(ids))
    assert max(map(len, ids)) <= 20


def test_every_example_is_valid(described: dict[str, Any]) -> None:
    for _, operation in operations(described):
        parts = [operation.get("requestBody", {}), *operation["responses"].values()]
        for part in parts:
            for media, content in part.get("content", {}).items():
                if "json" not in media:
                    continue
                schema = {**content["schema"], "components": described["components"]}
                for example in content.get("examples", {}).values():
                    jsonschema.Draft202012Validator(schema).validate(example["value"])


def test_every_problem_is_listed(described: dict[str, Any]) -> None:
    listed = described["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]
    assert listed == [kind.type for kind in KINDS]
