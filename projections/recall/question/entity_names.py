"""Names in a question: which entities of the zone it mentions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import apsw

from recollect.projections.identity import entities_for_recall
from recollect.projections.identity import entity_queries as identity
from recollect.projections.readmodel import ReadModel, Watermark
from recollect.projections.recall.index.lookup_cache import LookupCache
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH
from recollect.schemas.changes import Entity
from recollect.schemas.names import normalise_name
from recollect.text.nicknames import other_names, with_titles
from recollect.text.stopwords import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*", re.UNICODE)
# The longest name, in words.
_MAX_PHRASE_WORDS = 4
# A question has a few sub-questions, and the same text is read several times.
_MAX_CACHED_TEXTS = 16
# Phrases whose entities are cached: a few MB.
_MAX_CACHED = 20_000


class NamedEntity(NamedTuple):
    """A name in a question: where it is, an entity with it, and handles and ids of all with it."""

    start: int
    end: int
    entity: Entity
    senders: set[tuple[str, str]]
    ids: set[str]


class Names:
    """Finds names in questions; look-ups are cached until identity.db changes."""

    def __init__(self, identity: ReadModel) -> None:
        self._identity = identity
        self._watermark: Watermark | None = None
        self._read: dict[str, list[NamedEntity]] = {}
        self._standing = LookupCache(partial(resolved, identity.connection), _MAX_CACHED)
        self._writing: dict[str, tuple[set[tuple[str, str]], set[str]]] = {}

    def of(self, text: str) -> list[NamedEntity]:
        """Return the names in a text, in order; of names that overlap, the longest.

        A word must be written as a name, with a capital, unless the whole query is in lower case.
        """
        watermark = self._identity.watermark()
        if watermark != self._watermark or len(self._writing) > _MAX_CACHED:
            self._watermark = watermark
            self._read.clear()
            self._standing.clear()
            self._writing.clear()
        if text not in self._read:
            if len(self._read) >= _MAX_CACHED_TEXTS:
                self._read.clear()
            self._read[text] = self._named(text)
        return self._read[text]

    def written(self, text: str) -> list[str]:
        """Return the names in a text, as they stand there."""
        return [text[item.start : item.end] for item in self.of(text[:MAX_QUERY_LENGTH])]

    def _named(self, text: str) -> list[NamedEntity]:
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
        found: list[NamedEntity] = []
        taken: set[int] = set()
        for phrase in phrases:
            span = range(phrase.first, phrase.first + phrase.length)
            meant = entities.get(phrase.normalized, ())
            if not meant and not phrase.goes_on:
                meant = for_short.get(phrase.normalized, ())
            if meant and taken.isdisjoint(span):
                taken.update(span)
                start, end = words[span[0]].start(), words[span[-1]].end()
                found.append(NamedEntity(start, end, meant[0], *self._writing_as(meant)))
        return sorted(found, key=lambda item: item.start)

    def _writing_as(self, meant: Sequence[Entity]) -> tuple[set[tuple[str, str]], set[str]]:
        """Return the handles under which the entities of one name write, and the entities' ids."""
        key = meant[0].id if len(meant) == 1 else "\n".join(entity.id for entity in meant)
        if key not in self._writing:
            connection = self._identity.connection
            ids = entity_ids(connection, meant)
            self._writing[key] = (entities_for_recall.senders(connection, sorted(ids)), ids)
        return self._writing[key]


class _Phrase(NamedTuple):
    """Words that may be a name; `goes_on`: another word of a name follows."""

    first: int
    length: int
    normalized: str
    goes_on: bool


def _phrases(text: str, words: Sequence[re.Match[str]], lower: bool) -> list[_Phrase]:
    """Return what may be names in a text, the longest first."""
    found = []
    may_begin = [place for place, word in enumerate(words) if lower or word[0][:1].isupper()]
    for length in range(min(_MAX_PHRASE_WORDS, len(words)), 0, -1):
        for first in may_begin:
            if first + length > len(words):
                break
            name = text[words[first].start() : words[first + length - 1].end()]
            normalized = normalise_name(name)
            if length > 1 or (normalized not in STOP_WORDS and len(normalized) >= 2):
                goes_on = _goes_on(text, words, first + length)
                found.append(_Phrase(first, length, normalized, goes_on))
    return found


def resolve(connection: apsw.Connection, name_or_id: str) -> tuple[Entity, ...]:
    """Return the entities that an id or a normalised name means, by ids; a first name: one person.

    Several entities that were not merged may have one name: all are meant; persons and accounts
    alone, where there are any.
    """
    by_id = identity.canonical(connection, name_or_id)
    if by_id is not None:
        return (by_id,)
    standing: dict[str, Entity] = {}
    for row in identity.entities_named(connection, name_or_id):
        entity = identity.canonical(connection, row.id)
        if entity is not None:
            standing[entity.id] = entity
    if not standing and " " not in name_or_id:
        for row in identity.persons_with_first_name(connection, name_or_id):
            entity = identity.canonical(connection, row.id)
            if entity is not None:
                standing[entity.id] = entity
        if len(standing) > 1:
            return ()
    found = [standing[each] for each in sorted(standing)]
    return tuple([entity for entity in found if _is_somebody(entity)] or found)


def _is_somebody(entity: Entity) -> bool:
    """Return whether an entity is a person, or an account that goes by the name."""
    return entity.type == "person" or entity.type.endswith("_handle")


def _goes_on(text: str, words: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether another word of a name follows: "Bob Smith" is not Bob Miller."""
    if place == len(words):
        return False
    before, word = words[place - 1], words[place]
    return word[0][:1].isupper() and text[before.end() : word.start()] == " "


def resolved(connection: apsw.Connection, names: Iterable[str]) -> dict[str, tuple[Entity, ...]]:
    """Return name -> the entities that `resolve` gives, of those normalised names that have any."""
    found = {
        name: resolve(connection, name)
        for name in entities_for_recall.names_of_entities(connection, list(names))
    }
    return {name: entities for name, entities in found.items() if entities}


def nicknamed(
    names: Iterable[str], resolved: Callable[[Iterable[str]], Mapping[str, tuple[Entity, ...]]]
) -> dict[str, tuple[Entity, ...]]:
    """Return name -> who has a nickname of it, a title before it, or a name that it is short for.

    They go by one name, as several may who were not merged. Names are normalised, and those
    without such persons are left out. `resolved` gives the entities of names.
    """
    others_of = {
        name: others for name in names if (others := (*other_names(name), *with_titles(name)))
    }
    known = resolved({other for others in others_of.values() for other in others})
    found = {}
    for name, others in others_of.items():
        bearers = (entity for other in others for entity in known.get(other, ()))
        persons = {entity.id: entity for entity in bearers if entity.type == "person"}
        if len({entity.normalized for entity in persons.values()}) == 1:
            found[name] = tuple(persons.values())
    return found


def entity_ids(connection: apsw.Connection, entities: Iterable[Entity]) -> set[str]:
    """Return the ids of entities and those of everything merged into them."""
    ids: set[str] = set()
    for entity in entities:
        ids |= {entity.id, *(row.id for row in identity.aliases(connection, entity.id))}
    return ids


def ids_of(connection: apsw.Connection, name_or_id: str) -> set[str]:
    """Return the ids of what has a name, a nickname or an id; empty where nothing has."""
    name = normalise_name(name_or_id)
    meant = resolve(connection, name_or_id) or resolve(connection, name)
    meant = meant or nicknamed([name], partial(resolved, connection)).get(name, ())
    return entity_ids(connection, meant)
