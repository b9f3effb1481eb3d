"""Write a zone's memory as a folder of Markdown pages."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from recollect.home.open_zone import OpenZone
from recollect.operations.exporting import memory_pages
from recollect.operations.exporting.memory_pages import PageHead
from recollect.operations.ingestion.ingesting import Show
from recollect.operations.table.derived.model_operations import directives, mental_models
from recollect.operations.table.derived.observation_operations import observations
from recollect.operations.table.derived.timeline_operations import timeline
from recollect.operations.table.memories.entity_operations import entities, facts
from recollect.projections.file_permissions import make_directory, opener
from recollect.schemas.wire import Entity, MentalModel, Page

Entry = TypeVar("Entry")

_PAGE_SIZE = 500
_ENTITIES, _MODELS = "entities", "models"


class _Folder:
    """A folder being written; `heads` are the heads of its pages so far."""

    def __init__(self, directory: Path, zone: str, made_by: str | None) -> None:
        """`made_by`: who makes a bundle of the Open Knowledge Format; None for plain Markdown."""
        self.heads: list[PageHead] = []
        self._directory = directory
        self._zone = zone
        self._made_by = made_by
        make_directory(directory)

    def add(self, head: PageHead, body: Iterable[str]) -> None:
        """Write a page."""
        lines = body
        if self._made_by is not None:
            lines = chain(memory_pages.head_lines(head, self._made_by, self._zone), body)
        self._write(head.path, lines)
        self.heads.append(head)

    def add_index(self) -> None:
        """Write the index of all pages."""
        version = [] if self._made_by is None else ["---", _OKF_VERSION_LINE, "---", ""]
        body = memory_pages.index_lines(self._zone, self.heads)
        self._write(memory_pages.INDEX, chain(version, body))

    def _write(self, path: str, lines: Iterable[str]) -> None:
        target = self._directory / path
        make_directory(target.parent)
        with open(target, "w", encoding="utf-8", newline="\n", opener=opener) as file:
            for line in lines:
                file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())


_OKF_VERSION_LINE = f'okf_version: "{memory_pages.OKF_VERSION}"'


def write_pages(zone: OpenZone, directory: Path, *, as_okf: bool, show: Show) -> int:
    """Write the pages of a zone to a new folder; return how many there are.

    A page for each entity with facts, observations or a mental model, for each other mental model,
    the standing instructions, a timeline, and an index.
    """
    zone.decide()
    folder = _Folder(directory, zone.name, f"recollect/{_version()}" if as_okf else None)
    models: dict[str | None, list[MentalModel]] = defaultdict(list)
    for model in _all(partial(mental_models, zone)):
        models[model.entity_id].append(model)
    known = _all(partial(entities, zone))
    with show("writing pages", None) as advance:
        for entity in sorted(known, key=lambda one: (one.name.casefold(), one.id)):
            _add_entity(zone, folder, entity, models.pop(entity.id, []))
            advance(1)
    for model in sorted(chain(*models.values()), key=lambda one: (one.name.casefold(), one.id)):
        path = f"{_MODELS}/{memory_pages.page_name(model.name, model.id)}"
        first = next(iter(model.description.splitlines()), "")
        head = PageHead(
            path=path,
            type="Mental model",
            title=model.name,
            description=first,
            at=model.updated_at,
            tags=model.tags,
        )
        folder.add(head, memory_pages.model_lines(model))
    standing = list(_all(partial(directives, zone)))
    if standing:
        head = PageHead(
            path=memory_pages.DIRECTIVES,
            type="Directives",
            title="Directives",
            description="Standing instructions of the user",
        )
        folder.add(head, memory_pages.directive_lines(standing))
    head = PageHead(
        path=memory_pages.TIMELINE,
        type="Timeline",
        title="Timeline",
        description="What happened, by day",
    )
    days = _all(partial(timeline, zone))
    folder.add(head, memory_pages.timeline_lines(days))
    folder.add_index()
    return len(folder.heads) + 1


def _add_entity(zone: OpenZone, folder: _Folder, entity: Entity, models: list[MentalModel]) -> None:
    about = list(_all(partial(facts, zone, entity=entity.id)))
    observed = list(_all(partial(observations, zone, entity=entity.id)))
    if not (about or observed or models):
        return
    path = f"{_ENTITIES}/{memory_pages.page_name(entity.name, entity.id)}"
    head = memory_pages.entity_head(entity, about, path)
    folder.add(head, memory_pages.entity_lines(entity, about, observed, models))


def _all(page: Callable[..., Page[Entry]]) -> Iterator[Entry]:
    """Yield the entries of all pages of a list."""
    cursor: Any = None
    while True:
        found = page(cursor=cursor, limit=_PAGE_SIZE)
        yield from found
        cursor = found.cursor
        if cursor is None:
            return


def _version() -> str:
    from importlib.metadata import version

    return version("recollect")
