"""Values that a message takes back by agreeing to a request: another day, time or room."""

from __future__ import annotations

import re

from msgspec.structs import replace

from recollect.streams.language.relations.corrections import Correction, correction_in
from recollect.streams.language.relations.given_values import is_among, values_in
from recollect.text.sentences import sentences

_PROPOSES = re.compile(
    r"\b(?:could|can|may|might|shall|would|is it possible|possible to|okay if|ok if|all right if|"
    r"alright if|mind if|how about|what about|do you mind)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\binstead\b|\brather than\b|\b(?:mov|chang|switch|push|postpon|reschedul)\w*\b",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"(?:(?:hi|hello|hey|dear|thanks|thank you)\b[^,.!\n]{0,40}[,.!\n]\s*)?"
    r"(?:yes|yep|yeah|yup|of course|sure|certainly|ok|okay|fine|no problem|perfect|agreed|gladly|"
    r"that works|works for me|deal|absolutely|no worries|with pleasure)\b",
    re.IGNORECASE,
)
_PUTS_OFF = re.compile(
    r"\b(?:but|check|ask|see if|let you know|unfortunately|not|maybe|perhaps|unless|tell you|"
    r"get back)\b|n['’]t\b",
    re.IGNORECASE,
)


def agrees(text: str) -> bool:
    """Whether a message begins with an agreement."""
    return _AGREES.match(text) is not None


def find_agreed(text: str, asked: str, at_ms: int, utc_offset: int) -> Correction | None:
    """Return what a message takes back by agreeing to the request just before it.

    "Of course." after "Could I come on Friday instead of Tuesday?". `at_ms` is the time of the
    request. The result spans the sentence that repeats the new value, or is empty if there is none.
    """
    spans = sentences(text)[:2]
    if not agrees(text) or not spans:
        return None
    said = spans[-1][1]
    if "?" in text[:said] or _PUTS_OFF.search(text, 0, said):
        return None
    for start, end in reversed(sentences(asked)):
        sentence = asked[start:end]
        if sentence.endswith("?") and _PROPOSES.search(sentence) and _INSTEAD.search(sentence):
            found = correction_in(asked, start, end, values_in(sentence, at_ms, utc_offset))
            if found is None:
                return None
            again = (
                span
                for span in spans
                for value, _ in values_in(text[slice(*span)], at_ms, utc_offset)
                if is_among(value, found.values)
            )
            begin, last = next(again, (0, 0))
            return replace(found, start=begin, end=last)
    return None
