"""The event kinds: messages, edits, reactions and notices, and all commands that change memory."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

#: The platform of commands and of recollect's own events. Reserved, so that external input cannot
#: claim the id of a command.
RESERVED_PLATFORM = "recollect"

MemoryScope = Literal["agent", "user", "zone", "global"]
MemoryVisibility = Literal["private", "shared", "public"]
MemoryState = Literal["active", "inactive", "deleted"]
#: Why a memory is archived: it was long unused, it no longer holds, or somebody asked for it.
ArchiveCause = Literal["age", "expiry", "request"]
ConsolidationMethod = Literal["affinity", "criteria"]
PeerKind = Literal["dm", "group", "channel"]
Direction = Literal["in", "out"]


#: The media types of `winmail.dat`, in which Outlook packs the text and the files of a mail.
PACKED_MAIL = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file attached to a message: its address, type and caption.

    Fields that are not listed here are ignored; put them into the event's `metadata`.
    """

    type: Annotated[
        str, Meta(description="Kind of attachment, such as image, file or forward.")
    ] = "file"
    name: Annotated[str | None, Meta(description="File name; for a forward, its author.")] = None
    url: Annotated[str | None, Meta(description="Where the file is.")] = None
    mime_type: Annotated[str | None, Meta(description="Media type of the file.")] = None
    caption: Annotated[str | None, Meta(description="Caption; for a forward, its text.")] = None
    size: Annotated[int | None, Meta(description="Size in bytes.")] = None


class Payload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base class of event kinds. `source_id` is the source's own id of the event."""

    source_id: str


#: The issuer of a command given without an access token: a user of the home itself.
OWNER = "owner"


