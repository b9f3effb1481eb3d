"""Comparing: whether the rules for entities would take two descriptions for the same."""

from __future__ import annotations

import apsw

from projections.files import ZoneFiles
from projections.identity import IdentityModel, entity_list, merge_list
from projections.recall.question.entity_names import entity_ids, resolve
from recollect.open_zone import OpenZone
from recollect.suggestions import unknown_entity
from schemas.changes import Entity, MergeCandidate, Section
from schemas.errors import InvalidInput
from schemas.events import Event, Message
from schemas.names import normalise_name
from schemas.wire import Comparison, Description
from streams.agents import State
from streams.agents.entities import CONFIDENT, DOUBTFUL, ENTITY_TYPES, EntityResolver
from streams.agents.state import Known
from streams.language.analysis import Contact

_EMAIL = "email"
# Other names for our types of mentions (C5).
_TYPES = {
    "person": "PERSON",
    "organisation": "ORG",
    "organization": "ORG",
    "company": "ORG",
    "legalentity": "ORG",
    "place": "LOCATION",
    "concept": "CONCEPT",
} | {name.casefold(): name for name in ENTITY_TYPES}


class Comparer:
    """Compares descriptions by the rules alone, without a zone."""

    def __init__(self) -> None:
        self._nothing = IdentityModel(None)

    def compare(self, a: Description, b: Description) -> Comparison:
        """Return whether two would be taken for the same, in either order.

        Raises:
            InvalidInput: one has no name.
        """
        found = self._in_order(a, b), self._in_order(b, a)
        if len({each.decision for each in found}) == 1:
            return found[0]
        reasons = dict.fromkeys(reason for each in found for reason in each.reasons)
        return Comparison(
            decision="propose",
            confidence=DOUBTFUL,
            reasons=[*reasons, "it depends on which of them is known first"],
        )

    def _in_order(self, first: Description, second: Description) -> Comparison:
        """Return the result for the second if the first is known already."""
        connection = self._nothing.connection
        connection.execute("BEGIN")
        try:
            earlier = _resolver(connection)
            one = _resolved(earlier, first)
            self._nothing.project([Section((), tuple(earlier.rows))])
            later = _resolver(connection)
            two = _resolved(later, second)
        finally:
            connection.execute("ROLLBACK")
        if later.ids(one)[0] == later.ids(two)[0]:
            return Comparison(
                decision="same", confidence=CONFIDENT, reasons=_why_same(first, second)
            )
        proposed = [row for row in later.rows if isinstance(row, MergeCandidate)]
        if proposed:
            return Comparison(
                decision="propose",
                confidence=max(row.confidence for row in proposed),
                reasons=list(dict.fromkeys(row.reason for row in proposed)),
            )
        return Comparison(decision="different", confidence=0.0, reasons=[_why_not(first, second)])

    def close(self) -> None:
        """Free the tables in memory."""
        self._nothing.close()


def _resolver(connection: apsw.Connection) -> EntityResolver:
    return EntityResolver(State(connection, connection, connection, None, 0), _event())


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
    comparer = Comparer()
    try:
        return comparer.compare(*described)
    finally:
        comparer.close()


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


def _resolved(resolver: EntityResolver, described: Description) -> Known:
    """Apply the rules to a description; return the entity that it becomes."""
    if not described.name.strip():
        raise InvalidInput("a description has no name")
    kind = _TYPES.get(described.type.casefold(), "OTHER")
    if described.email and kind == "PERSON":
        # The address of a sender is an account.
        event = _event(described)
        assert isinstance(event.payload, Message)
        return resolver.sender(event, event.payload)
    meant = resolver.mention(described.name, kind)
    if described.email:
        address = Contact(0, 0, _EMAIL, described.email.casefold(), None)
        return resolver.contact(address, meant)
    return meant


def _event(described: Description | None = None) -> Event:
    """Return an event with the description; its time does not matter."""
    described = described or Description("")
    return Event(
        zone="",
        number=1,
        id="",
        platform=_EMAIL,
        occurred_at=0,
        ingested_at=0,
        payload=Message(
            source_id="",
            sender_id=(described.email or "").casefold(),
            sender_name=described.name,
            content="",
        ),
    )


def _why_same(a: Description, b: Description) -> list[str]:
    reasons = []
    if a.email and b.email and a.email.casefold() == b.email.casefold():
        reasons.append("the same email address")
    if normalise_name(a.name) == normalise_name(b.name):
        reasons.append("the same name")
    return reasons or ["a first name, and the one person who has it"]


def _why_not(a: Description, b: Description) -> str:
    same_name = normalise_name(a.name) == normalise_name(b.name)
    return "different types" if same_name else "different names"
