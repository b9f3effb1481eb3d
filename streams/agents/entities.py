"""Resolves mentions and senders to entities; in doubt they stay apart (A15, A17, F4).

An account is the person of its own display name. Its other names, and names and addresses that its
owner gives of himself, belong to that person. Any other account with the same name is a separate
entity, and waits for review as a merge candidate. A name that is only mentioned is of the one
entity that has it, also where it is surely the same name in another writing; who has a name that is
only like it is proposed.
"""

from __future__ import annotations

import re

import msgspec

from projections.text.name_forms import NAME_KINDS, name_keys
from schemas.changes import AnyRow, Entity, Handle, MergeCandidate
from schemas.events import Content, Event
from schemas.ids import entity_id, handle_row_id, row_id
from schemas.names import normalise_name
from streams.agents.merges import merge_row
from streams.agents.state import Known, State
from streams.language.analysis import Contact, Introduction
from streams.language.name_comparison import NameComparison, compare_names

#: The type of entity (A15) for each type of mention (C5); types that name no entity are absent.
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
# "my uncle Tom", "our old friend Zephyr": somebody close to the speaker, apart from namesakes.
_OF_THE_SPEAKER = re.compile(r"\b(?:my|our)\s+(?:[a-z][a-z-]*\s+){1,3}$", re.IGNORECASE)
_RELATED = "related to"
#: The confidence of a merge for which somebody gave cause, and of a proposal to merge.
CONFIDENT = 0.95
DOUBTFUL = 0.5

# With so many entities a new name is compared, and so many are proposed.
_COMPARED = 24
_MOST_PROPOSED = 3


def handle_type(platform: str, handle: str) -> str:
    """Return the type of a delivery handle: email, phone, or the platform's own."""
    if "@" in handle[1:] and " " not in handle:
        return "email"
    if _PHONE.fullmatch(handle):
        return "phone"
    return f"{normalise_name(platform).replace(' ', '_') or 'unknown'}_handle"


