"""Find quotations in a message whatever form their characters have.

Models write quotation marks, dashes, accents, full-width letters, invisible characters and white
space in other forms than people do.
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = "\u2018\u2019\u201a\u201b\u0060\u00b4\u2032\u02bc\uff07"
_QUOTATION_MARKS = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FORMS = str.maketrans(
    {
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_QUOTATION_MARKS, '"'),
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_INVISIBLE),
        "\u2026": "...",
    }
)
_EDGES = re.compile(r"^\W+|\W+$")


def plain_form(text: str) -> str:
    """Return a text with composed accents, and one form of each mark."""
    return unicodedata.normalize("NFC", text.translate(_FORMS))


def quoted_span(text: str, quotation: str) -> tuple[int, int] | None:
    """Return the span of a quotation in a text, or None.

    Accents, case and punctuation at the quotation's ends are ignored.
    """
    words = _EDGES.sub(
        "", "".join(form for character in quotation for form in _forms(character))
    ).split()
    if not words:
        return None
    letters, places = [], []
    for place, character in enumerate(text):
        for form in _forms(character):
            letters.append(form)
            places.append(place)
    match = re.search(r"\s+".join(map(re.escape, words)), "".join(letters))
    if match is None or match.start() == match.end():
        return None
    end = places[match.end() - 1] + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return places[match.start()], end


def _forms(character: str) -> str:
    """Return the plain characters of a character: none for an accent, several for a ligature."""
    plain = unicodedata.normalize("NFKD", character.translate(_FORMS)).translate(_FORMS)
    return "".join(each for each in plain if not unicodedata.combining(each)).casefold()
