"""Reports of ingest, forget, rebuild, verify, status and others."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.choices import RebuildLevel
from recollect.schemas.wire.answering import Time
from recollect.schemas.wire.proofs import Certificate


class Receipt(msgspec.Struct, frozen=True):
    """The result of appending an event."""

    status: Annotated[
        Literal["new", "duplicate", "conflict"],
        Meta(
            description="new, duplicate (the ledger has it already), or conflict (the ledger has "
            "other content under this id)."
        ),
    ]
    number: Annotated[int, Meta(description="The record's number in the zone.")]
    event_id: Annotated[str, Meta(description="Id of the event.")]
    clamped: Annotated[
        bool,
        Meta(description="ingested_at was later than the ledger's time, which was used instead."),
    ] = False


class RememberReceipt(Receipt, frozen=True):
    """The result of remembering a text."""

    token: Annotated[
        str, Meta(description="Consistency token: the position in the ledger after this text.")
    ] = ""
    decided: Annotated[
        bool,
        Meta(
            description="false: the text is stored and can be found as a message; its facts follow "
            "later. Do not send it again; to find its facts, wait for the token."
        ),
    ] = True


class MergeReceipt(Receipt, frozen=True, kw_only=True):
    """The result of proposing a merge."""

    id: Annotated[str, Meta(description="Id of the proposal, to get, decide or undo the merge.")]


class Rejection(msgspec.Struct, frozen=True):
    """A rejected record."""

    path: Annotated[str, Meta(description="File that contains the record.")]
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
            description="Number of new records whose ingested_at was later than the ledger's time, "
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
        list[Skipped],
        Meta(description="Files of unknown format in the folders that were imported."),
    ] = []


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export."""

    path: Annotated[str, Meta(description="The file or folder that was written.")]
    format: Annotated[str, Meta(description="jsonl, markdown or okf.")]
    events: Annotated[int, Meta(description="Number of records exported; 0 for pages.")]
    left_out: Annotated[
        dict[str, int],
        Meta(
            description="Number of records of each kind that were left out: erased ones, erasures "
            "and their certificates, records about the ledger itself, and a model's answers."
        ),
    ]
    pages: Annotated[int, Meta(description="Number of pages written; 0 for events.")]
    seconds: Annotated[float, Meta(description="Duration in seconds.")]


class ForgetTargets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to forget: events that meet every given criterion.

    `ids`: ids as users see them. The id of an event (the source's or recollect's) selects the
    event; the id of a fact or observation, the events that it comes from and those that repeat it;
    the id of a mental model, all its versions; `#` and a number, the record with this number.
    `entity`: selects everything by or about an entity, across its handles. `sender_id`,
    `thread_id`, `platform`: the platform's own ids. `time_before` and `time_after`: bounds on when
    events happened. `also`: ids of entities and events to forget even if they meet no criterion;
    the `also_possible` of a report lists such ids.
    """

    ids: tuple[str, ...] = ()
    platform: str | None = None
    entity: str | None = None
    sender_id: str | None = None
    thread_id: str | None = None
    time_before: Time | None = None
    time_after: Time | None = None
    also: tuple[str, ...] = ()


class PossibleTarget(msgspec.Struct, frozen=True):
    """Something else to which the name of a forgotten entity may refer."""

    id: Annotated[str, Meta(description="Id, to be given in `also`.")]
    type: Annotated[
        Literal["entity", "event"],
        Meta(description="An entity with a similar name, or an event that contains a part of it."),
    ]
    text: Annotated[str, Meta(description="The entity's name, or the beginning of the text.")]
    events: Annotated[int, Meta(description="Number of its records that are not forgotten yet.")]


class ForgetReport(msgspec.Struct, frozen=True):
    """The result of an erasure."""

    forgotten: Annotated[
        list[str],
        Meta(
            description="The requested ids; for records selected by other criteria, the ids that "
            "their sources gave them."
        ),
    ]
    already_forgotten: Annotated[list[str], Meta(description="Ids that were forgotten before.")]
    resumed: Annotated[
        list[str], Meta(description="Ids whose interrupted erasure was completed now.")
    ]
    events: Annotated[int, Meta(description="Number of records whose keys were destroyed.")]
    facts: Annotated[int, Meta(description="Number of facts removed.")]
    entities: Annotated[int, Meta(description="Number of entities removed.")]
    vectors: Annotated[int, Meta(description="Number of vectors removed.")]
    also_possible: Annotated[
        list[PossibleTarget],
        Meta(
            description="What else the entity's name may refer to. None of it was forgotten; to "
            "forget it, give its id in `also`."
        ),
    ] = []
    dry_run: Annotated[bool, Meta(description="Nothing was changed.")] = False
    certificate: Annotated[
        Certificate | None, Meta(description="The certificate, if one was requested.")
    ] = None


class RetractionReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of retracting or restoring a memory."""

    id: Annotated[str, Meta(description="Id of the memory.")]
    type: Annotated[Literal["fact", "event"], Meta(description="Its type.")]
    status: Annotated[
        Literal["retracted", "restored"],
        Meta(description="retracted: it no longer counts; restored: it counts again."),
    ]
    facts: Annotated[list[str], Meta(description="Ids of the facts that this covers.")]


class UpdateReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of replacing a memory."""

    id: Annotated[str, Meta(description="Id of the new memory.")]
    type: Annotated[Literal["event", "mental_model"], Meta(description="Its type.")]
    text: Annotated[str, Meta(description="Its text.")]
    previous_id: Annotated[str, Meta(description="Id of the memory that it replaces.")]


class FactDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that only one of two generations has."""

    id: Annotated[str, Meta(description="Id of the fact.")]
    text: Annotated[str, Meta(description="Its text.")]
    source_event_id: Annotated[str, Meta(description="Id of its event, as its source gave it.")]


class ChangedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that differs between two generations.

    `changed_fields`: its `text`, the `slot` it fills, whether it is `current`. `before_id`: its id
    in the old generation.
    """

    id: Annotated[str, Meta(description="Id of the fact now.")]
    before_id: Annotated[str, Meta(description="Its id before.")]
    before: Annotated[str, Meta(description="Its text before.")]
    after: Annotated[str, Meta(description="Its text now.")]
    changed_fields: Annotated[list[str], Meta(description="What differs: text, slot or current.")]
    source_event_id: Annotated[str, Meta(description="Id of its event, as its source gave it.")]


class EntityDiff(msgspec.Struct, frozen=True, kw_only=True):
    """An entity of one generation, and the names of the corresponding entities in the other."""

    name: Annotated[str, Meta(description="Name of the entity.")]
    names: Annotated[list[str], Meta(description="Names of the corresponding ones.")]


class TextDiff(msgspec.Struct, frozen=True, kw_only=True):
    """An observation or a mental model that differs between two generations."""

    kind: Annotated[
        Literal["observation", "mental_model"], Meta(description="The kind of text that differs.")
    ]
    before: Annotated[str | None, Meta(description="Its text on the old side; null: not there.")]
    after: Annotated[str | None, Meta(description="Its text on the new side; null: not there.")]


class TextCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many texts of a kind two generations have in common, and how many differ."""

    same: Annotated[int, Meta(description="Number of equal texts.")]
    gained: Annotated[int, Meta(description="Number of texts that only the new side has.")]
    lost: Annotated[int, Meta(description="Number of texts that only the old side has.")]
    changed: Annotated[int, Meta(description="Number of texts that differ.")]


class GenerationDiff(msgspec.Struct, frozen=True, kw_only=True):
    """Diff between a new generation and the active one.

    The counts are complete; each list has only the first hundred.
    """

    facts_same: Annotated[int, Meta(description="Number of equal facts.")]
    facts_gained: Annotated[int, Meta(description="Number of facts that only the new side has.")]
    facts_lost: Annotated[int, Meta(description="Number of facts that only the old side has.")]
    facts_changed: Annotated[int, Meta(description="Number of facts that differ.")]
    entities_split: Annotated[int, Meta(description="Number of entities that were split.")]
    entities_joined: Annotated[
        int, Meta(description="Number of entities into which several were joined.")
    ]
    observations: Annotated[TextCounts, Meta(description="Standing observations, by topic.")]
    mental_models: Annotated[
        TextCounts, Meta(description="Current mental models, by name and entity.")
    ]
    texts: Annotated[
        list[TextDiff], Meta(description="Observations and mental models that differ.")
    ]
    gained: Annotated[list[FactDiff], Meta(description="Facts that only the new side has.")]
    lost: Annotated[list[FactDiff], Meta(description="Facts that only the old side has.")]
    changed: Annotated[list[ChangedFact], Meta(description="Facts that differ.")]
    split: Annotated[list[EntityDiff], Meta(description="Entities that were split.")]
    joined: Annotated[
        list[EntityDiff], Meta(description="Entities into which several were joined.")
    ]


