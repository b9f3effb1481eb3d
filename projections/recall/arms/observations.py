"""Observations as documents, ranked before the facts that support them.

An observation is returned with its newest facts, which then are no separate results, and with the
version that it replaced.
"""

from __future__ import annotations

from collections.abc import Iterable

from recollect.projections.embeddings.canonical_vectors import to_int8
from recollect.projections.events import turns_for_recall as events
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.memory import observation_queries
from recollect.projections.recall.arms.documents import Dated, Document
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.sqlite import rows

#: Maximum supporting facts returned with an observation.
MAX_FACTS = 5
# The number of observations found by their vectors: ten times as many as lead an answer, since
# filters drop some.
_MAX_NEAREST = 50


def observations(
    question: ParsedQuestion, fact_ids: Iterable[str], index: Index, files: ZoneFiles
) -> list[Document]:
    """Return the newest versions of observations whose facts are readable and pass the filters.

    Candidates are the observations supported by one of `fact_ids`, and those with the nearest
    vectors. An observation that rests on an erased fact is hidden until it is derived again.
    """
    connection = files.memory.connection
    if not index.row_kinds.observations:
        return []
    ids = {
        *observation_queries.observations_on(connection, list(fact_ids)),
        *_nearest(question, files),
    }
    found = observation_queries.observations(connection, sorted(ids), question.query.until)
    previous_ids = [item.before[0] for item in found if item.before is not None]
    support = observation_queries.supporting_facts(
        connection, [*(item.id for item in found), *previous_ids]
    )
    place_of = index.facts.places_of(
        sorted({id_ for facts in support.values() for id_, _, _ in facts})
    )
    readable = {
        run: facts for run, facts in support.items() if all(id_ in place_of for id_, _, _ in facts)
    }
    documents = []
    for item in found:
        supporting = readable.get(item.id, ())
        facts = [fact for fact in supporting if question.allowed[place_of[fact[0]]]]
        # The observation's text may reveal any of its supporting facts.
        if question.query.allowed_numbers is not None and len(facts) < len(supporting):
            continue
        if facts:
            previous = []
            if item.before is not None and item.before[0] in readable:
                previous = [(*item.before, item.created_at)]
            documents.append(_document(item, facts[:MAX_FACTS], previous, index, files))
    return documents


def _nearest(question: ParsedQuestion, files: ZoneFiles) -> list[str]:
    """Return the ids of the observations whose vectors are nearest to that of the question."""
    if question.vector is None:
        return []
    found = rows(
        files.embeddings.connection,
        "SELECT target_id FROM vec_embeddings "
        "WHERE embedding MATCH vec_int8(?) AND target_type = 'observation' AND k = ? "
        "ORDER BY distance",
        (to_int8(question.vector[None])[0].tobytes(), _MAX_NEAREST),
    )
    return [str(id_) for (id_,) in found]


def _document(
    item: observation_queries.ObservationVersion,
    facts: list[Dated],
    previous: list[Dated],
    index: Index,
    files: ZoneFiles,
) -> Document:
    ids = [id_ for id_, _, _ in facts]
    place_of = index.facts.places_of(ids)
    turns = [index.turns.ids[place_of[id_]] for id_ in ids]
    sources = events.source_ids(files.events.connection, turns)
    linked = memory.entities_of_facts(files.memory.connection, ids)
    return Document(
        kind="observation",
        id=item.id,
        text=item.text,
        words=item.text,
        as_of=facts[0][2],
        is_stale=item.is_stale,
        entities=frozenset(entity for of_fact in linked.values() for entity in of_fact),
        sources=[sources[turn] for turn in turns],
        facts=facts,
        supersedes=previous,
    )
