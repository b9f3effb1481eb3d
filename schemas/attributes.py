"""The attributes of people that a fact can give the value of."""

from __future__ import annotations

from collections.abc import Mapping

#: One value at a time: a newer one takes the place of the one before.
SINGLE_VALUED: Mapping[str, str] = {
    "home": "the place where somebody lives",
    "employer": "the company or institution that somebody works for",
    "role": "an occupation or position",
    "partner": "the name of a wife, husband or companion",
    "relationship": "married, engaged, single, divorced",
    "birthday": "the day of birth, as --MM-DD where no year is told",
    "age": "in years, as it was said",
    "gender": "as somebody tells it",
    "email": "an e-mail address",
    "phone": "a telephone number",
}
#: Several values beside each other: each holds until it is denied.
MULTI_VALUED: Mapping[str, str] = {
    "likes": "what somebody likes, loves, enjoys or prefers",
    "dislikes": "what somebody dislikes or hates",
    "fears": "what somebody is afraid of",
    "health": "an allergy, an illness, an injury, a condition",
    "diet": "what somebody eats or does not eat",
    "family": "relatives, with their names where told",
    "pet": "animals of theirs",
    "possession": "what somebody owns: a house, a car, a collection",
    "housing": "how somebody lives: in a house, with parents",
    "work": "what they do for a living, beside the role and the employer",
    "studies": "what or where somebody studies, and degrees",
    "skill": "what somebody can do",
    "language": "a language that somebody speaks",
    "activity": "a hobby, a sport, an honorary office",
    "plan": "what somebody means or hopes to do",
    "origin": "where somebody comes from or grew up",
    "belief": "a religion, a conviction",
    "trait": "what somebody is like",
    "looks": "hair, eyes, height",
}
#: Who likes something no longer dislikes it, and the other way round.
OPPOSITES: Mapping[str, str] = {"likes": "dislikes", "dislikes": "likes"}


def is_single_valued(attribute: str) -> bool:
    """Whether somebody or something has one value at a time of an attribute or a frame."""
    return attribute not in MULTI_VALUED
