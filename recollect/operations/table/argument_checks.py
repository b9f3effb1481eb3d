"""Checks of the arguments of a call in the library: closed sets of values, lists and structs.

Those of a request are decoded with their types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from recollect.home.name_suggestions import did_you_mean
from recollect.schemas.decoder_errors import alternatives, decoder_message, fields_in
from recollect.schemas.errors import InvalidInput

T = TypeVar("T")

_MAX_QUOTED = 60
_UNKNOWN_FIELD = "Object contains unknown field "


def item_type(kind: Any) -> type | None:
    """Return the type of a list's items: a struct, or text; None if the type is not a list.

    A value from a closed set counts as text: the operation's own message lists the values.
    """
    for part in alternatives(kind):
        if get_origin(part) in (list, tuple, Sequence):
            (item, *_) = alternatives(get_args(part)[0])
            type_: type = str if get_origin(item) is Literal else item
            return type_
    return None


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise InvalidInput, with the allowed values, if an argument is not one of them."""
    if value not in choices:
        quoted = repr(value[:_MAX_QUOTED] if isinstance(value, str) else value)
        raise InvalidInput(f"{name} {quoted}: choose from {', '.join(map(str, choices))}")


def checked_items(name: str, value: object, kind: type) -> list[Any]:
    """Return the items of a list argument; a struct may be given as a dict of its fields.

    Raises:
        InvalidInput: the value is not a list, or an item is invalid; the message names it.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} is {type(value).__name__}; give a list")
    return [
        item if isinstance(item, kind) else checked_value(f"{name}[{place}]", item, kind)
        for place, item in enumerate(value)
    ]


def checked_value(name: str, value: object, kind: type[T]) -> T:
    """Return an argument as a value of its type; a struct may be given as a dict of its fields.

    Raises:
        InvalidInput: a field is missing, unknown, or of the wrong type; the message names it.
    """
    try:
        return msgspec.convert(msgspec.to_builtins(value), kind)
    except (msgspec.ValidationError, TypeError) as error:
        hint = suggested_field(str(error), kind)
        raise InvalidInput(decoder_message(error, kind, name) + hint) from None


def suggested_field(reason: str, kind: Any) -> str:
    """Return "; did you mean X?" for a decoder's error about an unknown field, or an empty text."""
    if not reason.startswith(_UNKNOWN_FIELD):
        return ""
    given = reason.removeprefix(_UNKNOWN_FIELD).partition(" - at `$")[0].strip("`")
    return did_you_mean(given, (field.encode_name for field in fields_in(kind)))
