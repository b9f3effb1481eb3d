"""Parse questions for a slot: "Where does Ada live?" asks for Ada's home.

The values of that slot answer the question, even if other turns share more of its words.
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

#: A slot with more values is treated as a list, which the usual ranking answers as well.
MAX_SLOT_VALUES = 5
# In characters; longer questions ask for more than a slot.
_MAX_QUESTION_LENGTH = 120

Mask = npt.NDArray[np.bool_]

#: The placeholder of the name in a question.
_NAME = "\x00"
_NOW = r"(?: (?:now|nowadays|currently|at the moment|at present|today|these days|right now))?"
_LEAD_IN = r"(?:(?:so|and|ok|hey|please|remind me|tell me|do you (?:know|remember)|i forgot),? )*"
_REQUEST = r"(?:what(?:['’]s| is| are)|which is|tell me|give me|do you know) "
_ALLERGY = "allerg"
_PETS = "dog|puppy|cat|kitten|rabbit|horse|hamster|parrot|bird|fish|tortoise|turtle"
_KIN = (
    "mother|father|mum|mom|dad|sister|brother|son|daughter|aunt|uncle|cousin|niece|nephew|"
    "grandmother|grandfather"
)
_OWNER = rf"{_NAME}(?:['’]s?)? "


def _pattern(*forms: str) -> re.Pattern[str]:
    return re.compile(rf"{_LEAD_IN}(?:{'|'.join(forms)}){_NOW}\W*", re.IGNORECASE)


def _possessive_forms(words: str) -> tuple[str, str]:
    """Return the two possessive forms, as "Ada's job" and "the job of Ada"."""
    return rf"(?:{_REQUEST})?{_OWNER}{words}", rf"(?:{_REQUEST})?the {words} of {_NAME}"


_SLOT_PATTERNS = {
    "home": _pattern(
        rf"where(?:abouts)? (?:does|do) {_NAME} (?:currently |now )?(?:live|reside)",
        rf"where(?:['’]s| is) {_NAME} (?:currently |now )?(?:living|based)",
        rf"where(?:['’]s| is) {_OWNER}home",
        rf"(?:in )?(?:which|what) (?:city|town|place|country|village) (?:does|do) {_NAME} "
        r"(?:currently |now )?live(?: in)?",
    ),
    "employer": _pattern(
        rf"where (?:does|do) {_NAME} (?:currently |now )?work",
        rf"where(?:['’]s| is) {_NAME} (?:currently |now )?(?:working|employed)",
        rf"(?:for )?(?:whom|who|which company|what company) (?:does|do) {_NAME} "
        r"(?:currently |now )?work(?: for| at)?",
        rf"who(?:['’]s| is) {_OWNER}employer",
        *_possessive_forms("employer"),
    ),
    "role": _pattern(
        rf"what (?:does|do) {_NAME} do(?: for (?:a living|work))?",
        rf"what (?:kind|sort) of (?:work|job) (?:does|do) {_NAME} (?:do|have)",
        rf"what (?:does|do) {_NAME} work as",
        *_possessive_forms(r"(?:current )?(?:job|occupation|profession|role|position|job title)"),
    ),
    "partner": _pattern(
        rf"who(?:['’]s| is) {_NAME} (?:dating|seeing|together with)",
        rf"who(?:['’]s| is) {_OWNER}(?:partner|significant other)",
        rf"(?:{_REQUEST})?(?:the name of )?{_OWNER}partner(?:['’]s name| called)?",
    ),
    "birthday": _pattern(
        rf"when(?:['’]s| is) {_OWNER}birthday",
        rf"when was {_NAME} born",
        *_possessive_forms(r"(?:birthday|date of birth|birth date)"),
    ),
    "phone": _pattern(
        *_possessive_forms(r"(?:(?:tele)?phone|mobile|cell)(?: number)?"),
        rf"(?:on )?(?:what|which) number can (?:i|we) (?:reach|call) {_NAME}(?: on| at)?",
    ),
    "email": _pattern(*_possessive_forms(r"e-?mail(?: address)?")),
    "age": _pattern(rf"how old(?:['’]s| is) {_NAME}", *_possessive_forms("age")),
    "origin": _pattern(
        rf"where(?:['’]s| is) {_NAME} (?:originally )?from",
        rf"where (?:does|do|did) {_NAME} (?:originally )?(?:come from|grow up)",
    ),
    "language": _pattern(rf"(?:what|which|how many) languages (?:does|do) {_NAME} (?:speak|know)"),
    "health": _pattern(
        rf"what(?:['’]s| is) {_NAME} (?P<kind>allerg)ic to",
        rf"what (?P<kind_>allerg)(?:y|ies) (?:does|do) {_NAME} have",
    ),
    "pet": _pattern(
        rf"(?:what|which) (?:pets?|animals?) (?:does|do) {_NAME} (?:have|own)",
        rf"(?:{_REQUEST}|who is )?(?:the name of )?{_OWNER}(?P<kind>{_PETS})"
        r"(?:['’]s name| called)?",
    ),
    "family": _pattern(
        rf"(?:{_REQUEST}|who(?:['’]s| is) )(?:the name of )?{_OWNER}(?P<kind>{_KIN})"
        r"(?:['’]s name| called)?",
    ),
}

_PRESENT = {"did": "does", "was": "is", "were": "are"}
_PAST_FORM = re.compile(rf"\b(?:{'|'.join(_PRESENT)})\b", re.IGNORECASE)


class SlotQuestion(NamedTuple):
    """The slot that a question asks for: its attribute, and a word that its values must have."""

    attribute: str
    kind: str = ""

    def is_answered_by(self, attribute: str, value: str) -> bool:
        """Return whether a value of an attribute is a value of this slot."""
        if attribute != self.attribute:
            return False
        words = value.lower().split()
        return not self.kind or any(
            word == self.kind or (self.kind == _ALLERGY and word.startswith(_ALLERGY))
            for word in words
        )


def parse_slot_question(masked: str) -> SlotQuestion | None:
    """Return the slot that a question, with its name masked, asks for; None if it asks for none."""
    for attribute, pattern in _SLOT_PATTERNS.items():
        if found := pattern.fullmatch(masked):
            kinds = [kind for kind in found.groupdict().values() if kind]
            return SlotQuestion(attribute, *(kind.lower() for kind in kinds[:1]))
    return None


def slot_values(
    text: str,
    named: Sequence[NamedEntity],
    index: Index,
    files: ZoneFiles,
    *,
    valid_at: int,
    allowed: Mask,
    is_past: bool = False,
) -> tuple[str, ...]:
    """Return the facts with the values of the slot that a question asks for, newest first.

    `valid_at`: the time at which they must be valid (unix ms); `allowed`: the turns that may be
    results; `is_past`: the question, without its times, asks for the values at a past time. The
    result is empty if the question asks for no slot, or for an unknown time in the past, if the
    name is ambiguous, or if the slot has no value.
    """
    if (
        not index.row_kinds.claims
        or len(named) != 1
        or len(text) > _MAX_QUESTION_LENGTH
        or asks_for_past(text)
    ):
        return ()
    (name,) = named
    surface = text[name.start : name.end]
    bare = re.sub(r"['’]s?\Z", "", surface)
    masked = text[: name.start] + _NAME + surface[len(bare) :] + text[name.end :]
    if is_past:
        masked = _PAST_FORM.sub(lambda found: _PRESENT[found[0].lower()], masked)
    slot = parse_slot_question(" ".join(masked.split()))
    if slot is None or entity_ids(files.identity.connection, [name.entity]) != name.ids:
        return ()
    subjects = {normalise_name(bare), *name.ids}
    claims = readable_claims(subjects, index, valid_at=valid_at, allowed=allowed)
    dated = [
        (int(index.turns.occurred_at[place]), claim.fact_id)
        for place, claim in claims
        if slot.is_answered_by(claim.attribute, claim.value)
    ]
    facts = tuple(fact for _, fact in sorted(dated, reverse=True))
    return facts if len(facts) <= MAX_SLOT_VALUES else ()
