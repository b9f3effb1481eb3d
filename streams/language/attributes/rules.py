"""Rules for attributes of people: what a clause says of the speaker, or of the person it names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from recollect.schemas.attributes import MASK
from recollect.streams.language.attributes.attribute_verbs import DENIED, PAST, VERBS
from recollect.streams.language.attributes.attribute_words import (
    LANGUAGES,
    MOTORS,
    PARTNERS,
    PETS,
    POINTING,
    RELATIVES,
)
from recollect.streams.language.attributes.frames import find_frame
from recollect.streams.language.attributes.having import having
from recollect.streams.language.attributes.states import being, not_being, was
from recollect.streams.language.attributes.values import Rest, Told, own, told
from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.clauses import after_lead_in
from recollect.streams.language.grammar.verbs import BASES, NOUNS_TOO, third_person
from recollect.text.lexicon import OCCUPATIONS, word_set

_LONGEST = 220
_DOUBT = re.compile(
    r"\b(?:if|unless|would|could|should|might|wish|maybe|perhaps|probably|guess|suppose|joking|"
    r"kidding|pretend|pretending|imagine|used to|no longer|any ?more|not sure|or not|supposedly|"
    r"until|almost|once|had|let's|as if|apparently|like a (?:dog|maniac|fool|horse))\b|[?]",
)
# Each rule with substrings of which a matching text has one.
_SHORT = (
    ("", re.compile(r"\b(i|we|[\w.]+)['’](?:m|re)\b|\b(i)m\b", re.IGNORECASE), r"\1\2 am"),
    ("ve", re.compile(r"\b(i|we)['’]ve\b|\b(i)ve\b", re.IGNORECASE), r"\1\2 have"),
    ("n", re.compile(r"\b(do|does|is|are|am|have|has)n['’]?t\b", re.IGNORECASE), r"\1 not"),
    ("can", re.compile(r"\bcan(?:['’]?t|not)\b", re.IGNORECASE), "can not"),
)
_SHORTENED = re.compile(r"['’]|\bi(?:m|ve)\b|\b(?:do|does)nt\b|cannot|cant")
#: "Long story short, I …": a short preamble without content, before a speaker's clause.
_COMMENT = re.compile(
    r"(?![^,]{0,40}\b(?:say|says|said|tell|tells|told|thinks?|thought|asked|wrote|when|while|like|"
    r"though|although|because|after|before|where|as)\b)(?:[\w'’]+ ){0,3}[\w'’]+,\s+"
    r"(?=(?:i|im|we|my|our)\b)",
    re.IGNORECASE,
)
LEAD = re.compile(
    r"(?:(?:you know|me|personally|as for me|for me|haha|lol|honestly|hey|hi|yeah|yes|oh|well|so|"
    r"and|also|now|currently|thanks|no|ok|okay|today|recently|last \w+|these days|fortunately|"
    r"unfortunately|right now|for the (?:past|last) (?:\w+ )?(?:years?|months?|weeks?)|"
    r"guess what|"
    r"(?:in|on|at|since) [\w']+(?: [\w']+)?(?=[ ,]+(?:i|we)\b))[ ,!.]+)*",
    re.IGNORECASE,
)
_ADVERBS = (
    r"(?P<adverbs>(?:(?:just|recently|finally|now|currently|also|still|actually|already|really|"
    r"absolutely|totally|always|usually|often|sometimes|mostly|mainly|truly|personally|both|all|"
    r"definitely|mainly|simply|especially|particularly|deathly|secretly|only|do(?! not| yoga))\s)*)"
)
_FIRST = re.compile(rf"(?P<who>i|we)\s+{_ADVERBS}(?P<verb>[\w'’]+)(?:\s+|\Z)", re.IGNORECASE)
_NAMED = re.compile(rf"{_ADVERBS}(?P<verb>[\w'’]+)(?:\s+|\Z)", re.IGNORECASE)
_STOP = re.compile(
    r"\s*(?:[;:()\[\]\"“”!…<>*_|]|\.(?=\s|\Z)|\s[–—-]+\s|"
    r",\s+(?=(?:it|i|we|you|he|she|they|that|this|there|which|who|but|so|and\s+(?:i|it|we|my|that|"
    r"now|then|so|the)|because|since|especially|particularly|though|although|not|like|such|as|even|"
    r"when|while|if|too|thanks|please|my|our|your|do|what|how|why|is|are|was|where|yes|no|haha|lol|"
    r"right|actually|except|including|just|only)\b)|"
    r"(?<=\w)\s(?=so\b)|,?\s(?=ever\b)|\s(?=(?:because|since|but|when|whenever|while|although|though|if|['’]?cause|"
    r"cuz|which|who|whose|"
    r"that\s+(?:i|we|you|he|she|they|it|is|are|was|has|have|can|will|makes?)|"
    r"where|until|before|after|than|lol|haha|lately|"
    r"for (?:the (?:past|last) |an? |over |about )?(?:\w+ ){0,2}(?:years?|months?|weeks?)|"
    r"\w+(?: few| couple)? (?:years?|months?|weeks?|days?) ago|last (?:year|month|week)|"
    r"and\s+(?:i|it|we|he|she|they|my|our|am|are|is|have|has|live|lives|work|works|love|loves|"
    r"like|likes|want|wants|hate|also|that|this|there|you|do|so|then|now|just|run|own|need|see))\b"
    r")).*\Z",
    re.IGNORECASE | re.DOTALL,
)
_AFTERTHOUGHT = re.compile(
    r"(?:,?\s(?:too|as well|also|a lot|so much|very much|much|now|these days|right now|currently|"
    r"actually|the most|more than anything|at the moment|though|btw|at all|either|already|"
    r"in general|myself|the best|today|right|dear|anyway|tho|all the time|together))+\Z",
    re.IGNORECASE,
)
#: After the name of a place: a possessive, or an enumeration of places.
_NO_HOME = ("'s", "’s", " and ", " or ", "/")
_STILL = word_set("just also still actually really currently now both")
_KIN_WORDS = sorted(PARTNERS | RELATIVES, key=len, reverse=True)
KIN = "|".join(_KIN_WORDS)
_NAME = r"(?-i:[A-ZÀ-Þ][\w\-]+)"
KIN_NAME = rf"{_NAME}(?: {_NAME})?"
_KINSHIP = re.compile(
    rf"\b(?P<whose>my|our)\s+(?P<which>(?:\w+[ -]){{0,2}}?)(?P<kin>{KIN})\b(?:['’]s name is|"
    r"['’] names are|,? (?:is |are )?(?:called|named)| is|(?P<are> are)|,)? "
    rf"(?P<name>{KIN_NAME})(?!['’]s|\w)",
    re.IGNORECASE,
)
#: The further names of several relatives: "my daughters Mia and Zoe".
_FURTHER_NAMES = re.compile(rf"(?:,? (?:and|&)|,) {KIN_NAME}(?!['’]s|\w)", re.IGNORECASE)
_NO_NAME = word_set("i i'm i’m i've i’ve monday tuesday wednesday thursday friday saturday sunday")
_MINE = re.compile(
    rf"(?:my|our)\s+(?P<what>(?:[\w'’\-]+\s+){{0,3}}?[\w'’\-]+?)(?:['’]s)?\s+{_ADVERBS}"
    r"(?P<verb>is|are|lives|works|has|have|loves|likes|plays|studies|speaks|teaches|owns|includes?|"
    r"live|work|love|play)\s+(?P<rest>.+)\Z",
    re.IGNORECASE,
)
_AND = re.compile(
    r",? and (?:only |often |usually |sometimes |mostly )?(?P<next>\w+)"
    r"(?P<object> (?:an?|the|my|to|in)\b)?",
    re.IGNORECASE,
)
_FAVOURITE = re.compile(r"(?:all[- ]time )?favou?rite [\w ]+\Z|favou?rites?\Z", re.IGNORECASE)
_INVERSE = re.compile(
    r"(?P<what>[\w'’\- ]{3,40}?)\s(?:is|are)\s(?:one of )?my\s(?:\w+ )?(?:hobby|hobbies|passions?|"
    r"favou?rites?(?: [\w ]{1,20})?)\Z",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?:my|our) (?:new |home )?address\b[^.?!]{0,40}?\b(?:is|will be)(?: now)? "
    r"(?P<where>\d[^.;!?]{3,60})",
    re.IGNORECASE,
)
_AS_A = re.compile(r"as an? (?P<role>(?:[\w\-]+ ){0,3}?[\w\-]+),? i\b", re.IGNORECASE)
_BASES = {**{third_person(verb): verb for verb in VERBS}, "has": "have", "is": "be", "was": "was"}
#: A clause without one of these words gives no attribute of anybody.
OPENING = frozenset(_BASES) | word_set(
    """i i'm i've im ive my we we're we've our i’m i’ve we’re we’ve moved bought purchased
    adopted graduated grew doesn't doesn’t does can can't can’t cannot"""
)
#: A clause about the speaker begins with one of these, or has a later "my".
_SUBJECTS = ("i", "we", "my ", "our ", "as a")
_TELLING = VERBS.keys() | {"do", "does", "can", "be", "was", "have"}
_OWN_BASES: Mapping[str, str] = {"am": "be", "are": "be", "have": "have", "was": "was"}


def find_attribute(
    clause: str, offset: int, speaker: str | None, mentions: Sequence[Mention]
) -> Claim | None:
    """Return the attribute and value that a clause gives, or None.

    `offset` is where the clause begins in the message; `mentions` are those of the clause.
    """
    begin = after_lead_in(clause, 0, len(clause))
    begin = LEAD.match(clause, begin).end()  # type: ignore[union-attr]
    if len(clause) - begin > _LONGEST:
        return None
    found = _attribute(clause, begin, offset, speaker, mentions)
    return None if found is None or _DOUBT.search(clause[begin:].lower()) else found


def _attribute(
    clause: str, begin: int, offset: int, speaker: str | None, mentions: Sequence[Mention]
) -> Claim | None:
    """Return the attribute that a clause gives from `begin` on, unless it is doubtful."""
    person = next(
        (one for one in mentions if one.start == offset + begin and one.type == "PERSON"), None
    )
    if person is not None and person.text.lower() not in ("i", speaker):
        told_of = _named(clause[person.end - offset :])
        if told_of is not None:
            if find_frame(clause, None) is not None:
                return None  # a frame: it applies to any subject with one value at a time
            return Claim(person.text, told_of.attribute, told_of.value)
    if speaker is None:
        return None
    found = _of_speaker(clause[begin:])
    if found is None and "," in clause and (comment := _COMMENT.match(clause, begin)):
        found = _of_speaker(clause[comment.end() :])
    if found is None or not _is_sure(found, clause, mentions):
        found = _kinship(clause)
    return None if found is None else Claim(speaker, found.attribute, found.value)


def _of_speaker(clause: str) -> Told | None:
    lower = " ".join(clause.lower().split())
    if not lower.startswith(_SUBJECTS) and " my " not in lower:
        return None
    plain = _plainly(clause)
    if match := _FIRST.match(plain):
        verb, rest = match["verb"].lower(), plain[match.end() :]
        if verb in PAST:
            return PAST[verb](_said(rest))
        return _told(_OWN_BASES.get(verb, verb), rest, match["adverbs"].lower().split())
    if lower.startswith("as a") and (match := _AS_A.match(plain)):
        words = match["role"].lower().split()
        return Told("role", " ".join(words)) if words[-1] in OCCUPATIONS else None
    if lower.startswith(("my ", "our ")):
        address = _ADDRESS.match(plain)
        return Told("home", address["where"].strip()) if address else _mine(plain)
    match = _INVERSE.match(_said(plain).text) if " my " in lower else None
    if match is None or not POINTING.isdisjoint(match["what"].lower().split()):
        return None
    return told("likes", match["what"])


def _named(after: str) -> Told | None:
    """What the words after a person's name say of them."""
    if after[:3] in ("'s ", "’s "):
        after = f" is {after[3:]}"
    plain = _plainly(after)
    match = _NAMED.match(plain)
    if match is None or after[:1] != " ":
        return None
    verb, rest = match["verb"].lower(), plain[match.end() :]
    if verb in PAST and verb != "got":
        return PAST[verb](_said(rest))
    if verb not in _BASES and verb not in ("does", "can"):
        return None
    return _told(_BASES.get(verb, verb), rest, match["adverbs"].lower().split())


