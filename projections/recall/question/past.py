"""Whether a question asks for what was true before: then no newer value takes the place of it."""

from __future__ import annotations

import re

from projections.recall.question.parsed_question import ParsedQuestion

_PAST = re.compile(
    r"\b(?:previous(?:ly)?|before|used to|formerly|originally|initially|at first|earlier|"
    r"back then|in the past|until|prior|history|ago|once|no longer|instead of|chang(?:e|ed|es))\b",
    re.IGNORECASE,
)


def asks_for_past(question: ParsedQuestion) -> bool:
    """Return whether a question names a time, or asks for what something was before."""
    return bool(question.spans) or _PAST.search(question.text) is not None