class EntityResolver:
    """Finds or creates the entities of one record; new rows are in `rows`.

    It sees the state and its own new rows, so a name that stands twice in a record is one entity.
    """

    def __init__(self, state: State, event: Event) -> None:
        self._state = state
        self._at = event.ingested_at
        self._new: dict[str, Known] = {}
        self._merged: dict[str, str] = {}
        self._speaker = ""
        self.rows: list[AnyRow] = []

    def sender(self, event: Event, content: Content) -> Known:
        """Return who sent an event, at the end of every merge.

        The entity of the handle exists from its first delivery on; a display name makes it a
        person.
        """
        handle_id = self._speaker = handle_row_id(event.platform, content.sender_id)
        owner = self._state.handle_owner(handle_id)
        name = (content.sender_name or "").strip()
        # A display name that repeats the id counts only if it is written as a name: Caroline, not
        # c4r0.
        repeated = normalise_name(name) == normalise_name(content.sender_id)
        named = bool(name) and (not repeated or name[0].isupper())
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
        if not named:
            return entity
        if entity.type != "person":
            return self._promote(entity, name)
        self._also_called(entity, name, "another name that the handle gave")
        return entity

    def account(self, platform: str, handle: str) -> Known | None:
        """Return who stands for an account at the end of every merge; None if it is new."""
        owner = self._state.handle_owner(handle_row_id(platform, handle))
        return None if owner is None else self._canonical(owner)

    def introduce(self, introduction: Introduction, sender: Known) -> Known:
        """Note a name of the sender, or of somebody else; return the entity with that name.

        A handle that gives its name becomes that person. A person with a name gets another one only
        by saying "I am called ...", or by giving a longer form of the same name.
        """
        name = introduction.name
        owner = sender if introduction.of is None else self.mention(introduction.of, "PERSON")
        if owner.type != "person":
            return self._promote(owner, name)
        words = set(normalise_name(name).split())
        if words == set(owner.normalized.split()):
            return owner
        known = self._find(normalise_name(name), "person")
        if known is None and (
            introduction.kind == "nickname" or words & set(owner.normalized.split())
        ):
            self._also_called(owner, name, f"called {introduction.kind}")
            return owner
        if known is None:
            known = self._create("person", name, "inferred")
        if known.id != owner.id:
            self._doubt(owner, known, f"also called {name}")
        return owner

    def contact(self, contact: Contact, sender: Known) -> Known:
        """Attach a contact detail to its owner. It becomes an entity, never a handle to write
        to.
        """
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

    def mention_in(self, text: str, start: int, name: str, mention_type: str) -> Known:
        """Return the entity that a mention at `start` of a text names, created if there is none.

        "My uncle Tom" is never another person who is known as Tom.
        """
        of_people = mention_type in ("PERSON", "OTHER")
        if of_people and _OF_THE_SPEAKER.search(text, max(0, start - 80), start):
            return self._create("person", name, "inferred", _RELATED, self._speaker)
        return self.mention(name, mention_type)

    def mention(self, text: str, mention_type: str) -> Known:
        """Return the entity that a mention names, created if there is none."""
        there = self.known(text, mention_type)
        if there is not None:
            return there
        wanted, normalized = ENTITY_TYPES[mention_type], normalise_name(text)
        made = self._create(wanted, text, "inferred")
        if (same := self._compare(made, mentioned=True)) is not None:
            return same
        if wanted not in ("unknown", "email"):
            self._doubt_about(made, self._find(normalized, "unknown"), f"perhaps a {wanted}")
        if wanted == "person":
            self._doubt_about(made, self._handle_called(normalized), "the name of a handle")
        return made

    def known(self, text: str, mention_type: str) -> Known | None:
        """Return the entity that a mention names, or None.

        Names are compared whole and normalised, never by similarity; types are never mixed up. A
        name of unknown type stands for the only entity with that name. A first name stands for the
        only person who has it.
        """
        wanted = ENTITY_TYPES[mention_type]
        normalized = normalise_name(text)
        found = self._find(normalized, None if wanted == "unknown" else wanted)
        if found is None and wanted in ("person", "unknown") and " " not in normalized:
            if self._namesakes(normalized, "person"):
                # Several have exactly this name: in doubt it is none of them.
                return None
            people = {
                person.id: person
                for row in self._state.persons_called(normalized)
                if (person := self._canonical(row.id)) is not None
            }
            if len(people) == 1:
                found = next(iter(people.values()))
        return found

    def ids(self, entity: Known) -> list[str]:
        """Return the id of the entity at the end of its merges, and the ids of all merged into that
        one.
        """
        standing = self._canonical(entity.id) or entity
        known = [standing.id, *self._state.merged(standing.id)]
        known += (loser for loser in self._merged if self._is(loser, standing.id))
        return list(dict.fromkeys(known))

    def _handle_called(self, normalized: str) -> Known | None:
        """Return the only account with this name, if its platform gave it no other."""
        rows = [*self._state.named(normalized), *self._new.values()]
        handles = {
            row.id: row
            for row in rows
            if row.normalized == normalized
            and row.type.endswith("_handle")
            and self._is(row.id, row.id)
        }
        return next(iter(handles.values())) if len(handles) == 1 else None

    def _is(self, entity_id: str, standing: str) -> bool:
        found = self._canonical(entity_id)
        return found is not None and found.id == standing

    def _namesakes(self, normalized: str, wanted: str | None) -> dict[str, Known]:
        """Return the unmerged entities with a name, by id; of one type if `wanted` is given."""
        candidates = self._state.named(normalized)
        candidates += [row for row in self._new.values() if row.normalized == normalized]
        return {
            found.id: found
            for row in candidates
            if wanted in (row.type, None) and (found := self._canonical(row.id)) is not None
        }

    def _find(self, normalized: str, wanted: str | None) -> Known | None:
        """Return the only unmerged entity with the name, and the type if `wanted` is given.

        Of several, the one whom the speaker has called so before as somebody close to him, else the
        one that was created from the name alone; else none.
        """
        standing = self._namesakes(normalized, wanted)
        if len(standing) > 1:
            for scope in ((_RELATED, self._speaker), ()):
                meant = entity_id(wanted or "unknown", normalized, 0, *scope)
                if meant in standing:
                    return standing[meant]
            return None
        return next(iter(standing.values()), None)

    def _canonical(self, entity_id: str) -> Known | None:
        seen: set[str] = set()
        while entity_id not in seen:
            seen.add(entity_id)
            onward = self._merged.get(entity_id) or self._state.merged_into(entity_id)
            if onward is None:
                return self._new.get(entity_id) or self._state.entity(entity_id)
            entity_id = onward
        return None

    def _handle_entity(self, platform: str, handle: str) -> Known:
        kind = handle_type(platform, handle)
        there = self._find(normalise_name(handle), kind)
        # An address that was only mentioned until now has sent a message: it is the same entity.
        return there or self._create(kind, handle, "delivery")

    def _promote(self, handle: Known, name: str) -> Known:
        """Make a handle the person of the name it gave, merged with nobody else of that name."""
        namesakes = self._namesakes(normalise_name(name), "person")
        person = self._create("person", name, "inferred", self._speaker)
        # One of them is enough: review connects it with the others.
        first = min((each for each in namesakes if each != person.id), default=None)
        if first is not None:
            self._doubt(namesakes[first], person, "the same name")
        self._compare(person)
        return self._merge(person, handle, "the name that the handle gave")

    def _also_called(self, person: Known, name: str, reason: str) -> None:
        """Note another name of a person, given by his own account."""
        normalized = normalise_name(name)
        if normalized == person.normalized:
            return
        namesakes = self._namesakes(normalized, "person")
        if person.id in namesakes:
            return
        alias = self._create("person", name, "inferred", self._speaker)
        self._merge(person, alias, reason)
        first = min((each for each in namesakes if each != alias.id), default=None)
        if first is not None:
            self._doubt(person, namesakes[first], "the same name")
        self._compare(alias)

    def _compare(self, made: Known, *, mentioned: bool = False) -> Known | None:
        """Compare the name of a new entity with names that are like it, and propose whom it may be.

        One that was only mentioned is merged into the one entity that surely has its name, which
        is returned. No name is of an entity that has a name against it.
        """
        kind = NAME_KINDS.get(made.type)
        if kind is None or made.id not in self._new:
            return None
        found: dict[str, NameComparison] = {}
        for near in self._near(made):
            each = [compare_names(made.normalized, name, kind) for name in self._names(near)]
            if all(one.likelihood > 0 for one in each):
                found[near.id] = max(each, key=lambda one: one.likelihood)
        same = [other for other, one in found.items() if one.decision == "same"]
        # A first name alone is too little to be sure of somebody.
        whole = made.type != "person" or " " in made.normalized
        if mentioned and whole and len(same) == 1:
            (winner,) = (known for other in same if (known := self._canonical(other)))
            return self._merge(winner, made, f"{found[same[0]].reasons[0]}, written otherwise")
        likely = sorted(
            (other for other, one in found.items() if one.decision != "different"),
            key=lambda other: (-found[other].likelihood, other),
        )
        if " " not in made.normalized and len(likely) > _MOST_PROPOSED:
            # A first name that many have says nothing of any of them.
            return None
        for other in likely[:_MOST_PROPOSED]:
            known = self._canonical(other)
            if known is not None and known.id != self._end(made.id):
                reason = "; ".join(found[other].reasons)
                self._doubt(known, made, reason, min(found[other].likelihood, CONFIDENT))
        return None

    def _near(self, made: Known) -> list[Known]:
        """Return the entities at the end of their merges that have a name like a new one's."""
        rows = self._state.names_alike(made.normalized, made.type, _COMPARED)
        keys = set(name_keys(made.normalized, made.type))
        rows += [
            row
            for row in self._new.values()
            if row.type == made.type and not keys.isdisjoint(name_keys(row.normalized, row.type))
        ]
        near = {
            known.id: known
            for row in rows
            if row.normalized != made.normalized and (known := self._canonical(row.id)) is not None
        }
        own = self._end(made.id)
        return [known for known in near.values() if known.id != own and known.type == made.type]

    def _names(self, entity: Known) -> list[str]:
        """Return the names of an entity and of all of its type that were merged into it."""
        others = (self._new.get(each) or self._state.entity(each) for each in self.ids(entity))
        return list(
            dict.fromkeys(each.normalized for each in others if each and each.type == entity.type)
        )

    def _end(self, entity_id: str) -> str:
        known = self._canonical(entity_id)
        return entity_id if known is None else known.id

    def _create(self, kind: str, name: str, source: str, *scope: str) -> Known:
        """Create an entity; `scope` separates entities of the same name."""
        normalized = normalise_name(name) or name
        # The time of an entity's id is 0: its id must not depend on which event named it first.
        made = Known(entity_id(kind, normalized, 0, *scope), kind, normalized)
        there = self._canonical(made.id)
        if there is not None:
            return there
        self._new[made.id] = made
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

    def _merge(self, winner: Known, loser: Known, reason: str) -> Known:
        if winner.id == loser.id:
            return winner
        self._merged[loser.id] = winner.id
        self.rows.append(
            merge_row(winner.id, loser.id, confidence=CONFIDENT, reason=reason, at=self._at)
        )
        return winner

    def _doubt_about(self, one: Known, other: Known | None, reason: str) -> None:
        if other is not None and other.id != one.id:
            self._doubt(one, other, reason)

    def _doubt(self, one: Known, other: Known, reason: str, confidence: float = DOUBTFUL) -> None:
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
