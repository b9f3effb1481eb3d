"""Attributes from verbs for pursuits: sports, music, languages, studies, plans.

Each rule gets the words after one verb: "the cello" after "play". Doubtful cases give nothing: "I
play it safe", "I study hard", "I want to read it".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from recollect.streams.language.attributes.attribute_words import (
    BUSINESSES,
    CLASSES,
    GAMES,
    INSTRUMENTS,
    LANGUAGES,
    LIFE,
    MOTORS,
    OWN_ABILITIES,
    PASTIMES,
    POINTING,
    SCHOOLS,
    SPORTS,
)
from recollect.streams.language.attributes.values import Rest, Told, own, thing, told
from recollect.text.lexicon import COUNTS, PREPOSITIONS, word_set

Rule = Callable[[Rest], Told | None]

_ARTICLES = ("a", "an")
_HABIT = re.compile(
    r"\b(?:every|daily|weekly|often|regularly|(?:on|at) (?:the )?weekends?|competitively|"
    r"professionally|for fun|as a hobby|for a living|(?:spare|free) time|"
    r"(?:once|twice|\w+ times) a (?:week|month|day))\b",
    re.IGNORECASE,
)
_NOT_STUDIED = word_set(
    "for hard every all the this that a with until at with more less together best better too"
)
_NO_WISH = POINTING | word_set("help sure ready able bit clear fair more better good right")
_HIGHER = SCHOOLS | word_set("law medical med grad graduate art nursing culinary")


def _speak(rest: Rest) -> Told | None:
    if rest.opens in ("fluent", "only", "both", "some", "native", "conversational"):
        rest = rest.after()
    said = [word for word in rest.words if word in LANGUAGES]
    plain = rest.opens in LANGUAGES or (rest.opens == "a" and len(said) == 1)
    if not plain or rest.is_for_now() or len(rest.words) > 8:
        return None
    return Told("language", " and ".join(word.capitalize() for word in said))


def _teach(rest: Rest) -> Told | None:
    if not rest.words or rest.opens in ("the", "my", "a", "how", "to", "people", "others"):
        return None
    return None if rest.is_for_now() else told("work", f"teaching {rest.text}")


def _coach(rest: Rest) -> Told | None:
    if rest.opens in ("people", "others", "them"):
        return None
    return own("work", Rest.of(f"coaching {rest.text}")) if rest.words else None


def _run(rest: Rest) -> Told | None:
    said = thing(rest)
    if said.head in BUSINESSES and rest.opens in (*_ARTICLES, "my", "our", *COUNTS):
        return told("work", f"runs {rest.text}")
    if said.head in ("marathons", "half-marathons", "races", "ultramarathons"):
        return told("activity", f"running {rest.text}")
    return _pastime("run")(rest)


def _study(rest: Rest) -> Told | None:
    where = rest.after()
    if rest.opens in ("at", "in") and where.text[:1].isupper():
        return told("studies", rest.text)
    if not rest.words or rest.opens in _NOT_STUDIED | PREPOSITIONS or rest.is_for_now():
        return None
    if rest.opens in ("how", "what", "why", "my", "your", "some"):
        return None
    return told("studies", rest.text) if len(rest.words) <= 7 else None


def _learn(rest: Rest) -> Told | None:
    head = rest.opens
    if head == "to" and len(rest.words) > 1 and rest.words[1] in OWN_ABILITIES | {"play", "speak"}:
        return told("activity", f"learning {rest.text}")
    learnt = LANGUAGES | INSTRUMENTS | SPORTS
    named = next((word for word in rest.words[:2] if word in learnt), None)
    return told("activity", f"learning {rest.text}") if named and len(rest.words) <= 5 else None


def _go(rest: Rest) -> Told | None:
    where = rest.after()
    if rest.opens.endswith("ing") and len(rest.opens) > 5 and _HABIT.search(rest.text):
        return own("activity", rest)
    if rest.opens != "to" or rest.is_for_now():
        return None
    if where.opens in ("the", "a") and where.words[1:2] == ("gym",):
        return told("activity", f"going {rest.text}") if _HABIT.search(rest.text) else None
    if where.opens in SCHOOLS and len(where.words) > 2 and where.words[1] in ("at", "in", "for"):
        return told("studies", where.text)
    if where.opens in ("church", "mosque", "temple"):
        return told("belief", f"going {rest.text}") if _HABIT.search(rest.text) else None
    named = where.text[:1].isupper() and not SCHOOLS.isdisjoint(where.words)
    return told("studies", where.text) if named else None


def _graduate(rest: Rest) -> Told | None:
    return told("studies", f"graduated {rest.text}") if rest.opens in ("from", "in") else None


def _volunteer(rest: Rest) -> Told | None:
    if rest.opens in ("at", "for", "with", "as", "in") and not rest.is_for_now():
        return own("activity", Rest.of(f"volunteering {rest.text}"))
    return None


def _mean_to(rest: Rest) -> Told | None:
    """An intention: "plan to …"."""
    if rest.opens == "on":
        return own("plan", rest.after())
    if rest.opens == "to" and len(rest.words) > 2 and rest.words[1] not in ("use", "be"):
        return own("plan", rest.after())
    return None


def _wish(rest: Rest) -> Told | None:
    """A wish, if it is a long-term one."""
    if rest.opens != "to" or len(rest.words) < 3 or rest.words[1] not in LIFE:
        return None
    if not _NO_WISH.isdisjoint(rest.words[2:4]) or rest.is_for_now():
        return None
    article = rest.words[2] in (*_ARTICLES, "my", "our")
    if rest.words[1] in ("start", "get", "run", "see", "go", "write", "open", "own", "be"):
        where = rest.after(3).text.removeprefix("the ")
        going = rest.words[1:3] == ("go", "to") and (
            where[:1].isupper() or not _HIGHER.isdisjoint(rest.words)
        )
        going = going or rest.words[2] in ("married", "engaged", "fluent", "rich", "vegan")
        return own("plan", rest.after()) if article or going else None
    return own("plan", rest.after())


def _take(rest: Rest) -> Told | None:
    said = thing(rest)
    if said.head in ("insulin", "medication", "medications", "meds", "antidepressants", "statins"):
        return None if rest.opens in ("my", "the") else told("health", f"takes {rest.text}")
    if said.head in CLASSES and len(said.words) > 1 and rest.opens not in ("the", "my", "these"):
        return told("activity", f"taking {rest.text}")
    return None


def _play(rest: Rest) -> Told | None:
    said = thing(rest.after() if rest.opens in ("the", "some", "a") else rest)
    if said.head in INSTRUMENTS or (said.words and said.words[0] in INSTRUMENTS):
        return None if rest.is_for_now() else told("skill", f"playing {rest.text}")
    if rest.is_for_now() or rest.opens == "some":
        return None
    if said.words and (said.head in GAMES or said.words[0] in GAMES):
        return told("activity", f"playing {rest.text}")
    if rest.opens in ("in", "for") and rest.ends in ("band", "orchestra", "team", "league"):
        return told("activity", f"playing {rest.text}")
    return None


def _practise(rest: Rest) -> Told | None:
    if not 0 < len(rest.words) <= 3 or rest.opens in ("a", "the", "my", *PREPOSITIONS, "more"):
        return None
    return None if rest.is_for_now() else told("activity", f"practising {rest.text}")


def _do(rest: Rest) -> Told | None:
    done = rest.opens in SPORTS and not rest.is_for_now()
    return told("activity", rest.text) if done else None


def _pastime(verb: str) -> Rule:
    def rule(rest: Rest) -> Told | None:
        often = _HABIT.search(rest.text) and not rest.is_for_now()
        return own("activity", Rest.of(f"{verb} {rest.text}")) if often else None

    return rule


def _can(rest: Rest) -> Told | None:
    verb, what = rest.opens, rest.after()
    if verb == "speak":
        return _speak(what)
    if verb == "play":
        found = None if what.opens in ("some", "a") else _play(what)
        return None if found is None else Told("skill", found.value)
    if rest.is_for_now() or "at" in rest.words:
        return None
    if verb in OWN_ABILITIES and (what.words in ((), ("well",), ("very", "well"))):
        return Told("skill", verb)
    driven = verb in ("drive", "sew", "ride", "fly", "knit", "sail", "fix")
    if driven and len(what.words) <= 4 and what.opens in ("a", "an", "my", *MOTORS):
        return own("skill", rest)
    return None


#: Rules for verbs in the base form.
PURSUITS: Mapping[str, Rule] = {
    **{verb: _pastime(verb) for verb in sorted(PASTIMES)},
    "play": _play,
    "speak": _speak,
    "teach": _teach,
    "coach": _coach,
    "run": _run,
    "study": _study,
    "learn": _learn,
    "go": _go,
    "volunteer": _volunteer,
    **dict.fromkeys(("plan", "intend"), _mean_to),
    **dict.fromkeys(("want", "hope"), _wish),
    "take": _take,
    **dict.fromkeys(("practise", "practice"), _practise),
    "do": _do,
    "can": _can,
}
#: Rules for past forms, whose result still holds.
PAST_PURSUITS: Mapping[str, Rule] = {
    "graduated": _graduate,
}
