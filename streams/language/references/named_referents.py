"""What a stretch of text names, and where first: a person, several, or a thing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.verbs import (
    BASES,
    NOUNS_TOO,
    THIRDS_ALONE,
    is_past,
    third_person,
)
from recollect.streams.language.names.first_names import Gender, gender_of_name, gender_of_relation
from recollect.text.lexicon import (
    FUNCTION_WORDS,
    PHATIC,
    RELATIONS,
    ROLES,
    word_set,
)
from recollect.text.tokenizer import Tokens, bare

HE = word_set("he him his himself")
#: Nouns for a person or an animal that "he" or "she" may mean.
SOMEBODY = (
    RELATIONS
    | ROLES
    | word_set(
        """physio optician man woman guy lady someone somebody person maman papa mummy daddy mama
        granny gran
        grandad patient guest tenant plumber vet neighbour's who whoever dog cat puppy pup kitten
        pet
        rabbit horse bird hamster pony parrot youngest eldest oldest toddler newborn niece husband
        wife bride groom teenager owner host hostess superior everyone"""
    )
)
_ANIMALS = word_set("dog cat puppy pup kitten pet rabbit horse bird hamster pony parrot")
_SEVERAL = word_set(
    """people children kids family families team group company men women school church everyone
    everybody anyone someone somebody nobody who staff police couple parents band class crew both
    two three four five six seven eight nine ten many some others most all few several whoever
    anybody person somebody's neighbours insurers folks"""
)
_NO_PLURAL = word_set(
    """always sometimes this is was has does his its us as yes news thanks less perhaps besides
    afterwards towards plus across unless whereas various previous famous serious obvious bus gas
    class dress boss business process progress illness happiness address access success access
    stress kindness fitness wellness glass grass guess miss pass cross loss mess"""
)
#: "This morning" is a day; "that day" needs an antecedent.
TIMES = word_set(
    """morning afternoon evening night week weekend month year summer winter spring autumn fall
    season semester term quarter time monday tuesday wednesday thursday friday saturday sunday past
    coming last next january february march april may june july august september october november
    december christmas easter noon minute century decade world country"""
)
_NOBODY = FUNCTION_WORDS | PHATIC | TIMES | word_set("yesterday today tomorrow tonight last next")
_NOT_NOUNS = ("ing", "ly", "ful", "ous", "ive", "able", "est")
DETERMINERS = word_set("a an the my our your his her their another every each no any")
_NOUNS_OR_VERBS = frozenset(map(third_person, NOUNS_TOO))
_OWN = word_set("my our")
#: Endings of nouns for people: "the driver", "a pianist".
AGENTS = ("er", "or", "ist", "man", "woman", "ian", "ess", "mate", "son", "daughter")
ADVERBS = word_set("away back together again ahead apart along around yet ago")
_NO_THINGS = SOMEBODY - _ANIMALS
_PEOPLE = SOMEBODY | _SEVERAL
_NO_NOUNS = FUNCTION_WORDS | PHATIC | TIMES | ADVERBS


