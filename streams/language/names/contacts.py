"""Contact details whose owner the text names: "my e-mail is ...", "Tom's number is ..."."""

from __future__ import annotations

import re

from recollect.streams.language.grammar.analysis import Contact
from recollect.text.addresses import EMAIL, URL
from recollect.text.lexicon import word_set
from recollect.text.tokenizer import Tokens

_PLATFORMS = (
    "discord|telegram|slack|signal|matrix|mastodon|twitter|instagram|insta|github|gitlab|skype|irc|"
    "snapchat|tiktok|reddit|linkedin|whatsapp|bluesky"
)
_KINDS = (
    rf"e-?mail|mail|phone|cell|cellphone|mobile|telephone|tel|number|website|site|blog|homepage|"
    rf"{_PLATFORMS}"
)
_THING = (
    rf"(?P<kind>{_KINDS})(?: (?:e-?mail|phone|number|address|handle|username|user ?name|account|id|"
    r"nick|nickname|tag|name|is on))*"
)
_ADJECTIVES = r"(?:(?:new|work|personal|private|current|other|home|office|main|school|direct) )*"
_OWNER = r"(?P<owner>my|our|(?:[^\W\d_][\w\-]{0,30} ){0,2}[^\W\d_][\w\-]{0,30}['’]s)"
_IS = r"(?:\s*(?:[:=]|['’]s| is| is now| address is)+\s*|\s+)"

# Each is matched at the end of a short stretch before the value, so matching takes bounded time.
_OWNED = re.compile(rf"\b{_OWNER} {_ADJECTIVES}{_THING}{_IS}[\"“'(<]?\Z", re.IGNORECASE)
_REACH = re.compile(
    r"\b(?:reach|contact|call|text|ping|write|message|dm|email|e-mail|mail|find|add|ring|get) "
    r"(?:out )?(?:to )?(?P<owner>me|us|[^\W\d_][\w\-]{0,30}(?: [^\W\d_][\w\-]{0,30})?)"
    rf"(?: back| directly| anytime)?,?(?: at| on| via| under| by| using| as)?"
    rf"(?: my| the)?(?: (?P<kind>{_KINDS}))?(?: at| as| under)?:?\s+[\"“'(<]?\Z",
    re.IGNORECASE,
)
_I_AM = re.compile(
    rf"\bi(?:['’]m| am) (?:on (?P<kind>{_PLATFORMS}) (?:as|under) )?[\"“']?\Z", re.IGNORECASE
)
_IS_OWNED = re.compile(rf"[\"”')>]?,? (?:is|['’]s) {_OWNER} {_ADJECTIVES}{_THING}\b", re.IGNORECASE)
_ON_PLATFORM = re.compile(rf"[\"”']? (?:on|over at) (?P<kind>{_PLATFORMS})\b", re.IGNORECASE)

