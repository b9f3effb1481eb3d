"""Reports of ingest, forget, rebuild, verify, status and others."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.wire.answering import Time

Level = Literal["index", "project", "derive", "fresh"]


class Receipt(msgspec.Struct, frozen=True):
    """The result of appending an event."""

    status: Annotated[
        Literal["new", "duplicate", "conflict"],
        Meta(
            description="new, duplicate (the ledger has it), or conflict (the ledger has other "
            "content under this id)."
        ),
    ]
    number: Annotated[int, Meta(description="The record's number in the zone.")]
    event_id: Annotated[str, Meta(description="Id of the event.")]
    clamped: Annotated[
        bool, Meta(description="ingested_at was after the ledger's clock, which was used instead.")
    ] = False


class Rejection(msgspec.Struct, frozen=True):
    """A refused record."""

    path: Annotated[str, Meta(description="File that the record stands in.")]
    line: Annotated[int, Meta(description="Line or record number, from 1.")]
    reason: Annotated[str, Meta(description="Why it was refused.")]


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """Files in no known format."""

    path: Annotated[str, Meta(description="Folder or archive.")]
    files: Annotated[int, Meta(description="Number of files.")]
    names: Annotated[list[str], Meta(description="Some of their names.")]


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import."""

    read: Annotated[int, Meta(description="Number of records read.")]
    new: Annotated[int, Meta(description="Number of records appended.")]
    duplicate: Annotated[int, Meta(description="Number of records that the ledger had already.")]
    clamped: Annotated[
        int,
        Meta(
            description="Number of new records whose ingested_at was after the ledger's clock, "
            "which was used instead."
        ),
    ]
    rejected: Annotated[int, Meta(description="Number of records refused.")]
    rejections: Annotated[
        list[Rejection], Meta(description="The first of the refused records, with their reasons.")
    ]
    seconds: Annotated[float, Meta(description="Duration in seconds.")]
    token: Annotated[
        str, Meta(description="Consistency token: the position in the ledger after this import.")
    ]
    head: Annotated[str, Meta(description="Head of the zone's ledger after this import.")]
    skipped: Annotated[
        list[Skipped], Meta(description="Files in no known format that stood beside others.")
    ] = []


