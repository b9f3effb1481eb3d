"""Mentions in an event, resolved to entities (A15)."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.schemas.changes import AnyRow, FactEntity, Mention
from recollect.schemas.events import Event
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_resolver import ENTITY_TYPES, EntityResolver
from recollect.streams.agents.state import EntityRef
from recollect.streams.language.grammar.analysis import Mention as TextMention
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.formatting import plain_name, unformatted
from recollect.streams.language.names.mentions import mentions

#: (entity id before merges by command, start, end, mentioned text, mention type)
ResolvedMention = tuple[str, int, int, str, str]


def statement_mentions(
    statement: Statement, text: str, resolver: EntityResolver
) -> Iterable[ResolvedMention]:
    """Yield the mentions of a statement; new names become entities."""
    text = unformatted(text)
    for found in statement.mentions:
        name = plain_name(found.text)
        if found.type in ENTITY_TYPES and normalise_name(name):
            entity = resolver.resolve_at(text, found.start, name, found.type)
            if entity is not None:
                own_id = resolver.own_id_named(name, entity)
                yield own_id, found.start, found.end, found.text, _type_of(entity, found)


def known_mentions(
    text: str,
    read: TextReading | None,
    statement_spans: list[tuple[int, int]],
    resolver: EntityResolver,
) -> Iterable[ResolvedMention]:
    """Yield the mentions of known entities outside of statements, which create no entities."""
    outside = [
        found
        for found in mentions(text, read)
        if not any(start <= found.start < end for start, end in statement_spans)
    ]
    return link_known(outside, text, resolver)


def link_known(
    found: Iterable[TextMention], text: str, resolver: EntityResolver
) -> Iterable[ResolvedMention]:
    """Yield the mentions that name a known entity; no entity is created."""
    text = unformatted(text)
    for each in found:
        if each.type not in ENTITY_TYPES:
            continue
        name = plain_name(each.text)
        entity = resolver.find_at(text, each.start, name, each.type)
        if entity is not None:
            own_id = resolver.own_id_named(name, entity)
            yield own_id, each.start, each.end, each.text, _type_of(entity, each)


def _type_of(entity: EntityRef, found: TextMention) -> str:
    """Return the mention's type; the entity decides: a participant called Paris is a person."""
    return "PERSON" if entity.type == "person" else found.type


def mention_rows(
    named: Iterable[ResolvedMention],
    event: Event,
    fact: str,
    sender_id: str,
    sender_name: str,
    likely: Iterable[EntityRef] = (),
) -> list[AnyRow]:
    """Return the mention rows of a fact, or of an event if `fact` is empty: its sender first.

    A fact is also linked to all mentioned entities, and to those that are `likely` meant.
    """
    rows: list[AnyRow] = [Mention(event.id, fact, sender_id, -1, -1, sender_name, "PERSON", 1.0)]
    linked = {sender_id, *(each.id for each in likely)}
    for entity_id, start, end, text, mention_type in named:
        linked.add(entity_id)
        rows.append(Mention(event.id, fact, entity_id, start, end, text, mention_type, 1.0))
    if fact:
        rows += [FactEntity(fact, entity_id) for entity_id in sorted(linked)]
    return rows
