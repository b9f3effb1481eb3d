"""An event of the ledger as a line of an export, and back.

A line has the form of an event that is ingested: the source's own id, its fields and its times. The
fields of a command are under `command`. `recollect` names the zone and the number of the record, by
which commands refer to other records.

A record that an export leaves out has a line too, which becomes a tick without effect, so that the
records after it keep their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    KINDS,
    RESERVED_PLATFORM,
    Analyse,
    AnyPayload,
    ConsolidateMemories,
    Content,
    DecideWriterPrompt,
    Draft,
    Drop,
    Event,
    Reflect,
    Retract,
    Retry,
    SetWriterPrompt,
    Tick,
    kind_of,
)
from recollect.schemas.inbound import (
    MAX_RECORD_BYTES,
    InboundEvent,
    check_platform,
    internal_draft_of,
)
from recollect.schemas.text_sanitising import encodable
from recollect.schemas.times import format_time, parse_time

#: Kinds that are not exported: erasures, records about this ledger's own records, and answers of a
#: language model, whose recordings stay in the ledger.
NOT_EXPORTED = frozenset(
    {
        *("forget", "certify", "switch", "skip_record"),
        *("model_wrote", "model_consolidated", "find_dreams"),
    }
)
#: The name of the tick in place of a record that is not exported.
GAP = "not-exported"
#: The name of the tick in place of a switch. As content does not depend on switches, neither may
#: it depend on the place of one.
SWITCH_GAP = "switch-not-exported"

#: Maximum size of a line: a parked record of the maximum size, in base64, with its other fields.
MAX_LINE_BYTES = 4 * MAX_RECORD_BYTES
_INBOUND = frozenset(field.name for field in msgspec.structs.fields(InboundEvent))
_json = msgspec.json.Encoder()


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The zone and the number of an exported record."""

    zone: str
    number: int


class ExportedDraft(Draft, frozen=True, kw_only=True):
    """The draft of an exported record."""

    origin: Origin

    @property
    def is_gap(self) -> bool:
        """Whether it stands for a record that was not exported."""
        return isinstance(self.payload, Tick) and self.payload.name in (GAP, SWITCH_GAP)


class _Times(msgspec.Struct, frozen=True):
    occurred_at: str | int
    ingested_at: str | int


def is_exported(event: Event, writer_role: int) -> bool:
    """Return whether an export has an event; `writer_role`: the role of the generation in use."""
    payload = event.payload
    if isinstance(payload, SetWriterPrompt) and payload.beside and event.number != writer_role:
        return False
    return is_exportable(payload)


def is_exportable(payload: AnyPayload) -> bool:
    """Return whether an export may have records like this one."""
    if isinstance(payload, Reflect | Analyse) and payload.answers:
        # A model's answers stay in the ledger.
        return False
    return kind_of(payload) not in NOT_EXPORTED


def exported_line(event: Event) -> bytes:
    """Return an event as a line of JSON, with its line feed."""
    payload = event.payload
    if isinstance(payload, ConsolidateMemories):
        # A model's answers stay in the ledger; without them, the memories are quoted.
        replace = msgspec.structs.replace
        payload = replace(payload, answers=(), sources=(), model=None, role=None)
    elif isinstance(payload, SetWriterPrompt):
        # Another ledger has no generation for which the role was set.
        payload = msgspec.structs.replace(payload, beside=False)
    fields = msgspec.to_builtins(payload)
    for name in ("kind", "source_id", "utc_offset"):
        fields.pop(name, None)
    own_fields: dict[str, Any]
    if isinstance(payload, Content):
        own_fields, offset = fields, payload.utc_offset
    else:
        own_fields, offset = {"sender_id": RESERVED_PLATFORM, "content": "", "command": fields}, 0
    line = {
        "id": payload.source_id,
        "platform": event.platform,
        "kind": kind_of(payload),
        "occurred_at": _local_time(event.occurred_at, offset),
        "ingested_at": format_time(event.ingested_at),
        **own_fields,
        RESERVED_PLATFORM: {"zone": event.zone, "number": event.number},
    }
    return _json.encode(line) + b"\n"


def gap_line(zone: str, number: int, at: int, kind: str) -> bytes:
    """Return the line in place of a record of a kind that is not exported; `at`: unix ms."""
    name = SWITCH_GAP if kind == "switch" else GAP
    event = Event(
        zone=zone,
        number=number,
        id="",
        platform=RESERVED_PLATFORM,
        occurred_at=at,
        ingested_at=at,
        payload=Tick(source_id=f"{name}:{number}", name=name),
    )
    return exported_line(event)