class Named:
    """The positions at which a statement first names one person, several people, or a thing."""

    def __init__(self, tokens: Tokens, left: int, right: int, mentions: Sequence[Mention]) -> None:
        self._tokens = tokens
        self._left, self._right = left, right
        self._mentions = mentions

    def somebody_before(self, index: int) -> bool:
        """Whether an earlier word names a person whom the "he" or "she" at a token may mean."""
        word = self._tokens.lowers[index].split("'")[0]
        return (self._man if word in HE else self._woman) < index

    def several_before(self, index: int, lower: str) -> bool:
        """Whether an earlier word names several people; "their" may also refer to one person."""
        several = self._several if lower == "them" else min(self._somebody, self._several)
        return several < index

    def something_before(self, index: int) -> bool:
        """Whether an earlier word names a thing."""
        return self._something < index

    @cached_property
    def _somebody(self) -> int:
        return min(self._named("m"), self._named("f"))

    @cached_property
    def _man(self) -> int:
        return self._named("m")

    @cached_property
    def _woman(self) -> int:
        return self._named("f")

    def _named(self, gender: Gender) -> int:
        """Where a person who may have a gender is first named."""
        tokens, left = self._tokens, self._left
        named = self._first(
            lambda item: (
                item.type in ("PERSON", "OTHER", "ORG")
                and gender_of_name(item.text.split(" ")[0]) in (None, gender)
            )
        )
        words = (
            at
            for at in range(left, self._right)
            if _is_somebody(tokens, at, left) and gender_of(tokens.lowers[at]) in (None, gender)
        )
        return min(named, next(words, self._right))

    def _is_person(self, at: int) -> bool:
        start = self._tokens.starts[at]
        return any(
            item.type == "PERSON" and item.start <= start < item.end for item in self._mentions
        )

    @cached_property
    def _several(self) -> int:
        tokens, left = self._tokens, self._left
        words = (
            at
            for at in range(left, self._right)
            if tokens.lowers[at] in _SEVERAL or _is_plural(tokens, at, left)
        )
        return next(words, self._right)

    @cached_property
    def _something(self) -> int:
        tokens, left = self._tokens, self._left
        named = self._first(lambda item: item.type not in ("DATE", "TIME", "NUMBER", "PERSON"))
        words = (
            at
            for at in range(left, self._right)
            if is_noun(tokens, at, left) and not self._is_person(at)
        )
        return min(named, next(words, self._right))

    def _first(self, of: Callable[[Mention], bool]) -> int:
        starts = [
            bisect_left(self._tokens.starts, item.start) for item in self._mentions if of(item)
        ]
        return min((start for start in starts if start >= self._left), default=self._right)


def _is_somebody(tokens: Tokens, at: int, left: int) -> bool:
    """Whether a word names, or may name, a person: "my ...", a capital, "the driver"."""
    lower, word = tokens.lowers[at], tokens.words[at]
    owner = bare(lower)
    if owner in SOMEBODY or lower.endswith("-old"):
        return True
    if lower.split("'")[0] in _NOBODY:
        return False
    if word[0].isupper():
        return at > left or lower != owner or not lower.endswith(("ing", "ly", "s"))
    before = tokens.lowers[at - 1] if at > left else ""
    return before in _OWN or (before in DETERMINERS and owner.endswith(AGENTS))


def gender_of(lower: str) -> Gender | None:
    """Return the gender of the person whom a word names: a relation or a first name."""
    word = bare(lower)
    return gender_of_relation(word) or gender_of_name(word)


def _is_plural(tokens: Tokens, at: int, left: int) -> bool:
    lower = tokens.lowers[at]
    return (
        len(lower) > 3
        and lower[-1] == "s"
        and lower not in _NO_PLURAL
        and lower not in FUNCTION_WORDS
        and not lower.endswith(("'s", "ous"))
        and not (lower in THIRDS_ALONE and at > left)
        and not _is_verb_of_somebody(tokens, at, left)
    )


def _is_verb_of_somebody(tokens: Tokens, at: int, left: int) -> bool:
    """Whether a word is a verb after its subject, not a noun: "my cousin runs", "Paul rows"."""
    if tokens.lowers[at] not in _NOUNS_OR_VERBS or at == left:
        return False
    return bare(tokens.lowers[at - 1]) in SOMEBODY or tokens.words[at - 1].istitle()


def is_noun(tokens: Tokens, at: int, left: int) -> bool:
    """Whether a word is a noun for a thing, judged by its form and the word before it."""
    lower = tokens.lowers[at]
    if len(lower) < 3 or lower in _NO_NOUNS or "'" in lower or lower.endswith(_NOT_NOUNS):
        return False
    if bare(lower) in _NO_THINGS:
        return False
    before = tokens.lowers[at - 1] if at > left else ""
    if _is_verb_of_somebody(tokens, at, left):
        return False
    determined = before in DETERMINERS or (
        # "The driving test"
        lower in NOUNS_TOO
        and at > left + 1
        and tokens.lowers[at - 2] in DETERMINERS
        and bare(before) not in _PEOPLE
        and not before.endswith("s")
    )
    return determined or not (lower in BASES or lower in THIRDS_ALONE or is_past(lower))
