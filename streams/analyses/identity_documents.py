"""Numbers of passports, licences and national identities, each by its form and its check digits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from recollect.streams.analyses import checksums

_SEPARATORS = str.maketrans("", "", " .-/()")


DocumentType = Literal["passport", "national_id", "licence"]


class Document(NamedTuple):
    """A kind of number: its form, its check, and the words that must announce it.

    The check gets the number without separators. Without `words`, form and check are enough.
    """

    type: DocumentType
    rule: str
    form: re.Pattern[str]
    check: Callable[[str], bool] = bool
    words: re.Pattern[str] | None = None


class FoundDocument(NamedTuple):
    """A number in text[start:end]; `value` is without separators, in capitals."""

    start: int
    end: int
    type: DocumentType
    value: str
    rule: str


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.+-])(?:{pattern})(?![\w-]|\.\d)", re.IGNORECASE)


def _words(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


def _national(
    country: str, form: str, check: Callable[[str], bool] = bool, words: str | None = None
) -> Document:
    announcing = None if words is None else _words(words)
    return Document("national_id", f"national_id.{country}", _form(form), check, announcing)


#: The most specific first: where two of them match, callers keep the first.
DOCUMENTS = (
    Document(
        "passport",
        "passport.machine_readable",
        re.compile(r"(?<![\w<])[A-Z0-9<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z0-9<]{14}\d{2}(?![\w<])"),
        checksums.machine_readable_passport,
    ),
    _national("cn", r"\d{17}[\dX]", checksums.cn_resident_id),
    _national("it", r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", checksums.it_tax_code),
    _national(
        "fr",
        r"[1-478] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}",
        checksums.fr_social_number,
    ),
    _national("kr", r"\d{6}-[1-8]\d{6}", checksums.kr_resident_number),
    _national("fi", r"\d{6}[-+A-FU-Y]\d{3}[\dA-Y]", checksums.fi_personal_code),
    _national("se", r"\d{6}-\d{4}", checksums.se_personal_number),
    _national("be", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}", checksums.be_national_number),
    _national("br", r"\d{3}\.\d{3}\.\d{3}-\d{2}", checksums.br_cpf),
    _national("es", r"(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]", checksums.es_dni),
    _national("sg", r"[STFG]\d{7}[A-Z]", checksums.sg_nric),
    _national(
        "gb",
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]",
    ),
    _national("in_pan", r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]"),
    _national("in_aadhaar", r"[2-9]\d{3}([ -])\d{4}\1\d{4}", checksums.verhoeff),
    _national("us", r"\d{3}([ -])\d{2}\1\d{4}", checksums.us_ssn),
    _national("us", r"\d{9}", checksums.us_ssn, r"ssn|social security|social"),
    _national("gb_nhs", r"\d{3} ?\d{3} ?\d{4}", checksums.uk_health_number, r"nhs"),
    _national("ca", r"\d{3}[ -]?\d{3}[ -]?\d{3}", checksums.luhn, r"sin|social insurance"),
    _national("nl", r"\d{9}", checksums.nl_citizen_number, r"bsn|burgerservicenummer"),
    _national("pl", r"\d{11}", checksums.pl_pesel, r"pesel"),
    _national(
        "de",
        r"\d{2} ?\d{3} ?\d{3} ?\d{3}",
        checksums.de_tax_number,
        r"steuer-?id\w*|steuernummer|tax id\w*|tax number|tin",
    ),
    _national("br", r"\d{11}", checksums.br_cpf, r"cpf"),
    _national("in_aadhaar", r"[2-9]\d{11}", checksums.verhoeff, r"aadhaa?r"),
    _national("za", r"\d{13}", checksums.za_identity_number, r"id|identity"),
    Document(
        "passport",
        "passport.announced",
        _form(r"[A-Z]{0,2}\d{6,9}[A-Z]?"),
        words=_words(r"passports?"),
    ),
    Document(
        "licence",
        "licence.announced",
        _form(r"(?=[A-Z*-]{0,8}\d)[A-Z\d](?:[- ]?[A-Z\d*]){4,19}"),
        words=_words(r"driv(?:er|ing|er['’]s|ers) licen[cs]e|licen[cs]e (?:number|no)"),
    ),
)
#: Cheap and generous: most texts have no such run of digits.
_MAY_HOLD_ONE = re.compile(r"\d(?:[\W_]{0,3}[A-Za-z]?\d){5}|\d{4}[A-Za-z](?!\w)")
#: Between the words that announce a number and the number: "number is", ": ", " no. ".
_BETWEEN = re.compile(
    r"(?:[\s:#.,'’()\"-]|\b(?:card|id|number|numbers|no|nr|num|is|was|are|it|it's|the|of|my|s)\b)"
    r"{0,24}\Z",
    re.IGNORECASE,
)
#: In characters before a number: where the words that announce it may begin.
_REACH = 48


def find_documents(text: str) -> list[FoundDocument]:
    """Return the numbers of documents in a text, in the order of `DOCUMENTS`; they may overlap."""
    if _MAY_HOLD_ONE.search(text) is None:
        return []
    documents: list[FoundDocument] = []
    for document in DOCUMENTS:
        if document.words is not None and document.words.search(text) is None:
            continue
        for match in document.form.finditer(text):
            start, end = match.span()
            if document.words is None or _is_announced(text, start, document.words):
                value = match.group().translate(_SEPARATORS)
                if document.check(value):
                    documents.append(
                        FoundDocument(start, end, document.type, value.upper(), document.rule)
                    )
    return documents


def _is_announced(text: str, start: int, words: re.Pattern[str]) -> bool:
    """Whether the words stand just before a number."""
    before = text[max(0, start - _REACH) : start]
    announcing = [match.end() for match in words.finditer(before)]
    return bool(announcing) and _BETWEEN.match(before, announcing[-1]) is not None
