"""Vocatives, and sentences that only greet or take leave."""

from __future__ import annotations

import re
from bisect import bisect_left

from recollect.streams.language.grammar.analysis import Mention
from recollect.text.lexicon import FUNCTION_WORDS, PHATIC, PREPOSITIONS, word_set
from recollect.text.tokenizer import Tokens

#: "Good morning my treasures", "Dear parents of 3B,": just a salutation.
_SALUTATION = re.compile(
    r"(?:good (?:morning|afternoon|evening|night|day)|dear|hi|hello|hey|greetings|bonjour|hallo)\b"
    r"(?: [\w.'’\-]+,?){0,5}[\s,:!.…]*",
    re.IGNORECASE,
)
#: "ok shower, bye", "night!": just the end of a conversation.
_FAREWELL = re.compile(
    r"(?:[\w'’]+[, ]+){0,3}?(?:bye(?:[- ]?bye)?|ciao|ttyl|gtg|see (?:you|ya)|talk later)[\s!.,x]*|"
    r"(?:ok(?:ay)?,? )?(?:good ?)?night(?: night| all| everyone)?[\s!.,x]*",
    re.IGNORECASE,
)
_COURTESY_WORDS = (PHATIC | FUNCTION_WORDS | word_set("offer help advice tip question asking")) - (
    word_set("no not never maybe perhaps sometimes always still already soon today now")
)
_OPENS_COURTESY = word_set(
    "thanks thank thx ty thankyou hey hi hello wow oh aw aww yes yeah yep yup good great haha cool"
)
_AGREES = word_set("yes yeah yep yup")
_ADDRESSING = word_set("hey hi hello thanks thank dear wow congrats bye yeah yes yo oh hiya")
_VERBS = word_set(
    "am is are was were be been i i'm i've we we're you it it's have has had will would can could "
    "do does did came come go went see call called bring take need want from at in on"
)
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Mme|Mlle|Prof|M|Miss|Madame|Herr|Frau)\.?\Z")


def is_salutation(tokens: Tokens, start: int, end: int, left: int, right: int) -> bool:
    """Whether the sentence, the tokens from `left` to `right`, only greets or takes leave."""
    if _FAREWELL.fullmatch(tokens.text, start, end):
        return True
    if right - left > 7 or _SALUTATION.fullmatch(tokens.text, start, end) is None:
        return False
    # "Dear Anna, come soon" is a request.
    inner = tokens.text[start:end].rstrip(" ,:!.…")
    return "," not in inner and not _VERBS.intersection(tokens.lowers[left:right])


def is_courtesy(tokens: Tokens, span: tuple[int, int]) -> bool:
    """Whether a few introductory words only greet, thank or agree: "Thanks, Tom!"."""
    start, end = span
    left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
    if right - left > 7 or left == right or tokens.lowers[left] not in _OPENS_COURTESY:
        return False
    # The addressee, which comes last, is not content.
    inner = tokens.lowers[left : right - 1] or tokens.lowers[left:right]
    said = tokens.text[start:end]
    if (
        tokens.lowers[left] in _AGREES
        and inner[-1] in PREPOSITIONS
        and tokens.lowers[right - 1] not in _COURTESY_WORDS
    ):
        return False  # "Yes, since March."
    return (
        said[-1] in "!.,"
        and not any(map(str.isdecimal, said))
        and _COURTESY_WORDS.issuperset(inner)
    )


def is_vocative(text: str, mention: Mention, end: int) -> bool:
    """Whether the name only addresses somebody: "Thanks, Tom!", "Tom, look"."""
    if mention.type not in ("PERSON", "OTHER"):
        return False
    before = _TITLE.sub("", text[max(0, mention.start - 20) : mention.start].rstrip()).rstrip()
    after = text[mention.end : mention.end + 1]
    if before.endswith(","):
        return mention.end >= end or after in ",.!?;"
    words = before.lower().split()
    if words and words[-1] in _ADDRESSING:
        return True
    opens = not before or before[-1] in ".!?\n…"
    return opens and after in ("", ",", "!", ":")