class ForgetTargets(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be forgotten; an event must fit everything that is given.

    `ids` are ids of any kind that a user is shown: a source's own; that of an event; that of a fact
    or an observation, for the events that it comes from and those that repeat it; that of a mental
    model, for all its versions; a record's number after a `#`. `entity`: all that somebody wrote,
    under any handle, and all that speaks of them. `sender`, `thread`, `platform`: the platform's
    own names. `time_before` and `time_after`: events that happened earlier or later than a time.
    """

    ids: tuple[str, ...] = ()
    platform: str | None = None
    entity: str | None = None
    sender: str | None = None
    thread: str | None = None
    time_before: Time | None = None
    time_after: Time | None = None


class ForgetReport(msgspec.Struct, frozen=True):
    """The result of an erasure."""

    forgotten: Annotated[
        list[str],
        Meta(
            description="Ids that were asked for; if records were selected otherwise, the ids of "
            "their sources."
        ),
    ]
    already: Annotated[list[str], Meta(description="Ids that were forgotten before.")]
    finished: Annotated[
        list[str], Meta(description="Ids whose interrupted erasure was completed now.")
    ]
    events: Annotated[int, Meta(description="Number of records whose keys were destroyed.")]
    facts: Annotated[int, Meta(description="Number of facts removed.")]
    entities: Annotated[int, Meta(description="Number of entities removed.")]
    vectors: Annotated[int, Meta(description="Number of vectors removed.")]
    dry_run: Annotated[bool, Meta(description="Nothing was changed.")] = False


class UpdateReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of replacing a memory."""

    id: Annotated[str, Meta(description="Id of the new memory.")]
    type: Annotated[Literal["event", "mental_model"], Meta(description="Its type.")]
    text: Annotated[str, Meta(description="Its text.")]
    replaced: Annotated[str, Meta(description="Id of the memory that it replaces.")]
    erased: Annotated[
        int,
        Meta(description="Number of records erased; 0 for a mental model, whose versions stay."),
    ]


class DifferingFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that only one of two generations has."""

    id: str
    text: str
    source_event_id: str


class ChangedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that two generations have in different forms.

    `what` differs: its `text`, the `slot` that it fills, whether it is `current`. `before_id` is
    its id in the old generation.
    """

    id: str
    before_id: str
    before: str
    after: str
    what: list[str]
    source_event_id: str


class DifferingEntity(msgspec.Struct, frozen=True, kw_only=True):
    """One entity of a generation by name, and the names of those that the other has for it."""

    name: str
    names: list[str]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What a new generation concludes otherwise than the one in use.

    All is counted; the lists name the first hundred of each.
    """

    facts_same: int
    facts_gained: int
    facts_lost: int
    facts_changed: int
    entities_split: int
    entities_joined: int
    gained: list[DifferingFact]
    lost: list[DifferingFact]
    changed: list[ChangedFact]
    split: list[DifferingEntity]
    joined: list[DifferingEntity]


class RebuildReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of a rebuild."""

    level: Annotated[Level, Meta(description="The layer that was rebuilt.")]
    records: Annotated[int, Meta(description="Number of records read.")]
    generation: Annotated[str | None, Meta(description="The new generation.")] = None
    encoded: Annotated[int | None, Meta(description="Number of texts embedded anew.")] = None
    seconds: Annotated[float | None, Meta(description="Duration in seconds.")] = None
    dry_run: Annotated[bool, Meta(description="Nothing was changed.")] = False
    difference: Annotated[
        Difference | None,
        Meta(description="How the new generation, kept beside the one in use, differs from it."),
    ] = None


class RollbackReport(msgspec.Struct, frozen=True):
    """The result of a rollback."""

    generation: Annotated[str, Meta(description="The generation in use again.")]


class ReclaimReport(msgspec.Struct, frozen=True):
    """The result of reclaiming space in the ledger."""

    chains: Annotated[list[str], Meta(description="Chains that were removed.")]
    needed: Annotated[list[str], Meta(description="Chains that generations still need.")]
    records: Annotated[int, Meta(description="Number of change records removed.")]
    bytes: Annotated[int, Meta(description="Bytes freed in the ledger.")]
    dry_run: Annotated[bool, Meta(description="Nothing was changed.")]


class FileCheck(msgspec.Struct, frozen=True):
    """A read model's content hashes."""

    model: Annotated[str, Meta(description="Name of the read model.")]
    hash: Annotated[str, Meta(description="Content hash of the live file.")]
    replayed: Annotated[str, Meta(description="Content hash of the replayed file.")]
    ok: Annotated[bool, Meta(description="The two are equal.")]


class Verification(msgspec.Struct, frozen=True):
    """The result of a verification."""

    ok: Annotated[bool, Meta(description="Everything agrees.")]
    ledger_ok: Annotated[bool, Meta(description="The ledger's chain is whole.")]
    events: Annotated[int, Meta(description="Number of readable messages.")]
    head: Annotated[str, Meta(description="Head of the zone's ledger.")]
    lag: Annotated[
        int, Meta(description="Number of ledger records that the files do not have yet.")
    ]
    models: Annotated[
        list[FileCheck], Meta(description="The content hash of each read model, live and replayed.")
    ]
    problems: Annotated[list[str], Meta(description="What differs, and where.")]
    void: Annotated[int, Meta(description="Number of records that do not count.")]


class FileStatus(msgspec.Struct, frozen=True):
    """How far a read model is."""

    model: Annotated[str, Meta(description="Name of the read model.")]
    watermark: Annotated[int, Meta(description="Number of the last record applied.")]


class ModelWriting(msgspec.Struct, frozen=True):
    """What language models wrote for a zone."""

    events: Annotated[int, Meta(description="Number of events read.")]
    calls: Annotated[int, Meta(description="Number of model calls.")]
    tokens_in: Annotated[int, Meta(description="Prompt tokens.")]
    tokens_out: Annotated[int, Meta(description="Completion tokens.")]
    cost: Annotated[float, Meta(description="Cost in the currency of the configured prices.")]
    kept: Annotated[int, Meta(description="Number of statements kept as facts.")]
    repeated: Annotated[
        int, Meta(description="Number of statements that an existing fact makes already.")
    ]
    refused: Annotated[int, Meta(description="Number of statements that failed a check.")]


class Status(msgspec.Struct, frozen=True):
    """The state of a zone."""

    zone: Annotated[str, Meta(description="Name of the zone.")]
    generation: Annotated[str, Meta(description="Generation of read models in use.")]
    events: Annotated[int, Meta(description="Number of messages.")]
    facts: Annotated[int, Meta(description="Number of facts.")]
    entities: Annotated[int, Meta(description="Number of entities.")]
    observations: Annotated[int, Meta(description="Number of observations.")]
    dead_letters: Annotated[int, Meta(description="Number of parked records.")]
    lag: Annotated[int, Meta(description="Number of ledger records not decided yet.")]
    lag_seconds: Annotated[
        float | None, Meta(description="How long the first of these has been in the ledger.")
    ]
    moved_seconds_ago: Annotated[
        float | None,
        Meta(description="Time since the files last changed, in seconds; null if unknown."),
    ]
    stalled: Annotated[bool, Meta(description="There is work, and no process does it.")]
    models: Annotated[list[FileStatus], Meta(description="How far each read model is.")]
    encoder: Annotated[
        str | None, Meta(description="Encoder of the home; null for keyword search only.")
    ]
    head: Annotated[str, Meta(description="Head of the zone's ledger.")]
    agents: Annotated[tuple[str, ...], Meta(description="Agents that decided the zone.")]
    written: Annotated[
        ModelWriting | None, Meta(description="What language models wrote; null if none did.")
    ] = None


class BackupReport(msgspec.Struct, frozen=True, kw_only=True):
    """A backup: where it is, when its moment was, and what it holds.

    `heads`: the end of each zone, as `status` prints it. `keys`: how many events it can open.
    """

    path: str
    made_at: str
    zones: int
    events: int
    keys: int
    bytes: int
    heads: dict[str, str]
    seconds: float


class RestoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a restore put in a home's place.

    `erasures_known`: some place knew what was erased after the backup was made; `erasures_from`
    are those that were asked. `forgotten`: how many events of the backup were erased again for
    that. `lost`: how many newer events of the home were given up; None where it cannot be counted.
    `tokens` hold again, `tokens_dropped` were in the backup and do not. `finished`: this ended a
    restore that had been interrupted. `heads`: the end of each zone now.
    """

    home: str
    backup: str
    made_at: str
    zones: int
    events: int
    erasures_known: bool
    erasures_from: list[str]
    forgotten: int
    lost: int | None
    tokens: int
    tokens_dropped: int
    heads: dict[str, str]
    seconds: float
    finished: bool = False


class AccessToken(msgspec.Struct, frozen=True, kw_only=True):
    """What may be shown of a token: whose it is, and its rights to which zones (`*`: to all)."""

    id: str
    zones: list[str]
    rights: list[str]
    user: str | None
    agent: str | None
    created_at: str
    expires_at: str | None
    used_at: str | None


class NewAccessToken(msgspec.Struct, frozen=True, kw_only=True):
    """A new token, which is shown this once, and the id by which it is taken back."""

    id: str
    token: str


class WriteReport(msgspec.Struct, frozen=True):
    """What a language model wrote, or would: of how many events, and what came of it.

    `waiting` are the events that it has not read; `asked` those that it read now, `failed` those
    for which nobody answered (they wait). `kept`, `repeated` and `refused` count what it said;
    `reasons` is how often what was refused. `calls`, `tokens` and `cost` are what this took. With
    `dry_run` they are what it would take at most, and `least_...` at least; `recorded` are the
    events whose first question is answered already. `stopped`: why not all were read.
    """

    model: str
    role: str
    waiting: int
    asked: int = 0
    failed: int = 0
    kept: int = 0
    repeated: int = 0
    refused: int = 0
    reasons: dict[str, int] = {}
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    dry_run: bool = False
    recorded: int = 0
    least_calls: int = 0
    least_tokens: int = 0
    least_cost: float = 0.0
    stopped: str | None = None


class WriterPromptVersion(msgspec.Struct, frozen=True):
    """A version of the role or a note of the model that writes."""

    name: Annotated[str, Meta(description="role, or the name of a note.")]
    text: Annotated[str, Meta(description="The text.")]
    number: Annotated[
        int,
        Meta(description="Number of the ledger record that set it; 0 for recollect's own role."),
    ]
    at: Annotated[str | None, Meta(description="When it was set.")]
