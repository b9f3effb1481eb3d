"""The kinds of event: what happened, and every command that changes memory."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

#: The platform of commands, and of what recollect itself writes. No input from outside may use it,
#: so that nobody can occupy the id of a command in advance.
RESERVED_PLATFORM = "recollect"

PeerKind = Literal["dm", "group", "channel"]
Direction = Literal["in", "out"]


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that came with a message: its address, its type, and a caption."""

    type: Annotated[
        str, Meta(description="Kind of attachment, such as image, file or forward.")
    ] = "file"
    name: Annotated[str | None, Meta(description="File name, or for a forward who said it.")] = None
    url: Annotated[str | None, Meta(description="Where the file is.")] = None
    mime_type: Annotated[str | None, Meta(description="Media type of the file.")] = None
    caption: Annotated[str | None, Meta(description="Caption, or the forwarded words.")] = None
    size: Annotated[int | None, Meta(description="Size in bytes.")] = None


class Payload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of every kind. `source_id` is the id that the source itself gave."""

    source_id: str


class Content(Payload, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the kinds with words, with the delivery context of A1.

    `utc_offset` is the sender's offset in minutes, because "yesterday" depends on the local time.
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


class Message(Content, frozen=True, kw_only=True, omit_defaults=True, tag="message"):
    """Somebody said something."""


class TurnCompleted(Content, frozen=True, kw_only=True, omit_defaults=True, tag="turn_completed"):
    """The agent's turn `turn_id` is completed (A7, path 1)."""


class CloseTurn(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="close_turn"):
    """Complete an agent's turn that was never ended: `turn_id` is the platform's own id of it."""

    platform: str
    turn_id: str


class Remember(Content, frozen=True, kw_only=True, omit_defaults=True, tag="remember"):
    """Somebody asked to remember this text as it is."""

    context: str | None = None
    memory_type: str = "fact"
    namespace: str | None = None
    path_key: str | None = None
    importance: float | None = None


class Edit(Content, frozen=True, kw_only=True, omit_defaults=True, tag="edit"):
    """The message `target` of the same platform says this instead, from now on.

    `target` is the source's own id of the message as it was first said, however often it was
    edited since; that message may come later, or never. `said_at`: when it was first said (unix
    ms), which "tomorrow" in the words counts from.
    """

    target: str
    said_at: int | None = None


class Deletion(Content, frozen=True, kw_only=True, omit_defaults=True, tag="deletion"):
    """The message `target` of the same platform was taken back where it was said.

    Its words stay in the ledger until they are forgotten.
    """

    target: str


class Reaction(Content, frozen=True, kw_only=True, omit_defaults=True, tag="reaction"):
    """Somebody answered the message `target` by a sign, which is the content."""

    target: str


class SystemNotice(Content, frozen=True, kw_only=True, omit_defaults=True, tag="notice"):
    """What a platform tells of itself: somebody joined, called, or changed a name or a topic."""

    target: str | None = None


class Forget(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="forget"):
    """Erase the events of these running numbers, and all that was decided from them.

    `names` are keyed hashes of the ids in the request, so that a repeated request is recognised as
    done. No id can be read from them.
    """

    targets: tuple[int, ...]
    names: tuple[bytes, ...] = ()


class RecallCount(msgspec.Struct, frozen=True):
    """How often one memory was recalled since the last count."""

    target_type: str
    target_id: str
    count: int


class RecallsCounted(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="recalled"):
    """Access counts, aggregated by a query service."""

    accesses: tuple[RecallCount, ...]


class Tick(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="tick"):
    """It is time for a periodic piece of work. A tick leads to commands and does no work itself."""

    name: str


class Park(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="park"):
    """A record that could not be read when it came in, kept as it came."""

    reason: str
    body: bytes


class Retry(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="retry"):
    """Decide the parked record `number` again."""

    number: int


class Drop(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="drop"):
    """Drop the parked record `number`."""

    number: int


class ProposeMerge(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="propose_merge"):
    """Two entities may be one (A16)."""

    entity_a: str
    entity_b: str
    confidence: float
    reason: str


class DecideMerge(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="decide_merge"):
    """A merge candidate was reviewed (A16)."""

    candidate_id: str
    approve: bool


class UndoMerge(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="undo_merge"):
    """An executed merge is undone (A16)."""

    merge_id: str


class CreateMentalModel(
    Payload, frozen=True, kw_only=True, omit_defaults=True, tag="create_mental_model"
):
    """A report worth keeping was written (A12)."""

    name: str
    description: str
    subtype: str | None = None
    entity_id: str | None = None
    tags: tuple[str, ...] = ()
    refresh_trigger: dict[str, Any] | None = None


class UpdateMentalModel(
    Payload, frozen=True, kw_only=True, omit_defaults=True, tag="update_mental_model"
):
    """A new version of a mental model (A12); `tags`: its own, None for those before."""

    model_id: str
    description: str
    tags: tuple[str, ...] | None = None


class SetMemoryState(
    Payload, frozen=True, kw_only=True, omit_defaults=True, tag="set_memory_state"
):
    """Approve, deactivate or delete memories, singly or in batches (C1)."""

    memory_ids: tuple[str, ...]
    state: Literal["active", "inactive", "deleted"]


class RecordingRef(msgspec.Struct, frozen=True, array_like=True):
    """Where a model's answer was recorded: its offset in the zone's partition, and its hash."""

    offset: int
    hash: bytes


class ModelAnswered(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="model_wrote"):
    """A language model read the event `about` and answered; the words are in `recordings`.

    `thread` are the events before it that the model was shown, and `sources` all events that it
    saw words of, these included. `role` is the version of its prompt.
    """

    about: int
    answers: tuple[RecordingRef, ...]
    thread: tuple[int, ...]
    sources: tuple[int, ...]
    model: str
    role: str


class SetWriterPrompt(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="writer_text"):
    """From here on the model that writes is told this: its role, or a note of a name (A22).

    `text` empty: the note is no more, or the role is recollect's own again.
    """

    name: str
    text: str


class ActivateChain(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="switch"):
    """From here on the changes of another chain count for the zone: a rebuild took over."""

    chain: str


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
    | RecallsCounted
    | Tick
    | Park
    | Retry
    | Drop
    | ProposeMerge
    | DecideMerge
    | UndoMerge
    | CreateMentalModel
    | UpdateMentalModel
    | SetMemoryState
    | ModelAnswered
    | SetWriterPrompt
    | ActivateChain
)

KINDS: dict[str, type[Payload]] = {
    str(cls.__struct_config__.tag): cls for cls in get_args(AnyPayload)
}


def kind_of(payload: Payload) -> str:
    """Return the kind, as it stands in the envelope."""
    return str(type(payload).__struct_config__.tag)


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An event on its way to the ledger. Times are unix ms; `ingested_at` None: the ledger's
    clock.
    """

    platform: str
    occurred_at: int
    payload: AnyPayload
    ingested_at: int | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the ledger, decrypted."""

    zone: str
    number: int
    id: str
    platform: str
    occurred_at: int
    ingested_at: int
    payload: AnyPayload

    @property
    def kind(self) -> str:
        """The name of the payload's type in the ledger."""
        return kind_of(self.payload)


def message_of(event: Event) -> Content:
    """Return what was said in an event that is known to be a message, an edit or a memory."""
    assert isinstance(event.payload, Content)
    return event.payload
