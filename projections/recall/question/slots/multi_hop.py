"""Multi-hop questions: follow current facts from a name in the question, slot by slot.

"Where was the spouse of the author of Emma born?" names only Emma. A beam search walks from a name
to the values of its slots and on from there. It scores each path by how well its relations cover
the question, without decomposing the question. Only slots are followed, since mere co-occurrence in
a chat links everything with everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.facts_for_recall import Claim, subjects_with_claims
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.encoding import TextEncoder, is_encoded
from recollect.projections.recall.question.entity_names import NamedEntity, Names
from recollect.projections.recall.question.slots.readable_claims import readable_claims
from recollect.schemas.attributes import is_single_valued
from recollect.schemas.names import normalise_name
from recollect.text.stopwords import STOP_WORDS

#: The maximum length of a path, in facts.
MAX_HOPS = 4
#: The number of best paths of each length that are extended.
BEAM_WIDTH = 16
#: Subjects with more slots are not followed, since they lead everywhere.
MAX_SLOTS = 64
#: The minimum score of a path, and its minimum margin over the best single fact.
MIN_SCORE = 1.0
MARGIN = 0.1
#: The minimum score without an encoder: the share of the question's terms that a path covers.
MIN_TERM_SHARE = 0.25

_MASK = "…"
#: The words of typed attributes.
_ATTRIBUTE_WORDS = {
    "home": "lives in home",
    "employer": "works for employer company",
    "role": "works as job",
    "partner": "partner spouse married to",
}
_UNINFORMATIVE = frozenset({"is", "the", "a", "an"})
_WORD = re.compile(r"\S+")
_MAX_WORDS = 64
_MAX_NAME_WORDS = 10
# The number of relations whose vectors are cached per zone, in a few hundred KB.
_MAX_RELATIONS = 1_024

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


class Path(NamedTuple):
    """A path of facts, by id, with the relation of each fact in words.

    `visited`: the subjects on the path; `end`: the normalised value of its last fact.
    """

    facts: tuple[str, ...]
    relations: tuple[str, ...]
    visited: frozenset[str]
    end: str


class _StartingPoints(NamedTuple):
    """The subjects that a question names, and its text without those names."""

    subjects: frozenset[str]
    masked: str


def find_chain(
    text: str,
    named: Sequence[NamedEntity],
    names: Names,
    encoder: TextEncoder | None,
    index: Index,
    files: ZoneFiles,
    *,
    valid_at: int,
    allowed: Mask,
) -> tuple[str, ...]:
    """Return the facts that lead from a name in a question to its answer.

    None are returned if a single fact answers the question.

    `valid_at`: the time at which they must be valid (unix ms); `allowed`: the turns that may be
    results.
    """
    if not index.row_kinds.claims:
        return ()
    starts = _starting_points(text, named, files)
    walk = _Walk(names, index, valid_at, allowed)
    paths = walk.extend([Path((), (), frozenset(), end) for end in sorted(starts.subjects)])
    # Most questions have no path of two facts. They end here, before anything is encoded.
    if not walk.extend(paths):
        return ()
    question = _MaskedQuestion(starts.masked, encoder, index, files)
    best: tuple[float, Path] | None = None
    best_single = -np.inf
    for hops in range(1, MAX_HOPS + 1):
        scored = sorted(
            ((question.score(path.relations), path) for path in paths),
            key=lambda item: (-item[0], item[1].facts),
        )
        if hops == 1 and scored:
            best_single = scored[0][0]
        if scored and (best is None or scored[0][0] > best[0]):
            best = scored[0]
        paths = walk.extend([path for _, path in scored[:BEAM_WIDTH]])
    if best is None or len(best[1].facts) < 2:
        return ()
    score, path = best
    is_good = score >= question.min_score and score >= best_single + MARGIN
    return path.facts if is_good else ()


class _Walk:
    """Extends paths by the slots of their ends; the slots of each subject are read once."""

    def __init__(self, names: Names, index: Index, valid_at: int, allowed: Mask) -> None:
        self._names = names
        self._index = index
        self._valid_at = valid_at
        self._allowed = allowed
        self._slots: dict[str, list[Claim]] = {}

    def extend(self, paths: Sequence[Path]) -> list[Path]:
        """Return the paths that are longer by one fact."""
        open_paths = [path for path in paths if path.end not in path.visited]
        self._read_slots(path.end for path in open_paths)
        return [
            Path(
                (*path.facts, claim.fact_id),
                (*path.relations, verbalise(claim.attribute)),
                path.visited | {path.end},
                normalise_name(claim.value),
            )
            for path in open_paths
            for claim in self._slots[path.end]
        ]

    def _read_slots(self, subjects: Iterable[str]) -> None:
        """Read the slots of subjects, all at once."""
        new = [subject for subject in dict.fromkeys(subjects) if subject not in self._slots]
        ids = self._names.ids_of(new)
        known = {subject: {subject, *ids.get(subject, ())} for subject in new}
        self._index.claims_about.of(name for names in known.values() for name in names)
        for subject, names in known.items():
            claims = readable_claims(
                names, self._index, valid_at=self._valid_at, allowed=self._allowed
            )
            slots = [claim for _, claim in claims if is_single_valued(claim.attribute)]
            self._slots[subject] = slots if len(slots) <= MAX_SLOTS else []


class _MaskedQuestion:
    """A question without its names, to be compared with relations."""

    def __init__(
        self, masked: str, encoder: TextEncoder | None, index: Index, files: ZoneFiles
    ) -> None:
        self._index = index
        self._terms = frozenset(index.tokeniser.query_terms(masked))
        is_usable = encoder is not None and is_encoded(encoder, files.embeddings)
        self._encoder = encoder if is_usable and masked else None
        self.min_score = MIN_SCORE if self._encoder is not None else MIN_TERM_SHARE
        self._relations: dict[str, tuple[Floats, Floats]] = {}
        if self._encoder is not None:
            encoded = self._encoder.encode_query_tokens(masked)
            content_rows = [
                row
                for row, (start, end) in enumerate(encoded.offsets.tolist())
                if masked[start:end].lower() not in STOP_WORDS and masked[start:end].isalnum()
            ]
            self._pooled = encoded.pooled
            self._tokens = _unit_vectors(encoded.vectors[content_rows])

    def score(self, relations: Sequence[str]) -> float:
        """Return how well a path's relations cover the question.

        The score is 1.5 times the cosine of the question and the mean of the relations, plus the
        mean over the question's content tokens of the largest cosine to a token of the relations,
        plus 0.25 times the share of the question's terms that the relations have. Without an
        encoder, it is that share alone.
        """
        terms = {term for words in relations for term in self._index.tokeniser.query_terms(words)}
        share = len(self._terms & terms) / max(1, len(self._terms))
        if self._encoder is None:
            return share
        encoded = [self._relation(words) for words in relations]
        mean = _unit_vectors(np.sum([pooled for pooled, _ in encoded], axis=0)[None])[0]
        cosines = np.max([token_cosines for _, token_cosines in encoded], axis=0)
        coverage = float(cosines.mean()) if len(cosines) else 0.0
        return round(1.5 * float(self._pooled @ mean) + coverage + 0.25 * share, 4)

    def _relation(self, words: str) -> tuple[Floats, Floats]:
        """Return a relation's vector, and the largest cosine of each question token to it."""
        if words not in self._relations:
            assert self._encoder is not None
            cached = self._index.relation_vectors
            if words not in cached:
                if len(cached) >= _MAX_RELATIONS:
                    cached.clear()
                encoded = self._encoder.encode_query_tokens(words)
                cached[words] = (encoded.pooled, _unit_vectors(encoded.vectors))
            pooled, vectors = cached[words]
            self._relations[words] = (pooled, (self._tokens @ vectors.T).max(axis=1))
        return self._relations[words]


