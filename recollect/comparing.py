"""Comparing: whether two would be taken for the same, by what is given of them (A16)."""

from __future__ import annotations

from projections.files import ZoneFiles
from projections.identity import entity_list, merge_list
from projections.memory.memory_queries import claims, invalid_at
from projections.recall.question.entity_names import entity_ids, resolve
from projections.text.name_forms import NAME_KINDS
from recollect.open_zone import OpenZone
from recollect.suggestions import unknown_entity
from schemas.changes import Entity
from schemas.errors import InvalidInput
from schemas.names import normalise_name
from schemas.wire import Comparison, Description
from streams.agents.entities import CONFIDENT, DOUBTFUL, ENTITY_TYPES
from streams.language.name_comparison import compare_names

_UNKNOWN = "unknown"
# Our types of entities for the types of a description, and for mentions' (C5).
_TYPES = {
    **{entity: entity for entity in ENTITY_TYPES.values()},
    **{mention.casefold(): entity for mention, entity in ENTITY_TYPES.items()},
    "organization": "organisation",
    "company": "organisation",
    "legalentity": "organisation",
}
# What nobody has two of.
_LIFELONG = ("birthday",)


def compare_descriptions(a: Description, b: Description) -> Comparison:
    """Return whether two would be taken for the same, and why; their order does not matter.

    Two accounts are never one by their names alone: they are proposed. One address that two names
    share may be a mailbox of several.

    Raises:
        InvalidInput: one has no name.
    """
    for described in (a, b):
        if not described.name.strip():
            raise InvalidInput("a description has no name")
    types = {_TYPES.get(each.type.casefold(), _UNKNOWN) for each in (a, b)}
    known = types - {_UNKNOWN}
    if len(known) > 1:
        return _different(0.0, f"a {a.type} and a {b.type}")
    named = compare_names(a.name, b.name, NAME_KINDS.get(next(iter(known), _UNKNOWN), "other"))
    if not (a.email and b.email):
        return Comparison(
            decision=named.decision,
            confidence=min(named.likelihood, CONFIDENT),
            reasons=list(named.reasons),
        )
    if a.email.casefold() != b.email.casefold():
        if named.decision == "different":
            return _different(named.likelihood, *named.reasons)
        reasons = [*named.reasons, "but two addresses: a name alone makes no two accounts one"]
        confidence = round(named.likelihood * DOUBTFUL, 4)
        return Comparison(decision="propose", confidence=confidence, reasons=reasons)
    reasons = ["the same address", *named.reasons]
    if named.decision == "different":
        reasons.append("perhaps a mailbox that they share")
        return Comparison(decision="propose", confidence=DOUBTFUL, reasons=reasons)
    return Comparison(decision="same", confidence=CONFIDENT, reasons=reasons)


def _different(confidence: float, *reasons: str) -> Comparison:
    return Comparison(decision="different", confidence=confidence, reasons=list(reasons))


def compare(zone: OpenZone, a: str, b: str) -> Comparison:
    """Return whether two that a zone knows, by name or id, are or would be taken for the same.

    Raises:
        InvalidInput: nobody has one of the names, or several have it.
    """
    zone.must_exist()
    with zone.files() as files, files.snapshot():
        one, two = _meant(files, a), _meant(files, b)
        if one.id == two.id:
            return Comparison(
                decision="same", confidence=1.0, reasons=[f"both are {one.name} ({one.id})"]
            )
        for merge in merge_list.merges(files.identity.connection):
            if merge.status == "pending" and {merge.a_id, merge.b_id} == {one.id, two.id}:
                return Comparison(
                    decision="propose", confidence=merge.confidence, reasons=[merge.reason]
                )
        described = _described(files, one), _described(files, two)
        against = _against(files, one, two)
    if against:
        return _different(0.0, *against)
    return compare_descriptions(*described)


def _against(files: ZoneFiles, one: Entity, two: Entity) -> list[str]:
    """Return what a zone knows that makes it impossible for two to be one."""
    memory, identity = files.memory.connection, files.identity.connection
    ids = [sorted(entity_ids(identity, [entity])) for entity in (one, two)]
    found = []
    for attribute in _LIFELONG:
        values = [
            {
                claim.value
                for claim in claims(memory, each, attribute)
                if invalid_at(memory, claim.fact_id) is None
            }
            for each in ids
        ]
        if all(values) and values[0].isdisjoint(values[1]):
            found.append(f"another {attribute}: {min(values[0])} and {min(values[1])}")
    return found


def _meant(files: ZoneFiles, name_or_id: str) -> Entity:
    connection = files.identity.connection
    found = resolve(connection, name_or_id) or resolve(connection, normalise_name(name_or_id))
    if len(found) > 1:
        each = "; ".join(f"{entity.id} ({entity.type} {entity.name})" for entity in found)
        raise InvalidInput(
            f"{name_or_id!r} is the name of {len(found)}; give the id of one: {each}"
        )
    if not found:
        raise InvalidInput(unknown_entity(connection, name_or_id))
    return found[0]


def _described(files: ZoneFiles, entity: Entity) -> Description:
    connection = files.identity.connection
    ids = sorted(entity_ids(connection, [entity]))
    emails = [
        handle for _, _, handle in entity_list.handles_of(connection, ids) if "@" in handle[1:]
    ]
    return Description(entity.name, entity.type, emails[0] if emails else None)
