"""JSON Schemas of tools' arguments and results, and the values that conform to them.

The schemas have no unions, nulls or references: clients reject unions with null, and if a value may
have several types, they send the wrong one. A missing value is omitted instead of null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec.inspect import (
    BoolType,
    FloatType,
    IntType,
    ListType,
    Metadata,
    NoneType,
    StrType,
    StructType,
    UnionType,
    VarTupleType,
    type_info,
)

from recollect.schemas.decoder_errors import decoder_message
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import (
    collapse_whitespace,
    escape_invisible,
    first_invisible_character,
    replace_lone_surrogates_deep,
)

JsonSchema = dict[str, Any]

# The minimum similarity (0 to 1) of a misspelt name and the suggested name.
_MIN_SIMILARITY = 0.5
_MAX_QUOTED = 60
# The default of an optional argument by type; passing it means the same as omitting it.
_EMPTY: dict[str, Any] = {"string": "", "array": [], "number": 0}
# Arguments that client frameworks add to every call, or ask a model to fill in.
_CLIENT_ARGUMENTS = frozenset(
    {"toolCallId", "tool_call_id", "sessionId", "session_id", "action", "chatInput", "explanation"}
    | {"limit", "reasoning", "thought"}
)
_REFERENCE = "#/$defs/"
# Marks a node that was a union with null; the finished schemas do not contain the mark.
_NULLABLE = "nullable"


def input_schema(arguments: type[msgspec.Struct]) -> JsonSchema:
    """Return the schema of a tool's arguments."""
    return _without_null(_schema(arguments))


def _without_null(node: JsonSchema) -> JsonSchema:
    """Return a schema without the mark for null, and with non-null defaults."""
    cleaned = {key: value for key, value in node.items() if key != _NULLABLE}
    if "default" in cleaned:
        default = cleaned["default"]
        cleaned["default"] = (
            _EMPTY.get(cleaned["type"]) if default is None else _json_default(default)
        )
        if default is None and "enum" in cleaned:
            cleaned["enum"] = [*cleaned["enum"], cleaned["default"]]
        if default is None and cleaned.pop("exclusiveMinimum", None) is not None:
            cleaned["minimum"] = 0
    if "properties" in cleaned:
        cleaned["properties"] = {
            name: _without_null(field) for name, field in cleaned["properties"].items()
        }
    if isinstance(cleaned.get("items"), dict):
        cleaned["items"] = _without_null(cleaned["items"])
    return cleaned


def output_schema(answer: type[msgspec.Struct]) -> JsonSchema:
    """Return the schema of a result of `to_plain_json`."""
    return _without_optional(_schema(answer))


