"""Names in a query: which entities it speaks of, through the entity store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import apsw

from projections.identity import queries as identity
from projections.identity import recalls
from projections.readmodel import ReadModel, Watermark
from projections.recall.kept import Kept
from projections.recall.nicknames import other_names
from projections.stopwords import STOP_WORDS
from schemas.changes import Entity
from schemas.names import normalise_name

_WORD = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*", re.UNICODE)
# The longest name that is looked for, in words.
_LONGEST = 4
# A question is read in a few parts, one after the other.
_MOST_READ = 16
# What was looked up of phrases is kept: a few MB of it.
_MOST_KEPT = 20_000


class Named(NamedTuple):
    """An entity that a query names: where, and under which handles it writes."""

    start: int
    end: int
    entity: Entity
    senders: set[tuple[str, str]]
    ids: set[str]


class Names:
    """Reads the names in questions; what was looked up is kept until the entity store changes."""

    def __init__(self, identity: ReadModel) -> None:
        self._identity = identity
        self._watermark: Watermark | None = None
        self._read: dict[str, list[Named]] = {}
        self._standing = Kept(partial(resolved, identity.connection), _MOST_KEPT)
        self._writing: dict[str, tuple[set[tuple[str, str]], set[str]]] = {}

    def of(self, text: str) -> list[Named]:
        """Return the entities named in a query, longest names first where they overlap.

        A word must be written as a name, with a capital, unless the whole query is in lower case.
        """
        watermark = self._identity.watermark()
        if watermark != self._watermark or len(self._writing) > _MOST_KEPT:
            self._watermark = watermark
            self._read.clear()
            self._standing.clear()
            self._writing.clear()
        if text not in self._read:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read[text] = self._named(text)
        return self._read[text]

    def _named(self, text: str) -> list[Named]:
        words = list(_WORD.finditer(text))[:64]
        lower = text == text.lower()
        phrases = _phrases(text, words, lower)
        entities = self._standing.of([phrase.normalized for phrase in phrases])
        unknown = {
            phrase.normalized
            for phrase in phrases
            if not lower and not phrase.goes_on and phrase.normalized not in entities
        }
        for_short = nicknamed(unknown, self._standing.of)
        found: list[Named] = []
        taken: set[int] = set()
        for phrase in phrases:
            span = range(phrase.first, phrase.first + phrase.length)
            entity = entities.get(phrase.normalized)
            if entity is None and not phrase.goes_on:
                entity = for_short.get(phrase.normalized)
            if entity is not None and taken.isdisjoint(span):
                taken.update(span)
                start, end = words[span[0]].start(), words[span[-1]].end()
                found.append(Named(start, end, entity, *self._writing_as(entity)))
        return sorted(found, key=lambda item: item.start)

    def _writing_as(self, entity: Entity) -> tuple[set[tuple[str, str]], set[str]]:
        """Return under which handles an entity writes, and its ids."""
        if entity.id not in self._writing:
            connection = self._identity.connection
            ids = entity_ids(connection, entity)
            self._writing[entity.id] = (recalls.senders(connection, sorted(ids)), ids)
        return self._writing[entity.id]


class _Phrase(NamedTuple):
    """Words of a query that may be a name, which goes on after them or does not."""

    first: int
    length: int
    normalized: str
    goes_on: bool


def _phrases(text: str, words: Sequence[re.Match[str]], lower: bool) -> list[_Phrase]:
    """Return what may be names in a text, the longest first."""
    found = []
    may_begin = [place for place, word in enumerate(words) if lower or word[0][:1].isupper()]
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for first in may_begin:
            if first + length > len(words):
                break
            name = text[words[first].start() : words[first + length - 1].end()]
            normalized = normalise_name(name)
            if length > 1 or (normalized not in STOP_WORDS and len(normalized) >= 2):
                goes_on = _goes_on(text, words, first + length)
                found.append(_Phrase(first, length, normalized, goes_on))
    return found


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


def resolved(connection: apsw.Connection, names: Iterable[str]) -> dict[str, Entity]:
    """Return name -> the entity that `resolve` gives, of those normalised names that have one."""
    found = {name: resolve(connection, name) for name in recalls.known(connection, list(names))}
    return {name: entity for name, entity in found.items() if entity is not None}


def nicknamed(
    names: Iterable[str], resolved: Callable[[Iterable[str]], Mapping[str, Entity]]
) -> dict[str, Entity]:
    """Return name -> the one person who may be called so for short, or by what that is short for.

    Of normalised names, those that have one; `resolved` gives the entities of others.
    """
    others_of = {name: others for name in names if (others := other_names(name))}
    known = resolved({other for others in others_of.values() for other in others})
    found = {}
    for name, others in others_of.items():
        bearers = (known[other] for other in others if other in known)
        persons = {entity.id: entity for entity in bearers if entity.type == "person"}
        if len(persons) == 1:
            (found[name],) = persons.values()
    return found


def entity_ids(connection: apsw.Connection, entity: Entity) -> set[str]:
    """Return an entity's id and those of everything merged into it."""
    return {entity.id, *(row.id for row in identity.aliases(connection, entity.id))}


def ids_of(connection: apsw.Connection, name_or_id: str) -> set[str]:
    """Return the ids of the entity with a name, a nickname or an id; empty where there is none."""
    name = normalise_name(name_or_id)
    entity = resolve(connection, name_or_id) or resolve(connection, name)
    entity = entity or nicknamed([name], partial(resolved, connection)).get(name)
    return set() if entity is None else entity_ids(connection, entity)
