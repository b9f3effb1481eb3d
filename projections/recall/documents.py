"""What is recalled beside turns: observations, mental models and entities, as documents.

The arms that can read them say how well each answers, and the profile weighs them as it weighs
turns. There are few of them, so every one is read. What they share with a question is measured
by itself (the share of its words by idf, the cosine of its vector), not against one another: one
document alone need not answer anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.recall.arms import Asked
from projections.recall.fusion import weighted
from projections.recall.index import Index
from projections.recall.profiles import READING, Profile
from projections.recall.types import Bundled, Change, Result
from projections.recall.vectors import vectors_of
from projections.recall.words import Tokeniser
from schemas.times import format_time

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Kind = Literal["observation", "mental_model", "entity"]


class Document(NamedTuple):
    """Something other than a turn that can be recalled.

    `words` are looked for, `text` is shown. `entities`: the ids, as they were linked, of those it
    is about. `sources` are the source's own ids of events that it cites.
    """

    kind: Kind
    id: str
    text: str
    words: str
    as_of: int
    is_stale: bool
    entities: frozenset[str]
    sources: Sequence[str] = ()
    facts: Sequence[Bundled] = ()
    supersedes: Sequence[Change] = ()


class Scored(NamedTuple):
    """Documents that an arm found, their scores by all together, and what each arm says."""

    documents: list[Document]
    scores: Floats
    arms: dict[str, Floats]

    def ranks(self, place: int) -> dict[str, int]:
        """Return the rank of a document in every arm that found it."""
        return {
            name: int((scores > scores[place]).sum()) + 1
            for name, scores in self.arms.items()
            if scores[place] > 0
        }


def scored(
    documents: Sequence[Document],
    asked: Asked,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
    tokeniser: Tokeniser,
) -> Scored:
    """Return the documents that share words, meaning or a named entity with a question."""
    if not documents:
        return Scored([], np.zeros(0, np.float32), {})
    arms = {"keyword": _keyword(documents, asked, index, tokeniser)}
    unread: dict[str, Mask] = {}
    if asked.vector is not None:
        vectors = np.zeros((len(documents), files.embeddings.dimension), np.float32)
        for kind in ("observation", "mental_model"):
            places = [place for place, item in enumerate(documents) if item.kind == kind]
            if places:
                ids = [documents[place].id for place in places]
                vectors[places] = vectors_of(files.embeddings, kind, ids)
        arms["semantic"] = np.maximum(vectors @ asked.vector, 0)
        unread["semantic"] = np.logical_not(vectors.any(axis=1))
    if asked.named:
        named = {id_ for item in asked.named for id_ in item.ids}
        about = [bool(named & item.entities) for item in documents]
        arms["entity"] = np.array(about, np.float32)
    scores = weighted(arms, profile.weights, READING, unread)
    found = np.flatnonzero(np.max([*arms.values()], axis=0) > 0)
    return Scored(
        [documents[place] for place in found.tolist()],
        scores[found],
        {name: said[found] for name, said in arms.items()},
    )


def results(found: Scored, index: Index, *, explain: bool) -> list[Result]:
    """Return what is answered of documents, best first."""
    if not found.documents:
        return []
    stands = index.standing.of(id_ for item in found.documents for id_ in item.entities)
    return [
        Result(
            id=item.id,
            type=item.kind,
            text=item.text,
            as_of=format_time(item.as_of),
            score=round(min(1.0, float(found.scores[place])), 6),
            is_stale=item.is_stale,
            entity_ids=sorted({stands[id_] for id_ in item.entities if id_ in stands}),
            platform=None,
            source_event_ids=list(dict.fromkeys(item.sources)),
            arms=found.ranks(place) if explain else None,
            facts=list(item.facts),
            supersedes=list(item.supersedes),
        )
        for place in np.argsort(-found.scores, kind="stable").tolist()
        for item in (found.documents[place],)
    ]


def _keyword(
    documents: Sequence[Document], asked: Asked, index: Index, tokeniser: Tokeniser
) -> Floats:
    """Return what share of the question's words each document holds, by their idf."""
    idf = {term: index.turns.idf(term) for term in asked.terms}
    every = sum(idf.values())
    if not every:
        return np.zeros(len(documents), np.float32)
    held = (tokeniser.held(item.words) for item in documents)
    return np.array(
        [sum(idf[term] for term in idf.keys() & own) / every for own in held], np.float32
    )
