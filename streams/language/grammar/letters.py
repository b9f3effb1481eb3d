"""Letters in a message: from a salutation on a line of its own to the signature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: "Dear Ms Kohl,", "Hi Tom", "Good morning all!"
_SALUTATION = re.compile(
    r"[ \t\r]*(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|greetings|"
    r"to whom it may concern)(?P<to>(?:[ ,]+[\w.'’\-\[\]]+){0,6})[ \t\r]*[,:!.…]*[ \t\r]*",
    re.IGNORECASE,
)
#: "Best regards,", "Thanks, Tom": the name follows, or is on the next line.
_SIGN_OFF = re.compile(
    r"[ \t\r]*(?:(?:with )?(?:(?:kind|kindest|best|warm|warmest|many|my|all the) )*"
    r"(?:regards|wishes|cheers|thanks|thank you|sincerely|yours|sincerely yours|"
    r"yours (?:sincerely|truly|faithfully)|respectfully|warmly|best|love|take care))"
    r"(?: again| so much| in advance)?"
    r"[ \t\r]*[,.!–-]*[ \t\r]*(?P<name>[^\n]{0,60})",
    re.IGNORECASE,
)
_NAME = re.compile(r"[ \t\r]*(?:[A-Z\[][\w.'’\-\]]*[ \t\r,]*){1,5}")
_WORD = re.compile(r"\w+")
#: The minimum number of characters between salutation and sign-off, and the maximum number of
#: salutations examined.
_SHORTEST, _MOST = 40, 20


class Letter(NamedTuple):
    """A letter, text[start:end], which begins with its salutation.

    The names of its addressee and of its signatory are given by their words, in lower case.
    """

    start: int
    end: int
    to: tuple[str, ...]
    signed: tuple[str, ...]


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without initials."""
    return tuple(word for word in _WORD.findall(name.lower()) if len(word) > 1)


def find_letters(text: str, lines: Sequence[tuple[int, int]]) -> list[Letter]:
    """Return the letters of a text that have a salutation, a sign-off and a name under it.

    `lines` are the non-empty lines of the text.
    """
    found: list[Letter] = []
    # the positions of salutations, and the addressees
    begun: tuple[int, tuple[str, ...]] | None = None
    for place, (start, end) in enumerate(lines):
        greets = _SALUTATION.fullmatch(text, start, end)
        if greets is not None:
            begun = begun or (start, words_of(greets["to"]))
            continue
        closes = _SIGN_OFF.fullmatch(text, start, end) if begun is not None else None
        if begun is None or closes is None or start - begun[0] < _SHORTEST:
            continue
        name = closes["name"].strip()
        if not name and place + 1 < len(lines):
            end = lines[place + 1][1]
            name = text[lines[place + 1][0] : end].strip()
        if not _NAME.fullmatch(name):
            continue
        found.append(Letter(begun[0], end, begun[1], words_of(name)))
        begun = None
        if len(found) == _MOST:
            break
    return found
