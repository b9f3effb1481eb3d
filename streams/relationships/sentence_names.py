"""The names in a sentence, and the words around them that relationship rules skip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from recollect.text.declared_rules import Lexeme, Reading
from recollect.text.lexicon import (
    CONJUNCTIONS,
    FILLERS,
    FUNCTION_WORDS,
    OCCUPATIONS,
    PREPOSITIONS,
    RELATIONS,
    word_set,
)

NameKind = Literal["person", "group", "place", "thing", "unknown"]
#: The kind of name for each type of mention; one of unknown type may be of
#: any kind. Dates, numbers and addresses name no entity.
KIND_OF: Mapping[str, NameKind] = {
    "PERSON": "person",
    "ORG": "group",
    "LOCATION": "place",
    "PRODUCT": "thing",
    "TECHNOLOGY": "thing",
    "CONCEPT": "thing",
    "EVENT": "thing",
    "OTHER": "unknown",
}

#: Words between a subject and its verb: "Ada now works", "Ada has just been working".
_SOFT = word_set(
    "now also currently still just recently already always often really finally actually proudly "
    "officially usually regularly sometimes mostly mainly newly am is are has have been"
)
_BE = word_set("am is are")
_PASSIVE = word_set("am is are was were been being")
_ARTICLES = word_set("a an the our their")
_BEEN = word_set("am is are was were has have been being now also originally recently just first")
_DETERMINERS = word_set(
    "a an the this that these those his her their my our your its another some one two three both"
)
_NAMING = word_set("named called")
#: Nouns before a name: "colleague Bob", "coach Bob".
_BEFORE_NAMES = (RELATIONS | OCCUPATIONS) - _NAMING
#: What may stand before the subject of a clause.
_JOINS = word_set(
    "and but so because cause cuz since while as although though then yesterday today tonight"
)
_MARKS = frozenset(",;:.!-–—()\n")
#: What may follow the last word of an object: anything else may belong to its name.
_FOLLOWING = (CONJUNCTIONS | PREPOSITIONS | FILLERS - {"no", "not"}) - {"of"} | word_set(
    "to for who which where when today yesterday tomorrow tonight last next this every each here "
    "and together all both"
)
_FOLLOWING_MARKS = frozenset('.,;:!)(-–—&/\n"”’')
_MAX_ADJECTIVES, _MAX_SOFT, _MAX_OBJECT = 2, 3, 4


class Name(NamedTuple):
    """A span of a sentence that names an entity, with the confidence."""

    start: int
    end: int
    entity_id: str
    kind: NameKind
    confidence: float


class SentenceNames:
    """The names of a sentence by their lexemes; "I" and "my" in it refer to `speaker`."""

    def __init__(
        self, words: Sequence[Lexeme], names: Iterable[Name], speaker: Name | None
    ) -> None:
        starts = {word.start: place for place, word in enumerate(words)}
        ends = {word.end: place + 1 for place, word in enumerate(words)}
        self.speaker = speaker
        self.by_place: dict[int, tuple[int, Name]] = {
            starts[name.start]: (ends[name.end], name)
            for name in names
            if name.start in starts and name.end in ends
        }


Found = list[tuple[int, Name | None]]


def _names(reading: Reading) -> SentenceNames:
    state: SentenceNames = reading.state
    return state


def name_at(kinds: frozenset[NameKind], reading: Reading, at: int) -> Found:
    """Return the name that begins at a lexeme, if it may be of one of these kinds."""
    found = _names(reading).by_place.get(at)
    return [found] if found is not None and found[1].kind in {*kinds, "unknown"} else []


def subject_at(reading: Reading, at: int) -> Found:
    """Return the name or "I" at the start of a clause, with a following "who" or "and others"."""
    speaker = _names(reading).speaker
    if speaker is not None and reading.lower(at) in ("i", "i'm", "i've"):
        place = reading.words[at]
        return (
            [(at + 1, speaker._replace(start=place.start, end=place.end))]
            if (_begins_clause(reading, at))
            else []
        )
    placed = _names(reading).by_place.get(at)
    if placed is None or not _begins_clause(reading, at):
        return []
    right, name = placed
    if (reading.lower(right), reading.lower(right + 1)) == ("and", "others"):
        return [(right + 2, name)]
    after = right + 1 if reading.lower(right) == "," else right
    if reading.lower(after) in ("who", "which"):
        return [(after + 1, name)]
    return [(right, name)]


def thing_at(reading: Reading, at: int) -> Found:
    """Return the name at the start of a clause, unless it is a person's."""
    return [
        (right, name)
        for right, name in subject_at(reading, at)
        if name is not None and name.kind != "person"
    ]