class RollbackReport(msgspec.Struct, frozen=True):
    """The result of a rollback."""

    generation: Annotated[str, Meta(description="The generation in use again.")]


class ReclaimReport(msgspec.Struct, frozen=True):
    """The result of reclaiming space in the ledger."""

    chains: Annotated[list[str], Meta(description="Chains that were removed.")]
    retained_chains: Annotated[list[str], Meta(description="Chains that generations still need.")]
    records: Annotated[int, Meta(description="Number of change records removed.")]
    bytes: Annotated[int, Meta(description="Bytes freed in the ledger.")]
    dry_run: Annotated[bool, Meta(description="Nothing was changed.")]


class FileStatus(msgspec.Struct, frozen=True):
    """The progress of a read model."""

    model: Annotated[str, Meta(description="Name of the read model.")]
    watermark: Annotated[int, Meta(description="Number of the last record applied.")]


class ZoneModelUsage(msgspec.Struct, frozen=True):
    """What language models wrote for a zone."""

    events: Annotated[int, Meta(description="Number of events read.")]
    calls: Annotated[int, Meta(description="Number of model calls.")]
    tokens_in: Annotated[int, Meta(description="Prompt tokens.")]
    tokens_out: Annotated[int, Meta(description="Completion tokens.")]
    cost: Annotated[float, Meta(description="Cost in the currency of the configured prices.")]
    accepted: Annotated[int, Meta(description="Number of statements accepted as facts.")]
    duplicates: Annotated[
        int, Meta(description="Number of statements that an existing fact already makes.")
    ]
    rejected: Annotated[int, Meta(description="Number of statements that failed a check.")]


class Status(msgspec.Struct, frozen=True):
    """The state of a zone."""

    zone: Annotated[str, Meta(description="Name of the zone.")]
    generation: Annotated[str, Meta(description="Generation of read models in use.")]
    events: Annotated[int, Meta(description="Number of messages.")]
    facts: Annotated[int, Meta(description="Number of facts.")]
    entities: Annotated[int, Meta(description="Number of entities.")]
    episodes: Annotated[int, Meta(description="Number of episodes.")]
    observations: Annotated[int, Meta(description="Number of observations.")]
    dead_letters: Annotated[int, Meta(description="Number of dead letters.")]
    lag: Annotated[int, Meta(description="Number of ledger records not decided yet.")]
    lag_seconds: Annotated[
        float | None,
        Meta(description="How long the first of these records has been in the ledger."),
    ]
    seconds_since_progress: Annotated[
        float | None,
        Meta(description="Time since the files last changed, in seconds; null if unknown."),
    ]
    stalled: Annotated[bool, Meta(description="Records are waiting, and no process handles them.")]
    models: Annotated[list[FileStatus], Meta(description="Progress of each read model.")]
    encoder: Annotated[
        str | None, Meta(description="Encoder of the home; null for keyword search only.")
    ]
    head: Annotated[str, Meta(description="Head of the zone's ledger.")]
    agents: Annotated[tuple[str, ...], Meta(description="Agents that decided the zone.")]
    model_usage: Annotated[
        ZoneModelUsage | None, Meta(description="What language models wrote; null if none did.")
    ] = None
    problem: Annotated[
        str | None,
        Meta(description="Why this process cannot process the zone; null if nothing prevents it."),
    ] = None


