"""Reports of ingest, forget, rebuild, verify, status and others."""

from __future__ import annotations

from typing import Literal

import msgspec

from recollect.schemas.wire.answering import Time

Level = Literal["index", "project", "derive", "fresh"]


class Receipt(msgspec.Struct, frozen=True):
    """The result of publishing an event. `number` is the running number of its record.

    `clamped`: its `ingested_at` was later than the ledger's clock, which was taken instead.
    """

    status: Literal["new", "duplicate", "conflict"]
    number: int
    event_id: str
    clamped: bool = False


class Rejection(msgspec.Struct, frozen=True):
    """A record that was refused: its line (from 1) and the reason."""

    path: str
    line: int
    reason: str


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a folder or an archive that are in no known format: how many, and some names."""

    path: str
    files: int
    names: list[str]


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an import's records.

    `clamped`: so many of the new ones gave an `ingested_at` after the ledger's clock, which was
    taken instead. `rejections` are the first of those that were rejected. `skipped` are files that
    are in no known format, beside others that are. `token` names the place in the ledger after this
    import, and `head` the ledger's end.
    """

    read: int
    new: int
    duplicate: int
    clamped: int
    rejected: int
    rejections: list[Rejection]
    seconds: float
    token: str
    head: str
    skipped: list[Skipped] = []


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
    """What an erasure took, or with `dry_run` would take: ids, and how many rows of each kind.

    `events` are the records whose keys ended: messages, parked records, commands that hold words.
    `forgotten` are the ids that were asked for, or, where records were chosen otherwise, the
    sources' own ids and `#` with the number of a record that has none. `already`: those asked for
    that were forgotten before; `finished`: those whose erasure was interrupted and has been
    finished now.
    """

    forgotten: list[str]
    already: list[str]
    finished: list[str]
    events: int
    facts: int
    entities: int
    vectors: int
    dry_run: bool = False


class UpdateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What took the place of a memory: its `id` and `text`, and the id of the one before.

    `erased`: so many records of the one before were erased; none of a mental model, whose versions
    all stay.
    """

    id: str
    type: Literal["event", "mental_model"]
    text: str
    replaced: str
    erased: int


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
    """What a rebuild did, or with `dry_run` would do. `encoded` counts texts embedded anew.

    `difference`: the generation was made beside the one in use, which stays; this is how they
    differ.
    """

    level: Level
    records: int
    generation: str | None = None
    encoded: int | None = None
    seconds: float | None = None
    dry_run: bool = False
    difference: Difference | None = None


class RollbackReport(msgspec.Struct, frozen=True):
    """A rollback: the generation that is in use again."""

    generation: str


class ReclaimReport(msgspec.Struct, frozen=True):
    """What was reclaimed, or would be: chains, their change records, and bytes of the ledger.

    `needed` are the chains of generations, and the chain of the ledger's last switch.
    """

    chains: list[str]
    needed: list[str]
    records: int
    bytes: int
    dry_run: bool


class FileCheck(msgspec.Struct, frozen=True):
    """A read model's content hash, live and replayed."""

    model: str
    hash: str
    replayed: str
    ok: bool


class Verification(msgspec.Struct, frozen=True):
    """What `verify` found.

    `events` counts readable turns, `lag` ledger records that the files do not have yet, `void`
    records that do not count; `head` names the ledger's end.
    """

    ok: bool
    ledger_ok: bool
    events: int
    head: str
    lag: int
    models: list[FileCheck]
    problems: list[str]
    void: int


class FileStatus(msgspec.Struct, frozen=True):
    """How far a read model is: the running number of its last record."""

    model: str
    watermark: int


class ModelWriting(msgspec.Struct, frozen=True):
    """What language models wrote of a zone's events, and what that took.

    `events` were read, with so many `calls`. Of what was said `kept` became facts, `repeated` said
    what a fact says already, `refused` failed a check. `cost` is in the currency of the prices.
    """

    events: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    kept: int
    repeated: int
    refused: int


class Status(msgspec.Struct, frozen=True):
    """The state of a zone. `lag` is how many ledger records are not decided yet.

    `lag_seconds` is how long the first of those has been in the ledger, `moved_seconds_ago` when
    the files last moved; None if that was not noted. `stalled`: there is work, and no process does
    it. `head` names the ledger's end. `agents` are the names of the agents that decided it.
    `written`: what language models wrote; None where none did.
    """

    zone: str
    generation: str
    events: int
    facts: int
    entities: int
    observations: int
    dead_letters: int
    lag: int
    lag_seconds: float | None
    moved_seconds_ago: float | None
    stalled: bool
    models: list[FileStatus]
    encoder: str | None
    head: str
    agents: tuple[str, ...]
    written: ModelWriting | None = None


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
    """A version of what the model that writes is told: its role, or a note, since `at`.

    `number` is the record of the ledger that says so; 0: recollect's own role.
    """

    name: str
    text: str
    number: int
    at: str | None
