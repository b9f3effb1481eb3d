"""The OpenAPI 3.1 document of the service, made from the table of operations.

Other routes are described in the same form.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any, get_args

import msgspec

from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import all_operations
from recollect.service.http.problem_details import KINDS, MEDIA_TYPE, NOT_FOUND, not_found

JSON = "application/json"
NDJSON = "application/x-ndjson"

#: The path prefix of a zone's operations.
ZONE_PATH = "/v1/zones/{zone}"

_TAGS = {
    "service": "The process: health, version, metrics.",
    "zones": "Zones, their state, and waiting for their decisions.",
    "events": "Appending events.",
    "memories": "Recalling, reading and updating memories.",
    "facts and entities": "Facts, and the entities that they are about.",
    "merges": "Entities that are, or may be, the same.",
    "mental models": "Stored reports, with their versions.",
    "forgetting": "Erasing memories everywhere.",
    "operations": "Long-running operations: verify, rebuild, rollback, reclaim, backfill.",
    "dead letters": "Records that could not be decided.",
    "writer": "The role and notes of the model that writes, and backfills.",
    "nexus": "The memory service of Nexus, over stored memories.",
}
_REFERENCE = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)\}")
_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_ZONE = {
    "name": "zone",
    "in": "path",
    "required": True,
    "description": "The zone: letters, digits, `.`, `_` and `-`, at most 64. A branch is named "
    "after its zone and an `@`: `ada@trial`.",
    "schema": {"type": "string", "pattern": f"^{_NAME}(@{_NAME})?$"},
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A request repeated with the same key gets the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


@dataclass(frozen=True, kw_only=True)
class RouteDescription:
    """The description of a route.

    `body`, `answer`: a type, or a JSON Schema; a tuple lists alternatives. `path_types`: the same
    for each parameter of the path, except `zone`. `media`: the media type of the answer. `ndjson`:
    the description of an alternative NDJSON body. `example`: an input and its output.
    """

    name: str
    method: str
    path: str
    title: str
    description: str
    tag: str
    status: int = 200
    path_types: Mapping[str, Any] = field(default_factory=dict)
    query: type[msgspec.Struct] | None = None
    body: Any = None
    body_required: bool = True
    answer: Any = None
    media: str = JSON
    ndjson: str = ""
    token: bool = True
    example: tuple[Any, Any] | None = None


def describe_operation(
    operation: Operation[..., Any], long_operation: type[msgspec.Struct]
) -> RouteDescription:
    """Describe an operation; `long_operation`: the answer type of long-running operations."""
    fields_type = operation.request_fields
    fields = msgspec.structs.fields(fields_type)
    answer: Any = long_operation if operation.long_running else operation.answer
    if operation.optional:
        answer = next(kind for kind in get_args(answer) if kind is not type(None))
    kinds = {item.name: item.type for item in msgspec.structs.fields(operation.input)}
    return RouteDescription(
        name=operation.name,
        method=operation.method,
        path=ZONE_PATH + operation.path,
        title=operation.title,
        description=operation.description,
        tag=operation.tag,
        status=operation.status,
        path_types={name: kinds[name] for name in operation.path_parameters},
        query=None if operation.has_body else fields_type,
        body=fields_type if operation.has_body and fields else None,
        body_required=any(item.required for item in fields),
        answer=answer,
        example=operation.example,
    )


def document(
    others: Iterable[RouteDescription], long_operation: type[msgspec.Struct]
) -> dict[str, Any]:
    """Return the document for all operations of the table, and for other routes."""
    described = [
        *others,
        *(describe_operation(found, long_operation) for found in all_operations()),
    ]
    return _Document(described).document()


class _Document:
    def __init__(self, described: list[RouteDescription]) -> None:
        self._described = described

    def document(self) -> dict[str, Any]:
        paths: dict[str, dict[str, Any]] = {}
        for route in self._described:
            paths.setdefault(route.path, {})[route.method.lower()] = self._operation(route)
        tags = dict.fromkeys(route.tag for route in self._described)
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "recollect",
                "version": version("recollect"),
                "description": "Long-term memory for AI agents. docs/service.md is the guide.",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/"}],
            "tags": [{"name": tag, "description": _TAGS.get(tag, tag)} for tag in tags],
            "paths": paths,
            "components": {
                "schemas": {**self._schemas[1], "Problem": _problem()},
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "An access token, as recollect token create prints it.",
                    }
                },
            },
        }

    @cached_property
    def _schemas(self) -> tuple[dict[Any, Any], dict[str, Any]]:
        """The schema of every type, and the components that they refer to."""
        types: list[Any] = []
        for route in self._described:
            types += filter(_is_type, route.path_types.values())
            if route.query is not None:
                types += (item.type for item in msgspec.structs.fields(route.query))
            for kind in (route.body, route.answer):
                options = kind if isinstance(kind, tuple) else (kind,)
                types += filter(_is_type, options)
        schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
        for component in components.values():
            # The indentation of a docstring depends on the version of Python.
            if "description" in component:
                component["description"] = inspect.cleandoc(component["description"])
        return dict(zip(map(str, types), schemas, strict=True)), components

    def _schema(self, kind: Any) -> Any:
        if isinstance(kind, tuple):
            return {"anyOf": [self._schema(option) for option in kind]}
        return self._schemas[0][str(kind)] if _is_type(kind) else kind

    def _operation(self, route: RouteDescription) -> dict[str, Any]:
        result: dict[str, Any] = {
            "operationId": route.name,
            "summary": route.title,
            "description": route.description,
            "tags": [route.tag],
            "security": [{"token": []}] if route.token else [],
        }
        if parameters := list(self._parameters(route)):
            result["parameters"] = parameters
        input_example, output_example = route.example or (None, None)
        if route.body is not None:
            content = {JSON: _content(self._schema(route.body), input_example)}
            if route.ndjson:
                schema = {"type": "string", "description": route.ndjson}
                content[NDJSON] = {"schema": schema}
            result["requestBody"] = {"required": route.body_required, "content": content}
        answer: dict[str, Any] = {"description": _first_line(route.description)}
        if route.answer is not None:
            answer["content"] = {route.media: _content(self._schema(route.answer), output_example)}
        result["responses"] = {
            str(route.status): answer,
            "4XX": _problem_response("The request cannot be carried out; `type` says why."),
            "5XX": _problem_response("The service cannot answer now; `type` says why."),
        }
        return result

    def _parameters(self, route: RouteDescription) -> Iterable[dict[str, Any]]:
        for name in _PARAMETER.findall(route.path):
            if name == "zone":
                yield _ZONE
            else:
                yield _parameter(name, "path", True, self._schema(route.path_types[name]))
        for item in msgspec.structs.fields(route.query) if route.query else ():
            schema = _without_null(self._schema(item.type))
            if item.default not in (msgspec.NODEFAULT, None):
                schema["default"] = item.default
            yield _parameter(item.encode_name, "query", item.required, schema)
        if route.method == "POST" and route.path.startswith(ZONE_PATH):
            yield _KEY


def _is_type(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, dict)


def _content(schema: Any, example: Any) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schema}
    if example is not None:
        content["examples"] = {"example": {"value": example}}
    return content


def _parameter(name: str, place: str, required: bool, schema: Any) -> dict[str, Any]:
    schema = dict(schema)
    result = {"name": name, "in": place, "required": required}
    if described := schema.pop("description", ""):
        result["description"] = described
    return {**result, "schema": schema}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that is omitted instead of null."""
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if not options:
        return dict(schema)
    others = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**options[0], **others} if len(options) == 1 else {**others, "anyOf": options}


def _first_line(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ")


def _problem_response(description: str) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(name="Problem")}}}
    return {"description": description, "content": content}


def _problem() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "title": "Problem",
        "properties": {
            "type": {
                "type": "string",
                "enum": [kind.type for kind in KINDS],
                "description": "The kind of error.",
            },
            "title": {**text, "description": "The kind in words; it never changes."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {**text, "description": "What happened, and what to do."},
            "request_id": {**text, "description": "The id of the request in the log."},
            "errors": {
                "type": "array",
                "description": "The invalid values.",
                "items": {
                    "type": "object",
                    "properties": {
                        "pointer": {
                            **text,
                            "description": "A JSON pointer into the body, or a parameter's name.",
                        },
                        "detail": {**text, "description": "What is wrong with the value."},
                    },
                    "required": ["pointer", "detail"],
                },
            },
        },
        "required": ["type", "title", "status", "detail", "request_id"],
        "examples": [msgspec.to_builtins(not_found().problem("1f0c2ab94d5e6f70"))],
        "description": f"An error as in RFC 9457, for example {NOT_FOUND.type}.",
    }
