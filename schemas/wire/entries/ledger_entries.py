"""Records of a zone's ledger: the events, in order, and the decisions on each."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect.schemas.wire.entries.list_entries import Page


class LedgerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a zone's ledger: an event or a command."""

    number: Annotated[int, Meta(description="Its running number in the zone, from 1.")]
    kind: Annotated[str, Meta(description="Its kind, such as message, retract or forget.")]
    platform: Annotated[str, Meta(description="Platform; recollect for a command.")]
    occurred_at: Annotated[str, Meta(description="When it happened.")]
    ingested_at: Annotated[str, Meta(description="When it came into the ledger.")]
    readable: Annotated[
        bool, Meta(description="false: it was forgotten, or its kind is unknown to this version.")
    ]
    id: Annotated[str | None, Meta(description="Id of the event; null if it is not readable.")]
    source_id: Annotated[
        str | None, Meta(description="The source's own id; null if it is not readable.")
    ]
    sender: Annotated[
        str | None, Meta(description="The sender's name, or else id; null for most commands.")
    ]
    given_by: Annotated[
        str | None,
        Meta(
            description="Who gave a command: the user or agent of the access token, or else the "
            "token's id; owner: a user of the home; null: recollect itself, or not recorded."
        ),
    ]
    text: Annotated[
        str | None,
        Meta(
            description="The beginning of its text, or of a command's values; null if it has none."
        ),
    ]
    about: Annotated[list[str], Meta(description="Ids of what a command is about.")] = []


class LedgerRecordPage(Page[LedgerRecord], frozen=True, kw_only=True):
    """A page of records. It may have fewer than `limit` although more follow."""

    records: Annotated[list[LedgerRecord], Meta(description="The records, in the requested order.")]


class DecidedRows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that the decision on a record wrote or deleted in one table of a file."""

    model: Annotated[str, Meta(description="Name of the read model, and of its file.")]
    table: Annotated[str, Meta(description="Name of the table.")]
    written: Annotated[int, Meta(description="Number of rows written.")]
    deleted: Annotated[int, Meta(description="Number of rows deleted.")]
    sources: Annotated[
        list[int], Meta(description="Numbers of the records whose words the rows may repeat.")
    ]


class RecordDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided from a record."""

    chain: Annotated[str, Meta(description="Chain of change records that it is part of.")]
    offset: Annotated[int, Meta(description="Offset of its change record in the partition.")]
    hash: Annotated[str, Meta(description="SHA-256 of its change record.")]
    previous: Annotated[str, Meta(description="SHA-256 of the change record before it.")]
    parked: Annotated[bool, Meta(description="It is a dead letter: it could not be processed.")]
    agents: Annotated[list[str], Meta(description="Agents that handle records of its kind.")]
    rows: Annotated[
        list[DecidedRows], Meta(description="Rows by table; those of forgotten words are left out.")
    ]
    commands: Annotated[list[str], Meta(description="Kinds of the commands that it asked for.")]
    erased: Annotated[list[int], Meta(description="Numbers of the records that it erased.")]


class LedgerRecordDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A record with its place in the chain, its content, and what was decided from it."""

    record: Annotated[LedgerRecord, Meta(description="The record.")]
    offset: Annotated[int, Meta(description="Its offset in the partition.")]
    hash: Annotated[str, Meta(description="Its SHA-256, which the next record contains.")]
    previous: Annotated[str, Meta(description="SHA-256 of the record before it.")]
    last: Annotated[int, Meta(description="Number of the zone's last record.")]
    payload: Annotated[
        dict[str, Any] | None, Meta(description="Its content; null if it is not readable.")
    ]
    decision: Annotated[
        RecordDecision | None, Meta(description="What was decided from it; null if not yet.")
    ]
