"""Names of months, and their abbreviations, in English and other languages of Europe."""

from __future__ import annotations

import unicodedata

# The beginnings of the names, without accents.
_MONTHS = tuple(
    tuple(names.split())
    for names in (
        "jan ene gen sty янв led oca",
        "feb fev lut фев uno sub",
        "mar maa мар bre",
        "apr avr abr kwi апр dub nis",
        "may mai mag mei maj мая kve",
        "jun juin giu cze июн cerven haz",
        "jul juil lug lip июл cervenec tem",
        "aug aou ago sie авг srp agu",
        "sep set wrz сен zar eyl",
        "oct okt out ott paz окт rij eki",
        "nov lis ноя kas",
        "dec dez dic gru дек pro ara",
    )
)


def month_number(name: str) -> int | None:
    """Return the number of a month by the longest abbreviation that its name begins with."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    folded = "".join(char for char in folded if not unicodedata.combining(char))
    fitting = [
        (len(beginning), number)
        for number, beginnings in enumerate(_MONTHS, 1)
        for beginning in beginnings
        if folded.startswith(beginning)
    ]
    return max(fitting)[1] if fitting else None
