"""Tool calls that a model wrote as text, and arguments that it wrapped or encoded twice.

Small models write their calls into the answer's text, and some services do not parse the calls of
their models. Such calls are JSON objects, in fences or tags, or Python calls, or XML.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

#: The definitions of tools by name, as JSON schemas of their arguments.
Schemas = Mapping[str, Mapping[str, Any]]
#: A tool's name and its arguments.
WrittenCall = tuple[str, dict[str, Any]]

_NAME_KEYS = (
    "name",
    "tool",
    "tool_name",
    "function",
    "function_name",
    "action",
    "recipient_name",
    "toolName",
)
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
#: Keys that a call may have besides its name and its arguments.
_OTHER_KEYS = frozenset({"id", "type", "index", "call_id"})
#: The maximum distance from a tool's name to its arguments, in characters.
_NAME_DISTANCE = 60
_MAX_TEXT, _MAX_OPENINGS, _MAX_ENCODINGS = 200_000, 500, 3
#: The maximum length of a Python call, and the number of closing brackets tried as its end.
_MAX_PYTHON, _MAX_CLOSINGS = 5_000, 50

_THOUGHTS = re.compile(r"(?is)\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z")
_FENCE = re.compile(r"(?s)\A\s*```\w*\s*\n?(.*?)\n?\s*```\s*\Z")
_XML_CALL = re.compile(
    r"(?s)<(?:function|invoke)(?:=| name=)[\"']?([\w.]+)[\"']?\s*>(.*?)</(?:function|invoke)>"
)
_XML_ARGUMENT = re.compile(
    r"(?s)<parameter(?:=| name=)[\"']?(\w+)[\"']?[^>]*>\n?(.*?)\n?</parameter>"
)
_json = json.JSONDecoder(strict=False)


def schemas_of(tools: Sequence[Mapping[str, Any]]) -> Schemas:
    """Return the schemas of the tools of a request."""
    return {each["function"]["name"]: each["function"]["parameters"] for each in tools}


def tool_named(name: str, schemas: Schemas) -> str:
    """Return a tool's name without the namespace or blanks that a model put around it."""
    bare = name.strip().rpartition(".")[2]
    return bare if name not in schemas and bare in schemas else name


def plain_arguments(arguments: Any, schema: Mapping[str, Any]) -> str:
    """Return a call's arguments as the JSON text of an object.

    JSON that was encoded twice or is in a code fence is decoded; other text is returned unchanged.
    """
    decoded = _decode(arguments)
    if not isinstance(decoded, dict):
        return arguments if isinstance(arguments, str) else _encoded(arguments)
    if len(decoded) == 1:
        ((key, inner),) = decoded.items()
        if key in (*_ARGUMENT_KEYS, "kwargs") and key not in schema.get("properties", {}):
            inner = _decode(inner)
            decoded = inner if isinstance(inner, dict) else decoded
    fitted = _decode_by_schema(decoded, schema)
    if isinstance(arguments, str) and _json_value(arguments) == fitted:
        return arguments
    return _encoded(fitted)


def calls_in_text(text: str, schemas: Schemas) -> list[tuple[str, str]]:
    """Return the calls in an answer's text, in order: each tool's name, and its arguments as JSON.

    A model's thoughts (`<think>`) are ignored.
    """
    text = _THOUGHTS.sub("", text[:_MAX_TEXT])
    if not any(name in text for name in schemas):
        return []
    calls = list(_xml_calls(text, schemas)) or list(_json_calls(text, schemas))
    calls = calls or list(_literal_calls(text, schemas)) or list(_python_calls(text, schemas))
    return [
        (name, _encoded(_decode_by_schema(arguments, schemas[name]))) for name, arguments in calls
    ]


def _json_calls(text: str, schemas: Schemas) -> Iterator[WrittenCall]:
    end = openings = 0
    for opening in re.finditer(r"[\[{]", text):
        if opening.start() < end or openings >= _MAX_OPENINGS:
            continue
        openings += 1
        try:
            value, after = _json.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        calls = list(_calls_of(value, schemas))
        if not calls and isinstance(value, dict):
            before = text[max(end, opening.start() - _NAME_DISTANCE) : opening.start()]
            calls = list(_call_named_before(before, value, schemas))
        if calls or isinstance(value, dict):
            end = after
        yield from calls


