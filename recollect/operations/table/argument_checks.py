"""Checks of the arguments of a call in the library, made from the types of the parameters.

Those of a request are decoded with their types. An operation checks the ranges of its numbers, the
form of its texts and times, and types that are not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from recollect.home.name_suggestions import did_you_mean
from recollect.schemas.decoder_errors import alternatives, choices_of, decoder_message, fields_in
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import to_plain_values
from recollect.schemas.times import TIME_FORMS

T = TypeVar("T")

_MAX_QUOTED = 60
_UNKNOWN_FIELD = "Object contains unknown field "

#: Returns an argument, perhaps converted, given its name and value; raises InvalidInput.
Check = Callable[[str, Any], Any]


def check_of(kind: Any) -> Check | None:
    """Return the check of arguments of a type; None if the operation checks them itself."""
    parts = [part for part in alternatives(kind) if part is not NoneType]
    check = _check_of(kind, parts)
    if check is None or NoneType not in alternatives(kind):
        return check
    return lambda name, value: None if value is None else check(name, value)


def _check_of(kind: Any, parts: Sequence[Any]) -> Check | None:
    """Return the check of arguments other than None, given the alternatives of their type."""
    if choices := choices_of(kind):
        return partial(_checked_choice, choices)
    if parts == [str, int]:
        return _checked_time
    if len(parts) != 1:
        return None
    (part,) = parts
    origin = get_origin(part)
    if part is str:
        return _checked_text
    if part is bool:
        return _checked_flag
    if part in (int, float):
        return partial(_checked_number, part, _range_of(kind, part))
    if origin in (list, tuple, Sequence):
        return partial(_checked_items, _item_type(part))
    if origin in (dict, Mapping):
        return partial(_checked_entries, check_of(get_args(part)[1]))
    if origin is Callable:
        return _checked_function
    if isinstance(part, type) and issubclass(part, msgspec.Struct):
        return partial(_checked_struct, part)
    return None


def check_unicode(arguments: Mapping[str, Any]) -> None:
    """Raise InvalidInput for the first argument with a text that is not valid Unicode."""
    for name, value in arguments.items():
        try:
            msgspec.json.encode(value, enc_hook=str)
        except UnicodeEncodeError:
            raise InvalidInput(f"{name} contains a lone surrogate; send valid Unicode") from None


def _checked_choice(choices: Sequence[object], name: str, value: object) -> object:
    """Return a value of a closed set."""
    if value not in choices:
        raise InvalidInput(f"{name} {_quoted(value)}: choose from {', '.join(map(str, choices))}")
    return value


def _checked_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong_type(name, value, "a string")
    return value


def _checked_time(name: str, value: object) -> object:
    """Return a time as a text or a number, which may be invalid."""
    if isinstance(value, bool) or not isinstance(value, str | int | date):
        raise _wrong_type(name, value, TIME_FORMS)
    return value.isoformat() if isinstance(value, date) else value


def _checked_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "True or False")
    return value


def _checked_function(name: str, value: object) -> object:
    if not callable(value):
        raise _wrong_type(name, value, "a function")
    return value


def _checked_number(kind: type, allowed: str, name: str, value: object) -> object:
    """Return a finite number, which may be out of range.

    `kind`: int or float. `allowed`: the range, in words.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and (kind is int or not isinstance(value, float) or not math.isfinite(value)):
        raise InvalidInput(f"{name} is {_quoted(value)}; give {allowed}")
    return value


def _range_of(kind: Any, number: type) -> str:
    """Return the range of a type's numbers in words, from the bounds that its schema states."""
    notes = (getattr(note, "extra_json_schema", None) for note in getattr(kind, "__metadata__", ()))
    bounds: Mapping[str, Any] = next(filter(None, notes), {})
    least, most = bounds.get("minimum"), bounds.get("maximum")
    if least is not None and most is not None:
        return f"{least} to {most}"
    words = "a whole number" if number is int else "a number"
    if least is not None:
        return f"{words} of at least {least}"
    if (above := bounds.get("exclusiveMinimum")) is not None:
        return f"{words} above {above}"
    return words


def _item_type(kind: Any) -> type:
    """Return the type of a list's items: a struct, or text.

    A value from a closed set counts as text: the operation's own message lists the values.
    """
    (item, *_) = alternatives(get_args(kind)[0])
    return str if get_origin(item) is Literal else item


def _checked_items(kind: type, name: str, value: object) -> list[Any]:
    """Return the items of a list argument; a struct may be given as a dict of its fields.

    Raises:
        InvalidInput: the value is not a list, or an item is invalid; the message names it.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _wrong_type(name, value, "a list")
    if kind is str:
        return [_checked_text(f"{name}[{place}]", item) for place, item in enumerate(value)]
    return [checked_value(f"{name}[{place}]", item, kind) for place, item in enumerate(value)]


def _checked_struct(kind: type[T], name: str, value: object) -> T:
    """Return a struct; it may be given as a dict of its fields."""
    if not isinstance(value, kind | Mapping):
        raise _wrong_type(name, value, f"a {kind.__name__}, or a dict of its fields")
    return checked_value(name, value, kind)


def _checked_entries(check: Check | None, name: str, value: object) -> Mapping[str, Any]:
    """Return a mapping of texts to values, with each value checked."""
    if not isinstance(value, Mapping):
        raise _wrong_type(name, value, "an object")
    return {
        _checked_text(name, key): (
            entry if check is None else check(f"{name} {_quoted(key)}", entry)
        )
        for key, entry in value.items()
    }


def _wrong_type(name: str, value: object, wanted: str) -> InvalidInput:
    return InvalidInput(f"{name} is {type(value).__name__}; give {wanted}")


def _quoted(value: object) -> str:
    return repr(value[:_MAX_QUOTED] if isinstance(value, str | bytes) else value)


def checked_value(name: str, value: object, kind: type[T]) -> T:
    """Return an argument as a value of its type; a struct may be given as a dict of its fields.

    Raises:
        InvalidInput: a field is missing, unknown, or of the wrong type; the message names it.
    """
    try:
        return msgspec.convert(to_plain_values(value), kind)
    except (msgspec.ValidationError, TypeError) as error:
        hint = suggested_field(str(error), kind)
        raise InvalidInput(decoder_message(error, kind, name) + hint) from None


def suggested_field(reason: str, kind: Any) -> str:
    """Return a hint for a decoder's error about an unknown field, or else an empty text.

    The hint is "; did you mean X?" or, of a field of the struct `kind`, "; its fields are X, Y".
    """
    if not reason.startswith(_UNKNOWN_FIELD):
        return ""
    given, _, place = reason.removeprefix(_UNKNOWN_FIELD).partition(" - at `$")
    hint = did_you_mean(given.strip("`"), (field.encode_name for field in fields_in(kind)))
    if hint or place or not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return hint
    names = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
    return f"; its fields are {names}" if names else "; it has no fields"
