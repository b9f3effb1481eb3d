"""The type of answer that a question expects: a time, a number or a list. English only.

A question that counts or lists occasions needs all of them: "how often", "list all", "each Friday".
"""

from __future__ import annotations

import re
from typing import Literal

AnswerType = Literal["time", "number"]

_TIME = r"(?:in |on |at |since )?(?:what|which)\s+(?:day|date|week|month|year|time)"
_PATTERNS: dict[AnswerType, re.Pattern[str]] = {
    "time": re.compile(rf"\s*(?:and\s+)?(?:when|how\s+long\s+ago|{_TIME})\b", re.IGNORECASE),
    "number": re.compile(r"\s*(?:and\s+)?how\s+(?:many|much|old|often|long|far)\b", re.IGNORECASE),
}
_DETAIL = re.compile(
    r"\s*(?:and\s+)?(?:(?:from|to|with|by|for|of|in|at)\s+)?(?:who|whom|whose|where)\b",
    re.IGNORECASE,
)
# As in "Which cities has she visited?"
_VERB = r"(?:has|have|had|does|do|did|is|are|was|were|can|could|will|would|might|may|should)\b"
_PLURAL = rf"(?!{_VERB})[\w'-]*[^\W_us']s"
_LIST = re.compile(
    rf"\s*(?:and\s+)?(?:(?:what|which)\s+(?:are|were)\b"
    rf"|(?:(?:in|on|at|to|from|with)\s+)?(?:what|which|how\s+many)\s+"
    rf"(?:(?!{_VERB})[\w'-]+\s+){{0,3}}?{_PLURAL}\s+(?:{_VERB}|\w+ed\b))",
    re.IGNORECASE,
)

_ALL = re.compile(
    r"\bhow\s+(?:many|often|frequently)\b"
    r"|\b(?:list|all|each|every|usually|typically|regularly|altogether|in\s+total)\b"
    r"|\bmost\s+(?:often|frequently|common(?:ly)?)\b",
    re.IGNORECASE,
)


def expected_answer_type(text: str) -> AnswerType | None:
    """Return the type of answer that a question expects; None if its wording does not show it."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.match(text)), None)


def asks_for_detail(text: str) -> bool:
    """Return whether a question asks for a person, a place, a time or a number."""
    return _DETAIL.match(text) is not None or expected_answer_type(text) is not None


def asks_for_all(text: str) -> bool:
    """Return whether a question needs every answer: it asks for a count or a list."""
    return _ALL.search(text) is not None or asks_for_list(text)


def asks_for_list(text: str) -> bool:
    """Return whether a question asks for a list: "What are ...", "Which cities has ..."."""
    return _LIST.match(text) is not None