def _told(verb: str, words: str, adverbs: Sequence[str]) -> Told | None:
    if verb not in _TELLING:
        return None
    rest = _said(words)
    if verb in ("do", "does", "can") and rest.opens == "not":
        denied = rest.after()
        if denied.opens in ("really", "even", "particularly"):
            denied = denied.after()
        rule = DENIED.get(denied.opens)
        return rule(denied.after()) if rule else None
    if verb == "be":
        if rest.opens == "not":
            return not_being(rest.after())
        also = "also" in adverbs or rest.opens == "also"
        while rest.opens in _STILL:
            rest = rest.after()
        return _beside(being(rest)) if also else being(rest)
    if verb == "was":
        return was(rest)
    if verb == "have":
        return None if rest.opens == "not" else having(rest)
    if verb == "work" and "also" in adverbs:
        return _beside(VERBS["work"](rest))
    rule = VERBS.get(verb)
    return None if rule is None else rule(rest)


def _beside(found: Told | None) -> Told | None:
    """An activity beside another ("besides teaching") replaces no other value."""
    if found is None or found.attribute not in ("role", "employer"):
        return found
    return Told("work", f"{'as' if found.attribute == 'role' else 'at'} {found.value}")


def _mine(plain: str) -> Told | None:
    """What "my …" says: that a relative or animal exists, or the value of a hobby, dream or car."""
    match = _MINE.match(plain)
    if match is None:
        return None
    what, verb = match["what"].lower(), match["verb"].lower()
    rest, head = _said(match["rest"]), what.split()[-1].removesuffix("'s").removesuffix("’s")
    name = head == "name"
    if name and len(what.split()) > 1:
        head = what.split()[-2].removesuffix("'s").removesuffix("’s")
    if head in PETS:
        named = name or rest.opens in ("named", "called")
        said = rest.after() if rest.opens in ("named", "called") else rest
        if not named and verb in ("is", "are") and rest.opens not in ("a", "an"):
            return None
        return Told("pet", f"{head} {said.text}" if named else head)
    if name:
        return None
    if head in PARTNERS or head in RELATIVES:
        return _relative(what, head, verb, rest)
    if verb not in ("is", "are", "include", "includes"):
        return None
    if _FAVOURITE.match(what):
        value = told("likes", rest.text)
        return None if value is None else Told(f"{MASK}'s {what} {verb}", value.value)
    if rest.opens in ("not", "so", "very", "too", "really"):
        return None
    return _of_mine(what, head, rest)


