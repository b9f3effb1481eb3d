"""Reported speech: the parts of a message that repeat somebody else's words."""

from __future__ import annotations

import re
from bisect import bisect_right

from recollect.streams.language.grammar.pasted import pasted

Span = tuple[int, int]

_MARK = re.compile(r"[\"“”„«»]|\n\s*\n|(?<!\w)['\u2018](?=\w)|(?<=[\w.,!?…])['’](?!\w)")
_OPENING = {"“": "”", "„": "“”", "«": "»", "»": "«", '"': '"', "'": "'’", "\u2018": "’'"}
#: "She told me: ..."; but a report of the speaker's own words counts as the speaker's.
_REPORTING = re.compile(
    r"(?P<own>\b(?:i|we|i['’]ve|we['’]ve|let me|as)(?: (?:already|just|have|also))? )?"
    r"\b(?:said|says|told|tells|asked|asks|wrote|writes|replied|replies|answered|answers|texted|"
    r"texts|messaged|emailed|announced|explained|shouted|whispered|introduced|goes|went|"
    r"was like|were like|read|reads|quote|quotes|quoting)\b[^\n.!?:]{0,60}:(?=\s)",
    re.IGNORECASE,
)


def reported(text: str, speaker: str | None = None) -> list[Span]:
    """The spans of other people's words, in order.

    They are in quotation marks, after "she said:", or in a text that `speaker` pasted. An unclosed
    double quotation mark, and a colon, extend to the end of the paragraph.
    """
    spans = _quoted(text) + pasted(text, speaker)
    if ":" in text:
        end = 0
        for match in _REPORTING.finditer(text):
            if match["own"] is None and match.end() >= end:
                end = text.find("\n\n", match.end() + 2)
                end = len(text) if end < 0 else end
                spans.append((match.end(), end))
    if len(spans) < 2:
        return spans
    spans.sort()
    merged = [spans[0]]
    for start, end in spans[1:]:
        if start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def is_reported(spans: list[Span], place: int) -> bool:
    """Whether `place` lies in one of these spans."""
    at = bisect_right(spans, (place, place)) - 1
    if at + 1 < len(spans) and spans[at + 1][0] == place:
        return True
    return at >= 0 and spans[at][0] <= place < spans[at][1]


def _quoted(text: str) -> list[Span]:
    """Spans in quotation marks, the marks included."""
    spans: list[Span] = []
    begin, closing = -1, ""
    for match in _MARK.finditer(text):
        mark, place = match.group(), match.start()
        if mark[0] == "\n":
            if begin >= 0 and closing[0] not in "'’":
                spans.append((begin, place))
            begin = -1
        elif begin >= 0 and mark in closing:
            spans.append((begin, place + 1))
            begin = -1
        elif mark in _OPENING and (begin < 0 or closing[0] in "'’"):
            # 27" is a length; a double quotation mark also closes an unclosed single one.
            if mark == '"' and place and text[place - 1].isdecimal():
                continue
            if mark == "'" and (place + 1 == len(text) or not text[place + 1].isalpha()):
                continue
            begin, closing = place, _OPENING[mark]
    if begin >= 0 and closing[0] not in "'’":
        spans.append((begin, len(text)))
    return spans
