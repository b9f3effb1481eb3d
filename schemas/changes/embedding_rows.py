"""The rows of embeddings.db: vectors of texts and of their words, and what was read in texts."""

from __future__ import annotations

from typing import ClassVar

from recollect.schemas.changes.row import Row


class Embedding(Row, frozen=True, array_like=True, tag="embedding"):
    """The canonical vector of a target under a model (A13): `dimension` int8.

    In a record of format 2 and before: `dimension` little-endian float32.
    """

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


class TokenVectorsRow(Row, frozen=True, array_like=True, tag="token_vectors"):
    """The vectors of a target's words under a model, compressed in a `form` (A13).

    `codes` have a row per token; `scales` little-endian float16, one per token; `units`
    little-endian uint16, how many tokens each part of a long text has. Forms are defined in
    `recollect.projections.embeddings.token_vectors`.
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


class RecordedAnnotations(Row, frozen=True, array_like=True, tag="reading"):
    """What a reader read in the text of an event, which a replay repeats.

    `reader` and `text`: the first four bytes of the hashes of the reader's heads and of the text.
    `content` is packed as `recollect.streams.reader.packed_reading` says.
    """

    TABLE: ClassVar = "readings"
    KEY: ClassVar = ("number",)
    number: int
    reader: bytes
    text: bytes
    content: bytes


#: Every row of the file. A struct that is missing here cannot stand in a change record.
EmbeddingRow = Embedding | TokenVectorsRow | RecordedAnnotations
