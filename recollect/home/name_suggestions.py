"""Messages for names that are unknown, with the known names that are most like them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# The least similarity, from 0 to 1, at which one name may be a typo for another.
_ALIKE = 0.6
_MAX_SUGGESTIONS = 3
# Up to so many names are listed completely.
_FEW = 8


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?", with the nearest name first, or an empty text."""
    by_form = {name.casefold(): name for name in known}
    forms = get_close_matches(given.casefold(), by_form, _MAX_SUGGESTIONS, _ALIKE)
    return f"; did you mean {' or '.join(by_form[form] for form in forms)}?" if forms else ""


def unknown_platform(given: str, known: Iterable[str]) -> str:
    """Return the message for an unknown platform."""
    return f"no event came from the platform {given!r}{_meant(given, known, 'events came from')}"


def unknown_zone(given: str, known: Iterable[str]) -> str:
    """Return the message for an empty zone."""
    near = _meant(given, known, "the zones here:") or "; ingest something first"
    return f"zone {given} holds nothing yet{near}"


def _meant(given: str, known: Iterable[str], these: str) -> str:
    """Return the names that may be meant, or all where they are few; an empty text if none."""
    names = sorted(known)
    if near := did_you_mean(given, names):
        return near
    return f"; {these} {', '.join(names)}" if 0 < len(names) <= _FEW else ""
