"""Comparison of two entities, known or described: whether they would be merged, and why."""

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

# Type name in a description -> entity type. The type names of mentions are accepted too.
_TYPES = {
    **{entity: entity for entity in ENTITY_TYPES.values()},
    **{mention.casefold(): entity for mention, entity in ENTITY_TYPES.items()},
    "organization": "organisation",
    "company": "organisation",
    "legalentity": "organisation",
}


def compare_descriptions(a: EntityDescription, b: EntityDescription) -> Comparison:
    """Compare two described entities; their order does not matter.

    Raises:
        InvalidInput: a description has no name.
    """
    for description in (a, b):
        if not description.name.strip():
            raise InvalidInput("a description has no name; give each one a name")
    return _to_wire(compare_entities(_profile_of(a), _profile_of(b)))


def _profile_of(description: EntityDescription) -> EntityProfile:
    email = (description.email or "").strip()
    addresses = frozenset({("email", normalise_name(email))}) if email else frozenset()
    type_ = _TYPES.get(description.type.casefold(), UNKNOWN)
    return EntityProfile((description.name,), type_, addresses)


def _to_wire(comparison: EntityComparison) -> Comparison:
    return Comparison(
        decision=comparison.decision,
        confidence=comparison.confidence,
        reasons=list(comparison.reasons),
    )


def compare(zone: OpenZone, a: str, b: str) -> Comparison:
    """Compare two entities of a zone, each given by name or id.

    Raises:
        InvalidInput: no entity has one of the names, or several have it.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        one, two = _find(files, a), _find(files, b)
        if one.id == two.id:
            return Comparison(
                decision="same", confidence=1.0, reasons=[f"both are {one.name} ({one.id})"]
            )
        for merge in merge_list.merges(files.identity.connection):
            if merge.status == "pending" and {merge.a_id, merge.b_id} == {one.id, two.id}:
                return Comparison(
                    decision="propose", confidence=merge.confidence, reasons=[merge.reason]
                )
        return _to_wire(compare_entities(_stored_profile(files, one), _stored_profile(files, two)))


def _find(files: ZoneFiles, name_or_id: str) -> Entity:
    connection = files.identity.connection
    matches = resolve(connection, name_or_id) or resolve(connection, normalise_name(name_or_id))
    if len(matches) > 1:
        which = "; ".join(f"{entity.id} ({entity.type} {entity.name})" for entity in matches)
        raise InvalidInput(
            f"{name_or_id!r} is the name of {len(matches)} entities; give the id of one: {which}"
        )
    if not matches:
        raise InvalidInput(unknown_entity(connection, name_or_id))
    return matches[0]


def _stored_profile(files: ZoneFiles, entity: Entity) -> EntityProfile:
    """Return the names, addresses and lifelong attributes of an entity, merged ones included."""
    memory, identity = files.memory.connection, files.identity.connection
    entities = [entity, *aliases(identity, entity.id)]
    immutable = {
        attribute: frozenset(
            claim.value
            for claim in claims(memory, sorted(one.id for one in entities), attribute)
            if is_current_fact(memory, claim.fact_id)
        )
        for attribute in IMMUTABLE_ATTRIBUTES
    }
    return EntityProfile(
        tuple(dict.fromkeys(one.name for one in entities if one.type == entity.type)),
        UNKNOWN if is_address(entity.type) else entity.type,
        frozenset((one.type, one.normalized) for one in entities if is_address(one.type)),
        immutable,
    )
