"""Comparing: whether two would be taken for the same, by what is given of them (A16)."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone
from recollect.operations.answers.suggestions import unknown_entity
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import merge_list
from recollect.projections.identity.entity_queries import aliases
from recollect.projections.memory.memory_queries import claims, is_current_fact
from recollect.projections.recall.question.entity_names import resolve
from recollect.schemas.changes import Entity
from recollect.schemas.errors import InvalidInput
from recollect.schemas.names import normalise_name
from recollect.schemas.wire import Comparison, EntityDescription
from recollect.streams.agents.identity.entity_comparison import (
    IMMUTABLE_ATTRIBUTES,
    UNKNOWN,
    EntityComparison,
    EntityProfile,
    compare_entities,
)
from recollect.streams.agents.identity.entity_resolver import ENTITY_TYPES
from recollect.streams.agents.identity.entity_rows import is_address

# Our types of entities for the types of a description, and for mentions' (C5).
_TYPES = {
    **{entity: entity for entity in ENTITY_TYPES.values()},
    **{mention.casefold(): entity for mention, entity in ENTITY_TYPES.items()},
    "organization": "organisation",
    "company": "organisation",
    "legalentity": "organisation",
}


def compare_descriptions(a: EntityDescription, b: EntityDescription) -> Comparison:
    """Return whether two would be taken for the same, and why; their order does not matter.

    Raises:
        InvalidInput: one has no name.
    """
    for described in (a, b):
        if not described.name.strip():
            raise InvalidInput("a description has no name")
    return _as_comparison(compare_entities(_as_described(a), _as_described(b)))


def _as_described(given: EntityDescription) -> EntityProfile:
    email = (given.email or "").strip()
    addresses = frozenset({("email", normalise_name(email))}) if email else frozenset()
    return EntityProfile((given.name,), _TYPES.get(given.type.casefold(), UNKNOWN), addresses)


def _as_comparison(judged: EntityComparison) -> Comparison:
    return Comparison(
        decision=judged.decision, confidence=judged.confidence, reasons=list(judged.reasons)
    )


def compare(zone: OpenZone, a: str, b: str) -> Comparison:
    """Return whether two that a zone knows, by name or id, are or would be taken for the same.

    Raises:
        InvalidInput: nobody has one of the names, or several have it.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
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
        return _as_comparison(compare_entities(_described(files, one), _described(files, two)))


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


def _described(files: ZoneFiles, entity: Entity) -> EntityProfile:
    """Return the names, addresses and lasting facts of an entity and of all merged into it."""
    memory, identity = files.memory.connection, files.identity.connection
    each = [entity, *aliases(identity, entity.id)]
    immutable = {
        attribute: frozenset(
            claim.value
            for claim in claims(memory, sorted(one.id for one in each), attribute)
            if is_current_fact(memory, claim.fact_id)
        )
        for attribute in IMMUTABLE_ATTRIBUTES
    }
    return EntityProfile(
        tuple(dict.fromkeys(one.name for one in each if one.type == entity.type)),
        UNKNOWN if is_address(entity.type) else entity.type,
        frozenset((one.type, one.normalized) for one in each if is_address(one.type)),
        immutable,
    )
