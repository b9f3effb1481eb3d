"""Chains: where current facts lead from a name in the question, one slot after the other.

"Where was the spouse of the author of Emma born?" names Emma alone. The walk goes forward, from a
name to the value of each of its slots and on from there, and scores each way by how much of the
question its relations say; the question is not taken apart. Only slots are followed: words that
stand near one another in a chat lead everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.encoding import TextEncoder, is_encoded
from recollect.projections.recall.question.entity_names import NamedEntity, entity_ids, resolved
from recollect.projections.recall.question.slots.readable_claims import readable_claims
from recollect.schemas.attributes import is_single_valued
from recollect.schemas.names import normalise_name
from recollect.text.stopwords import STOP_WORDS

#: The longest chain, in facts.
DEPTH = 4
#: So many of the best ways of each length are followed.
BEAM = 16
#: A subject with more slots leads everywhere, and is not followed.
MAX_SLOTS = 64
#: What a chain scores at least, and by how much more than what one fact says.
FLOOR = 1.0
MARGIN = 0.1
#: Without an encoder: the least share of the question's words that a chain says.
FLOOR_OF_WORDS = 0.25

_MASK = "…"
#: How typed attributes are put into words.
_IN_WORDS = {
    "home": "lives in home",
    "employer": "works for employer company",
    "role": "works as job",
    "partner": "partner spouse married to",
}
_SAYS_NOTHING = frozenset({"is", "the", "a", "an"})
_WORD = re.compile(r"\S+")
_MAX_WORDS = 64
_LONGEST_NAME = 10
# Of the relations of a zone: a few hundred KB.
_MAX_RELATIONS = 1_024

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


class Way(NamedTuple):
    """Facts that lead on from one another, by id, and what they say of how: their relations.

    `seen`: the subjects on it; `end`: the normalised value of its last fact.
    """

    facts: tuple[str, ...]
    relations: tuple[str, ...]
    seen: frozenset[str]
    end: str


class _Starts(NamedTuple):
    """The subjects that a question names, and its words without those names."""

    subjects: frozenset[str]
    masked: str


def chain(
    text: str,
    named: Sequence[NamedEntity],
    encoder: TextEncoder | None,
    index: Index,
    files: ZoneFiles,
    *,
    upto: int,
    allowed: Mask,
) -> tuple[str, ...]:
    """Return the facts that lead from a name in a question to its answer; none where one does.

    `upto`: the time at which they are to hold (unix ms); `allowed`: the turns that may be answered.
    """
    if not index.row_kinds.claims:
        return ()
    starts = _starts(text, named, files)
    walk = _Walk(index, files, upto, allowed)
    first = [
        way for subject in sorted(starts.subjects) for way in walk.on(Way((), (), _none, subject))
    ]
    # Most questions end here: nothing leads anywhere, and nothing needs to be encoded.
    if not any(walk.on(way) for way in first):
        return ()
    question = _Asked(starts.masked, encoder, index, files)
    best: tuple[float, Way] | None = None
    by_one = -np.inf
    ways = first
    for depth in range(1, DEPTH + 1):
        scored = sorted(
            ((question.score(way.relations), way) for way in ways),
            key=lambda item: (-item[0], item[1].facts),
        )
        if depth == 1 and scored:
            by_one = scored[0][0]
        if scored and (best is None or scored[0][0] > best[0]):
            best = scored[0]
        ways = [onward for _, way in scored[:BEAM] for onward in walk.on(way)]
    if best is None or len(best[1].facts) < 2:
        return ()
    score, way = best
    return way.facts if score >= question.floor and score >= by_one + MARGIN else ()


_none: frozenset[str] = frozenset()


class _Walk:
    """Goes from what a way has come to, to the values of its slots; each place is read once."""

    def __init__(self, index: Index, files: ZoneFiles, upto: int, allowed: Mask) -> None:
        self._index = index
        self._files = files
        self._upto = upto
        self._allowed = allowed
        self._slots: dict[str, list[memory.CurrentClaim]] = {}

    def on(self, way: Way) -> list[Way]:
        """Return the ways that go on from one by a fact."""
        if way.end in way.seen:
            return []
        seen = way.seen | {way.end}
        return [
            Way(
                (*way.facts, claim.fact_id),
                (*way.relations, in_words(claim.attribute)),
                seen,
                normalise_name(claim.value),
            )
            for claim in self._of(way.end)
        ]

    def _of(self, subject: str) -> list[memory.CurrentClaim]:
        if subject not in self._slots:
            identity = self._files.identity.connection
            known = resolved(identity, [subject]).get(subject, ())
            ids = entity_ids(identity, known) if len(known) == 1 else set()
            found = readable_claims(
                {subject, *ids}, self._index, self._files, upto=self._upto, allowed=self._allowed
            )
            readable = [claim for _, claim in found if is_single_valued(claim.attribute)]
            self._slots[subject] = readable if len(readable) <= MAX_SLOTS else []
        return self._slots[subject]


class _Asked:
    """What a question asks, apart from its names, to be compared with relations."""

    def __init__(
        self, masked: str, encoder: TextEncoder | None, index: Index, files: ZoneFiles
    ) -> None:
        self._index = index
        self._terms = frozenset(index.tokeniser.terms(masked))
        reads = encoder is not None and is_encoded(encoder, files.embeddings)
        self._encoder = encoder if reads and masked else None
        self.floor = FLOOR if self._encoder is not None else FLOOR_OF_WORDS
        self._near: dict[str, tuple[Floats, Floats]] = {}
        if self._encoder is not None:
            asked = self._encoder.encode_query_tokens(masked)
            telling = [
                row
                for row, (start, end) in enumerate(asked.offsets.tolist())
                if masked[start:end].lower() not in STOP_WORDS and masked[start:end].isalnum()
            ]
            self._whole = asked.pooled
            self._words = _units(asked.vectors[telling])

    def score(self, relations: Sequence[str]) -> float:
        """Return how well relations, in order, say what is asked.

        Once and a half the cosine of the question and their mean, the mean cosine of each word of
        the question and its nearest in them, and a quarter of the share of its words that they say.
        """
        said = {term for one in relations for term in self._index.tokeniser.terms(one)}
        share = len(self._terms & said) / max(1, len(self._terms))
        if self._encoder is None:
            return share
        read = [self._relation(one) for one in relations]
        together = _units(np.sum([pooled for pooled, _ in read], axis=0)[None])[0]
        nearest = np.max([near for _, near in read], axis=0)
        words = float(nearest.mean()) if len(nearest) else 0.0
        return round(1.5 * float(self._whole @ together) + words + 0.25 * share, 4)

    def _relation(self, words: str) -> tuple[Floats, Floats]:
        """Return the vector of a relation, and how near its words come to each of the question."""
        if words not in self._near:
            assert self._encoder is not None
            relations = self._index.relation_vectors
            if words not in relations:
                if len(relations) >= _MAX_RELATIONS:
                    relations.clear()
                read = self._encoder.encode_query_tokens(words)
                relations[words] = (read.pooled, _units(read.vectors))
            pooled, vectors = relations[words]
            self._near[words] = (pooled, (self._words @ vectors.T).max(axis=1))
        return self._near[words]


def in_words(attribute: str) -> str:
    """Return the words of a slot's relation, without its subject."""
    frame = attribute.replace(f"{_MASK}'s", "").replace(_MASK, "")
    words = " ".join(word for word in frame.split() if word not in _SAYS_NOTHING)
    return _IN_WORDS.get(attribute, words or attribute)


def _starts(text: str, named: Sequence[NamedEntity], files: ZoneFiles) -> _Starts:
    """Return the longest names in a question that have slots, and the question without them."""
    words = list(_WORD.finditer(text))[:_MAX_WORDS]
    phrases: dict[tuple[int, int], str] = {}
    for first in range(len(words)):
        for last in range(first, min(first + _LONGEST_NAME, len(words))):
            start, end = words[first].start(), words[last].end()
            phrases[start, end] = normalise_name(text[start:end])
    connection = files.memory.connection
    known = memory.subjects_with_claims(connection, sorted(set(phrases.values()) - STOP_WORDS))
    found = {span: frozenset({name}) for span, name in phrases.items() if name in known}
    for item in named:
        found.setdefault((item.start, item.end), frozenset())
        found[item.start, item.end] |= item.ids
    longest = {
        span: subjects
        for span, subjects in found.items()
        if not any(other != span and _within(span, other) for other in found)
    }
    masked = text
    for start, end in sorted(longest, reverse=True):
        masked = masked[:start] + " " + masked[end:]
    return _Starts(
        frozenset().union(*longest.values()), " ".join(re.sub(r"[^\w\s'’-]", " ", masked).split())
    )


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _units(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return units
