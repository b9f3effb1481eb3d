"""Echoes: memory output that is pasted into a message; it gives no facts, whoever sends it (F1).

Recognised are the block of `context`, with or without its tags, the output of `recall` and `facts`,
results as JSON, and the page of a memory's profile. Their lines are blanked, so that offsets in the
text stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_BLOCK = re.compile(r"<memory_context\b.*?(?:</memory_context>|\Z)", re.DOTALL | re.IGNORECASE)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
# Quote and list marks that may precede a pasted line.
_MARKS = r"[ \t>*\u2022-]*"
# The head of a block, in this release and in earlier ones.
_HEAD = re.compile(
    rf"{_MARKS}(?:Memories, newest day first: \[day (?:author|who)\] text\b"
    r"|Remembered, \[when who\] what\b)"
)
_DATED_LABEL = re.compile(rf"{_MARKS}\[\d{{1,2}} (?:{_MONTHS}) \d{{4}}[ ,][^\]]{{1,200}}\]\s")
_LABEL = re.compile(rf"{_MARKS}\[[^\]]{{1,200}}\]\s")
# The line below a result, with its author, time and platform; then its id.
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
_ATTRIBUTION = re.compile(rf"· {_TIME}\b|{_TIME} ·")
_ID = re.compile(
    rf"{_MARKS}(?:event|fact|observation|mental_model|entity) [0-9A-HJKMNP-TV-Z]{{26}}\b"
)
# Lines below the id: the sub-question, the ranks, and the chain of facts (formerly "led by").
_TRAILER = re.compile(rf"{_MARKS}(?:answers ['\"]|ranks: |via: |led by: )")
_NUMBERED = re.compile(rf"{_MARKS}\d{{1,3}}\. ")
#: The maximum number of lines of a printed result.
_MAX_RESULT_LINES = 40
_MEMORY_PAGE = re.compile(
    rf"{_MARKS}What follows was remembered from what people and agents said\b"
)
_MEMORY_PAGE_LINE = re.compile(r"\s*(?:[-#]|\Z)")
_RESULT_KEY = '"source_event_ids"'


def without_echoes(text: str) -> str:
    """Return a text with all memory output blanked."""
    for start, end in _echoes(text):
        blank = re.sub(r"[^\n]", " ", text[start:end])
        text = f"{text[:start]}{blank}{text[end:]}"
    return text


def _echoes(text: str) -> Iterator[Span]:
    yield from (found.span() for found in _BLOCK.finditer(text))
    if _RESULT_KEY in text:
        yield _json_span(text)
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for first, last in (*_labelled(lines), *_results(lines), *_profiles(lines)):
        yield starts[first], starts[last]


def _json_span(text: str) -> Span:
    """Return the part of a text from the object that holds the first result to the last one."""
    first, last = text.find(_RESULT_KEY), text.rfind(_RESULT_KEY)
    opened = [at for bracket in "{[" if (at := text.find(bracket, 0, first)) >= 0]
    end = max(text.rfind(bracket, last) for bracket in "}]")
    return min(opened, default=first), len(text) if end < 0 else end + 1


def _labelled(lines: Sequence[str]) -> Iterator[Span]:
    """Yield the runs of lines that begin with a label, as in the block of a context."""
    at = 0
    while at < len(lines):
        if not (_HEAD.match(lines[at]) or _DATED_LABEL.match(lines[at])):
            at += 1
            continue
        first = at
        while at < len(lines) and (at == first or _LABEL.match(lines[at])):
            at += 1
        yield first, at


def _results(lines: Sequence[str]) -> Iterator[Span]:
    """Yield the results among lines, each with its text, its attribution and its id."""
    known = 0
    for at, line in enumerate(lines):
        if not _ATTRIBUTION.search(line) and not _ID.match(line):
            continue
        first = _first_line(lines, at, known)
        known = at + 1
        while known < len(lines) and _TRAILER.match(lines[known]):
            known += 1
        yield first, known


def _first_line(lines: Sequence[str], at: int, lower_bound: int) -> int:
    """Return the first line of the result with an attribution, not before `lower_bound`.

    A result begins at its numbered line, or without a number, after the last blank line above the
    attribution.
    """
    first = at
    while first > max(lower_bound, at - _MAX_RESULT_LINES) and lines[first - 1].strip():
        first -= 1
        if _NUMBERED.match(lines[first]):
            break
    return first


def _profiles(lines: Sequence[str]) -> Iterator[Span]:
    """Yield the line ranges of quoted memory pages: a notice with the lists and headings below."""
    for first, line in enumerate(lines):
        if _MEMORY_PAGE.match(line):
            last = first + 1
            while last < len(lines) and _MEMORY_PAGE_LINE.match(lines[last]):
                last += 1
            yield first, last
