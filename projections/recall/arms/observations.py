"""Observation-first (B2): an observation comes before the facts that it rests on.

The observations that answer a question come first, each with the newest of its facts, and a
fact that comes with one is no result of its own. The observation that it replaced is shown with
it (B6).
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

#: Facts that come with one: enough to see what it rests on, and since when.
MAX_FACTS = 5
# So many by their vectors: ten times as many as can come first, since filters drop some.
_NEAREST = 50


def observations(
    question: ParsedQuestion, near: Iterable[str], index: Index, files: ZoneFiles
) -> list[Document]:
    """Return the newest versions of observations whose facts can be read and pass the filters.

    Looked at are those that rest on one of the facts `near` the question, and those whose own
    vectors are nearest. One that rests on a fact that is being forgotten is left out until it
    was derived again.
    """
    connection = files.memory.connection
    if not index.row_kinds.observations:
        return []
    ids = {*observation_queries.observations_on(connection, list(near)), *_nearest(question, files)}
    found = observation_queries.observations(connection, sorted(ids), question.query.until)
    before_them = [item.before[0] for item in found if item.before is not None]
    support = observation_queries.supporting_facts(
        connection, [*(item.id for item in found), *before_them]
    )
    place_of = index.facts.places_of(
        sorted({id_ for facts in support.values() for id_, _, _ in facts})
    )
    readable = {
        run: facts for run, facts in support.items() if all(id_ in place_of for id_, _, _ in facts)
    }
    documents = []
    for item in found:
        rests_on = readable.get(item.id, ())
        facts = [fact for fact in rests_on if question.allowed[place_of[fact[0]]]]
        # Its text has the words of all of them.
        if question.query.among is not None and len(facts) < len(rests_on):
            continue
        if facts:
            before = []
            if item.before is not None and item.before[0] in readable:
                before = [(*item.before, item.created_at)]
            documents.append(_document(item, facts[:MAX_FACTS], before, index, files))
    return documents


def _nearest(question: ParsedQuestion, files: ZoneFiles) -> list[str]:
    """Return the ids of the observations whose vectors are nearest to the question's."""
    if question.vector is None:
        return []
    found = rows(
        files.embeddings.connection,
        "SELECT target_id FROM vec_embeddings "
        "WHERE embedding MATCH vec_int8(?) AND target_type = 'observation' AND k = ? "
        "ORDER BY distance",
        (to_int8(question.vector[None])[0].tobytes(), _NEAREST),
    )
    return [str(id_) for (id_,) in found]


def _document(
    item: observation_queries.ObservationVersion,
    facts: list[Dated],
    before: list[Dated],
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
        entities=frozenset(entity for some in linked.values() for entity in some),
        sources=[sources[turn] for turn in turns],
        facts=facts,
        supersedes=before,
    )
