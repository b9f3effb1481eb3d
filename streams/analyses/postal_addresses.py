"""Postal addresses in a text: a street with its house number, and the lines that belong to it.

A street without a number is a place, and not somebody's address.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_CAPITAL = r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][\w'’-]{0,30}"
_TOWN = r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я](?:[^\W\d_]|['’-]){0,30}(?!\w)"
_NUMBER = r"(?:[Nn]o\.? ?)?\d{1,6}(?:[-/]\d{1,4})?[A-Za-z]?"
_SIDE = r"(?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.? )?"
_UNIT = (
    r"(?:apt|apartment|suite|ste|unit|flat|floor|fl|room|rm|building|bldg|block|door)\.?"
    r" ?#?(?!and\b|or\b)[\w-]{1,8}|# ?\d[\w-]{0,7}"
)
_STREETS = (
    "street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl|square|sq"
    "|terrace|ter|way|highway|hwy|parkway|pkwy|circle|cir|trail|trl|crescent|cres|close|row|alley"
    "|mews|gardens|grove|walk"
)
#: "221B Baker Street", "12 N. Main St.", "No. 2-51, Lane 136, Pudong Avenue".
_NUMBER_FIRST = re.compile(
    rf"(?<![\w.,:/$€£¥-])(?:(?i:{_UNIT}), ?)?(?:[Nn]o\. ?[\d-]{{1,9}}, )?"
    rf"(?:(?:Lane|Alley) \d{{1,5}},? |{_NUMBER},? {_SIDE})"
    rf"(?:(?:{_CAPITAL}|St\.|\d{{1,3}}(?:st|nd|rd|th)),? ){{1,3}}(?i:{_STREETS})\b"
    r"(?: (?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b)?"
)
#: "my address is 12 oak street": in lower case, a phrase must announce it.
_ANNOUNCED = re.compile(
    r"\b(?i:liv(?:e|es|ed|ing) (?:at|on)|address(?: is|:)?|moved? to|deliver(?:ed)? to"
    rf"|ship(?:ped)? to|located at|home is|house is|office is)(?: at)? (?P<place>{_NUMBER} "
    r"(?:\w[\w'’-]{0,30} ){1,3}(?:street|avenue|road|lane|drive|boulevard|court|place|square"
    r"|terrace|way|highway|crescent|close|grove|st|ave|rd|ln|dr|blvd))\b"
)
#: "12 Elm End, 30301", which is one only where a unit or a postcode follows.
_BLOCK = re.compile(
    rf"(?<![\w.,:/$€£¥-]){_NUMBER},? (?:{_CAPITAL} ){{0,3}}{_CAPITAL}(?: \d{{1,5}}[a-zA-Z]?)?(?!\w)"
)
#: "Hauptstraße 5", "Nygatan 12 B", "Kerkweg 88".
_STREET_ENDING = re.compile(
    r"(?<!\w)[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}(?i:stra(?:ß|ss)e|str\.|gasse|weg|allee|platz|ufer|damm|gade"
    r"|vej|vei|gata|gatan|vägen|veien|allé|straat|laan|plein|dijk|kade|singel|utca|katu|stræti)"
    r" \d{1,5}(?: ?[a-zA-Z]\b)?(?:[-/]\d{1,4})?(?!\w)"
)
#: "Kaibaan 6, 6602 JT Harskamp": any name, where a postcode and a town follow.
_BEFORE_POSTCODE = re.compile(
    rf"(?<![\w-]){_CAPITAL}(?: {_CAPITAL}){{0,3}},? \d{{1,5}}[a-zA-Z]?(?:-\d{{1,4}})?(?=,(?: |\n)"
    rf"(?!(?:19|20)\d\d(?! ?[A-Z]{{2}}\b)\b)\d{{4,5}}(?: ?[A-Z]{{2}})?,? {_CAPITAL})"
)
#: "Via Roma 12", "12 rue de la Paix", "ul. Mila 53", "Calle Mayor, 3".
_STREET_BEFORE = re.compile(
    r"(?<![\w.,:/$-])(?:(?P<number>\d{1,5}(?: ?bis)?),? )?(?:[Rr]ue|[Aa]venue|[Bb]oulevard"
    r"|[Cc]hemin|[Qq]uai|Via|Viale|Corso|Piazza|[Cc]alle|[Aa]venida|Av\.|[Pp]aseo|Plaza|[Rr]ua"
    r"|Travessa|Praça|[Uu]l\.|[Uu]lica|Aleja|Al\.|Ulitsa|Strada|Jalan|Jl\.|Carrera|Camino) "
    rf"(?:(?:d[aeiou]s?|del|della|dei|delle|la|las|los|l['’]|du|van|von|den|der) ?){{0,2}}"
    rf"{_CAPITAL}(?:[ -](?:{_CAPITAL}|d[aeiou]s?|del|la|y|e))"
    r"{0,4}(?(number)|(?:,? (?P<after>(?:n[.º°]? ?)?\d{1,5}[A-Za-z]?))?)(?!\w)"
)
#: "Longkun North Road No. 12", "Fuxing Road 77".
_NUMBER_LAST = re.compile(
    rf"(?<!\w)(?:{_CAPITAL} ){{1,4}}(?:Road|Street|Avenue|Lane|Boulevard),? (?:[Nn]o\.? ?)?"
    r"\d{1,5}(?!\w|[.:/-]\d)"
)
#: Boxes and military mail.
_BOX = re.compile(
    r"(?<!\w)(?:(?:unit|psc|cmr) \d{1,6},? box \d{1,6}|(?:p\.? ?o\.?|post office|postal) ?box"
    r" \d{1,6})(?!\w)",
    re.IGNORECASE,
)
_FORMS = (
    ("address.number_first", _NUMBER_FIRST),
    ("address.announced", _ANNOUNCED),
    ("address.number_last", _NUMBER_LAST),
    ("address.street_ending", _STREET_ENDING),
    ("address.street_before", _STREET_BEFORE),
    ("address.before_postcode", _BEFORE_POSTCODE),
    ("address.box", _BOX),
    ("address.block", _BLOCK),
)
#: Rules without a word for a street; what they match may be a date.
_WITHOUT_STREET = ("address.block", "address.before_postcode")
_JOIN = r"(?:,? ?\n ?|, ?| )"
#: What follows a street as part of the address: a unit or a postcode.
_DELIVERY = re.compile(
    rf"{_JOIN}(?:(?i:{_UNIT})(?!\w)"
    r"|\d{1,4}(?:st|nd|rd|th) [Ff]loor"
    r"|(?:[A-Z]{2}|(?:APO|FPO|DPO) [A-Z]{2}),? \d{5}(?:-\d{4})?(?!\w)"
    r"|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?!\w)|[A-Z]\d[A-Z] \d[A-Z]\d(?!\w)"
    r"|(?:[A-Z]{1,2}-)?\d{4,6}(?:-\d{3,4})?(?!\w|[.,:/ -]\d)"
    rf"(?: (?!(?:I|We|He|She|It|You|The)\b){_TOWN})?)"
)
#: A town, a district or a country, which only follows a comma or a line break.
_PLACE = re.compile(
    rf"(?:,? ?\n ?|, )(?:\d{{4,6}} )?{_TOWN}"
    rf"(?: (?:{_TOWN}|de|del|la|am|an|der|on|of|sur|upon)){{0,3}}(?!\w)"
)
_MOST_PARTS = 6
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec"
_MONTH = re.compile(rf"\b(?:{_MONTHS})(?:[a-z]{{2,6}})?\b", re.IGNORECASE)
#: Words that are capital only because they begin a sentence or name a day.
_NO_PLACE = re.compile(
    r"\W*(?:I|I['’]m|We|He|She|They|It|You|The|This|That|And|But|So|Please|Thanks|My|Our|Your|With"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May"
    r"|June|July|August|September|October|November|December|If|When|Where|What|Who|Can|Could|Is)\b"
)
#: "Bed 23, Area A", "March 5, 2025, Lake Park": the number belongs to the word before it.
_NUMBERED = re.compile(
    rf"(?:\b(?:{_MONTHS})[a-z]{{0,6}}\.? \d{{1,2}}, |\b(?!(?:At|To|In|On|Near|From|Is|By)\b)"
    r"[A-Z][a-z]+ )\Z"
)
_YEAR = re.compile(r"(?:19|20)\d\d,")
_REACH = 32


class FoundAddress(NamedTuple):
    """The place of a postal address in a text, and the rule that found it."""

    start: int
    end: int
    rule: str


def find_addresses(text: str) -> list[FoundAddress]:
    """Return the postal addresses in a text, in order and without overlap."""
    addresses: list[FoundAddress] = []
    for start, negative_end, rule in sorted(_streets(text)):
        if addresses and addresses[-1].end > start:
            continue
        end, is_delivered = _whole(text, -negative_end)
        if rule == "address.block" and not is_delivered:
            continue
        if rule not in _WITHOUT_STREET or not _MONTH.search(text, start, end):
            addresses.append(FoundAddress(start, end, rule))
    return addresses


def _streets(text: str) -> list[tuple[int, int, str]]:
    """Return (start, -end, rule) of each street with a number, and of each box."""
    streets: list[tuple[int, int, str]] = []
    for rule, form in _FORMS:
        if form is _BOX and "box" not in text.lower():
            continue
        for match in form.finditer(text):
            start, end = match.span("place" if form is _ANNOUNCED else 0)
            if form is _STREET_BEFORE and not (match["number"] or match["after"]):
                continue
            is_numbered = _NUMBERED.search(text, max(0, start - _REACH), start)
            if text[start].isdigit() and (is_numbered or _YEAR.match(text, start)):
                continue
            streets.append((start, -end, rule))
    return streets


def _whole(text: str, end: int) -> tuple[int, bool]:
    """Return the end of an address, given its street's, and whether it has a unit or postcode."""
    is_delivered = False
    if text.startswith(".", end) and text[end + 1 : end + 2] in (",", "\n"):
        end += 1
    for _ in range(_MOST_PARTS):
        further = _DELIVERY.match(text, end)
        if further is not None:
            is_delivered = True
        elif _NO_PLACE.match(text, end) is None:
            further = _PLACE.match(text, end)
        if further is None:
            break
        end = further.end()
    return end, is_delivered
