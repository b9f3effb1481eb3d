"""Relatives and friends as a text mentions them: "my older sister", "our best friends", "Dad"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from recollect.text.lexicon import PARTNERS, RELATIONS, word_set
from recollect.text.sentences import Span

_MOTHER = word_set("mother mom mum mommy mummy mama mam")
_FATHER = word_set("father dad daddy papa")
_GRANDMOTHER = word_set("grandmother grandma granny gran nan nana")
_GRANDFATHER = word_set("grandfather grandpa grandad granddad")
_IN_LAW = word_set("mother father sister brother son daughter")
#: The words for a member of a family, besides partners.
FAMILY = (
    _MOTHER
    | _FATHER
    | _GRANDMOTHER
    | _GRANDFATHER
    | word_set(
        """sister brother sibling twin triplet parent grandparent son daughter child children kid
        baby toddler aunt auntie uncle cousin niece nephew grandson granddaughter grandchild
        grandchildren grandkid stepmother stepmom stepmum stepfather stepdad stepson stepdaughter
        stepbrother stepsister half-brother half-sister godson goddaughter godmother godfather"""
    )
    | {f"{word}-in-law" for word in _IN_LAW}
)
#: Words with the same meaning.
_SAME = (
    _MOTHER,
    _FATHER,
    _GRANDMOTHER,
    _GRANDFATHER,
    word_set("aunt auntie"),
    word_set("friend buddy pal mate"),
    word_set("colleague coworker co-worker"),
    word_set("neighbour neighbor"),
    word_set("roommate flatmate housemate"),
)
#: Words for persons of any sex.
_ANY_SEX = {
    "parent": _MOTHER | _FATHER,
    "grandparent": _GRANDMOTHER | _GRANDFATHER,
    **dict.fromkeys(("child", "children", "kid"), word_set("son daughter child kid")),
    "sibling": word_set("sister brother"),
    **dict.fromkeys(("partner", "spouse"), PARTNERS | {"spouse"}),
}
#: All words for relatives and friends, in the singular.
WORDS = (
    FAMILY | PARTNERS | RELATIONS | _ANY_SEX.keys() | frozenset().union(*_SAME) | {"fiance"}
) - {"named", "friends"}
#: A word -> the words for persons whom it may mean.
MEANINGS: Mapping[str, Set[str]] = (
    {word: frozenset({word}) for word in WORDS}
    | {word: words for words in _SAME for word in words}
    | _ANY_SEX
)
_PLURALS = word_set("children grandchildren")
#: "Dad" alone is the speaker's father.
_CALLED = _MOTHER | _FATHER | _GRANDMOTHER | _GRANDFATHER

#: Any of the words. "Sister in law" is one, too.
ANY_WORD = (
    rf"(?:(?:{'|'.join(sorted(_IN_LAW))})[ -]in[ -]law|"
    rf"{'|'.join(sorted(map(re.escape, WORDS), key=lambda word: (-len(word), word)))})"
)
#: Before the word: the relation is over.
_FORMER = word_set("ex former late previous")
#: "My older sister", in the singular, as a part of other patterns.
MINE = rf"(?i:my|our) (?i:(?!(?:{'|'.join(sorted(_FORMER))}) )(?:[\w-]+ )?{ANY_WORD})(?![\w-])"
#: What may stand between "my" and the word: "older", "best".
_QUALIFIER = r"(?!(?:his|her|their|your|its|the|an?|and|or|my|our)\b)[\w-]+"
_WORD = rf"(?:(?P<qualifier>{_QUALIFIER}) )?(?P<word>{ANY_WORD})(?P<plural>s?)(?![\w-])"
_POSSESSED = re.compile(rf"(?<![\w-])(?P<whose>my|our|your) {_WORD}", re.IGNORECASE)
_FURTHER = re.compile(rf",? (?:and|or) {_WORD}", re.IGNORECASE)
_CALLED_ALONE = re.compile(
    rf"(?<![\w-])(?P<word>{'|'.join(sorted(_CALLED, key=lambda word: (-len(word), word)))})"
    r"(?![\w-])",
    re.IGNORECASE,
)
_ANY = re.compile(rf"(?<![\w-])(?P<word>{ANY_WORD})s?(?![\w-])", re.IGNORECASE)
_FEELING = r"(?: (?:old|dear|poor|own|lovely|late|elderly))"
#: Before "dad": it is somebody else's, as after "her", "Ada's" and "her mum and".
_OF_ANOTHER = re.compile(
    r"(?:\b(?:his|her|their|your|my|our|the|an?|this|that|every|some|any)|['’]s?)"
    rf"(?:{_FEELING}? [\w-]+ (?:and|or))?{_FEELING}? \Z",
    re.IGNORECASE,
)
#: In "the husband of my sister" and "my sister's husband", neither is the speaker's.
_BEFORE_RELATIVE = re.compile(rf"\b{ANY_WORD}s? of \Z", re.IGNORECASE)
_AFTER_RELATIVE = re.compile(rf"['’]s? (?:[\w-]+ )?{ANY_WORD}s?(?![\w-])", re.IGNORECASE)
_OWNS = re.compile(r"['’]s?\b")
#: How many characters before a word can tell whose relative it is.
_NEAR = 80
#: Between a relative and the name: "my sister Eve", "my sister is called Eve". In "my sister called
#: Eve", she does not have this name.
_TO_NAME = re.compile(
    r"(?: |,? is (?:called|named) |, (?:called|named) |['’]s (?:first )?name is )"
)
#: After a name that follows its relative: "my mum, Eve, sings", not "my mum, Eve, and Tom".
_ASIDE_END = re.compile(r", (?!and\b|or\b)(?=[a-z])")
#: The maximum distance of a name from its relative, in characters.
_FARTHEST = 20
#: Between a name and the relative: "Eve is my sister", "Eve, my sister,".
_IS = re.compile(r"(?:['’]s| is|, who is) ")
_APPOSED = re.compile(r"(?:,| \() ?")
_APPOSED_END = re.compile(r"[,.;:!?)]|\s*\Z| who\b")
#: An old friend is still a friend.
_LASTING = FAMILY | word_set("friend buddy pal mate")


class Relative(NamedTuple):
    """A relative or friend as mentioned: from "my" to the word.

    `whose`: "my", "our", "your", or "" for a word that is used as a name. `qualifier`: "older" or
    "". `word`: in lower case and the singular. `owns`: "'s" follows. `of_relative`: it only says
    whose relative is meant ("my sister's husband"), or is related to one ("the son of my sister").
    """

    start: int
    end: int
    whose: str
    qualifier: str
    word: str
    is_plural: bool
    owns: bool
    of_relative: bool

    @property
    def is_own(self) -> bool:
        """Whether it is one relative of the speaker."""
        return self.whose in ("my", "our") and not self.is_plural and not self.of_relative

    @property
    def is_former(self) -> bool:
        """Whether the relation is over: "my ex boyfriend"."""
        return self.qualifier in _FORMER or (self.qualifier == "old" and self.word not in _LASTING)


def relatives_in(text: str, start: int = 0, end: int | None = None) -> Iterator[Relative]:
    """Yield the relatives and friends of the speaker or the addressee that a text mentions."""
    end = len(text) if end is None else end
    at = start
    while (match := _POSSESSED.search(text, at, end)) is not None:
        whose = match["whose"].lower()
        yield _relative(text, match, whose)
        at = match.end()
        while (further := _FURTHER.match(text, at, end)) is not None:
            yield _relative(text, further, whose)
            at = further.end()


def called_in(text: str) -> Iterator[Relative]:
    """Yield the parents and grandparents whom a text calls by a word alone: "Dad"."""
    for match in _CALLED_ALONE.finditer(text):
        if _OF_ANOTHER.search(text, max(0, match.start() - _NEAR), match.start()) is None:
            yield _relative(text, match, "")


def _relative(text: str, match: re.Match[str], whose: str) -> Relative:
    groups = match.groupdict()
    start = match.start("qualifier" if groups.get("qualifier") else "word")
    if match.re is _POSSESSED:
        start = match.start()
    before, end = max(0, match.start() - _NEAR), match.end()
    word = match["word"].lower().replace(" ", "-")
    return Relative(
        start,
        end,
        whose,
        (groups.get("qualifier") or "").lower(),
        word,
        bool(groups.get("plural")) or word in _PLURALS,
        _OWNS.match(text, end) is not None,
        # Tried only where it can match: a search for so many words is slow.
        (
            text.endswith(" of ", before, match.start())
            and _BEFORE_RELATIVE.search(text, before, match.start()) is not None
        )
        or _AFTER_RELATIVE.match(text, end) is not None,
    )


def name_of(text: str, relative: Relative, names: Iterable[Span]) -> Span | None:
    """Return which of the names in a text is the relative's: "Eve" in "my sister Eve"; or None.

    `names`: the first and last offsets of the names of persons.
    """
    names = [*names]
    is_named = any(start == relative.end + 1 for start, _ in names)
    for start, end in names:
        if start - relative.end > _FARTHEST or relative.start - end > _FARTHEST:
            continue
        if start >= relative.end and _TO_NAME.fullmatch(text, relative.end, start):
            return start, end
        if text[relative.end : start] == ", " and _ASIDE_END.match(text, end):
            return start, end
        # "Eve is my brother Tom's wife"
        if end > relative.start or relative.owns or is_named:
            continue
        if _IS.fullmatch(text, end, relative.start):
            return start, end
        if _APPOSED.fullmatch(text, end, relative.start) and _APPOSED_END.match(text, relative.end):
            return start, end
    return None


def words_in(text: str) -> set[str]:
    """Return the words for relatives and friends in a text, in lower case and the singular."""
    return {match["word"].lower().replace(" ", "-") for match in _ANY.finditer(text)}
