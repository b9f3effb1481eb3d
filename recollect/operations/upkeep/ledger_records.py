"""The records of a zone's ledger: a list to seek and filter, and one record with its decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from recollect.home.access_tokens import AccessTokens
from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import PRINCIPAL
from recollect.operations.memories.page_cursors import check_limit
from recollect.schemas.changes.sections import READ_MODEL_ROWS
from recollect.schemas.errors import InvalidInput, NewerFormat, UnknownId
from recollect.schemas.events import (
    KINDS,
    OWNER,
    Command,
    Content,
    Event,
    Park,
    Remember,
    kind_of,
)
from recollect.schemas.ledger.records import unseal_event, unseal_part
from recollect.schemas.times import format_time, parse_query_time
from recollect.schemas.wire import (
    DecidedRows,
    LedgerRecord,
    LedgerRecordDetails,
    LedgerRecordPage,
    RecordDecision,
    Time,
)
from recollect.streams.ledger import KeyStore, Ledger
from recollect.streams.records.chain_readers import (
    AcceptedChange,
    SealedEvent,
    SealedReader,
    current_sections,
    open_outbox,
    sealed_events,
)
from recollect.streams.records.change_lookup import change_of
from recollect.streams.records.lookup import records_of_kind

#: The maximum number of records examined for a page, however few match.
MAX_EXAMINED = 20_000
#: The maximum number of characters of a text in a list.
EXCERPT = 300
_BATCH_SIZE = 500
_MODELS = tuple(READ_MODEL_ROWS)
# The kinds of commands about memories, and the fields with the ids of these.
_ABOUT: dict[str, tuple[str, ...]] = {
    "retract": ("target", "replaced_by"),
    "propose_merge": ("entity_a", "entity_b"),
    "decide_merge": ("candidate_id",),
    "undo_merge": ("merge_id",),
    "update_mental_model": ("model_id",),
    "refresh_mental_model": ("model_id", "entity_id"),
    "set_memory_state": ("memory_ids",),
    "archive_memories": ("memory_ids",),
}


def records(
    zone: OpenZone,
    *,
    first: int | None = None,
    at: Time | None = None,
    kinds: Sequence[str] | None = None,
    about: Sequence[str] | None = None,
    newest_first: bool = False,
    cursor: str | None = None,
    limit: int = 50,
) -> LedgerRecordPage:
    """Return a page of the records from a number or a time on; see the operation.

    Raises:
        InvalidInput: a value is out of range or unknown, or `first` and `at` are both given.
    """
    check_limit(limit)
    wanted = frozenset(kinds or ())
    if unknown := sorted(wanted - KINDS.keys()):
        raise InvalidInput(f"kind {unknown[0][:80]!r}: there is no such kind of record")
    zone.must_be_unrestricted()
    if not zone.exists():
        return LedgerRecordPage(records=[])
    last = zone.node.ledger.head(zone.name).number
    start = _start(zone, first, at, last, newest_first) if cursor is None else _number(cursor)
    ledger = zone.node.ledger
    sealed: list[SealedEvent] = []
    following = None
    if about:
        ordered = _commands_about(zone, about, wanted, start, newest_first=newest_first)
    else:
        ordered = _in_order(ledger, zone.name, start, last, newest_first=newest_first)
    for examined, record in enumerate(ordered):
        if len(sealed) == limit or examined == MAX_EXAMINED:
            following = str(record.envelope.number)
            break
        if not wanted or record.envelope.kind in wanted:
            sealed.append(record)
    events = _open(ledger.keys, sealed)
    names = _holders(zone)
    return LedgerRecordPage(
        records=[_listed(record, events.get(record.envelope.number), names) for record in sealed],
        cursor=following,
    )


def record(zone: OpenZone, number: int) -> LedgerRecordDetails:
    """Return one record with its place in the chain, its content and its decision.

    Raises:
        UnknownId: the zone has no record with this number.
    """
    zone.must_be_unrestricted()
    ledger = zone.node.ledger
    # A number beyond the last one may be too large for the ledger's index.
    numbers = [number] if number <= ledger.head(zone.name).number else []
    sealed = next(sealed_events(ledger, zone.name, numbers), None)
    if sealed is None:
        raise UnknownId(f"zone {zone.name} has no record {number}; `records` lists them")
    event = _open(ledger.keys, [sealed]).get(number)
    change = change_of(ledger, zone.name, zone.node.current(zone.name).chain, sealed)
    return LedgerRecordDetails(
        record=_listed(sealed, event, _holders(zone)),
        offset=sealed.offset,
        hash=sealed.hash.hex(),
        previous=sealed.envelope.previous.hex(),
        last=ledger.head(zone.name).number,
        payload=None if event is None else _payload(event),
        decision=None if change is None else _decision(zone, sealed.envelope.kind, change),
    )


def _start(
    zone: OpenZone, first: int | None, at: Time | None, last: int, newest_first: bool
) -> int:
    """Return the number of the first record of a list."""
    if first is not None and at is not None:
        raise InvalidInput("give either `first` or `at`, not both")
    if first is not None:
        return max(first, 1)
    if at is None:
        return last if newest_first else 1
    known = zone.open_home.recallers.timeline(zone.name)
    with known.lock:
        number = known.timeline.last_known(parse_query_time(at, "at"))
    return number if newest_first else number + 1


def _number(cursor: str) -> int:
    if not cursor.isdecimal() or len(cursor) > 15:
        raise InvalidInput(
            f"cursor {cursor[:60]!r} is not from this list; start with the first page"
        )
    return int(cursor)


def _in_order(
    ledger: Ledger, zone: str, start: int, last: int, *, newest_first: bool
) -> Iterator[SealedEvent]:
    """Yield the records from a number on, upwards or downwards."""
    if not newest_first:
        yield from _upwards(ledger, zone, start)
        return
    end = min(start, last)
    while end > 0:
        begin = max(end - _BATCH_SIZE, 0) + 1
        part = []
        for record in _upwards(ledger, zone, begin):
            if record.envelope.number > end:
                break
            part.append(record)
        yield from reversed(part)
        end = begin - 1


def _upwards(ledger: Ledger, zone: str, start: int) -> Iterator[SealedEvent]:
    reader = SealedReader(ledger, zone, *ledger.seek(zone, start - 1))
    while page := reader.read_sealed(_BATCH_SIZE):
        yield from (each for each in page if each.envelope.number >= start)


def _open(keys: KeyStore, records: Sequence[SealedEvent]) -> dict[int, Event]:
    """Return the readable events by number."""
    present = keys.get([record.envelope.key_id for record in records])
    opened = {}
    for record in records:
        key = present.get(record.envelope.key_id)
        if key is None:
            continue
        try:
            opened[record.envelope.number] = unseal_event(record.envelope, record.record, key)
        except (KeyError, NewerFormat):
            continue
    return opened


def _commands_about(
    zone: OpenZone, ids: Sequence[str], kinds: Set[str], start: int, *, newest_first: bool
) -> Iterator[SealedEvent]:
    """Yield the commands from a number on that name one of the ids, upwards or downwards."""
    ledger, wanted = zone.node.ledger, frozenset(ids)
    numbers = set()
    for kind in _ABOUT.keys() & kinds if kinds else _ABOUT:
        for record in records_of_kind(ledger, zone.name, kind):
            number = record.envelope.number
            if (number > start if newest_first else number < start) or number in numbers:
                continue
            event = record.open(ledger.keys)
            if event is not None and not wanted.isdisjoint(_ids_in(event)):
                numbers.add(number)
    yield from sorted(
        sealed_events(ledger, zone.name, numbers),
        key=lambda record: record.envelope.number,
        reverse=newest_first,
    )


def _ids_in(event: Event) -> list[str]:
    """Return the ids that a command names."""
    fields = _ABOUT.get(kind_of(event.payload), ())
    values = (getattr(event.payload, name) for name in fields)
    return [
        id_
        for value in values
        for id_ in (value if isinstance(value, tuple) else (value,))
        if id_ is not None
    ]


def _holders(zone: OpenZone) -> dict[str, str]:
    """Return the users, or else agents, of the home's access tokens by the tokens' ids."""
    tokens = AccessTokens(zone.open_home.home.directory).tokens()
    return {each.id: each.user or each.agent or each.id for each in tokens}


def _giver(event: Event, holders: Mapping[str, str]) -> str | None:
    """Return who gave a command, by name if the token still exists."""
    payload = event.payload
    token = payload.given_by if isinstance(payload, Command) else None
    if isinstance(payload, Remember):
        principal = payload.metadata.get(PRINCIPAL)
        token = str(principal.get("token", OWNER)) if isinstance(principal, dict) else OWNER
    return token and holders.get(token, token)


def _listed(sealed: SealedEvent, event: Event | None, holders: Mapping[str, str]) -> LedgerRecord:
    envelope = sealed.envelope
    payload = None if event is None else event.payload
    return LedgerRecord(
        number=envelope.number,
        kind=envelope.kind,
        platform=envelope.platform,
        occurred_at=format_time(envelope.occurred_at),
        ingested_at=format_time(envelope.ingested_at),
        readable=event is not None,
        id=None if event is None else event.id,
        source_id=None if payload is None else payload.source_id,
        sender=(payload.sender_name or payload.sender_id) if isinstance(payload, Content) else None,
        given_by=None if event is None else _giver(event, holders),
        text=None if event is None else _text(event),
        about=[] if event is None else _ids_in(event),
    )


def _text(event: Event) -> str | None:
    """Return the beginning of a record's text; for a command, of its values."""
    if isinstance(event.payload, Content):
        return _excerpt(event.payload.content)
    values = {
        name: value
        for name, value in _payload(event).items()
        if name not in ("kind", "source_id", "given_by")
        and value not in (None, "", [], {})
        and (isinstance(event.payload, Park) or not _is_binary(getattr(event.payload, name, None)))
    }
    text = ", ".join(f"{name} {_plain(value)}" for name, value in values.items())
    return _excerpt(text) or None


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def _is_binary(value: Any) -> bool:
    """Return whether a value is binary, such as a list of hashes, and so not worth showing."""
    return isinstance(value[0] if isinstance(value, tuple) and value else value, bytes)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _payload(event: Event) -> dict[str, Any]:
    """Return the content of a record as JSON values; bytes as base64."""
    found: dict[str, Any] = msgspec.to_builtins(event.payload)
    if isinstance(event.payload, Park):
        found["body"] = event.payload.body.decode("utf-8", "replace")
    return found


