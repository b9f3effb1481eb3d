"""Detect questions about former values, which newer values must not replace, and about the past."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.projections.recall.question.times.time_spans import Span

_PAST = re.compile(
    r"\b(?:previous(?:ly)?|before|used to|formerly|originally|initially|at first|earlier|"
    r"back then|in the past|until|prior|history|ago|once|no longer|instead of|chang(?:e|ed|es))\b",
    re.IGNORECASE,
)

_PREPOSITION = r"(?:(?:about|at|for|from|in|on|to|with)\s+)?"
#: "May" is a month.
_ASKS_WHAT_WAS = re.compile(
    rf"\s*{_PREPOSITION}(?:did|was|were|had|how|what|when|where|which|who|whom|whose|why)\b"
    r"(?!.*\b(?:am|are|can|could|do|does|is|(?-i:may)|might|must|shall|should|will|would)\b)",
    re.IGNORECASE | re.DOTALL,
)


def asks_what_was(text: str) -> bool:
    """Return whether a text is a question about the past, and neither of advice nor of a state."""
    return _ASKS_WHAT_WAS.match(text) is not None


def asks_for_past(text: str) -> bool:
    """Return whether a question asks for a former value."""
    return _PAST.search(text) is not None


def is_about_earlier_value(spans: Sequence[Span], stated_at: int, replaced_at: int) -> bool:
    """Return whether a question refers to a time at which an older value was valid (unix ms)."""
    return any(stated_at <= last < replaced_at for _, last in spans)
