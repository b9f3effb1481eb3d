"""Attributes from "is" and the words after it.

"I'm allergic to kiwis", "I was born in Lima". Doubtful cases give nothing: "I'm glad", "I'm
allergic to small talk".
"""

from __future__ import annotations

import re
from collections.abc import Set

from recollect.streams.language.attributes.attribute_verbs import PARTICIPLES, VERBS, origin, raised
from recollect.streams.language.attributes.attribute_words import (
    DIETS,
    FAITHS,
    GENDERS,
    ILL,
    LIFE,
    MARITAL,
    NO_ILLNESS,
    PARENTS,
    PARTNERS,
    PEOPLES,
    POINTING,
    RELATIVES,
    TRAITS,
)
from recollect.streams.language.attributes.pursuits import Rule
from recollect.streams.language.attributes.values import Rest, Told, liked, own, place, told
from recollect.text.lexicon import COUNTS, OCCUPATIONS, PREPOSITIONS, word_set

_AGED = re.compile(
    r"(?:an? )?(?P<age>\d{1,3})(?P<old>[- ]?(?:years?|yrs?)[- ]old\b|[- ]?y/?o\b)?(?P<next>.*)\Z",
    re.IGNORECASE,
)
_DECADES = word_set(
    "twenties thirties forties fifties sixties seventies eighties nineties teens 20s 30s 40s 50s "
    "60s 70s 80s 90s"
)
_AFTER_AGE = re.compile(r"\s*(?:\Z|,|and\b|with\b|now\b|from\b|in \w+\b)", re.IGNORECASE)
_FAN = re.compile(
    r"(?:(?:an? |the )?(?:very |really |so |quite |super |kind of |pretty )?(?:big |huge |avid |"
    r"massive |lifelong |great |real |total |major |biggest )*(?:fan|lover|fond) of|"
    r"(?:really |very |quite |super |so |totally )*(?:into|passionate about|fond of|"
    r"crazy about|obsessed with|"
    r"addicted to|keen on|interested in|fascinated by)) (?P<what>.+)\Z",
    re.IGNORECASE,
)
_LOVER = re.compile(
    r"(?:an? )?(?:big |huge |avid |total |real |lifelong )*(?P<what>[\w'\- ]{3,30}?) "
    r"(?:lover|fan|enthusiast|buff|junkie|addict|aficionado|nut)\Z",
    re.IGNORECASE,
)
_FEARFUL = re.compile(
    r"(?:\w+ly |so |very |really )?(?:afraid|scared|terrified|frightened|petrified) of "
    r"(?P<what>.+)\Z",
    re.IGNORECASE,
)
_NO_INTEREST = word_set("buying booking applying hearing learning knowing seeing working joining")
_CAPABLE = re.compile(
    r"(?:very |really |pretty |quite |so )?(?:good|great|decent|skilled|talented|excellent|expert|"
    r"bad|terrible|hopeless) (?:at|with) (?P<what>.+)\Z",
    re.IGNORECASE,
)
_SKILLED = word_set(
    "cook baker swimmer dancer singer skier surfer painter runner climber cyclist knitter drummer "
    "guitarist pianist violinist gardener chess-player writer rider skater carpenter photographer"
)
_HOW_WELL = word_set("good great decent terrible bad pretty very strong keen avid")
_PARENT_WORDS = word_set(
    "single new proud working first-time young busy foster adoptive full-time and"
)
_TYPES = re.compile(
    r"(?:an? |such an? )?(?:(?P<kind>night owl|early bird|early riser|morning person|people person|"
    r"(?:cat|dog|animal) person|only child|left handed|right handed|high maintenance|"
    r"animal activist)|the (?P<born>oldest|eldest|youngest|middle child)(?: of \w+)?)\Z",
    re.IGNORECASE,
)
_GENDERED = word_set("trans little young old middle-aged single married cis gay proud teenage teen")
_STUDYING = re.compile(
    r"(?:an? (?P<major>[\w ]{3,40}) major\b|in (?:my |the )?(?P<year>(?:first|second|third|fourth|"
    r"fifth|final|last|senior|junior|freshman|sophomore) year\b.*|(?:\d+(?:st|nd|rd|th)|\w+th|"
    r"first|second|third) grade)|in (?P<school>(?:high school|middle school|college|university|uni|"
    r"grad school|graduate school|law school|med school|medical school|art school|nursing school|"
    r"kindergarten)\b.*)|a (?P<class>(?:college |high school )?(?:freshman|sophomore|undergrad|"
    r"undergraduate)\b.*))",
    re.IGNORECASE,
)
_LOOKING = word_set("bald redhead redheaded blonde brunette tall petite ginger overweight skinny")
_TALL = re.compile(
    r"(?:\d['’]\d{1,2}\b|\d(?:\.\d+)? ?(?:feet|foot|ft|m|metres|meters)|\d{3} ?cm)\b"
)
_AT_HOME = re.compile(r"an? stay[- ]at[- ]home (mom|mum|dad|mother|father|parent)\b", re.IGNORECASE)
#: "Vegan and allergic to soy"
_AND_MORE = re.compile(r"\A(\w+) and .*\Z", re.DOTALL)
_JOBLESS = word_set("retired unemployed self-employed jobless")
_OFFICE = re.compile(
    r"(?:the|an?) (?P<role>(?:\w+[ -]){0,3}(?:ceo|cto|cfo|coo|head|director|manager|owner|founder|"
    r"co-founder|cofounder|president|chair|chairman|chairwoman|principal|captain|mayor|editor|"
    r"secretary|treasurer|lead)) (?:of|at|in|for) ",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"(?:going to|about to|looking to) (?P<wish>.+)\Z|(?P<what>(?:getting married|retiring|"
    r"graduating|relocating|emigrating|moving (?:in|to|back|into|out)|adopting|applying (?:to|for)|"
    r"saving(?: up| money)? (?:for|to)|training (?:for|to be(?:come)?)|looking for an? (?:new )?"
    r"(?:job|house|home|flat|apartment|place to live)|starting (?:a|my) new|"
    r"starting (?:an?|my|our) (?:own )?(?:\w+ ){0,2}(?:business|studio|shop|store|company|family)|"
    r"planning (?:an?|my|our) (?:\w+ ){0,3}(?:trip|wedding|holiday|vacation|party|tour|honeymoon)|"
    r"expecting (?=a |our |my |twins)|having (?=a baby|twins))\b.*)\Z",
    re.IGNORECASE,
)


