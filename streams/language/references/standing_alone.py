"""Whether a statement is self-contained: it names whatever its pronouns refer to.

"He is down to 13.6 kg", "That works for her" and "I love this one" say nothing to a reader who has
not seen the previous message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.verbs import BASES, is_past
from recollect.streams.language.references.bare_things import (
    RELATIONAL,
    ends_clause,
    is_bare,
    is_verb,
)
from recollect.streams.language.references.named_referents import ADVERBS, TIMES, Named, is_noun
from recollect.text.lexicon import (
    CONJUNCTIONS,
    PREPOSITIONS,
    word_set,
)
from recollect.text.tokenizer import Tokens

#: What a statement leaves open: nothing; something incidental; part of its content; or its subject.
#: "which": an aside that earlier words may resolve, such as "the plan" or "both".
Open = Literal["nothing", "aside", "which", "part", "thing"]
_WEIGHT: tuple[Open, ...] = ("nothing", "aside", "which", "part", "thing")
PERSON_WORDS = word_set(
    "he she him her his hers himself herself he's she's he'd she'd he'll she'll"
)
THEY = word_set("they them their theirs themselves they're they've they'd they'll theyre")
_IT = word_set("it it's its it'd it'll itself")
POINTING = word_set("this that these those that's that'll that'd this'll")
#: In these, "it" refers to nothing: "it takes me an hour to", "it's raining".
_EMPTY_IT = re.compile(
    r"it(?:['’]s| is| was| has been|['’]s been|['’]ll be| will be| would be|['’]d be)"
    r"(?: (?:a bit|so|too|very|really|quite|not|always|still|just|also|now|about|almost|only|"
    r"already|getting|been|such))*"
    r" (?:(?:my|our|(?-i:[A-Z])[\w'’]+['’]s) |raining|snowing|cold|hot|warm|dark|late|early|\d|"
    r"time|"
    r"(?:(?-i:[A-Z])[\w'’-]+,? (?:and |or )?){1,4}(?:for|who|that) |"
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
_CLAUSE_OPENINGS = CONJUNCTIONS | word_set("thankfully luckily hopefully now then today")
_TO_ME = word_set("me us my our")
#: After these, "that" is a conjunction.
_SAYING = word_set(
    """think thought know knew known say said tell told believe believed hope hoped mean meant feel
    felt realize realized realise realised learn learned learnt find found hear heard see saw seen
    show showed wish wished guess guessed suppose supposed remember remembered understand understood
    notice noticed agree agreed decide decided figure figured discover discovered bet admit admitted
    explain explained mention mentioned promise promised worry worried imagine imagined confirm
    confirmed ensure insist insisted claim claimed suggest suggested"""
)
_NO_VERBS = ADVERBS | word_set("out up over down in hang hi hello hey")
_ONE = word_set("one ones")
_BEFORE_ONE = word_set("the this that another big new old first last next right other good best")
#: Words after which "that" introduces a clause: "I think that", "the fact that".
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

    `begin` is the first token after an introduction such as "Well," or "By the way,". `known`: a
    name will replace the pronoun for the person.
    """
    found: Open = "nothing"
    named = Named(tokens, left, right, mentions)
    for index in range(begin, right):
        lower = tokens.lowers[index]
        is_open: Open = "nothing"
        if lower in PERSON_WORDS:
            if not known and not named.somebody_before(index):
                is_open = "thing"
        elif lower in THEY:
            of = index > left + 1 and tokens.lowers[index - 1] == "of"
            if not named.several_before(index - 2 if of else index, lower):
                is_open = "aside" if _is_anybody(tokens, index) else "part"
        elif lower in _IT:
            at = _noun_phrase_before(tokens, index, left)
            if not _is_empty(tokens, index) and not named.something_before(at):
                is_open = "part"
        elif lower in POINTING:
            is_open = _pointing(tokens, index, begin, right, named)
        elif lower in _ONE and index > left and tokens.lowers[index - 1] in _BEFORE_ONE:
            is_open = "aside" if named.something_before(index - 1) else "which"
        elif (
            _is_one_of_them(tokens, index, left)
            or _is_place(tokens, index, left, right)
            or is_bare(tokens, index, left, right)
        ) and (lower in RELATIONAL or not named.something_before(index - 1)):
            is_open = "which"
        if is_open == "thing" or (is_open == "part" and _leads(tokens, index, begin)):
            return "thing"
        if is_open == "part" and index > begin and tokens.lowers[index - 1] in CONJUNCTIONS:
            is_open = "aside"
        if _WEIGHT.index(is_open) > _WEIGHT.index(found):
            found = is_open
    return found


