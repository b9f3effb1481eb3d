"""Whether a statement stands alone: every pronoun in it stands for something that it names itself.

"He is down to 13.6 kg" says nothing to whoever has not read the message before it, nor do "That
works for her" and "I love this one".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

from projections.text.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    FUNCTION_WORDS,
    PHATIC,
    PREPOSITIONS,
    RELATIONS,
    ROLES,
    word_set,
)
from projections.text.tokenizer import Tokens
from streams.language.grammar.analysis import Mention
from streams.language.grammar.verbs import BASES, NOUNS_TOO, is_past, third_person
from streams.language.names.first_names import Gender, gender_of_name, gender_of_relation

#: What a statement leaves open: nothing; a word beside its point; part of what it tells; or whom or
#: what it is about.
Open = Literal["nothing", "aside", "part", "thing"]

PERSON_WORDS = word_set(
    "he she him her his hers himself herself he's she's he'd she'd he'll she'll"
)
_HE = word_set("he him his himself")
_THEY = word_set("they them their theirs themselves they're they've they'd they'll theyre")
_IT = word_set("it it's its it'd it'll itself")
_POINTING = word_set("this that these those that's that'll that'd this'll")
#: Somebody or some animal of whom "he" or "she" may be said.
_SOMEBODY = (
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
#: "This morning" is a day, and "that day" is told before.
_TIMES = word_set(
    """morning afternoon evening night week weekend month year summer winter spring autumn fall
    season semester term quarter time monday tuesday wednesday thursday friday saturday sunday past
    coming last next january february march april may june july august september october november
    december christmas easter noon minute century decade world country"""
)
_NOBODY = FUNCTION_WORDS | PHATIC | _TIMES | word_set("yesterday today tomorrow tonight last next")
#: What "it" stands for in these is nothing: "it takes me an hour to", "it's raining".
_EMPTY_IT = re.compile(
    r"it(?:['’]s| is| was| has been|['’]s been|['’]ll be| will be| would be|['’]d be)"
    r"(?: (?:a bit|so|too|very|really|quite|not|always|still|just|also|now|about|almost|only|"
    r"already|getting|been|such))*"
    r" (?:(?:my|our|(?-i:[A-Z])[\w'’]+['’]s) |raining|snowing|cold|hot|warm|dark|late|early|\d|"
    r"time|"
    r"(?:an? )?(?:\w+ ){1,3}(?:to|that|when|if|how|for|since|because|who|where) |nice (?:to|that) |"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"it (?:takes|took|will take|rains|rained|snows|snowed|turns out|turned out|depends|costs "
    r"(?:me|us)|would be \w+ (?:to|if))\b",
    re.IGNORECASE,
)
_OWN_PREDICATE = re.compile(
    r"(?:this|that)(?:['’]s| is| was)(?: (?:still|also|now|only|always|not))? (?:my|our) ",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"\b(?:hate|hates|love|loves|like|likes|enjoy|mind|dislike) it when|\b(?:make|makes|made|"
    r"making|call|take|keep|get|got|worth|believe|admit|face|hit|as|lose|"
    r"find|found|finds|makes) it (?:to|up|off|through|a day|easy|easier|hard|harder|out|home|there|"
    r"down|official|difficult|happen|for|that|impossible|possible|useful)\b",
    re.IGNORECASE,
)
_NOT_NOUNS = ("ing", "ly", "ful", "ous", "ive", "able", "est")
_DETERMINERS = word_set("a an the my our your his her their another every each no any")
_THIRDS = frozenset(map(third_person, BASES - NOUNS_TOO))
_CLAUSE_OPENINGS = CONJUNCTIONS | word_set("thankfully luckily hopefully now then today")
_OWN = word_set("my our")
_TO_ME = word_set("me us my our")
#: Endings of words for people: "the driver", "a pianist".
_AGENTS = ("er", "or", "ist", "man", "woman", "ian", "ess", "mate", "son", "daughter")
_ENDS = ".,;:!?)…"
_ADVERBS = word_set("away back together again ahead apart along around yet ago")
_NO_NOUNS = FUNCTION_WORDS | PHATIC | _TIMES | _ADVERBS
_ONE = word_set("one ones")
_BEFORE_ONE = word_set("the this that another big new old first last next right other good best")
#: Words after which "that" leads to what is said: "I think that", "the fact that".
_CLAUSE_STARTS = word_set(
    "i we he she it they you my our his her their the a an i'm i've we're it's there no all if"
)


def left_open(
    tokens: Tokens,
    left: int,
    right: int,
    mentions: Sequence[Mention],
    begin: int,
    *,
    known: bool = False,
) -> Open:
    """Return what a statement, the tokens from `left` to `right`, leaves open.

    `begin` is the token with which it begins to say something, after "Well," and "By the way,".
    `known`: a name stands for the person of whom it speaks.
    """
    found: Open = "nothing"
    named = _Named(tokens, left, right, mentions)
    for index in range(begin, right):
        lower = tokens.lowers[index]
        is_open: Open = "nothing"
        if lower in PERSON_WORDS:
            if not known and not named.somebody_before(index):
                is_open = "thing"
        elif lower in _THEY:
            if not named.several_before(index):
                is_open = "aside" if _is_anybody(tokens, index) else "part"
        elif lower in _IT:
            if not _is_empty(tokens, index) and not named.something_before(index):
                is_open = "part"
        elif lower in _POINTING:
            is_open = _pointing(tokens, index, begin, right, named)
        elif (lower in _ONE and index > left and tokens.lowers[index - 1] in _BEFORE_ONE) or (
            lower in ("there", "here")
            and _ends_clause(tokens, index, right)
            and not named.something_before(index)
        ):
            is_open = "aside"
        if is_open == "thing" or (is_open == "part" and _leads(tokens, index, begin)):
            return "thing"
        if is_open == "part" and index > begin and tokens.lowers[index - 1] in CONJUNCTIONS:
            is_open = "aside"
        if is_open == "part" or (is_open == "aside" and found == "nothing"):
            found = is_open
    return found


def _is_anybody(tokens: Tokens, index: int) -> bool:
    """Whether "they" are whoever it is: "They promoted me", "They moved my desk"."""
    return tokens.lowers[index] == "they" and not _TO_ME.isdisjoint(
        tokens.lowers[index + 2 : index + 3]
    )


def _leads(tokens: Tokens, index: int, begin: int) -> bool:
    """Whether a word is the subject of the statement or of a clause in it."""
    if index == begin:
        return True
    before = tokens.lowers[index - 1]
    return before in _CLAUSE_OPENINGS and index - 1 <= begin


def person_open(
    tokens: Tokens, left: int, right: int, mentions: Sequence[Mention], begin: int
) -> int | None:
    """Return the first token that stands for somebody whom the statement does not name."""
    named = _Named(tokens, left, right, mentions)
    return next(
        (
            index
            for index in range(begin, right)
            if tokens.lowers[index] in PERSON_WORDS and not named.somebody_before(index)
        ),
        None,
    )


class _Named:
    """What a statement names, by where it first does: somebody, several, a thing."""

    def __init__(self, tokens: Tokens, left: int, right: int, mentions: Sequence[Mention]) -> None:
        self._tokens = tokens
        self._left, self._right = left, right
        self._mentions = mentions

    def somebody_before(self, index: int) -> bool:
        """Whether a word before a token names whom that token, "he" or "she", may mean."""
        word = self._tokens.lowers[index].split("'")[0].split("’")[0]
        return (self._man if word in _HE else self._woman) < index

    def several_before(self, index: int) -> bool:
        """Whether a word before a token names several, or somebody."""
        return min(self._somebody, self._several) < index

    def something_before(self, index: int) -> bool:
        """Whether a word before a token names a thing."""
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
        """Where somebody is first named who may be of a gender."""
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
            if _is_somebody(tokens, at, left) and _gender(tokens.lowers[at]) in (None, gender)
        )
        return min(named, next(words, self._right))

    def _is_place_or_time(self, at: int) -> bool:
        start = self._tokens.starts[at]
        return any(
            item.type in ("LOCATION", "DATE", "TIME") and item.start <= start < item.end
            for item in self._mentions
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
        words = (at for at in range(left, self._right) if _is_noun(tokens, at, left))
        return min(named, next(words, self._right))

    def _first(self, of: Callable[[Mention], bool]) -> int:
        starts = [
            bisect_left(self._tokens.starts, item.start) for item in self._mentions if of(item)
        ]
        return min((start for start in starts if start >= self._left), default=self._right)


def _is_somebody(tokens: Tokens, at: int, left: int) -> bool:
    """Whether a word names somebody, or may: "my ...", a capital, "the driver"."""
    lower, word = tokens.lowers[at], tokens.words[at]
    bare = _bare(lower)
    if bare in _SOMEBODY or lower.endswith("-old"):
        return True
    if lower.split("'")[0].split("’")[0] in _NOBODY:
        return False
    if word[0].isupper():
        return at > left or lower != bare or not lower.endswith(("ing", "ly", "s"))
    before = tokens.lowers[at - 1] if at > left else ""
    return before in _OWN or (before in _DETERMINERS and bare.endswith(_AGENTS))


def _gender(lower: str) -> Gender | None:
    bare = _bare(lower)
    return gender_of_relation(bare) or gender_of_name(bare)


def _bare(lower: str) -> str:
    return lower.removesuffix("'s").removesuffix("’s")


def _is_plural(tokens: Tokens, at: int, left: int) -> bool:
    lower = tokens.lowers[at]
    return (
        len(lower) > 3
        and lower[-1] == "s"
        and lower not in _NO_PLURAL
        and lower not in FUNCTION_WORDS
        and not lower.endswith(("'s", "’s", "ous"))
        and not (lower in _THIRDS and at > left)
    )


def _is_noun(tokens: Tokens, at: int, left: int) -> bool:
    """Whether a word names a thing, as far as its form and the word before it say."""
    lower = tokens.lowers[at]
    if (
        len(lower) < 3
        or lower in _NO_NOUNS
        or "'" in lower
        or "’" in lower
        or lower.endswith(_NOT_NOUNS)
    ):
        return False
    determined = at > left and tokens.lowers[at - 1] in _DETERMINERS
    return determined or not (lower in BASES or lower in _THIRDS or is_past(lower))


def _is_empty(tokens: Tokens, index: int) -> bool:
    start = tokens.starts[index]
    if _EMPTY_IT.match(tokens.text, start) is not None:
        return True
    found = _IDIOM.search(tokens.text, max(0, start - 12), start + 16)
    if found is not None and found.start() < start < found.end():
        return True
    return tokens.lowers[index + 1 : index + 3] == ["makes", "sense"]


def _pointing(
    tokens: Tokens,
    index: int,
    begin: int,
    right: int,
    named: _Named,
) -> Open:
    """Return what "this", "that", "these" or "those" at a place leaves open."""
    lowers = tokens.lowers
    lower = lowers[index]
    following = lowers[index + 1] if index + 1 < right else ""
    before = lowers[index - 1] if index > begin else ""
    if following in _TIMES or following in ("days", "years"):
        return "nothing"
    if following in ("who", "of", "with") and lower in ("those", "that"):
        return "nothing"
    if index == begin and _OWN_PREDICATE.match(tokens.text, tokens.starts[index]):
        return "aside"
    if before == "like" or (before == "of" and lowers[index - 2 : index - 1] != ["because"]):
        return "aside"
    if _ends_clause(tokens, index, right):
        return "part"
    verb = following in AUXILIARIES or following in _THIRDS or is_past(following)
    if lower.startswith("that"):
        if index == begin or before in CONJUNCTIONS or before in PREPOSITIONS:
            if lower != "that" or verb or following in ("one", "way", "kind", "sort"):
                return "part"
            return "nothing" if following in _CLAUSE_STARTS else "aside"
        # "the house that I bought", "I think that it is so": it leads on.
        return "nothing"
    if verb or following in PREPOSITIONS or following in CONJUNCTIONS:
        return "part"
    return "nothing" if named.something_before(index) else "aside"


def _ends_clause(tokens: Tokens, index: int, right: int) -> bool:
    if index + 1 >= right:
        return True
    after = tokens.text[tokens.ends[index] :].lstrip(" ")[:1]
    return not after or after in _ENDS
