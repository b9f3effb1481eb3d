"""The relatives and friends of the zone's owner that a task mentions: "my sister", "dad".

Whoever is meant is read from relationships: of the entities related to the owner, those that a
current fact calls by the same word, or by one with the same meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.memory.relationship_queries import RelationshipFilter, evidence_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.entity_names import entity_ids
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.text.lexicon import PARTNERS, RELATIONS, word_set

_MOTHER = word_set("mother mom mum mommy mummy mama")
_FATHER = word_set("father dad daddy papa")
_GRANDMOTHER = word_set("grandmother grandma granny")
_GRANDFATHER = word_set("grandfather grandpa")
_SAME = (
    _MOTHER,
    _FATHER,
    _GRANDMOTHER,
    _GRANDFATHER,
    word_set("friend buddy pal mate"),
    word_set("colleague coworker co-worker"),
    word_set("neighbour neighbor"),
    word_set("roommate flatmate"),
)
# Words for persons of any sex.
_ANY_SEX = {
    "parent": _MOTHER | _FATHER,
    "grandparent": _GRANDMOTHER | _GRANDFATHER,
    **dict.fromkeys(("child", "children", "kid"), word_set("son daughter child kid")),
    "sibling": word_set("sister brother"),
    **dict.fromkeys(("partner", "spouse"), PARTNERS | {"spouse"}),
}
#: Word in a task -> the words of facts about the persons that it may mean.
_MEANINGS: Mapping[str, Set[str]] = (
    {word: frozenset({word}) for word in RELATIONS - {"named"}}
    | {word: words for words in _SAME for word in words}
    | _ANY_SEX
)
_ANY = "|".join(sorted(map(re.escape, _MEANINGS), key=lambda word: (-len(word), word)))
_RELATION = re.compile(rf"(?<![\w-])(?P<word>{_ANY})s?(?![\w-])", re.IGNORECASE)
# What precedes a relative of the owner: "my", "my older", "my mother and".
_MINE = re.compile(
    rf"\b(?:my|our) (?:[\w-]+ )?(?:(?:{_ANY})s?,? (?:and|or) (?:[\w-]+ )?)?\Z", re.IGNORECASE
)
# "Dad" alone is the owner's father, but not after "her", "Ada's" or "her mum and".
_ADDRESSED = _MOTHER | _FATHER | _GRANDMOTHER | _GRANDFATHER
_OF_ANOTHER = re.compile(
    r"(?:\b(?:his|her|their|your|the|an?|this|that|every|some|any)|['’]s?)"
    r"(?: [\w-]+ (?:and|or))? \Z",
    re.IGNORECASE,
)
# "The husband of my sister" and "my sister's husband" are neither my sister nor my husband.
_BEFORE_RELATIVE = re.compile(rf"\b(?:{_ANY})s? of (?:(?:my|our) )?(?:[\w-]+ )?\Z", re.IGNORECASE)
_AFTER_RELATIVE = re.compile(rf"['’]s? (?:[\w-]+ )?(?:{_ANY})s?(?![\w-])", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]")


class Relative(NamedTuple):
    """A relative or friend as mentioned: where, and the words of facts about such persons."""

    start: int
    words: Set[str]


def relatives_in(text: str) -> list[Relative]:
    """Return the relatives and friends of the owner that a text mentions outside quotations."""
    text = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    found = []
    for match in _RELATION.finditer(text):
        before, word = text[: match.start()], match["word"].lower()
        mine = _MINE.search(before)
        is_called = word in _ADDRESSED and _OF_ANOTHER.search(before) is None
        if (mine or is_called) and not (
            _BEFORE_RELATIVE.search(before) or _AFTER_RELATIVE.match(text, match.end())
        ):
            found.append(Relative(mine.start() if mine else match.start(), _MEANINGS[word]))
    return found


def persons_meant(
    relative: Relative, owner: Set[str], question: ParsedQuestion, index: Index, files: ZoneFiles
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
        words = _relations(text[each.start : each.end]) or _relations(text)
        person = identity.canonical(files.identity.connection, each.target)
        if len(words) == 1 and words <= relative.words and person is not None:
            meant[person.id] = entity_ids(files.identity.connection, [person])
    return [*meant.values()]


def _relations(text: str) -> set[str]:
    """Return the words for relatives and friends in a text."""
    return {match["word"].lower() for match in _RELATION.finditer(text)}
