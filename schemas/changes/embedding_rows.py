"""Rows of embeddings.db: text vectors, token vectors, and recorded annotations."""

from __future__ import annotations

from typing import ClassVar

from recollect.schemas.changes.row import Row


class Embedding(Row, frozen=True, array_like=True, tag="embedding"):
    """The canonical vector of a target under a model: `dimension` int8 values.

    Records up to format 2 have little-endian float32 values.
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
    """The token vectors of a target under a model, compressed in the format `form`.

    `codes`: a row of codes per token. `scales`: a little-endian float16 per token. `units`: the
    number of tokens in each segment of a long text, as little-endian uint16. The formats are
    defined in `recollect.projections.embeddings.token_vectors`.
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
    """The reader's annotations of an event's text, reused by a replay.

    `reader` and `text`: the first four bytes of the hashes of the reader's heads and of the text.
    `content`: encoded by `recollect.streams.reader.packed_reading`.
    """

    TABLE: ClassVar = "readings"
    KEY: ClassVar = ("number",)
    number: int
    reader: bytes
    text: bytes
    content: bytes


#: Every row type of the file; a change record has no others.
EmbeddingRow = Embedding | TokenVectorsRow | RecordedAnnotations