def _decision(zone: OpenZone, kind: str, change: AcceptedChange) -> RecordDecision:
    keys = zone.node.ledger.keys
    header = change.header
    return RecordDecision(
        chain=header.chain,
        offset=change.offset,
        hash=change.hash.hex(),
        previous=header.previous.hex(),
        parked=header.is_parked,
        agents=_agents_of(zone, kind),
        rows=_rows(keys, change),
        commands=[
            str(msgspec.to_builtins(draft.payload)["kind"]) for draft in open_outbox(keys, change)
        ],
        erased=[source.number for source in header.erased_events],
    )


def _agents_of(zone: OpenZone, kind: str) -> list[str]:
    """Return the names of the agents that handle a kind, in the order in which they decide."""
    # Imported here: only this needs the agents.
    from recollect.streams.agents import BY_NAME

    names = {type(agent): name for name, agent in BY_NAME.items()}
    return [
        names.get(type(agent), type(agent).__name__)
        for agent in zone.node.agents_of(zone.node.current(zone.name))
        if kind in agent.kinds
    ]


def _rows(keys: KeyStore, change: AcceptedChange) -> list[DecidedRows]:
    """Return how many rows of each table a change record writes and deletes."""
    needed = {source.key_id for part in change.record.parts for source in part.sources}
    present = keys.get(list(needed))
    written: Counter[tuple[str, str]] = Counter()
    deleted: Counter[tuple[str, str]] = Counter()
    sources: dict[tuple[str, str], set[int]] = {}
    for part in change.record.parts:
        text = unseal_part(change.record, part, present)
        if text is None:
            continue
        for model, section in current_sections(text, _MODELS, change.header.format).items():
            written.update((model, put.TABLE) for put in section.puts)
            deleted.update((model, delete.table) for delete in section.deletes)
            for table in {put.TABLE for put in section.puts}:
                sources.setdefault((model, table), set()).update(
                    source.number for source in part.sources
                )
    return [
        DecidedRows(
            model=model,
            table=table,
            written=written[model, table],
            deleted=deleted[model, table],
            sources=sorted(sources.get((model, table), ())),
        )
        for model, table in sorted(written.keys() | deleted.keys())
    ]
