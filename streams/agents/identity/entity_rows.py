"""The entities of a zone as one record finds them, and the rows that it adds (A15, A16)."""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import AnyRow, Entity, MergeCandidate
from recollect.schemas.ids import entity_id, row_id
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_comparison import CONFIDENT, DOUBTFUL, EntityProfile
from recollect.streams.agents.identity.merge_clerk import merge_row
from recollect.streams.agents.state import FIRST_LETTERS, Known, State
from recollect.streams.language.names.formatting import plain_name
from recollect.streams.language.names.pet_forms import (
    beginning,
    is_clipped,
    is_pet_form,
    may_be_clipped,
    pet_forms,
)
from recollect.text.name_forms import name_keys

# With so many entities a new name is compared.
_COMPARED = 24
# Of so many that begin alike none is meant by what they begin with.
_LOOKED_THROUGH = 100


class EntityRows:
    """Entities, merges and doubts: those of the state, and those that this record made.

    So a name that stands twice in a record is one entity, and a merge counts at once. New rows are
    in `rows`.
    """

    def __init__(self, state: State, at: int) -> None:
        """`at`: when the rows are made (unix ms)."""
        self.state = state
        self._at = at
        self.new: dict[str, Known] = {}
        self._merged: dict[str, str] = {}
        self.rows: list[AnyRow] = []

    def canonical(self, entity_id: str) -> Known | None:
        """Return the entity at the end of this one's merges; None if it does not exist."""
        seen: set[str] = set()
        while entity_id not in seen:
            seen.add(entity_id)
            onward = self._merged.get(entity_id) or self.state.merged_into(entity_id)
            if onward is None:
                return self.new.get(entity_id) or self.state.entity(entity_id)
            entity_id = onward
        return None

    def ids(self, entity: Known) -> list[str]:
        """Return the id of the entity at the end of its merges, and the ids of all merged into that
        one.
        """
        standing = self.canonical(entity.id) or entity
        known = [standing.id, *self.state.merged(standing.id)]
        known += (loser for loser in self._merged if self.is_(loser, standing.id))
        return list(dict.fromkeys(known))

    def is_(self, entity_id: str, standing: str) -> bool:
        """Return whether an entity stands for another at the end of its merges."""
        found = self.canonical(entity_id)
        return found is not None and found.id == standing

    def namesakes(self, normalized: str, wanted: str | None) -> dict[str, Known]:
        """Return the unmerged entities with a name, by id; of one type if `wanted` is given."""
        candidates = self.state.named(normalized)
        candidates += [row for row in self.new.values() if row.normalized == normalized]
        return {
            found.id: found
            for row in candidates
            if wanted in (row.type, None) and (found := self.canonical(row.id)) is not None
        }

    def handle_called(self, normalized: str) -> Known | None:
        """Return the only account with this name, if its platform gave it no other."""
        handles = {
            row.id: row
            for row in [*self.state.named(normalized), *self.new.values()]
            if row.normalized == normalized
            and row.type.endswith("_handle")
            and self.is_(row.id, row.id)
        }
        return next(iter(handles.values())) if len(handles) == 1 else None

    def near(self, made: Known) -> list[Known]:
        """Return the entities at the end of their merges that have a name like a new one's."""
        rows = self.state.names_alike(made.normalized, made.type, _COMPARED)
        if made.type == "person":
            rows += self.doubled(made.normalized)
            rows += [
                row
                for pet in pet_forms(made.normalized.split(" ")[0])
                for row in self.state.named(pet)
            ]
        keys = set(name_keys(made.normalized, made.type))
        rows += [
            row
            for row in self.new.values()
            if row.type == made.type and not keys.isdisjoint(name_keys(row.normalized, row.type))
        ]
        near = {
            known.id: known
            for row in rows
            if row.normalized != made.normalized and (known := self.canonical(row.id)) is not None
        }
        own = self.end(made.id)
        return [known for known in near.values() if known.id != own and known.type == made.type]

    def doubled(self, pet: str) -> list[Known]:
        """Return the persons whose first name a name doubles: Junie of "juju". None where too many
        names begin so to be sure of any.
        """
        begins = beginning(pet)
        if begins is None:
            return []
        found = self.state.persons_beginning(begins[:FIRST_LETTERS], _LOOKED_THROUGH)
        if len(found) == _LOOKED_THROUGH:
            return []
        found += [row for row in self.new.values() if row.type == "person"]
        return [row for row in found if is_pet_form(pet, row.normalized.split(" ")[0])]

    def with_pet_name(self, pet: str) -> list[Known]:
        """Return the persons of whose first name a name is made: doubled, or clipped as "juni"."""
        if not may_be_clipped(pet):
            return self.doubled(pet)
        alike = self.state.names_alike(pet, "person", _COMPARED)
        alike = [] if len(alike) == _COMPARED else alike
        found = [*alike, *(row for row in self.new.values() if row.type == "person")]
        clipped = [row for row in found if is_clipped(pet, row.normalized.split(" ")[0])]
        return [*self.doubled(pet), *clipped]

    def end(self, entity_id: str) -> str:
        """Return the id at the end of an entity's merges."""
        known = self.canonical(entity_id)
        return entity_id if known is None else known.id

    def described(self, entity: Known) -> EntityProfile:
        """Return the names and addresses of an entity and of all that was merged into it."""
        each = [self.new.get(id_) or self.state.entity(id_) for id_ in self.ids(entity)]
        known = [one for one in each if one is not None]
        names = dict.fromkeys(one.normalized for one in known if one.type == entity.type)
        return EntityProfile(
            tuple(names) or (entity.normalized,),
            entity.type,
            frozenset((one.type, one.normalized) for one in known if is_address(one.type)),
        )

    def create(self, kind: str, name: str, source: str, *scope: str) -> Known:
        """Create an entity, or return it; `scope` separates entities of the same name."""
        name = name if is_address(kind) else plain_name(name)
        normalized = normalise_name(name) or name
        # The time of an entity's id is 0: its id must not depend on which event named it first.
        made = Known(entity_id(kind, normalized, 0, *scope), kind, normalized)
        there = self.canonical(made.id)
        if there is not None:
            return there
        self.new[made.id] = made
        self.rows.append(
            Entity(
                id=made.id,
                name=name,
                type=kind,
                normalized=normalized,
                source=source,  # type: ignore[arg-type]
                created_at=self._at,
            )
        )
        return made

    def merge(self, winner: Known, loser: Known, reason: str) -> Known:
        """Merge one into another, and return that."""
        if winner.id == loser.id:
            return winner
        self._merged[loser.id] = winner.id
        self.rows.append(
            merge_row(winner.id, loser.id, confidence=CONFIDENT, reason=reason, at=self._at)
        )
        return winner

    def doubt(self, one: Known, other: Known, reason: str, confidence: float = DOUBTFUL) -> None:
        """Leave it to review whether two are one; of one pair all reasons stand in one row."""
        pair = {one.id, other.id}
        for place, row in enumerate(self.rows):
            if isinstance(row, MergeCandidate) and {row.entity_a_id, row.entity_b_id} == pair:
                self.rows[place] = msgspec.structs.replace(
                    row,
                    confidence=max(row.confidence, confidence),
                    reason=f"{row.reason}; {reason}" if reason not in row.reason else row.reason,
                )
                return
        self.rows.append(
            MergeCandidate(
                id=row_id(self._at, "merge_candidate", one.id, other.id),
                entity_a_id=one.id,
                entity_b_id=other.id,
                confidence=confidence,
                reason=reason,
                created_at=self._at,
            )
        )


def is_address(entity_type: str) -> bool:
    """Return whether an entity of a type is an address, or an account, of somebody."""
    return entity_type in ("email", "phone") or entity_type.endswith("_handle")
