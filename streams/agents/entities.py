"""Resolves mentions and senders to entities: exact names only, in doubt apart (A15, A17)."""

from __future__ import annotations

import re

from projections.identity import queries
from schemas.changes import AnyRow, Entity, Handle, MergeCandidate
from schemas.events import Content, Event
from schemas.ids import entity_id, handle_row_id, row_id
from schemas.names import normalise_name
from streams.agents.base import State
from streams.agents.merges import merge_row
from streams.language import Contact, Introduction

#: What a mention's type (C5) makes of an entity (A15); types that name no entity are absent.
ENTITY_TYPES = {
    "PERSON": "person",
    "ORG": "organisation",
    "LOCATION": "place",
    "PRODUCT": "concept",
    "TECHNOLOGY": "concept",
    "CONCEPT": "concept",
    "EVENT": "concept",
    "EMAIL": "email",
    "OTHER": "unknown",
}

_PHONE = re.compile(r"\+?[0-9][0-9 ().-]{5,}")
_CONFIDENT = 0.95
_DOUBTFUL = 0.5


def handle_type(platform: str, handle: str) -> str:
    """Return the type of a delivery handle: email, phone, or the platform's own."""
    if "@" in handle[1:] and " " not in handle:
        return "email"
    if _PHONE.fullmatch(handle):
        return "phone"
    return f"{normalise_name(platform).replace(' ', '_') or 'unknown'}_handle"


