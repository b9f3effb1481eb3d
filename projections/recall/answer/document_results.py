"""Convert ranked documents to results."""

from __future__ import annotations

import numpy as np

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.answer.fact_days import days_of_facts
from recollect.projections.recall.answer.uncertainty import uncertainties
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.ranking.document_ranking import ScoredDocuments
from recollect.schemas.times import format_time
from recollect.schemas.wire import MemoryRevision, Result, SupportingFact


def document_results(
    found: ScoredDocuments, index: Index, files: ZoneFiles, *, until: int, explain: bool
) -> list[Result]:
    """Return documents as results, best first; an observation with all the facts behind it.

    `until`: the time up to which changes make facts uncertain (unix ms).
    """
    if not found.documents:
        return []
    fact_ids = sorted({fact.id for item in found.documents for fact in item.facts})
    days = days_of_facts(files.memory.connection, fact_ids)
    cited = {fact for item in found.documents for fact in item.rests_on}
    doubts = uncertainties(files, sorted(cited.union(fact_ids)), until)
    canonical = index.canonical_ids.of(id_ for item in found.documents for id_ in item.entities)
    return [
        Result(
            id=item.id,
            type=item.kind,
            text=item.text,
            as_of=format_time(item.as_of),
            score=round(min(1.0, float(found.scores[place])), 6),
            is_stale=item.is_stale,
            entity_ids=sorted({canonical[id_] for id_ in item.entities if id_ in canonical}),
            platform=None,
            sender_name=None,
            source_event_ids=list(dict.fromkeys(item.sources)),
            arms=found.ranks(place) if explain else None,
            facts=[
                SupportingFact(
                    id=fact.id,
                    text=fact.text,
                    as_of=format_time(fact.at),
                    source_event_id=fact.source,
                    when=days.get(fact.id),
                    uncertain=doubts.get(fact.id),
                )
                for fact in item.facts
            ],
            supersedes=[
                MemoryRevision(id=id_, text=text, at=format_time(at))
                for id_, text, at in item.supersedes
            ],
            uncertain=next((doubts[fact] for fact in item.rests_on if fact in doubts), None),
        )
        for place in np.argsort(-found.scores, kind="stable").tolist()
        for item in (found.documents[place],)
    ]