class BackupReport(msgspec.Struct, frozen=True, kw_only=True):
    """A backup: path, time and contents.

    `heads`: head of each zone, as in `status`. `keys`: number of events that it can decrypt.
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
    """Result of a restore.

    `erasures_known`: whether the erasures after the backup were known; `erasures_from`: where they
    were read. `forgotten`: number of events in the backup that were erased again because of them.
    `events_lost`: number of newer events of the home that were discarded; None if unknown.
    `tokens`: number of access tokens restored. `tokens_revoked`: number of the backup's tokens that
    stay revoked. `resumed`: whether an interrupted restore was completed. `heads`: head of each
    zone now.
    """

    home: str
    backup: str
    made_at: str
    zones: int
    events: int
    erasures_known: bool
    erasures_from: list[str]
    forgotten: int
    events_lost: int | None
    tokens: int
    tokens_revoked: int
    heads: dict[str, str]
    seconds: float
    resumed: bool = False


class AccessToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token without its secret: owner, rights and zones (`*`: all)."""

    id: Annotated[str, Meta(description="Its id, which is not secret.")]
    zones: Annotated[list[str], Meta(description="Its zones; `*` for all.")]
    rights: Annotated[list[str], Meta(description="Its rights: read, write, forget, admin.")]
    user: Annotated[str | None, Meta(description="Name of the user who holds it.")]
    agent: Annotated[str | None, Meta(description="Name of the agent that holds it.")]
    created_at: Annotated[str, Meta(description="When it was created.")]
    expires_at: Annotated[str | None, Meta(description="When it expires; null for never.")]
    used_at: Annotated[str | None, Meta(description="About when it was last used; null: never.")]


class NewAccessToken(msgspec.Struct, frozen=True, kw_only=True):
    """A new token, shown only once, and its id for revocation."""

    id: Annotated[str, Meta(description="Its id, by which it is revoked.")]
    token: Annotated[str, Meta(description="The token with its secret, shown only now.")]


class WriteReport(msgspec.Struct, frozen=True):
    """What a language model wrote, or with `dry_run` would.

    `pending`: number of events that the model has not read. `processed`: number of events read now.
    `failed`: number of events for which no provider answered; they stay pending. `accepted`,
    `duplicates`, `rejected`: numbers of proposals; `reasons`: rejections by reason. `calls`,
    `tokens`, `cost`: what was used now. With `dry_run`, these are upper bounds, and `min_calls`,
    `min_tokens`, `min_cost` are lower bounds. `recorded`: number of events for which the
    model's first answer is recorded already, so that its call costs nothing. `stopped`: why not all
    events were processed.
    """

    model: Annotated[str, Meta(description="Name of the model.")]
    role: Annotated[str, Meta(description="Version of the writer's role.")]
    pending: Annotated[int, Meta(description="Number of events that the model has not read.")]
    processed: Annotated[int, Meta(description="Number of events read now.")] = 0
    failed: Annotated[int, Meta(description="Number of events without an answer.")] = 0
    accepted: Annotated[int, Meta(description="Number of accepted proposals.")] = 0
    duplicates: Annotated[int, Meta(description="Number of proposals that were known already.")] = 0
    rejected: Annotated[int, Meta(description="Number of rejected proposals.")] = 0
    reasons: Annotated[dict[str, int], Meta(description="Rejections by reason.")] = {}
    calls: Annotated[int, Meta(description="Number of calls; with dry_run, the maximum.")] = 0
    tokens: Annotated[int, Meta(description="Number of tokens; with dry_run, the maximum.")] = 0
    cost: Annotated[float, Meta(description="Cost in the prices' currency.")] = 0.0
    dry_run: Annotated[bool, Meta(description="Nothing was sent.")] = False
    recorded: Annotated[int, Meta(description="Number of events already answered.")] = 0
    min_calls: Annotated[int, Meta(description="With dry_run: the minimum number of calls.")] = 0
    min_tokens: Annotated[int, Meta(description="With dry_run: the minimum number of tokens.")] = 0
    min_cost: Annotated[float, Meta(description="With dry_run: the minimum cost.")] = 0.0
    stopped: Annotated[str | None, Meta(description="Why not all events were processed.")] = None


class RebuildReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of a rebuild."""

    level: Annotated[
        RebuildLevel,
        Meta(
            description="How much was rebuilt: index (the search indexes), project (all files, "
            "from the recorded decisions), derive (also the decisions), fresh (also the vectors)."
        ),
    ]
    records: Annotated[int, Meta(description="Number of records read.")]
    generation: Annotated[str | None, Meta(description="The new generation.")] = None
    encoded: Annotated[
        int | None, Meta(description="Number of texts that were embedded again.")
    ] = None
    seconds: Annotated[float | None, Meta(description="Duration in seconds.")] = None
    dry_run: Annotated[bool, Meta(description="Nothing was changed.")] = False
    difference: Annotated[
        GenerationDiff | None,
        Meta(description="How the new generation differs from the one in use."),
    ] = None
    written: Annotated[
        WriteReport | None,
        Meta(description="With writer_role: what the model was asked, or with dry_run would be."),
    ] = None
    stopped: Annotated[
        str | None,
        Meta(description="Why the new generation is not finished; the same rebuild resumes it."),
    ] = None


class WriterComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposed writer prompt would change about the facts of one message.

    `same`: facts that the message has and the new prompt would give too. `added`: facts that it
    would give in addition. `dropped`: facts that a model wrote and the new prompt would not give.
    `rejected`: the number of its rejected proposals, by reason.
    """

    event_id: str
    content: str
    same: list[str]
    added: list[str]
    dropped: list[str]
    rejected: dict[str, int]


class WriterPromptComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposed writer prompt would change about the messages that the model read last.

    `calls`, `tokens`, `cost`: what the comparison used. `stopped`: why not all were compared.
    """

    id: str
    messages: list[WriterComparison]
    calls: int
    tokens: int
    cost: float
    stopped: str | None = None


BackfillState = Literal["none", "estimate", "running", "paused", "stopped", "done"]


class PlatformBackfill(msgspec.Struct, frozen=True):
    """What a backfill has to read of a platform."""

    platform: Annotated[str, Meta(description="The platform.")]
    episodes: Annotated[int, Meta(description="Number of episodes.")]
    messages: Annotated[int, Meta(description="Number of messages.")]
    tokens: Annotated[int, Meta(description="Estimated tokens of their texts.")]
    first: Annotated[str, Meta(description="Time of the first message.")]
    last: Annotated[str, Meta(description="Time of the last message.")]


class BackfillReport(msgspec.Struct, frozen=True, kw_only=True):
    """A backfill: what it has to read, what it has read, and at what cost."""

    state: Annotated[
        BackfillState,
        Meta(
            description="none: there was no backfill; estimate: a dry run; running; paused: until "
            "it is resumed; stopped: it ended early, and the next one continues it; done."
        ),
    ]
    model: Annotated[
        str | None, Meta(description="The model; null if the home's writer uses rules only.")
    ] = None
    platform: Annotated[str | None, Meta(description="The platform; null: all.")] = None
    first: Annotated[str | None, Meta(description="Beginning of the span; null: no limit.")] = None
    last: Annotated[str | None, Meta(description="End of the span; null: no limit.")] = None
    platforms: Annotated[
        list[PlatformBackfill], Meta(description="What was left to read at its start.")
    ] = []
    episodes: Annotated[int, Meta(description="Number of episodes to read.")] = 0
    episodes_done: Annotated[int, Meta(description="Number of episodes read.")] = 0
    messages: Annotated[int, Meta(description="Number of messages to read.")] = 0
    messages_done: Annotated[int, Meta(description="Number of messages read.")] = 0
    seconds: Annotated[float, Meta(description="How long it has run.")] = 0.0
    rate: Annotated[float | None, Meta(description="Messages per second.")] = None
    seconds_left: Annotated[float | None, Meta(description="Estimated time left.")] = None
    written: Annotated[
        WriteReport | None,
        Meta(description="Facts, calls, tokens and cost; in a dry run, their estimates."),
    ] = None


class WriterPromptVersion(msgspec.Struct, frozen=True):
    """A version of a writer prompt: the role or a note, in force since `at`.

    `number`: the ledger record that set it; 0 for recollect's own role.
    """

    name: Annotated[str, Meta(description="role, or the name of a note.")]
    text: Annotated[str, Meta(description="The text.")]
    number: Annotated[
        int,
        Meta(description="Number of the ledger record that set it; 0 for recollect's own role."),
    ]
    at: Annotated[str | None, Meta(description="When it was set.")]


class BranchPromotion(msgspec.Struct, frozen=True, kw_only=True):
    """The result of promoting a branch."""

    published: Annotated[int, Meta(description="Number of events that are new in the zone.")]
    duplicates: Annotated[int, Meta(description="Number of events that the zone had already.")]
    conflicts: Annotated[
        list[str],
        Meta(description="Ids that the zone has with other content; these events were not copied."),
    ]
    outdated: Annotated[
        list[str],
        Meta(
            description="Names of writer prompts that the zone has set or removed later than the "
            "branch; they were not copied."
        ),
    ]
    answers: Annotated[
        int, Meta(description="Number of a language model's answers that are new in the zone.")
    ]
    left: Annotated[
        dict[str, int],
        Meta(description="Number of records that stay in the branch, by kind, such as forget."),
    ]