def _json_default(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


def _schema(struct: type[msgspec.Struct]) -> JsonSchema:
    (root,), parts = msgspec.json.schema_components([struct], ref_template=_REFERENCE + "{name}")
    plain = _inline(root, parts)
    plain.pop("description", None)
    return plain


def _inline(node: JsonSchema, parts: Mapping[str, Any]) -> JsonSchema:
    """Return a schema with references inlined, and unions reduced to one type."""
    if "$ref" in node:
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**parts[node["$ref"].removeprefix(_REFERENCE)], **siblings}, parts)
    if "anyOf" in node:
        siblings = {key: value for key, value in node.items() if key != "anyOf"}
        # If an argument may be a text or a number, such as a time, agents send a text.
        options = [item for item in node["anyOf"] if item != {"type": "null"}]
        nullable = {_NULLABLE: True} if len(options) < len(node["anyOf"]) else {}
        chosen = next((item for item in options if item.get("type") == "string"), options[0])
        return _inline({**chosen, **siblings, **nullable}, parts)
    plain = {key: value for key, value in node.items() if key != "title"}
    if "description" in plain:
        plain["description"] = collapse_whitespace(plain["description"])
    if "enum" in plain:
        plain["type"] = "string"
    if "properties" in plain:
        plain["properties"] = {
            name: _inline(field, parts) for name, field in plain["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(plain.get(key), dict):
            plain[key] = _inline(plain[key], parts)
    return plain


def _without_optional(node: JsonSchema) -> JsonSchema:
    """Return an output schema that requires no nullable field."""
    given = {key: value for key, value in node.items() if key not in (_NULLABLE, "default")}
    if "properties" in given:
        fields = given["properties"]
        always = [name for name in given.get("required", ()) if _NULLABLE not in fields[name]]
        given["required"] = always
        given["properties"] = {name: _without_optional(field) for name, field in fields.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(given.get(key), dict):
            given[key] = _without_optional(given[key])
    return given


def read_arguments(
    tool: str, arguments: Mapping[str, Any], struct: type[msgspec.Struct]
) -> msgspec.Struct:
    """Convert the arguments of a call to a struct.

    A lone surrogate becomes U+FFFD. Common deviations are accepted: a list as text, a number as
    text or the reverse, null or an empty text for an optional argument, and the arguments that
    client frameworks add to every call. Any other unknown argument is refused, since an agent that
    asks for a filter must not get an answer without it.

    Raises:
        InvalidInput: an argument is invalid; the message names it.
    """
    arguments = replace_lone_surrogates_deep(arguments)
    fields = type_info(struct)
    assert isinstance(fields, StructType)
    known = {field.name: field.type for field in fields.fields}
    unknown = [name for name in arguments if name not in known and name not in _CLIENT_ARGUMENTS]
    if unknown:
        raise InvalidInput(_unknown_arguments(tool, unknown, list(known)))
    optional = {field.name for field in fields.fields if field.default is None}
    given = {
        name: _coerce(value, known[name])
        for name, value in arguments.items()
        if name in known and value is not None and not (value in ("", []) and name in optional)
    }
    for field in fields.fields:
        if field.required and given.get(field.name) == "":
            raise InvalidInput(f"{field.name} is empty; give a value")
    try:
        return msgspec.convert(given, struct, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(decoder_message(error, struct)) from None


def _unknown_arguments(tool: str, unknown: list[str], known: list[str]) -> str:
    names = ", ".join(repr(escape_invisible(name[:_MAX_QUOTED])) for name in unknown[:3])
    similar = get_close_matches(unknown[0], known, 1, _MIN_SIMILARITY)
    suggestion = f"; did you mean {similar[0]}?" if similar else ""
    accepted = f"it takes {', '.join(known)}" if known else "it takes none"
    return f"{tool} has no argument {names}; {accepted}{suggestion}"


def _coerce(value: Any, kind: Any) -> Any:
    """Convert a value to its argument's type if a client sent another type."""
    kind = _base_type(kind)
    if isinstance(kind, ListType | VarTupleType):
        if isinstance(value, str):
            value = _parse_list(value)
        if isinstance(value, list):
            return [_coerce(item, kind.item_type) for item in value]
        return value
    if isinstance(value, str):
        return value.strip() if isinstance(kind, IntType | FloatType | BoolType) else value
    if isinstance(kind, StrType) and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _base_type(kind: Any) -> Any:
    """Return a type without bounds and null; for a union, its text type if it has one."""
    if isinstance(kind, Metadata):
        return _base_type(kind.type)
    if isinstance(kind, UnionType):
        options = [_base_type(one) for one in kind.types if not isinstance(one, NoneType)]
        return next((one for one in options if isinstance(one, StrType)), options[0])
    return kind


def _parse_list(text: str) -> list[Any]:
    """Parse a list given as text: a JSON array, or comma-separated names."""
    text = text.strip()
    if text.startswith("["):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, list):
            return document
    return [part.strip() for part in text.split(",") if part.strip()]


def to_plain_json(answer: msgspec.Struct, max_text_length: int) -> dict[str, Any]:
    """Return an answer as JSON without nulls, its texts truncated to `max_text_length` characters.

    Invisible characters are escaped, so that a model reads only what a person can see.
    """
    plain = _plain_value(msgspec.to_builtins(answer), max_text_length)
    assert isinstance(plain, dict)
    return plain


def _plain_value(value: Any, max_text_length: int) -> Any:
    if isinstance(value, dict):
        return {
            key: _plain_value(item, max_text_length)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list | tuple):
        return [_plain_value(item, max_text_length) for item in value]
    if isinstance(value, str):
        return _truncate(escape_invisible_lines(value), max_text_length)
    return value


def escape_invisible_lines(text: str) -> str:
    """Escape the invisible characters of a text, except line feeds and tabs."""
    if first_invisible_character(text) is None:
        return text
    return "\n".join(
        "\t".join(map(escape_invisible, line.split("\t"))) for line in text.split("\n")
    )


def _truncate(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}… [the first {most:,} of {len(text):,} characters]"
