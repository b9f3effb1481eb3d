"""The agent that writes mental models: a row for each version.

A mental model is a text, written by hand or generated from the facts about its entity. A command
refreshes one mental model; a tick requests a command for each model that is due. What is known
about an entity is read from `EntityFact` rows, which every decision on its facts keeps up to date.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from recollect.projections.events.event_queries import event_by_number, switch_numbers
from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    MentalModel,
    MentalModelRefresh,
    RefreshTick,
)
from recollect.schemas.events import (
    RESERVED_PLATFORM,
    CreateMentalModel,
    Draft,
    Event,
    RefreshMentalModel,
    RefreshModels,
    UpdateMentalModel,
)
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Conversation, DerivingAgent, Extract
from recollect.streams.agents.mental_models.due_models import (
    PROFILE_SUBTYPE,
    PROFILE_TRIGGER,
    DueModel,
    due_models,
    is_profile,
)
from recollect.streams.agents.mental_models.entity_facts import entity_fact_parts
from recollect.streams.agents.mental_models.entity_pages import page_about
from recollect.streams.agents.state import State
from recollect.streams.agents.vectors import embedding_rows

_json = msgspec.json.Encoder()


class MentalModelHandler(DerivingAgent):
    """Creates mental models, and a new version for each update; older versions stay."""

    kinds = frozenset(
        {"create_mental_model", "update_mental_model", "refresh_models", "refresh_mental_model"}
    )

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        payload = event.payload
        if isinstance(payload, CreateMentalModel | UpdateMentalModel) and payload.description:
            return Extract(texts=(payload.description,))
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        payload = event.payload
        if isinstance(payload, RefreshModels):
            return _tick(event, payload, state)
        if isinstance(payload, RefreshMentalModel):
            return _refresh(event, payload, state)
        if isinstance(payload, CreateMentalModel):
            return _create(event, payload, state)
        assert isinstance(payload, UpdateMentalModel)
        return _update(event, payload, state)

    def derive(
        self, event: Event, decided: Sequence[DecidedPart], state: State
    ) -> list[DecidedPart]:
        """Return what changed in what is known about entities."""
        return list(entity_fact_parts(event, decided, state))


def _create(event: Event, payload: CreateMentalModel, state: State) -> list[DecidedPart]:
    trigger = payload.refresh_trigger
    row = _first_version(
        event,
        payload.name,
        payload.description,
        subtype=payload.subtype,
        entity_id=payload.entity_id,
        tags=_json.encode(payload.tags).decode(),
        refresh_trigger=_json.encode(trigger).decode() if trigger else None,
    )
    if payload.entity_id is not None and trigger is not None:
        return _with_page(event, row, payload.description, state)
    return [DecidedPart((event.number,), [row, *_vectors(event, row, state)])]


def _update(event: Event, payload: UpdateMentalModel, state: State) -> list[DecidedPart]:
    versions = state.model_versions(payload.model_id)
    if not versions:
        return []
    # The new version repeats the name and tags of earlier ones.
    sources = {event.number, *(version.number for version in versions)}
    tags = payload.tags
    row = msgspec.structs.replace(
        _next_version(event, versions[0], payload.description),
        parent_id=payload.model_id,
        tags=versions[0].tags if tags is None else _json.encode(tags).decode(),
    )
    return [DecidedPart(tuple(sorted(sources)), [row, *_vectors(event, row, state)])]


def _first_version(
    event: Event,
    name: str,
    description: str,
    *,
    subtype: str | None,
    entity_id: str | None,
    tags: str,
    refresh_trigger: str | None,
) -> MentalModel:
    now = event.occurred_at
    return MentalModel(
        id=row_id(now, "mental_model", event.id),
        name=name,
        description=description,
        subtype=subtype,
        entity_id=entity_id,
        tags=tags,
        parent_id=None,
        refresh_trigger=refresh_trigger,
        last_refreshed=now,
        created_at=now,
        updated_at=now,
        number=event.number,
    )


def _next_version(event: Event, previous: MentalModel, description: str) -> MentalModel:
    now = event.occurred_at
    return msgspec.structs.replace(
        previous,
        id=row_id(now, "mental_model", event.id),
        description=description,
        parent_id=previous.id,
        last_refreshed=now,
        created_at=now,
        updated_at=now,
        number=event.number,
    )


def _vectors(event: Event, row: MentalModel, state: State) -> list[AnyRow]:
    if not row.description:
        return []
    found = embedding_rows(state, event.occurred_at, ("mental_model", row.id, row.description))
    return [*found]


# Refreshing


def _tick(event: Event, payload: RefreshModels, state: State) -> list[DecidedPart]:
    """Return a command for each mental model that is due."""
    switches = switch_numbers(state.events)
    due = due_models(state.memory, payload.min_facts, event.occurred_at, event.number)
    commands = [_command(each, event, switches, state) for each in due]
    return [DecidedPart((event.number,), [RefreshTick(event.number)], outbox=commands)]


def _command(due: DueModel, tick: Event, switches: Sequence[int], state: State) -> Draft:
    """Return the command for a mental model: the same for every tick until its entity changes.

    The position in its id does not count switches, so that the id is the same however often the
    zone was rebuilt.
    """
    position = due.last_change - bisect_left(switches, due.last_change)
    last = event_by_number(state.events, due.last_change)
    at = tick.occurred_at if last is None else max(last.ingested_at, last.occurred_at)
    return Draft(
        platform=RESERVED_PLATFORM,
        occurred_at=at,
        ingested_at=max(at, tick.ingested_at),
        payload=RefreshMentalModel(
            source_id=f"refresh:{due.model_id or due.entity_id}:{position}",
            entity_id=due.entity_id,
            model_id=due.model_id,
        ),
    )


def _refresh(event: Event, payload: RefreshMentalModel, state: State) -> list[DecidedPart]:
    previous = _standing_version(payload, state)
    if previous is not None:
        if previous.entity_id is None or _is_replaced(previous, state):
            return []
        page = state.page(previous.id)
        note = previous.description if page is None else previous.description[: page.note_end]
        return _with_page(event, previous, note, state)
    if payload.model_id is not None:
        return []
    canonical = state.canonical(payload.entity_id)
    profile = _first_version(
        event,
        "",
        "",
        subtype=PROFILE_SUBTYPE,
        entity_id=payload.entity_id if canonical is None else canonical.id,
        tags="[]",
        refresh_trigger=PROFILE_TRIGGER,
    )
    return _with_page(event, profile, "", state)


def refreshed_text(model_id: str, at: int, state: State) -> str:
    """Return the text that a refresh of a mental model about an entity writes at a time (unix ms).

    Without facts, it is the present text.
    """
    model = state.newest_model(model_id)
    assert model is not None
    assert model.entity_id is not None
    stored = state.page(model.id)
    note = model.description if stored is None else model.description[: stored.note_end]
    page = page_about(state.group_of(model.entity_id), at, state, note)
    return page.text or model.description


def _standing_version(payload: RefreshMentalModel, state: State) -> MentalModel | None:
    """Return the newest version of the mental model that a command names, if it exists."""
    if payload.model_id is not None:
        return state.newest_model(payload.model_id)
    found = _profiles(state.group_of(payload.entity_id), state)
    standing = [version for version in found if not _is_replaced(version, state)]
    return next(iter(standing or found), None)


def _is_replaced(model: MentalModel, state: State) -> bool:
    """Return whether the profile of a merged entity has taken the place of a profile."""
    page = state.page(model.id)
    if page is None or page.replaced_by is None or model.entity_id is None:
        return False
    by = state.newest_model(page.replaced_by)
    return by is not None and by.entity_id in state.group_of(model.entity_id)


def _profiles(group: Sequence[str], state: State) -> list[MentalModel]:
    """Return the newest versions of the profiles of merged entities, the oldest profile first."""
    versions = [
        version
        for entity_id in group
        for version in state.models_about(entity_id)
        if is_profile(version.subtype, version.refresh_trigger)
    ]
    first = sorted((v for v in versions if v.parent_id is None), key=lambda v: v.number)
    newest = [state.newest_model(version.id) for version in first]
    return [model for model in newest if model is not None]


def _with_page(event: Event, model: MentalModel, note: str, state: State) -> list[DecidedPart]:
    """Return the rows of a version with the page about its entity, after a note by hand.

    `model` is the previous version, or the first one if the record itself writes it. There is no
    new version if the text is the same or there are no facts: a page is never replaced by an empty
    one.
    """
    assert model.entity_id is not None
    is_first = model.number == event.number
    group = state.group_of(model.entity_id)
    page = page_about(group, event.occurred_at, state, note)
    is_empty = not page.blocks
    before = None if is_first else state.page(model.id)
    has_ended = before is not None and before.replaced_by is not None
    is_same = page.text == model.description and not has_ended
    if not is_first and (is_empty or is_same):
        refreshed = MentalModelRefresh(model.id, event.number, event.occurred_at)
        return [DecidedPart((event.number,), [refreshed])]
    if is_empty and not note:
        return []
    text = note if is_empty else page.text
    if is_first:
        name = model.name or _profile_name(page.name)
        row = msgspec.structs.replace(model, description=text, name=name)
        repeated: set[int] = set()
    else:
        row = _next_version(event, model, text)
        # The name and the note are those of earlier versions.
        repeated = {version.number for version in state.model_versions(model.id)}
        if is_profile(model.subtype, model.refresh_trigger):
            row = msgspec.structs.replace(row, name=_profile_name(page.name))
            repeated = {model.number} if note else set()
    sources = {event.number, *page.sources, *repeated}
    rows: list[AnyRow] = [row, page.row(row.id, group, len(note))]
    parts = [DecidedPart(tuple(sorted(sources)), rows)]
    if is_profile(row.subtype, row.refresh_trigger):
        parts += _replaced(event, row, group, state)
    return parts


def _profile_name(name: str) -> str:
    return f"Profile of {name}" if name else "Profile"


def _replaced(
    event: Event, row: MentalModel, group: Sequence[str], state: State
) -> list[DecidedPart]:
    """Return the rows that end the other profiles of merged entities."""
    parts = []
    for other in _profiles(group, state):
        if other.id in (row.id, row.parent_id):
            continue
        page = state.page(other.id)
        if page is not None and page.replaced_by is None:
            ended = msgspec.structs.replace(page, replaced_by=row.id)
            parts.append(DecidedPart((event.number,), [ended]))
    return parts
