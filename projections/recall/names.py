"""Names in a query: which entities it speaks of, through the entity store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from projections.identity import queries as identity
from projections.identity import recalls
from projections.recall.nicknames import other_names
from projections.stopwords import STOP_WORDS
from schemas.changes import Entity
from schemas.names import normalise_name

_WORD = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*", re.UNICODE)
# The longest name that is looked for, in words.
_LONGEST = 4


class Named(NamedTuple):
    """An entity that a query names: where, and under which handles it writes."""

    start: int
    end: int
    entity: Entity
    senders: set[tuple[str, str]]
    ids: set[str]


def names_in(connection: apsw.Connection, text: str) -> list[Named]:
    """Return the entities named in a query, longest names first where they overlap.

    A word must be written as a name, with a capital, unless the whole query is in lower case.
    """
    words = list(_WORD.finditer(text))[:64]
    lower = text == text.lower()
    found: list[Named] = []
    taken: set[int] = set()
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            span = range(first, first + length)
            if taken & set(span):
                continue
            start, end = words[first].start(), words[first + length - 1].end()
            name = text[start:end]
            if not lower and not name[:1].isupper():
                continue
            normalized = normalise_name(name)
            if length == 1 and (normalized in STOP_WORDS or len(normalized) < 2):
                continue
            entity = resolve(connection, normalized)
            if entity is None and not lower and not _goes_on(text, words, first + length):
                entity = nicknamed(connection, normalized)
            if entity is not None:
                taken.update(span)
                found.append(_named(connection, start, end, entity))
    return sorted(found, key=lambda item: item.start)


def resolve(connection: apsw.Connection, name_or_id: str) -> Entity | None:
    """Return the standing entity with an id, a normalised name, or a first name that is one's."""
    by_id = identity.canonical(connection, name_or_id)
    if by_id is not None:
        return by_id
    standing: dict[str, Entity] = {}
    for row in identity.named(connection, name_or_id):
        entity = identity.canonical(connection, row.id)
        if entity is not None:
            standing[entity.id] = entity
    if not standing and " " not in name_or_id:
        for row in identity.persons_called(connection, name_or_id):
            entity = identity.canonical(connection, row.id)
            if entity is not None:
                standing[entity.id] = entity
        if len(standing) > 1:
            return None
    persons = [entity for entity in standing.values() if entity.type == "person"]
    return next(iter(persons or standing.values()), None)


def _goes_on(text: str, words: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether a name goes on: "Bob Smith" is nobody called Bob but by another surname."""
    if place == len(words):
        return False
    before, word = words[place - 1], words[place]
    return word[0][:1].isupper() and text[before.end() : word.start()] == " "


def nicknamed(connection: apsw.Connection, normalized: str) -> Entity | None:
    """Return the one person who may be called so for short, or by the name that is short for."""
    known = (resolve(connection, name) for name in other_names(normalized))
    persons = {item.id: item for item in known if item is not None and item.type == "person"}
    return next(iter(persons.values())) if len(persons) == 1 else None


def entity_ids(connection: apsw.Connection, entity: Entity) -> set[str]:
    """Return an entity's id and those of everything merged into it."""
    return {entity.id, *(row.id for row in identity.aliases(connection, entity.id))}


def ids_of(connection: apsw.Connection, name_or_id: str) -> set[str]:
    """Return the ids of the entity with a name, a nickname or an id; empty where there is none."""
    name = normalise_name(name_or_id)
    entity = resolve(connection, name_or_id) or resolve(connection, name)
    entity = entity or nicknamed(connection, name)
    return set() if entity is None else entity_ids(connection, entity)


def standing(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Return id -> id of the entity that now stands for it, of those that have one."""
    found = {id_: identity.canonical(connection, id_) for id_ in set(ids)}
    return {id_: entity.id for id_, entity in found.items() if entity is not None}


def _named(connection: apsw.Connection, start: int, end: int, entity: Entity) -> Named:
    ids = entity_ids(connection, entity)
    return Named(start, end, entity, recalls.senders(connection, sorted(ids)), ids)