def _of_mine(what: str, head: str, rest: Rest) -> Told | None:
    if head in ("hobby", "hobbies", "passion", "passions", "pastime"):
        return told("activity", rest.text.removeprefix("to "))
    if head in MOTORS and rest.opens in ("a", "an"):
        return told("possession", rest.text)
    if head in ("profession", "occupation"):
        return told("role", rest.text)
    if head in ("dream", "goal", "ambition", "plan") or what == "dream job":
        wish = rest.after() if rest.opens == "to" else rest
        return own("plan", wish) if rest.opens == "to" or what == "dream job" else None
    if what in ("native language", "first language", "mother tongue") and rest.opens in LANGUAGES:
        return Told("language", rest.opens.capitalize())
    if head in ("hair", "eyes") and len(rest.words) <= 3:
        return told("looks", f"{rest.text} {head}")
    if head in ("major", "degree"):
        return told("studies", rest.text.removeprefix("in "))
    if head == "age" and rest.opens.isdecimal():
        return Told("age", rest.opens)
    if head in ("religion", "faith"):
        return told("belief", rest.text)
    if head == "hometown" or what == "home town":
        return told("origin", rest.text)
    return None


def _relative(what: str, head: str, verb: str, rest: Rest) -> Told | None:
    stative = (
        verb not in ("is", "are")
        or rest.opens in ("a", "an", "from", "the")
        or rest.opens.isdecimal()
    )
    if not stative:
        return None
    if head in ("wife", "husband", "spouse"):
        return Told("relationship", "married")
    if head in PARTNERS:
        return Told("relationship", "engaged" if head.startswith("fianc") else "in a relationship")
    return told("family", what)