def _begins_clause(reading: Reading, at: int) -> bool:
    before = reading.lower(at - 1)
    if at > 1 and before in _BEFORE_NAMES:
        # "my sister Ana": whatever stands before "my" or the like.
        before = reading.lower(at - 2)
        return before in _DETERMINERS or before == "s"
    if before in ("the", "a"):
        before = reading.lower(at - 2)
    return before == "" or before in _JOINS or before in _MARKS


def owner_at(reading: Reading, at: int) -> Found:
    """Return the owner that a genitive at a lexeme names: "Ada's", or the speaker's "my"."""
    speaker = _names(reading).speaker
    if speaker is not None and reading.lower(at) == "my":
        place = reading.words[at]
        return [(at + 1, speaker._replace(start=place.start, end=place.end))]
    placed = _names(reading).by_place.get(at)
    if placed is None:
        return []
    right, name = placed
    is_genitive = reading.lower(right) in ("'", "’") and reading.lower(right + 1) == "s"
    return [(right + 2, name)] if is_genitive else []


def run_of(words: frozenset[str], needed: frozenset[str], reading: Reading, at: int) -> Found:
    """Return each end of a run of `words` that starts at a lexeme and includes a `needed` one."""
    found: Found = []
    for right in range(at + 1, at + 1 + _MAX_SOFT):
        if reading.lower(right - 1) not in words:
            break
        if any(reading.lower(place) in needed for place in range(at, right)):
            found.append((right, None))
    return found


def adverbs_at(reading: Reading, at: int) -> Found:
    """Return the adverbs between a subject and its verb."""
    return run_of(_SOFT, _SOFT, reading, at)


def subject_is_at(reading: Reading, at: int) -> Found:
    """Return the subject of a clause with "is" and the adverbs around it: "Ada is now", "I'm"."""
    found: Found = []
    for right, name in subject_at(reading, at):
        if reading.lower(at) == "i'm":
            found.append((right, name))
            found += [(end, name) for end, _ in adverbs_at(reading, right)]
        else:
            found += [(end, name) for end, _ in run_of(_SOFT, _BE, reading, right)]
    return found


def having_been_at(reading: Reading, at: int) -> Found:
    """Return the auxiliaries of a passive."""
    return run_of(_BEEN, _PASSIVE, reading, at)


def adjectives_at(reading: Reading, at: int) -> Found:
    """Return one or two plain words."""
    found: Found = []
    for right in range(at + 1, at + 1 + _MAX_ADJECTIVES):
        if not is_plain(reading, right - 1):
            break
        found.append((right, None))
    return found


def is_plain(reading: Reading, at: int) -> bool:
    """Return whether a lexeme is a lower-case content word that is not part of a name."""
    written = reading.written(at)
    return (
        written.isalpha()
        and written.islower()
        and written not in FUNCTION_WORDS
        and at not in _names(reading).by_place
    )


def determiner_at(reading: Reading, at: int) -> Found:
    """Return the words between a verb and a name: "the new", "her colleague", "Bob's dog"."""
    if reading.lower(at) in _DETERMINERS:
        after = at + 1
    elif owners := owner_at(reading, at):
        # "Bob's dog Rex", but not "Bob's Rex".
        return adjectives_at(reading, owners[0][0])
    elif reading.lower(at) in _BEFORE_NAMES or (
        reading.lower(at - 1) != "to" and is_plain(reading, at)
    ):
        return [(at + 1, None)]
    else:
        return []
    return [(after, None), *adjectives_at(reading, after)]


def named_at(reading: Reading, at: int) -> Found:
    """Return a thing before its name: "a dog named", "two cats called"."""
    if reading.lower(at) not in _DETERMINERS:
        return []
    return [
        (right + 1, None)
        for right, _ in adjectives_at(reading, at + 1)
        if reading.lower(right) in _NAMING
    ]


def doing_at(reading: Reading, at: int) -> Found:
    """Return up to four words of what somebody does: "a long talk", "squash"."""
    found: Found = []
    for right in range(at + 1, at + 1 + _MAX_OBJECT):
        is_article = reading.lower(right - 1) in _DETERMINERS
        if not (is_article or is_plain(reading, right - 1)):
            break
        if not is_article:
            found.append((right, None))
    return found


def role_at(reading: Reading, at: int) -> Found:
    """Return an occupation with its article: "a senior nurse"."""
    if reading.lower(at) not in _ARTICLES:
        return []
    rights = [at + 1, *(right for right, _ in adjectives_at(reading, at + 1))]
    return [(right + 1, None) for right in rights if reading.lower(right) in OCCUPATIONS]


def is_complete(reading: Reading, left: int, right: int) -> bool:
    """Return whether the words that follow cannot belong to the last name."""
    after = reading.lower(right)
    if after in ("'", "’"):
        return False
    return after == "" or after in _FOLLOWING_MARKS or after in _FOLLOWING


def is_whole(reading: Reading, left: int, right: int) -> bool:
    """Return whether the last name ends here; it may be the subject of the next words."""
    return not reading.written(right)[:1].isupper()
