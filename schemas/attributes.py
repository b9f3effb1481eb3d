"""The attributes that a fact can state: those of a person, frames, and open ones.

A frame is the words around a value, with `MASK` for its subject: "the mayor of … is". An open
attribute has any other name.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Stands in a frame for the name of its subject.
MASK = "…"
#: Single-valued: a newer value supersedes the older.
SINGLE_VALUED: Mapping[str, str] = {
    "home": "the place where somebody lives",
    "address": "street and house, with the town if given",
    "employer": "the company or institution that somebody works for",
    "role": "an occupation or position",
    "school": "the school, college or university that somebody attends",
    "partner": "the name of a wife, husband or companion",
    "relationship": "married, engaged, single, divorced",
    "birthday": "the day of birth, as --MM-DD if the year is unknown",
    "age": "in years, as stated",
    "gender": "as stated by the person",
    "email": "an e-mail address",
    "phone": "a telephone number",
}
#: Multi-valued: each value stays valid until it is retracted.
MULTI_VALUED: Mapping[str, str] = {
    "likes": "what somebody likes, loves, enjoys or prefers",
    "dislikes": "what somebody dislikes or hates",
    "fears": "what somebody is afraid of",
    "health": "an allergy, an illness, an injury, a condition",
    "diet": "what somebody eats or does not eat",
    "family": "relatives, with their names if known",
    "pet": "the animals that somebody has",
    "possession": "what somebody owns: a house, a car, a collection",
    "housing": "how somebody lives: in a house, with parents",
    "work": "what somebody does for a living, besides role and employer",
    "studies": "what or where somebody studies; degrees",
    "skill": "what somebody can do",
    "membership": "a club, a team, a union, a subscription",
    "language": "a language that somebody speaks",
    "activity": "a hobby, a sport, an honorary office",
    "plan": "what somebody intends or hopes to do",
    "origin": "where somebody comes from or grew up",
    "belief": "a religion, a conviction",
    "trait": "what somebody is like",
    "looks": "hair, eyes, height",
}
#: Opposite attributes: a value of one retracts the same value of the other.
OPPOSITES: Mapping[str, str] = {"likes": "dislikes", "dislikes": "likes"}


def is_single_valued(attribute: str) -> bool:
    """Return whether an attribute is single-valued: listed as such above, or a frame."""
    return attribute in SINGLE_VALUED or MASK in attribute


def is_open(attribute: str) -> bool:
    """Return whether an attribute is open: neither listed nor a frame."""
    return attribute not in MULTI_VALUED and not is_single_valued(attribute)