def find_kin(clause: str) -> re.Match[str] | None:
    """Return a relative or partner who is named: "my son Harjit"."""
    lower = clause.lower()
    if not ("my " in lower or "our " in lower) or not any(map(lower.__contains__, _KIN_WORDS)):
        return None
    match = _KINSHIP.search(clause)
    if match is None or match["name"].split()[0].lower() in _NO_NAME | LANGUAGES:
        return None
    past = match["which"].strip().lower() in ("ex", "ex-", "former", "late")
    # "My parents are Lutheran" contains no name.
    nobody = match["are"] and kin_names(clause, match)[1] == match.end("name")
    return None if nobody or (past and match["kin"].lower() in PARTNERS) else match


def kin_names(clause: str, kin: re.Match[str]) -> tuple[int, int]:
    """Return the spans of the names of relatives, all of them if several: "Mia and Zoe"."""
    start, end = kin.span("name")
    while are_several(kin) and (further := _FURTHER_NAMES.match(clause, end)):
        end = further.end()
    return start, end


def are_several(kin: re.Match[str]) -> bool:
    """Whether the word for a relative is plural: "daughters"."""
    return kin["kin"].lower().endswith(("s", "ren"))


def _kinship(clause: str) -> Told | None:
    match = find_kin(clause)
    if match is None:
        return None
    if match["kin"].lower() in PARTNERS:
        return Told("partner", match["name"])
    start, end = kin_names(clause, match)
    return told("family", f"{match['which']}{match['kin']} {clause[start:end]}")


