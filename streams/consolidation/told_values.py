"""Values of attributes in the words of a fact: "Ada's bakery" if the message has "my bakery"."""

from __future__ import annotations

import re

from recollect.streams.consolidation.clear_texts import is_balanced
from recollect.streams.consolidation.repeated_names import (
    is_name,
    name_expression,
    value_without_name,
)
from recollect.streams.consolidation.word_classes import word_class
from recollect.streams.language.grammar.verbs import BASES, NOUNS_TOO, THIRDS, THIRDS_ALONE, is_past
from recollect.streams.language.references.named_referents import SOMEBODY
from recollect.text.lexicon import BE_PRESENT, FILLERS, FUNCTION_WORDS, PREPOSITIONS, word_set
from recollect.text.sentences import sentences
from recollect.text.tokenizer import bare, tokenise

#: The speaker as an owner or a subject: not "me".
_OWNER = re.compile(r"\b(?:I|my|we|our)\b|\bI['’]", re.IGNORECASE)
_OWN = re.compile(r"\b(?:my|our|me|us|myself|ourselves)\b", re.IGNORECASE)
#: Words of clauses and of quoted speech, which are not in the name of anything.
_NOT_IN_VALUES = BE_PRESENT | word_set(
    """i i've i'd i'll me my we we've us our you your yours that it it'll he she they them these
    those has have had does did was feel feels started began
    were don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't couldn't won't
    wouldn't could would should went felt got said came"""
)
_OPENING, _CLOSING = (
    re.compile(r"(?<!\w)['\u2018](?=\w)"),
    re.compile(r"(?<=[\w.,!?])['\u2019](?!\w)"),
)
#: A longer value is a clause.
MAX_WORDS = 12
#: After these, a word is a verb: "repair the boat".
_AFTER_VERBS = word_set("a an the my our your their his her its this that these those")
#: Attributes of which each person has their own value, and those about others.
_OF_ONE = word_set("age birthday gender email phone role looks")
_OF_RELATIVES = word_set("family partner pet relationship")
#: A text about a partner has one of these words.
_PARTNER = re.compile(
    r"\b(?:husband|wife|partner|spouse|boyfriend|girlfriend|fianc[eé]e?|companion|hubby|bride|groom|"
    r"better half|significant other|married|marry|marries|wed|engaged|dating|dated|together|couple|"
    r"relationship|in love|other half|bf|gf)\b",
    re.IGNORECASE,
)
#: Somebody's name, to whom the value after it belongs: "Bob's old dog".
_OTHERS_OWN = re.compile(r"\b[A-Z][\w-]*['’]s (?:[a-z]+ )?\Z")
_AND_OTHERS = re.compile(r"(?:['’]s?)? (?:and|or) ")
#: Between a value and its owner: "Tea is Ada's favourite".
_LINK = re.compile(r"[^.,;:]{0,20}\b(?:is|are|was|were)(?: (?:one of|still|now|also))? ")
_BE_FORMS = BE_PRESENT | word_set("was were been be")
#: Attributes whose values may be something that is done.
_DOINGS = ("activity", "likes", "dislikes", "plan", "skill", "")


def told_value(value: str, text: str, name: str) -> str:
    """Return a value in the words of a fact about `name`, if the value says "my" or "our".

    Its owner is the heading's: "their" takes the place of the name.

    >>> told_value("my bakery", "Ada runs Ada's bakery.", "Ada")
    'their bakery'
    """
    parts = _OWN.split(value)
    if len(parts) == 1 or not name:
        return value
    owner = rf"(?:{name_expression(name)}(?:['’]s?)?|their|them|themselves|his|her|him)"
    found = re.search(owner.join(map(re.escape, parts)), text)
    return value_without_name(found[0], name) if found else value


