"""E-mail addresses and URLs in a text: nothing inside one is a name, a number or a date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

# Bounded on both sides of the @, so a long run of letters costs constant time per letter.
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
URL = re.compile(r"(?<!\w)(?:[a-z][a-z0-9+]{1,9}://|www\.)[^\s<>\"'|]{1,2000}", re.IGNORECASE)
# A domain without "www." or a scheme, in lower case: "Booking.com" is a name.
_DOMAIN = re.compile(
    r"(?<![\w@./-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,4}(?:com|org|net|edu|gov|co\.[a-z]{2})"
    r"(?:/[^\s<>\"'|]{0,2000})?(?![\w@-]|\.\w)"
)
_IN_DOMAIN = re.compile(r"\.(?:com|org|net|edu|gov|co\.)")
_TAIL = ".,;:!?)]}*_…”’"

AddressSpan = tuple[int, int, Literal["EMAIL", "URL"]]


def addresses(text: str) -> list[AddressSpan]:
    """Return the spans of e-mail addresses and URLs, in order and without overlap."""
    spans: list[AddressSpan] = []
    if "://" in text or "www." in text.lower():
        spans += (_url(match) for match in URL.finditer(text))
    if _IN_DOMAIN.search(text):
        spans += [_url(match) for match in _apart_from(spans, _DOMAIN.finditer(text))]
        spans.sort()
    if "@" in text:
        emails = list(_apart_from(spans, EMAIL.finditer(text)))
        spans += ((match.start(), match.end(), "EMAIL") for match in emails)
        spans.sort()
    return spans


def _url(match: re.Match[str]) -> AddressSpan:
    return match.start(), match.start() + len(match.group().rstrip(_TAIL)), "URL"


def _apart_from(
    spans: Sequence[AddressSpan], matches: Iterable[re.Match[str]]
) -> Iterator[re.Match[str]]:
    """Yield the matches that overlap none of the spans; both are in order."""
    position = 0
    for match in matches:
        while position < len(spans) and spans[position][1] <= match.start():
            position += 1
        if position == len(spans) or spans[position][0] >= match.end():
            yield match
