"""Which clusters deserve an observation."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

from recollect.projections.memory.cluster_queries import ChangedCluster, Overlap
from recollect.streams.consolidation.nouns import is_common

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
