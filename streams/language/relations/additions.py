"""Whether a sentence adds to an earlier one: "I also play the cello", "Moreover, …", "another cat".

The cue only shows that something is added. The earlier sentence is identified by the subject and by
shared words. If the cue has another sense ("too late", "also known as", "one another"), or the
statement is doubtful, nothing is added.
"""

from __future__ import annotations

import re

from msgspec import Struct

from recollect.streams.language.relations.content_words import content_words, stemmed
from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.tokenizer import Tokens

#: The confidence that a sentence adds to another with the same subject: it names what it adds to;
#: both share content words; it just follows the other.
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
#: "Besides the dance classes, I teach yoga": the named thing was mentioned before.
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
#: "Me too", "I am too" and "we might as well" add no content.
_NO_END = word_set(
    "me you us him them am is are was were be do does did have has had can could will would might "
    "may just"
)
_ANOTHER = re.compile(
    r"(?<!\bone )(?<!\bin )(?<!\bon )(?<!\bto )\b(?:another|one more) (?P<what>[\w'’ -]{2,60})",
    re.IGNORECASE,
)
_OF_YOURS = re.compile(r"\b(?:you|your|yours|(?:would|['’]d) (?:love|like))\b", re.IGNORECASE)
#: "Another day" does not imply that a first day was mentioned.
_NO_OTHER = word_set(
    """day time way thing week month year hour minute level note question story round chance person
    reason look moment word try part point side matter kind sort type bit couple place one few set
    go dimension planet world life reminder example"""
)
_HEAD_ENDS = FUNCTION_WORDS | word_set("named called that which who like made")

#: Hypothetical statements and wishes.
_DOUBT = re.compile(
    r"(?:\bwould|['’]d|\bwant(?:ed)?)(?: also)?(?: like)?(?: also)? to (?:also )?(?:address|"
    r"mention|say|ask|thank|point|note|add|share|highlight|clarify|remind|tell)\b|"
    r"\b(?:if|unless|whether|as though|would(?:n['’]t)? have|could(?:n['’]t)? have|not only|"
    r"not just|wish|imagine)\b",
    re.IGNORECASE,
)
#: Words that say little about the topic of a text.
_LITTLE = word_set(
    """good great nice new old big little small really thing way bit lot start try want need use
    give find help people person amazing awesome different special important like love enjoy live
    life work have has year month week day time first next last other more most whole name call"""
)
_NOT_SHARED = frozenset(stemmed(_LITTLE)) | _LITTLE | CUES


class Addition(Struct, frozen=True):
    """How a sentence adds to another one.

    `begins` is the character from which its content counts, and `names` are the words for what it
    adds to, empty if it names nothing. `answers`: it may also add to something that another person
    said ("I also love it"); `ends`: both readings are equally likely ("I love it too").
    """

    begins: int
    names: frozenset[str]
    answers: bool = False
    ends: bool = False


def find_addition(text: str, start: int, end: int) -> Addition | None:
    """Return how the sentence text[start:end] adds to an earlier statement, or None."""
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
    """Return the thing that "another" adds one to: a trip, for "another camping trip in May"."""
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
    """Whether a text has a cue for an addition."""
    return not CUES.isdisjoint(tokens.lowers)


def told_words(text: str, without: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the content words of a sentence, without those of its subject."""
    return content_words(text) - _NOT_SHARED - without
