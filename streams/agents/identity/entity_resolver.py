"""Resolve mentions and senders to entities; in doubt they stay separate.

An account with a display name is a person. The person also has the account's later names, and the
names and addresses that its owner gives in messages. Another account with the same name is a
separate person, and a merge is proposed for review. A mentioned name resolves first to a
participant of the conversation, then to the only entity that has the name, in any spelling. If a
name is only similar, a merge is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.schemas.changes import AnyRow, Handle
from recollect.schemas.events import Content, Event
from recollect.schemas.ids import entity_id, handle_row_id
from recollect.schemas.names import normalise_name, without_hyphens
from recollect.streams.agents.identity.entity_comparison import (
    UNCERTAIN,
    EntityProfile,
    compare_entities,
)
from recollect.streams.agents.identity.entity_rows import EntityRows
from recollect.streams.agents.identity.participants import Participant
from recollect.streams.agents.state import EntityRef, State
from recollect.streams.language.grammar.analysis import Contact, Introduction
from recollect.streams.language.names.display_names import names_in
from recollect.streams.language.names.mentions import stands_as_place
from recollect.streams.language.names.name_context import (
    is_local_place,
    is_of_the_speaker,
    is_quoted,
)
from recollect.text.name_forms import NAME_KINDS, SPELT_ONLY, name_form

#: The type of entity for each type of mention; types that name no entity are absent.
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
#: Platforms of workspaces, whose members share a building.
_WORKSPACES = frozenset({"slack", "teams", "mattermost", "zulip", "rocketchat"})
_RELATED = "related to"
_WITHIN = "within"

# The maximum number of merges proposed for a new name.
_MAX_PROPOSED = 3


def handle_type(platform: str, handle: str) -> str:
    """Return the type of a delivery handle: email, phone, or a type of the platform's own."""
    if "@" in handle[1:] and " " not in handle:
        return "email"
    if _PHONE.fullmatch(handle):
        return "phone"
    return f"{normalise_name(platform).replace(' ', '_') or 'unknown'}_handle"


