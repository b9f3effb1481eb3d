"""Mental models: saved reports with all their versions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.erasure import forgetting
from recollect.operations.erasure.record_matching import SOURCE_TAG_PREFIX
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.listing import after_cursor, check_limit
from recollect.projections.events import event_queries
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.errors import DecisionTimeout, InvalidInput, UnknownId
from recollect.schemas.events import CreateMentalModel, UpdateMentalModel
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    ForgetReport,
    ForgetTargets,
    MentalModel,
    MentalModelPage,
    Receipt,
)
from recollect.streams.publishing.commands import random_id


def mental_models(zone: OpenZone, *, superseded: bool = False) -> list[MentalModel]:
    """Return the mental models of a zone, the oldest first."""
    return _read_models(zone, all_versions=superseded)


def model_page(
    zone: OpenZone, *, superseded: bool, cursor: str | None, limit: int
) -> MentalModelPage:
    """Return a page of mental models, the oldest first.

    Raises:
        InvalidInput: no version has the cursor's id, or the limit is invalid.
    """
    check_limit(limit)
    page, more = after_cursor(mental_models(zone, superseded=superseded), cursor, limit)
    return MentalModelPage(mental_models=page, cursor=more)


def mental_model(zone: OpenZone, model_id: str) -> MentalModel:
    """Return a version of a mental model.

    Raises:
        UnknownId: the zone has no mental model with this id.
    """
    for found in _read_models(zone, ids=[model_id], all_versions=True):
        return found
    raise UnknownId(f"zone {zone.name} has no mental model {model_id!r}; mental_models lists all")


def create(
    zone: OpenZone,
    name: str,
    description: str,
    *,
    subtype: str | None = None,
    entity_id: str | None = None,
    tags: Sequence[str] = (),
    sources: Sequence[str] = (),
) -> MentalModel:
    """Save a report. Erasing an event that a memory in `sources` rests on erases the report too.

    Raises:
        InvalidInput: the name or the description is not a string, or is empty.
        UnknownId: nothing in the zone has one of the ids in `sources`.
    """
    _check_texts(name=name, description=description)
    return _model_in(
        zone,
        command(
            zone,
            CreateMentalModel(
                source_id=random_id("mental-model"),
                name=name,
                description=description,
                subtype=subtype,
                entity_id=entity_id,
                tags=(*tags, *_source_tags(zone, sources)),
            ),
        ),
    )


def update(
    zone: OpenZone, model_id: str, description: str, *, sources: Sequence[str] | None = None
) -> MentalModel:
    """Save a new version of a report; `sources` None: keep those of the previous version.

    Raises:
        InvalidInput: the zone has no mental model with this id, or the text is empty.
        UnknownId: nothing in the zone has one of the ids in `sources`.
    """
    _check_texts(description=description)
    before = mental_model(zone, model_id)
    tags = None
    if sources is not None:
        other_tags = (tag for tag in before.tags if not tag.startswith(SOURCE_TAG_PREFIX))
        tags = (*other_tags, *_source_tags(zone, sources))
    return _model_in(
        zone,
        command(
            zone,
            UpdateMentalModel(
                source_id=random_id(f"mental-model:{before.id}"),
                model_id=before.id,
                description=description,
                tags=tags,
            ),
        ),
    )


def delete(zone: OpenZone, model_id: str, *, dry_run: bool = False) -> ForgetReport:
    """Erase a report with all its versions, everywhere.

    Raises:
        InvalidInput: the zone has no mental model with this id.
    """
    return forgetting.forget(
        zone, ForgetTargets(ids=(mental_model(zone, model_id).id,)), dry_run=dry_run
    )


def _source_tags(zone: OpenZone, ids: Sequence[str]) -> list[str]:
    """Return the tags that name the events behind memories of any kind."""
    if not ids:
        return []
    zone.must_exist()
    found: set[str] = set()
    with zone.files() as files, files.read_transaction():
        for id_ in ids:
            behind = events_behind(files, id_)
            if not behind:
                raise UnknownId(f"zone {zone.name} holds nothing with the id {id_!r}")
            found |= behind
    return sorted(f"{SOURCE_TAG_PREFIX}{event}" for event in found)


def events_behind(files: ZoneFiles, id_: str) -> set[str]:
    """Return the ids of the events that a memory rests on; an event rests on itself.

    For a mental model, these are the events that its tags name, or its own id if they name none.
    """
    connection = files.memory.connection
    event = event_queries.first_event_with_id(files.events.connection, id_)
    found = {*memory.events_of(connection, id_), *([] if event is None else [event])}
    for model, _ in memory.mental_models(connection, ids=[id_], all_versions=True):
        tags = msgspec.json.decode(model.tags, type=list[str])
        sources = {
            tag.removeprefix(SOURCE_TAG_PREFIX) for tag in tags if tag.startswith(SOURCE_TAG_PREFIX)
        }
        found |= sources or {model.id}
    return found


def _read_models(
    zone: OpenZone,
    *,
    ids: Sequence[str] | None = None,
    number: int | None = None,
    all_versions: bool = False,
) -> list[MentalModel]:
    if not zone.exists():
        return []
    with zone.files() as files:
        found = memory.mental_models(
            files.memory.connection, ids=ids, number=number, all_versions=all_versions
        )
    return [
        MentalModel(
            id=model.id,
            name=model.name,
            description=model.description,
            subtype=model.subtype,
            entity_id=model.entity_id,
            tags=msgspec.json.decode(model.tags, type=list[str]),
            previous=model.parent_id,
            current=current,
            updated_at=format_time(model.updated_at),
        )
        for model, current in found
    ]


def _model_in(zone: OpenZone, receipt: Receipt) -> MentalModel:
    for found in _read_models(zone, number=receipt.number, all_versions=True):
        return found
    raise DecisionTimeout(
        f"zone {zone.name}: record {receipt.number}, which holds the mental model, is not decided "
        "yet; see status and dead_letters"
    )


def _check_texts(**texts: str) -> None:
    for field, text in texts.items():
        if not isinstance(text, str):
            raise InvalidInput(f"{field} is {type(text).__name__}; give a text")
        if not text.strip():
            raise InvalidInput(f"{field} is empty")
