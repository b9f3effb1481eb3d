"""Entity comparison: whether two entities are the same, by what is known of each.

The resolver and `entities compare` both decide here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from recollect.streams.language.names.display_names import names_in
from recollect.streams.language.names.name_comparison import NameComparison, compare_names
from recollect.text.name_forms import NAME_KINDS

#: The confidence of what is sure enough to be merged, and of what only a name speaks for.
CONFIDENT = 0.95
DOUBTFUL = 0.5

UNKNOWN = "unknown"
# The likelihood that two are one of whom a part of a display name is the same.
_OF_PARTS = 0.8
_SAME_ADDRESS = "the same address"
_MAILBOX = "perhaps a mailbox that they share"
_TWO_ADDRESSES = "but two addresses: a name alone makes no two accounts one"
#: The attributes that nobody has two values of.
LIFELONG = ("birthday",)


class EntityProfile(Struct, frozen=True):
    """What is known of an entity: names, type (A15), addresses, and attributes of one value.

    `names` are as written or normalised, at least one. An address is (type, address), normalised;
    an entity without one is only mentioned. `lifelong` is attribute -> values.
    """

    names: tuple[str, ...]
    type: str = UNKNOWN
    addresses: frozenset[tuple[str, str]] = frozenset()
    lifelong: Mapping[str, frozenset[str]] = field(default_factory=dict)


class EntityComparison(Struct, frozen=True):
    """The decision on two entities; `confidence` that they are one is 0 to 1.

    `in_general` are the reasons without words of the names, which others may have written.
    """

    decision: Literal["same", "propose", "different"]
    confidence: float
    reasons: tuple[str, ...]
    in_general: tuple[str, ...]


def compare_entities(one: EntityProfile, other: EntityProfile) -> EntityComparison:
    """Compare two entities; their order does not matter.

    Each name of one is compared with each of the other, and one that cannot be decides. Two
    accounts are never one by their names alone: they are proposed. An address that two names share
    may be a mailbox of several.
    """
    types = {one.type, other.type} - {UNKNOWN}
    if len(types) > 1:
        return _different(0.0, " and ".join(f"a {each}" for each in sorted(types)))
    for attribute in sorted(one.lifelong.keys() & other.lifelong.keys()):
        values = one.lifelong[attribute], other.lifelong[attribute]
        if all(values) and values[0].isdisjoint(values[1]):
            return _different(0.0, f"another {attribute}: {min(values[0])} and {min(values[1])}")
    named = _names(one, other, next(iter(types), UNKNOWN))
    if one.addresses & other.addresses:
        if named.decision != "different":
            return _judged("same", CONFIDENT, named, before=(_SAME_ADDRESS,))
        return _judged("propose", DOUBTFUL, named, before=(_SAME_ADDRESS,), after=(_MAILBOX,))
    if named.decision == "different":
        return _judged("different", named.likelihood, named)
    if one.addresses and other.addresses:
        likely = round(named.likelihood * DOUBTFUL, 4)
        return _judged("propose", likely, named, after=(_TWO_ADDRESSES,))
    return _judged(named.decision, min(named.likelihood, CONFIDENT), named)


def _judged(
    decision: Literal["same", "propose", "different"],
    confidence: float,
    named: NameComparison,
    *,
    before: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
) -> EntityComparison:
    """Return a comparison with the reasons of its names, and others before and after them."""
    in_general = named.in_general or named.reasons
    return EntityComparison(
        decision,
        confidence,
        (*before, *named.reasons, *after),
        (*before, *in_general, *after),
    )


def _names(one: EntityProfile, other: EntityProfile, type: str) -> NameComparison:
    """Return how the names are alike: the surest of all pairs, unless one cannot be.

    A name that stands in a display name, "melodious (Mel)", is enough to propose somebody.
    """
    kind = NAME_KINDS.get(type, "other")
    found = [compare_names(a, b, kind) for a in one.names for b in other.names]
    if kind == "person":
        whole = {*one.names, *other.names}
        parts = [{part for name in each.names for part in names_in(name)} for each in (one, other)]
        found += [
            _proposed(compare_names(a, b, kind))
            for a in sorted(parts[0])
            for b in sorted(parts[1])
            if not {a, b} <= whole
        ]
    impossible = next((pair for pair in found if pair.likelihood == 0), None)
    return impossible or max(found, key=lambda pair: (pair.decision == "same", pair.likelihood))


def _proposed(part: NameComparison) -> NameComparison:
    if part.decision != "same":
        return part
    return NameComparison("propose", _OF_PARTS, part.reasons, part.in_general)


def _different(confidence: float, *reasons: str) -> EntityComparison:
    return EntityComparison("different", confidence, reasons, ())
