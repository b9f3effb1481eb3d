"""The typed relationships between entities that a fact states, with their places in its text.

A sentence that expresses a doubt, a denial, a question or an end states no relationship. The rules
(`relationship_rules`) find relationships stated by a verb or a noun between two names; slots, such
as an employer, add those stated in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recollect.schemas.choices import RelationshipType
from recollect.streams.language.names.display_names import in_capitals
from recollect.streams.relationships.relationship_rules import GRAMMAR, relationships_of
from recollect.streams.relationships.sentence_names import KIND_OF, Name, NameKind, SentenceNames
from recollect.text.declared_rules import Lexeme, Reading, lexemes
from recollect.text.lexicon import PRONOUNS, word_set
from recollect.text.sentences import sentences

#: Relationships below this confidence are dropped. A confidence is the product of the rule's and of
#: both names', so a plain "has met" with two likely names has about one half.
CONFIDENCE_THRESHOLD = 0.3
#: Longer sentences are lists or pasted text.
_MAX_SENTENCE = 400
#: The relationship that a value of a slot states, if it names an entity of one of these kinds.
OF_SLOT: Mapping[str, tuple[RelationshipType, frozenset[NameKind]]] = {
    "employer": ("WORKS_WITH", frozenset({"group", "thing", "place"})),
    "home": ("LOCATED_IN", frozenset({"place"})),
    "partner": ("RELATES_TO", frozenset({"person"})),
    "family": ("RELATES_TO", frozenset({"person"})),
    "pet": ("HAS", frozenset({"person", "thing", "group", "place"})),
    "possession": ("OWNS", frozenset({"thing", "place"})),
    "studies": ("RELATES_TO", frozenset({"group", "place"})),
    "origin": ("RELATES_TO", frozenset({"place"})),
}
_SLOT_CONFIDENCE = 0.9

#: Words before or between the two names that mark a denial, a doubt, a wish, the future or an end.
_DOUBT = re.compile(
    r"\b(?:not|never|no|nor|neither|without|nobody|hardly|barely|cannot|if|unless|whether|maybe|"
    r"perhaps|probably|possibly|apparently|supposedly|allegedly|might|could|would|should|may|must|"
    r"can|will|shall|gonna|going to|about to|wish|wishes|wished|hope|hopes|hoping|hoped|want|"
    r"wants|wanted|plan|plans|planning|planned|intends?|intending|considers?|considering|think|"
    r"thinks|thought|believes?|believed|guess|suppose|imagine|imagines|pretends?|pretending|dream|"
    r"dreams|dreaming|dreamed|dreamt|tries|try|trying|tried|asks?|asked|wonders?|almost|nearly|"
    r"used to|former|formerly|previously|previous|ex|late|instead|rumou?red|claims?|claimed|"
    r"fictional|joking|kidding|like to|love to|supposed to|have to|has to|need to|needs to|"
    r"let['’]s)\b|n['’]t\b|['’](?:ll|d)\b",
    re.IGNORECASE,
)
#: Such words after the names.
_DOUBT_AFTER = re.compile(
    r"\b(?:if|unless|until|any ?more|no longer|no more|or not|once|in my dreams?)\b|\?",
    re.IGNORECASE,
)
_AFTER_LISTS = word_set("and in at on to for with from today yesterday last this")
#: What shows that a name continues, as after "Ann" in "Ann Lee".
_GOES_ON = re.compile(r" [^\W\d_a-z]")
#: A fact in the words of its speaker: "Ada: I ...".
_SPEECH = re.compile(r"(?P<name>[^:\n]{1,80}): (?=\S)")


class NamedEntity(NamedTuple):
    """A name in a fact: the entity that it means, the mention's type and its confidence."""

    entity_id: str
    name: str
    type: str
    confidence: float


class FactRelationship(NamedTuple):
    """A relationship that a fact states in text[start:end].

    `rule` is the id of the rule that found it, or the slot.
    """

    type: RelationshipType
    source: str
    target: str
    confidence: float
    start: int
    end: int
    rule: str


def relationships_in(
    text: str,
    names: Sequence[NamedEntity],
    speaker: NamedEntity,
    slot: tuple[str, str, str] | None = None,
) -> list[FactRelationship]:
    """Return the relationships that a fact states, at most one for two entities in one direction.

    `slot`: (entity, attribute, value) of the fact, if it states one.
    """
    by_pair: dict[tuple[str, str], tuple[int, FactRelationship]] = {}
    for priority, relationship in (*_by_rules(text, names, speaker), *_by_slot(text, names, slot)):
        known = by_pair.get((relationship.source, relationship.target))
        if relationship.confidence >= CONFIDENCE_THRESHOLD and (
            known is None or (priority, relationship.confidence) > (known[0], known[1].confidence)
        ):
            by_pair[relationship.source, relationship.target] = priority, relationship
    return [relationship for _, relationship in by_pair.values()]


