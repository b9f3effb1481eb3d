"""Checks of the lists in a call of the library; those of a request are decoded with their types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from recollect.home.name_suggestions import did_you_mean
from recollect.schemas.errors import InvalidInput

_UNKNOWN_FIELD = "Object contains unknown field "


def alternatives(kind: Any) -> Iterator[Any]:
    """Yield the alternatives of a type, without annotations."""
    if get_origin(kind) is Annotated:
        yield from alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from alternatives(part)
    else:
        yield kind


def item_type(kind: Any) -> type | None:
    """Return the type of a list's items: a struct, or text; None if the type is no list.

    A value from a closed set counts as text: the operation's own message lists the values.
    """
    for part in alternatives(kind):
        if get_origin(part) in (list, tuple, Sequence):
            (item, *_) = alternatives(get_args(part)[0])
            found: type = str if get_origin(item) is Literal else item
            return found
    return None


def checked_items(name: str, value: object, kind: type) -> list[Any]:
    """Return the items of a list argument; a struct may be given as a dict of its fields.

    Raises:
        InvalidInput: the value is no list, or an item is invalid; the message names it.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} is {type(value).__name__}; give a list")
    return [
        item if isinstance(item, kind) else _converted(f"{name}[{place}]", item, kind)
        for place, item in enumerate(value)
    ]


def _converted(name: str, item: object, kind: type) -> Any:
    try:
        return msgspec.convert(msgspec.to_builtins(item), kind)
    except (msgspec.ValidationError, TypeError) as error:
        reason, _, place = str(error).partition(" - at `$")
        raise InvalidInput(
            f"{name}{place.rstrip('`')}: {reason[:1].lower()}{reason[1:]}"
            f"{suggested_field(reason, kind)}"
        ) from None


def suggested_field(reason: str, kind: Any) -> str:
    """Return "; did you mean X?" for a decoder's error about an unknown field, or an empty text."""
    if not reason.startswith(_UNKNOWN_FIELD):
        return ""
    given = reason.removeprefix(_UNKNOWN_FIELD).partition(" - at `$")[0].strip("`")
    return did_you_mean(given, _field_names(kind))


def _field_names(kind: Any) -> Iterator[str]:
    """Yield the names of the fields of a type and of the structs in it."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            yield field.encode_name
            yield from _field_names(field.type)
    for part in get_args(kind):
        yield from _field_names(part)