class EntityResolver:
    """Finds or makes the entities of one record; what it makes is in `rows`.

    It sees the state and its own new rows, so a name that stands twice in a record is one
    entity.
    """

    def __init__(self, state: State, event: Event) -> None:
        self._state = state
        self._at = event.ingested_at
        self._new: dict[str, Entity] = {}
        self._merged: dict[str, str] = {}
        self.rows: list[AnyRow] = []

    def sender(self, event: Event, content: Content) -> Entity:
        """Return who sent an event, at the end of every merge.

        The handle exists from its first delivery; a display name promotes it to a person.
        """
        handle_id = handle_row_id(event.platform, content.sender_id)
        owner = queries.handle_owner(self._state.identity, handle_id)
        name = (content.sender_name or "").strip()
        named = bool(name) and normalise_name(name) != normalise_name(content.sender_id)
        entity = None if owner is None else self._canonical(owner)
        if entity is None:
            entity = self._handle_entity(event.platform, content.sender_id)
        if owner is None:
            self.rows.append(
                Handle(
                    handle_id,
                    event.platform,
                    content.sender_id,
                    entity.id,
                    name or None,
                    self._at,
                )
            )
        if named and entity.type != "person":
            entity = self._promote(entity, name, event.platform, content.sender_id)
        return entity

    def introduce(
        self, introduction: Introduction, sender: Entity, event: Event, content: Content
    ) -> Entity:
        """Learn a name of the sender, or of somebody else; return the entity that has it.

        A handle that gives its name becomes that person. Somebody who has a name already gets
        another one only by saying that they are called so, or by saying more of the same name.
        """
        name = introduction.name
        owner = sender if introduction.of is None else self.mention(introduction.of, "PERSON")
        if owner.type != "person":
            return self._promote(owner, name, event.platform, content.sender_id)
        words = set(normalise_name(name).split())
        if words == set(owner.normalized.split()):
            return owner
        known = self._find(normalise_name(name), "person")
        if known is None:
            known = self._create("person", name, "inferred")
            if introduction.kind == "nickname" or words & set(owner.normalized.split()):
                return self._merge(owner, known, f"called {introduction.kind}")
        if known.id != owner.id:
            self._doubt(owner, known, f"also called {name}")
        return owner

    def contact(self, contact: Contact, sender: Entity) -> Entity:
        """Attach a contact detail to its owner; it is an entity, never a routable handle."""
        owner = sender if contact.owner is None else self.mention(contact.owner, "PERSON")
        detail = self._find(normalise_name(contact.value), contact.kind)
        if detail is None:
            detail = self._create(contact.kind, contact.value, "inferred")
        elif detail.id == owner.id:
            return owner
        elif detail.type != contact.kind:
            # The detail belongs to somebody already: two people may share it, or be one.
            self._doubt(owner, detail, f"both have {contact.kind}")
            return owner
        return self._merge(owner, detail, f"{contact.kind} said in conversation")

    def mention(self, text: str, mention_type: str) -> Entity:
        """Return the entity that a mention names, made where there is none."""
        return self.known(text, mention_type) or self._create(
            ENTITY_TYPES[mention_type], text, "inferred"
        )

    def known(self, text: str, mention_type: str) -> Entity | None:
        """Return the entity that a mention names, or None.

        Names are compared whole and normalised, never by likeness; one type is never taken for
        another. A name whose type is not known is whatever alone has that name. A first name
        stands for the one person who has it.
        """
        wanted = ENTITY_TYPES[mention_type]
        normalized = normalise_name(text)
        found = self._find(normalized, None if wanted == "unknown" else wanted)
        if found is None and wanted not in ("unknown", "email"):
            untyped = self._find(normalized, "unknown")
            if untyped is not None:
                typed = self._create(wanted, text, "inferred")
                return self._merge(typed, untyped, f"learnt to be a {wanted}")
        if found is None and wanted == "person":
            account = self._handle_called(normalized)
            if account is not None:
                owner = self._create(wanted, text, "inferred")
                return self._merge(owner, account, "called by the handle's name")
        if found is None and wanted in ("person", "unknown") and " " not in normalized:
            people = {
                person.id: person
                for row in queries.persons_called(self._state.identity, normalized)
                if (person := self._canonical(row.id)) is not None
            }
            if len(people) == 1:
                found = next(iter(people.values()))
        return found

    def _handle_called(self, normalized: str) -> Entity | None:
        """Return the one account that goes by a name, where its platform gave no other."""
        rows = [*queries.named(self._state.identity, normalized), *self._new.values()]
        handles = {
            row.id: row
            for row in rows
            if row.normalized == normalized
            and row.type.endswith("_handle")
            and self._is(row.id, row.id)
        }
        return next(iter(handles.values())) if len(handles) == 1 else None

    def ids(self, entity: Entity) -> list[str]:
        """Return the ids of what stands for an entity and of everything merged into that."""
        standing = self._canonical(entity.id) or entity
        known = [standing.id]
        known += (row.id for row in queries.aliases(self._state.identity, standing.id))
        known += (loser for loser in self._merged if self._is(loser, standing.id))
        return list(dict.fromkeys(known))

    def _is(self, entity_id: str, standing: str) -> bool:
        found = self._canonical(entity_id)
        return found is not None and found.id == standing

    def _find(self, normalized: str, wanted: str | None) -> Entity | None:
        """Return the one standing entity that has the name, and the type where one is wanted."""
        candidates = [*queries.named(self._state.identity, normalized)]
        candidates += [row for row in self._new.values() if row.normalized == normalized]
        standing: dict[str, Entity] = {}
        for row in candidates:
            if wanted in (row.type, None) and (found := self._canonical(row.id)) is not None:
                standing[found.id] = found
        if len(standing) > 1:
            exact = [row for row in standing.values() if row.normalized == normalized]
            return exact[0] if exact else None
        return next(iter(standing.values()), None)

    def _canonical(self, entity_id: str) -> Entity | None:
        seen: set[str] = set()
        while entity_id not in seen:
            seen.add(entity_id)
            onward = self._merged.get(entity_id) or queries.merged_into(
                self._state.identity, entity_id
            )
            if onward is None:
                return self._new.get(entity_id) or queries.entity(self._state.identity, entity_id)
            entity_id = onward
        return None

    def _handle_entity(self, platform: str, handle: str) -> Entity:
        kind = handle_type(platform, handle)
        there = self._find(normalise_name(handle), kind)
        # An address that was only mentioned until now has written: the entity is the same.
        return there or self._create(kind, handle, "delivery")

    def _promote(self, handle: Entity, name: str, platform: str, sender_id: str) -> Entity:
        """Make a handle the person of that very name; a first name alone is nobody's for sure."""
        person = self._find(normalise_name(name), "person")
        if person is None:
            person = self._create("person", name, "inferred")
        elif queries.has_other_handle(self._state.identity, person.id, platform, sender_id):
            # Two accounts of one platform under one name are two people until somebody says
            # otherwise.
            namesake = self._create("person", name, "inferred", platform, sender_id)
            self._doubt(person, namesake, f"the same name on {platform}")
            person = namesake
        return self._merge(person, handle, "the name that the handle gave")

    def _create(self, kind: str, name: str, source: str, *scope: str) -> Entity:
        normalized = normalise_name(name) or name
        # The time of an entity's id is 0: its id must not depend on which event named it first.
        row = Entity(
            id=entity_id(kind, normalized, 0, *scope),
            name=name,
            type=kind,
            normalized=normalized,
            source=source,  # type: ignore[arg-type]
            created_at=self._at,
        )
        there = self._canonical(row.id)
        if there is not None:
            return there
        self._new[row.id] = row
        self.rows.append(row)
        return row

    def _merge(self, winner: Entity, loser: Entity, reason: str) -> Entity:
        if winner.id == loser.id:
            return winner
        self._merged[loser.id] = winner.id
        self.rows.append(
            merge_row(winner, loser, confidence=_CONFIDENT, reason=reason, at=self._at)
        )
        return winner

    def _doubt(self, one: Entity, other: Entity, reason: str) -> None:
        self.rows.append(
            MergeCandidate(
                id=row_id(self._at, "merge_candidate", one.id, other.id),
                entity_a_id=one.id,
                entity_b_id=other.id,
                confidence=_DOUBTFUL,
                reason=reason,
                created_at=self._at,
            )
        )
