"""Mental models as documents."""

from __future__ import annotations

from projections.files import ZoneFiles
from projections.memory import consolidated
from projections.recall.arms.documents import Document
from projections.recall.question.query import Query


def mental_models(query: Query, wanted_ids: set[str] | None, files: ZoneFiles) -> list[Document]:
    """Return the newest versions that pass the filters.

    `wanted_ids`: only those of an entity under these ids. A mental model is written by a
    command: it has no platform, and no event that could be cited.
    """
    if query.platform is not None:
        return []
    return [
        Document(
            kind="mental_model",
            id=report.id,
            text=f"{report.name}: {report.description}",
            words=f"{report.name} {report.description}",
            as_of=report.updated_at,
            is_stale=report.is_stale,
            entities=frozenset([report.entity_id] if report.entity_id else ()),
        )
        for report in consolidated.mental_models(files.memory.connection, query.until)
        if (wanted_ids is None or report.entity_id in wanted_ids)
        and (query.time_after is None or report.updated_at > query.time_after)
        and (query.time_before is None or report.updated_at < query.time_before)
    ]