#: "I have a new number. It is now …": the first sentence gives the kind and the owner.
_ANNOUNCES = re.compile(
    rf"\b(?:(?:i|we)(?: have|['’]ve)?(?: just)?(?: got| have| changed| switched)? (?:a|an|my|our) "
    rf"(?:new )?{_THING}|(?:my|our) (?:new |old )?{_THING.replace('P<kind>', 'P<kind_>')}"
    r"(?: has| have)?(?: just)? changed)\b",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"\W*(?:(?:it|that)(?:['’]s| is)|(?:the|my) new (?:one|number|address) is)(?: now)?:?\s+\Z",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(?<![\w.@#/-])(?:\+|00)?\(?\d[\d ().\-/]{5,18}\d(?![\w@])")
_HANDLE = re.compile(r"(?<![\w@.+-])@?[A-Za-z0-9_][\w.\-]{1,31}(?:#\d{4})?(?::[\w.\-]{3,60})?")
_DIGITS = re.compile(r"\d+")
_SIX_DIGITS = re.compile(r"[0-9](?:[^0-9]*+[0-9]){5}")
# "Reach me at this or that": both belong to the same owner.
_OR = re.compile(r"[)\"”'>]?,?(?: or| and|/)(?: (?:at|on|via|by))?[ \"“'(<]*")
_BEFORE = 90
_AFTER = 70

#: A sentence names the owner of a contact only with one of these words.
_SIGNS = re.compile(rf"\b(?:{_KINDS}|reach|contact|call|text|ping|dm)\b", re.IGNORECASE)
_PLATFORM_SIGN = re.compile(rf"\b(?:{_PLATFORMS})\b", re.IGNORECASE)
_PLATFORM_NAMES = tuple(_PLATFORMS.split("|"))
#: "Call Tom at" names Tom; in the same position, these words name nobody.
_NOBODY = word_set(
    """him her them it you your his their this that the a an back someone somebody anyone
    everyone people out in up off me us customer support and or to"""
)
_SPEAKER = frozenset({"my", "our", "me", "us"})
_NOT_A_HANDLE = word_set(
    """a an the is not on at and or still my your with for in to too as so same public
    private down up off it that this here there just only always never better best fine good
    bad dead full open closed broken working gone now great called under by via new old me
    you i username handle account name number id server channel"""
)


def find_contacts(tokens: Tokens, spans: list[tuple[int, int]]) -> list[Contact]:
    """Return the contact details with an owner in these sentences."""
    text = tokens.text
    if not _may_hold_contacts(text):
        return []
    found: list[Contact] = []
    announced: str | None = None
    for start, end in spans:
        sentence = text[start:end]
        if announced or _SIGNS.search(sentence) or "@" in sentence:
            found += _in_sentence(sentence, start, announced)
        announces = _ANNOUNCES.search(sentence)
        announced = None if announces is None else (announces["kind"] or announces["kind_"]).lower()
    return found


def _may_hold_contacts(text: str) -> bool:
    """A cheap pre-check without false negatives: most messages end here."""
    if "@" in text or "://" in text or "www." in text:
        return True
    if _SIX_DIGITS.search(text) is not None:
        return True
    lower = text.lower()
    return any(map(lower.__contains__, _PLATFORM_NAMES))


def _in_sentence(sentence: str, offset: int, announced: str | None) -> list[Contact]:
    found: list[Contact] = []
    taken: list[tuple[int, int]] = []
    places: list[tuple[int, int, str]] = []
    for pattern, kind in ((EMAIL, "email"), (URL, "url"), (_PHONE, "phone")):
        for match in pattern.finditer(sentence):
            start, end = match.span()
            if kind == "url":
                end = start + len(match.group().rstrip(".,;:!?)]}>\"'"))
            if kind == "phone" and not 6 <= len("".join(_DIGITS.findall(match.group()))) <= 15:
                continue
            if any(start < last and first < end for first, last in taken):
                continue
            taken.append((start, end))
            places.append((start, end, kind))
    previous: tuple[int, tuple[str] | None] = (0, None)
    for start, end, kind in sorted(places):
        owner = _owner(sentence, start, end, kind)
        if owner is None and _OR.fullmatch(sentence, previous[0], start):
            owner = previous[1]
        if owner is None and announced and _fits(announced, kind) and _is_it(sentence, start, end):
            owner = ("",)
        previous = (end, owner)
        if owner is not None:
            value = _normalised(sentence[start:end], kind)
            found.append(Contact(offset + start, offset + end, kind, value, owner[0] or None))
    if _PLATFORM_SIGN.search(sentence):
        _handles(sentence, offset, taken, found)
    return sorted(found, key=lambda contact: contact.start)


def _owner(sentence: str, start: int, end: int, kind: str) -> tuple[str] | None:
    """(owner,), with "" for the speaker; None if the sentence does not name an owner."""
    before = sentence[max(0, start - _BEFORE) : start]
    owned = _OWNED.search(before) or _IS_OWNED.match(sentence[end : end + _AFTER])
    if owned is not None:
        said = owned["kind"].lower()
        if not _fits(said, kind):
            return None
        return _owner_name(owned["owner"])
    reach = _REACH.search(before)
    if reach is not None:
        return _owner_name(reach["owner"])
    return None


def _is_it(sentence: str, start: int, end: int) -> bool:
    """Whether a sentence is just "It is now …"."""
    return _IT_IS.match(sentence[:start]) is not None and not sentence[end:].strip(" .,!)🎉")


def _fits(said: str, kind: str) -> bool:
    """Whether what the text calls `said` can be a value of this kind."""
    if kind == "email":
        return said in ("email", "e-mail", "mail")
    if kind == "url":
        return said in ("website", "site", "blog", "homepage", "github", "gitlab", "linkedin")
    return said in ("phone", "cell", "cellphone", "mobile", "telephone", "tel", "number",
                    "whatsapp", "signal")  # fmt: skip


def _owner_name(owner: str) -> tuple[str] | None:
    if owner.lower() in _SPEAKER:
        return ("",)
    words = [word for word in owner.split(" ") if word[0].isupper()]
    if not words or words != owner.split(" ")[-len(words) :]:
        return None
    name = " ".join(words)
    if name.lower().endswith(("'s", "’s")):
        name = name[:-2]
    return (name,) if name and name.lower() not in _NOBODY else None


def _handles(
    sentence: str, offset: int, taken: list[tuple[int, int]], found: list[Contact]
) -> None:
    """Names on a platform: "my Discord is coolgamer42", "I'm @ada on Telegram"."""
    for match in _HANDLE.finditer(sentence):
        start, end = match.span()
        value = match.group().rstrip(".-:")
        end = start + len(value)
        if value.lower() in _NOT_A_HANDLE or any(
            start < last and first < end for first, last in taken
        ):
            continue
        before = sentence[max(0, start - _BEFORE) : start]
        owned = _OWNED.search(before)
        on_platform = _ON_PLATFORM.match(sentence[end : end + _AFTER])
        if owned is not None and not before.rstrip(" \"“'(<").lower().endswith(
            (" is", ":", "'s", "’s", "=", "now")
        ):
            owned = None
        said: str | None = None
        owner: tuple[str] | None = None
        # "My Discord is down today": an ordinary word is a handle only at the end of its clause.
        ends = not value.isalpha() or not sentence[end : end + 1].isspace()
        if owned is not None and ends:
            said, owner = owned["kind"], _owner_name(owned["owner"])
        elif (i_am := _I_AM.search(before)) is not None and (i_am["kind"] or on_platform):
            said = i_am["kind"] or (on_platform["kind"] if on_platform else None)
            owner = ("",)
        elif (reach := _REACH.search(before)) is not None and (reach["kind"] or on_platform):
            said = reach["kind"] or (on_platform["kind"] if on_platform else None)
            owner = _owner_name(reach["owner"])
        # An ordinary word is a handle only with an @, a # or digits, or in this position.
        marked = not value.isalpha() or owned is not None
        if said is None or owner is None or not marked or not _PLATFORM_SIGN.fullmatch(said):
            continue
        platform = "instagram" if said.lower() == "insta" else said.lower()
        kind = f"{platform}_handle"
        found.append(
            Contact(offset + start, offset + end, kind, _normalised(value, kind), owner[0] or None)
        )


def _normalised(value: str, kind: str) -> str:
    if kind == "phone":
        if value.startswith(("+", "00")):
            value = value.replace("(0)", "")  # the trunk zero is not dialled after a country code
        digits = "".join(_DIGITS.findall(value))
        if digits.startswith("00"):
            return "+" + digits[2:]
        return ("+" if value.startswith("+") else "") + digits
    if kind == "url":
        return value
    lower = value.lower()
    # A Matrix id begins with @ and has a server; elsewhere the @ is only a mark.
    return lower if kind == "email" or ":" in lower else lower.lstrip("@")
