"""Mental models (A12): reports that somebody keeps, each with all its versions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from projections.memory import memory_queries as memory
from recollect import forgetting
from recollect.ingesting import command
from recollect.open_zone import OpenZone
from schemas.errors import InvalidInput, NotDecided, UnknownId
from schemas.events import CreateMentalModel, UpdateMentalModel
from schemas.times import format_time
from schemas.wire import ForgetReport, ForgetTargets, MentalModel, Receipt
from streams.publishing.commands import drawn_id


def mental_models(zone: OpenZone, *, every_version: bool = False) -> list[MentalModel]:
    """Return the mental models of a zone in the order in which they were written."""
    return _found(zone, every=every_version)


def mental_model(zone: OpenZone, model_id: str) -> MentalModel:
    """Return a version of a mental model.

    Raises:
        UnknownId: the zone has none with this id.
    """
    for found in _found(zone, ids=[model_id], every=True):
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
) -> MentalModel:
    """Keep a report.

    Raises:
        InvalidInput: its name or its description is no text, or empty.
    """
    _check(name=name, description=description)
    return _written(
        zone,
        command(
            zone,
            CreateMentalModel(
                source_id=drawn_id("mental-model"),
                name=name,
                description=description,
                subtype=subtype,
                entity_id=entity_id,
                tags=tuple(tags),
            ),
        ),
    )


def update(zone: OpenZone, model_id: str, description: str) -> MentalModel:
    """Write a new version of a report.

    Raises:
        InvalidInput: the zone has no mental model with this id, or the text is empty.
    """
    _check(description=description)
    before = mental_model(zone, model_id)
    return _written(
        zone,
        command(
            zone,
            UpdateMentalModel(
                source_id=drawn_id(f"mental-model:{before.id}"),
                model_id=before.id,
                description=description,
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


def _found(
    zone: OpenZone,
    *,
    ids: Sequence[str] | None = None,
    number: int | None = None,
    every: bool = False,
) -> list[MentalModel]:
    if not zone.exists():
        return []
    with zone.files() as files:
        found = memory.mental_models(files.memory.connection, ids=ids, number=number, every=every)
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


def _written(zone: OpenZone, receipt: Receipt) -> MentalModel:
    for found in _found(zone, number=receipt.number, every=True):
        return found
    raise NotDecided(
        f"zone {zone.name}: record {receipt.number} holds the mental model and is not decided "
        "yet; see status and dead_letters"
    )


def _check(**texts: str) -> None:
    for field, text in texts.items():
        if not isinstance(text, str):
            raise InvalidInput(f"{field} is {type(text).__name__}; give a text")
        if not text.strip():
            raise InvalidInput(f"{field} is empty")
