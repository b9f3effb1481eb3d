"""Definite phrases that do not identify their referent: "the plan", "the cheaper one", "both"."""

from __future__ import annotations

from recollect.streams.language.grammar.verbs import THIRDS_ALONE, is_past
from recollect.text.lexicon import AUXILIARIES, CONJUNCTIONS, FUNCTION_WORDS, word_set
from recollect.text.tokenizer import Tokens

#: Things that only the context identifies: nobody has just one plan, one book, one trip.
_ANY = word_set(
    """idea ideas plan plans book books song songs movie film story stories picture photo painting
    drawing letter message file document form list draft report article video link post tool tools
    app program programme software feature features project task tasks process event events
    incident accident trip journey show class workshop competition contest race game match prize
    award gift offer deal opportunity problem problems issue issues situation question answer result
    results outcome reason decision change changes thing things stuff part parts step steps point
    points detail details information info numbers amount price sum name names place places spot
    recipe dish product item items box design colour color funds proceeds donation loan debt
    feedback experience option options session sessions outline template concept"""
)
#: These refer to something else, whatever the statement names.
RELATIONAL = word_set("part parts reason result results outcome point")
_QUALIFIERS = word_set("best first second third whole main new other next last only final exact")
_SAYS_WHICH = word_set(
    """of for that which who whose where about on in at between by called named i we he she they you
    it my our his her their your a an this is was"""
)
_DEFINED = ("to", "that", "a", "an")
_ALONE = word_set("both another former latter")
_ALL_ELSE = word_set("everything nothing anything something everybody everyone")
_COUNTED = word_set("both all one two three four five six seven some many most few none each")
_ORDERED = word_set("other others rest first second third fourth former latter same latest")
_ENDS = tuple(".,;:!?)…")
_MAY_BE_BARE = _ALONE | _ORDERED | _ANY | {"else", "of"}


def is_bare(tokens: Tokens, index: int, left: int, right: int) -> bool:
    """Whether a token names a thing, or some of several, that only the context identifies.

    `left` and `right` bound the statement.
    """
    lowers = tokens.lowers
    lower = lowers[index]
    if lower not in _MAY_BE_BARE:
        return False
    before = lowers[index - 1] if index > left else ""
    following = lowers[index + 1] if index + 1 < right else ""
    ends = ends_clause(tokens, index, right)
    if lower in _ALONE and (ends or is_verb(following)) and before != "the":
        return lower != "both" or "and" not in lowers[index + 1 : right]
    if lower == "else":
        compared = "than" in (following, *lowers[max(left, index - 2) : index - 1])
        return before in _ALL_ELSE and not compared
    if before == "the" and lower in _ORDERED:
        return ends or is_verb(following)
    if lower == "of" and before in _COUNTED and following.endswith("'s"):
        return ends_clause(tokens, index + 1, right)
    if lower not in _ANY:
        return False
    if before in _QUALIFIERS and index - 1 > left:
        before = lowers[index - 2]
    if before != "the":
        return False
    if ends:
        return True
    if following in ("is", "was") and lowers[index + 2 : index + 3]:
        return lowers[index + 2] not in _DEFINED
    if following in _SAYS_WHICH:
        return False
    # "The book club", "the draft he wrote": the next word identifies it.
    return is_verb(following) or following in FUNCTION_WORDS or following in CONJUNCTIONS


def is_verb(lower: str) -> bool:
    """Whether a word is probably a verb that follows its subject."""
    return lower in AUXILIARIES or lower in THIRDS_ALONE or is_past(lower)


def ends_clause(tokens: Tokens, index: int, right: int) -> bool:
    """Whether a clause ends with the token: nothing follows, or a punctuation mark."""
    return index + 1 >= right or tokens.gap(index).lstrip(" ").startswith(_ENDS)
