"""Turns recorded vectors into rows of embeddings.db."""

from __future__ import annotations

from schemas.changes import Embedding
from schemas.ids import row_id, text_hash
from streams.agents.base import State


def embedding_rows(
    state: State, created_at: int, *targets: tuple[str, str, str]
) -> list[Embedding]:
    """Return a row per (target type, target id, text); none where there is no encoder."""
    if state.encoder is None:
        return []
    rows = []
    for target_type, target_id, text in targets:
        key = text_hash(text)
        rows.append(
            Embedding(
                id=row_id(created_at, "embedding", target_type, target_id, state.encoder),
                target_type=target_type,
                target_id=target_id,
                model=state.encoder,
                embedding=state.vectors[key],
                dimension=state.dimension,
                text_hash=key,
                created_at=created_at,
            )
        )
    return rows
