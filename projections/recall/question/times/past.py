"""Whether a question asks for what held before: then no newer value takes the place of it."""

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
    """Return whether a question asks for what something was before."""
    return _PAST.search(text) is not None


def was_then(spans: Sequence[Span], said_at: int, replaced_at: int) -> bool:
    """Return whether a question speaks of a time (unix ms) when an older value held."""
    return any(said_at <= last < replaced_at for _, last in spans)
