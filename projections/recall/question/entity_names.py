"""Find names in a question, and the entities of the zone to which they refer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import apsw

from recollect.projections.identity import entities_for_recall
from recollect.projections.identity import entity_queries as identity
from recollect.projections.recall.index.lookup_cache import LookupCache
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH
from recollect.schemas.changes import Entity
from recollect.schemas.names import normalise_name, same_letters
from recollect.text.name_forms import name_keys
from recollect.text.nicknames import other_names, with_titles
from recollect.text.stopwords import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*", re.UNICODE)
# The longest name, in words.
_MAX_PHRASE_WORDS = 4
# Number of texts whose names are cached: a query and its sub-questions are looked up several times.
_MAX_CACHED_TEXTS = 16
# The maximum number of entities that are checked for another spelling of a name.
_MAX_SPELLINGS = 24
# The number of phrases whose entities are cached, in a few MB.
_MAX_CACHED = 20_000


class NamedEntity(NamedTuple):
    """A name in a question: its span, and the first of the entities with this name.

    `senders`: the (platform, handle) pairs of all these entities; `ids`: their ids.
    """

    start: int
    end: int
    entity: Entity
    senders: set[tuple[str, str]]
    ids: set[str]


class Names:
    """Finds names in questions; results are cached until `clear`."""

    def __init__(self, identity: apsw.Connection) -> None:
        self._connection = identity
        self._by_text: dict[str, list[NamedEntity]] = {}
        self._entities_by_name = LookupCache(partial(resolve_all, identity), _MAX_CACHED)
        self._handles: dict[str, tuple[set[tuple[str, str]], set[str]]] = {}
        self._fuller: dict[str, list[Entity]] = {}

    def clear(self) -> None:
        """Drop what is cached, since identity.db has changed."""
        self._by_text.clear()
        self._entities_by_name.clear()
        self._handles.clear()
        self._fuller.clear()

    def find(self, text: str) -> list[NamedEntity]:
        """Return the names in a text, in order; of overlapping names, only the longest.

        A name must begin with a capital, unless the whole text is in lower case.
        """
        if text not in self._by_text:
            if len(self._by_text) >= _MAX_CACHED_TEXTS:
                self._by_text.clear()
            self._by_text[text] = self._find(text)
        return self._by_text[text]

    def ids_of(self, names: Iterable[str]) -> dict[str, set[str]]:
        """Return normalised name -> the ids of its entity, for names of a single entity."""
        return {
            name: self._handles_of(entities)[1]
            for name, entities in self._entities_by_name.of(names).items()
            if len(entities) == 1
        }

    def surface_forms(self, text: str) -> list[str]:
        """Return the names in a text, as written there."""
        return [text[item.start : item.end] for item in self.find(text[:MAX_QUERY_LENGTH])]

    def _find(self, text: str) -> list[NamedEntity]:
        words = list(_WORD.finditer(text))[:64]
        is_lower = text == text.lower()
        phrases = _phrases(text, words, is_lower)
        entities = self._entities_by_name.of([phrase.normalized for phrase in phrases])
        unknown = {
            phrase.normalized
            for phrase in phrases
            if not is_lower and not phrase.continues and phrase.normalized not in entities
        }
        by_nickname = resolve_nicknames(unknown, self._entities_by_name.of)
        named: list[NamedEntity] = []
        taken: set[int] = set()
        for phrase in phrases:
            span = range(phrase.first, phrase.first + phrase.length)
            matches = entities.get(phrase.normalized, ())
            if not matches and not phrase.continues:
                matches = by_nickname.get(phrase.normalized, ())
            if matches and taken.isdisjoint(span):
                taken.update(span)
                matches = (*matches, *self._fuller_named(phrase.normalized, matches))
                start, end = words[span[0]].start(), words[span[-1]].end()
                named.append(NamedEntity(start, end, matches[0], *self._handles_of(matches)))
        return sorted(named, key=lambda item: item.start)

    def _fuller_named(self, name: str, named: Sequence[Entity]) -> list[Entity]:
        """Return the persons whom a first name may mean besides the one who has only this name.

        They have a further name, and their merge with that person, who has no account, is pending:
        "my partner Joris", and Joris Haanstra.
        """
        if " " in name or len(named) != 1 or named[0].type != "person":
            return []
        (entity,) = named
        if entity.normalized != name or self._handles_of(named)[0]:
            return []
        if entity.id not in self._fuller:
            pending = identity.pending_with(self._connection, entity.id)
            found = (
                identity.canonical(self._connection, row.id)
                for row in identity.persons_with_first_name(self._connection, name)
                if row.id in pending
            )
            self._fuller[entity.id] = [each for each in found if each is not None]
        return self._fuller[entity.id]

    def _handles_of(self, entities: Sequence[Entity]) -> tuple[set[tuple[str, str]], set[str]]:
        """Return the handles and the ids of the entities that share a name."""
        key = entities[0].id if len(entities) == 1 else "\n".join(item.id for item in entities)
        if key not in self._handles:
            if len(self._handles) >= _MAX_CACHED:
                self._handles.clear()
            ids = entity_ids(self._connection, entities)
            self._handles[key] = (entities_for_recall.senders(self._connection, sorted(ids)), ids)
        return self._handles[key]


class _Phrase(NamedTuple):
    """Words that may be a name; `continues`: another capitalised word follows."""

    first: int
    length: int
    normalized: str
    continues: bool


def _phrases(text: str, words: Sequence[re.Match[str]], is_lower: bool) -> list[_Phrase]:
    """Return the phrases of a text that may be names, the longest first."""
    phrases = []
    starts = [at for at, word in enumerate(words) if is_lower or word[0][:1].isupper()]
    for length in range(min(_MAX_PHRASE_WORDS, len(words)), 0, -1):
        for first in starts:
            if first + length > len(words):
                break
            name = text[words[first].start() : words[first + length - 1].end()]
            normalized = normalise_name(name)
            if length > 1 or (normalized not in STOP_WORDS and len(normalized) >= 2):
                continues = _name_continues(text, words, first + length)
                phrases.append(_Phrase(first, length, normalized, continues))
    return phrases


def resolve(connection: apsw.Connection, name_or_id: str) -> tuple[Entity, ...]:
    """Return the entities to which an id or a normalised name refers, sorted by id.

    If several unmerged entities have the name, all are returned; if there are persons or accounts
    among them, only those. If no entity has the name, other spellings are tried (Jean Luc for
    Jean-Luc), then first names; a first name counts only if a single person has it.
    """
    by_id = identity.canonical(connection, name_or_id)
    if by_id is not None:
        return (by_id,)
    by_entity_id: dict[str, Entity] = {}
    named = identity.entities_named(connection, name_or_id)
    for row in named or _in_other_spelling(connection, name_or_id):
        entity = identity.canonical(connection, row.id)
        if entity is not None:
            by_entity_id[entity.id] = entity
    if not by_entity_id and " " not in name_or_id:
        for row in identity.persons_with_first_name(connection, name_or_id):
            entity = identity.canonical(connection, row.id)
            if entity is not None:
                by_entity_id[entity.id] = entity
        if len(by_entity_id) > 1:
            return ()
    entities = [by_entity_id[id_] for id_ in sorted(by_entity_id)]
    return tuple([entity for entity in entities if _is_person_or_account(entity)] or entities)


def _in_other_spelling(connection: apsw.Connection, name: str) -> list[Entity]:
    keys = {name_keys(name, kind)[0] for kind in ("person", "unknown")}
    found = identity.entities_with_similar_names(connection, sorted(keys), _MAX_SPELLINGS)
    return [entity for entity in found if same_letters(entity.normalized, name)]


def _is_person_or_account(entity: Entity) -> bool:
    """Return whether an entity is a person or an account."""
    return entity.type == "person" or entity.type.endswith("_handle")


def _name_continues(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    """Return whether word `at` continues the name before it, as "Smith" does in "Bob Smith"."""
    if at == len(words):
        return False
    before, word = words[at - 1], words[at]
    return word[0][:1].isupper() and text[before.end() : word.start()] == " "


def resolve_all(connection: apsw.Connection, names: Iterable[str]) -> dict[str, tuple[Entity, ...]]:
    """Return normalised name -> its entities by `resolve`, for names that have any."""
    found = {
        name: resolve(connection, name)
        for name in entities_for_recall.matching_names(connection, list(names))
    }
    return {name: entities for name, entities in found.items() if entities}


def resolve_nicknames(
    names: Iterable[str], resolve_names: Callable[[Iterable[str]], Mapping[str, tuple[Entity, ...]]]
) -> dict[str, tuple[Entity, ...]]:
    """Return normalised name -> the persons known by a nickname, long form or titled form of it.

    A name is left out if these persons have different names. `resolve_names` returns the entities
    of names.
    """
    variants_of = {
        name: variants for name in names if (variants := (*other_names(name), *with_titles(name)))
    }
    entities = resolve_names({variant for variants in variants_of.values() for variant in variants})
    by_name = {}
    for name, variants in variants_of.items():
        matches = (entity for variant in variants for entity in entities.get(variant, ()))
        persons = {entity.id: entity for entity in matches if entity.type == "person"}
        if len({entity.normalized for entity in persons.values()}) == 1:
            by_name[name] = tuple(persons.values())
    return by_name


def entity_ids(connection: apsw.Connection, entities: Iterable[Entity]) -> set[str]:
    """Return the ids of entities and of everything merged into them."""
    ids: set[str] = set()
    for entity in entities:
        ids |= {entity.id, *(row.id for row in identity.aliases(connection, entity.id))}
    return ids


def ids_of_name(connection: apsw.Connection, name_or_id: str) -> set[str]:
    """Return the ids of the entities to which a name, nickname or id refers; empty if none."""
    name = normalise_name(name_or_id)
    entities = resolve(connection, name_or_id) or resolve(connection, name)
    if not entities:
        entities = resolve_nicknames([name], partial(resolve_all, connection)).get(name, ())
    return entity_ids(connection, entities)
