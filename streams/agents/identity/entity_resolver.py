"""Resolves mentions and senders to entities; in doubt they stay apart (A15, A17, F4).

An account is the person of its own display name. Its other names, and names and addresses that its
owner gives of himself, belong to that person. Any other account with the same name is a separate
entity, and waits for review as a merge candidate. A name that is only mentioned is first of whoever
takes part where it is said, then of the one entity that has it, also where it is surely the same
name in another writing; who has a name that is only like it is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.schemas.changes import AnyRow, Handle
from recollect.schemas.events import Content, Event
from recollect.schemas.ids import entity_id, handle_row_id
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_comparison import (
    DOUBTFUL,
    EntityComparison,
    EntityProfile,
    compare_entities,
)
from recollect.streams.agents.identity.entity_rows import EntityRows
from recollect.streams.agents.identity.participants import Participant
from recollect.streams.agents.state import Known, State
from recollect.streams.language.grammar.analysis import Contact, Introduction
from recollect.streams.language.names.around_names import (
    is_local_place,
    is_of_the_speaker,
    is_quoted,
)
from recollect.streams.language.names.display_names import names_in
from recollect.streams.language.names.mentions import stands_as_place
from recollect.text.name_forms import NAME_KINDS, name_form

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
#: Platforms whose members work in one house.
_WORKSPACES = frozenset({"slack", "teams", "mattermost", "zulip", "rocketchat"})
_RELATED = "related to"
_WITHIN = "within"

# So many are proposed of one new name.
_MAX_PROPOSED = 3


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
        self._all = EntityRows(state, event.ingested_at)
        self._speaker = ""
        self._circle = ""
        self._participants: Sequence[Participant] = ()

    @property
    def rows(self) -> list[AnyRow]:
        """The rows that were made."""
        return self._all.rows

    def sender(self, event: Event, content: Content) -> Known:
        """Return who sent an event, at the end of every merge.

        The entity of the handle exists from its first delivery on; a display name makes it a
        person. What is said next is said by him, where he wrote.
        """
        handle_id = self._speaker = handle_row_id(event.platform, content.sender_id)
        self._circle, self._participants = _circle(event, content), ()
        owner = self._state.handle_owner(handle_id)
        name = (content.sender_name or "").strip()
        # A display name that repeats the id counts only if it is written as a name: Caroline, not
        # c4r0.
        repeated = normalise_name(name) == normalise_name(content.sender_id)
        named = bool(name) and (not repeated or name[0].isupper())
        entity = None if owner is None else self._all.canonical(owner)
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
        shared = handle_type(event.platform, content.sender_id) == "email"
        if shared and (other := self._another_at(entity, name)) is not None:
            return other
        self._also_called(entity, name, "another name that the handle gave")
        return entity

    def set_participants(self, participants: Sequence[Participant]) -> None:
        """Set the participants of the sender's conversation whom the message may name."""
        self._participants = participants

    def account(self, platform: str, handle: str) -> Known | None:
        """Return who stands for an account at the end of every merge; None if it is new."""
        owner = self._state.handle_owner(handle_row_id(platform, handle))
        return None if owner is None else self._all.canonical(owner)

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
            known = self._all.create("person", name, "inferred")
        if known.id != owner.id:
            self._all.doubt(owner, known, f"also called {name}")
        return owner

    def contact(self, contact: Contact, sender: Known) -> Known:
        """Attach a contact detail to its owner. It becomes an entity, never a handle to write
        to.
        """
        owner = sender if contact.owner is None else self.mention(contact.owner, "PERSON")
        detail = self._find(normalise_name(contact.value), contact.kind)
        if detail is None:
            detail = self._all.create(contact.kind, contact.value, "inferred")
        elif detail.id == owner.id:
            return owner
        elif detail.type != contact.kind:
            # The detail belongs to somebody already: two people may share it, or be one.
            self._all.doubt(owner, detail, f"both have {contact.kind}")
            return owner
        return self._all.merge(owner, detail, f"{contact.kind} said in conversation")

    def mention_in(self, text: str, start: int, name: str, mention_type: str) -> Known | None:
        """Return the entity that a mention at `start` of a text names, created if there is none.

        "My uncle Tom" is never another person who is known as Tom. A phrase in quotation marks that
        is nobody's known name is nobody: None.
        """
        of_people = mention_type in ("PERSON", "OTHER")
        if of_people and is_of_the_speaker(text, start):
            return self._all.create("person", name, "inferred", _RELATED, self._speaker)
        known = self.known_in(text, start, name, mention_type)
        if known is not None or (of_people and is_quoted(text, start, name)):
            return known
        return self.mention(name, mention_type)

    def known_in(self, text: str, start: int, name: str, mention_type: str) -> Known | None:
        """Return the entity that a mention at `start` of a text names, or None.

        Whoever takes part and has that name comes first, unless the words around it say that it is
        a place.
        """
        of_people = mention_type in ("PERSON", "OTHER")
        own = entity_id("person", normalise_name(name), 0, _RELATED, self._speaker)
        if of_people and (kin := self._all.canonical(own)) is not None:
            return kin
        if not (mention_type == "LOCATION" and stands_as_place(text, start)):
            here = self._here(name, mention_type)
            if here is not None:
                return here
        return self.known(name, mention_type)

    def known_here(self, name: str, mention_type: str) -> Known | None:
        """Return the entity with a name, or None; whoever takes part comes first."""
        return self._here(name, mention_type) or self.known(name, mention_type)

    def mention(self, text: str, mention_type: str) -> Known:
        """Return the entity that a mention names, created if there is none."""
        there = self.known(text, mention_type)
        if there is not None:
            return there
        wanted, normalized = ENTITY_TYPES[mention_type], normalise_name(text)
        if wanted == "place" and is_local_place(normalized):
            return self._local_place(text)
        made = self._all.create(wanted, text, "inferred")
        if (same := self._compare(made, mentioned=True)) is not None:
            return same
        if wanted not in ("unknown", "email"):
            self._doubt_about(made, self._find(normalized, "unknown"), f"perhaps a {wanted}")
        if wanted == "person":
            self._doubt_about(made, self._all.handle_called(normalized), "the name of a handle")
        return made

    def known(self, text: str, mention_type: str) -> Known | None:
        """Return the entity that a mention names, or None.

        Names are compared whole and normalised, never by similarity; types are never mixed up. A
        name of unknown type stands for the only entity with that name. A first name stands for the
        only person who has it. A room or a floor is of the place where it is spoken of.
        """
        wanted = ENTITY_TYPES[mention_type]
        normalized = normalise_name(text)
        if wanted == "place" and is_local_place(normalized):
            return self._namesakes_here(normalized)
        found = self._find(normalized, None if wanted == "unknown" else wanted)
        if found is None and wanted in ("person", "unknown") and " " not in normalized:
            if self._all.namesakes(normalized, "person"):
                # Several have exactly this name: in doubt it is none of them.
                return None
            people = {
                person.id: person
                for row in self._state.persons_called(normalized)
                if (person := self._all.canonical(row.id)) is not None
            }
            if len(people) == 1:
                found = next(iter(people.values()))
        return found

    def ids(self, entity: Known) -> list[str]:
        """Return the id of the entity at the end of its merges, and the ids of all merged into that
        one.
        """
        return self._all.ids(entity)

    def behind_pet_name(self, name: str, sender: Known) -> Known | None:
        """Return whom a name is likely a pet form of, Junie of "Juju", without saying that the two
        are one: the only person of whom it may be; of those alike, as Junie and Juniper are, one.

        Nobody where the name is somebody's already, or review said that they are two.
        """
        normalized = normalise_name(name)
        own = self._find(normalized, "person")
        fits = {
            person.id: person
            for row in self._all.with_pet_name(normalized)
            if (person := self._all.canonical(row.id)) is not None and person.id != sender.id
        }
        if own is None or own.id in fits or not fits:
            return None
        first, *others = (fits[each] for each in sorted(fits))
        described = self._all.described(first)
        alike = (compare_entities(described, self._all.described(each)).decision for each in others)
        if "different" in alike or self._state.is_rejected(own.id, first.id):
            return None
        return None if self._all.described(own).addresses else first

    def _here(self, name: str, mention_type: str) -> Known | None:
        """Return the one who takes part and has a name, whole or first; None: nobody, or two."""
        if mention_type == "EMAIL" or not self._participants:
            return None
        normalized = normalise_name(name)
        whole = [each for each in self._participants if each.whole == normalized]
        first = mention_type in ("PERSON", "OTHER", "LOCATION")
        there = whole or [
            each for each in self._participants if first and normalized in each.called
        ]
        owners = (self._state.handle_owner(each.handle_id) for each in there)
        people = {
            person.id: person
            for owner in owners
            if owner is not None and (person := self._all.canonical(owner)) is not None
        }
        return next(iter(people.values())) if len(people) == 1 else None

    def _local_place(self, name: str) -> Known:
        """Return a room, a floor or the like of the place where it is spoken of."""
        made = self._all.create("place", name, "inferred", _WITHIN, self._circle)
        for near in self._all.near(made):
            same = (
                compare_entities(self._all.described(near), self._all.described(made)).decision
                == "same"
            )
            if same and near.id == self._local_id(near.normalized):
                return self._all.merge(near, made, "the same place, written otherwise")
        return made

    def _local_id(self, normalized: str) -> str:
        return entity_id("place", normalized, 0, _WITHIN, self._circle)

    def _namesakes_here(self, normalized: str) -> Known | None:
        return self._all.canonical(self._local_id(normalized))

    def _find(self, normalized: str, wanted: str | None) -> Known | None:
        """Return the only unmerged entity with the name, and the type if `wanted` is given.

        Of several, the one whom the speaker has called so before as somebody close to him, else the
        one that was created from the name alone; else none.
        """
        standing = self._all.namesakes(normalized, wanted)
        if len(standing) > 1:
            for scope in ((_RELATED, self._speaker), ()):
                meant = entity_id(wanted or "unknown", normalized, 0, *scope)
                if meant in standing:
                    return standing[meant]
            return None
        return next(iter(standing.values()), None)

    def _handle_entity(self, platform: str, handle: str) -> Known:
        kind = handle_type(platform, handle)
        there = self._find(normalise_name(handle), kind)
        # An address that was only mentioned until now has sent a message: it is the same entity.
        return there or self._all.create(kind, handle, "delivery")

    def _promote(self, handle: Known, name: str) -> Known:
        """Make a handle the person of the name it gave, merged with nobody else of that name."""
        namesakes = self._all.namesakes(normalise_name(name), "person")
        person = self._all.create("person", name, "inferred", self._speaker)
        # One of them is enough: review connects it with the others.
        first = min((each for each in namesakes if each != person.id), default=None)
        if first is not None:
            self._all.doubt(namesakes[first], person, "the same name")
        self._doubt_names_in(name, person)
        self._all.merge(person, handle, "the name that the handle gave")
        self._compare(person)
        return person

    def _another_at(self, owner: Known, name: str) -> Known | None:
        """Return the person of a name that comes from another's address; None: it is the owner's.

        Two who have no name in common share a mailbox.
        """
        normalized = normalise_name(name)
        standing = self._all.canonical(entity_id("person", normalized, 0, self._speaker))
        if standing is not None:
            return standing
        other = EntityProfile((normalized,), "person")
        judged = compare_entities(_without_addresses(self._all.described(owner)), other)
        if judged.decision != "different" or _shares_first(owner.normalized, normalized):
            return None
        made = self._all.create("person", name, "inferred", self._speaker)
        self._all.doubt(owner, made, "two names at one address; perhaps a mailbox that they share")
        return made

    def _also_called(self, person: Known, name: str, reason: str) -> None:
        """Note another name of a person, given by his own account."""
        normalized = normalise_name(name)
        if normalized == person.normalized:
            return
        namesakes = self._all.namesakes(normalized, "person")
        if person.id in namesakes:
            return
        alias = self._all.create("person", name, "inferred", self._speaker)
        self._all.merge(person, alias, reason)
        first = min((each for each in namesakes if each != alias.id), default=None)
        if first is not None:
            self._all.doubt(person, namesakes[first], "the same name")
        self._doubt_names_in(name, person)
        self._compare(alias)

    def _doubt_names_in(self, name: str, person: Known) -> None:
        """Leave to review who has a name that stands in a display name: "melodious (Mel)"."""
        for inner in names_in(name)[1:]:
            namesakes = self._all.namesakes(normalise_name(inner), "person")
            first = min((each for each in namesakes if each != person.id), default=None)
            if first is not None:
                self._all.doubt(namesakes[first], person, f"also called {inner}")

    def _compare(self, made: Known, *, mentioned: bool = False) -> Known | None:
        """Judge a new entity against those with names like its own, and propose whom it may be.

        One that was only mentioned is merged into the one entity that surely has its name, which
        is returned. An account is merged with nobody by a name.
        """
        if NAME_KINDS.get(made.type) is None or made.id not in self._all.new:
            return None
        own = self._all.described(made)
        found: dict[str, EntityComparison] = {}
        for near in self._all.near(made):
            judged = compare_entities(self._all.described(near), own)
            if judged.decision != "different":
                found[near.id] = judged
        same = [other for other, one in found.items() if one.decision == "same"]
        # A first name alone is too little to be sure of somebody.
        whole = made.type != "person" or " " in made.normalized
        if mentioned and whole and len(same) == 1:
            (winner,) = (known for other in same if (known := self._all.canonical(other)))
            reason = f"{found[same[0]].in_general[0]}, written otherwise"
            return self._all.merge(winner, made, reason)
        likely = sorted(found, key=lambda other: (-found[other].confidence, other))
        if " " not in made.normalized and len(likely) > _MAX_PROPOSED:
            # A first name that many have says nothing of any of them.
            return None
        for other in likely[:_MAX_PROPOSED]:
            known = self._all.canonical(other)
            if known is not None and known.id != self._all.end(made.id):
                one = found[other]
                sure = DOUBTFUL if one.decision == "same" else one.confidence
                self._all.doubt(known, made, "; ".join(one.in_general), sure)
        return None

    def _doubt_about(self, one: Known, other: Known | None, reason: str) -> None:
        if other is not None and other.id != one.id:
            self._all.doubt(one, other, reason)


def _circle(event: Event, content: Content) -> str:
    """Return for whom a room's number means one room: the channels of a platform, or one group.

    A workspace is of one house, so there it is the same room in a direct message too.
    """
    if content.peer_kind == "channel" or event.platform.lower() in _WORKSPACES:
        return event.platform
    return "\x1f".join((event.platform, content.peer_id or content.thread_id or ""))


def _shares_first(one: str, other: str) -> bool:
    """Whether two people's names have the first name in common: one who married."""
    first, second = name_form(one, "person").words, name_form(other, "person").words
    return first[:1] == second[:1]


def _without_addresses(described: EntityProfile) -> EntityProfile:
    return EntityProfile(described.names, described.type)
