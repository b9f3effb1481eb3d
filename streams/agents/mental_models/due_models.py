"""Which mental models are due for a refresh: read from memory.db, decided by a tick."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.projections.memory.mental_model_queries import (
    StaleModel,
    changed_entities,
    has_standing_model,
    stale_models,
)

#: An automatic profile is regenerated after this many changes, at this age, or after a merge.
MIN_CHANGES, MAX_AGE_MS = 10, 86_400_000
#: The subtype and the trigger of automatic profiles.
PROFILE_SUBTYPE = "emergent"
PROFILE_TRIGGER = '{"profile":true}'
_HOUR_MS = 3_600_000
_trigger = msgspec.json.Decoder(dict[str, Any])


class DueModel(NamedTuple):
    """A mental model to refresh; `model_id` None: the profile of an entity without one.

    `last_change`: the last record that changed what is known about the entity.
    """

    entity_id: str
    model_id: str | None
    last_change: int


def due_models(
    memory: apsw.Connection, min_facts: int, at: int, before: int | None = None
) -> Iterator[DueModel]:
    """Yield the mental models that are due at a time (unix ms), in a fixed order.

    `min_facts`: the number of facts from which an entity gets a profile; 0: no profiles. `before`:
    the number of the tick's record.
    """
    for model in stale_models(memory):
        if _is_due(model, at):
            yield DueModel(model.entity_id, model.id, model.last_change)
    for changed in changed_entities(memory, min_facts, before) if min_facts else ():
        if not has_standing_model(memory, changed.id, PROFILE_TRIGGER):
            yield DueModel(changed.id, None, changed.last_change)


def is_profile(subtype: str | None, refresh_trigger: str | None) -> bool:
    """Return whether a mental model is the automatic profile of an entity."""
    return subtype == PROFILE_SUBTYPE and refresh_trigger == PROFILE_TRIGGER


def _is_due(model: StaleModel, at: int) -> bool:
    """Return whether a stale model must be refreshed; pinned ones are only refreshed by hand."""
    if model.subtype == "pinned" or model.refresh_trigger is None:
        return False
    trigger = _trigger.decode(model.refresh_trigger)
    age = at - model.refreshed_at
    if trigger.get("profile"):
        return model.is_merged or model.changes >= MIN_CHANGES or age >= MAX_AGE_MS
    hours = trigger.get("every_hours")
    scheduled = isinstance(hours, int | float) and age >= hours * _HOUR_MS
    return bool(trigger.get("refresh_after_consolidation")) or scheduled
