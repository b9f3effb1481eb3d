"""The clusters that a fact belongs to: one for each entity and topic of its units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from recollect.schemas.ids import row_id
from recollect.streams.consolidation.observation_text import is_change, is_said_to_another
from recollect.streams.consolidation.unit_topics import topics_of
from recollect.streams.consolidation.units import Unit

ClusterKind = Literal["topic", "changes", "slot"]
_NAME = r"[^\W\d_a-z]\w*"
#: The topic of the cluster of an entity's changes.
CHANGES = "changes"


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
        if not unit.speaker and is_change(unit.text):
            topics.append(("changes", CHANGES, CHANGES))
        for entity in about:
            for kind, topic, word in topics:
                id_ = cluster_id(kind, entity.id, topic)
                by_cluster.setdefault(id_, Membership(id_, kind, entity, topic, word, place))
    return list(by_cluster.values())


def _is_about(unit: Unit, entity: NamedEntity) -> bool:
    """Return whether a unit is about an entity: it names it, or is in its own words.

    A name that only addresses somebody does not count.
    """
    if unit.speaker:
        # What somebody says to another is rarely about the speaker.
        return unit.speaker == entity.name and not is_said_to_another(unit.text)
    first, text = entity.name.split()[0], unit.text
    if "," in text:
        word = re.escape(first)
        text = re.sub(rf",\s*{word}(?:\s+{_NAME})*\s*[.!?]*$|^{word}(?:\s+{_NAME})*,", "", text)
    return _has_word(text, first)


def _has_word(text: str, word: str) -> bool:
    r"""Return whether rf"\b{word}\b" occurs in a text.

    A regular expression for each name would be compiled anew for nearly every fact.
    """
    at = text.find(word)
    while at >= 0:
        if _is_boundary(text, at) and _is_boundary(text, at + len(word)):
            return True
        at = text.find(word, at + 1)
    return False


def _is_boundary(text: str, at: int) -> bool:
    return _is_of_word(text[at - 1 : at]) != _is_of_word(text[at : at + 1])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"
