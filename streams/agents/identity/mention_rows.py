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
    for mention in statement.mentions:
        name = plain_name(mention.text)
        if mention.type != "EVENT" and _overlaps(mention, dates):
            continue
        if mention.type in ENTITY_TYPES and normalise_name(name):
            entity = resolver.resolve_at(text, mention.start, name, mention.type)
            if entity is not None:
                own_id = resolver.own_id_named(name, entity)
                yield ResolvedMention(own_id, _as_entity(mention, entity))


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
    spans = sorted((resolved.mention.start, resolved.mention.end) for resolved in recorded)
    selected = [
        mention
        for mention in found
        if (names or mention.type in VALUE_TYPES)
        and (dates or mention.type not in DATED_TYPES)
        and (mention.type in DATED_TYPES or not _overlaps(mention, spans))
    ]
    linked = {resolved.mention.start: resolved for resolved in link_known(selected, text, resolver)}
    for mention in selected:
        yield linked.get(mention.start) or ResolvedMention("", mention)


def _overlaps(found: TextMention, spans: list[tuple[int, int]]) -> bool:
    before = bisect_left(spans, (found.end,)) - 1
    return before >= 0 and spans[before][1] > found.start


def link_known(
    found: Iterable[TextMention], text: str, resolver: EntityResolver
) -> Iterable[ResolvedMention]:
    """Yield the mentions that name a known entity; no entity is created."""
    text = unformatted(text)
    for mention in found:
        if mention.type not in ENTITY_TYPES:
            continue
        name = plain_name(mention.text)
        entity = resolver.find_at(text, mention.start, name, mention.type)
        if entity is not None:
            own_id = resolver.own_id_named(name, entity)
            yield ResolvedMention(own_id, _as_entity(mention, entity))


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
    linked = {sender_id, *(entity.id for entity in likely)}
    for entity_id, mention in mentions:
        linked.add(entity_id)
        rows.append(
            Mention(
                event.id,
                fact,
                entity_id,
                mention.start,
                mention.end,
                mention.text,
                mention.type,
                mention.confidence,
                mention.first,
                mention.last,
                mention.time,
            )
        )
    if fact:
        rows += [FactEntity(fact, entity_id) for entity_id in sorted(linked)]
    return rows
