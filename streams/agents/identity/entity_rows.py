"""The entities of a zone as seen by one record, and the rows that it adds."""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import AnyRow, Entity, MergeCandidate
from recollect.schemas.ids import entity_id, merge_candidate_id
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_comparison import (
    CONFIDENT,
    UNCERTAIN,
    UNKNOWN,
    EntityComparison,
    EntityProfile,
    compare_entities,
)
from recollect.streams.agents.identity.merge_handler import merge_row
from recollect.streams.agents.state import (
    NAME_PREFIX_LENGTH,
    EntityRef,
    State,
    end_of_merges,
)
from recollect.streams.language.names.formatting import plain_name
from recollect.streams.language.names.pet_forms import (
    beginning,
    is_clipped,
    is_pet_form,
    may_be_clipped,
    pet_forms,
)
from recollect.text.name_forms import name_keys

# The maximum number of entities that a new name is compared with.
_MAX_COMPARED = 24
# If this many persons share a prefix, a pet form is too ambiguous to be resolved.
_MAX_PREFIX_MATCHES = 100


class EntityRows:
    """The entities and merges of the state, and those that this record adds.

    A name that occurs twice in a record is one entity, and a merge takes effect at once. New rows
    are in `rows`.
    """

    def __init__(self, state: State, at: int) -> None:
        """`at`: the time of the new rows (unix ms)."""
        self.state = state
        self._at = at
        self.new: dict[str, EntityRef] = {}
        self._merged: dict[str, str] = {}
        self.rows: list[AnyRow] = []

    def canonical(self, entity_id: str) -> EntityRef | None:
        """Return the entity at the end of an entity's merges; None if it does not exist."""
        found = end_of_merges(entity_id, self._winner_of)
        return None if found is None else self.new.get(found) or self.state.entity(found)

    def _winner_of(self, entity_id: str) -> str | None:
        return self._merged.get(entity_id) or self.state.merged_into(entity_id)

    def own_id(self, entity_id: str) -> str:
        """Return the id at the end of an entity's merges, ignoring those by command.

        Entities with the same own id are the same whatever a review decides, and share their slots.
        """
        return end_of_merges(entity_id, self._own_winner_of) or entity_id

    def _own_winner_of(self, entity_id: str) -> str | None:
        return self._merged.get(entity_id) or self.state.own_winner_of(entity_id)

    def ids(self, entity: EntityRef) -> list[str]:
        """Return the id of the canonical entity, then the ids of all entities merged into it."""
        canonical = self.canonical(entity.id) or entity
        ids = [canonical.id, *self.state.merged_ids(canonical.id)]
        ids += (loser for loser in self._merged if self.resolves_to(loser, canonical.id))
        return list(dict.fromkeys(ids))

    def resolves_to(self, entity_id: str, canonical: str) -> bool:
        """Return whether an entity's canonical entity is the given one."""
        found = self.canonical(entity_id)
        return found is not None and found.id == canonical

    def namesakes(self, normalized: str, entity_type: str | None) -> dict[str, EntityRef]:
        """Return the canonical entities with this name, and of this type if given, by id."""
        candidates = self.state.entities_named(normalized)
        candidates += [row for row in self.new.values() if row.normalized == normalized]
        return {
            found.id: found
            for row in candidates
            if entity_type in (row.type, None) and (found := self.canonical(row.id)) is not None
        }

    def account_named(self, normalized: str) -> EntityRef | None:
        """Return the only unnamed account with this handle, or None."""
        handles = {
            row.id: row
            for row in [*self.state.entities_named(normalized), *self.new.values()]
            if row.normalized == normalized
            and row.type.endswith("_handle")
            and self.resolves_to(row.id, row.id)
        }
        return next(iter(handles.values())) if len(handles) == 1 else None

    def similar(self, new_entity: EntityRef) -> list[tuple[EntityRef, EntityComparison]]:
        """Return the canonical entities of a new entity's type that may be the same by their names.

        A new entity of unknown type is compared with entities of every type.
        """
        profile = self.profile_of(new_entity)
        rows = self.state.entities_with_similar_names(
            new_entity.normalized, new_entity.type, _MAX_COMPARED
        )
        if new_entity.type == "person":
            rows += self.with_reduplicated_name(new_entity.normalized)
            rows += [
                row
                for pet in pet_forms(new_entity.normalized.split(" ")[0])
                for row in self.state.entities_named(pet)
            ]
        keys = set(name_keys(new_entity.normalized, new_entity.type))
        rows += [
            row
            for row in self.new.values()
            if new_entity.type in (row.type, UNKNOWN)
            and not keys.isdisjoint(name_keys(row.normalized, row.type))
        ]
        canonical_id = self.canonical_id(new_entity.id)
        compared: dict[str, tuple[EntityRef, EntityComparison]] = {}
        for row in rows:
            if row.normalized == new_entity.normalized:
                continue
            if not self._is_merged(row.id) and (
                new_entity.type not in (row.type, UNKNOWN)
                or compare_entities(_own_profile(row), profile).decision == "different"
            ):
                # Without merges, nothing but the name decides: the decision does not depend on it.
                continue
            found = self.canonical(row.id)
            if (
                found is not None
                and found.id not in {canonical_id, *compared}
                and new_entity.type in (found.type, UNKNOWN)
            ):
                compared[found.id] = found, compare_entities(self.profile_of(found), profile)
        return [each for each in compared.values() if each[1].decision != "different"]

    def _is_merged(self, entity_id: str) -> bool:
        """Return whether an entity was ever merged with another, also by this record."""
        here = entity_id in self._merged or entity_id in self._merged.values()
        return here or self.state.has_merges(entity_id)

    def with_reduplicated_name(self, pet: str) -> list[EntityRef]:
        """Return the persons whose first name begins with the syllable that a pet form repeats.

        "juju" is a pet form of Junie. Returns [] if too many names share the beginning.
        """
        prefix = beginning(pet)
        if prefix is None:
            return []
        found = self.state.persons_with_prefix(prefix[:NAME_PREFIX_LENGTH], _MAX_PREFIX_MATCHES)
        if len(found) == _MAX_PREFIX_MATCHES:
            return []
        found += [row for row in self.new.values() if row.type == "person"]
        return [row for row in found if is_pet_form(pet, row.normalized.split(" ")[0])]

    def with_pet_form(self, pet: str) -> list[EntityRef]:
        """Return the persons whose first name has this pet form, also if it is clipped ("juni")."""
        if not may_be_clipped(pet):
            return self.with_reduplicated_name(pet)
        alike = self.state.entities_with_similar_names(pet, "person", _MAX_COMPARED)
        alike = [] if len(alike) == _MAX_COMPARED else alike
        found = [*alike, *(row for row in self.new.values() if row.type == "person")]
        clipped = [row for row in found if is_clipped(pet, row.normalized.split(" ")[0])]
        return [*self.with_reduplicated_name(pet), *clipped]

    def canonical_id(self, entity_id: str) -> str:
        """Return the id of an entity's canonical entity; its own if it does not exist."""
        found = self.canonical(entity_id)
        return entity_id if found is None else found.id

    def profile_of(self, entity: EntityRef) -> EntityProfile:
        """Return the names and addresses of an entity and of all entities merged into it."""
        refs = [self.new.get(id_) or self.state.entity(id_) for id_ in self.ids(entity)]
        merged = [ref for ref in refs if ref is not None]
        names = dict.fromkeys(ref.normalized for ref in merged if ref.type == entity.type)
        return EntityProfile(
            tuple(names) or (entity.normalized,),
            entity.type,
            frozenset((ref.type, ref.normalized) for ref in merged if is_address(ref.type)),
        )

    def create(self, kind: str, name: str, source: str, *scope: str) -> EntityRef:
        """Return an entity, created if it does not exist; `scope` distinguishes namesakes."""
        name = name if is_address(kind) else plain_name(name)
        normalized = normalise_name(name) or name
        # The time in the id is 0: the id must not depend on which event named the entity first.
        new_entity = EntityRef(entity_id(kind, normalized, 0, *scope), kind, normalized)
        existing = self.canonical(new_entity.id)
        if existing is not None:
            return existing
        self.new[new_entity.id] = new_entity
        self.rows.append(
            Entity(
                id=new_entity.id,
                name=name,
                type=kind,
                normalized=normalized,
                source=source,  # type: ignore[arg-type]
                created_at=self._at,
            )
        )
        return new_entity

    def merge(self, winner: EntityRef, loser: EntityRef, reason: str) -> EntityRef:
        """Merge an entity into another; return the winner."""
        if winner.id == loser.id:
            return winner
        self._merged[loser.id] = winner.id
        self.rows.append(
            merge_row(winner.id, loser.id, confidence=CONFIDENT, reason=reason, at=self._at)
        )
        return winner

    def is_proposed(self, entity_id: str) -> bool:
        """Return whether this record proposes a merge of an entity."""
        return any(
            isinstance(row, MergeCandidate) and entity_id in (row.entity_a_id, row.entity_b_id)
            for row in self.rows
        )

    def propose_merge(
        self, one: EntityRef, other: EntityRef, reason: str, confidence: float = UNCERTAIN
    ) -> None:
        """Propose a merge for review. A pair has one row, to which further reasons are added."""
        pair = {one.id, other.id}
        for index, row in enumerate(self.rows):
            if isinstance(row, MergeCandidate) and {row.entity_a_id, row.entity_b_id} == pair:
                self.rows[index] = msgspec.structs.replace(
                    row,
                    confidence=max(row.confidence, confidence),
                    reason=f"{row.reason}; {reason}" if reason not in row.reason else row.reason,
                )
                return
        self.rows.append(
            MergeCandidate(
                id=merge_candidate_id(self._at, one.id, other.id),
                entity_a_id=one.id,
                entity_b_id=other.id,
                confidence=confidence,
                reason=reason,
                created_at=self._at,
            )
        )


def _own_profile(entity: EntityRef) -> EntityProfile:
    """Return the name or address of an entity, without those of entities merged into it."""
    own = {(entity.type, entity.normalized)} if is_address(entity.type) else ()
    return EntityProfile((entity.normalized,), entity.type, frozenset(own))


def is_address(entity_type: str) -> bool:
    """Return whether entities of a type are addresses or accounts."""
    return entity_type in ("email", "phone") or entity_type.endswith("_handle")