def _ending(rest: Rest, named: Set[str], most: int = 3) -> str | None:
    """Return the short phrase whose last word is one of these, such as an occupation."""
    words = rest.words[1:] if rest.opens in ("a", "an") else rest.words
    fits = 0 < len(words) <= most and words[-1] in named and POINTING.isdisjoint(words)
    fits = fits and not words[0].endswith("ing")
    return " ".join(words) if fits else None


def _age(rest: Rest) -> Told | None:
    if rest.words[:2] in (("in", "my"), ("in", "his"), ("in", "her")) and rest.ends in _DECADES:
        return Told("age", f"in the {rest.ends}") if len(rest.words) < 5 else None
    match = _AGED.match(rest.text)
    if match is None:
        return None
    age = int(match["age"])
    bare = 12 <= age <= 99 and _AFTER_AGE.match(match["next"])
    return Told("age", match["age"]) if 1 <= age <= 115 and (match["old"] or bare) else None


def _relation(rest: Rest) -> Told | None:
    following = rest.words[1] if len(rest.words) > 1 else ""
    if rest.words[:3] == ("in", "a", "relationship") or rest.opens == "dating":
        return Told("relationship", "in a relationship")
    if rest.opens not in MARITAL:
        return _relation(rest.after()) if rest.opens in ("happily", "newly", "recently") else None
    fits = following in ("", "and", "with", "for", "since", "now", "again")
    if rest.opens in ("married", "engaged"):
        to = following == "to" and not {"work", "job", "idea", "career"} & {*rest.words}
        return Told("relationship", rest.opens) if fits or to else None
    if rest.opens in ("separated", "divorced") and following == "from":
        fits = not PARTNERS.isdisjoint(rest.words)
    return Told("relationship", rest.opens) if fits else None


