"""Who and what is mentioned in an event, linked to the entities that are meant (A15)."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.schemas.changes import AnyRow, FactEntity, Mention
from recollect.schemas.events import Event
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_resolver import ENTITY_TYPES, EntityResolver
from recollect.streams.agents.state import Known
from recollect.streams.language.grammar.analysis import Mention as NamedInText
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.formatting import plain_name, unformatted
from recollect.streams.language.names.mentions import mentions

#: Who or what is named: entity id, start and end in the text, the words, the type.
Named = tuple[str, int, int, str, str]


def mentions_of(statement: Statement, text: str, resolver: EntityResolver) -> Iterable[Named]:
    """Yield who and what a statement names; who is not known yet becomes an entity."""
    text = unformatted(text)
    for found in statement.mentions:
        name = plain_name(found.text)
        if found.type in ENTITY_TYPES and normalise_name(name):
            entity = resolver.mention_in(text, found.start, name, found.type)
            if entity is not None:
                yield entity.id, found.start, found.end, found.text, _type_of(entity, found)


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
    return known_of(outside, text, resolver)


def known_of(found: Iterable[NamedInText], text: str, resolver: EntityResolver) -> Iterable[Named]:
    """Yield those that are known already of what a text names; nobody becomes an entity."""
    text = unformatted(text)
    for each in found:
        if each.type not in ENTITY_TYPES:
            continue
        entity = resolver.known_in(text, each.start, plain_name(each.text), each.type)
        if entity is not None:
            yield entity.id, each.start, each.end, each.text, _type_of(entity, each)


def _type_of(entity: Known, found: NamedInText) -> str:
    """Return what is mentioned: Paris who takes part in a conversation is a person."""
    return "PERSON" if entity.type == "person" else found.type


def mention_rows(
    named: Iterable[Named],
    event: Event,
    fact: str,
    sender_id: str,
    sender_name: str,
    likely: Iterable[Known] = (),
) -> list[AnyRow]:
    """Return the mentions of a fact, or of an event where `fact` is empty: of its sender, and of
    who is named. A fact is linked to all of them, and to those who are `likely` meant.
    """
    rows: list[AnyRow] = [Mention(event.id, fact, sender_id, -1, -1, sender_name, "PERSON", 1.0)]
    about = {sender_id, *(each.id for each in likely)}
    for entity_id, start, end, text, mention_type in named:
        about.add(entity_id)
        rows.append(Mention(event.id, fact, entity_id, start, end, text, mention_type, 1.0))
    if fact:
        rows += [FactEntity(fact, entity_id) for entity_id in sorted(about)]
    return rows
