"""Mental models: saved reports with all their versions."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import Any, Literal

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.erasure import forgetting
from recollect.operations.erasure.record_matching import SOURCE_TAG_PREFIX
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.listing import unmerged_entity
from recollect.operations.memories.page_cursors import after_cursor, check_limit
from recollect.projections.events import event_queries
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.changes import MentalModelPage as PageRow
from recollect.schemas.errors import DecisionTimeout, InvalidInput, UnknownId
from recollect.schemas.events import CreateMentalModel, RefreshMentalModel, UpdateMentalModel
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    ForgetReport,
    ForgetTargets,
    MentalModel,
    MentalModelBlock,
    MentalModelHistory,
    MentalModelPage,
    MentalModelRefreshed,
    MentalModelTrigger,
    MentalModelVersion,
    Receipt,
)
from recollect.streams.publishing.commands import random_id

#: Limits of a report: characters of its name and its text, and the number of its labels.
MAX_NAME, MAX_REPORT, MAX_LABELS = 1_024, 200_000, 100
#: When the page of a mental model is regenerated.
RefreshTrigger = Literal["after_changes", "schedule", "by_hand"]
_page_blocks = msgspec.json.Decoder(list[tuple[str, str, int, int, int, list[str]]])


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
        with zone.files() as files:
            return msgspec.structs.replace(found, blocks=_blocks(files, found))
    raise UnknownId(
        f"zone {zone.name} has no mental model {model_id!r}; `mental_models` lists them"
    )


def history(zone: OpenZone, model_id: str) -> MentalModelHistory:
    """Return the versions of a mental model, given any version, each as a difference.

    Raises:
        UnknownId: the zone has no mental model with this id.
    """
    mental_model(zone, model_id)
    with zone.files() as files:
        connection = files.memory.connection
        numbers = memory.records_of_models(connection, ids=[model_id])
        ids = memory.model_ids(connection, numbers)
    versions = sorted(
        _read_models(zone, ids=ids, all_versions=True), key=lambda each: each.updated_at
    )
    texts = {version.id: version.description for version in versions}
    return MentalModelHistory(
        versions=[
            MentalModelVersion(
                id=version.id,
                updated_at=version.updated_at,
                diff=_difference(texts.get(version.previous or "", ""), version.description),
            )
            for version in versions
        ]
    )


def refresh(zone: OpenZone, model_id: str, *, dry_run: bool = False) -> MentalModelRefreshed:
    """Regenerate the page of a mental model from the facts about its entity.

    Text written by hand stays at the beginning. `dry_run`: only report what changes.

    Raises:
        UnknownId: the zone has no mental model with this id.
        InvalidInput: it is not about an entity.
    """
    before = _newest(zone, mental_model(zone, model_id))
    if before.entity_id is None:
        raise InvalidInput(
            f"{model_id!r} is not about an entity, so there are no facts to refresh it from; "
            "update its text"
        )
    if dry_run:
        text = _page_text(zone, before)
        diff = _difference(before.description, text)
        return MentalModelRefreshed(id=before.id, changed=bool(diff), diff=diff, dry_run=True)
    asks = RefreshMentalModel(
        source_id=random_id(f"refresh:{before.id}"), entity_id=before.entity_id, model_id=before.id
    )
    receipt = command(zone, asks)
    after = next(iter(_read_models(zone, number=receipt.number, all_versions=True)), before)
    return MentalModelRefreshed(
        id=after.id,
        changed=after.id != before.id,
        diff=_difference(before.description, after.description),
        dry_run=False,
    )


def _newest(zone: OpenZone, model: MentalModel) -> MentalModel:
    """Return the newest version of a mental model."""
    return mental_model(zone, history(zone, model.id).versions[-1].id)


def _page_text(zone: OpenZone, model: MentalModel) -> str:
    """Return the text that a refresh would write now."""
    # Imported here: only a refresh needs the agents.
    from recollect.streams.agents.mental_models.mental_model_handler import refreshed_text
    from recollect.streams.agents.state import State

    with zone.files() as files, files.read_transaction():
        state = State(
            files.events.connection, files.memory.connection, files.identity.connection, None, 0
        )
        return refreshed_text(model.id, unix_ms(), state)


def _difference(before: str, after: str) -> list[str]:
    return list(
        unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
    )


def _blocks(files: ZoneFiles, model: MentalModel) -> list[MentalModelBlock]:
    """Return the lines of a mental model with the facts that they cite."""
    page = files.memory.row(PageRow, (model.id,))
    if page is None:
        return []
    return [
        MentalModelBlock(id=id_, section=section, text=model.description[start:end], facts=facts)
        for section, id_, start, end, _, facts in _page_blocks.decode(page.blocks)
    ]


def _events_of_page(files: ZoneFiles, model_id: str) -> list[str]:
    """Return the ids of the events of the facts that a mental model cites, sorted."""
    page = files.memory.row(PageRow, (model_id,))
    blocks = [] if page is None else _page_blocks.decode(page.blocks)
    facts = sorted({fact for *_, cited in blocks for fact in cited})
    found = memory.events_of_facts(files.memory.connection, facts) if facts else []
    return sorted(set(found))


def create(
    zone: OpenZone,
    name: str,
    description: str,
    *,
    subtype: str | None = None,
    entity_id: str | None = None,
    tags: Sequence[str] = (),
    sources: Sequence[str] = (),
    refresh: RefreshTrigger | None = None,
    every_hours: float | None = None,
) -> MentalModel:
    """Save a report. Erasing an event that a memory in `sources` rests on erases the report too.

    `refresh`: append a page about the entity to the description, and regenerate it at these times.
    Only then may the description be empty.

    Raises:
        InvalidInput: the name or the description is empty; or there is no
            entity to make the page about.
        UnknownId: the zone has no entity `entity_id`, or nothing with one of the ids in `sources`.
    """
    _check_text("name", name, MAX_NAME)
    if refresh is None or description:
        _check_text("description", description, MAX_REPORT)
    _check_labels(tags)
    if refresh is not None and entity_id is None:
        raise InvalidInput("`refresh` needs `entity_id`, the entity that the page is about")
    if entity_id is not None:
        entity_id = unmerged_entity(zone, entity_id)
    receipt = command(
        zone,
        CreateMentalModel(
            source_id=random_id("mental-model"),
            name=name,
            description=description,
            subtype=subtype,
            entity_id=entity_id,
            tags=(*tags, *_source_tags(zone, sources)),
            refresh_trigger=_trigger(refresh, every_hours),
        ),
    )
    if not description and not _read_models(zone, number=receipt.number, all_versions=True):
        raise InvalidInput(
            f"entity_id: there are no facts about {entity_id} to generate a page from; give a "
            "description or, if an earlier version of recollect processed this zone, run recollect "
            "rebuild --level derive"
        )
    return _model_in(zone, receipt)


def _trigger(refresh: RefreshTrigger | None, every_hours: float | None) -> dict[str, Any] | None:
    """Return the trigger as the event stores it."""
    if every_hours is not None and refresh != "schedule":
        raise InvalidInput(
            "every_hours needs `refresh` 'schedule'; set it, or leave every_hours out"
        )
    if refresh is None:
        return None
    if refresh == "after_changes":
        return {"refresh_after_consolidation": True}
    if refresh == "schedule":
        return {"every_hours": 24.0 if every_hours is None else every_hours}
    return {"by_hand": True}


def _trigger_name(stored: str | None) -> MentalModelTrigger | None:
    """Return the name of a stored trigger."""
    if stored is None:
        return None
    trigger = msgspec.json.decode(stored, type=dict[str, Any])
    if trigger.get("profile"):
        return "profile"
    if "every_hours" in trigger:
        return "schedule"
    return "after_changes" if trigger.get("refresh_after_consolidation") else "by_hand"


def update(
    zone: OpenZone,
    model_id: str,
    description: str,
    *,
    sources: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
) -> MentalModel:
    """Save a new version of a report; `sources` or `tags` None: keep the previous ones.

    Raises:
        InvalidInput: the zone has no mental model with this id, or the text is empty.
        UnknownId: nothing in the zone has one of the ids in `sources`.
    """
    _check_text("description", description, MAX_REPORT)
    _check_labels(tags or ())
    before = mental_model(zone, model_id)
    of_sources = [tag for tag in before.tags if tag.startswith(SOURCE_TAG_PREFIX)]
    labels = [tag for tag in before.tags if not tag.startswith(SOURCE_TAG_PREFIX)]
    if sources is not None:
        of_sources = _source_tags(zone, sources)
    if tags is not None:
        labels = [tag for tag in tags if not tag.startswith(SOURCE_TAG_PREFIX)]
    return _model_in(
        zone,
        command(
            zone,
            UpdateMentalModel(
                source_id=random_id(f"mental-model:{before.id}"),
                model_id=before.id,
                description=description,
                tags=None if sources is None and tags is None else (*labels, *of_sources),
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
    tags: set[str] = set()
    with zone.files() as files, files.read_transaction():
        for id_ in ids:
            behind = events_behind(files, id_)
            if not behind:
                raise UnknownId(f"zone {zone.name} holds nothing with the id {id_!r}")
            tags |= behind
    return sorted(f"{SOURCE_TAG_PREFIX}{event}" for event in tags)


def events_behind(files: ZoneFiles, id_: str) -> set[str]:
    """Return the ids of the events that a memory rests on; an event rests on itself.

    For a mental model, these are the events of the facts that it cites and the events that its tags
    name, or, without any, its own id.
    """
    connection = files.memory.connection
    event = event_queries.first_event_with_id(files.events.connection, id_)
    events = {*memory.events_of(connection, id_), *([] if event is None else [event])}
    for model, *_ in memory.mental_models(connection, ids=[id_], all_versions=True):
        tags = msgspec.json.decode(model.tags, type=list[str])
        sources = {
            tag.removeprefix(SOURCE_TAG_PREFIX) for tag in tags if tag.startswith(SOURCE_TAG_PREFIX)
        }
        events |= sources.union(_events_of_page(files, model.id)) or {model.id}
    return events


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
        models = memory.mental_models(
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
            is_stale=current and is_stale,
            last_refreshed=format_time(refreshed_at),
            refresh=_trigger_name(model.refresh_trigger),
            access_count=access_count,
        )
        for model, current, is_stale, refreshed_at, access_count in models
    ]


def _model_in(zone: OpenZone, receipt: Receipt) -> MentalModel:
    for found in _read_models(zone, number=receipt.number, all_versions=True):
        return found
    raise DecisionTimeout(
        f"zone {zone.name}: record {receipt.number}, which stores the mental model, has not been "
        "processed yet; see `status` and `dead_letters`"
    )


def _check_text(field: str, text: str, limit: int) -> None:
    if not text.strip():
        raise InvalidInput(f"{field} is empty; give a non-empty string")
    if len(text) > limit:
        raise InvalidInput(f"{field} has {len(text):,} characters; give at most {limit:,}")


def _check_labels(tags: Sequence[str]) -> None:
    if len(tags) > MAX_LABELS:
        raise InvalidInput(f"tags has {len(tags):,} labels; give at most {MAX_LABELS}")
