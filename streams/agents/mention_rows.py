"""Who and what is mentioned in an event, linked to the entities that are meant (A15)."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.changes import AnyRow, FactEntity, Mention
from schemas.events import Event
from schemas.names import normalise_name
from streams.agents.entities import ENTITY_TYPES, EntityResolver
from streams.language.analysis import Mention as NamedInText
from streams.language.analysis import Statement
from streams.language.mentions import mentions
from streams.language.text_reading import TextReading

#: Who or what is named: entity id, start and end in the text, the words, the type.
Named = tuple[str, int, int, str, str]


def mentions_of(statement: Statement, text: str, resolver: EntityResolver) -> Iterable[Named]:
    """Yield who and what a statement names; who is not known yet becomes an entity."""
    for found in statement.mentions:
        if found.type in ENTITY_TYPES and normalise_name(found.text):
            entity = resolver.mention_in(text, found.start, found.text, found.type)
            yield entity.id, found.start, found.end, found.text, found.type


def known_mentions(
    text: str,
    read: TextReading | None,
    in_statement: list[tuple[int, int]],
    resolver: EntityResolver,
) -> Iterable[Named]:
    """Yield known entities that are mentioned outside of statements; a question creates no
    entity.
    """
    outside = [
        found
        for found in mentions(text, read)
        if not any(start <= found.start < end for start, end in in_statement)
    ]
    return known_of(outside, resolver)


def known_of(found: Iterable[NamedInText], resolver: EntityResolver) -> Iterable[Named]:
    """Yield those that are known already; nobody becomes an entity."""
    for each in found:
        entity = resolver.known(each.text, each.type) if each.type in ENTITY_TYPES else None
        if entity is not None:
            yield entity.id, each.start, each.end, each.text, each.type


def mention_rows(
    named: Iterable[Named], event: Event, fact: str, sender_id: str, sender_name: str
) -> list[AnyRow]:
    """Return the mentions of a fact, or of an event where `fact` is empty: of its sender, and of
    who is named. A fact is linked to all of them.
    """
    rows: list[AnyRow] = [Mention(event.id, fact, sender_id, -1, -1, sender_name, "PERSON", 1.0)]
    about = {sender_id}
    for entity_id, start, end, text, mention_type in named:
        about.add(entity_id)
        rows.append(Mention(event.id, fact, entity_id, start, end, text, mention_type, 1.0))
    if fact:
        rows += [FactEntity(fact, entity_id) for entity_id in sorted(about)]
    return rows
