"""JSON bodies: they are decoded into the struct of a route; errors have a JSON pointer."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from litestar.dto import AbstractDTO, DTOFieldDefinition
from litestar.typing import FieldDefinition

from recollect.operations.table.argument_checks import suggested_field
from recollect.schemas.text_sanitising import replace_lone_surrogates_json
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
    """Decode a body; ignore a byte order mark, and replace lone surrogates by U+FFFD.

    Raises:
        Refused: the body is not JSON, or does not match the type.
    """
    body = body.removeprefix(BOM_UTF8)
    if not body.strip():
        raise Refused(MALFORMED, "the body is empty; send JSON")
    try:
        return msgspec.json.decode(replace_lone_surrogates_json(body), type=kind)
    except msgspec.ValidationError as error:
        raise invalid_body(error, kind) from None
    except UnicodeDecodeError:
        raise Refused(MALFORMED, "the body is not JSON in UTF-8") from None
    except msgspec.DecodeError as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise Refused(MALFORMED, f"the body is not JSON in UTF-8: {reason}") from None
    except RecursionError:
        raise Refused(MALFORMED, "the body is nested too deeply") from None


def read_values(body: bytes, kind: type[T]) -> T:
    """Decode a body as a struct; null in an optional field counts as omitted.

    Raises:
        Refused: the body is not a JSON object, or a field is missing, unknown or invalid.
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
        raise invalid_body(error, kind) from None


def invalid_body(error: msgspec.ValidationError, kind: Any) -> Refused:
    """Return the problem for a value in a body of a type, with its JSON pointer."""
    found = field_error(error, kind)
    found = FieldError(found.pointer, found.detail + suggested_field(str(error), kind))
    detail = found.detail if found.pointer == "#" else f"{found.pointer[1:]}: {found.detail}"
    return Refused(INVALID, detail, (found,))


def invalid_parameter(error: msgspec.ValidationError, kind: Any) -> Refused:
    """Return the problem for a path or query parameter, with its name."""
    found = field_error(error, kind)
    return malformed_parameter(found.pointer.removeprefix("#/"), found.detail)


def malformed_parameter(name: str, reason: str) -> Refused:
    """Return the problem for a path or query parameter that cannot be read."""
    return Refused(MALFORMED, f"{name}: {reason}", (FieldError(name, reason),))


def check_json(content_type: str) -> None:
    """Raise Refused if a content type is given and is not JSON."""
    media = content_type.partition(";")[0].strip().lower()
    if media and media != JSON and not media.endswith("+json"):
        raise Refused(WRONG_MEDIA_TYPE, "send JSON as application/json")


def is_ndjson(content_type: str) -> bool:
    """Return whether a content type is NDJSON."""
    return content_type.partition(";")[0].strip().lower() in _NDJSON


class JsonBody(AbstractDTO[Any]):
    """The body decoder that Litestar uses for the `data` parameter of a route."""

    def decode_bytes(self, value: bytes) -> Any:
        """Decode a body as the type of the route's `data`."""
        check_json(self.asgi_connection.headers.get("content-type", ""))
        field = self.asgi_connection.route_handler.parsed_data_field
        assert field is not None
        return decode(value, field.annotation)

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        """Do nothing: msgspec decodes without a Litestar backend."""

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Any:
        """Return the schema of the struct."""
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Iterator[DTOFieldDefinition]:  # type: ignore[override]
        """Yield nothing: no transfer type is derived from the struct."""
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """Return False: no transfer type is derived from the struct."""
        return False
