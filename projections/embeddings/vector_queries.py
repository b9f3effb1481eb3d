"""What is asked of embeddings.db besides searching it."""

from __future__ import annotations

import apsw

from projections.sqlite import rows, value


def vector_count(connection: apsw.Connection) -> int:
    """Return how many texts have a vector, counted once for each model."""
    return int(value(connection, "SELECT count(*) FROM embeddings"))


def models_of(connection: apsw.Connection, target_type: str, target_id: str) -> list[str]:
    """Return the models under which a target has a vector."""
    found = rows(
        connection,
        "SELECT model FROM embeddings WHERE target_type = ? AND target_id = ? ORDER BY model",
        (target_type, target_id),
    )
    return [model for (model,) in found]
