"""Operations that read the ledger: its records in order, and one record with its decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import PAGE, Cursor, Limit, described
from recollect.operations.upkeep import ledger_records
from recollect.schemas.wire import LedgerRecordDetails, LedgerRecordPage, Time

_TAG = "ledger"
_AT = "2026-05-08T13:56:00.000Z"
_HASH = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
_RECORD = {
    "number": 1,
    "kind": "message",
    "platform": "chat",
    "occurred_at": _AT,
    "ingested_at": _AT,
    "readable": True,
    "id": "01KR3XZBC0XA17DCC8S1SSNK43",
    "source_id": "m1",
    "sender": "Ada",
    "given_by": None,
    "text": "I live in Turin.",
    "about": [],
}
_DETAILS = {
    "record": _RECORD,
    "offset": 0,
    "hash": _HASH,
    "previous": "0" * 64,
    "last": 2,
    "payload": {
        "kind": "message",
        "source_id": "m1",
        "sender_id": "u1",
        "content": "I live in Turin.",
        "sender_name": "Ada",
    },
    "decision": {
        "chain": "c000001",
        "offset": 0,
        "hash": _HASH,
        "previous": "0" * 64,
        "parked": False,
        "agents": ["writer", "episodes"],
        "rows": [{"model": "memory", "table": "facts", "written": 1, "deleted": 0, "sources": [1]}],
        "commands": [],
        "erased": [],
    },
}


@operation(
    "GET /records",
    right="read",
    title="List records",
    tag=_TAG,
    example=(None, {"records": [_RECORD], "cursor": "2"}),
)
def records(
    zone: OpenZone,
    *,
    first: Annotated[
        int | None, described(description="Number of the first record of the list.")
    ] = None,
    at: Annotated[
        Time | None,
        described(description="Begin with the first record ingested after this time."),
    ] = None,
    kinds: Annotated[
        Sequence[str] | None, described(description="Only records of these kinds.")
    ] = None,
    about: Annotated[
        Sequence[str] | None,
        described(
            description="Only commands about memories with these ids: facts, messages, merges, "
            "entities, mental models, stored memories."
        ),
    ] = None,
    newest_first: Annotated[
        bool,
        described(
            description="In descending order, from the last record, or from `first` or `at` on."
        ),
    ] = False,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> LedgerRecordPage:
    """Return a page of the ledger's records (events and commands), in order.

    Forgotten records are listed without their content. With `kinds`, a page examines at most 20,000
    records; so it may have fewer than `limit` entries, or none, and still have a `cursor`.

    Raises:
        InvalidInput: a kind is unknown, `first` and `at` are both given, or the cursor is not from
            this list.

    >>> [(record.number, record.text) for record in zone.records(kinds=["message"])]
    [(1, 'I live in Turin.'), (2, 'I moved to Oslo.')]
    """
    return ledger_records.records(
        zone,
        first=first,
        at=at,
        kinds=kinds,
        about=about,
        newest_first=newest_first,
        cursor=cursor,
        limit=limit,
    )


@operation(
    "GET /records/{number}",
    right="read",
    title="Get a record",
    tag=_TAG,
    example=(None, _DETAILS),
)
def record(
    zone: OpenZone,
    number: Annotated[int, described(minimum=1, description="Number of the record.")],
) -> LedgerRecordDetails:
    """Return a record of the ledger with its hashes, its content and its decision.

    Raises:
        UnknownId: the zone has no record with this number.

    >>> found = zone.record(1)
    >>> found.record.text, [rows.written for rows in found.decision.rows if rows.table == "facts"]
    ('I live in Turin.', [1])
    """
    return ledger_records.record(zone, number)


class LedgerOperations:
    """The records of a zone's ledger."""

    records = records
    record = record
