"""Days in brackets, without the year if the days before have the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
#: Days with a single year: (7 May 2023), (said May 2023), (26 Jun to 2 Jul 2023), (2022); or other
#: words in brackets with a year: (30 Dec 2023 to 2 Jan 2024), (the class of 2020).
_YEAR_IN_BRACKETS = re.compile(
    rf"\((?P<days>(?:said )?(?:(?:\d{{1,2}} (?:{_MONTH} )?to )?(?:\d{{1,2}} )?{_MONTH} )?)"
    r"(?P<year>\d{4})\)|\([^()]*\b\d{4}\b[^()]*\)"
)


def without_repeated_years(texts: Iterable[str]) -> list[str]:
    """Return texts that are read one after the other, with a year only where it changes.

    >>> without_repeated_years(["swam (7 May 2023)", "ran (8 May 2023)", "rested (Jan 2024)"])
    ['swam (7 May 2023)', 'ran (8 May)', 'rested (Jan 2024)']
    """
    year = ""

    def write(found: re.Match[str]) -> str:
        nonlocal year
        before, year = year, found["year"] or ""
        if not year:
            return found[0]
        days = found["days"].rstrip()
        is_alone = days in ("", "said")
        return found[0] if is_alone or year != before else f"({days})"

    return [_YEAR_IN_BRACKETS.sub(write, text) for text in texts]
