"""The rows that agents conclude: one struct per table of each read model.

A change says which rows stand from now on (`puts`) and which no longer do (`deletes`); the
newest put of a key wins. Evolving is therefore the same for every table, needs no thought, and
an erasure can be said as the difference of two states.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import msgspec

from schemas.events import Draft


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False, tag_field="row"):
    """Base of every row; `TABLE` is its table and `KEY` the columns that name it.

    A key holds ids and numbers, never words: a delete names its row by it, and stays readable
    after what the row said was forgotten.
    """

    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]


# memory.db


class Fact(Row, frozen=True, array_like=True, tag="fact"):
    """An atomic sentence (A3). Times are unix ms; `signature` is the near-duplicate key (A21)."""

    TABLE: ClassVar = "facts"
    KEY: ClassVar = ("id",)
    id: str
    text: str
    context: str | None
    as_of: int
    ingested_at: int
    source_event_id: str
    metadata: str
    created_at: int
    signature: str


class FactEntity(Row, frozen=True, array_like=True, tag="fact_entity"):
    """A fact is about an entity (A4)."""

    TABLE: ClassVar = "fact_entities"
    KEY: ClassVar = ("fact_id", "entity_id")
    fact_id: str
    entity_id: str


class CausalLink(Row, frozen=True, array_like=True, tag="causal_link"):
    """One fact led to another (A5); strength is 0 to 1."""

    TABLE: ClassVar = "causal_links"
    KEY: ClassVar = ("from_fact_id", "to_fact_id")
    from_fact_id: str
    to_fact_id: str
    strength: float
    created_at: int


class FactRepeat(Row, frozen=True, array_like=True, tag="fact_repeat"):
    """A near-duplicate was skipped (A21): this event said again what the fact says."""

    TABLE: ClassVar = "fact_repeats"
    KEY: ClassVar = ("event_id", "char_offset_start")
    event_id: str
    char_offset_start: int
    fact_id: str
    reason: str


class FactClaim(Row, frozen=True, array_like=True, tag="fact_claim"):
    """A fact gives the value of an attribute that has one value at a time, such as a home."""

    TABLE: ClassVar = "fact_claims"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    subject: str
    attribute: str
    value: str
    as_of: int


class FactSupersession(Row, frozen=True, array_like=True, tag="fact_supersession"):
    """A fact held until another took its place at `invalid_at` (unix ms).

    One that is told later may have come between; then the row says so from now on.
    """

    TABLE: ClassVar = "fact_supersessions"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    superseded_by: str
    invalid_at: int


class FactAccess(Row, frozen=True, array_like=True, tag="fact_access"):
    """A fact was recalled `count` times, as the ledger record `number` says (B1)."""

    TABLE: ClassVar = "fact_accesses"
    KEY: ClassVar = ("number", "fact_id")
    number: int
    fact_id: str
    count: int


class Processed(Row, frozen=True, array_like=True, tag="processed"):
    """The writer has processed this event (A7)."""

    TABLE: ClassVar = "memory_processing_log"
    KEY: ClassVar = ("event_id",)
    event_id: str
    processed_at: int
    writer_run_id: str
    created_at: int


class Turn(Row, frozen=True, array_like=True, tag="turn"):
    """An agent's turn is over (A7); a turn's id is its platform's own."""

    TABLE: ClassVar = "turns"
    KEY: ClassVar = ("id",)
    id: str
    platform: str
    turn_id: str
    event_id: str
    completed_at: int


class MentalModel(Row, frozen=True, array_like=True, tag="mental_model"):
    """A version of a report (A12), written by the ledger record `number`."""

    TABLE: ClassVar = "mental_models"
    KEY: ClassVar = ("id",)
    id: str
    name: str
    description: str
    subtype: str | None
    entity_id: str | None
    tags: str
    parent_id: str | None
    refresh_trigger: str | None
    last_refreshed: int
    created_at: int
    updated_at: int
    number: int


