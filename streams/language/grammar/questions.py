"""Whether a sentence is a question, and what it states besides asking."""

from __future__ import annotations

import re

from recollect.streams.language.grammar.clauses import Span, is_finite
from recollect.text.tokenizer import Tokens

_OPENS = (
    r"(?:do|does|did|are|is|was|were|have|has|can|could|would|will|should|shall|don['’]t|"
    r"doesn['’]t|didn['’]t|aren['’]t|isn['’]t|haven['’]t|can['’]t|won['’]t|wouldn['’]t) "
    r"(?:you|u|i|we|they|he|she|it|there|anyone|anybody|someone|your|this|that|the|my)\b"
    r"|(?:what|where|when|why|how|who|which)(?: (?:do|does|did|are|is|was|were|have|has|can|could|"
    r"would|will|should)|['’]s|['’]re|['’]d) (?:you|u|your|yours|it|that|this|the|they|he|she|we|i|"
    r"there|up|going|new)\b"
    r"|(?:is|are|was|were|does|did|has|can|could|would|should) (?-i:[A-Z][a-z])\w* "
    r"|(?:what|how) about\b|how (?:much|many|long|far|old|often|come)\b|anyone\b"
)
_QUESTION_OPENING = re.compile(
    rf"(?:(?:so|and|but|hey|hi|ok|okay|oh|well|btw|wow)[ ,]+)*(?:{_OPENS})", re.IGNORECASE
)
#: The beginning of a question after a statement: "I'm 32 and live in Turin, could you ...?"
_ASKS_THEN = re.compile(
    rf"(?:[,;:–—](?!\d)| -+)\s*(?=(?:(?:so|and|but|then|now|please|any|also)[ ,]+)*(?:{_OPENS}"
    r"|(?:what|where|when|why|how|who|which|any|is|are|should|could|can|would|do|does|remember) ))"
    rf"|\s(?:so|and|but)\s(?=(?:{_OPENS}))",
    re.IGNORECASE,
)
#: "... dinner, wednesdays ok?": a short question without a verb.
_SHORT_TAIL = re.compile(r"[,;–—](?!\d)\s*(?=[^,;–—?]{1,30}\?+\W*\Z)")
_TAG = re.compile(
    r"\W*(?:right|correct|no|yes|huh|eh|ok|okay|yeah|you know|or not|true|really|is it not|"
    r"(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)(?:n['’]t)? \w+)\W*\Z",
    re.IGNORECASE,
)
#: A rhetorical question that introduces a statement.
_TELLS = re.compile(
    r"(?:(?:so|and|but|oh|btw|also)[ ,]+)*(?:(?:may|can|could|might) i (?:just )?(?:remind|tell|"
    r"inform) "
    r"you|did(?:n['’]t)? i (?:already |ever )?(?:tell|mention to|mention) ?(?:you)?|did you know|"
    r"have i (?:told|mentioned to) you|guess what[:,]?) (?:that )?(?=\w+ \w+ \w+)",
    re.IGNORECASE,
)
#: A condition states nothing; a reason does.
_UNDER = re.compile(
    r"(?:(?:so|and|but|ok|okay|hi|hey|hello|also|well)[ ,]+)*(?:if|when|whenever|unless|suppose|"
    r"supposing|imagine|assuming|say|while|although|though|before|after|until|once|as soon as|"
    r"whether|let's|lets|in case|provided|what|how|why|where|who|which)\b",
    re.IGNORECASE,
)
#: "I sent the photos, right?" is a statement; "You moved, right?" is a question.
_OWN = re.compile(r"(?:(?:so|and|but|well|oh)[ ,]+)*(?:i|we|my|our)\b", re.IGNORECASE)
_REASON = re.compile(r"(?:since|because|as|given that|now that|considering)\s+", re.IGNORECASE)
_MARKS = ".!?…。\uff01\uff1f\uff61"


def is_question(sentence: str) -> bool:
    """Whether a sentence is a question: by its question mark, or else by its opening words."""
    end = len(sentence)
    while end and not (sentence[end - 1].isalnum() or sentence[end - 1] in _MARKS + ":,"):
        end -= 1
    last = end
    while last and sentence[last - 1] in _MARKS:
        last -= 1
    mark = sentence[last:end]
    if "?" in mark or "\uff1f" in mark:
        return True
    return not mark and _QUESTION_OPENING.match(sentence) is not None


def told_in_question(tokens: Tokens, span: Span) -> Span | None:
    """Return the statement before a question, or in the form of one; None if there is none."""
    start, end = span
    text = tokens.text
    tells = _TELLS.match(text, start, end)
    if tells is not None:
        return tells.end(), start + len(text[start:end].rstrip(_MARKS + " "))
    if _UNDER.match(text, start, end) is not None:
        return None
    asks = _ASKS_THEN.search(text, start, end) or _SHORT_TAIL.search(text, start, end)
    if asks is None:
        return None
    if _TAG.match(text, asks.end(), end) and _OWN.match(text, start) is None:
        return None
    if _QUESTION_OPENING.match(text, start, asks.start()):
        return None
    reason = _REASON.match(text, start, asks.start())
    head = (reason.end() if reason else start, asks.start())
    return head if is_finite(tokens, *head) else None
