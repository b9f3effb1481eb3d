"""The arms: each says how well every turn answers the question, from 0 (not found) to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.memory import recalls as memory
from projections.recall.columns import distinct
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
    `about`: the turns of the entity that is asked for beside the text, None: of any.
    `allowed`: the turns that may be answered, and `filtered` whether that may be less than all.
    `pool`: how many candidates an arm may bring, and `read` how many late interaction reads.
    """

    text: str
    terms: list[str]
    vector: Floats | None
    named: Sequence[Named]
    voices: set[Sender]
    spans: Sequence[tuple[int, int]]
    about: Mask | None
    allowed: Mask
    filtered: bool
    pool: int
    read: int


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


class Said(NamedTuple):
    """What an arm says: the scores of turns at `places`, ascending, and of no others; None: of all.

    `unread`: the places, ascending, of which it can say nothing.
    """

    places: Ints | None
    scores: Floats
    unread: Ints | None = None

    def of(self, places: Ints) -> Floats:
        """Return the scores of some turns; 0 where it did not find one."""
        if self.places is None:
            return self.scores[places]
        if not len(self.places):
            return np.zeros(len(places), np.float32)
        row = self.places.searchsorted(places)
        known = self.places.take(row, mode="clip") == places
        found: Floats = self.scores.take(row, mode="clip") * known
        return found


class Heard(NamedTuple):
    """What the arms say of all `size` turns; otherwise as `Found`."""

    size: int
    arms: dict[str, Said]
    facts: dict[str, float]
    evidence: dict[str, float]

    def also(self, arm: str, said: Said) -> Heard:
        """Return the same with what one more arm says."""
        return self._replace(arms={**self.arms, arm: said})

    def at(self, places: Ints) -> Found:
        """Return what is said of some turns, ascending."""
        unread = {
            name: np.isin(places, said.unread)
            for name, said in self.arms.items()
            if said.unread is not None
        }
        turns = {name: said.of(places) for name, said in self.arms.items()}
        return Found(places, turns, self.facts, unread, self.evidence)

    def everywhere(self) -> Found:
        """Return what is said of every turn."""
        return self.at(np.arange(self.size))

    @property
    def unread(self) -> Ints:
        """The turns of which some arm can say nothing."""
        some = [said.unread for said in self.arms.values() if said.unread is not None]
        return distinct(np.concatenate(some)) if some else np.zeros(0, np.int64)


def run(wanted: frozenset[str], asked: Asked, index: Index, files: ZoneFiles) -> Heard:
    """Run the arms that are wanted and can say something."""
    arms: dict[str, Said] = {}
    facts: dict[str, float] = {}
    evidence: dict[str, float] = {}
    by_vector = "semantic" in wanted and asked.vector is not None
    if "keyword" in wanted:
        arms["keyword"], evidence["keyword"] = keyword(asked, index)
        arms["statement"], facts = statement(asked, index, tell=not by_vector)
    if by_vector and asked.vector is not None:
        arms["semantic"], turn = semantic(asked, asked.vector, index)
        arms["sentence"], facts, fact = sentence(asked, asked.vector, index)
        evidence["cosine"] = max(turn, fact)
    if "entity" in wanted and (asked.named or asked.voices or asked.about is not None):
        arms["entity"] = entity(asked, index)
    if "temporal" in wanted and asked.spans:
        arms["temporal"] = temporal(asked, index)
    if "causal" in wanted and facts:
        arms["causal"] = causal(asked, index, files, facts)
    if len(unconcluded := index.unconcluded):
        for name in arms.keys() & _CONCLUDED:
            arms[name] = arms[name]._replace(unread=unconcluded)
    return Heard(len(index.turns), arms, facts, evidence)


def keyword(asked: Asked, index: Index) -> tuple[Said, float]:
    """Score turns by the question's words in them and around them.

    Also the greatest share of the words, by their idf, that is near one turn.
    """
    scores, share = index.turns.bm25(asked.terms, asked.allowed if asked.filtered else None)
    return Said(None, scaled(scores, floor=0.0)), share


