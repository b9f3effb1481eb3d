"""What else a name may refer to: entities with similar names, and texts with a part of the name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Set
from typing import NamedTuple

import apsw

from recollect.operations.erasure.record_matching import Names
from recollect.projections.events import event_queries as events
from recollect.projections.identity import entity_queries as identity
from recollect.projections.recall.question.entity_names import entity_ids
from recollect.schemas.changes import Entity
from recollect.schemas.names import normalise_name
from recollect.text.lexicon import FUNCTION_WORDS, MONTHS
from recollect.text.name_forms import NAME_KINDS, NameKind, name_form, name_keys
from recollect.text.nicknames import is_title
from recollect.text.stopwords import STOP_WORDS

# Words that are capitalised at the beginning of a sentence although they are not names.
_ORDINARY_WORDS = STOP_WORDS | FUNCTION_WORDS | MONTHS.keys()

# The maximum number of entities that are compared with each name.
_MAX_COMPARED = 200


class NameMatcher:
    """Compares names with those of one entity, as identity resolution does."""

    def __init__(self, names: Iterable[str], kind: NameKind) -> None:
        self._names = sorted(set(names))
        self._kind: NameKind = kind
        #: The words of the names, without titles and initials, each also in Latin letters.
        self.words = {
            word
            for name in self._names
            for word in (*name_form(name, kind).words, *normalise_name(name).split())
            if len(word) > 1 and not is_title(word.rstrip("."))
        }
        self._word_pattern = re.compile(
            rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(self.words))) or '(?!)'})(?!\w)",
            re.IGNORECASE,
        )
        self._single_words = Names(self.words)

    def may_mean(self, name: str) -> bool:
        """Return whether a name is so like one of the entity's names that it should be proposed."""
        # Imported here: only forgetting needs it, and recall loads the table of operations too.
        from recollect.streams.language.names.name_comparison import compare_names

        found = (compare_names(name, own, self._kind) for own in self._names)
        return any(each.decision != "different" for each in found)

    def may_occur_in(self, text: str) -> bool:
        """Return whether a text may name the entity: by a similar name, or a word of its name.

        A word counts if it is used as a name and is not part of another name: for the entity Iris
        Marlowe, "Marlowe" in "Anna Marlowe" does not count.
        """
        from recollect.streams.language.names.mentions import mentions

        text = " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").split())
        mentioned = mentions(text)
        spans = [(mention.start, mention.end) for mention in mentioned]
        if any(
            self.may_mean(mention.text)
            for mention in mentioned
            if self._word_pattern.search(mention.text)
        ):
            return True
        return any(
            self._is_used_as_name(text, word)
            for word in self._word_pattern.finditer(text)
            if not any(start <= word.start() < end for start, end in spans)
        )

    def _is_used_as_name(self, text: str, word: re.Match[str]) -> bool:
        """Return whether a word is capitalised, follows a title, or can only be a name."""
        before = text[: word.start()].split()
        return (
            (word[0][:1].isupper() and normalise_name(word[0]) not in _ORDINARY_WORDS)
            or (bool(before) and is_title(before[-1].rstrip(".").casefold()))
            or self._single_words.is_certain(word[0])
        )


class PossibleEntity(NamedTuple):
    """Another entity that a name may refer to; `ids` include those of entities merged into it."""

    entity: Entity
    ids: set[str]


def matcher_of(connection: apsw.Connection, ids: Set[str]) -> NameMatcher:
    """Return a matcher for an entity's names.

    `ids`: the ids of the entity and of those merged into it.
    """
    found = [identity.entity(connection, id_) for id_ in sorted(ids)]
    entities = [entity for entity in found if entity is not None and entity.type in NAME_KINDS]
    persons = [entity for entity in entities if entity.type == "person"]
    kind = NAME_KINDS[(persons or entities)[0].type] if entities else "other"
    return NameMatcher((entity.name for entity in persons or entities), kind)


def similar_entities(
    connection: apsw.Connection, ids: Set[str], matcher: NameMatcher
) -> list[PossibleEntity]:
    """Return the other entities of the same type that have a similar name, in order of id."""
    by_id: dict[str, PossibleEntity] = {}
    for id_ in sorted(ids):
        entity = identity.entity(connection, id_)
        if entity is None or entity.type not in NAME_KINDS:
            continue
        keys = name_keys(entity.normalized, entity.type)
        for row in identity.entities_with_similar_names(connection, keys, _MAX_COMPARED):
            other = identity.canonical(connection, row.id)
            if (
                other is not None
                and other.id not in ids
                and other.id not in by_id
                and row.type == entity.type
                and matcher.may_mean(row.name)
            ):
                by_id[other.id] = PossibleEntity(other, entity_ids(connection, [other]))
    return [by_id[id_] for id_ in sorted(by_id)]


def texts_with_a_part_of_the_name(
    connection: apsw.Connection,
    matcher: NameMatcher,
    remaining: Callable[[Set[int]], Set[int]],
) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of the events that may name the entity, in order.

    `remaining` takes event numbers and returns the ones to consider; the texts of the other events
    are not analysed.
    """
    by_number = {
        number: (id_, text)
        for word in sorted(matcher.words)
        for number, id_, text in events.containing_phrase(connection, word)
    }
    for number in sorted(remaining(by_number.keys())):
        id_, text = by_number[number]
        if matcher.may_occur_in(text):
            yield id_, text
