"""Whether a text states a value of an attribute in words of its kind: a pet that somebody has.

The attributes are read by a classifier, which errs; a page shows a value only if the sentence with
it has a word by which such values are stated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from recollect.streams.consolidation.nouns import activity, is_noun, singular
from recollect.streams.language.grammar.verbs import BASES, is_past
from recollect.streams.language.references.named_referents import SOMEBODY
from recollect.text.lexicon import (
    FUNCTION_WORDS,
    MONTHS,
    NUMBER_WORDS,
    PREPOSITIONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.sentences import sentences
from recollect.text.tokenizer import bare, tokenise

_ANIMALS = (
    r"pets?|dogs?|pup(?:s|py|pies)?|cats?|kitt(?:y|ies|ens?)|hamsters?|rabbits?|bunn(?:y|ies)|"
    r"guinea pigs?|gerbils?|mouse|mice|rats?|birds?|parrots?|canar(?:y|ies)|budgies?|fish(?:es)?|"
    r"goldfish|turtles?|tortoises?|lizards?|geckos?|snakes?|horses?|pon(?:y|ies)|donkeys?|goats?|"
    r"chickens?|hens?|ducks?|ferrets?|frogs?|retrievers?|terriers?|poodles?|spaniels?|labradors?"
)
_GROUPS = (
    r"clubs?|teams?|choirs?|bands?|orchestras?|societ(?:y|ies)|unions?|leagues?|associations?|gym|"
    r"crew|troupe|council|committee|board|squad|lodge"
)
_HAVE = r"has|have|had|got|owns?|owned|bought|purchased|inherited|['’]s?"
#: An illness or an injury, which somebody has.
_ILLNESS = re.compile(
    r"\b(?:allerg\w+|intoleran\w+|asthma\w*|diabet\w+|injur\w+|broken|sprain\w*|illness|"
    r"disease|migraines?|arthritis|fracture\w*|\w+itis)\b",
    re.IGNORECASE,
)
#: A value that ends with one of these is no illness: "migraine diary".
_ABOUT_ILLNESS = word_set(
    "diary tablet tablets pill pills medicine medication drugs treatment therapy clinic specialist "
    "doctor check test tests result results app"
)
#: The endings of words for people by what they do.
_AGENT = re.compile(r"(?:tor|sor|ist|ician|man|woman|eer|yst|ceo|cto)\Z")
#: "Partner" alone may be one in business.
_SPOUSE = re.compile(
    r"\b(?:husband|wife|spouse|boyfriend|girlfriend|fianc[eé]e?|hubby|bride|groom|life partner|"
    r"married|marr(?:y|ies)|wed|engaged|dating|dated|in love|bf|gf)\b",
    re.IGNORECASE,
)
#: A word of the sentence before the value, or in the value, by which the value is stated.
_STATED = {
    "home": r"liv(?:es?|ed|ing)|mov(?:es?|ed|ing)|relocat\w+|settl\w+|resid\w+|based|homes?|"
    r"hometown",
    "employer": r"work(?:s|ed|ing)?|jobs?|joined|hired|employ\w+|positions?|start(?:s|ed|ing)|"
    r"intern\w*|career",
    "role": r"is|was|are|am|became|as|work(?:s|ed|ing)?|job|promoted|title|roles?|position|career|"
    r"hired",
    "school": r"school|universit(?:y|ies)|colleges?|academy|stud(?:y|ies|ied|ying)|attend\w*|"
    r"enrol\w*|graduat\w+|degree",
    "relationship": r"married|engaged|single|divorced|dating|widow\w*|separated|relationship",
    "likes": r"lov(?:es?|ed|ing)|lik(?:es|ed|ing)|(?:I|really|others) like|enjoy\w*|fans?|"
    r"favou?rites?|faves?|favs?|passion\w*|into|ador\w+|prefers?|preferred|keen|fond|obsessed|hooked",
    "dislikes": r"dislik\w+|hat(?:es?|ed)|stand|loath\w+|detest\w*|not|sick of|tired of",
    "fears": r"afraid|fears?|scared|terrified|phobia|frightened",
    "health": r"allergic to|allergy to|intoleran\w+ to|diagnosed with|suffer\w* from",
    "diet": r"vegan|vegetarian|eats?|diet|drinks?|gluten|lactose|halal|kosher",
    "pet": rf"{_HAVE}|adopted|named|called",
    "possession": rf"{_HAVE}",
    "membership": rf"members? of|member at|joined|joining|belong\w* to|subscri\w+ to|signed up for|"
    rf"part of|{_GROUPS}",
    "plan": r"hop(?:es?|ing)|dream\w*|goals?|aim\w*",
    "skill": r"plays?|speaks?|knows?|learn\w*|skill\w*|good at|fluent",
    "language": r"speak\w*|fluent|languages?|learn\w*|native|stud(?:y|ies|ying)",
    "origin": r"from|grew up|born|origin\w*|native|roots|home country|raised",
    "work": r"work\w*|jobs?|runs?|business\w*|self-employed|career|living|freelanc\w+",
    "studies": r"stud(?:y|ies|ied|ying)|degrees?|majors?|majoring|course\w*|graduat\w+|thesis",
    "housing": r"liv(?:es?|ed|ing)|rent\w*|house|apartment|flat|owns?",
    "belief": r"believ\w+|faith|relig\w+|church|christian\w*|muslim\w*|jew\w*|buddhis\w+|hindu\w*|"
    r"atheis\w+|spiritual\w*|conviction",
    "looks": r"hair|eyes?|tall|beard|tattoos?|glasses|inches|cm",
}
_EXPRESSIONS = {
    attribute: re.compile(rf"(?:\b|(?=['’]))(?:{words})(?!\w)", re.IGNORECASE)
    for attribute, words in _STATED.items()
}
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.\w+")
#: A hobby named by one of these is no end in itself.
_PLAYED = re.compile(
    r"\b(?:play|do|practi[cs]e|hobb|train|into|go|went|run|coach|teach|take|took|attend)\w*\b",
    re.IGNORECASE,
)
_MAX_HOBBY = 3
#: A value before this owns what the sentence is about: "head of the school's kitchen".
_OWNS = re.compile(r"(?<=\w)['’]s \w")
_NUMERIC_DAY = re.compile(r"\b\d{1,4}[./-]\d{1,2}\b")
#: Not what somebody owns: "photos of the oven".
_DEPICTION = re.compile(
    r"(?:(?:a|an|the|some|more) )?(?:photos?|pictures?|pics?|screenshots?|videos?|cop(?:y|ies)|"
    r"links?|lists?|messages?|mails?|emails?|invoices?|ideas?|questions?|problems?)\b",
    re.IGNORECASE,
)
#: Everybody has these.
_PARENTS = word_set("mum mom mam mummy mommy mother ma dad daddy father pa papa mama parents")
_OWNERS = re.compile(r"\b(?:their|them|my|our)\b")
_FAVOURITE = re.compile(r"\b(?:favou?rites?|faves?|favs?|passions?)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|(?:is|are|am|was) done|quit|stop\w*|without|back to)\b|n['’]t\b",
    re.IGNORECASE,
)
_OF_DENIALS = word_set("dislikes diet")
#: One may sign up for a race or a trip too.
_SIGNED_UP = re.compile(r"\b(?:sign\w*|subscri\w+|enrol\w*)\b", re.IGNORECASE)
_GROUP = re.compile(
    rf"\b(?:{_GROUPS}|class(?:es)?|course|newsletter|lessons?|programme|program)\b", re.IGNORECASE
)
_HAS = re.compile(rf"\b(?:{_HAVE})(?!\w)", re.IGNORECASE)
_ANIMAL = re.compile(rf"\b(?:{_ANIMALS})\b", re.IGNORECASE)
#: The words that state these values stand close before them.
_CLOSE = word_set("health possession membership pet")
_MAX_BETWEEN = 2
_NAMED_AT_END = word_set("likes dislikes possession pet membership health")
_VALUES_AS_CLAUSES = word_set("plan likes dislikes skill activity work belief trait")


def is_stated(value: str, text: str, attribute: str) -> bool:
    """Return whether a text states a value of an attribute in words of its kind.

    Any value of an attribute that is not listed counts as stated.

    >>> is_stated("cat", "Ada has a cat.", "pet"), is_stated("rust", "Ada saw the rust.", "pet")
    (True, False)
    """
    if attribute == "email":
        return _EMAIL.fullmatch(value) is not None
    if attribute == "phone":
        return sum(letter.isdigit() for letter in value) > 5
    if attribute == "birthday":
        return _names_month(value) or _NUMERIC_DAY.search(value) is not None
    if attribute == "possession" and _DEPICTION.match(value):
        return False
    sentence, before = _before(value, text)
    if _OWNS.match(sentence, len(before) + len(value)):
        return False
    if attribute not in _OF_DENIALS and _DENIED.search(before):
        return False
    if attribute == "age":
        return _is_age(value, sentence)
    words = tokenise(value).lowers
    if attribute not in _VALUES_AS_CLAUSES and "," in value and not value[:1].isdigit():
        return attribute in ("home", "address")
    if attribute == "family":
        return _names_relative(value)
    if attribute == "partner":
        return _SPOUSE.search(sentence) is not None
    if attribute == "role" and not _is_agent(words):
        return False
    if attribute == "activity":
        if all(lower.removesuffix("s") in WEEKDAYS or lower in FUNCTION_WORDS for lower in words):
            return False
        ends = {activity(words[0]), activity(words[-1])} if words else {None}
        is_doing = ends != {None} or (words and words[0].endswith("ing"))
        is_short = len(words) <= _MAX_HOBBY and _ends_with_name(value)
        return is_short and (bool(is_doing) or bool(_PLAYED.search(before)))
    if attribute == "health" and words and words[-1] in _ABOUT_ILLNESS:
        return False
    if attribute in _NAMED_AT_END and not _ends_with_name(value):
        return False
    if attribute == "health" and _ILLNESS.search(value) and _is_close(_HAS, before):
        return True
    expression = _EXPRESSIONS.get(attribute)
    if expression is None:
        return True
    if attribute == "pet" and not _ANIMAL.search(value):
        return bool(_ANIMAL.search(before)) and _is_close(expression, before)
    if attribute == "membership" and _SIGNED_UP.search(before) and not _GROUP.search(value):
        return False
    if attribute in _CLOSE:
        return _is_close(expression, before) or (
            attribute == "membership" and expression.search(value) is not None
        )
    if expression.search(before) or (attribute != "likes" and expression.search(value)):
        return True
    # "Dancing is one of Ada's favourites"
    return attribute == "likes" and _FAVOURITE.search(sentence) is not None


def _names_month(value: str) -> bool:
    """Return whether a month is among these words: "9 may", but not "may be on Friday"."""
    words = [bare(lower) for lower in tokenise(value).lowers]
    return any(
        word in MONTHS and (word, following) != ("may", "be")
        for word, following in pairwise([*words, ""])
    )


def _names_relative(value: str) -> bool:
    """Return whether a value is a word for a relative, with a name or others after it.

    "Cousin Mira" and "aunt and cousins", but not "son help with the kite".
    """
    tokens = tokenise(value)
    if len(tokens.lowers) == 1 and tokens.lowers[0] in _PARENTS:
        return False
    places = [
        at
        for at, lower in enumerate(tokens.lowers)
        if not SOMEBODY.isdisjoint((bare(lower), singular(lower)))
    ]
    if not places or tokens.lowers[0] in NUMBER_WORDS:
        return False
    after = tokens.words[places[-1] + 1 :]
    return all(word[0].isupper() for word in after) or (
        len(after) == 1 and after[0] not in BASES and not is_noun(after[0])
    )


def _is_agent(words: Sequence[str]) -> bool:
    """Return whether the last of these words is for somebody who does something."""
    last = singular(words[-1]) if words else ""
    if not SOMEBODY.isdisjoint((last, *words[-1:])) or _AGENT.search(last):
        return True
    return last.endswith("er") and not BASES.isdisjoint((last[:-1], last[:-2]))


def _is_close(expression: re.Pattern[str], before: str) -> bool:
    """Return whether at most two words, and no verb, stand between a match and the value."""
    last = None
    for found in expression.finditer(before):
        last = found
    if last is None:
        return False
    between = tokenise(before[last.end() :]).lowers
    return len(between) <= _MAX_BETWEEN and not any(
        is_past(lower) or lower.endswith("ing") or lower in PREPOSITIONS for lower in between
    )


def _ends_with_name(value: str) -> bool:
    """Return whether a value ends with a noun, a name or what is done."""
    tokens = tokenise(value)
    if not tokens.words:
        return False
    last = tokens.lowers[-1]
    return tokens.words[-1][0].isupper() or last.endswith("ing") or is_noun(singular(last))


def _before(value: str, text: str) -> tuple[str, str]:
    """Return the sentence of a text with a value, and its words before the value."""
    # "Their" takes the place of an owner's name.
    parts = _OWNERS.split(value)
    is_plain = len(parts) == 1 and value.isascii() and text.isascii()
    words = value.lower() if is_plain else r"[\w'’]++".join(map(re.escape, parts))
    for start, end in sentences(text):
        sentence = text[start:end]
        if is_plain:
            place = sentence.lower().find(words)
        else:
            found = re.search(words, sentence, re.IGNORECASE)
            place = -1 if found is None else found.start()
        if place >= 0:
            return sentence, sentence[:place]
    return text, ""


def _is_age(value: str, sentence: str) -> bool:
    number = re.search(rf"\b(?:\d{{1,3}}|{'|'.join(NUMBER_WORDS)})\b", value, re.IGNORECASE)
    if number is None:
        return False
    named = re.escape(number[0])
    return (
        re.search(rf"\b(?:is|turns?|turned|['’]s) (?:(?!turning)\w+ )?{named}\b", sentence)
        or re.search(rf"\baged? {named}\b", sentence)
    ) is not None