def verbalise(attribute: str) -> str:
    """Return the relation of an attribute in words, without its subject."""
    frame = attribute.replace(f"{_MASK}'s", "").replace(_MASK, "")
    words = " ".join(word for word in frame.split() if word not in _UNINFORMATIVE)
    return _ATTRIBUTE_WORDS.get(attribute, words or attribute)


def _starting_points(text: str, named: Sequence[NamedEntity], files: ZoneFiles) -> _StartingPoints:
    """Return the longest names in a question that have slots, and the question without them."""
    words = list(_WORD.finditer(text))[:_MAX_WORDS]
    phrases: dict[tuple[int, int], str] = {}
    for first in range(len(words)):
        for last in range(first, min(first + _MAX_NAME_WORDS, len(words))):
            start, end = words[first].start(), words[last].end()
            phrases[start, end] = normalise_name(text[start:end])
    connection = files.memory.connection
    subjects = subjects_with_claims(connection, sorted(set(phrases.values()) - STOP_WORDS))
    names_by_span = {span: frozenset({name}) for span, name in phrases.items() if name in subjects}
    for item in named:
        names_by_span.setdefault((item.start, item.end), frozenset())
        names_by_span[item.start, item.end] |= item.ids
    longest = {
        span: names
        for span, names in names_by_span.items()
        if not any(other != span and _is_within(span, other) for other in names_by_span)
    }
    masked = text
    for start, end in sorted(longest, reverse=True):
        masked = masked[:start] + " " + masked[end:]
    return _StartingPoints(
        frozenset().union(*longest.values()), " ".join(re.sub(r"[^\w\s'’-]", " ", masked).split())
    )


def _is_within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _unit_vectors(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return units
