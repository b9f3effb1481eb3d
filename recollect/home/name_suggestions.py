"""Messages for unknown names, with the most similar known names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# The minimum similarity (0 to 1) of a suggested name.
_MIN_SIMILARITY = 0.6
#: The maximum number of names in a suggestion.
MAX_SUGGESTIONS = 3
# If nothing is similar, all known names are listed, unless there are more than this.
_MAX_LISTED = 8


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?", with the most similar name first, or an empty text."""
    by_form = {name.casefold(): name for name in known}
    forms = get_close_matches(given.casefold(), by_form, MAX_SUGGESTIONS, _MIN_SIMILARITY)
    return f"; did you mean {' or '.join(by_form[form] for form in forms)}?" if forms else ""


def unknown_platform(given: str, known: Iterable[str]) -> str:
    """Return the message for an unknown platform."""
    known_platforms = _suggestions(given, known, "events came from")
    return f"no event came from the platform {given!r}{known_platforms}"


def unknown_zone(given: str, known: Iterable[str]) -> str:
    """Return the message for an empty zone."""
    suggestions = _suggestions(given, known, "the zones here:") or "; ingest something first"
    return f"zone {given} is empty{suggestions}"


def _suggestions(given: str, known: Iterable[str], heading: str) -> str:
    """Suggest similar names; without any, list all names after `heading`, unless there are many."""
    names = sorted(known)
    if similar := did_you_mean(given, names):
        return similar
    return f"; {heading} {', '.join(names)}" if 0 < len(names) <= _MAX_LISTED else ""
