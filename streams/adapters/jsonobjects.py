"""The adapter for events from a program: dicts with the fields of a JSON line, or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.text_sanitising import replace_lone_surrogates
from recollect.streams.adapters.adapter import ExportFile, ExportSource, ParseResult
from recollect.streams.adapters.jsonl import event_of_line


class JsonObjects(ExportSource):
    """Events as dicts with the fields of a JSON line.

    Times may also be datetimes with a time zone. JSON lines are accepted in place of dicts; blank
    lines are ignored. `already_read`: the number of events in earlier parts.
    """

    splits_long_messages = False

    def __init__(
        self,
        events: Iterable[Mapping[str, Any] | InboundEvent | bytes],
        name: str,
        *,
        already_read: int = 0,
    ) -> None:
        self._events = events
        self._name = name
        self._before = already_read

    def parts(self) -> Iterator[ExportFile]:
        yield ExportFile(self._name, self._parse())

    def _parse(self) -> Iterator[tuple[int, ParseResult]]:
        """Yield (number from 1, event or error), in order."""
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
        InvalidInput: it is not a dict, or a field cannot be written as JSON; the message names the
            field.
    """
    if isinstance(event, InboundEvent):
        event = msgspec.structs.asdict(event)
    if not isinstance(event, Mapping):
        raise InvalidInput(f"an event is {type(event).__name__}; give a dict")
    for field in event:
        if not isinstance(field, str):
            raise InvalidInput(f"{field!r} is not a field name; names are strings")
    try:
        return _json(dict(event))
    except _NOT_JSON:
        for field, value in event.items():
            try:
                _json(value)
            except _NOT_JSON as error:
                raise InvalidInput(f"{field}: {error}") from None
        raise


_NOT_JSON = (TypeError, ValueError, RecursionError)


def _json(value: object) -> bytes:
    document = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_json_default)
    return replace_lone_surrogates(document).encode()


def _json_default(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