class DeadLetter(Row, frozen=True, array_like=True, tag="dead_letter"):
    """A record that could not be decided, and what became of it."""

    TABLE: ClassVar = "dead_letters"
    KEY: ClassVar = ("number",)
    number: int
    kind: str
    reason: str
    state: Literal["parked", "retried", "dropped"]
    parked_at: int


# identity.db


class Entity(Row, frozen=True, array_like=True, tag="entity"):
    """A person, handle, organisation, project, place or concept (A15)."""

    TABLE: ClassVar = "entities"
    KEY: ClassVar = ("id",)
    id: str
    name: str
    type: str
    normalized: str
    source: Literal["delivery", "inferred", "command"]
    created_at: int


class Handle(Row, frozen=True, array_like=True, tag="handle"):
    """How a platform names a sender (A17); only a delivery makes one, so it is routable."""

    TABLE: ClassVar = "handles"
    KEY: ClassVar = ("id",)
    id: str
    platform: str
    handle: str
    entity_id: str
    display_name: str | None
    created_at: int


class Mention(Row, frozen=True, array_like=True, tag="mention"):
    """An entity in an event. Offsets are characters of its content; -1: it is the speaker.

    `fact_id` is "" where the mention stands in no fact.
    """

    TABLE: ClassVar = "mentions"
    KEY: ClassVar = ("event_id", "fact_id", "entity_id", "char_offset_start")
    event_id: str
    fact_id: str
    entity_id: str
    char_offset_start: int
    char_offset_end: int
    mention_text: str
    mention_type: str
    confidence: float


class MergeCandidate(Row, frozen=True, array_like=True, tag="merge_candidate"):
    """Two entities that may be one (A16); its status follows from its decision."""

    TABLE: ClassVar = "merge_candidates"
    KEY: ClassVar = ("id",)
    id: str
    entity_a_id: str
    entity_b_id: str
    confidence: float
    reason: str
    created_at: int


class MergeDecision(Row, frozen=True, array_like=True, tag="merge_decision"):
    """What became of a merge candidate."""

    TABLE: ClassVar = "merge_decisions"
    KEY: ClassVar = ("candidate_id",)
    candidate_id: str
    status: Literal["executed", "rejected"]
    decided_at: int


class Merge(Row, frozen=True, array_like=True, tag="merge"):
    """An executed merge (A16).

    An entity's merged_into column follows from these rows, so that a merge repeats no name.
    """

    TABLE: ClassVar = "merges"
    KEY: ClassVar = ("id",)
    id: str
    winner_id: str
    loser_id: str
    confidence: float
    reason: str
    executed_at: int


class MergeUndo(Row, frozen=True, array_like=True, tag="merge_undo"):
    """An executed merge was taken back (A16)."""

    TABLE: ClassVar = "merge_undos"
    KEY: ClassVar = ("merge_id",)
    merge_id: str
    undone_at: int


# embeddings.db


class Embedding(Row, frozen=True, array_like=True, tag="embedding"):
    """The canonical vector of a target under a model (A13): `dimension` little-endian float32."""

    TABLE: ClassVar = "embeddings"
    KEY: ClassVar = ("target_type", "target_id", "model")
    id: str
    target_type: str
    target_id: str
    model: str
    embedding: bytes
    dimension: int
    text_hash: str
    created_at: int


class TokenVectors(Row, frozen=True, array_like=True, tag="token_vectors"):
    """The vectors of a target's words under a model, compressed in a `form` (A13).

    `codes` are int8, a row per token; `scales` little-endian float16, one per token; `units`
    little-endian uint16, how many tokens each part of a long text has. What a form means says
    `projections.embeddings.tokens`.
    """

    TABLE: ClassVar = "token_vectors"
    KEY: ClassVar = ("target_type", "target_id", "model")
    target_type: str
    target_id: str
    model: str
    form: str
    codes: bytes
    scales: bytes
    units: bytes
    text_hash: str
    created_at: int


MemoryRow = (
    Fact
    | FactEntity
    | CausalLink
    | FactRepeat
    | FactClaim
    | FactSupersession
    | FactAccess
    | Processed
    | Turn
    | MentalModel
    | DeadLetter
)
IdentityRow = Entity | Handle | Mention | MergeCandidate | MergeDecision | Merge | MergeUndo
EmbeddingRow = Embedding | TokenVectors

