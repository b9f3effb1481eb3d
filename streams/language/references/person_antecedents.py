"""The antecedent of "he" or "she" in a statement, from its message and the previous ones.

It is resolved only if the nearest message that names a possible antecedent names a single person of
that gender. If two people may be meant, or somebody without a name, it is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.clauses import Span, is_finite
from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.grammar.vocatives import is_vocative
from recollect.streams.language.names.first_names import Gender, gender_of_name, gender_of_relation
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.references.named_referents import HE
from recollect.text.lexicon import (
    FUNCTION_WORDS,
    OCCUPATIONS,
    PHATIC,
    RELATIONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.relatives import name_of, relatives_in
from recollect.text.sentences import sentences
from recollect.text.tokenizer import Tokens
from recollect.text.word_patterns import any_of

#: The number of earlier messages, and their maximum age, in which an antecedent is searched.
IN_MIND = 6
IN_MIND_WITHIN_MS = 14 * 86_400_000
#: Longer messages name too many people.
_LONGEST = 2_000
#: A line of at most this many words that contains a name is a signature or a form of address.
_SHORT_LINE = 3

_HE_OR_SHE = "he|she|him|her|his|hers|himself|herself"
_PRONOUN = re.compile(rf"\b({_HE_OR_SHE})\b", re.IGNORECASE)
_PRONOUN_IN_SMALL_LETTERS = re.compile(any_of(_HE_OR_SHE) + r"\b")
#: Possible antecedents that have no name here.
_ANYBODY = re.compile(
    rf"\b(?:{'|'.join(sorted(RELATIONS | OCCUPATIONS))}|man|woman|guy|lady|"
    r"person|people|someone|somebody|maman|mummy|mommy|papa|daddy|granny|gran|nan|nana|grandad|"
    r"auntie|toddler|tenant|anaesthetist|owner|dog|cat|puppy|pup|kitten|pet|rabbit|horse|bird|"
    r"youngest|eldest|oldest|teenager|\w+-old)\b",
    re.IGNORECASE,
)
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Mme|Mlle|Miss|Dr|M)\.?\s\Z")
_NO_PERSON = re.compile(r"\b(?:the|an?) \Z", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?\Z")
#: "Her bag" is possessive; "gave her some" and "takes her swimming" are not.
_OWNED = re.compile(
    r" (?!(?:to|for|in|at|on|and|or|but|with|about|from|that|how|when|what|why|where|if|as|so|up|"
    r"out|"
    r"off|back|down|over|some|a|an|the|my|our|his|this|more|it|there|again|then|now|i|we|you|he|"
    r"she|"
    r"they|last|next|tomorrow|today|yesterday|\w+ing|\d+)\b)\w",
    re.IGNORECASE,
)
#: A sentence may begin with a name that looks like an ordinary word.
_MAYBE_NAME = re.compile(
    r"(?:\A|[.!?:\n]\s*)([A-Z][a-z]+)(?:['’]s [a-z]+)? "
    r"(?:is|has|was|will|does|did|can|had|[a-z]+(?:s|ed))\b"
)
_LETS = re.compile(
    r"\b(?:help|let|make|made|making|watch|saw|see|hear|heard)(?:s|ed|ing)? \Z", re.I
)
_SHORTENED = re.compile(r"['’]s(?P<done> (?:been|got|had|gone|done|lost|\w+ed)\b)?", re.IGNORECASE)
#: Words that begin a sentence without naming anybody.
_OPENERS = FUNCTION_WORDS | PHATIC | WEEKDAYS.keys()
_WORD = re.compile(r"\w+")
_NOBODY = word_set(
    "i ok okay yes no thanks monday tuesday wednesday thursday friday saturday sunday room"
)


class PrecedingMessage(NamedTuple):
    """An earlier message of the conversation: its event's number, its sender and its text.

    `reading` is what the classifier heads found in it.
    """

    number: int
    speaker: str
    text: str
    reading: TextReading | None = None


class Meant(NamedTuple):
    """The antecedent of a pronoun: how to render it, and the event that names it; None: this one.

    `named` is the bare name; empty if the person has none.
    """

    name: str
    number: int | None
    named: str = ""


class _Candidate(NamedTuple):
    name: str
    gender: Gender | None
    sure: bool  # has a name, or is related to the speaker
    named: str = ""  # the name alone: "Pike" for "Mr. Pike"


def has_pronoun(text: str) -> bool:
    """Whether a text refers to somebody as "he" or "she"."""
    if text.isascii():
        return _PRONOUN_IN_SMALL_LETTERS.search(text.lower()) is not None
    # `re` treats more characters as equal, such as the long s.
    return _PRONOUN.search(text) is not None


def meant_by(
    tokens: Tokens,
    index: int,
    found: Sequence[Mention],
    speaker: str,
    before: Sequence[PrecedingMessage],
    others: list[Span],
) -> Meant | None:
    """Return the antecedent of the pronoun at token `index`; None if it is uncertain.

    `found` are the mentions of the message, `others` the spans of other people's words in it,
    `before` the previous messages, the nearest first.
    """
    text, place = tokens.text, tokens.starts[index]
    wanted: Gender = "m" if tokens.lowers[index].split("'")[0] in HE else "f"
    if is_reported(others, place):
        return None
    if tokens.lowers[index].endswith(("'d", "’d", "'ll", "’ll")):
        return None
    begin = max(text.rfind("\n\n", 0, place), place - _LONGEST, 0)
    here = _candidates(text, begin, place, found, others, None)
    here += _in_small_letters(text[begin:place], speaker, before)
    meant = _only(here, wanted)
    if meant is not None or any(_may_be(each, wanted) for each in here):
        return None if meant is None else Meant(meant.name, None, meant.named)
    if not _nobody_told(tokens, begin, place):
        return None
    unsure: Meant | None = None
    for one in before[:IN_MIND]:
        if len(one.text) > _LONGEST:
            return None
        there = [
            each
            for each in _named_in(one, speaker)
            if each.name.split(" ")[0] != speaker.split(" ")[0] and _may_be(each, wanted)
        ]
        if unsure is not None:
            if any((each.sure or each.named) and each.name != unsure.name for each in there):
                return None
            continue
        if not there:
            continue
        meant = _only(there, wanted)
        if meant is None:
            return None
        if any(each.gender == wanted for each in there):
            return Meant(meant.name, one.number, meant.named)
        # The gender of the name is unknown: certain only if nobody else is named.
        unsure = Meant(meant.name, one.number, meant.named)
    return unsure


def _in_small_letters(
    text: str, speaker: str, before: Sequence[PrecedingMessage]
) -> Iterator[_Candidate]:
    """Yield earlier senders who are called by their first names in lower case: "ann"."""
    words = set(_WORD.findall(text))
    for name in dict.fromkeys(one.speaker.split(" ")[0] for one in before):
        if name.lower() in words and name.lower() != name and name != speaker.split(" ")[0]:
            yield _Candidate(name, gender_of_name(name), sure=True, named=name)


def _named_in(one: PrecedingMessage, speaker: str) -> list[_Candidate]:
    """Return the possible antecedents in an earlier message."""
    whose = None if one.speaker == speaker else one.speaker
    found = mentions(one.text, one.reading)
    own = (one.speaker, one.speaker.split(" ")[0])
    there = _candidates(one.text, 0, len(one.text), found, reported(one.text), whose)
    people = [each for each in there if each.name not in own]
    if one.reading is None:
        named = {item.start for item in found}
        people += [
            _Candidate(each[1], gender_of_name(each[1]), sure=False, named=each[1])
            for each in _MAYBE_NAME.finditer(one.text)
            if each.start(1) not in named and each[1].lower() not in _OPENERS
        ]
    return people


def _nobody_told(tokens: Tokens, begin: int, place: int) -> bool:
    """Whether no possible antecedent without a known name precedes a pronoun."""
    spans = sentences(tokens.text[begin:place])
    for number, (start, end) in enumerate(spans):
        first = tokens.text[begin + start : begin + end].split()[0]
        known = first.lower().split("'")[0].split("’")[0] in _OPENERS or not first.isalpha()
        same = number + 1 == len(spans)
        if not known and (not same or is_finite(tokens, begin + start, begin + end)):
            return False
    return True


def _only(candidates: Sequence[_Candidate], wanted: Gender) -> _Candidate | None:
    """Return the only possible antecedent, or None."""
    may = [each for each in candidates if _may_be(each, wanted)]
    if not may or not all(each.sure for each in may):
        return None
    names = {each.name for each in may}
    longest = max(may, key=lambda each: len(each.name))
    words = {longest.name, *longest.name.split(" ")}
    return longest if names <= words else None


def _may_be(candidate: _Candidate, wanted: Gender) -> bool:
    return candidate.gender is None or candidate.gender == wanted


def _candidates(
    text: str,
    begin: int,
    end: int,
    found: Sequence[Mention],
    others: list[Span],
    whose: str | None,
) -> list[_Candidate]:
    """Return the possible antecedents in a stretch of text.

    `whose` is its sender, if "my" in it is not the current speaker's.
    """
    people: list[_Candidate] = []
    taken: list[tuple[int, int]] = []
    names = [(item.start, item.end) for item in found if item.type in ("PERSON", "OTHER")]
    for kin in relatives_in(text, begin, end):
        if kin.owns or kin.is_plural:
            continue
        yours = kin.whose == "your"
        if yours:
            own = f"my {kin.word}"
        else:
            own = text[kin.start : kin.end] if whose is None else f"{whose}'s {kin.word}"
        taken.append((kin.start, kin.end))
        named = name_of(text, kin, names)
        gender = gender_of_relation(kin.word)
        if named is not None:
            taken.append(named)
            own = text[slice(*named)]
            gender = gender or gender_of_name(own.split(" ")[0])
        sure = named is not None or not yours or whose is not None
        people.append(_Candidate(own, gender, sure, "" if named is None else own))
    for item in found:
        if (
            item.type not in ("PERSON", "OTHER")
            or not begin <= item.start < end
            or any(start <= item.start < stop for start, stop in taken)
            or is_vocative(text, item, end)
            or _stands_alone(text, item)
            or is_reported(others, item.start)
        ):
            continue
        name = _POSSESSIVE.sub("", item.text)
        if name.lower() in _NOBODY:
            continue
        if len(name) > 1 and name.isupper():
            continue
        if item.type == "OTHER" and _NO_PERSON.search(text, max(0, item.start - 6), item.start):
            continue
        if not name[:1].isupper() or any(map(str.isdigit, name)):
            continue
        title = _TITLED.search(text, max(0, item.start - 6), item.start)
        stated = title[0].strip(" .") if title else name.split(" ")[0].rstrip(".")
        gender = gender_of_relation(stated)
        gender = gender or gender_of_name(name.split(" ")[0])
        taken.append((item.start, item.end))
        people.append(_Candidate(f"{title[0]}{name}" if title else name, gender, True, name))
    for each in _ANYBODY.finditer(text, begin, end):
        if any(start <= each.start() < stop for start, stop in taken):
            continue
        after = text[each.end() : each.end() + 2]
        if (
            after[:1] == ","
            and after[1:2] == " "
            and any(start == each.end() + 2 or start - each.end() in (5, 6) for start, _ in taken)
        ):
            continue  # "The plumber, Mr. Tremblay"
        people.append(_Candidate("", gender_of_relation(each[0]), sure=False))
    return people


def names_anybody(text: str, span: Span, mentions: Sequence[Mention]) -> bool:
    """Whether a span names or describes somebody whom a pronoun after it may mean."""
    start, end = span
    return _ANYBODY.search(text, start, end) is not None or any(
        each.type == "PERSON" and start <= each.start < end for each in mentions
    )


def _stands_alone(text: str, item: Mention) -> bool:
    """Whether a name is the whole line, as in a signature or an address: "Daniel."."""
    start = text.rfind("\n", 0, item.start) + 1
    end = text.find("\n", item.end)
    line = text[start : len(text) if end < 0 else end]
    return len(line.split()) <= _SHORT_LINE and not line.rstrip().endswith(("!", "?"))


def with_names(said: str, pronoun: str, ordinal: int, name: str) -> str:
    """Return a text with the `ordinal`th pronoun of a kind replaced by a name.

    A possessive "her" becomes "Ada's".
    """
    found = list(_PRONOUN.finditer(said))
    if ordinal >= len(found) or found[ordinal][0].lower() != pronoun:
        return said
    each = found[ordinal]
    following = said[each.end() :]
    owns = pronoun == "his" or (
        pronoun == "her"
        and _OWNED.match(following) is not None
        and _LETS.search(said[: each.start()]) is None
    )
    own = f"{name}'s" if owns else name
    if shortened := _SHORTENED.match(following):
        own += " has" if shortened["done"] else " is"
        following = following[2:]
    if each.start() == 0 or said[each.start() - 2 : each.start()] in (". ", "! ", "? "):
        own = own[:1].upper() + own[1:]
    return said[: each.start()] + own + following


def nth_pronoun(said: str, place: int) -> tuple[str, int] | None:
    """Return the pronoun at a position, in lower case, and how many of the same precede it."""
    for ordinal, each in enumerate(_PRONOUN.finditer(said)):
        if each.start() == place:
            return each[0].lower(), ordinal
    return None
