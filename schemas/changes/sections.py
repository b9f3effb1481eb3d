"""Sections of a change record: the rows to put into each read model, and those to delete.

The newest put of a key wins. So all tables are projected in the same way, and an erasure is the
difference of two states.
"""

from __future__ import annotations

import zlib
from typing import Any, Generic, TypeVar, get_args

import msgspec

from recollect.schemas.changes.embedding_rows import Embedding, EmbeddingRow, TokenVectorsRow
from recollect.schemas.changes.identity_rows import IdentityRow
from recollect.schemas.changes.memory_rows import MemoryRow
from recollect.schemas.changes.row import Row
from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError, NewerFormat
from recollect.schemas.events import KINDS, Draft
from recollect.schemas.ledger.compression import deflate, huffman_decode, huffman_encode, inflate
from recollect.schemas.ledger.records import FIRST_COLUMNAR_FORMAT, FIRST_COMPACT_FORMAT

AnyRow = MemoryRow | IdentityRow | EmbeddingRow

#: Read model -> its row types, for those projected from change records, in locking order.
READ_MODEL_ROWS: dict[str, tuple[type[Row], ...]] = {
    "memory": get_args(MemoryRow),
    "identity": get_args(IdentityRow),
    "embeddings": get_args(EmbeddingRow),
}
READ_MODEL_OF_ROW: dict[type[Row], str] = {
    row: model for model, rows in READ_MODEL_ROWS.items() for row in rows
}
ROW_OF_TABLE: dict[str, type[Row]] = {row.TABLE: row for row in READ_MODEL_OF_ROW}
READ_MODEL_OF_TABLE: dict[str, str] = {row.TABLE: model for row, model in READ_MODEL_OF_ROW.items()}

RowT = TypeVar("RowT")


class Delete(msgspec.Struct, frozen=True, array_like=True):
    """The deletion of the row of `table` with this key."""

    table: str
    key: tuple[str | int, ...]


class Section(msgspec.Struct, frozen=True, array_like=True):
    """The part of a change for one read model; deletes are applied first."""

    deletes: tuple[Delete, ...] = ()
    puts: tuple[Any, ...] = ()


class _SectionOf(msgspec.Struct, Generic[RowT], frozen=True, array_like=True):
    deletes: tuple[Delete, ...]
    puts: tuple[RowT, ...]


class _Columns(msgspec.Struct, frozen=True, array_like=True):
    """The decrypted content of a part: deflated sections, then the rows' vectors and token arrays.

    Vectors and token arrays are in row order. All vectors together are Huffman-coded. Token arrays
    are not compressed, since that would not make them smaller.
    """

    sections: bytes
    vectors: bytes
    tokens: tuple[bytes, ...]


class _SectionsInOrder(msgspec.Struct, frozen=True, array_like=True):
    """The content of a part in record format 1: all sections in a fixed order."""

    memory: msgspec.Raw
    identity: msgspec.Raw
    embeddings: msgspec.Raw
    outbox: msgspec.Raw


_pack = msgspec.msgpack.Encoder()
_columns = msgspec.msgpack.Decoder(_Columns)
_named_sections = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_sections_in_order = msgspec.msgpack.Decoder(_SectionsInOrder)
_decoders: dict[str, msgspec.msgpack.Decoder[Any]] = {
    "memory": msgspec.msgpack.Decoder(_SectionOf[MemoryRow]),
    "identity": msgspec.msgpack.Decoder(_SectionOf[IdentityRow]),
    "embeddings": msgspec.msgpack.Decoder(_SectionOf[EmbeddingRow]),
    "outbox": msgspec.msgpack.Decoder(tuple[Draft, ...]),
}


class DecidedPart(msgspec.Struct):
    """Rows and commands that agents decided for one ledger record from the same source events.

    `sources`: the events' running numbers, ascending. `outbox`: commands to append to the ledger,
    with derived ids.
    """

    sources: tuple[int, ...]
    puts: list[AnyRow] = []
    deletes: list[Delete] = []
    outbox: list[Draft] = []


def encode_part(part: DecidedPart) -> bytes:
    """Encode a part in the newest format: its non-empty sections by name."""
    sections: dict[str, tuple[list[Delete], list[AnyRow]]] = {}
    vectors: list[bytes] = []
    tokens: list[bytes] = []
    for delete in part.deletes:
        sections.setdefault(READ_MODEL_OF_TABLE[delete.table], ([], []))[0].append(delete)
    for row in part.puts:
        stripped: AnyRow = row
        if isinstance(row, Embedding):
            vectors.append(_vector_bytes(row))
            stripped = msgspec.structs.replace(row, embedding=b"")
        elif isinstance(row, TokenVectorsRow):
            tokens += (row.codes, row.scales, row.units)
            stripped = msgspec.structs.replace(row, codes=b"", scales=b"", units=b"")
        sections.setdefault(READ_MODEL_OF_ROW[type(row)], ([], []))[1].append(stripped)
    text: dict[str, object] = dict(sections)
    if part.outbox:
        text["outbox"] = part.outbox
    packed_vectors = huffman_encode(b"".join(vectors)) if vectors else b""
    return _pack.encode(_Columns(deflate(_pack.encode(text)), packed_vectors, tuple(tokens)))


