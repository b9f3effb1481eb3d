"""Attributes that plain clauses give: "I love jazz", "I have two cats", "I plan to retire".

A subject, a verb, and a value up to the end of the clause. A reader knows many more ways of saying
them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.streams.language.attributes.claims import WHO, subject_of
from recollect.streams.language.grammar.analysis import Claim, Mention

#: References to something said before are not values: "I love it", "I plan to use that".
_POINTING = re.compile(r"\b(?:it|this|that|these|those|them|you|him)\b", re.IGNORECASE)
_VALUE = (
    r"(?P<value>(?!(?:you|your|him|her|his|their|me|us|the|to|how|when|what|why|"
    r"being)\b)[\w'’& -]{2,60}?)"
)
_END = r"(?:,? (?:and|but|because|since|so|too|very much|a lot|now|again|ever)\b.*)?[ ,.!]*\Z"
_NAME = r"(?-i:[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+){0,2})"
_ANIMALS = (
    "cats?|dogs?|pupp(?:y|ies)|kittens?|rabbits?|hamsters?|tortoises?|turtles?|parrots?|budgies?|"
    "horses?|pon(?:y|ies)|goldfish|hens|greyhounds?|labradors?|terriers?|beagles?|poodles?"
)
_NOT_PLACES = (
    "same|moment|office|weekends?|mornings?|afternoons?|evenings?|nights?|summer|winter|spring|"
    "autumn|future|past|team|group|field|background|way|end|in|on|at|for|with|to|from|of|every|"
    "this|and|but|hurry|dark|rain|sun|cold|computer|table|kitchen|garden|wheel"
)
#: "The old harbour", "a bakery".
_PLACE = rf"(?:the|an?) (?:(?!(?:{_NOT_PLACES})\b)[a-z][\w-]*(?: |(?=[.,!]|\Z))){{1,3}}(?<! )"
_PREDICATES = (
    (
        "likes",
        rf"(?:loves?|likes?|enjoys?|adores?|(?:is )?(?:passionate about|fond of|into)) "
        rf"{_VALUE}",
    ),
    (
        "dislikes",
        rf"(?:hates?|dislikes?|(?:do|does)(?: not|n['’]t) (?:like|enjoy)|"
        rf"can(?:not|['’]t) stand) {_VALUE}",
    ),
    (
        "pet",
        r"(?:have|has|got|adopted|owns?) (?:an? )?"
        rf"(?P<value>(?!no )(?:[\w-]+ ){{0,2}}(?:{_ANIMALS})(?: (?:called|named) {_NAME})?"
        rf"(?: and (?:an? )?(?:[\w-]+ ){{0,2}}(?:{_ANIMALS}))?)",
    ),
    ("possession", r"(?:owns?|drives?) an? (?P<value>[\w'’ -]{2,40}?)"),
    ("diet", r"(?:is )?(?:an? )?(?P<value>vegan|vegetarian|pescatarian)"),
    ("health", r"(?:is )?(?P<value>allergic to (?!the\b|small talk|\w+days?\b)[\w' -]{3,40}?)"),
    (
        "plan",
        r"(?:plans?|(?:is )?planning|intends?|hopes?|wants?) to "
        r"(?P<value>(?!(?:be|do|know|say|see|ask|thank|go|make sure)\b)"
        r"[\w'’,& -]{4,90}?)",
    ),
    ("relationship", r"(?:is |got )?(?P<value>married|engaged|divorced|widowed)"),
    (
        "origin",
        rf"(?:(?:is )?(?:originally )?from|grew up in|was born in) (?P<value>{_NAME})",
    ),
    ("language", rf"speaks? (?P<value>{_NAME}(?:(?:,|,? and) {_NAME}){{0,3}})"),
    ("age", r"(?<!ve )(?<!has )(?:is |turned )?(?P<value>[1-9]\d)(?: years old)?"),
    ("skill", r"plays? the (?P<value>[\w ]{3,20}?)"),
    ("work", rf"works? (?P<value>(?:at|in) {_PLACE})(?: (?:in|on|with|near|every|from|for) .*)?"),
)
_RULES = tuple(
    (attribute, re.compile(rf"{WHO}(?i:{predicate}{_END})", re.DOTALL))
    for attribute, predicate in _PREDICATES
)
#: All rules at once: most clauses match none, and trying each takes several times as long.
_ANY_RULE = re.compile(
    rf"{WHO}(?i:(?:{'|'.join(predicate for _, predicate in _PREDICATES)}){_END})".replace(
        "(?P<value>", "(?:"
    ),
    re.DOTALL,
)
#: Pets with their names: "My dog is called Rex".
_PET = re.compile(
    rf"\A(?i:(?:my|our) (?:(?!late |former )[a-z]+ )?(?P<noun>{_ANIMALS})"
    rf"(?: is called| is named|['’]s name is|,)?) (?P<name>{_NAME})(?=\Z|[ ,.!])"
)
#: Doubt, the past, wishes.
_DOUBT = re.compile(
    r"\b(?:if|would|might|wish|maybe|perhaps|used to|no longer|any ?more|until|almost|once)\b|[?]",
    re.IGNORECASE,
)
#: In characters.
_LONGEST = 220


def find_attribute(clause: str, speaker: str | None, mentions: Sequence[Mention]) -> Claim | None:
    """Return the attribute and value that a clause gives, or None.

    `mentions` are the mentions of the clause.
    """
    if len(clause) > _LONGEST:
        return None
    if _ANY_RULE.match(clause) is None or _DOUBT.search(clause) is not None:
        return None
    for attribute, pattern in _RULES:
        found = pattern.match(clause)
        if found is None:
            continue
        value, subject = found["value"].strip(), subject_of(found, speaker, mentions)
        # "I love Tom" is about a participant, and nobody is from "March".
        is_name = any(each.text == value and each.type in ("PERSON", "DATE") for each in mentions)
        if subject is not None and not is_name and _POINTING.search(value) is None:
            return Claim(
                subject, attribute, f"playing the {value}" if attribute == "skill" else value
            )
    return None


def find_pet(clause: str, speaker: str | None) -> Claim | None:
    """Return the claim of a pet with its name, at the start of a clause, or None."""
    named = None if len(clause) > _LONGEST else _PET.match(clause)
    if named is None or speaker is None or _DOUBT.search(clause) is not None:
        return None
    return Claim(speaker, "pet", f"{named['noun'].lower()} {named['name']}")