def _is_one_of_them(tokens: Tokens, index: int, left: int) -> bool:
    """Whether it is one of several mentioned before: "the cheaper one", "another one"."""
    if tokens.lowers[index] not in _ONE or index == left:
        return False
    before = tokens.lowers[max(left, index - 2) : index]
    return before[-1] in _BEFORE_ONE or before[0] in ("the", "this", "that")


def _is_place(tokens: Tokens, index: int, left: int, right: int) -> bool:
    """Whether "there" or "here" refers to a place, unlike in "there is" and "up there"."""
    lower = tokens.lowers[index]
    if lower == "here":
        return ends_clause(tokens, index, right)
    if lower != "there" or index == left:
        return False
    following = tokens.lowers[index + 1] if index + 1 < right else ""
    if tokens.lowers[index - 1] in _NO_VERBS:
        return False
    return ends_clause(tokens, index, right) or following in PREPOSITIONS


def _noun_phrase_before(tokens: Tokens, index: int, left: int) -> int:
    """Return the start of a phrase that an "it" describes ("the calm it gives me"), or `index`."""
    lowers = tokens.lowers
    if index <= left + 1 or tokens.gap(index - 1) != " " or lowers[index] not in ("it", "they"):
        return index
    if not is_noun(tokens, index - 1, left) or lowers[index - 1] in BASES:
        return index
    return next(
        (at for at in range(index - 2, max(left, index - 6) - 1, -1) if lowers[at] == "the"), index
    )


def _is_anybody(tokens: Tokens, index: int) -> bool:
    """Whether "they" is impersonal: "They promoted me", "They moved my desk"."""
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
    """Return the first pronoun for a person whom the statement does not name."""
    named = Named(tokens, left, right, mentions)
    return next(
        (
            index
            for index in range(begin, right)
            if tokens.lowers[index] in PERSON_WORDS and not named.somebody_before(index)
        ),
        None,
    )


def _is_empty(tokens: Tokens, index: int) -> bool:
    start = tokens.starts[index]
    if _EMPTY_IT.match(tokens.text, start) is not None:
        return True
    found = _IDIOM.search(tokens.text, max(0, start - 12), start + 16)
    if found is not None and found.start() < start < found.end():
        return True
    return tokens.lowers[index + 1 : index + 3] == ["makes", "sense"]


def _has_object(tokens: Tokens, index: int, right: int) -> bool:
    """Whether "that" after a verb determines a noun: "I got that job", not "I said that jobs"."""
    before = tokens.lowers[index - 1]
    if before in _SAYING or not (is_past(before) or before in BASES):
        return False
    following = tokens.lowers[index + 1]
    return is_noun(tokens, index + 1, index) and following[-1] != "s"


def _pointing(
    tokens: Tokens,
    index: int,
    begin: int,
    right: int,
    named: Named,
) -> Open:
    """Return what "this", "that", "these" or "those" at a position leaves open."""
    lowers = tokens.lowers
    lower = lowers[index]
    following = lowers[index + 1] if index + 1 < right else ""
    before = lowers[index - 1] if index > begin else ""
    if following in TIMES or following in ("days", "years"):
        return "nothing"
    if following in ("who", "of", "with") and lower in ("those", "that"):
        return "nothing"
    if index == begin and _OWN_PREDICATE.match(tokens.text, tokens.starts[index]):
        return "aside"
    if before == "like" or (before == "of" and lowers[index - 2 : index - 1] != ["because"]):
        return "aside"
    if ends_clause(tokens, index, right):
        return "part"
    verb = is_verb(following)
    if lower.startswith("that"):
        if index == begin or before in CONJUNCTIONS or before in PREPOSITIONS:
            if lower != "that" or verb or following in ("one", "way", "kind", "sort"):
                return "part"
            return "nothing" if following in _CLAUSE_STARTS else "aside"
        if lower == "that" and _has_object(tokens, index, right):
            return "nothing" if named.something_before(index - 1) else "aside"
        # "the house that I bought", "I think that it is so": a relative pronoun or a conjunction.
        return "nothing"
    if verb or following in PREPOSITIONS or following in CONJUNCTIONS:
        return "part"
    return "nothing" if named.something_before(index) else "aside"