def _local_time(milliseconds: int, offset: int) -> str:
    """Return a time as it was given: with its UTC offset in minutes."""
    if not offset:
        return format_time(milliseconds)
    zone = timezone(timedelta(minutes=offset))
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC).astimezone(zone)
    return moment.replace(microsecond=milliseconds % 1000 * 1000).isoformat(timespec="milliseconds")


def exported_draft(line: bytes) -> ExportedDraft:
    """Return the draft of a line that `exported_line` wrote.

    Raises:
        InvalidInput: the line was changed, or is of a kind that is not exported.
    """
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"the line has {len(line)} bytes; the maximum is {MAX_LINE_BYTES}")
    try:
        fields = msgspec.json.decode(line, type=dict[str, Any])
        origin = msgspec.convert(fields.pop(RESERVED_PLATFORM, None), Origin)
        draft = _command(fields) if "command" in fields else _content(fields)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"not a line of an export: {error}") from None
    return ExportedDraft(**msgspec.structs.asdict(draft), origin=origin)


def _content(fields: dict[str, Any]) -> Draft:
    """Return the draft of a message or another event with text; it is validated as any other."""
    known = {name: value for name, value in fields.items() if name in _INBOUND}
    if "revised_at" in known:
        known["revisable"] = "changing"
    event = msgspec.convert(known, InboundEvent)
    if event.id is None or event.ingested_at is None:
        raise InvalidInput("id or ingested_at is missing")
    if event.kind != "remember":
        check_platform(event.platform)
    draft = internal_draft_of(event)
    if own := fields.keys() - _INBOUND:
        payload = msgspec.to_builtins(draft.payload) | {name: fields[name] for name in own}
        converted = encodable(msgspec.convert(payload, type(draft.payload)))
        draft = msgspec.structs.replace(draft, payload=converted)
    return draft


def _command(fields: dict[str, Any]) -> Draft:
    kind = fields.get("kind")
    cls = KINDS.get(kind) if isinstance(kind, str) else None
    if cls is None or issubclass(cls, Content):
        raise InvalidInput(f"unknown kind of command {str(kind)[:60]!r}")
    times = msgspec.convert(fields, _Times)
    given = {**fields["command"], "kind": kind, "source_id": fields.get("id")}
    payload: Any = encodable(msgspec.convert(given, cls))
    if not is_exportable(payload):
        raise InvalidInput(f"kind {kind!r} cannot be imported")
    return Draft(
        platform=RESERVED_PLATFORM,
        occurred_at=parse_time(times.occurred_at, "occurred_at")[0],
        ingested_at=parse_time(times.ingested_at, "ingested_at")[0],
        payload=payload,
    )


def record_references(payload: AnyPayload) -> tuple[int, ...]:
    """Return the numbers of the records that a command names."""
    if isinstance(payload, Retract):
        return tuple(each.number for each in payload.stated_at)
    if isinstance(payload, Analyse):
        return (*payload.events, *payload.sources)
    if isinstance(payload, DecideWriterPrompt | Reflect):
        return payload.sources
    return (payload.number,) if isinstance(payload, Retry | Drop) else ()


def with_references(
    payload: AnyPayload, number_of: Callable[[int], int | None]
) -> AnyPayload | None:
    """Return a command with other numbers for the records that it names.

    `number_of` returns None for a record that is not there; it is left out. None if the command is
    about such a record alone.
    """
    replace = msgspec.structs.replace
    numbers = {number: number_of(number) for number in record_references(payload)}
    kept = {number: to for number, to in numbers.items() if to is not None}
    if isinstance(payload, Retract):
        stated = (statement for statement in payload.stated_at if statement.number in kept)
        moved = tuple(replace(statement, number=kept[statement.number]) for statement in stated)
        return replace(payload, stated_at=moved)
    if isinstance(payload, Analyse):
        events, sources = (
            tuple(kept[one] for one in of_command if one in kept)
            for of_command in (payload.events, payload.sources)
        )
        return replace(payload, events=events, sources=sources)
    if isinstance(payload, DecideWriterPrompt | Reflect):
        return replace(payload, sources=tuple(kept[one] for one in payload.sources if one in kept))
    if isinstance(payload, Retry | Drop):
        to = kept.get(payload.number)
        return None if to is None else replace(payload, number=to)
    return payload
