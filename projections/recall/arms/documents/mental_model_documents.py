"""Mental models as documents."""

from __future__ import annotations

from recollect.projections.events import turns_for_recall
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries, observation_queries
from recollect.projections.memory.observation_queries import MentalModelVersion
from recollect.projections.recall.arms.documents.scored_documents import Document
from recollect.projections.recall.question.broad_needs import is_broad
from recollect.projections.recall.question.parsed_question import ParsedQuestion


def mental_models(question: ParsedQuestion, files: ZoneFiles) -> list[Document]:
    """Return the newest versions that pass the filters.

    A mental model is written by a command, so it has no platform. A page that was made from facts
    repeats them, so it answers only a question about its entity as a whole.
    """
    query, entity_ids = question.query, question.entity_ids
    if query.platform is not None or query.allowed_numbers is not None:
        return []
    is_alone = tuple(query.scope) == ("mental_models",)
    named = {id_ for name in question.named for id_ in name.ids}
    connection = files.memory.connection
    reports = [
        report
        for report in observation_queries.mental_models(
            connection, query.until, None if is_alone else named
        )
        if (entity_ids is None or report.entity_id in entity_ids)
        and (query.time_after is None or report.updated_at > query.time_after)
        and (query.time_before is None or report.updated_at < query.time_before)
        and (not report.has_page or is_alone or _is_about(report, question))
    ]
    if not reports:
        return []
    stale = observation_queries.stale_mental_models(connection, [report.id for report in reports])
    return [_document(report, question, files, is_stale=report.id in stale) for report in reports]


def _is_about(report: MentalModelVersion, question: ParsedQuestion) -> bool:
    """Return whether a question asks about a report's entity in general, not about one topic."""
    named = [name for name in question.named if not name.ids.isdisjoint(report.entities)]
    return is_broad(question.text, [question.text[name.start : name.end] for name in named])


def _document(
    report: MentalModelVersion, question: ParsedQuestion, files: ZoneFiles, *, is_stale: bool
) -> Document:
    words = report.description[: report.note_end] if report.has_page else report.description
    events = memory_queries.events_of_facts(files.memory.connection, report.facts)
    return Document(
        kind="mental_model",
        id=report.id,
        text=f"{report.name}: {report.description}",
        words=f"{report.name} {words}",
        as_of=report.updated_at,
        is_stale=is_stale,
        entities=frozenset([*report.entities, *([report.entity_id] if report.entity_id else [])]),
        sources=list(turns_for_recall.source_ids(files.events.connection, events).values()),
        rests_on=report.facts,
        is_whole=report.has_page and _is_about(report, question),
    )
