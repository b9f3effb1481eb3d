"""How long a fact holds: for ever, for about a year, or for about a month (C7).

Stability is computed from the fact's words and slot on every read, so improved rules apply to all
facts at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from recollect.text.lexicon import NOT_PAST, PAST, RELATIONS, word_set

Kind = Literal["static", "semi_dynamic", "dynamic"]

#: For how many days a fact of each class holds, from when it was said; None: for ever.
TTL_DAYS: Mapping[Kind, int | None] = {"static": None, "semi_dynamic": 365, "dynamic": 30}
#: The confidence if no word is indicative is below this; a model might know better.
CONFIDENCE_THRESHOLD = 0.6


class Stability(Struct, frozen=True):
    """The class of a fact, the confidence in it (0 to 1), and for how many days the fact holds."""

    kind: Kind
    confidence: float

    @property
    def ttl_days(self) -> int | None:
        """For how many days it holds; None: for ever."""
        return TTL_DAYS[self.kind]


_OF_SLOTS: Mapping[str, Stability] = {
    "birthday": Stability("static", 0.95),
    "gender": Stability("static", 0.9),
    "origin": Stability("static", 0.9),
    "plan": Stability("dynamic", 0.8),
    **dict.fromkeys(
        ("home", "employer", "role", "partner", "relationship", "age", "email", "phone"),
        Stability("semi_dynamic", 0.9),
    ),
}
_NOW = re.compile(
    r"\b(?:currently|right now|at the moment|at present|for now|for the time being|temporarily|"
    r"these days|lately|today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend|"
    r"month|semester|quarter)|next (?:week|weekend|month)|still (?:waiting|looking|working)|"
    r"(?:is|are|am) (?:so |very |really |quite |a bit )*(?:sick|ill|tired|hungry|busy|away|stuck|"
    r"travell?ing|late|stressed|excited|worried|on (?:a )?(?:holiday|vacation|leave|trip|break|"
    r"call))|has (?:got )?a (?:cold|fever|headache|flu|cough|deadline|meeting|appointment)|"
    r"(?:is|are|am|['’]s|['’]re|['’]m) (?:going to|about to|planning to|thinking (?:of|about))|"
    r"(?:will|plans? to|wants? to|hopes? to)|(?:waiting|looking) for)\b",
    re.IGNORECASE,
)
_PROGRESSIVE = re.compile(
    r"\b(?:is|are|am|['’]s|['’]re|['’]m) (?!working (?:at|for|as)\b|living (?:in|with)\b|being\b)"
    r"(?:now |just |already )?\w{2,}ing\b",
    re.IGNORECASE,
)
_FOR_EVER = re.compile(
    r"\b(?:born|birthday|birthplace|died|passed away|grew up|raised in|native|nationality|"
    r"mother tongue|allerg(?:y|ic)|blood type|adopted|graduated|was founded|invented|"
    r"(?:comes?|(?:is|are|am)(?: originally)?) from|(?:first|middle|maiden|full) name|"
    rf"is \S+['’]s? (?:\w+ )?(?:{'|'.join(sorted(RELATIONS))}))\b",
    re.IGNORECASE,
)
_LASTS = re.compile(
    r"\b(?:lives?|works?|likes?|loves?|prefers?|hates?|enjoys?|owns?|ha(?:s|ve)|plays?|stud(?:y|ies)|"
    r"drives?|speaks?|uses?|teach(?:es)?|collects?|runs|believes?|thinks?|always|never|usually|"
    r"every|favou?rite|living|working|(?:is|are|am) (?:an?|the|married|engaged|vegan|vegetarian|"
    r"called|named))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_DONE = PAST - word_set(
    "ago last since been gone done seen taken given ive i've we've they've you've"
)


def stability(text: str, attribute: str | None) -> Stability:
    """Return how long a fact with this text holds; `attribute`: its slot's, if it has one."""
    if attribute is not None and attribute in _OF_SLOTS:
        return _OF_SLOTS[attribute]
    if _NOW.search(text):
        return Stability("dynamic", 0.85)
    if _FOR_EVER.search(text):
        return Stability("static", 0.85)
    if _PROGRESSIVE.search(text):
        return Stability("dynamic", 0.7)
    if _happened(text):
        return Stability("static", 0.75)
    if attribute is not None or _LASTS.search(text):
        return Stability("semi_dynamic", 0.75)
    return Stability("semi_dynamic", 0.5)


def _happened(text: str) -> bool:
    """Whether the first recognised verb is in the past tense: past acts stay true."""
    for word in _WORD.findall(text)[1:6]:
        lower = word.lower()
        if lower in _DONE or (len(lower) > 4 and lower.endswith("ed") and lower not in NOT_PAST):
            return True
        if _LASTS.fullmatch(lower):
            return False
    return False