class Command(Payload, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of the kinds that users give, and that recollect may give itself.

    `given_by`: the id of the access token it was given with, or `OWNER`; None: recollect gave it
    itself, or a version that did not record it. A token's id is no name, so that commands without
    text need never be erased.
    """

    given_by: str | None = None


class Content(Payload, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of the kinds that have text and were delivered in a conversation.

    `utc_offset`: the sender's offset from UTC in minutes. The meaning of "yesterday" depends on it.
    """

    sender_id: str
    content: str
    sender_name: str | None = None
    peer_id: str | None = None
    peer_kind: PeerKind | None = None
    thread_id: str | None = None
    session_id: str | None = None
    direction: Direction | None = None
    reply_to: str | None = None
    attachments: tuple[Attachment, ...] = ()
    metadata: dict[str, Any] = {}
    turn_id: str | None = None
    utc_offset: int = 0


class Changeable(Content, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of the kinds whose text may change in their source.

    `revised_at`: when the text was last changed there (unix ms); None: unknown, or `occurred_at`.
    """

    revised_at: int | None = None


class Message(Changeable, frozen=True, kw_only=True, omit_defaults=True, tag="message"):
    """A message."""


class TurnCompleted(Content, frozen=True, kw_only=True, omit_defaults=True, tag="turn_completed"):
    """Completes the agent turn `turn_id`, as its platform reports it."""


class CloseTurn(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="close_turn"):
    """Completes an abandoned agent turn; `turn_id` is the platform's own id."""

    platform: str
    turn_id: str


class Remember(Changeable, frozen=True, kw_only=True, omit_defaults=True, tag="remember"):
    """A text that somebody asked to remember verbatim.

    Attributes:
        namespace, path_key: a later text with both, of the same owner, is a new version of it.
        importance: 0 to 1.
        replaces: id of the fact or event that the text replaces. The text never counts as another
            occasion of a fact that it replaces.
        scope: who owns it: an agent, a user, or everyone who may read the zone.
        visibility: whether others may read it.
        user_id, agent_id: the user and the agent that stored it.
        valid_at, invalid_at: the period in which it is true (unix ms); from `occurred_at` if not
            given.
        enrichments: the enrichments requested; None: the default.
        abstraction_level: 0 for a text of its own, 1 or more if it summarises others.
        derived_from: ids of the memories that it was made from.
    """

    context: str | None = None
    memory_type: str = "fact"
    namespace: str | None = None
    path_key: str | None = None
    importance: float | None = None
    replaces: str | None = None
    scope: MemoryScope = "zone"
    visibility: MemoryVisibility = "private"
    user_id: str | None = None
    agent_id: str | None = None
    valid_at: int | None = None
    invalid_at: int | None = None
    enrichments: tuple[str, ...] | None = None
    abstraction_level: int = 0
    derived_from: tuple[str, ...] = ()


class Edit(Changeable, frozen=True, kw_only=True, omit_defaults=True, tag="edit"):
    """Edits the message `target` of the same platform.

    `target`: source id of the original message, even if it was edited before. The original may
    arrive later than the edit, or never. `said_at`: time of the original (unix ms), to which
    relative dates refer.
    """

    target: str
    said_at: int | None = None


class Deletion(Content, frozen=True, kw_only=True, omit_defaults=True, tag="deletion"):
    """The message `target` of the same platform was deleted there.

    Its text stays in the ledger until it is forgotten.
    """

    target: str


class Reaction(Content, frozen=True, kw_only=True, omit_defaults=True, tag="reaction"):
    """A reaction, such as an emoji, to the message `target`."""

    target: str


class SystemNotice(Content, frozen=True, kw_only=True, omit_defaults=True, tag="notice"):
    """A platform notice: join, call, rename, topic change."""

    target: str | None = None


class Forget(Command, frozen=True, kw_only=True, omit_defaults=True, tag="forget"):
    """Erases the events with the running numbers `targets`, and everything decided from them.

    `names`: keyed hashes of the requested ids. They reveal no id, but show that a repeated request
    was already carried out.
    """

    targets: tuple[int, ...]
    names: tuple[bytes, ...] = ()


class Certify(Command, frozen=True, kw_only=True, omit_defaults=True, tag="certify"):
    """Records the certificate of the erasure with the number `erasure`.

    `statement`: the certificate's statement as JSON. It omits the list of erased records and their
    keys, since the erasure itself has this list. `sha256`: the hash of the complete statement.
    """

    erasure: int
    statement: bytes
    sha256: bytes


class RecallCount(msgspec.Struct, frozen=True):
    """The number of recalls of one memory since the last count."""

    target_type: str
    target_id: str
    count: int


class RecallsCounted(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="recalled"):
    """Recall counts, aggregated by a query service."""

    accesses: tuple[RecallCount, ...]


class Tick(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="tick"):
    """A timer event; it triggers commands and does no work itself."""

    name: str


class Consolidate(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="consolidate"):
    """Brings the observation on a cluster of facts up to date.

    `is_absorbed`: another observation has most of its facts, so this one ends.
    """

    cluster_id: str
    is_absorbed: bool = False


class RunPass(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="run_pass"):
    """One step of a daily pass.

    `temporal`: finds routines, upcoming events, cycles and correlations of the entity `subject`.
    `observation_merge`: ends the observation on the cluster `subject`, because that on the cluster
    `keeper` says the same thing.
    `fact_merge`: hides the fact `subject`, because the fact `keeper` says the same thing.
    """

    name: Literal["temporal", "observation_merge", "fact_merge"]
    subject: str
    keeper: str | None = None


class FindDreams(Command, frozen=True, kw_only=True, omit_defaults=True, tag="find_dreams"):
    """A language model's answers about distant topics: dreams, and their evaluation.

    `tick`: the number of the pass's tick. `facts`: the facts that the model was shown, in order;
    `topics`: the topic of each, counted from 0, of which 2n and 2n + 1 are a pair. `sources`: the
    numbers of the events whose text it saw. `role`: version of the prompts.
    """

    tick: int
    answers: tuple[RecordingRef, ...]
    facts: tuple[str, ...]
    topics: tuple[int, ...]
    sources: tuple[int, ...]
    model: str
    role: str


class Park(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="park"):
    """An unreadable input record, kept verbatim."""

    reason: str
    body: bytes


class Retry(Command, frozen=True, kw_only=True, omit_defaults=True, tag="retry"):
    """Decides the parked record `number` again."""

    number: int


class Drop(Command, frozen=True, kw_only=True, omit_defaults=True, tag="drop"):
    """Drops the parked record `number`."""

    number: int


class ProposeMerge(Command, frozen=True, kw_only=True, omit_defaults=True, tag="propose_merge"):
    """Proposes that two entities are one."""

    entity_a: str
    entity_b: str
    confidence: float
    reason: str


class DecideMerge(Command, frozen=True, kw_only=True, omit_defaults=True, tag="decide_merge"):
    """The review of a merge candidate."""

    candidate_id: str
    approve: bool


class UndoMerge(Command, frozen=True, kw_only=True, omit_defaults=True, tag="undo_merge"):
    """Undoes an executed merge: of two entities, or of the fact `merge_id` into another."""

    merge_id: str


class CreateMentalModel(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="create_mental_model"
):
    """Creates a mental model: a saved report."""

    name: str
    description: str
    subtype: str | None = None
    entity_id: str | None = None
    tags: tuple[str, ...] = ()
    refresh_trigger: dict[str, Any] | None = None


class UpdateMentalModel(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="update_mental_model"
):
    """A new version of a mental model. `tags`: None keeps the previous ones."""

    model_id: str
    description: str
    tags: tuple[str, ...] | None = None


class RefreshModels(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="refresh_models"):
    """Asks for a refresh of each mental model that is due for one.

    An entity with `min_facts` facts gets a profile of its own; 0: none does.
    """

    min_facts: int


class RefreshMentalModel(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="refresh_mental_model"
):
    """Makes the page of a mental model again from the facts about its entity.

    `model_id`: any version of the mental model; None: the profile of the entity, which need not
    exist yet.
    """

    entity_id: str
    model_id: str | None = None


class StatedAt(msgspec.Struct, frozen=True, array_like=True):
    """The place where the event `number` states a memory: its characters `start` to `end`."""

    number: int
    start: int
    end: int


class Retract(Command, frozen=True, kw_only=True, omit_defaults=True, tag="retract"):
    """Retracts a fact, or every fact of an event, and keeps the event.

    `target`: id of the fact or event. `stated_at`: where events state it. The retraction covers
    these words, and so any fact that another writer derives from them. `replaced_by`: id of the
    event that states the correction, if any. `restore` undoes earlier retractions of the target.
    """

    target: str
    stated_at: tuple[StatedAt, ...] = ()
    replaced_by: str | None = None
    restore: bool = False


class SetMemoryState(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="set_memory_state"
):
    """Approves, deactivates or deletes memories, singly or in batches."""

    memory_ids: tuple[str, ...]
    state: MemoryState


class ArchiveMemories(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="archive_memories"
):
    """Moves memories to the archival store; `restore` moves them back."""

    memory_ids: tuple[str, ...]
    cause: ArchiveCause = "request"
    restore: bool = False


class RecordingRef(msgspec.Struct, frozen=True, array_like=True):
    """A reference to a recorded model answer: its offset in the zone's partition, and its hash."""

    offset: int
    hash: bytes


class ModelAnswered(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="model_wrote"):
    """A language model's answers about the event `about`; their text is in `recordings`.

    `thread`: the preceding events in the prompt. `sources`: every event whose text the model saw,
    including the thread. `role`: version of the model's prompt. `rules`: version of the rules that
    turn the answers into facts; it is fixed when the answers are recorded. `writer_role`: the role
    of the generation for which the model was asked; only generations of this role use the answers.
    """

    about: int
    answers: tuple[RecordingRef, ...]
    thread: tuple[int, ...]
    sources: tuple[int, ...]
    model: str
    role: str
    rules: int = 1
    writer_role: int = 0


class ModelConsolidated(
    Payload, frozen=True, kw_only=True, omit_defaults=True, tag="model_consolidated"
):
    """A language model's recorded answer about the observation on a cluster of facts.

    `facts`: the facts that it was shown, in the order of their numbers. `seen`: the last record
    that had changed the cluster or its observation. `sources`: the events whose text it saw.
    `role`: version of the prompt. `error`: why the model gave no answer that can be used.
    """

    cluster_id: str
    facts: tuple[str, ...]
    seen: int
    answers: tuple[RecordingRef, ...]
    sources: tuple[int, ...]
    model: str
    role: str
    error: str | None = None


class SetWriterPrompt(Command, frozen=True, kw_only=True, omit_defaults=True, tag="writer_text"):
    """Sets the writer's system prompt, or a named note.

    An empty `text` removes the note, or restores the default prompt. `beside`: it holds only in
    generations whose `writer_role` is the number of this event.
    """

    name: str
    text: str
    beside: bool = False


class DecideWriterPrompt(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="decide_writer_text"
):
    """Accepts or rejects a version of a writer prompt that a model proposed.

    `sources`: every event whose words the proposed text may repeat. `by_setting`: the settings of
    the home accepted it, and no person.
    """

    proposal_id: str
    approve: bool
    sources: tuple[int, ...] = ()
    by_setting: bool = False


class ConsolidateMemories(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="consolidate_memories"
):
    """Consolidates stored memories into one of the next level, and archives them.

    Attributes:
        memory_ids: the memories, either versions of texts or consolidated ones of one level.
        method: how they were chosen: by their affinity to each other, or by criteria for each.
        answers, model, role: a language model's recorded answers, and the version of the prompt.
            Without answers, the text quotes the memories.
        sources: the numbers of the events whose text the model saw.
    """

    memory_ids: tuple[str, ...]
    method: ConsolidationMethod = "affinity"
    answers: tuple[RecordingRef, ...] = ()
    sources: tuple[int, ...] = ()
    model: str | None = None
    role: str | None = None


class OwnAnalysis(msgspec.Struct, frozen=True, omit_defaults=True):
    """A user's own type of analysis: patterns, or a prompt for a language model.

    `patterns`: facet type -> regular expression. The first group, if there is one, is the value.
    `facets`: the types of the facets that a model may give; if empty, the type's own name.
    """

    name: str
    version: str = "1"
    patterns: dict[str, str] = {}
    prompt: str | None = None
    facets: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of the type."""
        return f"{self.name}_v{self.version}"

    @property
    def output_type(self) -> str:
        """What the type gives: text, or facets alone."""
        return "facets" if self.prompt is None else "text"


class Analyse(Command, frozen=True, kw_only=True, omit_defaults=True, tag="analyse"):
    """Analyses an episode, with types given by id.

    Attributes:
        events: the numbers of all events of the episode.
        own: the definitions of those types that are not built in.
        answers, model, role: a language model's recorded answers about the only type, and the
            version of the prompt.
        sources: the numbers of the messages that the model saw, in their order.
        error: why the model gave no answer that can be used; the analysis has failed.
    """

    episode_id: str
    types: tuple[str, ...]
    events: tuple[int, ...]
    own: tuple[OwnAnalysis, ...] = ()
    answers: tuple[RecordingRef, ...] = ()
    sources: tuple[int, ...] = ()
    model: str | None = None
    role: str | None = None
    error: str | None = None


class StartTrajectory(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="start_trajectory"
):
    """Starts a trajectory: one run of a task. The id of this event is the trajectory's id.

    Only trajectories of one `task_type` are compared. `playbook_id`: the playbook in use. `user_id`
    and `agent_id`: the user and the agent whose run it is.
    """

    task: str
    task_type: str
    agent_id: str | None = None
    playbook_id: str | None = None
    metadata: dict[str, Any] = {}
    user_id: str | None = None
    scope: MemoryScope = "zone"
    visibility: MemoryVisibility = "shared"


StepKind = Literal["action", "decision", "observation", "tool_call"]


class LogStep(Command, frozen=True, kw_only=True, omit_defaults=True, tag="log_step"):
    """A step of a trajectory; `tool`: for a tool call, the name of the tool."""

    trajectory_id: str
    step: StepKind
    content: str
    tool: str | None = None


TrajectoryStatus = Literal["success", "failure", "partial"]


class CompleteTrajectory(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="complete_trajectory"
):
    """Ends a trajectory; `success_score` is 0 to 1."""

    trajectory_id: str
    status: TrajectoryStatus
    success_score: float
    error_message: str | None = None
    metrics: dict[str, float] = {}


FeedbackSource = Literal["human", "monitoring", "ab_test", "production"]


class GiveFeedback(Command, frozen=True, kw_only=True, omit_defaults=True, tag="give_feedback"):
    """A later judgement of a trajectory; `score` is 0 to 1."""

    trajectory_id: str
    score: float
    source: FeedbackSource
    comment: str | None = None


class Reflect(Command, frozen=True, kw_only=True, omit_defaults=True, tag="reflect"):
    """Reflects on a trajectory, with those of its task type.

    `answers`: a language model's recorded answers; without any, outcomes are compared. `sources`:
    the numbers of the events whose text the model saw. `role`: version of the prompt.
    """

    trajectory_id: str
    answers: tuple[RecordingRef, ...] = ()
    sources: tuple[int, ...] = ()
    model: str | None = None
    role: str | None = None


StrategyKind = Literal["helpful", "harmful"]


class PlaybookStrategy(msgspec.Struct, frozen=True, omit_defaults=True):
    """A strategy that is written by hand: what helps, or what to avoid; `confidence` is 0 to 1."""

    text: Annotated[str, Meta(description="The strategy, as an instruction.")]
    kind: Annotated[StrategyKind, Meta(description="helpful, or harmful: to be avoided.")] = (
        "helpful"
    )
    confidence: Annotated[float, Meta(description="Confidence, from 0 to 1.")] = 1.0


class CreatePlaybook(Command, frozen=True, kw_only=True, omit_defaults=True, tag="create_playbook"):
    """Creates a playbook, a collection of strategies. The id of this event is the playbook's id."""

    name: str
    description: str = ""
    agent_id: str | None = None
    user_id: str | None = None
    scope: MemoryScope = "zone"
    visibility: MemoryVisibility = "shared"
    strategies: tuple[PlaybookStrategy, ...] = ()


class UpdatePlaybook(Command, frozen=True, kw_only=True, omit_defaults=True, tag="update_playbook"):
    """A new version of a playbook: strategies are added, and others removed by id."""

    playbook_id: str
    add: tuple[PlaybookStrategy, ...] = ()
    remove: tuple[str, ...] = ()


class CuratePlaybook(Command, frozen=True, kw_only=True, omit_defaults=True, tag="curate_playbook"):
    """Merges what the newest reflection on a trajectory found into a playbook."""

    playbook_id: str
    trajectory_id: str


class RecordPlaybookUse(
    Command, frozen=True, kw_only=True, omit_defaults=True, tag="playbook_used"
):
    """A playbook was used for a task, with or without success."""

    playbook_id: str
    success: bool


class ActivateChain(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="switch"):
    """Activates another change chain for the zone, after a rebuild.

    `encoder`: the model of the chain's vectors; None: the home's own. `writer_role` and
    `consolidation`: see `recollect.projections.generations.Generation`.
    """

    chain: str
    encoder: str | None = None
    writer_role: int = 0
    consolidation: bool | None = None


class SkipRecord(Command, frozen=True, kw_only=True, omit_defaults=True, tag="skip_record"):
    """Makes all readers of the zone skip a record that recollect did not write.

    `topic` is events or changes; `hash` is the hash of the record's bytes.
    """

    topic: str
    offset: int
    hash: bytes


AnyPayload = (
    Message
    | TurnCompleted
    | CloseTurn
    | Remember
    | Edit
    | Deletion
    | Reaction
    | SystemNotice
    | Forget
    | Certify
    | RecallsCounted
    | Tick
    | Consolidate
    | RunPass
    | FindDreams
    | Park
    | Retry
    | Drop
    | ProposeMerge
    | DecideMerge
    | UndoMerge
    | CreateMentalModel
    | UpdateMentalModel
    | RefreshModels
    | RefreshMentalModel
    | Retract
    | SetMemoryState
    | ArchiveMemories
    | ConsolidateMemories
    | ModelAnswered
    | ModelConsolidated
    | SetWriterPrompt
    | DecideWriterPrompt
    | Analyse
    | StartTrajectory
    | LogStep
    | CompleteTrajectory
    | GiveFeedback
    | Reflect
    | CreatePlaybook
    | UpdatePlaybook
    | CuratePlaybook
    | RecordPlaybookUse
    | ActivateChain
    | SkipRecord
)

KINDS: dict[str, type[Payload]] = {
    str(cls.__struct_config__.tag): cls for cls in get_args(AnyPayload)
}


def kind_of(payload: Payload) -> str:
    """Return the name of the payload's kind, as stored in the envelope."""
    return str(type(payload).__struct_config__.tag)


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An event to be appended to the ledger.

    Times are unix ms; if `ingested_at` is None, the ledger sets it.
    """

    platform: str
    occurred_at: int
    payload: AnyPayload
    ingested_at: int | None = None


class GrowingDraft(Draft, frozen=True, kw_only=True):
    """A draft of a message that may grow in its source: a longer text with its id is an edit."""


class ChangingDraft(Draft, frozen=True, kw_only=True):
    """A draft of another system's memory, or of a note, whose text may change under the same id.

    Another text that is later than the newest known one is an edit, as is an unknown text of a note
    with the same time. A text that the memory or note had before counts as known; an unknown one of
    a note with an earlier time is a conflict. The time of a text is its `revised_at`, or else that
    of the event.
    """


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A decrypted event of the ledger."""

    zone: str
    number: int
    id: str
    platform: str
    occurred_at: int
    ingested_at: int
    payload: AnyPayload

    @property
    def kind(self) -> str:
        """The kind of the payload."""
        return kind_of(self.payload)


def message_of(event: Event) -> Content:
    """Return the payload of an event that is known to have text."""
    assert isinstance(event.payload, Content)
    return event.payload