def _is_sure(found: Told, clause: str, mentions: Sequence[Mention]) -> bool:
    """Whether nothing that the message mentions contradicts the attribute.

    "I love Tom" is about a participant of the conversation; "Tom's house" and two towns are not a
    home.
    """
    named = [one for one in mentions if one.text == found.value]
    if found.attribute in ("likes", "dislikes"):
        return " " in found.value or all(one.type != "PERSON" for one in named)
    if found.attribute != "home" or not found.value[0].isupper():
        return True
    following = clause.partition(found.value)[2]
    return any(one.type == "LOCATION" for one in named) and not following.startswith(_NO_HOME)


def _plainly(clause: str) -> str:
    """The clause with single spaces and with contractions expanded."""
    plain = " ".join(clause.split())
    lower = plain.lower()
    if _SHORTENED.search(lower):
        for sign, pattern, whole in _SHORT:
            if sign in lower:
                plain = pattern.sub(whole, plain)
    return plain


def _said(words: str) -> Rest:
    """The phrase after a verb, up to the beginning of something else."""
    if not words.startswith("to "):
        words = _without_next_verb(words)
    return Rest.of(_AFTERTHOUGHT.sub("", _STOP.sub("", f" {words}").strip(" ,.")).strip(" ,."))


def _without_next_verb(words: str) -> str:
    """The words up to another verb with the same subject: "a cow and drive a truck"."""
    for joint in _AND.finditer(words):
        verb = joint["next"].lower()
        if verb in BASES and (verb not in NOUNS_TOO or joint["object"]):
            return words[: joint.start()]
    return words
