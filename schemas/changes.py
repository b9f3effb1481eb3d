"""The rows that agents decide: one struct per table of each read model.

A change says which rows stand from now on (`puts`) and which no longer do (`deletes`); the
newest put of a key wins. Projecting is therefore the same for every table, needs no thought, and
an erasure can be said as the difference of two states.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import msgspec

from schemas.errors import IntegrityError, UnknownVersion
from schemas.events import KINDS, Draft


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False, tag_field="row"):
    """Base of every row; `TABLE` is its table and `KEY` the columns that name it.

    A new kind of row is refused by name where it is not known. A new field of an old one is not:
    an older program would drop it unseen, so it raises `schemas.records.CHANGE_FORMAT`, and has a
    default, for the records that were written before.

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


class Decided(Row, frozen=True, array_like=True, tag="decided"):
    """What the decision on the ledger record `number` depends on, and what depends on it.

    `reads` are the keys under which it asked the state, `writes` those under which its rows are
    found, eight bytes each, ascending. `restated` are the rows of a decision that an erasure made
    again, None where the change record of `number` still says them; empty: the erasure `number`
    was derived in full, and nothing up to it is traced.
    """

    TABLE: ClassVar = "decisions"
    KEY: ClassVar = ("number",)
    number: int
    reads: bytes
    writes: bytes
    restated: bytes | None


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
    `projections.embeddings.token_vectors`.
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
    | Decided
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


class _SectionsInOrder(msgspec.Struct, frozen=True, array_like=True):
    """A part's text in a record of format 1: every section has its place."""

    memory: msgspec.Raw
    identity: msgspec.Raw
    embeddings: msgspec.Raw
    outbox: msgspec.Raw


_pack = msgspec.msgpack.Encoder()
_named_sections = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_sections_in_order = msgspec.msgpack.Decoder(_SectionsInOrder)
_decoders: dict[str, msgspec.msgpack.Decoder[Any]] = {
    "memory": msgspec.msgpack.Decoder(_MemorySection),
    "identity": msgspec.msgpack.Decoder(_IdentitySection),
    "embeddings": msgspec.msgpack.Decoder(_EmbeddingsSection),
    "outbox": msgspec.msgpack.Decoder(tuple[Draft, ...]),
}


class Conclusions(msgspec.Struct):
    """What agents decided from one ledger record out of the same sources.

    `sources` are running numbers, ascending; `outbox` holds commands for the ledger, with
    derived source ids.
    """

    sources: tuple[int, ...]
    puts: list[AnyRow] = []
    deletes: list[Delete] = []
    outbox: list[Draft] = []


def encode_conclusions(conclusions: Conclusions) -> bytes:
    """Return the text of a part of the newest format: its sections by name, without empty ones."""
    sections: dict[str, tuple[list[Delete], list[AnyRow]]] = {}
    for delete in conclusions.deletes:
        sections.setdefault(MODEL_OF_TABLE[delete.table], ([], []))[0].append(delete)
    for row in conclusions.puts:
        sections.setdefault(MODEL_OF[type(row)], ([], []))[1].append(row)
    text: dict[str, object] = dict(sections)
    if conclusions.outbox:
        text["outbox"] = conclusions.outbox
    return _pack.encode(text)


def decode_outbox(text: bytes, format_: int) -> tuple[Draft, ...]:
    """Return the commands that a part of a record of this format asks for.

    Raises:
        UnknownVersion: it was written by a newer program.
    """
    raw = _sections(text, format_).get("outbox")
    return () if raw is None else tuple(_decoded("outbox", raw))


def decode_sections(text: bytes, models: tuple[str, ...], format_: int) -> dict[str, Section]:
    """Return the sections of a part that `models` need, each decoded only by the one that does.

    `format_` is that of the record's header.

    Raises:
        UnknownVersion: it was written by a newer program.
    """
    raw = _sections(text, format_)
    return {
        model: _today(model, _decoded(model, raw[model])) if model in raw else Section()
        for model in models
    }


def _sections(text: bytes, format_: int) -> dict[str, msgspec.Raw]:
    """Return a part's sections by name.

    Only who has the keys wrote it, and nobody changed it since: what cannot be read is meant for
    a newer program, or comes from a broken one.
    """
    try:
        if format_ == 1:
            return msgspec.structs.asdict(_sections_in_order.decode(text))
        sections = _named_sections.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise IntegrityError(f"a part cannot be read: {error}") from None
    if unknown := sections.keys() - _decoders.keys():
        raise _newer(f"a section named {min(unknown)!r}")
    return sections


def _decoded(name: str, raw: msgspec.Raw) -> Any:
    try:
        return _decoders[name].decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if unknown := _unknown_rows(name, raw):
            raise _newer(f"rows named {min(unknown)!r}") from None
        raise IntegrityError(f"the section {name} cannot be read: {error}") from None


def _unknown_rows(name: str, raw: msgspec.Raw) -> set[str]:
    """Return the names of rows in a section that this program does not have."""
    try:
        section = msgspec.msgpack.decode(raw)
        if name == "outbox":
            return {str(draft["payload"]["kind"]) for draft in section} - KINDS.keys()
        known = {str(row.__struct_config__.tag) for row in MODELS[name]}
        return {str(row[0]) for row in section[1]} - known
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
        return set()


def _newer(what: str) -> UnknownVersion:
    return UnknownVersion(
        f"a change record has {what}, which this recollect does not know: a newer one wrote it; "
        "upgrade recollect to read it"
    )


def _today(model: str, section: Section) -> Section:
    """Return a section whose deletes name rows of its model by the keys of today.

    A key only ever became shorter: its beginning says which row.
    """
    if not section.deletes:
        return section
    if unknown := {delete.table for delete in section.deletes} - ROW_OF_TABLE.keys():
        raise _newer(f"a delete in table {min(unknown)!r}")
    for delete in section.deletes:
        row = ROW_OF_TABLE[delete.table]
        if MODEL_OF[row] != model or len(delete.key) < len(row.KEY):
            raise IntegrityError(
                f"the section {model} cannot be read: a delete in table {delete.table} names no row"
            )
    deletes = tuple(
        Delete(delete.table, delete.key[: len(ROW_OF_TABLE[delete.table].KEY)])
        for delete in section.deletes
    )
    return msgspec.structs.replace(section, deletes=deletes)


ROW_OF_TABLE: dict[str, type[Row]] = {row.TABLE: row for row in MODEL_OF}
MODEL_OF_TABLE: dict[str, str] = {row.TABLE: model for row, model in MODEL_OF.items()}
