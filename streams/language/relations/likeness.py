"""Whether two statements of one person within a day are the same, by their words and meaning.

The same words in the same order are the same statement, also if a final phrase is moved to the
beginning ("On Monday I sold the boat"). With an encoder, one word may differ ("bought",
"purchased") if the sentence is short, the vectors are nearly equal, and nothing significant
differs: a number, a day, a name, a negation, a person, a direction, a claim.
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

#: The minimum cosine of two equal short sentences. The most similar unequal pairs in our tests have
#: 0.946 and 0.942 (docs/decisions).
LEAST_COSINE = 0.955

#: In longer sentences, one word changes the vector too little.
_MOST_WORDS = 9
_LEAST_WORDS = 3
_WORD_BYTES = 4
#: Longer signatures are not rotated: the digest at their end must stay there.
_MOST_TURNED = 40

#: Words that make a difference if only one side has them, whatever the vectors say.
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
    """The data for deciding whether a short statement paraphrases another one.

    `key` covers everything that must be equal; `words` are four-byte hashes of its words, in order.
    """

    key: str
    words: bytes


def turned(signature: str) -> str:
    """Return the first rotation of a signature's words in the alphabet: all rotations share it."""
    words = signature.split(" ")
    if not 1 < len(words) <= _MOST_TURNED:
        return signature
    return " ".join(min(words[at:] + words[:at] for at in range(len(words))))


def likeness(statement: Statement, said: str) -> Likeness | None:
    """Return the likeness of a statement; None if it is too long, or too short, to have one.

    `said` is its signature without the speaker.
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
    """Return whether the subject of a statement depends on earlier statements.

    "She got the job", said twice, may be about two people.
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

    It is computed with integers, so it is the same on every machine.
    """
    left, right = (np.frombuffer(each, np.int8).astype(np.int64) for each in (one, other))
    if left.shape != right.shape:
        return 0.0
    length = math.isqrt(int(left @ left) * int(right @ right) * 10**8)
    return round(int(left @ right) * 10**4 / length, 4) if length else 0.0


def differ_in_one_word(one: bytes, other: bytes) -> bool:
    """Return whether two word sequences, one of them possibly rotated, differ in at most one word.

    Both are hashes, as in `Likeness`.
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
    """Return the lower-case words of a statement that are names."""
    tokens = tokenise(statement.sentence)
    names = {
        lower
        for word, lower in zip(tokens.words[1:], tokens.lowers[1:], strict=True)
        if word[0].isupper()
    }
    for mention in statement.mentions:
        names.update(tokenise(mention.text).lowers)
    # Signatures have them without a plural -s.
    return names | {name.removesuffix("'s").removesuffix("s") for name in names}


def _mark(word: str) -> bytes:
    encoded = word.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=_WORD_BYTES).digest()


def _marks(words: bytes) -> list[bytes]:
    return [words[at : at + _WORD_BYTES] for at in range(0, len(words), _WORD_BYTES)]
