"""The relatives and friends of the zone's owner that a task mentions: "my sister", "dad".

Whoever is meant is read from relationships: of the entities related to the owner, those that a
current fact calls by the same word, or by one with the same meaning.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.memory.relationship_queries import RelationshipFilter, evidence_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.entity_names import entity_ids
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.text.relatives import MEANINGS, called_in, relatives_in, words_in

_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]")


class MeantRelative(NamedTuple):
    """A relative or friend as mentioned: where, and the words of facts about such persons."""

    start: int
    words: Set[str]


def own_relatives_in(text: str) -> list[MeantRelative]:
    """Return the relatives and friends of the owner that a text mentions outside quotations."""
    text = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    found = [each for each in relatives_in(text) if each.whose != "your"]
    found += called_in(text)
    return [
        MeantRelative(each.start, MEANINGS[each.word])
        for each in sorted(found)
        if not each.of_relative
    ]


def persons_meant(
    relative: MeantRelative,
    owner: Set[str],
    question: ParsedQuestion,
    index: Index,
    files: ZoneFiles,
) -> list[set[str]]:
    """Return the ids of each person whom a relative of the owner may mean; all that fit.

    `owner`: the ids of the owner.
    """
    connection = files.memory.connection
    which = RelationshipFilter(valid_ms=question.query.valid_at)
    evidence = evidence_of(connection, sorted(owner), "out", which)
    fact_ids = sorted({each.fact_id for each in evidence} - question.ended.facts)
    places = index.facts.places_of(fact_ids)
    texts = memory.texts(connection, [id_ for id_ in fact_ids if id_ in places])
    meant: dict[str, set[str]] = {}
    for each in evidence:
        text = texts.get(each.fact_id)
        if text is None or not question.eligible[places[each.fact_id]]:
            continue
        # Some rules give only the name as the words that state the relationship.
        words = words_in(text[each.start : each.end]) or words_in(text)
        person = identity.canonical(files.identity.connection, each.target)
        if len(words) == 1 and words <= relative.words and person is not None:
            meant[person.id] = entity_ids(files.identity.connection, [person])
    return [*meant.values()]
