"""What a tool takes and gives: plain JSON Schemas of structs, and values that keep to them.

Plain: no union, no null, no reference. Clients refuse unions with null, or send the wrong one of
several types, so what may be missing is left out, in schemas and in values alike.
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

from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import (
    collapse_whitespace,
    escape_invisible,
    first_invisible_character,
)

JsonSchema = dict[str, Any]

# How alike two names are at least, from 0 to 1, of which one may be a slip for the other.
_ALIKE = 0.5
_MAX_QUOTED = 60
# How an optional argument of a type is left out.
_EMPTY: dict[str, Any] = {"string": "", "array": []}
# What client frameworks put beside the arguments of every call, or ask a model to explain.
_OF_CLIENTS = frozenset(
    {"toolCallId", "tool_call_id", "sessionId", "session_id", "action", "chatInput", "explanation"}
    | {"limit", "reasoning", "thought"}
)
_REFERENCE = "#/$defs/"
# Marks, inside here, what was a union with null.
_MAY_BE_NULL = "nullable"


def input_schema(arguments: type[msgspec.Struct]) -> JsonSchema:
    """Return the schema of the arguments that a struct holds."""
    return _unmarked(_schema(arguments))


def _unmarked(node: JsonSchema) -> JsonSchema:
    """Return a schema without what `_plain` noted; null is never said to be allowed."""
    kept = {key: value for key, value in node.items() if key != _MAY_BE_NULL}
    if "default" in kept:
        default = kept["default"]
        # An optional argument is left out by its empty value, so null never stands in a schema.
        kept["default"] = _EMPTY.get(kept["type"]) if default is None else _listed_default(default)
    if "properties" in kept:
        kept["properties"] = {name: _unmarked(field) for name, field in kept["properties"].items()}
    if isinstance(kept.get("items"), dict):
        kept["items"] = _unmarked(kept["items"])
    return kept


def output_schema(answer: type[msgspec.Struct]) -> JsonSchema:
    """Return the schema of an answer as `plain_answer` gives it."""
    return _required_as_given(_schema(answer))


def _listed_default(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


def _schema(struct: type[msgspec.Struct]) -> JsonSchema:
    (root,), parts = msgspec.json.schema_components([struct], ref_template=_REFERENCE + "{name}")
    plain = _plain(root, parts)
    plain.pop("description", None)
    return plain


def _plain(node: JsonSchema, parts: Mapping[str, Any]) -> JsonSchema:
    """Return a schema with every reference written out, and what may be null marked as such."""
    if "$ref" in node:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _plain({**parts[node["$ref"].removeprefix(_REFERENCE)], **beside}, parts)
    if "anyOf" in node:
        beside = {key: value for key, value in node.items() if key != "anyOf"}
        # A time is a text or a number: agents are asked for the text.
        options = [item for item in node["anyOf"] if item != {"type": "null"}]
        nullable = {_MAY_BE_NULL: True} if len(options) < len(node["anyOf"]) else {}
        chosen = next((item for item in options if item.get("type") == "string"), options[0])
        return _plain({**chosen, **beside, **nullable}, parts)
    plain = {key: value for key, value in node.items() if key != "title"}
    if "description" in plain:
        plain["description"] = collapse_whitespace(plain["description"])
    if "enum" in plain:
        plain["type"] = "string"
    if "properties" in plain:
        plain["properties"] = {
            name: _plain(field, parts) for name, field in plain["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(plain.get(key), dict):
            plain[key] = _plain(plain[key], parts)
    return plain


def _required_as_given(node: JsonSchema) -> JsonSchema:
    """Return an output schema in which nothing is required that may be left out."""
    given = {key: value for key, value in node.items() if key not in (_MAY_BE_NULL, "default")}
    if "properties" in given:
        fields = given["properties"]
        always = [name for name in given.get("required", ()) if _MAY_BE_NULL not in fields[name]]
        given["required"] = always
        given["properties"] = {name: _required_as_given(field) for name, field in fields.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(given.get(key), dict):
            given[key] = _required_as_given(given[key])
    return given


def read_arguments(
    tool: str, arguments: Mapping[str, Any], wanted: type[msgspec.Struct]
) -> msgspec.Struct:
    """Return the arguments of a call as a struct.

    Common deviations are accepted: a list as text, a number as text or the reverse, null or an
    empty text for an optional argument, and the arguments that client frameworks add to every call.
    Any other unknown argument is refused, since an agent that asks for a filter must not get an
    answer without it.

    Raises:
        InvalidInput: what is wrong, in one sentence that names the argument.
    """
    fields = type_info(wanted)
    assert isinstance(fields, StructType)
    known = {field.name: field.type for field in fields.fields}
    unknown = [name for name in arguments if name not in known and name not in _OF_CLIENTS]
    if unknown:
        raise InvalidInput(_unknown(tool, unknown, list(known)))
    optional = {field.name for field in fields.fields if field.default is None}
    given = {
        name: _as_meant(name, value, known[name])
        for name, value in arguments.items()
        if name in known and value is not None and not (value in ("", []) and name in optional)
    }
    for field in fields.fields:
        if field.required and given.get(field.name) == "":
            raise InvalidInput(f"{field.name} is empty")
    try:
        return msgspec.convert(given, wanted, strict=False)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        where = f"{place.rstrip('`')}: " if place else ""
        raise InvalidInput(f"{where}{reason[:1].lower()}{reason[1:]}") from None


def _unknown(tool: str, unknown: list[str], known: list[str]) -> str:
    named = ", ".join(repr(escape_invisible(name[:_MAX_QUOTED])) for name in unknown[:3])
    near = get_close_matches(unknown[0], known, 1, _ALIKE)
    meant = f"; did you mean {near[0]}?" if near else ""
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    return f"{tool} has no argument {named}; {takes}{meant}"


def _as_meant(name: str, value: Any, wanted: Any) -> Any:
    wanted = _bare(wanted)
    if isinstance(wanted, ListType | VarTupleType):
        if isinstance(value, str):
            value = _listed(value)
        if isinstance(value, list):
            return [_as_meant(name, item, wanted.item_type) for item in value]
        return value
    if isinstance(value, str):
        _check_text(name, value)
        if isinstance(wanted, IntType | FloatType | BoolType):
            return value.strip()
    if (
        isinstance(wanted, StrType)
        and isinstance(value, int | float)
        and not isinstance(value, bool)
    ):
        return str(value)
    return value


def _bare(wanted: Any) -> Any:
    """Return a type without its bounds and without null; of a text or number, the text."""
    if isinstance(wanted, Metadata):
        return _bare(wanted.type)
    if isinstance(wanted, UnionType):
        kinds = [_bare(kind) for kind in wanted.types if not isinstance(kind, NoneType)]
        return next((kind for kind in kinds if isinstance(kind, StrType)), kinds[0])
    return wanted


def _listed(text: str) -> list[Any]:
    """Return the list that a text holds as JSON, or as names with commas between them."""
    text = text.strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list):
            return found
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_text(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} holds half a character, which is no text") from None


def plain_answer(answer: msgspec.Struct, most_text: int) -> dict[str, Any]:
    """Return an answer as JSON has it, without nulls, with texts of up to so many characters.

    What cannot be seen in a text is made visible, so that nothing is said to a model that a person
    would not read there.
    """
    found = _given(msgspec.to_builtins(answer), most_text)
    assert isinstance(found, dict)
    return found


def _given(value: Any, most_text: int) -> Any:
    if isinstance(value, dict):
        return {key: _given(item, most_text) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_given(item, most_text) for item in value]
    if isinstance(value, str):
        return _cut(visible(value), most_text)
    return value


def visible(text: str) -> str:
    """Return a text in which all can be seen, but for the line feeds and tabs that it has."""
    if first_invisible_character(text) is None:
        return text
    return "\n".join(
        "\t".join(map(escape_invisible, line.split("\t"))) for line in text.split("\n")
    )


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}… [the first {most:,} of {len(text):,} characters]"
