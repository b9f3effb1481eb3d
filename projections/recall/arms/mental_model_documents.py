"""Mental models as documents."""

from __future__ import annotations

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import observation_queries
from recollect.projections.recall.arms.documents import Document
from recollect.projections.recall.question.parsed_question import ParsedQuestion


def mental_models(question: ParsedQuestion, files: ZoneFiles) -> list[Document]:
    """Return the newest versions that pass the filters.

    A mental model is written by a command, so it has no platform and cites no event.
    """
    query, entity_ids = question.query, question.entity_ids
    if query.platform is not None or query.allowed_numbers is not None:
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
        for report in observation_queries.mental_models(files.memory.connection, query.until)
        if (entity_ids is None or report.entity_id in entity_ids)
        and (query.time_after is None or report.updated_at > query.time_after)
        and (query.time_before is None or report.updated_at < query.time_before)
    ]
