"""Attributes from "has" and the words after it.

"I have two cats", "I've lived in Ghent for years". Doubtful cases give nothing: "I have a
question", "I have a business to run".
"""

from __future__ import annotations

import re

from recollect.streams.language.attributes.attribute_verbs import PARTICIPLES, PAST, VERBS
from recollect.streams.language.attributes.attribute_words import (
    AILING,
    BODY,
    BUSINESSES,
    CONDITIONS,
    LOOKS,
    PARTNERS,
    PETS,
    RELATIVES,
    THINGS,
)
from recollect.streams.language.attributes.pursuits import Rule
from recollect.streams.language.attributes.states import being, was
from recollect.streams.language.attributes.values import Rest, Told, liked, own, thing, told
from recollect.text.lexicon import COUNTS

_CHILD = re.compile(r"an? \w+[- ](?:year|month|week)s?[- ]old\b", re.IGNORECASE)


def _partner(rest: Rest) -> Told | None:
    head = thing(rest).head
    if head not in PARTNERS or rest.opens not in ("a", "an"):
        return None
    return Told(
        "relationship", "married" if head in ("wife", "husband", "spouse") else "in a relationship"
    )


def _ailment(rest: Rest) -> Told | None:
    said = thing(rest)
    words = said.words
    ailing = said.head in BODY and not AILING.isdisjoint(words)
    vague = said.head in ("condition", "disorder", "disease") and len(words) < 3
    if ailing or (said.head in CONDITIONS - {"add"} and not vague):
        return None if rest.opens in ("the", "no", "any") else told("health", rest.text)
    if child := _CHILD.match(rest.text):
        return told("family", child[0])
    if words[1:2] == ("fear",) and said.next == "of":
        return told("fears", rest.after(3).text)
    return None


def _kin_or_animal(rest: Rest) -> Told | None:
    said = thing(rest)
    number = (
        rest.opens in COUNTS
        or rest.opens in ("several", "some", "many", "lots")
        or (rest.opens.isdecimal() and said.head.endswith(("s", "ren", "mice", "fish")))
    )
    if said.next in ("to", "for") or rest.opens in ("the", "my", "no", "any", "our"):
        return None
    plain = said.head.endswith(("s", "ren")) and len(said.words) <= 2
    if not (number or plain or (said.words[:2] == ("a", "couple"))):
        return None
    if said.head in RELATIVES - {"baby", "babies", "mom", "dad"} and not said.head.endswith("'s"):
        return told("family", rest.text)
    if said.head in PETS and not (said.head in ("fish", "chicken", "duck") and len(said.words) < 2):
        return told("pet", rest.text)
    # "I have a cat, a dog and two rabbits"
    return None


def _holding(rest: Rest) -> Told | None:
    said = thing(rest)
    if said.next == "to" or not said.words:
        return None
    mine = rest.words[:2] == ("my", "own") or rest.words[:2] == ("our", "own")
    counted = rest.opens in COUNTS or mine or rest.opens.isdecimal()
    if said.head in LOOKS and rest.opens not in ("the", "no", "my"):
        return told("looks", rest.text)
    if not counted:
        return None
    if said.head in (
        "degree",
        "phd",
        "doctorate",
        "diploma",
        "mba",
        "masters",
        "bachelors",
        "master's",
        "bachelor's",
    ):
        return told("studies", rest.text)
    if said.head in ("job", "jobs") and len(said.words) > 1:
        return _employed(rest, said.next)
    if (
        said.head in BUSINESSES
        and said.next not in ("for", "with")
        and (mine or len(said.words) < 5)
    ):
        return told("work", f"has {rest.text}")
    if said.head in THINGS - {"home", "switch", "bus", "taxi"} and said.next != "for":
        return told("possession", rest.text)
    if said.words[1:] in (("passion",), ("soft", "spot"), ("weakness",)) and said.next == "for":
        return liked("likes", rest.after(len(said.words) + 1))
    return None


def _employed(rest: Rest, following: str) -> Told | None:
    after = rest.after(len(thing(rest).words))
    if following == "as":
        return VERBS["work"](after)
    return told("work", rest.text) if rest.words[1] in ("part-time", "jobs", "full-time") else None


_HAVING: tuple[Rule, ...] = (_partner, _ailment, _kin_or_animal, _holding)


def having(rest: Rest) -> Told | None:
    """Return what "has" states about somebody, also as the auxiliary of a state that continues."""
    if rest.opens == "always" and rest.words[1:2] == ("wanted",):
        what = rest.after(2)
        return own("plan", what.after()) if what.opens == "to" and len(what.words) > 2 else None
    began = rest.after() if rest.opens in ("always", "recently", "just", "also", "never") else rest
    if rest.opens == "never":
        return None
    if began.opens == "been":
        after = began.after()
        if after.words[:2] == ("diagnosed", "with"):
            return was(after)
        return being(after.after() if after.opens in ("always", "happily") else after)
    if began.opens in PAST and rest.opens != "got":
        return PAST[began.opens](began.after())
    if began.opens in PARTICIPLES and PARTICIPLES[began.opens] in VERBS:
        if began.opens == "wanted" and rest.opens != "always":
            return None
        return VERBS[PARTICIPLES[began.opens]](began.after())
    if rest.opens == "got":
        rest = rest.after()
    if rest.opens in ("to", "been") or not rest.words:
        return None
    return next((found for rule in _HAVING if (found := rule(rest)) is not None), None)