def _call_named_before(
    before: str, arguments: dict[str, Any], schemas: Schemas
) -> Iterator[WrittenCall]:
    """Yield a call of the last tool that is named before an object, if the object fits the tool."""
    tool_names = [name for name in re.findall(r"\w+", before) if name in schemas]
    if tool_names and set(schemas[tool_names[-1]].get("required", ())) & arguments.keys():
        yield tool_names[-1], arguments


def _calls_of(value: Any, schemas: Schemas) -> Iterator[WrittenCall]:
    """Yield the calls that a JSON value contains, in any of the usual forms."""
    if isinstance(value, list):
        for item in value:
            yield from _calls_of(item, schemas)
    if not isinstance(value, dict):
        return
    for key in _NAME_KEYS:
        if isinstance(value.get(key), str) and tool_named(value[key], schemas) in schemas:
            yield tool_named(value[key], schemas), _arguments_of(key, value)
            return
    for key, inner in value.items():
        if key in schemas:
            calls = inner if isinstance(inner, list) else [inner]
            yield from ((key, arguments) for arguments in calls if isinstance(arguments, dict))
        else:
            yield from _calls_of(inner, schemas)


def _arguments_of(name_key: str, call: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call in which `name_key` holds the tool's name."""
    others = {key: value for key, value in call.items() if key != name_key}
    for key in _ARGUMENT_KEYS:
        arguments = _decode(others.get(key))
        if isinstance(arguments, dict):
            return arguments
    if others.keys() - _OTHER_KEYS == {"params"} and isinstance(others["params"], dict):
        return dict(others["params"])
    return others


def _xml_calls(text: str, schemas: Schemas) -> Iterator[WrittenCall]:
    for found in _XML_CALL.finditer(text):
        name, arguments = tool_named(found[1], schemas), dict(_XML_ARGUMENT.findall(found[2]))
        if name in schemas and arguments:
            yield name, arguments


def _literal_calls(text: str, schemas: Schemas) -> Iterator[WrittenCall]:
    """Yield the calls in a Python literal: JSON with single quotes or trailing commas."""
    literal = re.search(r"(?s)[\[{].*[\]}]", text[:_MAX_PYTHON])
    if literal is not None:
        with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
            yield from _calls_of(ast.literal_eval(literal[0]), schemas)


def _python_calls(text: str, schemas: Schemas) -> Iterator[WrittenCall]:
    names = "|".join(map(re.escape, schemas))
    for opening in re.finditer(rf"(?<!\w)({names})\s*\(", text):
        following = text[opening.start() : opening.start() + _MAX_PYTHON]
        for closing in islice(re.finditer(r"\)", following), _MAX_CLOSINGS):
            try:
                call = ast.parse(following[: closing.end()], mode="eval").body
                assert isinstance(call, ast.Call)
                arguments = {
                    str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords
                }
            except (SyntaxError, ValueError, AssertionError, MemoryError, RecursionError):
                continue
            if arguments:
                yield opening[1], arguments
            break


def _decode_by_schema(value: Any, schema: Mapping[str, Any]) -> Any:
    """Decode each string in a value for which the schema requires another type."""
    kind = schema.get("type")
    if isinstance(value, str) and kind in ("object", "array", "number", "integer"):
        decoded = _decode(value)
        value = value if isinstance(decoded, str) else decoded
    if kind == "object" and isinstance(value, dict):
        properties = schema.get("properties", {})
        return {
            name: _decode_by_schema(item, properties.get(name, {})) for name, item in value.items()
        }
    return value


def _decode(value: Any) -> Any:
    """Decode JSON text, with or without a code fence, even if it was encoded several times."""
    for _ in range(_MAX_ENCODINGS):
        if not isinstance(value, str):
            break
        fenced = _FENCE.match(value)
        decoded = _json_value(fenced[1] if fenced else value)
        if decoded is None:
            break
        value = decoded
    return value


def _json_value(text: str) -> Any:
    """Return the value of a JSON text, or None if it is not valid JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _encoded(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
