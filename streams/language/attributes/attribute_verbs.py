"""Attributes from verbs: each rule makes an attribute and a value of the words after one verb.

In "I work as a nurse", the rule for "work" gets "as a nurse". Doubtful cases give nothing: "I work
best at night", "I like to think so", "I play it safe".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from recollect.streams.language.attributes.attribute_words import (
    BUSINESSES,
    DIETS,
    FIELDS,
    FOODS,
    LOOKS,
    MOTORS,
    NO_PLACES,
    PETS,
    RELATIVES,
    THINGS,
)
from recollect.streams.language.attributes.pursuits import PAST_PURSUITS, PURSUITS, Rule
from recollect.streams.language.attributes.values import (
    Rest,
    Told,
    capitals,
    liked,
    own,
    place,
    plain_place,
    thing,
    told,
)
from recollect.text.lexicon import COUNTS, PREPOSITIONS, WEEKDAYS, word_set

_ARTICLES = ("a", "an")
_AT_WORK = word_set("hurry rush way while time living bit team group lot minute day few")
_GROUNDS = word_set("farm ranch ship boat yacht plantation vineyard rig")
_BIRTHPLACE = re.compile(r"(?:in|on|near|at|outside|by)\Z")


def _live(rest: Rest) -> Told | None:
    where = rest.after()
    if rest.opens == "in":
        if found := place("home", where):
            return found
        if where.opens in ("a", "an", "the", "my", "our"):
            return own("housing", rest) if len(where.words) > 1 else None
        return plain_place("home", where, NO_PLACES)
    shared = ("my", "our", *COUNTS.keys() - {"a", "an"})
    near = rest.opens in ("on", "by", "near", "outside", "at")
    if (near and where.opens in (*shared, "a", "an", "the", "home")) or (
        rest.opens == "with" and where.opens in shared
    ):
        return own("housing", rest)
    return Told("housing", "alone") if rest.words in (("alone",), ("by", "myself")) else None


def _move(rest: Rest) -> Told | None:
    if rest.opens in ("back", "over", "up", "down", "out", "away"):
        rest = rest.after()
    if rest.opens != "to":
        return None
    where = rest.after()
    return None if where.opens in ("next", "tears") else place("home", where)


def _work(rest: Rest) -> Told | None:
    where = rest.after()
    if rest.opens == "as" and where.opens in ("a", "an", "the"):
        said = thing(where.after())
        fits = said.head not in ("team", "group", "pair", "unit", "one", "whole", "charm")
        return told("role", " ".join(said.words)) if fits and len(said.words) <= 4 else None
    if rest.opens in ("at", "for", "in", "with", "on") and where.opens in (*_ARTICLES, "my", "our"):
        said = thing(where)
        if rest.opens == "on" and said.head not in _GROUNDS:
            return None
        return None if said.head in _AT_WORK or len(said.words) < 2 else own("work", rest)
    if rest.opens in ("at", "for") and (count := capitals(where.text.split())):
        return told("employer", " ".join(where.text.split()[: min(count, 5)]))
    if rest.opens == "in" and where.ends in FIELDS and len(where.words) <= 3:
        return Told("work", rest.text)
    if rest.opens in ("with", "in") and where.ends in {"children", "kids", "animals"}:
        return told("work", rest.text)
    plain = " ".join(rest.words)
    if re.fullmatch(
        r"from home|(?:part|full)[- ]time|remotely|nights|freelance|(?:\w+ ){0,2}shifts?|"
        r"(?:two|three|several|multiple) jobs",
        plain,
    ):
        return Told("work", plain)
    return None


def _like(rest: Rest) -> Told | None:
    return liked("likes", rest)


def _prefer(rest: Rest) -> Told | None:
    text = re.split(r" (?:to|over|rather than|instead of|than) ", f" {rest.text} ", maxsplit=1)[0]
    chosen = Rest.of(text)
    if any(word[0].isdigit() or word in WEEKDAYS for word in chosen.words):
        return None
    return liked("likes", Rest.of(rest.text) if not chosen.words else chosen)


def _hate(rest: Rest) -> Told | None:
    return None if rest.opens == "to" else liked("dislikes", rest)


def _care(rest: Rest) -> Told | None:
    return liked("dislikes", rest.after()) if rest.opens in ("for", "about") else None


def _eat_not(rest: Rest) -> Told | None:
    if not FOODS.isdisjoint(rest.words) and len(rest.words) <= 6 and not rest.is_for_now():
        return told("diet", f"no {' '.join(w for w in rest.text.split() if w != 'any')}")
    return None


def _drink_not(rest: Rest) -> Told | None:
    return _eat_not(rest) if rest.words else Told("diet", "no alcohol")


def _eat(rest: Rest) -> Told | None:
    diet = rest.opens in DIETS and len(rest.words) <= 2
    return told("diet", rest.text) if diet or rest.opens == "only" else None


def _own(rest: Rest) -> Told | None:
    said = thing(rest)
    if said.head in PETS:
        return told("pet", rest.text)
    if said.head in BUSINESSES and rest.opens in (*_ARTICLES, "my", "our", *COUNTS):
        return told("work", f"owns {rest.text}")
    owned = rest.opens in (*_ARTICLES, *COUNTS) or rest.words[:2] == ("my", "own")
    return told("possession", rest.text) if owned and len(said.words) <= 6 else None


def _drive(rest: Rest) -> Told | None:
    if rest.opens not in ("a", "an", "my"):
        return None
    if re.search(r"\bfor (?:a living|uber|lyft|work|grab|gojek|bolt)\b", rest.text, re.IGNORECASE):
        return told("work", f"drives {rest.text}")
    said = thing(rest)
    model = any(word in MOTORS or (word.isdecimal() and len(word) == 4) for word in said.words)
    return (
        told("possession", " ".join(rest.text.split()[: len(said.words)]))
        if (said.head in MOTORS or model) and said.next != "to"
        else None
    )


def _get(rest: Rest) -> Told | None:
    if rest.opens in ("married", "engaged", "divorced"):
        joined = len(rest.words) < 2 or rest.words[1] in PREPOSITIONS or rest.words[1] == "last"
        return Told("relationship", rest.opens) if joined else None
    if rest.opens == "a" and rest.ends == "job" and len(rest.words) > 1:
        return None
    if rest.opens == "the" and rest.ends == "job" and len(rest.words) in (3, 4):
        name = rest.text.split()[1:-1]
        return told("employer", " ".join(name)) if capitals(name) == len(name) else None
    if rest.words[:2] == ("accepted", "to") or rest.words[:2] == ("accepted", "into"):
        return told("studies", rest.after(2).text)
    if rest.words[:2] == ("diagnosed", "with"):
        return told("health", rest.after(2).text)
    return _land(rest) or _buy(rest)


def _land(rest: Rest) -> Told | None:
    """_land: A job that somebody was given: "a job at Ostra"."""
    said = thing(rest)
    if said.head not in ("job", "position", "offer", "role") or said.next not in (
        "at",
        "with",
        "from",
    ):
        return None
    words = rest.after(len(said.words) + 1).text.split()
    count = min(capitals(words), 4)
    return told("employer", " ".join(words[:count])) if count else None


def _buy(rest: Rest) -> Told | None:
    said = thing(rest)
    counted = rest.opens in (*_ARTICLES, *COUNTS, "our", "my", "another")
    if not counted or said.next == "to" or said.next == "for":
        return None
    if said.head in PETS - {"fish", "chicken", "duck", "mouse"}:
        return told("pet", rest.text)
    if said.head in LOOKS - {"hair", "eyes"}:
        return told("looks", rest.text)
    bought = " ".join(rest.text.split()[: len(said.words)])
    return told("possession", bought) if said.head in THINGS - {"home"} else None


def _open(rest: Rest) -> Told | None:
    said = thing(rest)
    business = said.head in BUSINESSES - {"blog", "channel", "school", "truck"}
    owned = rest.opens in (*_ARTICLES, "my", "our") and said.next not in ("for", "to")
    return own("work", Rest.of(f"runs {rest.text}")) if business and owned else None


def _adopt(rest: Rest) -> Told | None:
    said = thing(rest)
    if said.head in PETS:
        return told("pet", rest.text)
    return told("family", rest.text) if said.head in RELATIVES else None


def _start(rest: Rest) -> Told | None:
    at = rest.opens == "at" and capitals(rest.after().text.split()) > 0
    return told("plan", f"start {rest.text}") if at else None


def _listen(rest: Rest) -> Told | None:
    music = rest.opens == "to" and rest.ends in ("music", "podcasts", "audiobooks")
    return told("likes", rest.after().text) if music and len(rest.words) > 2 else None


def _raise(rest: Rest) -> Told | None:
    said = thing(rest)
    if said.head in PETS:
        return told("pet", rest.text)
    kin = said.head in RELATIVES and rest.opens in COUNTS
    return told("family", rest.text) if kin else None


def _come(rest: Rest) -> Told | None:
    return origin(rest.after()) if rest.opens == "from" else None


def origin(rest: Rest) -> Told | None:
    """Where somebody is from: the name of a place, or a kind of place."""
    if rest.opens in ("a", "an") and rest.ends in word_set(
        "town village farm island city family neighborhood neighbourhood suburb country"
    ):
        return told("origin", rest.text)
    return place("origin", rest)


def _grow(rest: Rest) -> Told | None:
    if rest.opens == "up" and len(rest.words) > 2 and _BIRTHPLACE.match(rest.words[1]):
        return raised(rest.after())
    return None


def raised(rest: Rest) -> Told | None:
    """Where somebody grew up, after "grew up" or "born": "in Porto", "on a farm"."""
    if _BIRTHPLACE.match(rest.opens) is None:
        return None
    if rest.opens == "in" and (found := origin(rest.after())):
        return found
    settled = rest.words[1:2] and rest.words[1] in ("a", "an", "the")
    return own("origin", rest) if settled else None


def _break(rest: Rest) -> Told | None:
    if rest.words[:2] == ("up", "with"):
        return Told("relationship", "separated")
    if (
        rest.opens == "my"
        and len(rest.words) == 2
        and rest.words[1]
        in word_set(
            "arm leg ankle wrist foot toe finger nose rib collarbone elbow hip hand shoulder"
        )
    ):
        return Told("health", f"broken {rest.words[1]}")
    return None


def _turn(rest: Rest) -> Told | None:
    if rest.opens.isdecimal() and 2 <= int(rest.opens) <= 110 and len(rest.words) <= 4:
        return Told("age", rest.opens)
    return None


#: Rules for verbs in the base form.
VERBS: Mapping[str, Rule] = {
    **PURSUITS,
    "live": _live,
    "reside": _live,
    "work": _work,
    **dict.fromkeys(("like", "love", "enjoy", "adore"), _like),
    "prefer": _prefer,
    **dict.fromkeys(("hate", "dislike", "despise", "detest", "loathe"), _hate),
    "eat": _eat,
    "own": _own,
    "drive": _drive,
    "listen": _listen,
    "start": _start,
    "raise": _raise,
    "come": _come,
}
#: Rules for past forms, whose result still holds.
PAST: Mapping[str, Rule] = {
    **PAST_PURSUITS,
    **dict.fromkeys(("moved", "relocated"), _move),
    **dict.fromkeys(("bought", "purchased"), _buy),
    "opened": _open,
    "got": _get,
    **dict.fromkeys(("accepted", "landed"), _land),
    "adopted": _adopt,
    "grew": _grow,
    "broke": _break,
    "turned": _turn,
}
#: Rules for participles after "have" and "am": "I've lived in Lima", "I'm studying law".
PARTICIPLES: Mapping[str, str] = {
    "lived": "live",
    "living": "live",
    "worked": "work",
    "working": "work",
    "loved": "love",
    "liked": "like",
    "hated": "hate",
    "enjoyed": "enjoy",
    "played": "play",
    "studied": "study",
    "studying": "study",
    "learning": "learn",
    "planning": "plan",
    "hoping": "hope",
    "wanted": "want",
    "volunteered": "volunteer",
    "volunteering": "volunteer",
    "teaching": "teach",
    "taught": "teach",
    "coaching": "coach",
    "raising": "raise",
    "taking": "take",
    "practicing": "practice",
    "practising": "practise",
    "doing": "do",
    "playing": "play",
}
#: Rules for negated verbs: "I don't like", "I can't stand".
DENIED: Mapping[str, Rule] = {
    **dict.fromkeys(("like", "enjoy", "love"), _hate),
    "care": _care,
    "eat": _eat_not,
    "drink": _drink_not,
    "tolerate": _eat_not,
}
