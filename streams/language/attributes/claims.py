"""Plain statements of people's attributes: home, employer, role, partner, birthday, contacts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.schemas.names import normalise_name
from recollect.streams.language.grammar.analysis import Claim, Contact, Mention, MentionType
from recollect.text.dates.found_dates import DateReference
from recollect.text.lexicon import HONORIFICS, OCCUPATIONS, PARTNERS, RELATIONS, word_set
from recollect.text.relatives import MINE

#: A sentence without one of these words, or without a name, makes no claim.
TRIGGERS = PARTNERS | word_set(
    """live lives living move moves moved moving relocated reside resides based home work works
    working employed employer started job joined role title promoted appointed position married
    birthday birthday's birthday’s bday b-day born am is i'm i’m"""
)
#: Subjects that name no third person.
_NOBODY = word_set("i i'm i’m it this that they we you he she who there here what")
#: "I work as part of a team", "as a result".
_NO_ROLES = word_set("team part group couple result whole rule usual well")
#: Whatever makes a claim uncertain: doubt, denial, the past, wishes, reports.
_DOUBT = re.compile(
    r"\b(?:not|never|no longer|anymore|any more|used to|if|would|might|wish|"
    r"(?<!in )(?<!\d )may|maybe|perhaps|almost|nearly|ex|former|formerly|until|wanted|hoping|"
    r"hope|dream|thinking|considering|"
    r"pretend|temporarily|(?:were|was)(?! (?:just |recently )?(?:promoted|appointed)\b)|when|"
    r"while|before|back when|joking|kidding|imagine|like|said)\b|n['’]t\b",
)
#: Words that may precede the subject without changing the meaning.
_LEAD = (
    r"(?:(?:hey|hi|hello|so|and|but|well|oh|yes|yeah|btw|by the way|actually|correction|update|"
    r"also|now|recently|today|yesterday|fyi|ps|honestly|anyway|good news|big news|"
    r"last (?:week|month|year|weekend|night|summer|fall|autumn|winter|spring))"
    r"(?:[ ,:!]+(?:everyone|all|guys|team))?[ ,:!–—-]+){0,3}"
)
_ADVERBS = (
    r"(?:(?:just|recently|finally|now|currently|officially|have|has|also|still|actually|already|"
    r"permanently|since|will|be) )*"
)
_NAME = r"[^\W\d_a-zà-öø-ÿ][\w'’\-]*(?: [^\W\d_a-zà-öø-ÿ][\w'’\-]*){0,2}"
_I = r"(?:i(?:['’]ve|['’]m|['’]ll| am)?|we(?:['’]ve|['’]re|['’]ll| are)?)"
#: "My older sister", before a name.
KIN = rf"{MINE} "
#: Which one of the name: "Ana from the book club", "Tom in accounting".
_OF_WHICH = r" (?:from|in|at|of) (?:(?:the|my|our|his|her) )?[a-z][\w-]*(?: [a-z][\w-]*)?"
#: The beginning of a clause: "Well, I've just", "Actually, my sister Ana has recently".
WHO = (
    rf"\A(?i:{_LEAD})(?:(?i:{_I})|(?:{KIN})?(?P<who>{_NAME})(?:{_OF_WHICH})?)"
    rf"(?i:['’]s)? (?i:{_ADVERBS})"
)

_FROM = r"(?:from [\w'’. -]{2,40}? )?"
_HOME = re.compile(
    rf"{WHO}(?i:(?:live|lives|living|reside|resides) in(?: an? (?:\w+ ){{1,3}}in)?|"
    rf"moved (?:house,? )?(?:back |over |up |down |out )?{_FROM}to|"
    rf"relocated {_FROM}to|based (?:in|out of)|"
    r"have moved to|living in) (?:the )?"
)
_MOVING = re.compile(
    rf"{WHO}(?i:(?:is |are )?(?:going to move|moving|move|moves) (?:house,? )?"
    rf"(?:back |over |up |down |out )?{_FROM}to) (?:the )?"
)
_HOME_IS = re.compile(r"\A(?i:my home is(?: now)?(?: in)?) ")
_EMPLOYER = re.compile(
    rf"{WHO}(?i:(?:work|works|working) (?:at|for)|(?:just )?started (?:working |a new job |my new "
    r"job )?at|got a (?:new )?job at|started working for|employed (?:at|by)) (?:the )?"
)
_FURTHER = re.compile(r" (?:and|or) (?:the )?(?P<word>\w[\w'’]*)", re.IGNORECASE)
_JOINED = re.compile(rf"{WHO}(?i:joined) ")
_EMPLOYER_IS = re.compile(r"\A(?i:my (?:new |current )?employer is(?: now)?) ")
_ROLE = re.compile(
    rf"{WHO}(?i:(?:work|works|working) as|(?:(?:was|were|got|been) (?:just |recently )?)?"
    r"(?:promoted to|appointed(?: as)?)|got a job as) (?:an? |the )?"
    r"(?P<value>[^\W\d_][\w\- ]{1,50})"
)
_ROLE_IS = re.compile(
    r"\A(?i:my (?:new |current )?(?:role|job title|title|position|job) is(?: now)?) (?:an? |the )?"
    r"(?P<value>[^\W\d_][\w\- ]{1,50})",
    re.IGNORECASE,
)
_A_JOB = re.compile(
    rf"\A(?:(?i:{_LEAD}i(?:['’]m| am))|(?P<who>{_NAME})(?: is|['’]s)) (?i:{_ADVERBS})"
    r"(?:an? )(?P<value>[^\W\d_][\w\- ]{1,50})"
)
_PARTNER = re.compile(
    rf"\A(?i:my (?:{'|'.join(sorted(PARTNERS))})(?:['’]s name is| is called| is named| is)) "
)
_MARRIED = re.compile(rf"{WHO}(?i:married to|got married to|married) ")
_BIRTHDAY = re.compile(
    r"\A(?P<who>.{1,60}?) (?i:(?:birthday|bday|b-day)(?: is|['’]s|:)?)"
    r"(?: on)? ?(?:the )?"
)
_BORN = re.compile(
    rf"\A(?:(?i:{_LEAD}i was)|(?P<who>{_NAME}) was) born (?:on |in [\w ]{{1,30}}? on )(?:the )?"
)

_ROLE_END = re.compile(
    r"\s(?:at|in|for|with|and|from|who|on|since|by|to|but|here|now|there|based|working|living|or|so|"
    r"because|this|last|next|again)\b.*\Z",
    re.IGNORECASE | re.DOTALL,
)


def find_claim(
    sentence: str,
    offset: int,
    speaker: str | None,
    mentions: list[Mention],
    dates: list[DateReference],
    contacts: list[Contact],
) -> Claim | None:
    """Return the one plain claim of a sentence that begins at `offset` of the message."""
    for contact in contacts:
        subject = contact.owner or speaker
        if contact.kind in ("email", "phone") and subject and not _is_doubtful(sentence):
            return Claim(subject, contact.kind, contact.value)
    if len(sentence) > 300:
        return None
    if birthday := _birthday(sentence, offset, speaker, dates):
        return birthday
    claim = _named(sentence, offset, speaker, mentions) or _role(sentence, speaker)
    return None if claim is None or _is_doubtful(sentence) else claim


def _is_doubtful(sentence: str) -> bool:
    return _DOUBT.search(sentence.lower()) is not None


def subject_of(
    match: re.Match[str], speaker: str | None, mentions: Sequence[Mention]
) -> str | None:
    """Return the subject of a clause that `WHO` matched: the speaker, or a name, not of a place."""
    groups = match.groupdict()
    who = groups.get("who")
    if who is None:
        return speaker
    name = who.removesuffix("'s").removesuffix("’s")
    if name.lower() in ("i", "i'm", "i’m", "i've", "i’ve", "we", "we're", "we’re", "we've"):
        return speaker
    known = next((mention for mention in mentions if mention.text == name), None)
    if known is not None and known.type in ("PERSON", "OTHER"):
        return name
    return None


def _mention_at(mentions: list[Mention], place: int) -> Mention | None:
    return next((mention for mention in mentions if mention.start == place), None)


#: What the name just after a pattern gives, and its types.
_NAMED: Sequence[tuple[str, re.Pattern[str], Sequence[MentionType]]] = (
    ("home", _HOME, ("LOCATION", "OTHER")),
    ("home", _MOVING, ("LOCATION",)),
    ("home", _HOME_IS, ("LOCATION",)),
    ("employer", _EMPLOYER, ("ORG", "OTHER", "PRODUCT", "TECHNOLOGY")),
    ("employer", _EMPLOYER_IS, ("ORG", "OTHER", "PRODUCT", "TECHNOLOGY")),
    ("employer", _JOINED, ("ORG",)),
    ("partner", _PARTNER, ("PERSON", "OTHER")),
    ("partner", _MARRIED, ("PERSON", "OTHER")),
)


def _named(
    sentence: str, offset: int, speaker: str | None, mentions: list[Mention]
) -> Claim | None:
    """Return the claim of a sentence whose value is a name."""
    if not mentions:
        return None
    for attribute, pattern, types in _NAMED:
        match = pattern.match(sentence)
        if match is None:
            continue
        mention = _mention_at(mentions, offset + match.end())
        subject = subject_of(match, speaker, mentions)
        if mention is None or subject is None or mention.type not in types:
            continue
        # "Tom's place", "room 101" and one of several places are not a home.
        if _is_of_another(sentence, offset, mention.end, mentions):
            continue
        if attribute == "home" and mention.text[-1].isdigit():
            continue
        if mention.text.split()[0].lower() in ("facebook", "instagram") and pattern is _JOINED:
            continue
        return Claim(subject, attribute, mention.text)
    return None


def _is_of_another(sentence: str, offset: int, end: int, mentions: list[Mention]) -> bool:
    """Whether the phrase up to a position is a possessive, or one item of an enumeration.

    "I live in Turin and work as a nurse" names one place.
    """
    if sentence.startswith(("'s", "’s", "/"), end - offset):
        return True
    further = _FURTHER.match(sentence, end - offset)
    if further is None:
        return False
    word, place = further["word"], offset + further.start("word")
    return (word[0].isupper() and word != "I") or _mention_at(mentions, place) is not None


def _role(sentence: str, speaker: str | None) -> Claim | None:
    for pattern in (_ROLE, _ROLE_IS, _A_JOB):
        match = pattern.match(sentence)
        if match is None:
            continue
        value = _ROLE_END.sub("", match["value"]).strip(" -").lower()
        words = value.split()
        beside = "also" in sentence[: match.start("value")].lower().split()
        known = pattern is _ROLE or (words[-1:] and words[-1] in OCCUPATIONS)
        if beside or not known or not 1 <= len(words) <= 4 or words[-1] in _NO_ROLES:
            continue
        subject = match.groupdict().get("who") or speaker
        if subject is not None and subject.lower() not in _NOBODY:
            return Claim(subject, "role", value)
    return None


def day_of_birth(date: DateReference) -> str:
    """Return a day of birth as an ISO date, or as --MM-DD if the year is not given."""
    says_year = any(len(part) == 4 and part.isdecimal() for part in re.split(r"[-./, ]", date.text))
    return date.first if says_year else "-" + date.first[4:]


def _birthday(
    sentence: str, offset: int, speaker: str | None, dates: list[DateReference]
) -> Claim | None:
    """A birthday as --MM-DD, or as a full date if the year is given."""
    if not dates:
        return None
    match = _BIRTHDAY.match(sentence) or _BORN.match(sentence)
    if match is None:
        return None
    date = next((item for item in dates if abs(item.start - offset - match.end()) <= 1), None)
    # "My birthday is next week" gives no day; "is tomorrow" gives one without naming a month.
    if date is None or date.first != date.last:
        return None
    owner = (match["who"] or "").lower()
    if owner.endswith(("'s", "’s", "s'", "s’")):
        name = re.sub(r"['’]s?\Z", "", match["who"]).split()[-1]
        # "Mom" is a different person in each speaker's messages.
        if not name[0].isupper() or name.lower() in RELATIONS | HONORIFICS:
            return None
        subject: str | None = name
    elif match.re is _BORN:
        subject = match["who"] or speaker
    elif owner.split()[-1:] == ["my"]:
        subject = speaker
    else:
        return None
    if subject is None or not normalise_name(subject):
        return None
    return Claim(subject, "birthday", day_of_birth(date))
