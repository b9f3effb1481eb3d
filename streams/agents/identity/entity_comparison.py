"""Entity comparison: whether two entities are the same, by their names, addresses and attributes.

The resolver and `entities compare` both use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from recollect.streams.language.names.display_names import names_in
from recollect.streams.language.names.name_comparison import NameComparison, compare_names
from recollect.text.name_forms import NAME_KINDS

#: The confidence of a match that is merged at once, and of a match that rests on a name alone.
CONFIDENT = 0.95
UNCERTAIN = 0.5

UNKNOWN = "unknown"
# The confidence of a match between parts of display names.
_NAME_PART_CONFIDENCE = 0.8
_SAME_ADDRESS_REASON = "the same address"
_SHARED_MAILBOX_REASON = "perhaps a mailbox that they share"
_TWO_ADDRESSES_REASON = "but different addresses: the same name is not enough to merge two accounts"
#: The attributes that have one value for life.
IMMUTABLE_ATTRIBUTES = ("birthday",)


class EntityProfile(Struct, frozen=True):
    """The evidence about an entity.

    Attributes:
        names: at least one, as written or normalised.
        type: an entity type.
        addresses: (type, normalised address); an entity without any was only mentioned.
        immutable: attribute -> values, for `IMMUTABLE_ATTRIBUTES`.
    """

    names: tuple[str, ...]
    type: str = UNKNOWN
    addresses: frozenset[tuple[str, str]] = frozenset()
    immutable: Mapping[str, frozenset[str]] = field(default_factory=dict)


class EntityComparison(Struct, frozen=True):
    """The decision on two entities. `confidence`: that they are the same, from 0 to 1.

    `generic_reasons`: the reasons without words from the names, because names may come from other
    events.
    """

    decision: Literal["same", "propose", "different"]
    confidence: float
    reasons: tuple[str, ...]
    generic_reasons: tuple[str, ...]


def compare_entities(one: EntityProfile, other: EntityProfile) -> EntityComparison:
    """Compare two entities, in either order.

    All pairs of their names are compared, and one impossible pair makes them different. Two
    accounts are never the same by their names alone: then a merge is proposed. A merge is also
    proposed if the names differ but the address is the same, since a mailbox may be shared.
    """
    types = {one.type, other.type} - {UNKNOWN}
    if len(types) > 1:
        return _different(0.0, " and ".join(f"a {type_}" for type_ in sorted(types)))
    for attribute in sorted(one.immutable.keys() & other.immutable.keys()):
        values = one.immutable[attribute], other.immutable[attribute]
        if all(values) and values[0].isdisjoint(values[1]):
            return _different(0.0, f"another {attribute}: {min(values[0])} and {min(values[1])}")
    names = _compare_all_names(one, other, next(iter(types), UNKNOWN))
    if one.addresses & other.addresses:
        if names.decision != "different":
            return _with_reasons("same", CONFIDENT, names, before=(_SAME_ADDRESS_REASON,))
        return _with_reasons(
            "propose",
            UNCERTAIN,
            names,
            before=(_SAME_ADDRESS_REASON,),
            after=(_SHARED_MAILBOX_REASON,),
        )
    if names.decision == "different":
        return _with_reasons("different", names.likelihood, names)
    if one.addresses and other.addresses:
        likely = round(names.likelihood * UNCERTAIN, 4)
        return _with_reasons("propose", likely, names, after=(_TWO_ADDRESSES_REASON,))
    return _with_reasons(names.decision, min(names.likelihood, CONFIDENT), names)


def _with_reasons(
    decision: Literal["same", "propose", "different"],
    confidence: float,
    names: NameComparison,
    *,
    before: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
) -> EntityComparison:
    """Return the comparison, with the names' reasons between `before` and `after`."""
    generic = names.in_general or names.reasons
    return EntityComparison(
        decision,
        confidence,
        (*before, *names.reasons, *after),
        (*before, *generic, *after),
    )


def _compare_all_names(one: EntityProfile, other: EntityProfile, type: str) -> NameComparison:
    """Return the best comparison of all pairs of names; if a pair is impossible, return that one.

    A name within a display name, as in "melodious (Mel)", is enough for a proposal.
    """
    kind = NAME_KINDS.get(type, "other")
    comparisons = [compare_names(a, b, kind) for a in one.names for b in other.names]
    if kind == "person":
        full_names = {*one.names, *other.names}
        parts = [
            {part for name in profile.names for part in names_in(name)} for profile in (one, other)
        ]
        comparisons += [
            _as_proposal(compare_names(a, b, kind))
            for a in sorted(parts[0])
            for b in sorted(parts[1])
            if not {a, b} <= full_names
        ]
    impossible = next((pair for pair in comparisons if pair.likelihood == 0), None)
    return impossible or max(
        comparisons, key=lambda pair: (pair.decision == "same", pair.likelihood)
    )


def _as_proposal(part: NameComparison) -> NameComparison:
    if part.decision != "same":
        return part
    return NameComparison("propose", _NAME_PART_CONFIDENCE, part.reasons, part.in_general)


def _different(confidence: float, *reasons: str) -> EntityComparison:
    return EntityComparison("different", confidence, reasons, ())
