"""The agent that writes mental models: a row for each version."""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import DecidedPart, MentalModel
from recollect.schemas.events import CreateMentalModel, Event, UpdateMentalModel
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State
from recollect.streams.agents.vectors import embedding_rows

_json = msgspec.json.Encoder()


class MentalModelHandler(Agent):
    """Creates mental models, and a new version for each update; older versions stay."""

    kinds = frozenset({"create_mental_model", "update_mental_model"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        assert isinstance(event.payload, CreateMentalModel | UpdateMentalModel)
        return Extract(texts=(event.payload.description,))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        payload = event.payload
        now = event.occurred_at
        sources = {event.number}
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
                number=event.number,
            )
        else:
            assert isinstance(payload, UpdateMentalModel)
            versions = state.model_versions(payload.model_id)
            if not versions:
                return []
            # The new version repeats the name and tags of earlier ones.
            sources |= {version.number for version in versions}
            previous = versions[0]
            tags = payload.tags
            row = msgspec.structs.replace(
                previous,
                tags=previous.tags if tags is None else _json.encode(tags).decode(),
                id=row_id(now, "mental_model", event.id),
                description=payload.description,
                parent_id=payload.model_id,
                last_refreshed=now,
                created_at=now,
                updated_at=now,
                number=event.number,
            )
        vectors = embedding_rows(state, now, ("mental_model", row.id, row.description))
        return [DecidedPart(tuple(sorted(sources)), puts=[row, *vectors])]
