"""Detect questions about former values, which newer values must not replace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.projections.recall.question.times.time_spans import Span

_PAST = re.compile(
    r"\b(?:previous(?:ly)?|before|used to|formerly|originally|initially|at first|earlier|"
    r"back then|in the past|until|prior|history|ago|once|no longer|instead of|chang(?:e|ed|es))\b",
    re.IGNORECASE,
)


def asks_for_past(text: str) -> bool:
    """Return whether a question asks for a former value."""
    return _PAST.search(text) is not None


def is_about_earlier_value(spans: Sequence[Span], stated_at: int, replaced_at: int) -> bool:
    """Return whether a question refers to a time at which an older value was valid (unix ms)."""
    return any(stated_at <= last < replaced_at for _, last in spans)
