"""The arms: each says how well every turn answers the question, from 0 (not found) to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.memory import recalls as memory
from projections.recall.fusion import close_to_top, scaled
from projections.recall.index import Index
from projections.recall.names import Named
from projections.recall.voices import Sender

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# The arms over what agents concluded; a turn is searchable by its words before they have.
_CONCLUDED = frozenset({"statement", "semantic", "sentence"})
# Who is spoken of counts half of who speaks.
_SPOKEN_OF = 0.5
# What is less near than these leads to nothing that would be answered.
_CAUSES = 50
# What happened is told then, or in the week after; that counts half.
_TOLD_LATER_MS = 7 * 86_400_000
_TOLD_LATER = 0.5


class Asked(NamedTuple):
    """A question as the arms need it.

    `terms` are the index terms of its text, and `vector` the text's unit vector, None where there
    is none. `voices`: the senders whose
    turns are asked for. `spans`: the times that it speaks of, (first, last) in unix ms.
    `allowed`: the turns that may be answered. `pool`: how many candidates an arm may bring.
    """

    text: str
    terms: list[str]
    vector: Floats | None
    named: Sequence[Named]
    voices: set[Sender]
    spans: Sequence[tuple[int, int]]
    allowed: Mask
    pool: int


class Found(NamedTuple):
    """What the arms say of turns: of those at `places`, ascending, by arm.

    `facts`: how near facts are, by id, the nearest first. `unread`: the turns of which an arm can
    say nothing, of those that cannot read every turn. `evidence`: how near the best comes to what
    is asked, as `relevance` reads it.
    """

    places: Ints
    turns: dict[str, Floats]
    facts: dict[str, float]
    unread: dict[str, Mask]
    evidence: dict[str, float]

    def at(self, places: Ints) -> Found:
        """Return the same of other places, ascending; nothing is said where nobody looked."""
        row = np.minimum(np.searchsorted(self.places, places), max(len(self.places) - 1, 0))
        known = self.places[row] == places
        return self._replace(
            places=places,
            turns={name: np.where(known, said[row], 0) for name, said in self.turns.items()},
            unread={name: known & mask[row] for name, mask in self.unread.items()},
        )

    def heard(self, arm: str, places: Ints, scores: Floats, unread: Mask | None = None) -> Found:
        """Return the same with what one more arm says of some of its places."""
        row = np.searchsorted(self.places, places)
        said = np.zeros(len(self.places), np.float32)
        said[row] = scores
        masks = dict(self.unread)
        if unread is not None:
            masks[arm] = np.zeros(len(self.places), bool)
            masks[arm][row] = unread
        return self._replace(turns={**self.turns, arm: said}, unread=masks)


def run(wanted: frozenset[str], asked: Asked, index: Index, files: ZoneFiles) -> Found:
    """Run the arms that are wanted and can say something."""
    arms: dict[str, Floats] = {}
    facts: dict[str, float] = {}
    evidence: dict[str, float] = {}
    if "keyword" in wanted:
        arms["keyword"], evidence["keyword"] = keyword(asked, index)
        arms["statement"], facts = statement(asked, index)
    if "semantic" in wanted and asked.vector is not None:
        arms["semantic"], turn = semantic(asked, asked.vector, index)
        arms["sentence"], facts, fact = sentence(asked, asked.vector, index)
        evidence["cosine"] = max(turn, fact)
    if "entity" in wanted and (asked.named or asked.voices):
        arms["entity"] = entity(asked, index)
    if "temporal" in wanted and asked.spans:
        arms["temporal"] = temporal(asked, index)
    if "causal" in wanted and facts:
        arms["causal"] = causal(asked, index, files, facts)
    unconcluded = index.unconcluded
    unread = arms.keys() & _CONCLUDED if unconcluded.any() else frozenset[str]()
    places = np.arange(len(index.turns))
    return Found(places, arms, facts, dict.fromkeys(unread, unconcluded), evidence)


def keyword(asked: Asked, index: Index) -> tuple[Floats, float]:
    """Score turns by the question's words in them and around them.

    Also the greatest share of the words, by their idf, that is near one turn.
    """
    scores, share = index.turns.bm25(asked.terms, asked.allowed)
    return scaled(scores, floor=0.0), share


def statement(asked: Asked, index: Index) -> tuple[Floats, dict[str, float]]:
    """Score turns by their best fact by words, and facts; they also say who spoke, and dates."""
    facts = index.facts_said
    scores = np.zeros(len(index.turns), np.float32)
    found = facts.bm25(asked.terms)
    rows = np.flatnonzero(found)
    rows = rows[asked.allowed[facts.places[rows]]]
    if not len(rows):
        return scores, {}
    np.maximum.at(scores, facts.places[rows], found[rows])
    best = rows[close_to_top(found[rows], asked.pool)]
    ids = facts.ids.take(best)
    order = np.lexsort((np.array(ids), -found[best]))[: asked.pool]
    near = found[best[order]] / found[best[order[0]]]
    nearest = dict(zip((ids[at] for at in order.tolist()), near.tolist(), strict=True))
    return scaled(scores, floor=0.0), nearest


def semantic(asked: Asked, vector: Floats, index: Index) -> tuple[Floats, float]:
    """Score turns by their vector and those around them: what a turn is about goes on there.

    Also the cosine of the nearest.
    """
    near = index.events.near(vector, asked.pool, asked.allowed)
    scores = np.zeros(len(index.turns), np.float32)
    scores[near.places] = scaled(near.similarity)
    around = scaled(_allowed(index.turns.around(scores), asked), floor=0.0)
    return around, float(near.similarity.max(initial=0))


def sentence(asked: Asked, vector: Floats, index: Index) -> tuple[Floats, dict[str, float], float]:
    """Score turns by the vector of their best sentence, and each near fact by itself.

    Also the cosine of the nearest.
    """
    near = index.facts.near(vector, 2 * asked.pool, asked.allowed)
    similarity = scaled(near.similarity)
    scores = np.zeros(len(index.turns), np.float32)
    np.maximum.at(scores, near.places, similarity)
    nearest = float(near.similarity.max(initial=0))
    return scores, dict(zip(near.ids, similarity.tolist(), strict=True)), nearest


def entity(asked: Asked, index: Index) -> Floats:
    """Score the turns of whom the question asks for, and, half, those about others it names."""
    scores = np.zeros(len(index.turns), np.float32)
    for item in asked.named:
        if not item.senders:
            scores[index.mentioning(item.ids)] = _SPOKEN_OF
    if asked.voices:
        scores[index.turns.of_senders(asked.voices)] = 1.0
    return _allowed(scores, asked)


def temporal(asked: Asked, index: Index) -> Floats:
    """Score turns of the times that the question speaks of, and, half, those soon after."""
    at = index.turns.occurred_at
    scores = np.zeros(len(index.turns), np.float32)
    for _, last in asked.spans:
        scores[(at > last) & (at <= last + _TOLD_LATER_MS)] = _TOLD_LATER
    for first, last in asked.spans:
        scores[(at >= first) & (at <= last)] = 1.0
    return _allowed(scores, asked)


def causal(asked: Asked, index: Index, files: ZoneFiles, facts: Mapping[str, float]) -> Floats:
    """Score what near facts led to or followed from: their nearness times the link's strength."""
    scores = np.zeros(len(index.turns), np.float32)
    links = memory.effects_and_causes(files.memory.connection, list(facts)[:_CAUSES])
    rows = index.facts_said.of([linked for _, linked, _ in links])
    for (fact, _, strength), row in zip(links, rows.tolist(), strict=True):
        place = int(index.facts_said.places[row]) if row >= 0 else -1
        if place >= 0 and asked.allowed[place]:
            scores[place] = max(scores[place], facts[fact] * strength)
    return scores


def about(entity_ids: set[str], index: Index) -> Mask:
    """Return which turns speak of, or come from, an entity under any of its ids."""
    mask = np.zeros(len(index.turns), bool)
    mask[index.mentioning(entity_ids)] = True
    return mask


def _allowed(scores: Floats, asked: Asked) -> Floats:
    """Return the scores, 0 where a turn may not be answered."""
    # Most questions leave nothing out.
    return scores if asked.allowed.all() else scores * asked.allowed
