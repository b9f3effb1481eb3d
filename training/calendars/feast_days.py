"""Write the dates of feasts of other calendars: `python -m training.calendars.feast_days`.

The feasts of the Indian and the Chinese calendar are computed from the positions of moon and sun;
the months of the Umm al-Qura calendar, which are decreed, come from a table. It takes two minutes,
and needs an environment of its own with PyMeeus 0.5.12 and hijridate 2.6.0. It writes `TABLES`,
which `make format` then wraps.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits

from recollect.text.dates.calendar_days import Days
from training.calendars.feasts import CALENDARS
from training.calendars.lunisolar_days import FIRST_YEAR, LAST_YEAR

TABLES = Path(__file__).parent.parent.parent / "recollect/text/dates/feast_tables.py"
_LETTERS = ascii_lowercase + ascii_uppercase + digits


def _table(names: str, spans: list[Days], eve: int) -> str:
    """Return the table of a feast, as Python source."""
    steps = [other[0] - one[0] for one, other in pairwise(spans)]
    least = min(steps)
    more = "".join(_LETTERS[last - first] for first, last in spans)
    more = more[0] if len(set(more)) == 1 else more
    letters = "".join(_LETTERS[step - least] for step in steps)
    numbers = f"{eve}, {spans[0][0]}, {least}"
    return f"    Table({_literal(names)}, {numbers}, {_literal(letters)}, {_literal(more)}),"


def _literal(letters: str) -> str:
    return " ".join(f'"{letters[at : at + 80]}"' for at in range(0, len(letters), 80))


def tables() -> str:
    """Return the module with the tables, as Python source."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    rows = "\n".join(
        _table(names, [span for year in years for span in rule(year)], eve)
        for calendar, eve in CALENDARS
        for names, rule in calendar.items()
    )
    about = "The days of feasts of other calendars"
    return f'''"""{about} (written by `python -m training.calendars.feast_days`)."""

from __future__ import annotations

from typing import NamedTuple

#: The digits of the encoded numbers, from 0 on.
MORE = "{_LETTERS}"


class Table(NamedTuple):
    """The days of a feast in the years {FIRST_YEAR} to {LAST_YEAR}.

    `names`: see `holiday_names`. `eve`: offset of its eve, in days. `first`: the ordinal of its
    first day in the first year. `steps`: the days from each occurrence to the next, less `least`,
    encoded by the letters of `MORE`. `more`: the number of further days, one for each occurrence,
    or one for all.
    """

    names: str
    eve: int
    first: int
    least: int
    steps: str
    more: str


FEASTS: tuple[Table, ...] = (
{rows}
)
'''


def main() -> None:
    """Write the tables."""
    TABLES.write_text(tables(), encoding="utf-8")


if __name__ == "__main__":
    main()
