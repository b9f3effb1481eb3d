"""When two statements of one person within a day say the same: by their words, and by meaning.

The same words in the same order are the same statement, and so they are where its end stands at its
beginning ("On Monday I sold the boat"). With an encoder one word may be another ("bought",
"purchased") if the sentence is short, its vectors are all but equal, and nothing that makes a
difference differs: a number, a day, a name, a negation, a person, a direction, a claim.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from msgspec import Struct

from recollect.schemas.attributes import is_open
from recollect.schemas.names import normalise_name
from recollect.streams.language.grammar.analysis import Statement
from recollect.text.lexicon import (
    AUXILIARIES,
    NUMBER_WORDS,
    ORDINALS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONS,
    word_set,
)
from recollect.text.tokenizer import tokenise

#: The cosine of two short sentences that say the same. The nearest pairs that do not, of those that
#: were tried, have 0.946 and 0.942 (docs/decisions).
LEAST_COSINE = 0.955

#: In longer sentences one word changes the vector too little.
_MOST_WORDS = 9
_LEAST_WORDS = 3
_WORD_BYTES = 4
#: No sentence is turned that is longer; its digest at the end must stay there.
_MOST_TURNED = 40

#: A word of which one side has another is a difference, whatever the vectors say.
_TELLING = (
    PRONOUNS
    | AUXILIARIES
    | PREPOSITIONS
    | RELATIONS
    | word_set(
        """not no never none nobody nothing nowhere without neither nor hardly barely only all every
        each some any most more less fewer always often usually sometimes rarely seldom once twice
        again still already yet before after until since

        left right north south east west up down top bottom upper lower front back inside outside
        first last next previous former current old new young

        morning afternoon evening night noon midnight breakfast lunch dinner day week month year
        hour minute weekend spring summer autumn fall winter

        sell sold lose lost hate hated dislike close closed stop stopped end ended leave lend lent
        borrow borrowed fire fired divorce divorced die died reject rejected refuse refused cancel
        cancelled canceled decrease decreased lower lowered learn learned receive received win won
        push pull hot cold warm cool big small large little high low early late cheap expensive
        good bad best worst open empty full alive dead true false male female"""
    )
)


class Likeness(Struct, frozen=True):
    """What tells whether a short statement may be another one in other words.

    `key` says all that must be equal; `words` are marks of its words, four bytes each, in order.
    """

    key: str
    words: bytes


def turned(signature: str) -> str:
    """Return a signature with its words turned so that those that are turns of each other agree."""
    words = signature.split(" ")
    if not 1 < len(words) <= _MOST_TURNED:
        return signature
    return " ".join(min(words[at:] + words[:at] for at in range(len(words))))


def likeness(statement: Statement, said: str) -> Likeness | None:
    """Return the likeness of a statement; None if it is too long, or too short, to have one.

    `said` is its signature without who said it.
    """
    words = said.split(" ")
    if not _LEAST_WORDS <= len(words) <= _MOST_WORDS:
        return None
    names = _names(statement)
    told = sorted(word for word in words if _tells(word) or word in names)
    claim = statement.claim
    if claim is not None and not is_open(claim.attribute):
        told += ["", normalise_name(claim.subject), claim.attribute, normalise_name(claim.value)]
    digest = hashlib.blake2b("\x1f".join(told).encode("utf-8", "surrogatepass"), digest_size=8)
    return Likeness(digest.hexdigest(), b"".join(map(_mark, words)))


def is_vague(statement: Statement) -> bool:
    """Return whether whom or what a statement is about depends on what was said before it.

    "She got the job" said twice may be about two people.
    """
    tokens = tokenise(statement.sentence)
    if _OTHERS.isdisjoint(tokens.lowers):
        return False
    first = next(place for place, word in enumerate(tokens.lowers) if word in _OTHERS)
    named = any(
        mention.type == "PERSON" and mention.start - statement.start < tokens.starts[first]
        for mention in statement.mentions
    )
    return not named and RELATIONS.isdisjoint(tokens.lowers[:first])


_OTHERS = word_set(
    """he she him her his hers they them their theirs he's she's they're he'd she'd they've he’s
    she’s they’re he'll she'll they'll"""
)


def cosine_of(one: bytes, other: bytes) -> float:
    """Return the cosine of two canonical vectors, rounded to four digits; 0 for zeros.

    It is counted in whole numbers, so it is the same on every machine.
    """
    left, right = (np.frombuffer(each, np.int8).astype(np.int64) for each in (one, other))
    if left.shape != right.shape:
        return 0.0
    length = math.isqrt(int(left @ left) * int(right @ right) * 10**8)
    return round(int(left @ right) * 10**4 / length, 4) if length else 0.0


def differ_in_one_word(one: bytes, other: bytes) -> bool:
    """Return whether two rows of words, one of them turned if need be, differ in one word at most.

    Both are marks as `Likeness` has them.
    """
    if len(one) != len(other):
        return False
    left, right = _marks(one), _marks(other)
    turns = (right[at:] + right[:at] for at in range(len(right)))
    return any(
        sum(mine != theirs for mine, theirs in zip(left, turn, strict=True)) <= 1 for turn in turns
    )


def _tells(word: str) -> bool:
    return word in _TELLING or word in NUMBER_WORDS or word in ORDINALS or not word.isalpha()


def _names(statement: Statement) -> set[str]:
    """Return the words of a statement, in small letters, that name somebody or something."""
    tokens = tokenise(statement.sentence)
    names = {
        lower
        for word, lower in zip(tokens.words[1:], tokens.lowers[1:], strict=True)
        if word[0].isupper()
    }
    for mention in statement.mentions:
        names.update(tokenise(mention.text).lowers)
    # A signature has them without a plural's -s.
    return names | {name.removesuffix("'s").removesuffix("s") for name in names}


def _mark(word: str) -> bytes:
    encoded = word.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=_WORD_BYTES).digest()


def _marks(words: bytes) -> list[bytes]:
    return [words[at : at + _WORD_BYTES] for at in range(0, len(words), _WORD_BYTES)]