def _ill(rest: Rest) -> Told | None:
    words = rest.words
    at = 1 if words[:1] and words[0].endswith("ly") else 0
    if words[at : at + 2] == ("allergic", "to"):
        fits = NO_ILLNESS.isdisjoint(words[at + 2 :]) and len(words) <= 8
        found = own("health", rest.after(at)) if fits else None
        return found
    if words[:2] == ("lactose", "intolerant") or words[:3] == ("hard", "of", "hearing"):
        return told("health", rest.text)
    if words[:2] == ("recovering", "from") or words[-1:] in (
        ("survivor",),
        ("alcoholic",),
        ("amputee",),
    ):
        return told("health", rest.text)
    if words[:2] in (("weeks", "pregnant"), ("months", "pregnant")):
        return Told("health", "pregnant")
    named = next((at for at, word in enumerate(words[:2]) if word in ILL), None)
    if named is None and words[:2] not in (("color", "blind"), ("colour", "blind")):
        return None
    return None if "to" in words or len(words) > 6 else told("health", rest.text)


def _diet(rest: Rest) -> Told | None:
    if rest.words[:2] in (("gluten", "free"), ("dairy", "free"), ("plant", "based")):
        return Told("diet", " ".join(rest.words[:2]))
    what = _ending(
        Rest.of(_AND_MORE.sub(r"\1", re.sub(r" (?:since|for|now) .*", "", rest.text))), DIETS
    )
    return Told("diet", what) if what else None


def _of_kind(rest: Rest) -> Told | None:
    if match := _TYPES.match(rest.text):
        return told("family" if match["born"] or "child" in rest.text else "trait", rest.text)
    if faith := _ending(rest, FAITHS):
        return Told("belief", faith)
    if trait := _ending(rest, TRAITS):
        return Told("trait", trait)
    words = rest.words[1:] if rest.opens in ("a", "an") else ()
    if words and words[-1] in GENDERS and set(words[:-1]) <= _GENDERED:
        return Told("gender", words[-1])
    if rest.words in (("male",), ("female",), ("nonbinary",), ("non-binary",)):
        return Told("gender", rest.opens)
    if _ending(rest, _LOOKING, 2) or _TALL.match(rest.text):
        return told("looks", rest.text)
    people = _ending(rest, PEOPLES)
    capital = people is not None and any(word[0].isupper() for word in rest.text.split())
    return told("origin", rest.text) if capital else None


def _parent(rest: Rest) -> Told | None:
    words = rest.words[1:] if rest.opens in ("a", "an") else ()
    at = next((n for n, word in enumerate(words) if word in PARENTS), None)
    if at is None or not set(words[:at]) <= _PARENT_WORDS | PARENTS:
        return None
    after = words[at + 1 :]
    if not after or (
        after[0] in ("of", "to") and after[-1] in {*COUNTS, *RELATIVES, "boys", "girls"}
    ):
        return told("family", rest.text)
    return None


def _fan(rest: Rest) -> Told | None:
    if match := _FAN.match(rest.text):
        what = Rest.of(match["what"])
        return None if what.opens in _NO_INTEREST | {"the"} else liked("likes", what)
    if (match := _LOVER.match(rest.text)) and POINTING.isdisjoint(rest.words):
        return told("likes", match["what"])
    return None


def _fear(rest: Rest) -> Told | None:
    match = _FEARFUL.match(rest.text)
    if match is None or len(match["what"].split()) > 4:
        return None
    what = Rest.of(match["what"])
    return (
        None if what.opens in ("losing", "being", "missing", "making") else told("fears", what.text)
    )


