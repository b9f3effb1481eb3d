"""Detect questions about the first or the last of several occasions: "When did I last …?".

English only.
"""

from __future__ import annotations

import re
from typing import Literal

Order = Literal["first", "last"]

_AUXILIARY = r"(?:did|do|does|have|has|had|was|were)"
# "Where did Ann go last week" names a time, and "the first of May" a day.
_NOT_A_TIME = (
    r"(?!\s+(?:of|days?|weeks?|weekends?|months?|years?|nights?|half|spring|summer|autumn|fall|"
    r"winter|\w+day|january|february|march|april|may|june|july|august|september|october|november|"
    r"december)\b)"
)
_WORDS: dict[Order, str] = {
    "first": r"(?:the\s+)?first\s+time|earliest",
    "last": r"(?:the\s+)?last\s+time|most\s+recent(?:ly)?|latest",
}
_ORDERS = {
    order: re.compile(
        rf"\b(?:{words}|{_AUXILIARY}\s+(?:[\w'’-]+\s+){{1,4}}?{order}\b{_NOT_A_TIME})",
        re.IGNORECASE,
    )
    for order, words in _WORDS.items()
}


def asked_order(text: str) -> Order | None:
    """Return whether a question asks for the first or the last occasion; None for any."""
    return next((order for order, pattern in _ORDERS.items() if pattern.search(text)), None)
