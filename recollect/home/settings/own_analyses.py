"""A user's own types of analyses, as home.json defines them: checked before anything uses them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from recollect.schemas.errors import HomeError
from recollect.schemas.events import OwnAnalysis

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_VERSION = re.compile(r"[0-9A-Za-z.]{1,16}")
#: Names of built-in types, and of types whose runs other agents write.
_TAKEN = frozenset(
    {
        "summary",
        "conversation",
        "pii",
        "entities",
        "topics",
        "observation",
        "model_summary",
        "model_conversation",
    }
)
_LONGEST_PATTERN = 1_000
_LONGEST_PROMPT = 20_000
#: A repetition without a limit inside another: it may take for ever on some texts.
_NESTED = re.compile(r"[*+}]\)(?:[*+]|\{\d+,\})")


def check_own_analyses(own: Sequence[OwnAnalysis], path: Path) -> None:
    """Check the types of analyses in home.json.

    Raises:
        HomeError: one of them cannot be used; the message says which, and why.
    """
    names: set[str] = set()
    for place, analysis in enumerate(own, start=1):
        where = f"{path}: analysis {place} ({analysis.name[:60]!r})"
        if problem := _problem(analysis, names):
            raise HomeError(f"{where} {problem}")
        names.add(analysis.name)


def _problem(own: OwnAnalysis, names: set[str]) -> str | None:
    """Return what is wrong with a type, or None."""
    if not _NAME.fullmatch(own.name):
        return "needs a name of lower-case letters, digits and _ that begins with a letter"
    if own.name in _TAKEN:
        return (
            f"has the name of a built-in type; choose a name other than {', '.join(sorted(_TAKEN))}"
        )
    if own.name in names:
        return "has the same name as another analysis type; give each type a unique name"
    if not _VERSION.fullmatch(own.version):
        return f"has the version {own.version[:40]!r}; give digits, letters and full stops"
    if bool(own.patterns) == (own.prompt is not None):
        return "needs either patterns or a prompt"
    if own.facets and own.prompt is None:
        return (
            "has facets but no prompt; leave `facets` out, since the facet types of patterns are "
            "the patterns' names"
        )
    for facet_type in own.facets:
        if not _NAME.fullmatch(facet_type):
            return _facet_problem(facet_type)
    if own.prompt is not None:
        if not own.prompt.strip() or len(own.prompt) > _LONGEST_PROMPT:
            return f"has a prompt that is empty or longer than {_LONGEST_PROMPT:,} characters"
        return None
    return next(filter(None, (_pattern_problem(*item) for item in own.patterns.items())), None)


def _facet_problem(facet_type: str) -> str:
    return f"has the facet type {facet_type[:60]!r}; give lower-case letters, digits and _"


def _pattern_problem(facet_type: str, pattern: str) -> str | None:
    if not _NAME.fullmatch(facet_type):
        return _facet_problem(facet_type)
    if len(pattern) > _LONGEST_PATTERN:
        return f"has a pattern for {facet_type} of more than {_LONGEST_PATTERN:,} characters"
    try:
        form = re.compile(pattern)
    except re.error as error:
        return f"has a pattern for {facet_type} that is not a regular expression: {error}"
    if form.match("") is not None:
        return f"has a pattern for {facet_type} that matches the empty string"
    if _NESTED.search(pattern):
        return (
            f"has a pattern for {facet_type} that repeats a repetition without a limit, which may "
            "take for ever; give one of them a limit, as in {1,20}"
        )
    return None