class EntityResolver:
    """Finds or creates the entities of one record; new rows are in `rows`.

    It sees the state and its own new rows, so that a name that occurs twice is one entity.
    """

    def __init__(self, state: State, event: Event) -> None:
        self._state = state
        self._at = event.ingested_at
        self._entities = EntityRows(state, event.ingested_at)
        self._sender_handle_id = ""
        # The id of the sender's entity before merges.
        self._sender_id = ""
        self._room_scope = ""
        self._participants: Sequence[Participant] = ()

    @property
    def rows(self) -> list[AnyRow]:
        """The new rows."""
        return self._entities.rows

    def resolve_sender(self, event: Event, content: Content) -> EntityRef:
        """Return the canonical entity of an event's sender, created if it is new.

        A display name makes the entity a person. Calls of other methods then resolve names as this
        sender uses them in this conversation.
        """
        handle_id = self._sender_handle_id = handle_row_id(event.platform, content.sender_id)
        self._room_scope, self._participants = _room_scope(event, content), ()
        owner = self._state.handle_owner(handle_id)
        name = (content.sender_name or "").strip()
        # A display name that repeats the id counts only if it is written as a name: Caroline, not
        # c4r0.
        repeated = normalise_name(name) == normalise_name(content.sender_id)
        has_name = bool(name) and (not repeated or name[0].isupper())
        entity = None if owner is None else self._entities.canonical(owner)
        if entity is None:
            entity = self._handle_entity(event.platform, content.sender_id)
        self._sender_id = owner or entity.id
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
        if not has_name:
            return entity
        if entity.type != "person":
            return self._promote(entity, name)
        shared = handle_type(event.platform, content.sender_id) == "email"
        if shared and (other := self._other_mailbox_user(entity, name)) is not None:
            return other
        self._add_alias(entity, name, "another name that the handle gave")
        return entity

    def set_participants(self, participants: Sequence[Participant]) -> None:
        """Set the participants of the sender's conversation that the message may name."""
        self._participants = participants

    def introduce(self, introduction: Introduction, sender: EntityRef) -> EntityRef:
        """Apply a name that the sender gives for themselves or another; return the named entity.

        An unnamed account becomes a person with this name. A person gets a further name only if it
        is a nickname ("I am called ...") or shares a word with the present name.
        """
        name = introduction.name
        owner = sender if introduction.of is None else self.resolve(introduction.of, "PERSON")
        if owner.type != "person":
            return self._promote(owner, name)
        words = set(normalise_name(name).split())
        if words == set(owner.normalized.split()):
            return owner
        other = self._find_unambiguous(normalise_name(name), "person")
        if other is None and (
            introduction.kind == "nickname" or words & set(owner.normalized.split())
        ):
            self._add_alias(owner, name, f"called {introduction.kind}")
            return owner
        if other is None:
            other = self._entities.create("person", name, "inferred")
        if other.id != owner.id:
            self._entities.propose_merge(owner, other, f"also called {name}")
        return owner

    def attach_contact(self, contact: Contact, sender: EntityRef) -> EntityRef:
        """Merge a contact detail into its owner; return the owner.

        The detail becomes an entity, but never a handle to which messages could be sent.
        """
        owner = sender if contact.owner is None else self.resolve(contact.owner, "PERSON")
        detail = self._find_unambiguous(normalise_name(contact.value), contact.kind)
        if detail is None:
            detail = self._entities.create(contact.kind, contact.value, "inferred")
        elif detail.id == owner.id:
            return owner
        elif detail.type != contact.kind:
            # The detail already belongs to another person: the two may share it, or be the same.
            self._entities.propose_merge(owner, detail, f"both have {contact.kind}")
            return owner
        return self._entities.merge(owner, detail, f"{contact.kind} said in conversation")

    def resolve_at(self, text: str, start: int, name: str, mention_type: str) -> EntityRef | None:
        """Return the entity of a mention at `start` of a text, created if there is none.

        "My uncle Tom" never resolves to another person called Tom; a merge is proposed instead. A
        phrase in quotation marks that is not the name of a known entity gives None.
        """
        of_people = mention_type in ("PERSON", "OTHER")
        if of_people and is_of_the_speaker(text, start):
            new_entity = self._entities.create(
                "person", name, "inferred", _RELATED, self._sender_handle_id
            )
            self._propose_namesake(new_entity, self._participant_named(name, "PERSON"))
            return new_entity
        found = self.find_at(text, start, name, mention_type)
        if found is not None or (of_people and is_quoted(text, start, name)):
            return found
        return self.create(name, mention_type)

    def find_at(self, text: str, start: int, name: str, mention_type: str) -> EntityRef | None:
        """Return the entity of a mention at `start` of a text, or None.

        Participants come first, unless the words around the mention show that it is a place.
        """
        of_people = mention_type in ("PERSON", "OTHER")
        relation_id = entity_id("person", normalise_name(name), 0, _RELATED, self._sender_handle_id)
        if of_people and (relation := self._entities.canonical(relation_id)) is not None:
            return relation
        if not (mention_type == "LOCATION" and stands_as_place(text, start)):
            participant = self._participant_named(name, mention_type)
            if participant is not None:
                return participant
        return self.find(name, mention_type)

    def find_in_conversation(self, name: str, mention_type: str) -> EntityRef | None:
        """Return the entity with this name, or None; participants come first."""
        return self._participant_named(name, mention_type) or self.find(name, mention_type)

    def resolve(self, text: str, mention_type: str) -> EntityRef:
        """Return the entity of a mention, created if there is none."""
        return self.find(text, mention_type) or self.create(text, mention_type)

    def create(self, text: str, mention_type: str) -> EntityRef:
        """Return a new entity for a mention that `find` does not find.

        It is a known entity instead if that one has the name in another spelling.
        """
        entity_type, normalized = ENTITY_TYPES[mention_type], normalise_name(text)
        if entity_type == "place" and is_local_place(normalized):
            return self._indoor_place(text)
        new_entity = self._entities.create(entity_type, text, "inferred")
        if (same := self._match_similar(new_entity, mentioned=True)) is not None:
            return same
        if entity_type not in ("unknown", "email"):
            self._propose_if_other(
                new_entity,
                self._find_unambiguous(normalized, "unknown"),
                f"perhaps a {entity_type}",
            )
        if entity_type == "person":
            self._propose_namesake(new_entity)
            self._propose_if_other(
                new_entity, self._entities.account_named(normalized), "the name of a handle"
            )
        return new_entity

    def find(self, text: str, mention_type: str) -> EntityRef | None:
        """Return the entity of a mention, or None.

        Names match only if they are equal when normalised, and types must match too. A name of
        unknown type resolves to the only entity with that name, a first name to the only person who
        has it, and a room or floor to the one in the scope of this conversation.
        """
        entity_type = ENTITY_TYPES[mention_type]
        normalized = normalise_name(text)
        if entity_type == "place" and is_local_place(normalized):
            return self._find_indoor_place(normalized)
        found = self._find_unambiguous(
            normalized, None if entity_type == "unknown" else entity_type
        )
        if found is None and entity_type == "organisation" and " " in normalized:
            found = self._account_of_business(normalized)
        if found is None and entity_type in ("person", "unknown") and " " not in normalized:
            if self._entities.namesakes(normalized, "person"):
                # Several persons have exactly this name, so it is ambiguous.
                return None
            people = {
                person.id: person
                for row in self._state.persons_with_first_name(normalized)
                if (person := self._entities.canonical(row.id)) is not None
            }
            if len(people) == 1:
                found = next(iter(people.values()))
        return found

    def _account_of_business(self, normalized: str) -> EntityRef | None:
        """Return the only account with the name of a business.

        The entity of an account is a person, even if a business sends from it.
        """
        namesakes = self._entities.namesakes(normalized, "person").values()
        accounts = [each for each in namesakes if self._entities.profile_of(each).addresses]
        return accounts[0] if len(accounts) == 1 else None

    def ids(self, entity: EntityRef) -> list[str]:
        """Return the id of the canonical entity, then the ids of all entities merged into it."""
        return self._entities.ids(entity)

    def sender_ids(self, sender: EntityRef) -> list[str]:
        """Return the ids of the sender like `ids`, but the id of the sender's own account first.

        After a merge by command the order differs: undoing the merge must separate what each person
        wrote.
        """
        return self._own_first(self._sender_id, self.ids(sender))

    def own_ids(self, sender: EntityRef) -> list[str]:
        """Return the ids of the sender like `sender_ids`, without persons merged by command.

        A statement counts as a repetition only of statements by the same person, so that undoing a
        merge loses no facts.
        """
        first, *others = self.sender_ids(sender)
        person = self._entities.own_id(first)
        return [first, *(id_ for id_ in others if self._entities.own_id(id_) == person)]

    def account_ids(self, platform: str, handle: str) -> list[str]:
        """Return the ids of an account's entity like `sender_ids`; none if the account is new."""
        owner = self._state.handle_owner(handle_row_id(platform, handle))
        entity = None if owner is None else self._entities.canonical(owner)
        if owner is None or entity is None:
            return []
        return self._own_first(owner, self.ids(entity))

    def ids_named(self, name: str, entity: EntityRef) -> list[str]:
        """Return the ids of an entity; the merged entity that has this name comes first."""
        ids = self.ids(entity)
        own_ids = {id_: self._entities.own_id(id_) for id_ in ids}
        if len(set(own_ids.values())) == 1:
            return ids
        normalized = normalise_name(name)
        named = [row.id for row in self._state.entities_named(normalized)]
        named += [row.id for row in self._state.persons_with_first_name(normalized)]
        known = next((id_ for id_ in named if id_ in own_ids), entity.id)
        return self._own_first(known, ids)

    def own_id_named(self, name: str, entity: EntityRef) -> str:
        """Return the id of the entity that has this name, of those that commands have merged."""
        return self.ids_named(name, entity)[0]

    def _own_first(self, entity_id: str, ids: list[str]) -> list[str]:
        own_id = self._entities.own_id(entity_id)
        return [own_id, *(id_ for id_ in ids if id_ != own_id)] if own_id in ids else ids

    def own_id(self, entity_id: str) -> str:
        """Return the id at the end of an entity's merges, ignoring those by command."""
        return self._entities.own_id(entity_id)

    def find_by_pet_name(self, name: str, sender: EntityRef) -> EntityRef | None:
        """Return the person whose name has the mentioned pet form: Junie for "Juju".

        The two entities stay separate. If several persons fit, their names must match each other,
        as Junie and Juniper do. None if the pet form belongs to an account, or if review rejected
        the merge.
        """
        normalized = normalise_name(name)
        mentioned = self._find_unambiguous(normalized, "person")
        candidates = {
            person.id: person
            for row in self._entities.with_pet_form(normalized)
            if (person := self._entities.canonical(row.id)) is not None and person.id != sender.id
        }
        if mentioned is None or mentioned.id in candidates or not candidates:
            return None
        first, *others = (candidates[each] for each in sorted(candidates))
        profile = self._entities.profile_of(first)
        decisions = (
            compare_entities(profile, self._entities.profile_of(each)).decision for each in others
        )
        if "different" in decisions or self._state.is_rejected(mentioned.id, first.id):
            return None
        return None if self._entities.profile_of(mentioned).addresses else first

    def _participant_named(self, name: str, mention_type: str) -> EntityRef | None:
        """Return the only participant who has this full or first name, or None."""
        if mention_type == "EMAIL" or not self._participants:
            return None
        normalized = normalise_name(name)
        found = [each for each in self._participants if each.display_name == normalized]
        if not found and mention_type in ("PERSON", "OTHER", "LOCATION"):
            without_hyphen = without_hyphens(normalized)
            found = [each for each in self._participants if without_hyphen in each.names]
        owners = (self._state.handle_owner(each.handle_id) for each in found)
        people = {
            person.id: person
            for owner in owners
            if owner is not None and (person := self._entities.canonical(owner)) is not None
        }
        return next(iter(people.values())) if len(people) == 1 else None

    def _indoor_place(self, name: str) -> EntityRef:
        """Return a room, floor or the like in the scope of this conversation, created if new."""
        new_entity = self._entities.create("place", name, "inferred", _WITHIN, self._room_scope)
        for similar, comparison in self._entities.similar(new_entity):
            is_same = comparison.decision == "same"
            if is_same and similar.id == self._indoor_place_id(similar.normalized):
                return self._entities.merge(
                    similar, new_entity, "the same place, written otherwise"
                )
        return new_entity

    def _indoor_place_id(self, normalized: str) -> str:
        return entity_id("place", normalized, 0, _WITHIN, self._room_scope)

    def _find_indoor_place(self, normalized: str) -> EntityRef | None:
        return self._entities.canonical(self._indoor_place_id(normalized))

    def _find_unambiguous(self, normalized: str, entity_type: str | None) -> EntityRef | None:
        """Return the only canonical entity with this name, and of this type if given, or None.

        If there are several, return the sender's own relation of that name ("my uncle Tom"), or
        else the entity that was created from the name alone.
        """
        namesakes = self._entities.namesakes(normalized, entity_type)
        if len(namesakes) > 1:
            for scope in ((_RELATED, self._sender_handle_id), ()):
                preferred = entity_id(entity_type or "unknown", normalized, 0, *scope)
                if preferred in namesakes:
                    return namesakes[preferred]
            return None
        return next(iter(namesakes.values()), None)

    def _handle_entity(self, platform: str, handle: str) -> EntityRef:
        kind = handle_type(platform, handle)
        # If the address has only been mentioned so far, it is already an entity.
        existing = self._find_unambiguous(normalise_name(handle), kind)
        return existing or self._entities.create(kind, handle, "delivery")

    def _promote(self, handle: EntityRef, name: str) -> EntityRef:
        """Create a person with the name that a handle's owner gave, merge the two, and return it.

        The person stays separate from namesakes.
        """
        namesakes = self._entities.namesakes(normalise_name(name), "person")
        person = self._entities.create("person", name, "inferred", self._sender_handle_id)
        # One proposal is enough: further merges connect the other namesakes.
        first = min((each for each in namesakes if each != person.id), default=None)
        if first is not None:
            self._entities.propose_merge(namesakes[first], person, "the same name")
        self._propose_embedded_names(name, person)
        self._entities.merge(person, handle, "the name that the handle gave")
        self._match_similar(person)
        return person

    def _other_mailbox_user(self, owner: EntityRef, name: str) -> EntityRef | None:
        """Return another person who sends from the owner's address; None if the owner sends.

        Two names that have nothing in common belong to two people who share a mailbox.
        """
        normalized = normalise_name(name)
        own_id = entity_id("person", normalized, 0, self._sender_handle_id)
        existing = self._entities.canonical(own_id)
        if existing is not None:
            self._sender_id = own_id
            return existing
        other = EntityProfile((normalized,), "person")
        compared = compare_entities(_without_addresses(self._entities.profile_of(owner)), other)
        if compared.decision != "different" or _share_first_name(owner.normalized, normalized):
            return None
        new_entity = self._entities.create("person", name, "inferred", self._sender_handle_id)
        self._sender_id = own_id
        self._entities.propose_merge(
            owner, new_entity, "two names at one address; perhaps a mailbox that they share"
        )
        return new_entity

    def _add_alias(self, person: EntityRef, name: str, reason: str) -> None:
        """Add another name of a person, given by the person's own account."""
        normalized = normalise_name(name)
        if normalized == person.normalized:
            return
        namesakes = self._entities.namesakes(normalized, "person")
        if person.id in namesakes:
            return
        alias = self._entities.create("person", name, "inferred", self._sender_handle_id)
        self._entities.merge(person, alias, reason)
        first = min((each for each in namesakes if each != alias.id), default=None)
        if first is not None:
            self._entities.propose_merge(person, namesakes[first], "the same name")
        self._propose_embedded_names(name, person)
        self._match_similar(alias)

    def _propose_embedded_names(self, name: str, person: EntityRef) -> None:
        """Propose merges with persons named inside a display name, such as "melodious (Mel)"."""
        for inner in names_in(name)[1:]:
            namesakes = self._entities.namesakes(normalise_name(inner), "person")
            first = min((each for each in namesakes if each != person.id), default=None)
            if first is not None:
                self._entities.propose_merge(namesakes[first], person, f"also called {inner}")

    def _match_similar(self, new_entity: EntityRef, *, mentioned: bool = False) -> EntityRef | None:
        """Compare a new entity with those of similar names, and propose merges.

        A mentioned entity is merged at once if exactly one entity has the same name in another
        spelling, and no name of that entity conflicts. That entity is then returned. An account is
        never merged by name.
        """
        spelt_only = new_entity.type in SPELT_ONLY
        if (
            not (spelt_only or new_entity.type in NAME_KINDS)
            or new_entity.id not in self._entities.new
        ):
            return None
        found = {each.id: comparison for each, comparison in self._entities.similar(new_entity)}
        same = [other for other, one in found.items() if one.decision == "same"]
        if mentioned and len(same) == 1:
            (winner,) = (known for other in same if (known := self._entities.canonical(other)))
            reason = f"{found[same[0]].generic_reasons[0]}, written otherwise"
            return self._entities.merge(winner, new_entity, reason)
        likely = sorted(found, key=lambda other: (-found[other].confidence, other))
        if spelt_only or (" " not in new_entity.normalized and len(likely) > _MAX_PROPOSED):
            # Many persons have this first name.
            return None
        for other in likely[:_MAX_PROPOSED]:
            canonical = self._entities.canonical(other)
            if canonical is not None and canonical.id != self._entities.canonical_id(new_entity.id):
                one = found[other]
                confidence = UNCERTAIN if one.decision == "same" else one.confidence
                reason = "; ".join(one.generic_reasons)
                self._entities.propose_merge(canonical, new_entity, reason, confidence)
        return None

    def _propose_namesake(self, new_entity: EntityRef, likely: EntityRef | None = None) -> None:
        """Propose to merge a new person with the `likely` person, or with one of the same name.

        One proposal is enough: further merges connect the other namesakes. Accounts of that name
        are left out, since nothing shows which of them is meant.
        """
        if new_entity.id not in self._entities.new or self._entities.is_proposed(new_entity.id):
            return
        namesakes = self._entities.namesakes(new_entity.normalized, "person")
        mentioned = (
            namesakes[each]
            for each in sorted(namesakes)
            if each != new_entity.id and not self._entities.profile_of(namesakes[each]).addresses
        )
        self._propose_if_other(new_entity, likely or next(mentioned, None), "the same name")

    def _propose_if_other(self, one: EntityRef, other: EntityRef | None, reason: str) -> None:
        if other is not None and other.id != one.id:
            self._entities.propose_merge(one, other, reason)


def _room_scope(event: Event, content: Content) -> str:
    """Return the scope in which a room's name is unique: all channels of a platform, or one group.

    The members of a workspace share a building, so its direct messages are in the platform's scope.
    """
    if content.peer_kind == "channel" or event.platform.lower() in _WORKSPACES:
        return event.platform
    return "\x1f".join((event.platform, content.peer_id or content.thread_id or ""))


def _share_first_name(one: str, other: str) -> bool:
    """Return whether two names have the same first name, as before and after a marriage."""
    first, second = name_form(one, "person").words, name_form(other, "person").words
    return first[:1] == second[:1]


def _without_addresses(profile: EntityProfile) -> EntityProfile:
    return EntityProfile(profile.names, profile.type)