def is_told_of(value: str, text: str, name: str, speaker: str, attribute: str) -> bool:
    """Return whether a fact's text tells a value of the entity that it calls `name`.

    The sentence with the value names the entity, or the `speaker` in the first person, before it.
    What somebody else of the entity's has or is does not count: "Ada's son is nine".

    >>> is_told_of("nine", "Ada is nine.", "Ada", "", "age")
    True
    >>> is_told_of("nine", "Ada's son is nine.", "Ada", "", "age")
    False
    """
    if not name:
        return True
    if attribute == "partner" and not _PARTNER.search(text):
        return False
    is_own = bool(speaker) and is_name(speaker, name)
    core = text.removeprefix(f"{speaker}: ") if speaker else text
    sentence, place = _sentence_with(value, core)
    before = sentence[:place]
    owner = _OWNER if is_own else re.compile(name_expression(name))
    found = [*owner.finditer(before)]
    if not found:
        # "Bob, Ada's husband" and "Tea is Ada's favourite".
        after = owner.search(sentence, place)
        if after is None:
            return False
        link = _LINK.fullmatch(sentence, place + len(value), after.start())
        return attribute in _OF_RELATIVES or link is not None
    owner_before = _OTHERS_OWN.search(before)
    if owner_before and not owner.search(owner_before[0]):
        return False
    rest = before[found[-1].end() :]
    if attribute in _OF_ONE and _AND_OTHERS.match(rest):
        return False
    owns = re.match(r"['’]s? |['’]s\b", rest) or found[-1][0].lower() in ("my", "our")
    acts = _is_about_owned(rest) or _is_predicate(value)
    return not owns or attribute in _OF_RELATIVES or not acts


def _is_predicate(value: str) -> bool:
    """Return whether a value begins with a verb in the third person: "runs on diesel"."""
    first, *others = tokenise(value).lowers or ("",)
    return first in THIRDS and not PREPOSITIONS.isdisjoint(others[:1])


def _sentence_with(value: str, text: str) -> tuple[str, int]:
    """Return the sentence of a text with a value, and the value's place; else the whole text."""
    for start, end in sentences(text):
        place = text[start:end].lower().find(value.lower())
        if place >= 0:
            return text[start:end], place
    return text, len(text)


def _is_about_owned(words: str) -> bool:
    """Return whether words after a possessive tell of somebody, or of what a thing does."""
    lowers = [bare(lower) for lower in tokenise(words).lowers]
    if not SOMEBODY.isdisjoint(lowers[:3]):
        return True
    return not _BE_FORMS & {*lowers} and any(
        is_past(lower) or lower in THIRDS_ALONE for lower in lowers[1:]
    )


def is_named(value: str, attribute: str = "") -> bool:
    """Return whether a value names something: it is no clause, and no part of a quotation.

    `attribute`: that of the value. Only some have values that begin with a verb.
    """
    tokens = tokenise(value)
    first = tokens.lowers[0] if tokens.words else ""
    if len(tokens.words) > MAX_WORDS or (first in FILLERS and len(tokens.words) > 1):
        return False
    if (
        attribute not in _DOINGS
        and first.endswith("ing")
        and FUNCTION_WORDS & {*tokens.lowers[1:2]}
    ):
        return False
    second = {*tokens.lowers[1:2]}
    # "Repair and paint the boat"
    joined = tokens.lowers[1:2] == ["and"] and _AFTER_VERBS & {*tokens.lowers[3:4]}
    has_adverb = any(word.endswith("ly") for word in second)
    is_verb = first in BASES and (first not in NOUNS_TOO or joined)
    is_verb = is_verb or ((_AFTER_VERBS & second or has_adverb) and word_class(first) != "noun")
    if is_verb and attribute not in ("plan", "skill", ""):
        return False
    if "*" in value or (first in THIRDS_ALONE and attribute not in ("plan", "skill", "")):
        return False
    if is_past(first) and (PREPOSITIONS | _AFTER_VERBS) & second:
        return False
    if first.endswith("ly") and word_class(first) == "other":
        return False
    # Not "IT" and "US".
    words = (
        low for word, low in zip(tokens.words, tokens.lowers, strict=True) if not word.isupper()
    )
    if not _NOT_IN_VALUES.isdisjoint(words):
        return False
    if len(_OPENING.findall(value)) > len(_CLOSING.findall(value)):
        return False
    begun = _OPENING.search(value)
    if begun and _CLOSING.search(value, 0, begun.start()):
        return False
    return is_balanced(value)
