"""Personal data in a text: addresses, numbers of people, cards and accounts, and secrets.

Every result has its exact place, its kind and the rule that found it. Rules read forms, check
digits and the words before a number; they know no names. Linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

from recollect.streams.analyses.checksums import luhn, mod_97
from recollect.streams.analyses.identity_documents import find_documents
from recollect.streams.analyses.phone_numbers import find_phones
from recollect.streams.analyses.postal_addresses import find_addresses
from recollect.text.addresses import addresses

PersonalDataType = Literal[
    "email",
    "phone",
    "address",
    "card",
    "iban",
    "passport",
    "national_id",
    "licence",
    "ip",
    "secret",
]
TYPES: tuple[PersonalDataType, ...] = get_args(PersonalDataType)


class PersonalDatum(Struct, frozen=True):
    """Personal data in text[start:end].

    `value` is normalised: numbers without separators, e-mail addresses in lower case.
    `confidence` is 0 to 1. `rule` found it.
    """

    start: int
    end: int
    type: PersonalDataType
    value: str
    confidence: float
    rule: str


#: Country: length of its IBANs (ISO 13616, SWIFT's registry).
_IBAN_LENGTHS = {
    country: length
    for length, countries in (
        (15, "NO"),
        (16, "BE"),
        (18, "DK FI FK FO GL NL SD"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU MN XK"),
        (21, "CH HR LI LV"),
        (22, "BG BH CR DE GB GE IE ME RS VA"),
        (23, "AE GI IL IQ OM SO TL"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG YE DJ"),
        (25, "LY PT ST"),
        (26, "IS TR BI"),
        (27, "FR GR IT MC MR SM"),
        (28, "AL AZ BY CY DO GT HN HU LB NI PL SV"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    )
    for country in countries.split()
}
_DIGIT = re.compile(r"\d")
_IBAN = re.compile(
    r"(?<![\w-])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![\w])|(?<![\w-])[A-Z]{2}\d{2}"
    r"(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?",
    re.IGNORECASE,
)
_CARD = re.compile(
    r"(?<![\w.+-])(?<![-\d] )(?:\d{12,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{3})?"
    r"|\d{4}([ -])\d{6}\2\d{4,5})(?![\w]|[.-]\d)"
)
#: The beginnings of cards and the lengths that each network issues (ISO/IEC 7812).
_NETWORKS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-59]|6|8|9)\d{11,17}|35(?:2[89]|[3-8]\d)\d{12,15}|(?:2131|1800)\d{11}"
    r"|6(?:011|22|4[4-9]|5|2|0|7|3)\d{10,17}|5[0678]\d{10,17}"
)
#: Words that announce a card number; after them, the number may be of any network.
_CARD_ANNOUNCED = re.compile(r"\b(?:credit|debit|card|visa|mastercard|amex)\b[^\d\n]{0,24}\Z", re.I)
_REACH = 40
_IP_4 = re.compile(r"(?<![\w.+-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IP_6 = re.compile(
    r"(?<![\w:.])(?=[\da-f]{0,4}:[\da-f:]*:)[\da-f:]{3,39}(?:\.\d+){0,3}(?![\w:])", re.I
)
_VERSION = re.compile(r"(?:\bv|version|release|build|section|chapter|§)\s?\Z", re.IGNORECASE)


class _Secret(NamedTuple):
    """A form of secrets. Texts without any of the `signs`, in lower case, have none.

    The last group of the form, if there is one, is the secret. `likely` is 0 to 1.
    """

    rule: str
    signs: tuple[str, ...]
    form: re.Pattern[str]
    likely: float


_SECRETS = (
    _Secret(
        "secret.private_key",
        ("private key",),
        re.compile(r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
        0.99,
    ),
    _Secret(
        "secret.aws",
        ("akia", "asia"),
        re.compile(r"(?<!\w)(?:AKIA|ASIA)[0-9A-Z]{16}(?!\w)"),
        0.98,
    ),
    _Secret(
        "secret.github",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(r"(?<!\w)(?:gh[pousr]_[0-9A-Za-z]{36,255}|github_pat_\w{22,255})(?!\w)"),
        0.99,
    ),
    _Secret("secret.google", ("aiza",), re.compile(r"(?<!\w)AIza[\w-]{35}(?![\w-])"), 0.98),
    _Secret(
        "secret.slack", ("xox",), re.compile(r"(?<!\w)xox[abeoprs]-[0-9A-Za-z-]{10,255}"), 0.98
    ),
    _Secret(
        "secret.stripe",
        ("k_live_", "k_test_"),
        re.compile(r"(?<!\w)[sr]k_(?:live|test)_[0-9A-Za-z]{16,255}(?!\w)"),
        0.98,
    ),
    _Secret(
        "secret.api_key",
        ("sk-",),
        re.compile(r"(?<![\w-])sk-(?=[\w-]*\d)[\w-]{20,255}(?![\w-])"),
        0.95,
    ),
    _Secret(
        "secret.jwt",
        ("eyj",),
        re.compile(r"(?<!\w)eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,2000}(?![\w-])"),
        0.97,
    ),
    _Secret(
        "secret.url_password",
        ("://",),
        re.compile(r"(?<=://)[^\s:/@]{1,64}:([^\s:/@]{1,128})(?=@)"),
        0.9,
    ),
    _Secret(
        "secret.password",
        ("pass", "pwd"),
        re.compile(
            r"(?i:\b(?:password|passwort|passwd|passphrase|passcode|pwd)\b[\"']?"
            r"(?: (?:for|to|of) [\w .'’-]{1,30}?)?(?: is:?| are|:| =|=) ?[\"'“`]?)"
            r"(?=[^\s\"'”’`]{0,40}[\d!@#$%^&*_+=-])"
            r"([^\s\"'”’`,;]{4,64}?)(?=[.!?,;]?(?:[\"'”’`\s]|\Z))"
        ),
        0.8,
    ),
    _Secret(
        "secret.pin",
        ("pin",),
        re.compile(r"(?i:\bpin(?: code| number)?(?: is|:| =|=) ?)(\d{4,8})(?![\d,.-]\d|\w)"),
        0.8,
    ),
    _Secret(
        "secret.token",
        ("key", "token", "bearer", "secret"),
        re.compile(
            r"(?i:\b(?:api[ _-]?key|secret[ _-]?key|access[ _-]?token|auth[ _-]?token|bearer"
            r"|client[ _-]?secret)\b[\"']?(?: is:?|:| =|=| ) ?[\"'`]?)"
            r"(?=[\w+/.=-]{0,255}\d)([\w+/.=-]{16,256})"
        ),
        0.9,
    ),
)


def personal_data(text: str) -> list[PersonalDatum]:
    """Return the personal data in a text, in order and without overlap.

    Where two rules overlap, the more specific one wins.
    """
    data: list[PersonalDatum] = []
    taken: list[tuple[int, int]] = []
    for datum in _all(text):
        place = bisect_left(taken, (datum.end, 0))
        if place == 0 or taken[place - 1][1] <= datum.start:
            insort(taken, (datum.start, datum.end))
            data.append(datum)
    return sorted(data, key=lambda datum: datum.start)


def _all(text: str) -> Iterator[PersonalDatum]:
    """Yield what each rule finds, the most specific rule first; results may overlap."""
    yield from _secrets(text)
    spans = addresses(text)
    for start, end, kind in spans:
        if kind == "EMAIL":
            yield PersonalDatum(start, end, "email", text[start:end].lower(), 0.99, "email")
    # The digits in a URL name a page, not a person.
    links = [(start, end) for start, end, kind in spans if kind == "URL"]
    if _DIGIT.search(text):
        yield from (datum for datum in _numbers(text) if not _is_inside(datum, links))
    if ":" in text:
        yield from (datum for datum in _ip_6(text) if not _is_inside(datum, links))


def _is_inside(datum: PersonalDatum, spans: list[tuple[int, int]]) -> bool:
    place = bisect_left(spans, (datum.end, 0))
    return place > 0 and spans[place - 1][1] > datum.start


def _numbers(text: str) -> Iterator[PersonalDatum]:
    yield from _ibans(text)
    yield from _cards(text)
    for document in find_documents(text):
        start, end, kind, value, rule = document
        yield PersonalDatum(start, end, kind, value, 0.9, rule)
    yield from _ip_4(text)
    for start, end, rule in find_addresses(text):
        value = " ".join(text[start:end].split())
        yield PersonalDatum(start, end, "address", value, 0.7, rule)
    for start, end, value, rule, likely in find_phones(text):
        yield PersonalDatum(start, end, "phone", value, likely, rule)


def _secrets(text: str) -> Iterator[PersonalDatum]:
    small = text.lower()
    for secret in _SECRETS:
        if not any(sign in small for sign in secret.signs):
            continue
        for match in secret.form.finditer(text):
            start, end = match.span(secret.form.groups)
            yield PersonalDatum(start, end, "secret", text[start:end], secret.likely, secret.rule)


def _ibans(text: str) -> Iterator[PersonalDatum]:
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match.group()[:2].upper())
        if length is None:
            continue
        # The form may run into the word after it: only the country says how long it is.
        end, signs = match.start(), 0
        while end < match.end() and signs < length:
            signs += text[end] not in " -"
            end += 1
        code = "".join(sign for sign in text[match.start() : end] if sign not in " -").upper()
        ends = end == len(text) or not text[end].isalnum()
        if signs == length and ends and mod_97(code):
            yield PersonalDatum(match.start(), end, "iban", code, 0.99, "iban")


def _cards(text: str) -> Iterator[PersonalDatum]:
    for match in _CARD.finditer(text):
        digits = match.group().replace(" ", "").replace("-", "")
        announced = _CARD_ANNOUNCED.search(text, max(0, match.start() - _REACH), match.start())
        if luhn(digits) and len(set(digits)) > 1 and (announced or _is_of_network(digits)):
            yield PersonalDatum(match.start(), match.end(), "card", digits, 0.95, "card")


def _is_of_network(digits: str) -> bool:
    return _NETWORKS.fullmatch(digits) is not None


def _ip_4(text: str) -> Iterator[PersonalDatum]:
    for match in _IP_4.finditer(text):
        try:
            address = IPv4Address(match.group())
        except AddressValueError:
            continue
        named_version = _VERSION.search(text, max(0, match.start() - 12), match.start())
        if not named_version and not address.is_loopback and not address.is_unspecified:
            start, end = match.span()
            yield PersonalDatum(start, end, "ip", str(address), 0.9, "ip.v4")


def _ip_6(text: str) -> Iterator[PersonalDatum]:
    for match in _IP_6.finditer(text):
        try:
            address = IPv6Address(match.group())
        except AddressValueError:
            continue
        if not address.is_loopback and int(address) > 0xFFFF:
            yield PersonalDatum(match.start(), match.end(), "ip", str(address), 0.95, "ip.v6")