def _vector_bytes(row: Embedding) -> bytes:
    if len(row.embedding) != row.dimension:
        raise ValueError(f"a vector of {row.dimension} dimensions has {len(row.embedding)} bytes")
    return row.embedding


def decode_outbox(text: bytes, format_: int) -> tuple[Draft, ...]:
    """Return the commands in a part of a record with this format.

    Raises:
        NewerFormat: a newer program wrote it.
    """
    raw = _sections(text, format_).get("outbox")
    return () if raw is None else tuple(_decode("outbox", raw))


def decode_sections(text: bytes, models: tuple[str, ...], format_: int) -> dict[str, Section]:
    """Return a part's sections for `models`; other sections are not decoded.

    `format_`: the format in the record's header.

    Raises:
        NewerFormat: a newer program wrote it.
    """
    raw = _sections(text, format_)
    sections = {
        model: _with_current_keys(model, _decode(model, raw[model])) if model in raw else Section()
        for model in models
    }
    if format_ >= FIRST_COLUMNAR_FORMAT and "embeddings" in raw.keys() & sections.keys():
        sections["embeddings"] = _with_vectors(sections["embeddings"], _columns.decode(text))
    return sections


def _sections(text: bytes, format_: int) -> dict[str, msgspec.Raw]:
    """Return a part's sections by name.

    The caller has verified the seal. So if a part cannot be read, a newer or faulty program wrote
    it.
    """
    try:
        if format_ >= FIRST_COLUMNAR_FORMAT:
            text = inflate(_columns.decode(text).sections)
        elif format_ >= FIRST_COMPACT_FORMAT:
            text = zlib.decompress(text)
        if format_ == 1:
            return msgspec.structs.asdict(_sections_in_order.decode(text))
        sections = _named_sections.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, zlib.error) as error:
        raise IntegrityError(
            f"a part of a change record cannot be read: {error}; {RESTORE_LEDGER}"
        ) from None
    if unknown := sections.keys() - _decoders.keys():
        raise _newer_format(f"a section named {min(unknown)!r}")
    return sections


def _with_vectors(section: Section, columns: _Columns) -> Section:
    """Return the embeddings section with its rows' vectors and tokens restored."""
    try:
        vectors = huffman_decode(columns.vectors) if columns.vectors else b""
    except zlib.error as error:
        raise IntegrityError(
            f"the vectors in a part of a change record cannot be read: {error}; {RESTORE_LEDGER}"
        ) from None
    token_arrays = iter(columns.tokens)
    puts: list[Any] = []
    start = 0
    for row in section.puts:
        if isinstance(row, Embedding):
            end = start + row.dimension
            puts.append(msgspec.structs.replace(row, embedding=vectors[start:end]))
            start = end
        elif isinstance(row, TokenVectorsRow):
            tokens = dict(zip(("codes", "scales", "units"), token_arrays, strict=False))
            puts.append(msgspec.structs.replace(row, **tokens))
        else:
            puts.append(row)
    rows = sum(isinstance(row, TokenVectorsRow) for row in puts)
    if (start, 3 * rows) != (len(vectors), len(columns.tokens)):
        raise IntegrityError(
            "the vectors in a part of a change record cannot be read: they do not match its rows; "
            f"{RESTORE_LEDGER}"
        )
    return msgspec.structs.replace(section, puts=tuple(puts))


def _decode(name: str, raw: msgspec.Raw) -> Any:
    try:
        return _decoders[name].decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if unknown := _unknown_rows(name, raw):
            raise _newer_format(f"rows named {min(unknown)!r}") from None
        raise IntegrityError(
            f"the section {name} of a change record cannot be read: {error}; {RESTORE_LEDGER}"
        ) from None


def _unknown_rows(name: str, raw: msgspec.Raw) -> set[str]:
    """Return the names of a section's row types that this program does not know."""
    try:
        section = msgspec.msgpack.decode(raw)
        if name == "outbox":
            return {str(draft["payload"]["kind"]) for draft in section} - KINDS.keys()
        known = {str(row.__struct_config__.tag) for row in READ_MODEL_ROWS[name]}
        return {str(row[0]) for row in section[1]} - known
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
        return set()


def _newer_format(what: str) -> NewerFormat:
    return NewerFormat(
        f"a change record has {what}, which a newer recollect wrote; upgrade recollect to read it"
    )


def _with_current_keys(model: str, section: Section) -> Section:
    """Return a section in which deletes have the current keys.

    New formats have only ever shortened keys, so the current key is a prefix of the old one.
    """
    if not section.deletes:
        return section
    if unknown := {delete.table for delete in section.deletes} - ROW_OF_TABLE.keys():
        raise _newer_format(f"a delete from table {min(unknown)!r}")
    for delete in section.deletes:
        row = ROW_OF_TABLE[delete.table]
        if READ_MODEL_OF_ROW[row] != model or len(delete.key) < len(row.KEY):
            raise IntegrityError(
                f"the section {model} of a change record has an invalid delete key for table "
                f"{delete.table}; {RESTORE_LEDGER}"
            )
    deletes = tuple(
        Delete(delete.table, delete.key[: len(ROW_OF_TABLE[delete.table].KEY)])
        for delete in section.deletes
    )
    return msgspec.structs.replace(section, deletes=deletes)
