"""Queries of embeddings.db other than vector search."""

from __future__ import annotations

import apsw

from recollect.projections.embeddings.token_vectors import FORMAT, TokenCodes
from recollect.projections.sqlite import rows, scalar

# The condition on substr lets SQLite use the index, which stores only the first eight digits of a
# hash.
_HAS_TEXT = (
    "embeddings.model = ?1 AND substr(embeddings.text_hash, 1, 8) = substr(?2, 1, 8) "
    "AND embeddings.text_hash = ?2"
)


def vector_count(connection: apsw.Connection) -> int:
    """Return the number of vectors."""
    return int(scalar(connection, "SELECT count(*) FROM embeddings"))


def models_of(connection: apsw.Connection, target_type: str, target_id: str) -> list[str]:
    """Return the encoder models for which a target has a vector."""
    found = rows(
        connection,
        "SELECT model FROM embeddings WHERE target_type = ? AND target_id = ? ORDER BY model",
        (target_type, target_id),
    )
    return [model for (model,) in found]


def vector_of_text(connection: apsw.Connection, model: str, text_hash: str) -> bytes | None:
    """Return the recorded vector of a text under a model, or None."""
    vector: bytes | None = scalar(
        connection,
        f"SELECT embedding FROM embeddings WHERE {_HAS_TEXT} LIMIT 1",
        (model, text_hash),
    )
    return vector


def tokens_of_text(connection: apsw.Connection, model: str, text_hash: str) -> TokenCodes | None:
    """Return the recorded token vectors of a text under a model, or None.

    Only those in the current format count.
    """
    token_rows = rows(
        connection,
        "SELECT codes, scales, units FROM embeddings "
        "JOIN token_vectors USING (target_type, target_id, model) "
        f"WHERE {_HAS_TEXT} AND form = ?3 LIMIT 1",
        (model, text_hash, FORMAT),
    )
    return TokenCodes(*token_rows[0]) if token_rows else None


def annotations_of_event(
    connection: apsw.Connection, number: int, reader: bytes, text: bytes
) -> bytes | None:
    """Return the packed annotations that a reader recorded for an event's text, or None.

    `reader`, `text`: the hashes of the reader and of the text, as in `RecordedAnnotations`.
    """
    annotations: bytes | None = scalar(
        connection,
        "SELECT content FROM readings WHERE number = ? AND reader = ? AND text = ?",
        (number, reader, text),
    )
    return annotations