def _by_rules(
    text: str, names: Sequence[NamedEntity], speaker: NamedEntity
) -> Iterator[tuple[int, FactRelationship]]:
    by_text = _unambiguous([speaker, *_as_told(speaker), *names])
    speech = _SPEECH.match(text)
    spoken = speech.end() if speech is not None and speech["name"] == speaker.name else 0
    first_person = bool(spoken) and _SPEECH.match(text, spoken) is None
    named = {name.entity_id for name in by_text.values()}
    if len(named | {speaker.entity_id} if first_person else named) < 2:
        return
    for start, end in sentences(text):
        start = max(start, spoken) if end > spoken else end
        if not 0 < end - start <= _MAX_SENTENCE:
            continue
        placed = list(_placed(text, start, end, by_text))
        person = None
        if first_person:
            person = Name(start, start, speaker.entity_id, "person", speaker.confidence)
        entities = {name.entity_id for name in placed} | ({person.entity_id} if person else set())
        if len(entities) < 2:
            continue
        words = lexemes(text, start, end)
        reading = Reading(GRAMMAR, text, words, SentenceNames(words, placed, person))
        for stated, rule in relationships_of(reading, len(words)):
            if _is_doubted(text, start, end, stated.source, stated.target):
                continue
            for target in (stated.target, *_further(words, placed, stated.target)):
                if target.entity_id != stated.source.entity_id:
                    confidence = stated.confidence * stated.source.confidence * target.confidence
                    place = (
                        min(stated.source.start, target.start),
                        max(stated.source.end, target.end),
                    )
                    yield (
                        rule.priority,
                        FactRelationship(
                            stated.type,
                            stated.source.entity_id,
                            target.entity_id,
                            round(confidence, 3),
                            *place,
                            rule.id,
                        ),
                    )


def _by_slot(
    text: str, names: Sequence[NamedEntity], slot: tuple[str, str, str] | None
) -> Iterator[tuple[int, FactRelationship]]:
    if slot is None or slot[1] not in OF_SLOT:
        return
    subject, attribute, value = slot
    type_, kinds = OF_SLOT[attribute]
    for name in names:
        kind = KIND_OF.get(name.type)
        start = text.find(name.name)
        if kind not in {*kinds, "unknown"} or name.entity_id == subject or start < 0:
            continue
        goes_on = _GOES_ON.match(text, start + len(name.name))
        is_value = re.search(rf"(?<!\w){re.escape(name.name)}(?!\w)", value) is not None
        if is_value and not goes_on:
            confidence = round(_SLOT_CONFIDENCE * name.confidence, 3)
            place = (start, start + len(name.name))
            relationship = (type_, subject, name.entity_id, confidence, *place, attribute)
            yield 0, FactRelationship(*relationship)


def _as_told(speaker: NamedEntity) -> list[NamedEntity]:
    """Return the speaker as facts name them: with capitals, or only the first name."""
    told = in_capitals(speaker.name)
    names = dict.fromkeys((told, told.split(" ")[0]))
    return [speaker._replace(name=name) for name in names if name and name != speaker.name]


def _unambiguous(names: Iterable[NamedEntity]) -> dict[str, NamedEntity]:
    """Return the names by their text; one that means several entities is left out."""
    by_text: dict[str, NamedEntity] = {}
    ambiguous = set()
    for name in names:
        text = name.name.rstrip(".,;:!?")
        if not text or text.lower() in PRONOUNS or name.type not in KIND_OF:
            continue
        if text in by_text and by_text[text].entity_id != name.entity_id:
            ambiguous.add(text)
        by_text.setdefault(text, name)
    return {text: name for text, name in by_text.items() if text not in ambiguous}


def _placed(text: str, start: int, end: int, by_text: Mapping[str, NamedEntity]) -> Iterator[Name]:
    """Yield the names in a sentence, the longest where they overlap."""
    taken: list[tuple[int, int]] = []
    for name in sorted(by_text, key=lambda each: (-len(each), each)):
        for first, last in _whole_words(name, text, start, end):
            if not any(first < right and left < last for left, right in taken):
                taken.append((first, last))
                entity = by_text[name]
                yield Name(first, last, entity.entity_id, KIND_OF[entity.type], entity.confidence)


def _whole_words(name: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where a name stands between two characters of a text, as whole words.

    A regular expression for each name would be compiled anew for nearly every text.
    """
    at = text.find(name, start, end)
    while at >= 0:
        last = at + len(name)
        inside = (at > start and _is_of_word(text[at - 1])) or (
            last < end and _is_of_word(text[last])
        )
        if not inside:
            yield at, last
        at = text.find(name, at + 1 if inside else last, end)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_doubted(text: str, start: int, end: int, source: Name, target: Name) -> bool:
    last = max(source.end, target.end)
    return (
        _DOUBT.search(text, start, last) is not None
        or _DOUBT_AFTER.search(text, last, end) is not None
    )


def _further(words: Sequence[Lexeme], names: Sequence[Name], target: Name) -> Iterator[Name]:
    """Yield the names that follow an object in a list: "Bob, Eve and Tom"."""
    starts = {name.start: name for name in names}
    after_end = {word.end: place + 1 for place, word in enumerate(words)}

    def lower(place: int) -> str:
        return words[place].lower if place < len(words) else ""

    place = after_end.get(target.end, len(words))
    while lower(place) in ("and", ",", "&"):
        place += 2 if (lower(place), lower(place + 1)) == (",", "and") else 1
        name = starts.get(words[place].start) if place < len(words) else None
        if name is None or name.kind != target.kind:
            return
        place = after_end.get(name.end, len(words))
        if lower(place)[:1].isalpha() and lower(place) not in _AFTER_LISTS:
            return  # the name begins another clause, or continues
        yield name
