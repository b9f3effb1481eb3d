"""The clusters that a fact belongs to, and which of them deserve an observation.

There is a cluster for each entity and topic of a fact's units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import log2
from typing import Literal, NamedTuple

from recollect.projections.memory.cluster_queries import ChangedCluster, Overlap
from recollect.schemas.ids import row_id
from recollect.streams.consolidation.clear_texts import has_first_or_second_person
from recollect.streams.consolidation.nouns import is_common
from recollect.streams.consolidation.observation_text import changes_in, is_said_to_another
from recollect.streams.consolidation.repeated_names import name_expression
from recollect.streams.consolidation.unit_topics import topics_of
from recollect.streams.consolidation.units import Unit

ClusterKind = Literal["topic", "changes", "slot"]
_NAME = r"[^\W\d_a-z]\w*"
_NAMES_FIRST = re.compile(rf"(?:{_NAME}(?:['’]s)? )+(?=[a-z])")
#: The topic of the cluster of an entity's changes.
CHANGES = "changes"
#: A topic needs this many messages, on this many days.
MIN_MESSAGES, MIN_DAYS = 3, 2
#: It needs one more message for each doubling of the facts about its entity beyond this number.
FEW_FACTS = 150
#: If it is a common noun, it needs messages for at least this share of those facts.
COMMON_SHARE = 0.01
#: A topic is absorbed by a larger one that has this share of its facts ...
ABSORBED_SHARE = 0.6
#: ... or, if that is this many times larger and thus about much else, this share.
MUCH_LARGER, ABSORBED_BY_MUCH_LARGER = 4, 0.8


class NamedEntity(NamedTuple):
    """An entity, and its name in a fact."""

    id: str
    name: str


class Membership(NamedTuple):
    """A fact's membership in a cluster: the unit with the topic, and the word for it."""

    cluster_id: str
    kind: ClusterKind
    entity: NamedEntity
    topic: str
    word: str
    unit: int


def cluster_id(kind: ClusterKind, entity_id: str, topic: str) -> str:
    """Return the id of a cluster, independent of when and in what order its facts arrive."""
    return row_id(0, "cluster", kind, entity_id, topic)


def memberships(units: Sequence[Unit], entities: Sequence[NamedEntity]) -> list[Membership]:
    """Return the clusters that a fact with these units belongs to.

    A unit is about the entities that it names, and about whoever said it in these words. Of several
    units with the same topic, the first counts.
    """
    names = frozenset(word.lower() for entity in entities for word in entity.name.split())
    by_cluster: dict[str, Membership] = {}
    for place, unit in enumerate(units):
        about = [entity for entity in entities if _is_about(unit, entity)]
        if not about:
            continue
        topics: list[tuple[ClusterKind, str, str]] = [
            ("topic", topic, word) for topic, word in topics_of(unit.text, names).items()
        ]
        changing = _changing(unit, about)
        for entity in about:
            changed: tuple[ClusterKind, str, str] = ("changes", CHANGES, CHANGES)
            for kind, topic, word in (*topics, *([changed] if entity in changing else [])):
                id_ = cluster_id(kind, entity.id, topic)
                by_cluster.setdefault(id_, Membership(id_, kind, entity, topic, word, place))
    return list(by_cluster.values())


def _changing(unit: Unit, about: Sequence[NamedEntity]) -> list[NamedEntity]:
    """Return the entities of whom a unit reports a change: those named in the clause before it.

    If that names none of them, it is the entity that the unit names first.
    """
    if unit.speaker:
        return []
    found: list[NamedEntity] = []
    for place in changes_in(unit.text):
        clause = unit.text[:place].rpartition(",")[2]
        named = [each for each in about if _first_place(clause, each) < len(clause)]
        found += named or sorted(about, key=lambda each: _first_place(unit.text, each))[:1]
    return found


def _is_about(unit: Unit, entity: NamedEntity) -> bool:
    """Return whether a unit is about an entity: it names it, or is in its own words.

    A name that only addresses somebody does not count. Words of somebody else are about the entity
    that they begin with, if they say nothing of the speaker.
    """
    if unit.speaker and unit.speaker != entity.name:
        return not has_first_or_second_person(unit.text) and _is_subject(unit.text, entity)
    if unit.speaker:
        # What somebody says to another is rarely about the speaker.
        return not is_said_to_another(unit.text)
    first, text = entity.name.split()[0], unit.text
    if "," in text:
        word = name_expression(first)
        text = re.sub(rf",\s*{word}(?:\s+{_NAME})*\s*[.!?]*$|^{word}(?:\s+{_NAME})*,", "", text)
    return _first_place(text, entity) < len(text)


def _is_subject(text: str, entity: NamedEntity) -> bool:
    """Return whether a text begins with an entity's name, and goes on with the same clause."""
    return _first_place(text, entity) == 0 and _NAMES_FIRST.match(text) is not None


def _first_place(text: str, entity: NamedEntity) -> int:
    """Return where a text first has an entity's first name; its length if nowhere.

    This finds what `name_expression` does, which would be compiled anew for nearly every fact.
    """
    first = entity.name.split()[0]
    folded, word = _folded(text), _folded(first)
    at = folded.find(word)
    while at >= 0:
        end = at + len(word)
        is_whole = _is_boundary(text, at) and _is_boundary(text, end)
        if is_whole and (not first[0].isupper() or not text[at].islower()):
            return at
        at = folded.find(word, at + 1)
    return len(text)


def _folded(text: str) -> str:
    """Return a text in lower case, of the same length: not so for "İ" in `str.lower`."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(each.lower()[:1] for each in text)


def _is_boundary(text: str, at: int) -> bool:
    return _is_of_word(text[at - 1 : at]) != _is_of_word(text[at : at + 1])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def deserves_observation(cluster: ChangedCluster) -> bool:
    """Return whether a cluster has enough evidence."""
    if cluster.kind == "slot":
        return cluster.messages >= 2
    least = MIN_MESSAGES + log2(max(1.0, cluster.about_entity / FEW_FACTS))
    if cluster.kind == "topic" and is_common(cluster.topic):
        least = max(least, COMMON_SHARE * cluster.about_entity)
    return cluster.messages >= least and cluster.days >= MIN_DAYS


def is_absorbed(cluster: ChangedCluster, overlaps: Iterable[Overlap]) -> bool:
    """Return whether a larger topic of the entity has most of a topic's facts.

    Of two of the same size, the alphabetically first one is the larger.
    """
    if cluster.kind != "topic":
        return False
    for other in overlaps:
        if (other.facts, cluster.topic) <= (cluster.facts, other.topic):
            continue
        much = other.facts >= MUCH_LARGER * cluster.facts
        share = ABSORBED_BY_MUCH_LARGER if much else ABSORBED_SHARE
        if other.shared >= share * cluster.facts:
            return True
    return False
