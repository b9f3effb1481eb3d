"""Mentions in an event, resolved to entities."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from recollect.schemas.changes import AnyRow, FactEntity, Mention
from recollect.schemas.events import Event
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_resolver import ENTITY_TYPES, EntityResolver
from recollect.streams.agents.state import EntityRef
from recollect.streams.language.grammar.analysis import Mention as TextMention
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.names.formatting import plain_name, unformatted

#: Types of mentions other than names; they are recorded even if names are not.
VALUE_TYPES = frozenset({"DATE", "TIME", "NUMBER", "EMAIL", "URL"})
DATED_TYPES = frozenset({"DATE", "TIME"})
#: The confidence of a mention that a pronoun or a model resolves to an entity.
RESOLVED_CONFIDENCE = 0.8


class ResolvedMention(NamedTuple):
    """A mention and the id of its entity, ignoring merges by command; "" if none is known."""

    entity_id: str
    mention: TextMention


def statement_mentions(
    statement: Statement, text: str, dates: list[tuple[int, int]], resolver: EntityResolver
) -> Iterable[ResolvedMention]:
    """Yield the mentions of a statement; new names become entities.

    `dates`: the spans of the message's dates and times; a mention within one is kept only if it is
    an event.
    """
    text = unformatted(text)
    for found in statement.mentions:
        name = plain_name(found.text)
        if found.type != "EVENT" and _overlaps(found, dates):
            continue
        if found.type in ENTITY_TYPES and normalise_name(name):
            entity = resolver.resolve_at(text, found.start, name, found.type)
            if entity is not None:
                own_id = resolver.own_id_named(name, entity)
                yield ResolvedMention(own_id, _as_entity(found, entity))


def other_mentions(
    found: Iterable[TextMention],
    text: str,
    recorded: Iterable[ResolvedMention],
    resolver: EntityResolver,
    *,
    names: bool,
    dates: bool,
) -> Iterable[ResolvedMention]:
    """Yield the mentions of a message that none of its facts records; no entity is created.

    `found`: all mentions of the message, in order. `names`, `dates`: whether to yield mentions of
    names and of dates.
    """
    spans = sorted((each.mention.start, each.mention.end) for each in recorded)
    selected = [
        each
        for each in found
        if (names or each.type in VALUE_TYPES)
        and (dates or each.type not in DATED_TYPES)
        and (each.type in DATED_TYPES or not _overlaps(each, spans))
    ]
    linked = {each.mention.start: each for each in link_known(selected, text, resolver)}
    for each in selected:
        yield linked.get(each.start) or ResolvedMention("", each)


def _overlaps(found: TextMention, spans: list[tuple[int, int]]) -> bool:
    before = bisect_left(spans, (found.end,)) - 1
    return before >= 0 and spans[before][1] > found.start


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
            yield ResolvedMention(own_id, _as_entity(each, entity))


def _as_entity(found: TextMention, entity: EntityRef) -> TextMention:
    """Return a mention, as a PERSON if its entity is one, such as a participant called Paris."""
    is_name = found.type not in VALUE_TYPES
    return replace(found, type="PERSON") if is_name and entity.type == "person" else found


def mention_rows(
    mentions: Iterable[ResolvedMention],
    event: Event,
    fact: str,
    sender_id: str,
    sender_name: str,
    likely: Iterable[EntityRef] = (),
) -> list[AnyRow]:
    """Return the mention rows of a fact, or of an event if `fact` is empty: its sender first.

    A fact is also linked to all mentioned entities, and to the `likely` ones.
    """
    rows: list[AnyRow] = [Mention(event.id, fact, sender_id, -1, -1, sender_name, "PERSON", 1.0)]
    linked = {sender_id, *(each.id for each in likely)}
    for entity_id, found in mentions:
        linked.add(entity_id)
        rows.append(
            Mention(
                event.id,
                fact,
                entity_id,
                found.start,
                found.end,
                found.text,
                found.type,
                found.confidence,
                found.first,
                found.last,
                found.time,
            )
        )
    if fact:
        rows += [FactEntity(fact, entity_id) for entity_id in sorted(linked)]
    return rows