AnyRow = MemoryRow | IdentityRow | EmbeddingRow

#: The read models that change records fill, in the order in which their locks are taken.
MODELS: dict[str, tuple[type[Row], ...]] = {
    "memory": get_args(MemoryRow),
    "identity": get_args(IdentityRow),
    "embeddings": get_args(EmbeddingRow),
}
MODEL_OF: dict[type[Row], str] = {row: model for model, rows in MODELS.items() for row in rows}


class Delete(msgspec.Struct, frozen=True, array_like=True):
    """The row of `table` with this key no longer stands."""

    table: str
    key: tuple[str | int, ...]


class Section(msgspec.Struct, frozen=True, array_like=True):
    """What a change says to one read model; deletes come first."""

    deletes: tuple[Delete, ...] = ()
    puts: tuple[Any, ...] = ()


class _MemorySection(msgspec.Struct, frozen=True, array_like=True):
    deletes: tuple[Delete, ...]
    puts: tuple[MemoryRow, ...]


class _IdentitySection(msgspec.Struct, frozen=True, array_like=True):
    deletes: tuple[Delete, ...]
    puts: tuple[IdentityRow, ...]


class _EmbeddingsSection(msgspec.Struct, frozen=True, array_like=True):
    deletes: tuple[Delete, ...]
    puts: tuple[EmbeddingRow, ...]


class _Sections(msgspec.Struct, frozen=True, array_like=True):
    """A part's text: a section per read model, each decoded only by the one that needs it."""

    memory: msgspec.Raw
    identity: msgspec.Raw
    embeddings: msgspec.Raw
    outbox: tuple[Draft, ...]


_pack = msgspec.msgpack.Encoder()
_sections = msgspec.msgpack.Decoder(_Sections)
_decoders: dict[str, msgspec.msgpack.Decoder[Any]] = {
    "memory": msgspec.msgpack.Decoder(_MemorySection),
    "identity": msgspec.msgpack.Decoder(_IdentitySection),
    "embeddings": msgspec.msgpack.Decoder(_EmbeddingsSection),
}


class Conclusions(msgspec.Struct):
    """What agents concluded from one ledger record out of the same sources.

    `sources` are running numbers, ascending; `outbox` holds commands for the ledger, with
    derived source ids.
    """

    sources: tuple[int, ...]
    puts: list[AnyRow] = []
    deletes: list[Delete] = []
    outbox: list[Draft] = []


def encode_conclusions(conclusions: Conclusions) -> bytes:
    """Return the text of a part."""
    sections: dict[str, tuple[list[Delete], list[AnyRow]]] = {model: ([], []) for model in MODELS}
    for delete in conclusions.deletes:
        sections[MODEL_OF_TABLE[delete.table]][0].append(delete)
    for row in conclusions.puts:
        sections[MODEL_OF[type(row)]][1].append(row)
    return _pack.encode((*sections.values(), conclusions.outbox))


def decode_outbox(text: bytes) -> tuple[Draft, ...]:
    """Return the commands that a part asks for."""
    return _sections.decode(text).outbox


def decode_sections(text: bytes, models: tuple[str, ...]) -> dict[str, Section]:
    """Return the sections of a part that `models` need."""
    raw = _sections.decode(text)
    return {model: _today(_decoders[model].decode(getattr(raw, model))) for model in models}


def _today(section: Section) -> Section:
    """Return a section whose deletes name rows by the keys of today.

    A key only ever became shorter: its beginning says which row.
    """
    if not section.deletes:
        return section
    deletes = tuple(
        Delete(delete.table, delete.key[: len(ROW_OF_TABLE[delete.table].KEY)])
        for delete in section.deletes
    )
    return msgspec.structs.replace(section, deletes=deletes)


ROW_OF_TABLE: dict[str, type[Row]] = {row.TABLE: row for row in MODEL_OF}
MODEL_OF_TABLE: dict[str, str] = {row.TABLE: model for row, model in MODEL_OF.items()}
