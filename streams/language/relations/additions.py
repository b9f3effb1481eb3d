"""What a sentence adds to what was said: "I also play the cello", "Moreover, …", "another cat".

The word alone tells that something is added. To what, is told by whom both are said of and by the
words that they share; where the word has another sense ("too late", "also known as", "one
another"), or what is said is in doubt, nothing is added.
"""

from __future__ import annotations

import re

from msgspec import Struct

from recollect.streams.language.relations.content_words import content_words, stemmed
from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.tokenizer import Tokens

#: How sure it is that a sentence adds to another of the same subject: it names what it adds to;
#: both share what they are about; it follows the other.
NAMED, SHARED, NEXT = 0.9, 0.8, 0.6

#: A text without one of these words adds nothing.
CUES = word_set(
    """also too well moreover furthermore additionally addition besides top plus what's another
    more"""
)

_SUBJECT = (
    r"(?:(?:i|we|he|she|it|they|my|our|his|her|their|the|there|this)\b|(?-i:[A-Z])[\w'’-]+ [a-z])"
)
_OPENS = re.compile(
    r"(?:(?:and|but|so|oh|well|yes|yeah|then|unfortunately|luckily)[ ,]+)*"
    r"(?:(?:in addition(?: to (?:(?:all )?that|this|it))?|"
    r"on top of (?:(?:all )?that|this|it all|it)|besides (?:that|this)|as well as that|"
    r"what['’]s more|what is more|moreover|furthermore|additionally|also|plus)"
    rf"(?:[,:–—-]+ *| +(?={_SUBJECT}))|besides, +)",
    re.IGNORECASE,
)
#: "Besides the dance classes, I teach yoga": what is named was said before.
_NAMES = re.compile(
    r"(?:(?:\A(?:(?:and|but|so|well)[ ,]+)*(?:besides|on top of|as well as))|\bin addition to)"
    r" (?=(?:the|my|our|these|those)\b)(?P<what>[^,.;:!?()]{3,80}?)(?=[,.;!]|\Z)",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"(?<!and )(?<!but )(?<!or )(?<!see )(?<!who )(?<!which )(?<!that )\balso\b"
    r"(?! (?:known|called|if|because|when|why|how)\b)(?=[ ,])",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?P<before>[\w'’]+)[ ,]+(?:too|as well)[\s.!…)\"”]*\Z",
    re.IGNORECASE,
)
#: "Me too", "I am too" and "we might as well" say nothing more.
_NO_END = word_set(
    "me you us him them am is are was were be do does did have has had can could will would might "
    "may just"
)
_ANOTHER = re.compile(
    r"(?<!\bone )(?<!\bin )(?<!\bon )(?<!\bto )\b(?:another|one more) (?P<what>[\w'’ -]{2,60})",
    re.IGNORECASE,
)
_OF_YOURS = re.compile(r"\b(?:you|your|yours|(?:would|['’]d) (?:love|like))\b", re.IGNORECASE)
#: Nobody told of a first day when they speak of "another day".
_NO_OTHER = word_set(
    """day time way thing week month year hour minute level note question story round chance person
    reason look moment word try part point side matter kind sort type bit couple place one few set
    go dimension planet world life reminder example"""
)
_HEAD_ENDS = FUNCTION_WORDS | word_set("named called that which who like made")

#: What is only supposed, and what somebody wants to say.
_DOUBT = re.compile(
    r"(?:\bwould|['’]d|\bwant(?:ed)?)(?: also)?(?: like)?(?: also)? to (?:also )?(?:address|"
    r"mention|say|ask|thank|point|note|add|share|highlight|clarify|remind|tell)\b|"
    r"\b(?:if|unless|whether|as though|would(?:n['’]t)? have|could(?:n['’]t)? have|not only|"
    r"not just|wish|imagine)\b",
    re.IGNORECASE,
)
#: Words that say little of what something is about.
_LITTLE = word_set(
    """good great nice new old big little small really thing way bit lot start try want need use
    give find help people person amazing awesome different special important like love enjoy live
    life work have has year month week day time first next last other more most whole name call"""
)
_NOT_SHARED = frozenset(stemmed(_LITTLE)) | _LITTLE | CUES


class Addition(Struct, frozen=True):
    """How a sentence says that it adds: from which character on it is said of what, and the words
    of what it names as there before; empty where it names nothing.

    `answers` says that what it adds to may as well be what another person said ("I also love it"),
    `ends` that this is as likely ("I love it too").
    """

    begins: int
    names: frozenset[str]
    answers: bool = False
    ends: bool = False


def find_addition(text: str, start: int, end: int) -> Addition | None:
    """Return how the sentence between two characters says that it adds something, or None."""
    said = text[start:end]
    if _DOUBT.search(said):
        return None
    names = _NAMES.search(said)
    if names is not None:
        words = content_words(names["what"])
        begins = start + names.end() if names.start() == 0 else start
        return Addition(begins, words) if words else None
    if (other := _another(said)) is not None:
        return Addition(start, other)
    opens = _OPENS.match(said)
    if opens is not None:
        return Addition(start + opens.end(), frozenset(), answers=True)
    if _WITHIN.search(said):
        return Addition(start, frozenset(), answers=True)
    ends = _ENDS.search(said)
    if ends is None or ends["before"].lower() in _NO_END:
        return None
    return Addition(start, frozenset(), answers=True, ends=True)


def _another(said: str) -> frozenset[str] | None:
    """Return what "another" is one more of: of "another camping trip in May", a trip."""
    found = _ANOTHER.search(said)
    if found is None or _OF_YOURS.search(said):
        return None
    head = ""
    for word in found["what"].split():
        if word.lower() in _HEAD_ENDS:
            break
        head = word.lower()
    if not head or head in _NO_OTHER:
        return None
    return frozenset(stemmed([head])) or None


def may_add(tokens: Tokens) -> bool:
    """Whether a text has a word by which something may be added."""
    return not CUES.isdisjoint(tokens.lowers)


def told_words(text: str, without: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the words by which it is told what a sentence is about, those of its subject apart."""
    return content_words(text) - _NOT_SHARED - without
