"""Bodies of JSON: decoded once, into the struct that a route names, with errors at their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from litestar.dto import AbstractDTO, DTOFieldDefinition
from litestar.typing import FieldDefinition

from recollect.service.http.problem_details import (
    INVALID,
    MALFORMED,
    WRONG_MEDIA_TYPE,
    FieldError,
    Refused,
    field_error,
)

T = TypeVar("T")

JSON = "application/json"
_NDJSON = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})


def decode(body: bytes, kind: type[T]) -> T:
    """Return the value of a body.

    Raises:
        Refused: it is no JSON, or another value than is read here.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise invalid_body(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Refused(MALFORMED, "the body is not JSON in UTF-8") from None
    except RecursionError:
        raise Refused(MALFORMED, "the body is nested too deeply") from None


def read_values(body: bytes, kind: type[T]) -> T:
    """Return the struct of a body; null for a field that may be omitted is as omitting it.

    Raises:
        Refused: it is no JSON object, or a field is missing, unknown or not valid.
    """
    optional = {
        field.encode_name
        for field in msgspec.structs.fields(kind)  # type: ignore[arg-type]
        if not field.required
    }
    given = {
        name: value
        for name, value in decode(body, dict[str, Any]).items()
        if value is not None or name not in optional
    }
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise invalid_body(error) from None


def invalid_body(error: msgspec.ValidationError) -> Refused:
    """Return the problem of a value in a body, at its JSON pointer."""
    found = field_error(error)
    detail = found.detail if found.pointer == "#" else f"{found.pointer[1:]}: {found.detail}"
    return Refused(INVALID, detail, (found,))


def invalid_parameter(error: msgspec.ValidationError) -> Refused:
    """Return the problem of a value in a path or a query, under the parameter's name."""
    found = field_error(error)
    name = found.pointer.removeprefix("#/")
    detail = f"{name}: {found.detail}" if name != "#" else found.detail
    return Refused(MALFORMED, detail, (FieldError(name, found.detail),))


def check_json(content_type: str) -> None:
    """Raise Refused where a body says that it is anything but JSON; it need not say anything."""
    media = content_type.partition(";")[0].strip().lower()
    if media and media != JSON and not media.endswith("+json"):
        raise Refused(WRONG_MEDIA_TYPE, "send JSON as application/json")


def is_ndjson(content_type: str) -> bool:
    """Return whether a body is said to be NDJSON, which is read by the line, of any length."""
    return content_type.partition(";")[0].strip().lower() in _NDJSON


class JsonBody(AbstractDTO[Any]):
    """Decodes a body for Litestar, which knows its type from the route's `data`."""

    def decode_bytes(self, value: bytes) -> Any:
        """Return the struct that a body holds."""
        check_json(self.asgi_connection.headers.get("content-type", ""))
        field = self.asgi_connection.route_handler.parsed_data_field
        assert field is not None
        return decode(value, field.annotation)

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        """Nothing is to be made: the decoder is msgspec's."""

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Any:
        """Return the schema of the struct itself."""
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Iterator[DTOFieldDefinition]:  # type: ignore[override]
        """Yield nothing: no other type is made from the struct."""
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """Return False: no other type is made from the struct."""
        return False
