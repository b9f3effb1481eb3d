"""The adapter of what a program hands over: dicts in the form of a line of JSON, or such lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import Found, Part, Source
from recollect.streams.adapters.jsonl import event_of_line


class JsonObjects(Source):
    """Events as dicts, read one by one; what a line of JSON may say, they may, and times may be
    datetimes with a zone. A line itself may stand in the place of a dict; blank ones are passed
    over.

    `before`: so many came in the parts before, where they come in several.
    """

    def __init__(
        self,
        events: Iterable[Mapping[str, Any] | InboundEvent | bytes],
        name: str,
        *,
        before: int = 0,
    ) -> None:
        self._events = events
        self._name = name
        self._before = before

    def parts(self) -> Iterator[Part]:
        yield Part(self._name, self._found())

    def _found(self) -> Iterator[tuple[int, Found]]:
        """Yield (place from 1, event or refusal), in order."""
        for number, event in enumerate(self._events, self._before + 1):
            try:
                line = event if isinstance(event, bytes) else line_of(event)
                if line.strip():
                    yield number, event_of_line(line)
            except InvalidInput as error:
                yield number, error


def line_of(event: object) -> bytes:
    """Return an event as a line of JSON.

    Raises:
        InvalidInput: it is no dict, or holds what JSON has no form for; the field is named.
    """
    if isinstance(event, InboundEvent):
        event = msgspec.structs.asdict(event)
    if not isinstance(event, Mapping):
        raise InvalidInput(f"an event is a dict; this is {type(event).__name__}")
    for field in event:
        if not isinstance(field, str):
            raise InvalidInput(f"{field!r} is no name of a field; names are texts")
    try:
        return _json(dict(event))
    except _NO_JSON:
        for field, value in event.items():
            try:
                _json(value)
            except _NO_JSON as error:
                raise InvalidInput(f"{field}: {error}") from None
        raise


_NO_JSON = (TypeError, ValueError, RecursionError)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain).encode()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
