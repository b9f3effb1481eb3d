"""Stated dependencies: "if the flight moves, so does the pick-up", "the budget depends on rent".

They are read off the structure of a sentence: a clause or phrase for the condition and one for the
consequence. Each side must name something. When in doubt, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.streams.consolidation.nouns import is_noun, is_topical
from recollect.text.lexicon import FUNCTION_WORDS, MONTHS, NUMBER_WORDS, WEEKDAYS, word_set
from recollect.text.rescheduling import plain_form
from recollect.text.sentences import sentences
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: Longer sentences, and further dependencies of a message, are not read.
MAX_CHARACTERS, MAX_DEPENDENCIES = 300, 8
#: A side with more words names too much to be found again.
MAX_TERMS = 4

_OPENER = r"if|whenever|every time|each time|any time|in case"
_BEFORE = r"\W*(?:(?:and|but|so|also|note that|remember that|remember) )?"
_LEADING = re.compile(
    rf"{_BEFORE}(?:{_OPENER}) "
    r"(?P<condition>[^,]+?)(?:, then |,? then |, )(?P<consequence>.+)",
    re.IGNORECASE | re.DOTALL,
)
#: "When" and "once" introduce conditions only with a verb of change, and otherwise times.
_TEMPORAL = re.compile(
    r"\W*(?:when|once|as soon as) (?P<condition>[^,]*\b(?:moves|changes|slips|shifts|is (?:moved|"
    r"postponed|delayed|cancelled|canceled|rescheduled))\b[^,]*), (?P<consequence>.+)",
    re.IGNORECASE | re.DOTALL,
)
#: Without a comma, the condition ends with a verb of change, and at most a short phrase after it.
#: The consequence begins with a subject that is not that verb's object: a pronoun, or a noun phrase
#: that a verb follows.
_VERB = (
    r"(?:has|have|needs?|must|will|won['’]t|should|can|can['’]t|cannot|may|might|is|are|does|do|gets?|"
    r"moves?|changes?|shifts?|slips?|starts?|goes|falls)"
)
_NOUN_PHRASE = (
    r"(?:the|my|our|his|her|their)"
    r"(?: (?!(?:the|a|an|my|our|your|his|her|its|their|this|that|to)\b)[\w'’-]+){1,3}?"
)
_UNPUNCTUATED = re.compile(
    rf"{_BEFORE}(?:{_OPENER}|when|once|as soon as) (?P<condition>[^,]*?\b(?:moves?|changes?|slips?|"
    r"shifts?|(?:is|are|gets?) (?:moved|postponed|delayed|cancell?ed|rescheduled|late))"
    r"(?: (?:again|(?:to|by|until|from|on) [\w:]+(?: [\w:]+)?))?) "
    rf"(?P<consequence>(?:so (?:does|do|will|must)|(?:we|I|he|she|they) (?:all )?{_VERB}|"
    rf"{_NOUN_PHRASE} (?:also )?{_VERB})\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_TRAILING = re.compile(
    rf"(?P<consequence>[^,]+?),? (?:only )?(?:{_OPENER}) (?P<condition>[^,]+)",
    re.IGNORECASE | re.DOTALL,
)
_DEPENDING = re.compile(
    r"(?P<consequence>[^,]+?),? (?:(?:all )?depends? (?:entirely |only )?(?:up)?on|hinges? on|"
    r"(?:is|are) (?:contingent|conditional) on|(?:is|are) tied to|(?:is|are) subject to|"
    r"depending on) (?P<condition>[^,]+)",
    re.IGNORECASE | re.DOTALL,
)
#: Before "if", these make a question or a comparison: "let me know if", "as if".
_ASKING = re.compile(
    r"\b(?:know|see|wonder|wondering|ask|asked|asking|sure|check|tell|what|as|even|idea|remember|"
    r"decide|say|says|said|doubt|matter|mind|care|like)\W*$",
    re.IGNORECASE,
)
#: General advice, and reported questions.
_GENERAL = re.compile(
    r"\b(?:if|whenever|when|in case) (?:you|(?:we|I) (?:want|need|have|like))\b|"
    r"\b(?:whether|asked|wonder|wondering|know which|know what)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:had|were|was|would have|could have|might have|did)\b|n['’]t have\b", re.IGNORECASE
)
_DETERMINERS = word_set("the a an my our your his her their this that these those its")
_CHANGES = word_set(
    """move moves change changes shift shifts slip slips cancel cancels delay delays reschedule
    postpone starts start ends end falls fall goes go gets get does do too also"""
)


class Dependency(NamedTuple):
    """A sentence which says that one thing depends on another: a consequence on a condition.

    `start`, `end`: its place in the text. `condition`, `consequence`: the words by which facts
    about each side are found, in plain form (`recollect.text.rescheduling`), at least one each.
    """

    start: int
    end: int
    condition: tuple[str, ...]
    consequence: tuple[str, ...]


def stated_dependencies(text: str) -> list[Dependency]:
    """Return the dependencies that a text states, in order."""
    dependencies = []
    for start, end in sentences(text):
        if end - start <= MAX_CHARACTERS and not text[start:end].rstrip().endswith("?"):
            for condition, consequence in _sides(text[start:end]):
                sides = terms_of(condition), terms_of(consequence)
                if all(sides) and set(sides[0]).isdisjoint(sides[1]):
                    dependencies.append(Dependency(start, end, *sides))
                    break
    return dependencies[:MAX_DEPENDENCIES]


def _sides(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield (condition, consequence) of a sentence, as each of the forms reads it."""
    if _UNREAL.search(sentence) or _GENERAL.search(sentence):
        return
    for form in (_LEADING, _TEMPORAL, _UNPUNCTUATED, _DEPENDING, _TRAILING):
        match = form.match(sentence)
        if match and not (form is _TRAILING and _ASKING.search(match["consequence"])):
            yield match["condition"], match["consequence"]


def terms_of(side: str) -> tuple[str, ...]:
    """Return the plain forms of the nouns and names of a clause; none if they are too many.

    If the clause has noun phrases with a determiner, only the nouns of these count.
    """
    tokens = tokenise(side)
    named: list[str] = []
    in_phrase: list[str] = []
    inside = False
    for place, (word, lower) in enumerate(zip(tokens.words, tokens.lowers, strict=True)):
        if lower in _DETERMINERS:
            inside = True
            continue
        if place and tokens.gap(place - 1).strip():
            inside = False
        if (
            lower in FUNCTION_WORDS
            or lower in STOP_WORDS
            or lower in _CHANGES
            or lower.endswith(("n't", "'ll", "'ve", "'re", "'d", "'m"))
        ):
            inside = False
            continue
        if not lower.replace("-", "").replace("'", "").isalpha():
            continue
        plain = plain_form(lower)
        if plain in WEEKDAYS or lower in WEEKDAYS or lower in MONTHS or lower in NUMBER_WORDS:
            continue
        if not (is_noun(lower) or is_noun(plain) or "-" in lower or (place and word[0].isupper())):
            continue
        named.append(plain)
        if inside or (place and word[0].isupper()):
            in_phrase.append(plain)
    # Without a determiner, "want" and "work" may be verbs.
    terms = tuple(dict.fromkeys(in_phrase or filter(is_topical, named)))
    return terms if len(terms) <= MAX_TERMS else ()