def _able(rest: Rest) -> Told | None:
    if rest.words[:2] == ("fluent", "in") or rest.words[:2] == ("a", "native"):
        return VERBS["speak"](rest.after(2))
    if rest.opens in ("bilingual", "trilingual"):
        return Told("language", rest.opens)
    if rest.words[:4] == ("a", "black", "belt", "in"):
        return told("skill", rest.text)
    how = rest.words[1] if rest.opens == "a" and len(rest.words) in (3, 4) else ""
    if how in _HOW_WELL and rest.ends in _SKILLED:
        return told("skill", rest.text)
    match = _CAPABLE.match(rest.text)
    return told("skill", rest.text) if match and len(match["what"].split()) <= 4 else None


def _student(rest: Rest) -> Told | None:
    match = _STUDYING.match(rest.text)
    if match is None:
        return None
    return own("studies", Rest.of(next(part for part in match.groups() if part)))


def _office(rest: Rest) -> Told | None:
    if rest.opens in _JOBLESS and (len(rest.words) == 1 or rest.words[1] in PREPOSITIONS | {"and"}):
        return Told("role", rest.opens)
    if at_home := _AT_HOME.match(rest.text):
        return Told("role", f"stay-at-home {at_home[1].lower()}")
    if match := _OFFICE.match(rest.text):
        return Told("role", match["role"].lower())
    if rest.words[:2] == ("employed", "by"):
        return told("employer", rest.after(2).text)
    if rest.words[:2] == ("an", "avid") and len(rest.words) == 3 and rest.ends.endswith("er"):
        return told("activity", rest.text)
    if rest.words[:2] == ("a", "volunteer"):
        return told("activity", rest.text)
    words = rest.words[1:] if rest.opens in ("a", "an") else ()
    head = next((at for at, word in enumerate(words[:4]) if word in OCCUPATIONS), None)
    ended = head is not None and (
        head + 1 == len(words) or words[head + 1] in PREPOSITIONS | {"and", "by"}
    )
    return Told("role", " ".join(words[: head + 1])) if ended and head is not None else None


def _planned(rest: Rest) -> Told | None:
    match = _PLANNED.match(rest.text)
    if match is None or rest.is_for_now():
        return None
    if wish := match["wish"]:
        return VERBS["want"](Rest.of(f"to {wish}")) if wish.split()[0] in LIFE else None
    return own("plan", Rest.of(match["what"]))


def _doing(rest: Rest) -> Told | None:
    verb = PARTICIPLES.get(rest.opens, "")
    return VERBS[verb](rest.after()) if verb in VERBS else None


def _from(rest: Rest) -> Told | None:
    if rest.opens == "based" and rest.words[1:2] == ("in",):
        return place("home", rest.after(2))
    if rest.opens in ("originally", "actually"):
        rest = rest.after()
    return origin(rest.after()) if rest.opens == "from" else None


_BEING: tuple[Rule, ...] = (
    _age, _from, _relation, _ill, _diet, _student, _parent, _able, _office, _of_kind, _fan, _fear,
    _planned, _doing,
)  # fmt: skip


def being(rest: Rest) -> Told | None:
    """Return what "is" states about somebody."""
    if not rest.words:
        return None
    return next((found for rule in _BEING if (found := rule(rest)) is not None), None)


def not_being(rest: Rest) -> Told | None:
    """Return what "is not" states about somebody: "I'm not a fan of crowds"."""
    if match := _FAN.match(rest.text):
        what = Rest.of(match["what"])
        return None if what.opens in _NO_INTEREST else liked("dislikes", what)
    if rest.words == ("religious",):
        return Told("belief", "not religious")
    return None


def was(rest: Rest) -> Told | None:
    """Return what "was" states that still holds: where somebody was born, an illness."""
    if rest.words[:3] == ("born", "and", "raised"):
        return raised(rest.after(3))
    if rest.words[:2] in (("born", "in"), ("raised", "in"), ("raised", "on"), ("born", "on")):
        found = raised(rest.after())
        return None if found and any(c.isdigit() for c in found.value) else found
    if rest.words[:2] == ("diagnosed", "with"):
        return told("health", rest.after(2).text)
    return None
