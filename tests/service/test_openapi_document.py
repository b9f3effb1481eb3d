"""The OpenAPI document: complete, valid, and closed where the service is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest

from recollect.integrations.nexus.nexus_descriptions import ROUTES as NEXUS
from recollect.service.http.problem_details import KINDS
from recollect.service.routes import route_descriptions
from recollect.service.routes.openapi_document import document
from recollect.service.work.long_operations import LongOperation

#: An event may have fields of its own, which are kept under its metadata.
OPEN = {"InboundEvent", "EventBatch"}


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
        if name != "Features" and not shown.get("description") and not _named(shown)
    ]
    assert missing == []


def _named(shown: dict[str, Any]) -> bool:
    """Return whether a field is a struct, which describes itself."""
    return "$ref" in shown or any("$ref" in option for option in shown.get("anyOf", ()))


def test_every_parameter_is_described(described: dict[str, Any]) -> None:
    for name, operation in operations(described):
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description") or parameter["in"] == "path", (name, parameter)


def test_a_body_says_that_it_is_closed(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    for name, operation in operations(described):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            for option in content["schema"].get("anyOf", [content["schema"]]):
                kind = option.get("$ref", "").rpartition("/")[2]
                if kind and kind not in OPEN:
                    assert schemas[kind]["additionalProperties"] is False, name


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
