"""Which slot of whom a plain question asks for: "Where does Ada live?" asks for Ada's home.

What fills that slot answers the question, whatever else in the zone has more of its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.entity_names import NamedEntity, entity_ids
from recollect.projections.recall.question.slots.readable_claims import readable_claims
from recollect.projections.recall.question.times.past import asks_for_past
from recollect.schemas.names import normalise_name

#: A slot with more values than this is a list, and the order of recall is as good.
MAX_SLOT_VALUES = 5
# Longer questions ask for more than a slot.
_MAX_QUESTION_LENGTH = 120

Mask = npt.NDArray[np.bool_]

#: What stands for the name in a question.
_WHO = "\x00"
_NOW = r"(?: (?:now|nowadays|currently|at the moment|at present|today|these days|right now))?"
_BEFORE = r"(?:(?:so|and|ok|hey|please|remind me|tell me|do you (?:know|remember)|i forgot),? )*"
_WHAT_IS = r"(?:what(?:['’]s| is| are)|which is|tell me|give me|do you know) "
_ALLERGY = "allerg"
_PETS = "dog|puppy|cat|kitten|rabbit|horse|hamster|parrot|bird|fish|tortoise|turtle"
_KIN = (
    "mother|father|mum|mom|dad|sister|brother|son|daughter|aunt|uncle|cousin|niece|nephew|"
    "grandmother|grandfather"
)
_OF = rf"{_WHO}(?:['’]s?)? "


def _asking(*forms: str) -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE}(?:{'|'.join(forms)}){_NOW}\W*", re.IGNORECASE)


def _of_whom(words: str) -> tuple[str, str]:
    """Return the two forms of asking for what somebody has: "Ada's job", "the job of Ada"."""
    return rf"(?:{_WHAT_IS})?{_OF}{words}", rf"(?:{_WHAT_IS})?the {words} of {_WHO}"


_ASKED = {
    "home": _asking(
        rf"where(?:abouts)? (?:does|do) {_WHO} (?:currently |now )?(?:live|reside)",
        rf"where(?:['’]s| is) {_WHO} (?:currently |now )?(?:living|based)",
        rf"where(?:['’]s| is) {_OF}home",
        rf"(?:in )?(?:which|what) (?:city|town|place|country|village) (?:does|do) {_WHO} "
        r"(?:currently |now )?live(?: in)?",
    ),
    "employer": _asking(
        rf"where (?:does|do) {_WHO} (?:currently |now )?work",
        rf"where(?:['’]s| is) {_WHO} (?:currently |now )?(?:working|employed)",
        rf"(?:for )?(?:whom|who|which company|what company) (?:does|do) {_WHO} (?:currently |now )?"
        r"work(?: for| at)?",
        rf"who(?:['’]s| is) {_OF}employer",
        *_of_whom("employer"),
    ),
    "role": _asking(
        rf"what (?:does|do) {_WHO} do(?: for (?:a living|work))?",
        rf"what (?:kind|sort) of (?:work|job) (?:does|do) {_WHO} (?:do|have)",
        rf"what (?:does|do) {_WHO} work as",
        *_of_whom(r"(?:current )?(?:job|occupation|profession|role|position|job title)"),
    ),
    "partner": _asking(
        rf"who(?:['’]s| is) {_WHO} (?:dating|seeing|together with)",
        rf"who(?:['’]s| is) {_OF}(?:partner|significant other)",
        rf"(?:{_WHAT_IS})?(?:the name of )?{_OF}partner(?:['’]s name| called)?",
    ),
    "birthday": _asking(
        rf"when(?:['’]s| is) {_OF}birthday",
        rf"when was {_WHO} born",
        *_of_whom(r"(?:birthday|date of birth|birth date)"),
    ),
    "phone": _asking(
        *_of_whom(r"(?:(?:tele)?phone|mobile|cell)(?: number)?"),
        rf"(?:on )?(?:what|which) number can (?:i|we) (?:reach|call) {_WHO}(?: on| at)?",
    ),
    "email": _asking(*_of_whom(r"e-?mail(?: address)?")),
    "age": _asking(rf"how old(?:['’]s| is) {_WHO}", *_of_whom("age")),
    "origin": _asking(
        rf"where(?:['’]s| is) {_WHO} (?:originally )?from",
        rf"where (?:does|do|did) {_WHO} (?:originally )?(?:come from|grow up)",
    ),
    "language": _asking(rf"(?:what|which|how many) languages (?:does|do) {_WHO} (?:speak|know)"),
    "health": _asking(
        rf"what(?:['’]s| is) {_WHO} (?P<kind>allerg)ic to",
        rf"what (?P<kind_>allerg)(?:y|ies) (?:does|do) {_WHO} have",
    ),
    "pet": _asking(
        rf"(?:what|which) (?:pets?|animals?) (?:does|do) {_WHO} (?:have|own)",
        rf"(?:{_WHAT_IS}|who is )?(?:the name of )?{_OF}(?P<kind>{_PETS})(?:['’]s name| called)?",
    ),
    "family": _asking(
        rf"(?:{_WHAT_IS}|who(?:['’]s| is) )(?:the name of )?{_OF}(?P<kind>{_KIN})"
        r"(?:['’]s name| called)?",
    ),
}


class Asked(NamedTuple):
    """A slot that a question asks for: its attribute, and a word that its values have."""

    attribute: str
    kind: str = ""

    def is_answered_by(self, attribute: str, value: str) -> bool:
        """Whether a value of an attribute is what is asked for."""
        if attribute != self.attribute:
            return False
        words = value.lower().split()
        return not self.kind or any(
            word == self.kind or (self.kind == _ALLERGY and word.startswith(_ALLERGY))
            for word in words
        )


def asked(masked: str) -> Asked | None:
    """Return what slot a question asks for, the name in it masked; None: no such one."""
    for attribute, pattern in _ASKED.items():
        if found := pattern.fullmatch(masked):
            kinds = [kind for kind in found.groupdict().values() if kind]
            return Asked(attribute, *(kind.lower() for kind in kinds[:1]))
    return None


def slot_values(
    text: str,
    named: Sequence[NamedEntity],
    index: Index,
    files: ZoneFiles,
    *,
    upto: int,
    allowed: Mask,
) -> tuple[str, ...]:
    """Return the facts that fill the slot that a question asks for, the newest first.

    `upto`: the time at which they are to hold (unix ms); `allowed`: the turns that may be answered.
    None where it asks for no slot or for the past, where the name may mean several, or nothing
    fills the slot.
    """
    if (
        not index.row_kinds.claims
        or len(named) != 1
        or len(text) > _MAX_QUESTION_LENGTH
        or asks_for_past(text)
    ):
        return ()
    (name,) = named
    said = text[name.start : name.end]
    bare = re.sub(r"['’]s?\Z", "", said)
    masked = text[: name.start] + _WHO + said[len(bare) :] + text[name.end :]
    slot = asked(" ".join(masked.split()))
    if slot is None or entity_ids(files.identity.connection, [name.entity]) != name.ids:
        return ()
    subjects = {normalise_name(bare), *name.ids}
    claims = readable_claims(subjects, index, files, upto=upto, allowed=allowed)
    dated = [
        (int(index.turns.occurred_at[place]), claim.fact_id)
        for place, claim in claims
        if slot.is_answered_by(claim.attribute, claim.value)
    ]
    found = tuple(fact for _, fact in sorted(dated, reverse=True))
    return found if len(found) <= MAX_SLOT_VALUES else ()
