"""Build the rows of embeddings.db from a record's encodings."""

from __future__ import annotations

from recollect.projections.embeddings.token_vectors import FORMAT
from recollect.schemas.changes import Embedding, TokenVectorsRow
from recollect.schemas.ids import row_id, text_hash
from recollect.streams.agents.state import State


def embedding_rows(
    state: State, created_at: int, *targets: tuple[str, str, str]
) -> list[Embedding]:
    """Return a row for each target (type, id, text); none without an encoder."""
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
                embedding=state.encoded[key].vector,
                dimension=state.dimension,
                text_hash=key,
                created_at=created_at,
            )
        )
    return rows


def turn_rows(
    state: State, created_at: int, event_id: str, text: str
) -> list[Embedding | TokenVectorsRow]:
    """Return the rows of an event's text: its vector, and its token vectors if there are any."""
    rows: list[Embedding | TokenVectorsRow] = []
    for row in embedding_rows(state, created_at, ("event", event_id, text)):
        rows.append(row)
        tokens = state.encoded[row.text_hash].tokens
        if tokens is not None:
            rows.append(
                TokenVectorsRow(
                    target_type=row.target_type,
                    target_id=row.target_id,
                    model=row.model,
                    form=FORMAT,
                    codes=tokens.codes,
                    scales=tokens.scales,
                    units=tokens.units,
                    text_hash=row.text_hash,
                    created_at=row.created_at,
                )
            )
    return rows