def statement(asked: Asked, index: Index, *, tell: bool) -> tuple[Said, dict[str, float]]:
    """Score turns by their best fact by words; facts also say who spoke, and dates.

    `tell`: also return how near the facts are, by id.
    """
    facts = index.facts_said
    scores = np.zeros(len(index.turns), np.float32)
    rows, found = facts.bm25(asked.terms)
    if asked.filtered:
        open_ = asked.allowed[facts.places[rows]]
        rows, found = rows[open_], found[open_]
    if not len(rows):
        return Said(None, scores), {}
    found /= found.max()
    np.maximum.at(scores, facts.places[rows], found)
    if not tell:
        return Said(None, scores), {}
    best = close_to_top(found, asked.pool)
    ids = facts.ids.take(rows[best])
    order = np.lexsort((np.array(ids), -found[best]))[: asked.pool]
    near = found[best[order]].tolist()
    return Said(None, scores), dict(zip((ids[at] for at in order.tolist()), near, strict=True))


def semantic(asked: Asked, vector: Floats, index: Index) -> tuple[Said, float]:
    """Score turns by their vector and those around them: what a turn is about goes on there.

    Also the cosine of the nearest.
    """
    near = index.events.near(vector, asked.pool, asked.allowed if asked.filtered else None)
    places, scores = index.turns.around(near.places, scaled(near.similarity))
    scores = scaled(_allowed(scores, asked, places), floor=0.0)
    return Said(places, scores), float(near.similarity.max(initial=0))


def sentence(asked: Asked, vector: Floats, index: Index) -> tuple[Said, dict[str, float], float]:
    """Score turns by the vector of their best sentence, and each near fact by itself.

    Also the cosine of the nearest.
    """
    near = index.facts.near(vector, 2 * asked.pool, asked.allowed if asked.filtered else None)
    similarity = scaled(near.similarity)
    # The first of a turn is its nearest.
    places, first = np.unique(near.places, return_index=True)
    nearest = float(near.similarity.max(initial=0))
    facts = dict(zip(index.facts.ids(near), similarity.tolist(), strict=True))
    return Said(places, similarity[first]), facts, nearest


def entity(asked: Asked, index: Index) -> Said:
    """Score the turns of whom the question asks for, and, half, those about others it names.

    An entity that is asked for beside the text is named as well, though no word says so.
    """
    scores = np.zeros(len(index.turns), np.float32)
    if asked.about is not None:
        scores[asked.about] = _SPOKEN_OF
    for item in asked.named:
        if not item.senders:
            scores[index.mentioning(item.ids)] = _SPOKEN_OF
    if asked.voices:
        scores[index.turns.of_senders(asked.voices)] = 1.0
    return Said(None, _allowed(scores, asked))


def temporal(asked: Asked, index: Index) -> Said:
    """Score turns of the times that the question speaks of, and, half, those soon after."""
    at = index.turns.occurred_at
    scores = np.zeros(len(index.turns), np.float32)
    for _, last in asked.spans:
        scores[(at > last) & (at <= last + _TOLD_LATER_MS)] = _TOLD_LATER
    for first, last in asked.spans:
        scores[(at >= first) & (at <= last)] = 1.0
    return Said(None, _allowed(scores, asked))


def causal(asked: Asked, index: Index, files: ZoneFiles, facts: Mapping[str, float]) -> Said:
    """Score what near facts led to or followed from: their nearness times the link's strength."""
    if not index.present.causal_links:
        return Said(np.zeros(0, np.int64), np.zeros(0, np.float32))
    links = memory.effects_and_causes(files.memory.connection, list(facts)[:_CAUSES])
    rows = index.facts_said.of([linked for _, linked, _ in links])
    best: dict[int, float] = {}
    for (fact, _, strength), row in zip(links, rows.tolist(), strict=True):
        place = int(index.facts_said.places[row]) if row >= 0 else -1
        if place >= 0 and asked.allowed[place]:
            best[place] = max(best.get(place, 0.0), facts[fact] * strength)
    places = np.array(sorted(best), np.int64)
    return Said(places, np.array([best[place] for place in places.tolist()], np.float32))


def about(entity_ids: set[str], index: Index) -> Mask:
    """Return which turns speak of, or come from, an entity under any of its ids."""
    mask = np.zeros(len(index.turns), bool)
    mask[index.mentioning(entity_ids)] = True
    return mask


def _allowed(scores: Floats, asked: Asked, places: Ints | None = None) -> Floats:
    """Return the scores, of some places or of all, 0 where a turn may not be answered."""
    # Most questions leave nothing out.
    if not asked.filtered:
        return scores
    return scores * (asked.allowed if places is None else asked.allowed[places])
