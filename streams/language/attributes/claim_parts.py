"""The parts of a clause that each make a claim: "I live in Turin and work as a nurse" has two.

A part lacks the words that it shares with the rest ("I", "my sister Ana is"); they are put before
it as its opening. Parts joined by "and" divide the clause; a parenthetical claim, such as whose
sister it is, leaves it whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from recollect.schemas.attributes import is_single_valued
from recollect.streams.language.attributes.attribute_verbs import VERBS
from recollect.streams.language.attributes.attribute_words import PARTNERS
from recollect.streams.language.attributes.rules import (
    KIN,
    KIN_NAME,
    LEAD,
    are_several,
    find_kin,
    kin_names,
)
from recollect.streams.language.grammar.analysis import Claim, Mention, Whom
from recollect.streams.language.grammar.clauses import after_lead_in
from recollect.streams.language.grammar.verbs import BASES, is_past, third_person
from recollect.text.lexicon import word_set

_ADVERB = (
    r"(?:also|now|currently|still|recently|just|then|even|finally|since|already|actually|really|"
    r"absolutely|always|usually|often|sometimes|mainly|mostly|only|both|secretly)"
)
_SUBJECT = re.compile(
    rf"(?:(?P<speaker>i|we)|(?P<pronoun>he|she))\b(?P<short>['’](?:m|re|ve|s)\b)?|"
    rf"(?P<kin>(?:my|our) (?:[\w\-]+ ){{0,2}}?(?:{KIN}),? (?:called |named )?)?"
    rf"(?P<name>{KIN_NAME})(?P<after>, (?:my|our) (?:[\w\-]+ ){{0,2}}?(?:{KIN}),)?(?P<is>['’]s\b)?",
    re.IGNORECASE,
)
#: "Ana, a vet in Porto, turned 40"
_APPOSED = re.compile(r", (?P<what>an? [^,.;:()]{3,60}), ", re.IGNORECASE)
_VERB = re.compile(rf"\s*(?:{_ADVERB} )*(?P<verb>[\w'’]+)", re.IGNORECASE)
_JOINT = re.compile(
    rf",? (?:and|but|plus) (?=(?:{_ADVERB} )*(?P<verb>\w+))|, (?=(?P<next>\w+))", re.IGNORECASE
)
#: Words after which something other than the subject is the topic.
_WITHIN = re.compile(
    r"\b(?:who|whom|whose|which|that|where|when|while|if|because|since i|since we|so|said|says|"
    r"think|thinks|hope|hopes)\b",
    re.IGNORECASE,
)
#: A verb that may also govern a base form after "and": "I want to sing and live in Rome".
_LEADING = re.compile(
    r"\b(?:to (?!(?:the|an?|my|our|this|that)\b)[a-z]+|"
    r"can|cannot|could|will|would|should|might|may|must|not|never|let|"
    r"help|make)\b|n['’]t\b|['’]ll\b|['’]d\b"
)
#: "I have a friend with a cat and a dog", "I'm married to a doctor and a poet".
_SOMETHINGS = re.compile(
    r"\b(?:with|to|for|by|like|of|from|in|at|on|about|near) (?:an?|the|two|three|my|our)\b",
    re.IGNORECASE,
)
_IN = re.compile(r"\b(?:in|of|to|with|at|about|for|by|from|on|into)\b", re.IGNORECASE)
#: Words that describe the subject, also after "in" and the like.
_PREDICATES = word_set(
    "allergic married divorced single engaged widowed retired unemployed pregnant vegan vegetarian "
    "from originally afraid based living looking diabetic"
)
_ITEM = word_set("a an one two three four five six several")
_AGED = re.compile(
    r"(?:am|is|are|['’](?:m|s|re)) (?:an? )?\d{1,3}[- ]?(?:years?|yrs?)[- ]old (?=[a-z])",
    re.IGNORECASE,
)
_FROM = re.compile(r" (?=from (?-i:[A-Z]))")
_DOING = re.compile(r" (?=(?:living|based|working|studying) (?:in|at|for|as)\b)", re.IGNORECASE)
_AS = re.compile(r"\b(?:work(?:s|ed|ing)?|employed) [^,;]{2,40}? (?=as an? \w)", re.IGNORECASE)
_AT = re.compile(r" (?=(?:at|in) (?:the )?(?-i:[A-Z]))")
_ENDS = re.compile(r"[,;()]| (?:and|but|who|which|with|since|for|while|because)\b", re.IGNORECASE)
#: Attributes of which a description such as "a nurse from Turin" gives one value each.
_BEING = word_set("role age gender relationship")
_NO_WORK = word_set("student pupil patient resident guest retired intern")
_AUXILIARIES = word_set("am is are was have has do does can cannot")
_IS_DOING = re.compile(r"ing\b")
#: No claiming clause is longer.
_LONGEST = 300
#: With fewer characters after "and", nothing is claimed.
_SHORTEST = 4


class ClaimPart(NamedTuple):
    """A part of a clause, its opening and its claim; `beside`: the clause continues after it."""

    opening: str
    start: int
    end: int
    claim: Claim
    beside: bool


class Reads(Protocol):
    """Finds the claim of a part of the text, read after an opening that may name a person.

    The part is from `start` to `end`, in characters of the message.
    """

    def __call__(self, opening: str, start: int, end: int, person: str | None) -> Claim | None:
        """Return the claim, or None."""


class _Subject(NamedTuple):
    """The subject of a clause: as rendered, as analysed, and where the predicate begins.

    `short` is the full form of a contracted verb, such as that of "I'm".
    """

    told: str
    read: str
    person: str | None
    verb: str
    begin: int
    short: str = ""

    def be(self) -> str:
        return {"i": "am", "we": "are"}.get(self.read.lower(), "is")

    def agreed(self, base: str) -> str:
        return base if self.person is None else third_person(base)


def claim_parts(
    text: str,
    start: int,
    end: int,
    reads: Reads,
    mentions: Sequence[Mention],
    speaker: str,
    pronoun: Whom | None = None,
) -> list[ClaimPart]:
    """Return the parts of a clause that each make a claim, the main claim first.

    `mentions` are those of the clause; `pronoun` is the person that "he" or "she" in it means.
    """
    if end - start > _LONGEST:
        return []
    begin = LEAD.match(text, after_lead_in(text, start, end), end).end()  # type: ignore[union-attr]
    found = _SUBJECT.match(text, begin, end)
    subject = None if found is None else _subject(text, found, mentions, pronoun)
    main: list[ClaimPart] = []
    aside: list[ClaimPart] = []
    if subject is not None:
        apposed = _APPOSED.match(text, subject.begin, end) if subject.person else None
        if apposed is not None:
            aside += _part(reads, subject, subject.be(), *apposed.span("what"))
            subject = subject._replace(begin=apposed.end() - 1)
        main = _joined(text, start, end, subject, reads)
        for each in main:
            aside += _on_the_way(text, each, subject, reads)
    if not main and (claim := reads("", start, end, None)) is not None:
        main = [ClaimPart("", start, end, claim, False)]
    aside += _kin(text, start, end, speaker)
    kept: list[ClaimPart] = []
    for each in (*main, *aside):
        if not each.beside or not any(_is_same(each.claim, other.claim) for other in kept):
            kept.append(each)
    return kept if main else []


def _subject(
    text: str, found: re.Match[str], mentions: Sequence[Mention], pronoun: Whom | None
) -> _Subject | None:
    short = (found["short"] or found["is"] or "").lower()[1:]
    end = found.end()
    following = _VERB.match(text, end)
    verb = following["verb"].lower() if following is not None else ""
    if short:
        verb = "have" if short == "ve" else "be"
    verb = {"am": "be", "is": "be", "are": "be", "has": "have"}.get(verb, verb)
    if found["speaker"]:
        return _whole(_Subject(found["speaker"], found["speaker"], None, verb, end), short)
    if found["pronoun"]:
        if pronoun is None or pronoun.start != found.start("pronoun"):
            return None
        return _whole(_Subject(pronoun.called, pronoun.name, pronoun.name, verb, end), short)
    name, place = found["name"], found.start("name")
    of_kin = found["kin"] or found["after"]
    known = next((item for item in mentions if item.start == place), None)
    if not of_kin and (known is None or known.type != "PERSON"):
        return None
    if known is not None and known.type in ("PERSON", "OTHER") and known.end <= end:
        name = known.text
    return _whole(_Subject(f"{found['kin'] or ''}{name}", name, name, verb, end), short)


def _whole(subject: _Subject, short: str) -> _Subject:
    if not short:
        return subject
    verb = subject.agreed("have") if subject.verb == "have" else subject.be()
    return subject._replace(short=f" {verb}")


def _joined(text: str, start: int, end: int, subject: _Subject, reads: Reads) -> list[ClaimPart]:
    """Return the parts joined by "and", or the only one."""
    first = reads(subject.read + subject.short, subject.begin, end, subject.person)
    if first is None:
        return []
    found = [ClaimPart("", start, end, first, False)]
    for joint in _JOINT.finditer(text, subject.begin, end):
        last = found[-1]
        left = text[last.start : joint.start()]
        if end - joint.end() < _SHORTEST:
            continue
        begin, before = last.start, last.opening.replace(subject.told, subject.read, 1)
        if last.start == start:
            begin, before = subject.begin, subject.read + subject.short
        cut = reads(before, begin, joint.start(), subject.person)
        right = None
        for opening in _openings(left, joint, subject) if cut else ():
            told, read = (f"{whose}{opening}" for whose in (subject.told, subject.read))
            right = reads(read, joint.end(), end, subject.person)
            if right is not None:
                break
        if right is None or cut is None or _is_same(right, cut):
            continue
        found[-1] = last._replace(end=joint.start(), claim=cut)
        found.append(ClaimPart(told, joint.end(), end, right, False))
    return found


def _openings(left: str, joint: re.Match[str], subject: _Subject) -> list[str]:
    """Return the possible openings of a joined part: the subject with its verb, or alone."""
    word = (joint["verb"] or joint["next"]).lower()
    if _WITHIN.search(left):
        return []
    again = f" {subject.be()} "
    if word in _AUXILIARIES:
        return [" "] if joint["verb"] else []
    if is_past(word):
        return [again, " "] if subject.verb == "be" else [" "]
    if subject.person is None and (word in VERBS or word in BASES):
        listed = word == "like" and not joint["verb"]
        return [] if listed or _LEADING.search(left) else [" "]
    if subject.person is not None and word in _THIRDS:
        return [" "]
    if word in _ITEM and _SOMETHINGS.search(left):
        return []
    if subject.verb == "have" and word in _ITEM and joint["verb"] and "," not in left:
        return [f" {subject.agreed('have')} "]
    if subject.verb != "be" or (word.endswith("ing") and _IS_DOING.search(left)):
        return []
    # "I'm fluent in English and French": what follows may depend on the preposition.
    begins = (joint["verb"] or joint["next"])[0]
    plain = word in _PREDICATES or word in _ITEM or word.isdecimal()
    bare = begins.islower() and _IN.search(left) is None
    return [again] if bare or plain else []


_THIRDS = frozenset(map(third_person, VERBS))


def _part(reads: Reads, subject: _Subject, verb: str, start: int, end: int) -> list[ClaimPart]:
    claim = reads(f"{subject.read} {verb} ", start, end, subject.person)
    if claim is None:
        return []
    return [ClaimPart(f"{subject.told} {verb} ", start, end, claim, True)]


def _on_the_way(text: str, part: ClaimPart, subject: _Subject, reads: Reads) -> list[ClaimPart]:
    """Return further claims of a part about its subject: "a nurse from Turin"."""
    attribute, found = part.claim.attribute, []
    begin = max(part.start, subject.begin)
    if attribute in _BEING:
        if aged := _AGED.search(text, part.start, part.end):
            be = f"{subject.be()} {'an' if text[aged.end()] in 'aeiou' else 'a'}"
            found += _part(reads, subject, be, aged.end(), part.end)
        patterns = [(_FROM, subject.be()), (_DOING, subject.be())]
        if attribute == "role" and _NO_WORK.isdisjoint(part.claim.value.split()):
            patterns.append((_AT, subject.agreed("work")))
    elif attribute in ("employer", "work") and not part.claim.value.startswith("as "):
        patterns = [(_AS, subject.agreed("work"))]
    else:
        patterns = []
    for pattern, verb in patterns:
        if said := pattern.search(text, begin, part.end):
            ends = _ENDS.search(text, said.end(), part.end)
            found += _part(reads, subject, verb, said.end(), ends.start() if ends else part.end)
    return found


def _kin(text: str, start: int, end: int, speaker: str) -> list[ClaimPart]:
    found = find_kin(text[start:end])
    if found is None:
        return []
    first, last = kin_names(text[start:end], found)
    which, name = f"{found['which']}{found['kin']}", text[start + first : start + last]
    partner = found["kin"].lower() in PARTNERS
    claim = Claim(
        speaker, "partner" if partner else "family", name if partner else f"{which} {name}"
    )
    whose = f"{found['whose'].lower()} {which} {'are' if are_several(found) else 'is'} "
    return [ClaimPart(whose, start + first, start + last, claim, True)]


def _is_same(one: Claim, other: Claim) -> bool:
    """Whether two claims of one sentence exclude each other."""
    if (one.subject, one.attribute) != (other.subject, other.attribute):
        return False
    return is_single_valued(one.attribute) or one.value == other.value
