"""E-mail addresses and URLs in a text: nothing inside one is a name, a number or a date."""

from __future__ import annotations

import re
from typing import Literal

# Bounded on both sides of the @, so a long run of letters costs constant time per letter.
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
URL = re.compile(r"(?<!\w)(?:[a-z][a-z0-9+]{1,9}://|www\.)[^\s<>\"'|]{1,2000}", re.IGNORECASE)
_TAIL = ".,;:!?)]}*_…”’"

AddressSpan = tuple[int, int, Literal["EMAIL", "URL"]]


def addresses(text: str) -> list[AddressSpan]:
    """Return the spans of e-mail addresses and URLs, in order and without overlap."""
    spans: list[AddressSpan] = []
    if "://" in text or "www." in text.lower():
        for match in URL.finditer(text):
            spans.append((match.start(), match.start() + len(match.group().rstrip(_TAIL)), "URL"))
    if "@" in text:
        urls = list(spans)
        position = 0
        for match in EMAIL.finditer(text):
            while position < len(urls) and urls[position][1] <= match.start():
                position += 1
            if position == len(urls) or urls[position][0] >= match.end():
                spans.append((match.start(), match.end(), "EMAIL"))
        spans.sort()
    return spans
