"""Whether two are the same, by what is known of each.

The resolver and `entities compare` ask here, and nobody judges otherwise.
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


class Described(Struct, frozen=True):
    """What is known of one: its names, its type (A15), its addresses, and what nobody has two of.

    `names` are as written or normalised, at least one. An address is (type, address), normalised;
    who has none is only named. `lifelong` is attribute -> values.
    """

    names: tuple[str, ...]
    type: str = UNKNOWN
    addresses: frozenset[tuple[str, str]] = frozenset()
    lifelong: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Judgement(Struct, frozen=True):
    """What two are taken for; `confidence`, 0 to 1, is that they are one. `reasons` say why.

    `in_general`: the same without words of the names, which others may have written.
    """

    decision: Literal["same", "propose", "different"]
    confidence: float
    reasons: tuple[str, ...]
    in_general: tuple[str, ...]


def judge(one: Described, other: Described) -> Judgement:
    """Judge two; their order does not matter.

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
) -> Judgement:
    """Return a judgement for the reasons of a comparison, and others before and after them."""
    in_general = named.in_general or named.reasons
    return Judgement(
        decision,
        confidence,
        (*before, *named.reasons, *after),
        (*before, *in_general, *after),
    )


def _names(one: Described, other: Described, type: str) -> NameComparison:
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


def _different(confidence: float, *reasons: str) -> Judgement:
    return Judgement("different", confidence, reasons, ())
