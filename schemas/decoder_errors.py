"""Messages for values that a decoder rejects: the field, the reason and the allowed values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

_FIELD_NAME = re.compile(r"\.([^.\[\]]+)")


def decoder_message(error: Exception, kind: Any, name: str = "") -> str:
    """Return the message for an error of decoding a value of a type.

    `name`: the name of the value, if it has one: `memories[0].scope: invalid enum value 'planet';
    choose from agent, user, zone, global`.
    """
    reason, _, place = str(error).partition(" - at `$")
    field = f"{name}{place.rstrip('`')}".removeprefix(".")
    reason = f"{reason[:1].lower()}{reason[1:]}{choices_hint(error, kind)}"
    return f"{field}: {reason}" if field else reason


def choices_hint(error: Exception, kind: Any) -> str:
    """Return "; choose from X, Y" if a decoder's error is about a closed set, or an empty text."""
    reason, _, place = str(error).partition(" - at `$")
    if not reason.startswith("Invalid enum value"):
        return ""
    for name in _FIELD_NAME.findall(place.rstrip("`")):
        kind = next((field.type for field in fields_in(kind) if field.encode_name == name), None)
    closed = [part for part in _parts(kind) if get_origin(part) is Literal]
    allowed = [value for part in closed for value in get_args(part)]
    return f"; choose from {', '.join(map(str, allowed))}" if allowed else ""


def alternatives(kind: Any) -> Iterator[Any]:
    """Yield the alternatives of a type, without annotations."""
    if get_origin(kind) is Annotated:
        yield from alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from alternatives(part)
    else:
        yield kind


def choices_of(kind: Any) -> tuple[Any, ...]:
    """Return the values of a type with a closed set of them; None if allowed is not one of them."""
    parts = [part for part in alternatives(kind) if part is not NoneType]
    closed = all(get_origin(part) is Literal for part in parts)
    return tuple(value for part in parts for value in get_args(part)) if closed else ()


def fields_in(kind: Any) -> Iterator[msgspec.structs.FieldInfo]:
    """Yield the fields of a type, and those of the structs in it."""
    for part in _parts(kind):
        if isinstance(part, type) and issubclass(part, msgspec.Struct):
            for field in msgspec.structs.fields(part):
                yield field
                yield from fields_in(field.type)


def _parts(kind: Any) -> Iterator[Any]:
    """Yield a type and its arguments, at every depth."""
    yield kind
    for part in get_args(kind):
        yield from _parts(part)
