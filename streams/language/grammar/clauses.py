"""The clauses of a sentence that can stand alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from recollect.streams.language.grammar.verbs import BASES, NOUNS_TOO, PAST_FORMS, THIRDS
from recollect.text.lexicon import AUXILIARIES, NOT_PAST, PAST, word_set
from recollect.text.tokenizer import Tokens

Span = tuple[int, int]

_PRONOUN = r"(?:i|we|he|she|it|they|you|there|that|this|im|ive)(?:['’](?:m|s|re|ve|d|ll))?"
#: Emoji that replace a full stop: "We are on for Tuesday 🚀 List is pinned".
_EMOJI = "[\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]++"
_OWNER = r"(?:my|our|his|her|their|your|the|mum|mom|dad)"
_JOINT = re.compile(
    r"(?=[\s–—;,-])(?:"
    rf"\s*+{_EMOJI}\s*+(?=[A-Z\d])|"
    r"(?<!\s)\s++[-–—]++\s++|(?<!\s)\s*+[–—]\s*+|(?<=\w)- |;\s++"
    rf"|,\s+(?:(?P<joined>and|but|so|yet|then|plus|also|or|though|although|except)\s+)?"
    rf"(?=(?:(?:also|frankly|honestly|actually|now|then|just|still|finally)\s+)?"
    rf"(?:{_PRONOUN}\b|{_OWNER}\s+\w+|(?:please|pls)\s+\w+))"
    rf"|\s+(?P<bare>and|but|so)\s+(?=(?:(?:also|frankly|honestly|actually|now|"
    rf"then)\s+)?{_PRONOUN}\b"
    rf"|(?:my|our)\s))",
    re.IGNORECASE,
)
#: A clause with such a beginning depends on another one.
_SUBORDINATE = re.compile(
    r"(?:(?:and|but|so|oh|well|yeah|yes|no|also|then|just|only)[ ,]+)*(?:around|if|when|whenever|"
    r"because|since|as|although|"
    r"though|unless|while|after|before|until|once|even|whether|that|which|who|in case|for|to|by|"
    r"with|without|in|on|at|from|during|last|next|every|this|by the way)\b",
    re.IGNORECASE,
)
#: "so I can", "so that we may": a purpose, not a statement.
_MAY_BE = re.compile(
    rf"(?:that\s+)?(?:{_PRONOUN}|{_OWNER}\s+\w+)(?:\s+\w+)?\s+(?:can|could|may|might)\b(?!['’]?t)",
    re.IGNORECASE,
)
#: "so I don't get lost" is a purpose too, if the main clause is a wish or an action towards it.
_IS_AVOIDED = re.compile(
    rf"(?:that\s+)?(?:{_PRONOUN}|{_OWNER}\s+\w+)(?:\s+\w+)?\s+"
    r"(?:don['’]?t|doesn['’]?t|won['’]?t|wouldn['’]?t|do not|does not|will not|would not)\b",
    re.IGNORECASE,
)
_FOR_IT = re.compile(
    r"['’]ll\b|['’]d like\b|\b(?:will|would like|wants?|wanted|needs?|needed|going to|gonna|must|"
    r"should|have to|has to|make sure|made sure|let['’]?s|helps?|figure out|try|trying|tried|"
    r"please|remind|keep|just)\b",
    re.IGNORECASE,
)
#: ", I suppose,": a parenthesis.
_IN_PASSING = re.compile(
    r"(?:i|we|it) (?:suppose|guess|think|believe|know|mean|hope|admit|reckon|imagine|assume|"
    r"fear|bet|swear|seems|must (?:say|admit)|have to (?:say|admit))\s*(?:[,.;!?)]|\Z)",
    re.IGNORECASE,
)
#: Unfinished clauses: "I'm sure if I keep at it" lacks an object, "it works but for the app" a
#: verb.
_UNFINISHED = re.compile(
    r"\b(?:sure|certain|confident|think|hope|believe|guess|know|bet|feel|promise|swear|said|told)"
    r"(?: that)? (?:if|when|once|with|after|as long as|as soon as)\b[^,;]*\Z|"
    r"\b(?:and|but|or) (?:if|when|once|for|in|on|at|with|after|before|since|from|until|while|"
    r"because|although) [^,;.!?]*\Z",
    re.IGNORECASE,
)
#: Words that open a clause with a verb of its own: "he asked if Ann" is not finished.
_OPENS_CLAUSE = re.compile(r"\b(?:if|whether|because|unless|while)\s", re.IGNORECASE)
_DETERMINED = re.compile(r"(?:my|our|your|the|an?)\b", re.IGNORECASE)
_SHIFTS = frozenset({"but", "yet", "though", "although", "except", "or"})
_VERBS = (AUXILIARIES | PAST) - word_set(
    "been done gone seen taken given broken ago last since used ought being doing having gotten"
)
_FEW_WORDS = 4
#: In characters: how far back the beginning of a clause's continuation is searched.
_NEAR = 120
_SUBJECTS = word_set("i we he she they it you who")
_SHORTENED = ("'s", "'m", "'re", "'ve", "'ll", "'d", "n't")


#: Introductions without content.
_LEAD_IN = re.compile(
    r"(?:(?:(?:hello|hi|hey|dear|thanks|thank you|good morning)(?: again)?(?: \w+\.?){1,3}"
    r"(?=[,!])|"
    r"and|but|so|oh|well|yeah|yes|yep|yup|no|nope|ok|okay|ah|hmm|wow|alright|hey|hi|hello|also|"
    r"plus|anyway|btw|fyi|ps|p\.s\.|by the way|honestly|frankly|actually|attention|update|heads up|"
    r"folks|guys|just so you know|for the record|as you know|as i said|guess what|"
    r"as (?:we )?(?:discussed|agreed)|"
    r"(?:good|big|great|some) news|reminder|sorry|therefore|consequently|thus|hence|"
    r"to answer (?:your|the|that|this) question|as a result|as a consequence|because of "
    r"(?:that|this)|for (?:this|that) reason|my (?:guy|brother|friend|dear|man)(?=[,!])|"
    r"(?:all|everyone|everybody|team)(?=[,!]))(?:[ ,:!–—]+(?:- )?|\Z)|"
    r"(?:that['’]?s|that is|this is|that was|which is) why |"
    r"(?:(?:that|this|which) (?:means|implies)|it follows) (?:that )?"
    r"(?=(?:i|we|he|she|it|they|my|our)\b)|"
    r"(?:in addition|on top of (?:that|this)|besides that|what['’]s more|moreover|furthermore|"
    r"additionally|besides(?=,))[ ,:!–—]+|"
    r"while (?:we|i)(?:['’](?:re|m)| are| am) at it[ ,:]+|"
    r"(?:please )?(?:remember|note|assume|keep in mind|bear in mind|know|don['’]t forget|remind me)"
    r"[: ]+"
    r"(?:that )?(?=(?:i|my|we|our)\b)|"
    r"(?:i )?(?:just )?wanted to (?:let you know|tell you|say|share|mention|update you|give you "
    r"(?:the |a )?heads up)(?: that)? (?=(?:i|my|we|our)\b)|"
    r"(?:may )?i (?:must |have to |should |just )?(?:remind|tell|inform) you (?:all )?(?:that )?"
    r"(?=\w+ \w+ )|(?:let me|allow me to) (?:tell|remind) you (?:that )?)+",
    re.IGNORECASE,
)


class Clause(NamedTuple):
    """A clause and its relation to the previous one.

    `shifts`: it contrasts with that ("but", "though"); `purpose`: it gives its purpose ("so I don't
    forget").
    """

    start: int
    end: int
    shifts: bool = False
    purpose: bool = False


def clauses(tokens: Tokens, span: Span) -> list[Clause]:
    """Return the clauses of a sentence in order; a sentence that cannot be split is one clause."""
    start, end = span
    text = tokens.text
    if end - start < 25:
        return [Clause(start, end)]
    found: list[Clause] = []
    begin, shifts, purpose = start, False, False
    for joint in _JOINT.finditer(text, start, end):
        if not _splits(tokens, begin, joint.start(), joint.end(), end):
            continue
        word = (joint["joined"] or joint["bare"] or "").lower()
        found.append(Clause(begin, joint.start(), shifts, purpose))
        purpose = word == "so" and is_purpose(text, (begin, joint.start()), (joint.end(), end))
        begin, shifts = joint.end(), word in _SHIFTS or _shifts(text, joint.end())
    found.append(Clause(begin, end, shifts, purpose))
    return found


def is_purpose(text: str, main: Span, said: Span) -> bool:
    """Whether a clause after "so" gives a purpose: "so I don't forget".

    A purpose is not a statement, and means nothing without the preceding clause, `main`.
    """
    if _MAY_BE.match(text, *said):
        return True
    if _IS_AVOIDED.match(text, *said) is None:
        return False
    start, end = main
    return _FOR_IT.search(text, max(start, end - _NEAR), end) is not None


def _shifts(text: str, place: int) -> bool:
    return text[place : place + 9].lower().startswith(("but ", "though ", "except ", "not "))


def _splits(tokens: Tokens, begin: int, left_end: int, right_start: int, end: int) -> bool:
    """Whether both sides can stand alone, and the left one is not subordinate."""
    text = tokens.text
    if _SUBORDINATE.match(text, begin, left_end):
        return False
    if _UNFINISHED.search(text, max(begin, left_end - _NEAR), left_end):
        return False
    if _IN_PASSING.match(text, right_start, end):
        return False
    opened = list(_OPENS_CLAUSE.finditer(text, max(begin, left_end - _NEAR), left_end))
    if opened and not is_finite(tokens, opened[-1].end(), left_end):
        return False
    if is_in_brackets(text, begin, left_end) or _is_my_noun(tokens, right_start, end):
        return False
    if _DETERMINED.match(text, right_start, end):
        # "I'm Dan, the new baker, and I stay": an apposition is not a clause.
        aside = text.find(",", right_start, end)
        if aside >= 0 and not is_finite(tokens, right_start, aside):
            return False
    return is_finite(tokens, begin, left_end) and _is_finite_outside(tokens, right_start, end)


def _is_finite_outside(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a stretch has a verb outside of brackets: "our two (Ann is 7)" has none."""
    opens = tokens.text.find("(", start, end)
    closes = tokens.text.find(")", opens, end) if opens >= 0 else -1
    if closes < 0:
        return is_finite(tokens, start, end)
    return is_finite(tokens, start, opens) or is_finite(tokens, closes + 1, end)


def _is_my_noun(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a few words may be only a possessive phrase: "and my lunch breaks"."""
    left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
    lowers = tokens.lowers[left:right]
    return (
        1 < len(lowers) <= _FEW_WORDS
        and lowers[0] in ("my", "our")
        and lowers[-1] in THIRDS
        and not is_finite(tokens, start, tokens.starts[right - 1])
    )


def is_in_brackets(text: str, start: int, place: int) -> bool:
    """Whether a bracket that opens after `start` is still open at `place`."""
    return text.count("(", start, place) != text.count(")", start, place)


def after_lead_in(text: str, start: int, end: int) -> int:
    """Return where the content begins: after "By the way," and "That's why"."""
    lead = _LEAD_IN.match(text, start, end)
    return lead.end() if lead is not None and end - lead.end() > 3 else start


def is_finite(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a stretch of text probably has a finite verb with a subject.

    Of two words only a pronoun's verb counts: "I sang" does, "Jonas" does not.
    """
    left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
    lowers = tokens.lowers
    for index in range(left, right):
        lower = lowers[index]
        if lower in ("im", "ive") or ("'" in lower and lower.endswith(_SHORTENED)):
            return right - left > 1
        if index > left and (
            lower in _VERBS
            or lower in PAST_FORMS
            or (lower[-1] == "s" and lower in THIRDS)
            or (lower.endswith("ed") and len(lower) > 3 and lower not in NOT_PAST)
            or (lower in BASES and lower not in NOUNS_TOO)
        ):
            return True
        if lower in _SUBJECTS and index + 1 < right:
            return True
    first = lowers[left] if left < right else ""
    return right - left > 2 and (first in _VERBS or first.endswith("ed"))
