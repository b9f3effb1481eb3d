"""Keeps mental models: a new row per version, the old ones stay (A12)."""

from __future__ import annotations

import msgspec

from schemas.changes import Conclusions, MentalModel
from schemas.events import CreateMentalModel, Event, UpdateMentalModel
from schemas.ids import row_id
from streams.agents.base import Extract, State, Surroundings
from streams.agents.vectors import embedding_rows

_json = msgspec.json.Encoder()


class MentalModelKeeper:
    """Creates a model, and a version of it for each update."""

    kinds = frozenset({"create_mental_model", "update_mental_model"})

    def extract(self, event: Event, surroundings: Surroundings) -> Extract:
        assert isinstance(event.payload, CreateMentalModel | UpdateMentalModel)
        return Extract(texts=(event.payload.description,))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[Conclusions]:
        payload = event.payload
        now = event.occurred_at
        if isinstance(payload, CreateMentalModel):
            row = MentalModel(
                id=row_id(now, "mental_model", event.id),
                name=payload.name,
                description=payload.description,
                subtype=payload.subtype,
                entity_id=payload.entity_id,
                tags=_json.encode(payload.tags).decode(),
                parent_id=None,
                refresh_trigger=(
                    _json.encode(payload.refresh_trigger).decode()
                    if payload.refresh_trigger
                    else None
                ),
                last_refreshed=now,
                created_at=now,
                updated_at=now,
            )
        else:
            assert isinstance(payload, UpdateMentalModel)
            columns = ", ".join(MentalModel.__struct_fields__)
            parent = state.memory.execute(
                f"SELECT {columns} FROM mental_models WHERE id = ?", (payload.model_id,)
            ).fetchone()
            if parent is None:
                return []
            row = msgspec.structs.replace(
                MentalModel(*parent),
                id=row_id(now, "mental_model", event.id),
                description=payload.description,
                parent_id=payload.model_id,
                last_refreshed=now,
                created_at=now,
                updated_at=now,
            )
        vectors = embedding_rows(state, now, ("mental_model", row.id, row.description))
        return [Conclusions((event.number,), puts=[row, *vectors])]
