"""Telephone numbers in a text, by their form and by the words before them.

A number without a country is a telephone number if its groups are those of one ("020 7946 0018"),
or if words announce it. Dates, amounts, times, ranges and order numbers are not telephone numbers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.text.lexicon import word_set

# ITU-T E.164: country codes by their length. Every other beginning belongs to no country.
_ONE_DIGIT = frozenset("17")
_TWO_DIGITS = word_set(
    """20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64
    65 66 81 82 84 86 90 91 92 93 94 95 98"""
)
_THREE_DIGITS = word_set(
    """211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237
    238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261
    262 263 264 265 266 267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359
    370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501 502
    503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676
    677 678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870
    878 880 881 882 883 886 888 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976
    977 979 992 993 994 995 996 998"""
)

#: A run of digits, with at most two separators between two of them, and an extension.
_RUN = re.compile(
    r"(?<![\w@/.+#$€£¥₹%=-])(?<!\d[ ,:])(?P<number>(?:\+|\(\+?)?\d(?:[ ().\-/\u00a0]{0,3}\d){5,19})"
    r"(?P<extension> ?(?:x|ext\.?|extension|#) ?\d{1,6})?(?![\w%€$£¥]|[.,:/]\d|-\d)",
    re.IGNORECASE,
)
#: The groups of numbers that are dialled within a country.
_GROUPED = re.compile(
    r"(?:1[ .-]?)?\(\d{2,5}\)[ -]?\d{2,4}(?:[ .-]?\d{2,4}){1,3}"
    r"|(?:1[ .-]?)?\d{3}(?P<same>[ .-])\d{3}(?P=same)\d{4}"
    r"|\d{3}[.-]\d{3}[ .-]\d{4}|\d{3} \d{3} \d{3,4}"
    r"|0[1-9]\d{7,9}|0\d{1,4}[ /-]\d{3,8}|0\d{1,4}[ /-]\d{2,4}(?:[ -]\d{2,4}){1,3}"
    r"|1[3-9]\d{9}|1[3-9]\d[ -]\d{4}[ -]\d{4}|[4-8]00-\d{3}-\d{4}|[4-8]00-\d{4}-\d{3}"
)
_ANNOUNCES = re.compile(
    r"\b(?:phones?|telephones?|tel|cell|cellphones?|mobiles?|fax|hotline|helpline|landline|whatsapp"
    r"|call(?:ed|ing)?|dial(?:l?ing|l?ed)?|ring|sms|text (?:me|him|her|us|them)|reach|reached"
    r"|desk|answer(?:ing|s)?|messages? to|contact|(?:my|his|her|their|our|your) number"
    r"|number to call|voicemail|phone number|direct line|extension|viber|signal)\b"
    r"|[☎📞📱]",
    re.IGNORECASE,
)
#: Between the words that announce a number and the number.
_BETWEEN = re.compile(
    r"(?:[\s:#.,'’()\"*\\-]|\b(?:me|him|her|us|them|you|on|at|is|was|are|the|my|his|our|your|their"
    r"|number|no|nr|num|line|phone|cell|mobile|office|home|work|direct|by|via|or|and|please|it|back"
    r"|toll free|now|anytime|again|for|new|this)\b){0,16}\Z",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"[ ,]{0,3}[\[(-]?[ ]?(?:office|fax|mobile|cell|home|work|phone|tel)\b", re.I)
_NO_PHONE = re.compile(
    r"\b(?:order|orders|invoice|tracking|ticket|booking|reference|ref|account|acct|card|policy|id"
    r"|isbn|issn|serial|code|codes|zip|postcode|version|waybill|parcel|shipment|flight|train|room"
    r"|case|contract|pin|password|part|model|item|sku|batch|plate|license|licence|ssn|iban)\b"
    r"[^\d\n]{0,20}\Z|[#№] ?\Z|(?:usd|eur|gbp|rmb|cny|yuan|[$€£¥₹]) ?\Z",
    re.IGNORECASE,
)
_UNIT_FOLLOWS = re.compile(
    r" ?(?:yuan|rmb|dollars?|euros?|pounds?|usd|eur|gbp|people|users|views|steps|calories|kcal|km"
    r"|kg|miles|meters|metres|words|times|years|months|million|billion)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:1[89]|2[01])\d\d([-/. ])\d{1,2}\1\d{1,2}(?!\d)"
    r"|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d\d)(?![-/.]?\d)"
    r"|(?:1[89]|2[01])\d{2} ?[-/] ?(?:1[89]|2[01])?\d\d(?:\D|\Z)|(?:19|20)\d{6}(?:\d{4}|\d{6})?\Z"
)
_DIGITS = re.compile(r"\d+")
_REACH = 40
#: Digits of a number within a country, and with its country (ITU-T E.164).
_SHORTEST, _LONGEST = 7, 15


class FoundPhone(NamedTuple):
    """A telephone number in text[start:end]; `value` is its digits, and a + before them.

    `confidence` is 0 to 1.
    """

    start: int
    end: int
    value: str
    rule: str
    confidence: float


def find_phones(text: str) -> list[FoundPhone]:
    """Return the telephone numbers in a text, in order."""
    phones: list[FoundPhone] = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        number = match["number"]
        if number.startswith("(") and ")" not in number:
            start, number = start + 1, number[1:]
        judged = _judged(text, start, end, number)
        if judged is not None:
            rule, confidence = judged
            value = "".join(_DIGITS.findall(number))
            sign = "+" if "+" in number else ""
            phones.append(FoundPhone(start, end, sign + value, rule, confidence))
    return phones


def _judged(text: str, start: int, end: int, number: str) -> tuple[str, float] | None:
    """Return the rule by which a run of digits is a telephone number, and how likely it is."""
    digits = "".join(_DIGITS.findall(number))
    if not _SHORTEST <= len(digits) <= _LONGEST + 2 or len(set(digits)) < 3:
        return None
    if "+" in number:
        return ("phone.international", 0.95) if has_country(digits) else None
    before = text[max(0, start - _REACH) : start]
    if _DATE.match(number) or _UNIT_FOLLOWS.match(text, end):
        return None
    if _is_announced(before) or _FOLLOWS.match(text, end):
        return "phone.announced", 0.9
    if _NO_PHONE.search(before):
        return None
    exit_code = re.match(r"00|011", digits)
    if exit_code and len(digits) > 9 and has_country(digits[exit_code.end() :]):
        return "phone.exit_code", 0.8
    if _GROUPED.fullmatch(number):
        return "phone.grouped", 0.7
    return None


def _is_announced(before: str) -> bool:
    announcing = [match.end() for match in _ANNOUNCES.finditer(before)]
    return bool(announcing) and _BETWEEN.match(before, announcing[-1]) is not None


def has_country(digits: str) -> bool:
    """Return whether digits begin with a country code, and have the length of a whole number."""
    if not _SHORTEST <= len(digits) <= _LONGEST:
        return False
    return digits[0] in _ONE_DIGIT or digits[:2] in _TWO_DIGITS or digits[:3] in _THREE_DIGITS
