"""The parts of a clause that each make a claim: "I live in Turin and work as a nurse" has two.

A part after "and" lacks the subject, which is put before it as its opening: "I".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from recollect.streams.language.attributes.claims import KIN
from recollect.streams.language.grammar.analysis import Claim, Mention, Whom
from recollect.streams.language.grammar.clauses import after_lead_in

_SPEAKER = re.compile(r"(?:i|we)\b", re.IGNORECASE)
_KIN = re.compile(KIN)
#: Who somebody is, between commas: "Ana, my cousin, lives in Riga".
_APPOSITION = re.compile(r", (?:my|our|his|her|their|the|an?) [^\W\d_A-Z][\w'’ -]{1,40},")
_JOINT = re.compile(r",? and (?=\w)")
#: The maximum length of a clause that makes a claim, in characters.
_LONGEST = 300


#: The other subject or the condition of what follows: "the man who left and moved to Riga".
_SUBORDINATE = re.compile(
    r"\b(?:who|whom|whose|which|that|if|when|while|because|since|unless|although|though|after|"
    r"before|until|whether|how|why|where)\b|[,;:()]",
    re.IGNORECASE,
)


class ClaimPart(NamedTuple):
    """A part of a clause, its opening and its claim, if the rules find one."""

    opening: str
    start: int
    end: int
    claim: Claim | None


class ClaimReader(Protocol):
    """Finds the claim of a part of the text, read after an opening that may name a person.

    The part is from `start` to `end`, in characters of the message.
    """

    def __call__(self, opening: str, start: int, end: int, person: str | None) -> Claim | None:
        """Return the claim of text[start:end] after `opening`; None if it makes none."""


class _Subject(NamedTuple):
    """The subject of a clause: as rendered, as analysed, and where the predicate begins."""

    told: str
    read: str
    person: str | None
    begin: int


def claim_parts(
    text: str,
    start: int,
    end: int,
    reads: ClaimReader,
    mentions: Sequence[Mention],
    pronoun: Whom | None = None,
) -> list[ClaimPart]:
    """Return the parts of a clause, joined by "and", that each make a claim.

    The first may make none: "Tom quit his job and moved to Riga".

    `mentions` are the mentions of the clause; `pronoun` is the person that "he" or "she" in it
    means.
    """
    subject = None if end - start > _LONGEST else _subject(text, start, end, mentions, pronoun)
    if subject is None:
        return []
    whole = reads(subject.read, subject.begin, end, subject.person)
    found = [ClaimPart("", start, end, whole)]
    for joint in _JOINT.finditer(text, subject.begin, end):
        last = found[-1]
        begin = subject.begin if last.start == start else last.start
        right = reads(f"{subject.read} ", joint.end(), end, subject.person)
        if right is None:
            continue
        left = reads(f"{subject.read}{last.opening and ' '}", begin, joint.start(), subject.person)
        if left is None:
            if last.claim is not None or _SUBORDINATE.search(text, subject.begin, joint.start()):
                continue
        elif left.attribute == right.attribute:
            continue
        found[-1] = last._replace(end=joint.start(), claim=left)
        found.append(ClaimPart(f"{subject.told} ", joint.end(), end, right))
    return found if found[-1].claim is not None else []


def _subject(
    text: str, start: int, end: int, mentions: Sequence[Mention], pronoun: Whom | None
) -> _Subject | None:
    begin = after_lead_in(text, start, end)
    if pronoun is not None and pronoun.start == begin:
        return _Subject(pronoun.called, pronoun.name, pronoun.name, pronoun.end)
    kin = _KIN.match(text, begin, end)
    place = begin if kin is None else kin.end()
    named = next((each for each in mentions if each.start == place), None)
    if named is not None and named.type == "PERSON":
        aside = _APPOSITION.match(text, named.end, end)
        place = named.end if aside is None else aside.end()
        return _Subject(text[begin : named.end], named.text, named.text, place)
    said = _SPEAKER.match(text, begin, end)
    return None if said is None else _Subject(said[0], said[0], None, said.end())
